"""The state of a login, as the TUI and the command line show it."""

from __future__ import annotations

from enum import StrEnum

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import Fault


class Step(StrEnum):
    """A step of a login; the value is in `meta["login"]` of its records."""

    METADATA = "metadata"
    """Fetch the metadata of the authorization server (RFC 8414), or the OpenID discovery document."""
    RESOURCE = "resource"
    """Fetch the metadata of the agent as a protected resource (RFC 9728)."""
    AUTHORIZE = "authorize"
    """Wait until the user has logged in in the browser."""
    REDIRECT = "redirect"
    """The browser returns to the loopback address."""
    DEVICE = "device"
    """Request a device code (RFC 8628)."""
    TOKEN = "token"  # noqa: S105 - the name of a step
    """Request the token; for a device code, repeatedly until the user has logged in."""
    KEYS = "keys"
    """Fetch the keys that verify the ID token."""
    REFRESH = "refresh"
    """Request a new token with the refresh token."""
    REVOKE = "revoke"
    """Revoke a token (RFC 7009)."""

    @property
    def in_words(self) -> str:
        """Return what the step does, as a sentence fragment."""
        return _WORDS[self]


_WORDS = {
    Step.METADATA: "Read the metadata of the authorization server",
    Step.RESOURCE: "Read which authorization servers the agent names",
    Step.AUTHORIZE: "Log in with the browser",
    Step.REDIRECT: "Check the redirect",
    Step.DEVICE: "Request a device code",
    Step.TOKEN: "Request the token",
    Step.KEYS: "Verify the ID token",
    Step.REFRESH: "Refresh the token",
    Step.REVOKE: "Revoke the token",
}


@dataclass(frozen=True, slots=True)
class LoginState:
    """How far a login is.

    - `steps`: all steps of this login, in order; `done`: the completed steps; `current`: the running step.
    - `open_url`: the URL that the user has to open in a browser, `""` if none; it is printable and `http` or `https`.
    - `short_url`: a short URL at the loopback address that leads to the same page, `""` if there is none.
    - `user_code`: the code to enter at that URL, for a device code.
    - `expires_at`: when the user has to be done (seconds since 1970), None if nothing expires.
    - `requested_scopes`: what was asked for; what was granted is in the token.
    - `error`: why the login failed, with the remedy in its `hint`; `untrusted`: the origin of the server that has to be
      trusted for it, `""` if the login failed for another reason.
    """

    steps: tuple[Step, ...]
    done: tuple[Step, ...] = ()
    current: Step | None = None
    open_url: str = ""
    short_url: str = ""
    user_code: str = ""
    expires_at: float | None = None
    requested_scopes: tuple[str, ...] = ()
    error: Fault | None = None
    untrusted: str = ""
    succeeded: bool = False

    @property
    def finished(self) -> bool:
        """Return whether the login has succeeded or failed."""
        return self.succeeded or self.error is not None
