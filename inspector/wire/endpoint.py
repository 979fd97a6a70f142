"""The host and the port of a URL, and the proxy through which it is reached."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from inspector.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The host and the port of a URL, and whether it uses TLS."""

    host: str
    port: int
    tls: bool


def endpoint_of(url: str) -> Endpoint | None:
    """Return the endpoint of a URL, None without a host; `host:port` without a scheme (gRPC) has no TLS."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    tls = parts.scheme in ("https", "grpcs")
    default = 443 if tls else 80
    return Endpoint(host, default if port is None else port, tls) if host else None


def proxy_of(url: str) -> str:
    """Return the proxy for a URL from the environment variables without its userinfo, `""` for none."""
    endpoint = endpoint_of(url)
    proxies = getproxies()
    if endpoint is None or proxy_bypass(f"{endpoint.host}:{endpoint.port}"):
        return ""
    proxy = proxies.get("https" if endpoint.tls else "http") or proxies.get("all", "")
    scheme, separator, place = proxy.rpartition("://")
    return f"{scheme}{separator}{place.rpartition('@')[2]}"
