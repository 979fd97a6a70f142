"""Read the challenges of a response that demands credentials: the header WWW-Authenticate (RFC 9110 section 11.6.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from inspector.lazy_dataclass import dataclass

BEARER = "bearer"
REGISTERED = frozenset(
    {"basic", "bearer", "concealed", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate", "oauth", "privatetoken"}
    | {"scram-sha-1", "scram-sha-256", "vapid"}
)
"""The HTTP authentication schemes in the IANA registry, in lower case."""
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - the name in the grammar of HTTP
_NAME = re.compile(_TOKEN)
_SEPARATORS = re.compile(r"[ \t,]*")
_SPACES = re.compile(r" +")
_PARAMETER = re.compile(rf'({_TOKEN})[ \t]*=[ \t]*(?:({_TOKEN})|"((?:[^"\\]|\\.)*)")(?=[ \t]*(?:,|$))')
_TOKEN68 = re.compile(r"[A-Za-z0-9._~+/-]+=*(?=[ \t]*(?:,|$))")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One challenge: the name of its scheme as it was sent, and its parameters with names in lower case."""

    scheme: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """Return a parameter, `""` if it is missing."""
        return self.parameters.get(name, "")

    @property
    def is_bearer(self) -> bool:
        """Return whether the challenge demands a bearer token."""
        return self.scheme.lower() == BEARER


def read_challenges(text: str) -> tuple[Challenge, ...] | None:
    """Return the challenges in a value of WWW-Authenticate, None if the value does not follow the grammar."""
    found: list[Challenge] = []
    at = _skip(_SEPARATORS, text, 0)
    while at < len(text):
        name = _NAME.match(text, at)
        if name is None:
            return None
        at = name.end()
        parameters: dict[str, str] = {}
        found.append(Challenge(name[0], parameters))
        spaces = _SPACES.match(text, at)
        if spaces is not None:
            at = _read_parameters(text, spaces.end(), parameters)
        elif at < len(text) and text[at] != ",":
            return None
        at = _skip(_SEPARATORS, text, at)
    return tuple(found)


def _read_parameters(text: str, start: int, parameters: dict[str, str]) -> int:
    """Read the parameters that begin here, until the next challenge; return where they end."""
    end = at = start
    while (parameter := _PARAMETER.match(text, at)) is not None:
        name, token, quoted = parameter.groups()
        parameters.setdefault(name.lower(), token if token is not None else _ESCAPED.sub(r"\1", quoted))
        end = parameter.end()
        at = _skip(_SEPARATORS, text, end)
    if not parameters and (credentials := _TOKEN68.match(text, start)) is not None:
        return credentials.end()
    return end


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found is not None else at


_LOGIN_WORDS = re.compile(
    r"(?<![a-z])(?:log-?in|sign-?in|sso|auth|oauth2?|authorize|authenticate|saml2?|idp|accounts)(?![a-z])"
)
_LOGIN_PARAMETERS = re.compile(r"[?&](?:redirect_uri|response_type|samlrequest|returnurl|return_to|wctx)=")


def is_login_page(location: str, url: str) -> bool:
    """Return whether a redirect from `url` to `location` leads to a login page, judged by the words in the URLs."""
    target, here = location.lower().partition("?")[0], url.lower()
    words = set(_LOGIN_WORDS.findall(target)) - set(_LOGIN_WORDS.findall(here))
    return bool(words or _LOGIN_PARAMETERS.search(location.lower()))
