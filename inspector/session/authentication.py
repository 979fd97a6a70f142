"""Credentials that are entered while a session is running, and the security requirements that they meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from inspector.capture.redaction import MASK, Redactor
from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json
from inspector.protocol.security import SchemeRequirement, required_schemes, scheme_type
from inspector.wire.client.credentials import Credentials, origin

AUTHORIZATION = "Authorization"
_BEARER = "Bearer"


@dataclass(frozen=True, slots=True)
class EnteredCredential:
    """A secret for an origin, sent in a header; without a header it is an API key, which the card places."""

    origin: str
    header: str
    value: str = field(repr=False)


class EnteredCredentials:
    """The credentials that the user entered; they are only in memory, and masked from the first use on."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._entered: dict[tuple[str, str], EnteredCredential] = {}

    def __len__(self) -> int:
        return len(self._entered)

    def add_bearer(self, url: str, token: str) -> None:
        """Send a bearer token to the origin of a URL."""
        self._add(url, AUTHORIZATION, f"{_BEARER} {token}", token)

    def add_key(self, url: str, key: str) -> None:
        """Send an API key to the origin of a URL, at the place that the card declares."""
        self._add(url, "", key, key)

    def add_header(self, url: str, name: str, value: str) -> None:
        """Send a header to the origin of a URL."""
        self._add(url, name, value, value, value.partition(" ")[2])

    def clear(self) -> None:
        """Send none of the entered credentials any more; they stay masked."""
        self._entered.clear()

    def _add(self, url: str, header: str, value: str, *secrets: str) -> None:
        for secret in secrets:
            self._redactor.add(secret)
        place = origin(url)
        self._entered[place, header.lower()] = EnteredCredential(place, header, value)

    def added_to(self, given: Credentials, key_place: tuple[str, str]) -> Credentials:
        """Return credentials with the entered credentials added; `key_place` is where API keys are sent."""
        more = []
        for entered in self._entered.values():
            part = Credentials(origins=frozenset({entered.origin}))
            location, name = ("header", entered.header) if entered.header else key_place
            more.append(part.with_key(entered.value, location, name))
        return replace(given, more=tuple(more))


class Alternative(NamedTuple):
    """One of the alternatives of the security requirements: what it requires, and which part is missing."""

    words: str
    missing: tuple[str, ...]


def check_requirements(card: AgentCard, credentials: Credentials, url: str) -> list[Alternative]:
    """Compare each alternative of the security requirements with the credentials that are sent to a URL."""
    headers = {name.lower(): value for name, value in credentials.headers_for(url).items()}
    query = credentials.query_for(url)
    alternatives = []
    for schemes in required_schemes(card):
        missing = tuple(each.in_words() for each in schemes if not _meets(each, headers, query))
        alternatives.append(Alternative(" and ".join(each.in_words() for each in schemes) or "none", missing))
    return alternatives


def _meets(requirement: SchemeRequirement, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
    """Return whether there are credentials for a scheme; whether they are valid, only the agent knows."""
    kind, members = scheme_type(requirement.scheme or {})
    sent = headers.get(AUTHORIZATION.lower(), "").partition(" ")[0].lower()
    match kind:
        case "apiKeySecurityScheme":
            return _has_key(members, headers, query)
        case "httpAuthSecurityScheme":
            return bool(sent) and sent == str(members.get("scheme", "")).lower()
        case "oauth2SecurityScheme" | "openIdConnectSecurityScheme":
            return sent == _BEARER.lower()
        case _:
            return False


def _has_key(members: Mapping[str, Json], headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
    name = str(members.get("name", ""))
    match members.get("location"):
        case "query":
            return name in query
        case "cookie":
            return headers.get("cookie", "").startswith(f"{name}=")
        case _:
            return name.lower() in headers


def masked(credentials: Credentials, url: str) -> list[str]:
    """Return the credentials that are sent to a URL, with masked values: `Authorization: Bearer ****`."""
    named = []
    for name, value in credentials.headers_for(url).items():
        scheme, space, _ = value.partition(" ")
        shown = f"{scheme} {MASK}" if space and name.lower() == AUTHORIZATION.lower() else MASK
        if name.lower() == "cookie":
            shown = f"{value.partition('=')[0]}={MASK}"
        named.append(f"{name}: {shown}")
    return [*named, *(f"{name}={MASK} in the query" for name in credentials.query_for(url))]
