"""A registration: a url that an agent may post to, and how its deliveries have to be authenticated."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from enum import StrEnum

from inspector.findings.signatures.keyset import KeySet

HMAC_SCHEME = "HMAC-SHA256"
"""The scheme of an agent that signs bodies with a shared secret; no version of the protocol names one."""


_NO_KEYS = KeySet()


class Proof(StrEnum):
    """The kind of proof that a delivery needs."""

    TOKEN = "token"  # noqa: S105 - the name of one
    """The token of the registration in its own header."""
    AUTHORIZATION = "authorization"
    """The registered scheme and credentials: Bearer, Basic or any other."""
    KEY = "api-key"
    """A key in `X-API-Key`, or in Authorization."""
    HMAC = "hmac"
    """The HMAC of the body under a shared secret."""
    JWT = "jwt"
    """A signed JWT as a bearer credential."""


@dataclass(frozen=True, slots=True)
class WebhookAuth:
    """How a delivery has to be authenticated; the repr shows no secret.

    `scheme` is that of Authorization. `credentials` are those of Authorization, the key, or the secret of an HMAC; if
    empty, they are the token of the registration. `keys` verify a JWT; `issuer` and `audience` are its required claims,
    `""` for any.
    """

    proof: Proof = Proof.AUTHORIZATION
    scheme: str = "Bearer"
    credentials: str = field(default="", repr=False)
    keys: KeySet = _NO_KEYS
    issuer: str = ""
    audience: str = ""

    @classmethod
    def of(cls, scheme: str, credentials: str) -> WebhookAuth:
        """Return authentication by a scheme: API key, HMAC, Basic (also as `user:password`), or any other."""
        match scheme.lower():
            case "apikey" | "api-key":
                return cls(Proof.KEY, "ApiKey", credentials)
            case "hmac" | "hmac-sha256":
                return cls(Proof.HMAC, HMAC_SCHEME, credentials)
            case "basic" if ":" in credentials:
                return cls(scheme="Basic", credentials=b64encode(credentials.encode()).decode())
            case _:
                return cls(scheme=scheme, credentials=credentials)

    @property
    def words(self) -> str:
        """Describe the authentication without any secret."""
        match self.proof:
            case Proof.TOKEN:
                return "token"
            case Proof.JWT:
                also = [f"from {self.issuer}" if self.issuer else "", f"for {self.audience}" if self.audience else ""]
                return " ".join(filter(None, ("token, Bearer JWT", *also)))
            case _:
                return f"token, {self.scheme}"


_BEARER = WebhookAuth()


@dataclass(frozen=True, slots=True)
class Registration:
    """One url with a secret path and a token; the repr shows neither."""

    number: int
    path: str = field(repr=False)
    token: str = field(repr=False)
    url: str = field(repr=False)
    made_at: float
    auth: WebhookAuth = _BEARER

    @property
    def credentials(self) -> str:
        """Return the credentials of Authorization, the key or the secret; `""` for proofs without one."""
        if self.auth.proof in (Proof.TOKEN, Proof.JWT):
            return ""
        return self.auth.credentials or self.token
