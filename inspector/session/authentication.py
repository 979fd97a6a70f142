"""Credentials that are entered while a session is running, and the security requirements that they meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import NamedTuple

from inspector.capture.redaction import MASK, Redactor
from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard, AgentSkill
from inspector.protocol.security import (
    ApiKeyScheme,
    HttpScheme,
    MutualTlsScheme,
    OAuth2Scheme,
    OpenIdConnectScheme,
    SchemeRequirement,
    SecurityScheme,
    combination_in_words,
    requirements,
    security_schemes,
)
from inspector.session.login.tokens import Token
from inspector.wire.client.client_certificate import ClientCertificate
from inspector.wire.client.credentials import Credentials, basic_credentials, cookies_in, origin

AUTHORIZATION = "Authorization"
_BEARER = "Bearer"
_TLS = ("https:", "grpcs:")


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
        self._certificates: dict[str, ClientCertificate] = {}

    def __len__(self) -> int:
        return len(self._entered) + len(self._certificates)

    def add_bearer(self, url: str, token: str) -> None:
        """Send a bearer token to the origin of a URL."""
        self._add(url, AUTHORIZATION, f"{_BEARER} {token}", token)

    def add_key(self, url: str, key: str) -> None:
        """Send an API key to the origin of a URL, at the place that the card declares."""
        self._add(url, "", key, key)

    def add_basic(self, url: str, user: str, password: str) -> None:
        """Send a user name and a password to the origin of a URL."""
        value = basic_credentials(f"{user}:{password}")
        self._add(url, AUTHORIZATION, value, password, value.partition(" ")[2])

    def add_scheme(self, url: str, scheme: str, credentials: str) -> None:
        """Send credentials with any HTTP authentication scheme to the origin of a URL."""
        self._add(url, AUTHORIZATION, f"{scheme} {credentials}", credentials)

    def add_certificate(self, url: str, certificate: ClientCertificate, passphrase: str) -> None:
        """Use a client certificate in TLS handshakes with the origin of a URL."""
        self._redactor.add(passphrase)
        self._certificates[origin(url)] = certificate

    def add_header(self, url: str, name: str, value: str) -> None:
        """Send a header to the origin of a URL."""
        self._add(url, name, value, value, value.partition(" ")[2])

    def remove_authorization(self, url: str) -> None:
        """Do not send the entered header Authorization to the origin of a URL any more, because a login replaces it."""
        self._entered.pop((origin(url), AUTHORIZATION.lower()), None)

    def clear(self) -> None:
        """Send none of the entered credentials any more; they stay masked."""
        self._entered.clear()
        self._certificates.clear()

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
        for place, certificate in self._certificates.items():
            more.append(Credentials(origins=frozenset({place}), certificate=certificate))
        return replace(given, more=(*given.more, *more))


class Alternative(NamedTuple):
    """One of the alternatives of the security requirements: what it requires, and which part is missing."""

    words: str
    missing: tuple[str, ...]

    @property
    def result(self) -> str:
        """Return whether there are credentials for it, and for which part there are none.

        Only the agent knows whether they are valid.
        """
        lacking = " and ".join(self.missing)
        return "given" if not lacking else "missing" if lacking == self.words else f"missing: {lacking}"


def is_accepted(card: AgentCard, credentials: Credentials, url: str) -> bool:
    """Return whether the card declares a security scheme for the credentials that are sent to a URL."""
    headers = {name.lower(): value for name, value in credentials.headers_for(url).items()}
    query, certificate = credentials.query_for(url), credentials.certificate_for(url)
    return any(_meets(scheme, headers, query, certificate) for scheme in security_schemes(card).values())


def _lacking_scopes(required: SchemeRequirement, headers: Mapping[str, str], token: Token | None) -> str:
    """Return what the token of a login lacks for a scheme: its scopes, or all if it was issued for another scheme."""
    is_login = isinstance(required.scheme, OAuth2Scheme | OpenIdConnectScheme)
    sent = headers.get(AUTHORIZATION.lower(), "").partition(" ")[2]
    if token is None or not is_login or sent != token.access_token:
        return ""
    if token.key.scheme != required.scheme.name:
        return required.in_words()
    missing = [scope for scope in required.scopes if scope not in token.scopes]
    return f"the scope{'s' if len(missing) > 1 else ''} {', '.join(missing)}" if missing else ""


def _meets(
    scheme: SecurityScheme,
    headers: Mapping[str, str],
    query: Mapping[str, str],
    certificate: ClientCertificate | None,
) -> bool:
    """Return whether there are credentials for a scheme; whether they are valid, only the agent knows."""
    sent = headers.get(AUTHORIZATION.lower(), "").partition(" ")[0].lower()
    match scheme:
        case ApiKeyScheme():
            return _has_key(scheme, headers, query)
        case HttpScheme():
            return bool(sent) and sent == scheme.scheme.lower()
        case OAuth2Scheme() | OpenIdConnectScheme():
            return sent == _BEARER.lower()
        case MutualTlsScheme():
            return certificate is not None
        case _:
            return False


def _has_key(scheme: ApiKeyScheme, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
    match scheme.location:
        case "query":
            return scheme.parameter in query
        case "cookie":
            return scheme.parameter in dict(cookies_in(headers.get("cookie", "")))
        case _:
            return scheme.parameter.lower() in headers


@dataclass(frozen=True, slots=True)
class Authentication:
    """The credentials that are sent to the agent at `url`, compared with the requirements of its card.

    `token` is the token of the login in use, if any: its scheme and its scopes are compared, too. `not_renewed` is why
    it could not be renewed, else `""`.
    """

    credentials: Credentials = field(default_factory=Credentials)
    url: str = ""
    token: Token | None = None
    not_renewed: str = ""

    def alternatives(self, card: AgentCard, skill: AgentSkill | None = None) -> list[Alternative]:
        """Return the alternatives of the agent or of a skill, and what of them is missing."""
        headers = {name.lower(): value for name, value in self.credentials.headers_for(self.url).items()}
        query = self.credentials.query_for(self.url)
        alternatives = []
        for combination in requirements(card, skill):
            lacking = (
                _lacking_scopes(each, headers, self.token)
                if _meets(each.scheme, headers, query, self._certificate)
                else each.in_words()
                for each in combination
            )
            alternatives.append(Alternative(combination_in_words(combination), tuple(filter(None, lacking))))
        return alternatives

    @property
    def sent(self) -> list[str]:
        """Return the credentials with masked values: `Authorization: Bearer ****`."""
        named = []
        for name, value in self.credentials.headers_for(self.url).items():
            scheme, space, _ = value.partition(" ")
            shown = f"{scheme} {MASK}" if space and name.lower() == AUTHORIZATION.lower() else MASK
            if name.lower() == "cookie":
                shown = "; ".join(f"{cookie}={MASK}" if cookie else MASK for cookie, _ in cookies_in(value))
            named.append(f"{name}: {shown}")
        named += [f"{name}={MASK} in the query" for name in self.credentials.query_for(self.url)]
        return [*named, self._certificate.in_words()] if self._certificate else named

    @property
    def _certificate(self) -> ClientCertificate | None:
        return self.credentials.certificate_for(self.url) if self.url.startswith(_TLS) else None
