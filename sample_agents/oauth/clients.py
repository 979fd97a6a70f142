"""The client of the authorization server, and how it authenticates (RFC 6749 section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote_plus

from inspector.lazy_dataclass import dataclass

from ..secret_values import decoded, same


@dataclass(frozen=True, slots=True)
class Client:
    """A registered client. Users may log in with it without its secret, because programs cannot keep secrets."""

    client_id: str
    secret: str

    def is_valid(self, authorization: str, form: Mapping[str, str], *, needs_secret: bool) -> bool:
        """Return whether a request is from this client; `authorization` is its Authorization header."""
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() == "basic":
            client_id, _, secret = decoded(credentials).partition(":")
            return self._matches(unquote_plus(client_id), unquote_plus(secret))
        if needs_secret or "client_secret" in form:
            return self._matches(form.get("client_id", ""), form.get("client_secret", ""))
        return same(form.get("client_id", ""), self.client_id)

    def _matches(self, client_id: str, secret: str) -> bool:
        return same(client_id, self.client_id) and same(secret, self.secret)
