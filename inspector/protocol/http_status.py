"""The HTTP statuses with a meaning for all bindings."""

from __future__ import annotations

DENYING = frozenset({401, 403})
"""Credentials are missing or were not accepted; 403 can have other reasons."""
REDIRECTING = frozenset({301, 302, 303, 307, 308})
"""The response is at another URL."""
UNROUTED = frozenset({404, 405, 501})
"""The server has no operation at the URL."""
