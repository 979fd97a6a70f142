"""Credentials, which are sent to their own origins only."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, unquote_to_bytes, urlencode, urlsplit

from inspector.protocol.bindings.base import GrpcRequest, HttpRequest

_PORTS = {"http": 80, "https": 443}


def origin(url: str) -> str:
    """Return scheme, host and port of a url (`https://host:443`), `""` if it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # an invalid address or port, which the client reports
        return ""
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}" if parts.hostname else ""


def split_userinfo(url: str) -> tuple[str, str]:
    """Return a url without its userinfo, and the userinfo, `""` for none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, ""
    userinfo, at, place = parts.netloc.rpartition("@")
    return (parts._replace(netloc=place).geturl(), userinfo) if at else (url, "")


def basic(userinfo: str) -> str:
    """Return the Authorization header of a url's userinfo (RFC 7617)."""
    return f"Basic {b64encode(unquote_to_bytes(userinfo)).decode('ascii')}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers and query parameters that authenticate us, and the origins that they may be sent to.

    `plain` are other headers, which are sent with every request.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: frozenset[str] = frozenset()
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    plain: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.headers or self.query)

    def are_for(self, url: str) -> bool:
        """Return whether they may be sent to this url."""
        return bool(origin(url)) and origin(url) in self.origins

    def with_key(self, key: str, location: str, name: str) -> Credentials:
        """Return these credentials with an API key in the `header`, `query` or `cookie` of that name."""
        match location if key else "":
            case "":
                return self
            case "query":
                return replace(self, query={**self.query, name: key})
            case "cookie":
                return replace(self, headers={**self.headers, "Cookie": f"{name}={quote(key)}"})
            case _:
                return replace(self, headers={**self.headers, name: key})

    def sign(self, request: HttpRequest, *, theirs: bool = False) -> HttpRequest:
        """Return the request with the credentials, if they may be sent to its url.

        Our headers replace those of the request, except with `theirs`.
        """
        home = self.are_for(request.url)
        ours = {**self.plain, **(self.headers if home else {})}
        if theirs:
            has = {name.lower() for name in request.headers}
            ours = {name: value for name, value in ours.items() if name.lower() not in has}
        names = {name.lower() for name in ours}
        kept = {name: value for name, value in request.headers.items() if name.lower() not in names}
        url = _with_query(request.url, self.query) if home else request.url
        return replace(request, url=url, headers={**kept, **ours})

    def sign_call(self, call: GrpcRequest, *, theirs: bool = False) -> GrpcRequest:
        """Return the call with the credentials, those of the query included, in its metadata if they may be sent."""
        ours = {**self.plain, **({**self.headers, **self.query} if self.are_for(call.url) else {})}
        ours = {name.lower(): value for name, value in ours.items()}
        return replace(call, metadata={**ours, **call.metadata} if theirs else {**call.metadata, **ours})


def _with_query(url: str, query: Mapping[str, str]) -> str:
    if not query:
        return url
    parts = urlsplit(url)
    return parts._replace(query="&".join(filter(None, (parts.query, urlencode(query))))).geturl()
