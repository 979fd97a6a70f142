"""Faults of logins: the documents, redirects and tokens of the authorization server, and the 401 of the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import Json

from .fault import FaultRegistry, Head, Level

_Document: TypeAlias = dict[str, Json]
_Query: TypeAlias = dict[str, str]
_OTHER = "https://login.example"

METADATA = FaultRegistry(Level.METADATA)
RESOURCE = FaultRegistry(Level.RESOURCE)
KEYS = FaultRegistry(Level.KEYS)
REDIRECT = FaultRegistry(Level.REDIRECT)
DEVICE = FaultRegistry(Level.DEVICE)
GRANT = FaultRegistry(Level.GRANT)
TOKEN = FaultRegistry(Level.TOKEN)
ACCESS_TOKEN = FaultRegistry(Level.ACCESS_TOKEN)
ID_TOKEN = FaultRegistry(Level.ID_TOKEN)
CHALLENGE = FaultRegistry(Level.CHALLENGE)
REGISTRIES = (METADATA, RESOURCE, KEYS, REDIRECT, DEVICE, GRANT, TOKEN, ACCESS_TOKEN, ID_TOKEN, CHALLENGE)


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A token request: its grant type, and for a device code how many requests were sent before."""

    grant_type: str
    polls: int


def _without(value: _Document, name: str) -> _Document:
    return {other: member for other, member in value.items() if other != name}


# Documents


@METADATA.fault("wrong-issuer", "names another issuer in its metadata", "AUTH-001")
def wrong_issuer(document: _Document) -> _Document:
    return document | {"issuer": _OTHER}


@METADATA.fault("no-pkce", "does not announce PKCE in its metadata and does not check it", "AUTH-002")
def no_pkce(document: _Document) -> _Document:
    return _without(document, "code_challenge_methods_supported")


@METADATA.fault("other-endpoint", "names another token endpoint in its metadata than on the card", "AUTH-003")
def other_endpoint(document: _Document) -> _Document:
    return document | {"token_endpoint": f"{document['token_endpoint']}".replace("/oauth/token", "/oauth/v2/token")}


@METADATA.fault("http-endpoint", "names a token endpoint without TLS on another host in its metadata", "AUTH-006")
def http_endpoint(document: _Document) -> _Document:
    return document | {"token_endpoint": "http://login.example/oauth/token"}


@METADATA.fault("no-metadata", "has no metadata and no discovery document", "AUTH-007")
def no_metadata(_: _Document) -> _Document:
    return {}


@RESOURCE.fault("other-server", "names another authorization server in the metadata of the agent", "AUTH-050")
def other_server(document: _Document) -> _Document:
    return document | {"authorization_servers": [_OTHER]}


@RESOURCE.fault("other-resource", "names another agent in the metadata of the agent", "AUTH-051")
def other_resource(document: _Document) -> _Document:
    return document | {"resource": "https://agent.example"}


@KEYS.fault("no-keys", "publishes no key for its ID tokens", "AUTH-052")
def no_keys(document: _Document) -> _Document:
    return document | {"keys": []}


# The redirect, and the response to a device


@REDIRECT.fault("state-changed", "redirects with another state than that of the request", "AUTH-010")
def state_changed(query: _Query) -> _Query:
    return query | {"state": "changed"}


@REDIRECT.fault("redirect-issuer", "redirects with the issuer of another server", "AUTH-011")
def redirect_issuer(query: _Query) -> _Query:
    return query | {"iss": _OTHER}


@REDIRECT.fault("no-redirect-issuer", "announces an issuer in redirects, but sends none", "AUTH-011")
def no_redirect_issuer(query: _Query) -> _Query:
    return {name: value for name, value in query.items() if name != "iss"}


@DEVICE.fault("hostile-device", "sends control characters in the code and the URL for the user", "AUTH-040")
def hostile_device(answer: _Document) -> _Document:
    return answer | {"verification_uri": f"{answer['verification_uri']}#\x1b]0;hostile\x07", "user_code": "\x1b[2JCODE"}


@DEVICE.fault(
    "device-expires", "lets the device code expire at once", "AUTH-041", number="seconds until it expires", default=0
)
def device_expires(answer: _Document, seconds: float) -> _Document:
    return answer | {"expires_in": int(seconds)}


# Tokens


@GRANT.fault("refresh-refused", "rejects every refresh token", "AUTH-030")
def refresh_refused(request: TokenRequest) -> str:
    return "invalid_grant" if request.grant_type == "refresh_token" else ""


@GRANT.fault("slow-down", "asks a waiting device to slow down", "AUTH-031", number="how many times", default=1)
def slow_down(request: TokenRequest, times: float) -> str:
    return "slow_down" if request.grant_type.endswith("device_code") and request.polls < times else ""


@TOKEN.fault("token-type", "issues tokens of the type mac", "AUTH-021")
def token_type(response: _Document) -> _Document:
    return response | {"token_type": "mac"}


@TOKEN.fault("token-type-case", "writes the token type in capital letters, which is allowed", "AUTH-022")
def token_type_case(response: _Document) -> _Document:
    return response | {"token_type": "BEARER"}


@TOKEN.fault("token-names", "writes the members of the token response in camelCase", "AUTH-020")
def token_names(response: _Document) -> _Document:
    def renamed(name: str) -> str:
        first, *others = name.split("_")
        return first + "".join(map(str.capitalize, others))

    return {renamed(name): value for name, value in response.items()}


@TOKEN.fault("no-expiry", "does not report when a token expires", "AUTH-025")
def no_expiry(response: _Document) -> _Document:
    return _without(response, "expires_in")


@ACCESS_TOKEN.fault(
    "expires-at-once", "issues tokens that expire at once", "AUTH-024", number="seconds until they expire", default=0
)
def expires_at_once(claims: _Document, seconds: float) -> _Document:
    return claims | {"exp": claims["iat"] + int(seconds)}


@ACCESS_TOKEN.fault("wrong-audience", "issues tokens for another agent, which this agent rejects", "AUTH-028")
def wrong_audience(claims: _Document) -> _Document:
    return claims | {"aud": "https://agent.example"}


@ACCESS_TOKEN.fault("scope-dropped", "does not grant the last of the requested scopes", "AUTH-023")
def scope_dropped(claims: _Document) -> _Document:
    return claims | {"scope": str(claims["scope"]).rpartition(" ")[0]}


@ID_TOKEN.fault("wrong-nonce", "issues ID tokens with another nonce", "AUTH-052")
def wrong_nonce(claims: _Document) -> _Document:
    return claims | {"nonce": "other"}


@ID_TOKEN.fault("id-token-audience", "issues ID tokens for another client", "AUTH-052")
def id_token_audience(claims: _Document) -> _Document:
    return claims | {"aud": "another-client"}


@ID_TOKEN.fault("clock-ahead", "has a clock that is ahead", "AUTH-027", number="seconds", default=3600)
def clock_ahead(claims: _Document, seconds: float) -> _Document:
    dates: Mapping[str, Json] = {name: claims[name] + int(seconds) for name in ("iat", "exp", "auth_time")}
    return claims | dict(dates)


# The 401 of the agent


@CHALLENGE.fault("no-challenge", "responds with 401 without WWW-Authenticate", "HTTP-008")
def no_challenge(head: Head) -> Head:
    return replace(head, headers={name: value for name, value in head.headers.items() if name != "WWW-Authenticate"})


@CHALLENGE.fault("other-challenge", "asks for another scheme in the 401 than on the card", "AUTH-061")
def other_challenge(head: Head) -> Head:
    return replace(head, headers={**head.headers, "WWW-Authenticate": 'Negotiate realm="a2a-mock"'})


@CHALLENGE.fault("login-page", "redirects to a login page instead of responding with 401", "AUTH-060")
def login_page(head: Head) -> Head:
    page = b"<!doctype html><title>Log in</title><h1>Log in</h1>"
    return replace(head, content_type="text/html", status=302, headers={"Location": f"{_OTHER}/start"}, body=page)
