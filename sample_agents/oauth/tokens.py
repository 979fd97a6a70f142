"""Issue, check, refresh and revoke tokens: JWT access tokens (RFC 9068), ID tokens (OpenID Connect Core section 2)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey

from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import Json

from ..access import Access
from ..faults.fault import Level
from ..faults.fault_plan import FaultPlan
from ..secret_values import ExpiringValues

ALGORITHM = "RS256"
"""The algorithm that every OpenID provider has to support."""
OPENID = "openid"
"""The scope that requests an ID token."""
_TOKEN_SECONDS = 3600
_REFRESH_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Grant:
    """What was granted: `scopes` for the agent at the origin `resource`, to a client, on behalf of `subject`.

    `refreshable` grants get a refresh token. `nonce` is copied to the ID token.
    """

    client: str
    subject: str
    scopes: tuple[str, ...]
    resource: str
    refreshable: bool = True
    nonce: str = ""


Outcome: TypeAlias = Grant | str
"""What a token request is granted, or the error code of its rejection (RFC 6749 section 5.2)."""


@dataclass(frozen=True, slots=True)
class _Refreshable:
    """A grant, and the id of the access token that was issued with the refresh token."""

    grant: Grant
    token_id: str


@cache
def _key() -> RSAKey:
    """Return the key of this process; it is created at its first use, because this needs some tenths of a second."""
    return RSAKey.generate_key(2048, {"use": "sig", "alg": ALGORITHM, "kid": f"oauth-{secrets.token_hex(4)}"})


def public_keys() -> dict[str, Json]:
    """Return the JWK Set with the public key."""
    return dict(KeySet([_key()]).as_dict(private=False))


class Tokens:
    """The tokens of one authorization server, changed by its faults."""

    def __init__(self, faults: FaultPlan) -> None:
        self._faults = faults
        self._grants: ExpiringValues[Grant] = ExpiringValues(_TOKEN_SECONDS)
        self._refreshable: ExpiringValues[_Refreshable] = ExpiringValues(_REFRESH_SECONDS)

    def issue(self, grant: Grant, issuer: str) -> dict[str, Json]:
        """Return the token response (RFC 6749 section 5.1) for a grant."""
        now, token_id = int(time.time()), self._grants.add(grant)
        dates: dict[str, Json] = {"iat": now, "exp": now + _TOKEN_SECONDS}
        claims = self._faults.apply(
            Level.ACCESS_TOKEN,
            {
                "iss": issuer,
                "aud": grant.resource,
                "sub": grant.subject,
                "client_id": grant.client,
                "jti": token_id,
                "scope": " ".join(grant.scopes),
                **dates,
            },
        )
        response: dict[str, Json] = {
            "access_token": _encode("at+jwt", claims),
            "token_type": "Bearer",
            "expires_in": claims["exp"] - claims["iat"],
            "scope": claims["scope"],
        }
        if grant.refreshable:
            response["refresh_token"] = self._refreshable.add(_Refreshable(grant, token_id))
        if OPENID in grant.scopes:
            identity = {"iss": issuer, "aud": grant.client, "sub": grant.subject, "auth_time": now, **dates}
            nonce = {"nonce": grant.nonce} if grant.nonce else {}
            response["id_token"] = _encode("JWT", self._faults.apply(Level.ID_TOKEN, identity | nonce))
        return self._faults.apply(Level.TOKEN, response)

    def check(self, token: str) -> Access:
        """Return what an access token allows."""
        try:
            claims = jwt.decode(token, _key(), algorithms=[ALGORITHM]).claims
        except (JoseError, ValueError):
            return Access(problem="The access token was not issued by this authorization server")
        grant = self._grants.get(str(claims.get("jti")))
        if claims["exp"] <= time.time():
            return Access(problem="The access token has expired")
        if grant is None:
            return Access(problem="The access token was revoked")
        if claims["aud"] != grant.resource:
            return Access(problem=f"The access token is for the audience {claims['aud']}, not for this agent")
        return Access(scopes=frozenset(claims["scope"].split()))

    def refresh(self, token: str, scopes: Collection[str]) -> Outcome:
        """Use up a refresh token and return its grant, with fewer `scopes` if any are requested, or else the error.

        A request with more scopes is rejected, and the refresh token stays valid.
        """
        found = self._refreshable.get(token)
        if found is None:
            return "invalid_grant"
        if not set(scopes) <= set(found.grant.scopes):
            return "invalid_scope"
        self._refreshable.pop(token)
        self._grants.pop(found.token_id)
        return replace(found.grant, scopes=tuple(scopes)) if scopes else found.grant

    def revoke(self, token: str) -> None:
        """Revoke an access token, or a refresh token with its access token; unknown tokens are ignored (RFC 7009)."""
        found = self._refreshable.pop(token)
        if found is not None:
            self._grants.pop(found.token_id)
            return
        try:
            self._grants.pop(str(jwt.decode(token, _key(), algorithms=[ALGORITHM]).claims.get("jti")))
        except (JoseError, ValueError):
            return


def _encode(kind: str, claims: dict[str, Json]) -> str:
    return jwt.encode({"alg": ALGORITHM, "typ": kind, "kid": _key().kid}, claims, _key())
