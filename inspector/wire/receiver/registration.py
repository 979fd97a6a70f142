"""A registration: one address that an agent may post to, and how what comes there has to prove where it is from."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from enum import StrEnum

from inspector.findings.signatures.keyset import KeySet

HMAC_SCHEME = "HMAC-SHA256"
"""What an agent is told that signs its bodies with a shared secret; no generation has a word of its own for it."""


_NO_KEYS = KeySet()


class Proof(StrEnum):
    """What sort of proof a delivery is asked for."""

    TOKEN = "token"  # noqa: S105 - the name of one
    """The token of the registration in its own header."""
    AUTHORIZATION = "authorization"
    """Scheme and credentials as the agent was told them: Bearer, Basic, any other."""
    KEY = "api-key"
    """A key in `X-API-Key`, or in Authorization."""
    HMAC = "hmac"
    """The HMAC of the body under a shared secret."""
    JWT = "jwt"
    """A signed JWT as a bearer credential."""


@dataclass(frozen=True, slots=True)
class Demand:
    """How a delivery has to prove where it is from; the repr shows no secret.

    `scheme` is the word for Authorization. `credentials` are what it carries, the key, or the secret of an HMAC; where
    they are empty the token of the registration stands for them. `keys` verify a JWT; `issuer` and `audience` are what
    it has to say, `""` where that does not matter.
    """

    proof: Proof = Proof.AUTHORIZATION
    scheme: str = "Bearer"
    credentials: str = field(default="", repr=False)
    keys: KeySet = _NO_KEYS
    issuer: str = ""
    audience: str = ""

    @classmethod
    def of(cls, scheme: str, credentials: str) -> Demand:
        """Ask for what a scheme and its credentials stand for; Basic may have `user:password` as it is typed."""
        match scheme.lower():
            case "apikey" | "api-key":
                return cls.of_key(credentials)
            case "hmac" | "hmac-sha256":
                return cls.of_hmac(credentials)
            case "basic" if ":" in credentials:
                return cls(scheme="Basic", credentials=b64encode(credentials.encode()).decode())
            case _:
                return cls(scheme=scheme, credentials=credentials)

    @classmethod
    def of_key(cls, key: str) -> Demand:
        """Ask for an API key."""
        return cls(Proof.KEY, "ApiKey", key)

    @classmethod
    def of_hmac(cls, secret: str) -> Demand:
        """Ask for the HMAC of the body under a secret."""
        return cls(Proof.HMAC, HMAC_SCHEME, secret)

    @property
    def words(self) -> str:
        """Say what is asked for, without any secret."""
        match self.proof:
            case Proof.TOKEN:
                return "token"
            case Proof.JWT:
                also = [f"from {self.issuer}" if self.issuer else "", f"for {self.audience}" if self.audience else ""]
                return " ".join(filter(None, ("token, Bearer JWT", *also)))
            case _:
                return f"token, {self.scheme}"


_BEARER = Demand()


@dataclass(frozen=True, slots=True)
class Registration:
    """One address with a secret path and a token of its own; its repr shows neither."""

    number: int
    path: str = field(repr=False)
    token: str = field(repr=False)
    url: str = field(repr=False)
    made_at: float
    demand: Demand = _BEARER

    @property
    def credentials(self) -> str:
        """Return what Authorization has to carry, the key or the secret; `""` for what has none."""
        if self.demand.proof in (Proof.TOKEN, Proof.JWT):
            return ""
        return self.demand.credentials or self.token
