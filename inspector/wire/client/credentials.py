"""Credentials, which are sent only to the origins that they belong to."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import field, replace
from urllib.parse import quote, unquote_to_bytes, urlencode, urlsplit

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import CertificateFiles, GrpcRequest, HttpRequest
from inspector.text.host import url_host
from inspector.wire.client.client_certificate import ClientCertificate

_PORTS = {"http": 80, "https": 443}
_COOKIE = "cookie"


def origin(url: str) -> str:
    """Return the origin of a URL (`https://host:443`), `""` if it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # an invalid address or port, which the client reports
        return ""
    host = url_host((parts.hostname or "").lower())
    return f"{parts.scheme}://{host}:{port}" if host else ""


def split_userinfo(url: str) -> tuple[str, str]:
    """Return a URL without userinfo, and the userinfo (`""` for none)."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, ""
    userinfo, at, host = parts.netloc.rpartition("@")
    return (parts._replace(netloc=host).geturl(), userinfo) if at else (url, "")


def basic(userinfo: str) -> str:
    """Return the value of Authorization for the userinfo of a URL, which is percent-encoded (RFC 7617).

    Without a colon, the userinfo is a user with an empty password.
    """
    pair = userinfo if ":" in userinfo else f"{userinfo}:"
    return f"Basic {b64encode(unquote_to_bytes(pair.encode('utf-8', 'surrogateescape'))).decode('ascii')}"


def basic_credentials(user_and_password: str) -> str:
    """Return the value of Authorization for a user and a password with a colon between them (RFC 7617)."""
    return f"Basic {b64encode(user_and_password.encode()).decode('ascii')}"


def cookies_in(header: str) -> list[tuple[str, str]]:
    """Return the cookies of a header Cookie, each with its name (`""` if it has none) and the text `name=value`."""
    pairs = (pair.strip() for pair in header.split(";"))
    return [(pair.partition("=")[0].strip() if "=" in pair else "", pair) for pair in pairs if pair]


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers, query parameters and a client certificate, and the origins to which they may be sent.

    `plain` are headers without credentials, which are sent with every request. `more` are further credentials with
    origins of their own; they replace headers and cookies of the same name. If `unasked`, they are sent with the first
    request for a card; otherwise an agent has to ask for them with the status 401.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: frozenset[str] = frozenset()
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    plain: Mapping[str, str] = field(default_factory=dict)
    more: tuple[Credentials, ...] = ()
    certificate: ClientCertificate | None = None
    unasked: bool = False

    def __bool__(self) -> bool:
        return bool(self.headers or self.query or self.more or self.certificate)

    def are_for(self, url: str) -> bool:
        """Return whether credentials may be sent to a URL."""
        return any(part.headers or part.query or part.certificate for part in self._sent_to(url))

    def _sent_to(self, url: str) -> list[Credentials]:
        place = origin(url)
        return [part for part in (self, *self.more) if place and place in part.origins]

    def headers_for(self, url: str) -> dict[str, str]:
        """Return the headers with credentials that are sent to a URL."""
        headers: dict[str, str] = {}
        for part in self._sent_to(url):
            headers = _with_headers(headers, part.headers)
        return headers

    def query_for(self, url: str) -> dict[str, str]:
        """Return the query parameters with credentials that are sent to a URL."""
        return {name: value for part in self._sent_to(url) for name, value in part.query.items()}

    def certificate_for(self, url: str) -> ClientCertificate | None:
        """Return the client certificate for the TLS handshake with the host of a URL."""
        found = None
        for part in self._sent_to(url):
            found = part.certificate or found
        return found

    def with_key(self, key: str, location: str, name: str) -> Credentials:
        """Return the credentials with an API key added as the `header`, `query` parameter or `cookie` of this name.

        It replaces a header, a parameter or a cookie of the same name.
        """
        match location if key else "":
            case "":
                return self
            case "query":
                return replace(self, query={**self.query, name: key})
            case "cookie":
                return replace(self, headers=_with_headers(self.headers, {"Cookie": f"{name}={quote(key)}"}))
            case _:
                return replace(self, headers=_with_headers(self.headers, {name: key}))

    def withheld(self) -> Credentials:
        """Return the headers that are not credentials."""
        return Credentials(plain=self.plain)

    @property
    def attempts(self) -> list[Credentials]:
        """Return the credentials for the requests for a card: the first has none, unless they may be sent unasked."""
        return [self] if self.unasked else [self.withheld(), self]

    def sign(self, request: HttpRequest, *, keep_headers: bool = False) -> HttpRequest:
        """Return the request with the credentials, if they may be sent to its URL.

        The headers of the credentials replace headers of the request; with `keep_headers`, the request has priority.
        """
        added = {**self.plain, **self.headers_for(request.url)}
        if keep_headers:
            present = {name.lower() for name in request.headers}
            added = {name: value for name, value in added.items() if name.lower() not in present}
        names = {name.lower() for name in added}
        others = {name: value for name, value in request.headers.items() if name.lower() not in names}
        url = _with_query(request.url, self.query_for(request.url))
        return replace(request, url=url, headers={**others, **added}, certificate=self._files_for(request.url))

    def sign_call(self, call: GrpcRequest, *, keep_headers: bool = False) -> GrpcRequest:
        """Return the call with the credentials in its metadata (query parameters included), if they may be sent."""
        added = {**self.plain, **self.headers_for(call.url), **self.query_for(call.url)}
        added = {name.lower(): value for name, value in added.items()}
        metadata = {**added, **call.metadata} if keep_headers else {**call.metadata, **added}
        return replace(call, metadata=metadata, certificate=self._files_for(call.url))

    def _files_for(self, url: str) -> CertificateFiles | None:
        certificate = self.certificate_for(url) if url.startswith("https:") else None
        return certificate.files if certificate else None


def _with_headers(headers: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """Return headers with others added, which replace headers of the same name; cookies replace each other one by one.

    The names of headers are compared without case, those of cookies with case.
    """
    replaced = {name.lower(): value for name, value in headers.items()}
    result = {name: value for name, value in headers.items() if name.lower() not in {key.lower() for key in added}}
    for name, value in added.items():
        before = cookies_in(replaced.get(_COOKIE, "")) if name.lower() == _COOKIE else []
        kept = [pair for cookie, pair in before if cookie not in dict(cookies_in(value))]
        result[name] = "; ".join((*kept, value))
    return result


def _with_query(url: str, query: Mapping[str, str]) -> str:
    if not query:
        return url
    parts = urlsplit(url)
    return parts._replace(query="&".join(filter(None, (parts.query, urlencode(query))))).geturl()
