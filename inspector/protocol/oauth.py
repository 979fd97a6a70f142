"""The messages of OAuth 2.0 and OpenID Connect: server metadata, token responses, device responses and errors.

Reading is lenient: a member with a wrong type counts as missing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import is_number, parse, text_in
from inspector.protocol.model import Json
from inspector.protocol.unverified_jwt import claims_of

BEARER = "bearer"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
OPENID_SCOPE = "openid"
SECRET_MEMBERS = ("access_token", "refresh_token", "id_token", "device_code")
"""The members of responses that are secrets."""
_SERVER_PATH = "/.well-known/oauth-authorization-server"
_OPENID_PATH = "/.well-known/openid-configuration"
_INTERVAL = 5.0
_LONGEST_INTERVAL = 60.0
_DEVICE_SECONDS = 600.0
_LONGEST_DEVICE_SECONDS = 3600.0
"""Device codes are not waited for longer than this, whatever the server sends."""
_LONGEST = 1e10
_LATEST = 1e12
"""The largest number that is accepted as a date; it is thirty thousand years away."""


def json_object(raw: bytes) -> Mapping[str, Json] | None:
    """Return the JSON object in a body, None if the body is something else."""
    value = parse(raw)
    return value if isinstance(value, Mapping) else None


@dataclass(frozen=True, slots=True)
class ServerMetadata:
    """The metadata of an authorization server (RFC 8414 section 2), or the OpenID discovery document.

    `issuer_in_redirect` is whether redirects contain the issuer (RFC 9207).
    """

    issuer: str = ""
    authorization_url: str = ""
    token_url: str = ""
    device_url: str = ""
    revocation_url: str = ""
    keys_url: str = ""
    client_authentication: tuple[str, ...] = ()
    issuer_in_redirect: bool = False


def read_metadata(members: Mapping[str, Json]) -> ServerMetadata:
    """Read the metadata of an authorization server."""
    return ServerMetadata(
        issuer=text_in(members, "issuer"),
        authorization_url=text_in(members, "authorization_endpoint"),
        token_url=text_in(members, "token_endpoint"),
        device_url=text_in(members, "device_authorization_endpoint"),
        revocation_url=text_in(members, "revocation_endpoint"),
        keys_url=text_in(members, "jwks_uri"),
        client_authentication=_texts(members, "token_endpoint_auth_methods_supported"),
        issuer_in_redirect=members.get("authorization_response_iss_parameter_supported") is True,
    )


def issuer_matches(issuer: str, metadata_url: str) -> bool:
    """Return whether an issuer may be described by the document at a URL (RFC 8414 section 3.3).

    At a URL without a well-known path, only the origins are compared.
    """
    try:
        parts, place_of = urlsplit(issuer), urlsplit(metadata_url)
    except ValueError:  # brackets without an address
        return False
    path = parts.path.rstrip("/")
    bare = parts._replace(path="", query="", fragment="").geturl()
    known = {f"{bare}{place}{path}" for place in (_SERVER_PATH, _OPENID_PATH)} | {f"{bare}{path}{_OPENID_PATH}"}
    if "/.well-known/" in metadata_url:
        return metadata_url.rstrip("/") in known
    return bool(parts.netloc) and place_of[:2] == parts[:2]


@dataclass(frozen=True, slots=True)
class TokenResponse:
    """A successful response of a token endpoint (RFC 6749 section 5.1); the repr contains no secret.

    `expires_in` is None if the server did not send it, `scopes` if the scopes are those that were asked for.
    """

    access_token: str = field(repr=False)
    token_type: str
    expires_in: float | None = None
    scopes: tuple[str, ...] | None = None
    refresh_token: str = field(default="", repr=False)
    id_token: str = field(default="", repr=False)


def read_token(members: Mapping[str, Json]) -> TokenResponse:
    """Read the response of a token endpoint; `access_token` is empty if it is missing."""
    scope = members.get("scope")
    return TokenResponse(
        access_token=text_in(members, "access_token"),
        token_type=text_in(members, "token_type"),
        expires_in=_seconds(members, "expires_in"),
        scopes=tuple(dict.fromkeys(scope.split())) if isinstance(scope, str) else None,
        refresh_token=text_in(members, "refresh_token"),
        id_token=text_in(members, "id_token"),
    )


def token_claims(members: Mapping[str, Json] | None, name: str) -> Mapping[str, Json]:
    """Return the claims of the JWT in a member, read without verification; none if it is not a JWT."""
    return claims_of(text_in(members, name))


def claimed_date(claims: Mapping[str, Json], name: str) -> float | None:
    """Return a date in the claims of a token in seconds since 1970, None if it is missing or not a date."""
    value = claims.get(name)
    if not is_number(value):
        return None
    return float(value) if 0 <= value <= _LATEST else None


@dataclass(frozen=True, slots=True)
class DeviceResponse:
    """The response to a request for a device code (RFC 8628 section 3.2); the repr contains no secret."""

    device_code: str = field(repr=False)
    user_code: str
    verification_url: str
    complete_url: str
    expires_in: float
    interval: float


def read_device(members: Mapping[str, Json]) -> DeviceResponse:
    """Read the response to a request for a device code; texts are empty if they are missing."""
    interval = _seconds(members, "interval")
    return DeviceResponse(
        device_code=text_in(members, "device_code"),
        user_code=text_in(members, "user_code"),
        verification_url=text_in(members, "verification_uri"),
        complete_url=text_in(members, "verification_uri_complete"),
        expires_in=min(_seconds(members, "expires_in") or _DEVICE_SECONDS, _LONGEST_DEVICE_SECONDS),
        interval=min(max(1.0, _INTERVAL if interval is None else interval), _LONGEST_INTERVAL),
    )


@dataclass(frozen=True, slots=True)
class OAuthError:
    """The error of an authorization server (RFC 6749 sections 4.1.2.1 and 5.2)."""

    code: str
    description: str = ""

    @property
    def in_words(self) -> str:
        """Return the code and the description of the error."""
        return f"{self.code}: {self.description}" if self.description else self.code


def read_error(members: Mapping[str, Json] | None) -> OAuthError | None:
    """Return the error in a response or a redirect, None if it has none."""
    code = text_in(members, "error")
    return OAuthError(code, text_in(members, "error_description")) if code else None


def _texts(members: Mapping[str, Json], name: str) -> tuple[str, ...]:
    value = members.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _seconds(members: Mapping[str, Json], name: str) -> float | None:
    """Return a number of seconds, also if it is a text, as some servers send it."""
    value = members.get(name)
    if not (isinstance(value, str) or is_number(value)):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) and 0 <= seconds <= _LONGEST else None
