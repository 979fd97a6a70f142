"""An authorization server made with Authlib: OAuth 2.0 and OpenID Connect, on a free port of this machine."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from authlib.oauth2.rfc9207 import IssuerParameter
from authlib.oidc.core import OpenIDCode, UserInfo
from flask import Flask, request
from joserfc.jwk import KeySet, RSAKey
from werkzeug.serving import make_server

SCOPES = ("agent:call", "openid", "profile")
USER = "alice"
LIFETIME = 20
"""Seconds until a token of the client `short-lived` expires: less than the time at which it is renewed."""
KEY = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": "authlib"})
FORM = """<form method="post"><input name="user_code" value="{user_code}">
<button name="confirm" value="yes">Allow</button> <button name="confirm" value="no">Deny</button></form>"""


@dataclass
class Client(ClientMixin):
    """A registered client; without a secret it is public."""

    client_id: str
    secret: str = ""
    grants: tuple[str, ...] = ("authorization_code", "refresh_token", DeviceCodeGrant.GRANT_TYPE)

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return " ".join(word for word in (scope or "agent:call").split() if word in SCOPES)

    def check_redirect_uri(self, redirect_uri):
        url = urlsplit(redirect_uri)
        return (url.scheme, url.hostname) == ("http", "127.0.0.1")

    def check_client_secret(self, client_secret):
        return client_secret == self.secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method in (("client_secret_basic", "client_secret_post") if self.secret else ("none",))

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in self.grants


CLIENTS = {
    client.client_id: client
    for client in (
        Client("inspector"),
        Client("short-lived"),
        Client("service", "s3cret/+ &", grants=("client_credentials",)),
        Client("agent", "agent-secret", grants=()),
    )
}


@dataclass
class Token(TokenMixin):
    """An issued token."""

    client_id: str
    user: str | None
    members: dict[str, Any]
    issued_at: float = field(default_factory=time.time)
    revoked: bool = False

    def check_client(self, client):
        return client.client_id == self.client_id

    def get_scope(self):
        return self.members.get("scope", "")

    def get_expires_in(self):
        return self.members["expires_in"]

    def is_expired(self):
        return time.time() > self.issued_at + self.members["expires_in"]

    def is_revoked(self):
        return self.revoked

    def get_user(self):
        return self.user

    def get_client(self):
        return CLIENTS[self.client_id]


@dataclass
class Code:
    """An authorization code and its request."""

    code: str
    client_id: str
    redirect_uri: str
    scope: str
    nonce: str | None
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return int(time.time())

    def get_acr(self):
        return None

    def get_amr(self):
        return None


TOKENS: list[Token] = []
CODES: dict[str, Code] = {}
DEVICES: dict[str, DeviceCredentialDict] = {}
ANSWERS: dict[str, bool] = {}


def find_token(text: str) -> Token | None:
    """Return the token with this access token or refresh token."""
    return next(
        (token for token in TOKENS if text in (token.members["access_token"], token.members.get("refresh_token"))), None
    )


class ClientGrant(grants.ClientCredentialsGrant):
    """The client credentials, in the header or in the form."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post")


class CodeGrant(grants.AuthorizationCodeGrant):
    """The authorization code; the client is public."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)

    def save_authorization_code(self, code, request):
        data = request.payload.data
        CODES[code] = Code(
            code,
            request.client.client_id,
            request.payload.redirect_uri,
            request.payload.scope,
            data.get("nonce"),
            data["code_challenge"],
            data["code_challenge_method"],
        )

    def query_authorization_code(self, code, client):
        found = CODES.get(code)
        return found if found and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code):
        del CODES[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return USER


class RefreshGrant(grants.RefreshTokenGrant):
    """The refresh token, which is replaced at each use."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        found = find_token(refresh_token)
        return found if found and not found.revoked else None

    def authenticate_user(self, refresh_token):
        return refresh_token.user

    def revoke_old_credential(self, refresh_token):
        refresh_token.revoked = True


class DeviceGrant(DeviceCodeGrant):
    """The device code."""

    def query_device_credential(self, device_code):
        return DEVICES.get(device_code)

    def query_user_grant(self, user_code):
        return (USER, ANSWERS[user_code]) if user_code in ANSWERS else None

    def should_slow_down(self, credential):
        return False


class IdTokens(OpenIDCode):
    """ID tokens for the scope `openid`."""

    def exists_nonce(self, nonce, request):
        return False

    def resolve_client_private_key(self, client):
        return KEY

    def get_client_algorithm(self, client):
        return "RS256"

    def get_encode_header(self, client):
        return {"alg": "RS256", "kid": KEY.kid}

    def get_client_claims(self, client):
        return {"iss": ISSUER, "aud": [client.client_id]}

    def generate_user_info(self, user, scope):
        return UserInfo(sub=user, name="Alice")


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    """Issue device codes; clients ask each second whether the user has answered."""

    INTERVAL = 1

    def get_verification_uri(self):
        return f"{ISSUER}/device"

    def save_device_credential(self, client_id, scope, data):
        DEVICES[data["device_code"]] = DeviceCredentialDict(
            client_id=client_id, scope=scope, expires_at=time.time() + data["expires_in"], **data
        )


class Revocation(RevocationEndpoint):
    """Revoke tokens."""

    CLIENT_AUTH_METHODS = ("none", "client_secret_basic")

    def query_token(self, token_string, token_type_hint):
        return find_token(token_string)

    def revoke_token(self, token, request):
        token.revoked = True


class Introspection(IntrospectionEndpoint):
    """Tell the agent whether a token is valid."""

    def check_permission(self, token, client, request):
        return client.client_id == "agent"

    def query_token(self, token_string, token_type_hint):
        return find_token(token_string)

    def introspect_token(self, token):
        return {"active": True, "client_id": token.client_id, "scope": token.get_scope(), "sub": token.user}


class Issuer(IssuerParameter):
    """Add the issuer to redirects."""

    def get_issuer(self):
        return ISSUER


app = Flask(__name__)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
app.config["OAUTH2_SCOPES_SUPPORTED"] = SCOPES


def save_token(members, request):
    if request.client.client_id == "short-lived":
        members["expires_in"] = LIFETIME
    TOKENS.append(Token(request.client.client_id, request.user, members))


server = AuthorizationServer(app, CLIENTS.get, save_token)
server.register_grant(CodeGrant, [CodeChallenge(required=True), IdTokens()])
server.register_grant(RefreshGrant)
server.register_grant(DeviceGrant)
server.register_grant(ClientGrant)
server.register_endpoint(DeviceEndpoint)
server.register_endpoint(Revocation)
server.register_endpoint(Introspection)
server.register_extension(Issuer())


@app.get("/.well-known/oauth-authorization-server")
@app.get("/.well-known/openid-configuration")
def metadata():
    methods = ["client_secret_basic", "client_secret_post", "none"]
    document = AuthorizationServerMetadata(
        issuer=ISSUER,
        authorization_endpoint=f"{ISSUER}/authorize",
        token_endpoint=f"{ISSUER}/token",
        device_authorization_endpoint=f"{ISSUER}/device_authorization",
        revocation_endpoint=f"{ISSUER}/revoke",
        introspection_endpoint=f"{ISSUER}/introspect",
        jwks_uri=f"{ISSUER}/jwks",
        scopes_supported=list(SCOPES),
        response_types_supported=["code"],
        grant_types_supported=["authorization_code", "refresh_token", "client_credentials", DeviceCodeGrant.GRANT_TYPE],
        token_endpoint_auth_methods_supported=methods,
        code_challenge_methods_supported=["S256"],
        authorization_response_iss_parameter_supported=True,
        subject_types_supported=["public"],
        id_token_signing_alg_values_supported=["RS256"],
    )
    document.validate()
    return dict(document)


@app.get("/jwks")
def jwks():
    return KeySet([KEY]).as_dict(private=False)


@app.route("/authorize", methods=["GET", "POST"])
def authorize():
    grant = server.get_consent_grant(end_user=USER)
    if request.method == "GET":
        return FORM.format(user_code="")
    allowed = USER if request.form.get("confirm") == "yes" else None
    return server.create_authorization_response(grant=grant, grant_user=allowed)


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/device_authorization")
def device_authorization():
    return server.create_endpoint_response(DeviceEndpoint.ENDPOINT_NAME)


@app.route("/device", methods=["GET", "POST"])
def device():
    if request.method == "GET":
        return FORM.format(user_code=request.args.get("user_code", ""))
    ANSWERS[request.form["user_code"]] = request.form.get("confirm") == "yes"
    return "You can close this page."


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.post("/introspect")
def introspect():
    return server.create_endpoint_response(Introspection.ENDPOINT_NAME)


http = make_server("127.0.0.1", 0, app, threaded=True)
ISSUER = f"http://127.0.0.1:{http.server_port}"
print(ISSUER, flush=True)
http.serve_forever()
