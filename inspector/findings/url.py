"""Parse and validate URLs."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from inspector.text.host import is_local, url_host

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)
_NOT_IN_URLS = frozenset('<>"{}|\\^`')
_PORTS = {"http": 80, "https": 443}
_TARGET_PREFIXES = ("dns:", "ipv4:", "ipv6:", "unix:", "xds:")
"""The prefixes of gRPC target names."""


def split(url: str) -> SplitResult | None:
    """Parse a URL, or a `host:port` as gRPC writes it; return None if it is not a URL."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        return parts if parts.port != 0 else None
    except ValueError:
        return None


def host_of(url: str) -> str:
    """Return the host of a URL in lower case, `""` if it has none."""
    parts = split(url)
    return (parts.hostname or "") if parts else ""


def origin_of(url: str) -> str:
    """Return the origin of a URL with its port, without the port that its scheme implies; `""` if it has no host."""
    parts = split(url)
    if parts is None or not parts.hostname:
        return ""
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{url_host(parts.hostname)}{port}"


def flaw(url: str, *, target: bool = False) -> str:
    """Return why a text is not a valid absolute URL, `""` if it is valid; `target` allows gRPC targets (`dns:///host`)."""
    if not url.strip():
        return "the URL is empty"
    if any(character.isspace() or ord(character) < 32 or character == "\u200b" for character in url):
        return "it contains a space or a control character"
    if target and url.lower().startswith(_TARGET_PREFIXES):
        return ""
    parts = split(url)
    if parts is None:
        return "it cannot be parsed as a URL"
    if "://" not in url and not (target and parts.hostname and parts.path in ("", "/") and not url.startswith("/")):
        return "it is not absolute"
    if not parts.hostname:
        return "it has no host"
    if not is_host(parts.hostname):
        return f"{parts.hostname} is not a valid host name"
    if _NOT_IN_URLS & set(url) or re.search(r"%(?![0-9A-Fa-f]{2})", url):
        return "it contains a character that is not allowed in a URL"
    return ""


def insecure(url: str) -> str:
    """Return why a URL is not safe for secrets, `""` if it is: https, or http on this machine."""
    scheme = url.partition(":")[0].lower()
    is_safe = scheme == "https" or (scheme == "http" and is_local(host_of(url)))
    return flaw(url) or ("" if is_safe else f"the scheme is {scheme}, expected https")


def is_host(host: str) -> bool:
    """Whether a text is an IP address or a host name, in any script (RFC 3986 section 3.2.2)."""
    if _address(host.partition("%")[0]) is not None:
        return True
    try:
        plain = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return False
    labels = plain.removesuffix(".").split(".")
    numbers = all(label.isdigit() for label in labels) and len(labels) > 1
    return all(_LABEL.fullmatch(label) for label in labels) and not numbers


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
