"""Credentials that belong to an origin and go nowhere else unasked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlencode, urlsplit

from inspector.protocol.bindings.base import HttpRequest

_PORTS = {"http": 80, "https": 443}


def origin(url: str) -> str:
    """Return scheme, host and port of a url (`https://host:443`), `""` for what has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # brackets without an address, or a port that is no number; the client will say so
        return ""
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}" if parts.hostname else ""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers and query parameters that prove who we are, and the origins that they may be sent to."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: frozenset[str] = frozenset()
    query: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return bool(self.headers or self.query)

    def are_for(self, url: str) -> bool:
        """Say whether they may be sent to this url."""
        return bool(origin(url)) and origin(url) in self.origins

    def for_url(self, url: str) -> Mapping[str, str]:
        """Return the headers to send to this url: all of them at home, none elsewhere."""
        return self.headers if self.are_for(url) else {}

    def at_home(self, url: str) -> Credentials:
        """Return the same credentials, allowed to go to this url's origin too."""
        return replace(self, origins=self.origins | {origin(url)})

    def with_key(self, key: str, location: str, name: str) -> Credentials:
        """Return these credentials and an API key, in the `header`, `query` or `cookie` of that name."""
        match location if key else "":
            case "":
                return self
            case "query":
                return replace(self, query={**self.query, name: key})
            case "cookie":
                return replace(self, headers={**self.headers, "Cookie": f"{name}={quote(key)}"})
            case _:
                return replace(self, headers={**self.headers, name: key})

    def sign(self, request: HttpRequest) -> HttpRequest:
        """Return the request with the credentials on it where it goes home; a header of ours replaces its own."""
        if not self.are_for(request.url):
            return request
        ours = {name.lower() for name in self.headers}
        kept = {name: value for name, value in request.headers.items() if name.lower() not in ours}
        return replace(request, url=_with_query(request.url, self.query), headers={**kept, **self.headers})


def _with_query(url: str, query: Mapping[str, str]) -> str:
    if not query:
        return url
    parts = urlsplit(url)
    return parts._replace(query="&".join(filter(None, (parts.query, urlencode(query))))).geturl()
