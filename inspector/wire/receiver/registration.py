"""A webhook registration: its url, and the authentication that its deliveries need."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import field
from enum import StrEnum
from urllib.parse import urlsplit

from inspector.findings.signatures.keyset import KeySet
from inspector.lazy_dataclass import dataclass

HMAC_SCHEME = "HMAC-SHA256"
"""The scheme for bodies that are signed with a shared secret; A2A does not define a name."""


_NO_KEYS = KeySet()


class Proof(StrEnum):
    """How a delivery proves that it comes from the agent."""

    TOKEN = "token"  # noqa: S105 - a name, not a secret
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
    """The authentication that deliveries need; the repr shows no secret.

    - `scheme`: the scheme of Authorization.
    - `credentials`: the credentials of Authorization, the API key, or the secret of the HMAC. If empty, the token of
      the registration is used.
    - `with_token`: whether the token is required, too. Otherwise the token or Authorization is sufficient, because SDKs
      send only one of them; a JWT and an HMAC are always required.
    - `keys`: the keys that verify a JWT; `issuer`, `audience`: the claims that it must have, `""` for any.
    """

    proof: Proof = Proof.AUTHORIZATION
    scheme: str = "Bearer"
    credentials: str = field(default="", repr=False)
    with_token: bool = False
    keys: KeySet = _NO_KEYS
    issuer: str = ""
    audience: str = ""

    @classmethod
    def of(cls, scheme: str, credentials: str) -> WebhookAuth:
        """Return the authentication for a scheme: API key, HMAC, Basic (also `user:password`), or any other."""
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
        """Describe the authentication without any secret; `or` separates alternatives."""
        token = f"token {'and' if self.with_token else 'or'} "
        match self.proof:
            case Proof.TOKEN:
                return "token"
            case Proof.JWT:
                also = [f"from {self.issuer}" if self.issuer else "", f"for {self.audience}" if self.audience else ""]
                return " ".join(filter(None, (f"{token if self.with_token else ''}Bearer JWT", *also)))
            case Proof.HMAC:
                return f"{token if self.with_token else ''}{self.scheme}"
            case _:
                return f"{token}{self.scheme}"


_BEARER = WebhookAuth()


def path_of(target: str) -> str:
    """Return the path of a request target; a sender behind a proxy may send the whole URL (RFC 9112 section 3.2.2)."""
    is_url = target.lower().startswith(("http://", "https://"))
    return (urlsplit(target).path if is_url else target).partition("?")[0]


@dataclass(frozen=True, slots=True)
class Registration:
    """A webhook url with a secret path, and its token; the repr shows neither."""

    number: int
    path: str = field(repr=False)
    token: str = field(repr=False)
    url: str = field(repr=False)
    made_at: float
    auth: WebhookAuth = _BEARER

    @property
    def credentials(self) -> str:
        """Return the credentials, the API key or the HMAC secret; `""` for a token or a JWT."""
        if self.auth.proof in (Proof.TOKEN, Proof.JWT):
            return ""
        return self.auth.credentials or self.token
