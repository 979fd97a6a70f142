"""The expiry of a token as a short text for the header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.tui.render.times import ago

if TYPE_CHECKING:  # the header is painted before the session is loaded
    from inspector.session.login.tokens import Token

_SOON = 60.0
"""The seconds before the expiry of a token from which on it is shown as a warning."""


def short_expiry(token: Token, now: float) -> tuple[str, str]:
    """Return the state of a login for the header, and its colour."""
    if token.expires_at is None or token.can_renew:
        return "logged in", "$state-good"
    left = token.expires_at - now
    if left <= 0:
        return "token expired", "$state-bad"
    return f"token {ago(left)}", "$state-warning" if left < _SOON else "$text-soft"
