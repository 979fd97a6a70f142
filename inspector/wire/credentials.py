"""Credentials that belong to an origin and go nowhere else unasked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def origin(url: str) -> str:
    """Return scheme, host and port of a url (`https://host:443`), `""` for what has none."""
    parts = urlsplit(url)
    try:
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # a port that is no number; the client will say so
        port = None
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}" if parts.hostname else ""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers that prove who we are, and the origins that they may be sent to."""

    headers: Mapping[str, str] = field(default_factory=dict)
    origins: frozenset[str] = frozenset()

    def for_url(self, url: str) -> Mapping[str, str]:
        """Return the headers to send to this url: all of them at home, none elsewhere."""
        return self.headers if origin(url) in self.origins else {}

    def at_home(self, url: str) -> Credentials:
        """Return the same credentials, allowed to go to this url's origin too."""
        return Credentials(self.headers, self.origins | {origin(url)})
