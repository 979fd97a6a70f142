"""References to an agent as users write them: a URL, a host, or the path of a card file."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from inspector.text.typed_path import looks_like_path, typed_path

_HTTPS = 443
_ONE_SLASH = re.compile(r"(https?|grpcs?):/(?!/)", re.IGNORECASE)
"""The beginning of a URL whose second slash is missing: `http:/host`."""


def local_path(reference: str) -> Path | None:
    """Return the local path of a reference, or None if it is a URL or a host."""
    try:
        if reference.startswith("file://"):
            return Path(unquote(urlsplit(reference).path))
        if "://" in reference or _ONE_SLASH.match(reference):
            return None
        path = typed_path(reference)
        return path if looks_like_path(reference) or path.is_file() else None
    except (ValueError, OSError):  # an invalid URL, a path that is too long, an unknown user
        return Path(reference) if reference.startswith((".", "/", "~", "file://")) else None


def with_scheme(reference: str) -> str:
    """Return the URL for a reference (a URL or a host); without a scheme, add one.

    The scheme is http for this machine, for IP addresses and if a port is given, except for port 443; otherwise https.
    An invalid reference also gets a scheme; the client then rejects the URL. A missing second slash is added.
    """
    reference = _with_two_slashes(reference)
    if "://" in reference:
        return reference
    if _is_address(reference) and ":" in reference:
        reference = f"[{reference}]"
    try:
        parts = urlsplit(f"//{reference}")
        plain = _is_plain_http(parts.hostname or "", parts.port)
    except ValueError:
        plain = False
    return f"{'http' if plain else 'https'}://{reference}"


def without_spelling(reference: str) -> str:
    """Return a text that is equal for references to the same agent: `host:80`, `http://host:80` and `http://host:80/`."""
    return reference if local_path(reference) is not None else with_scheme(reference).rstrip("/")


def is_grpc(reference: str) -> bool:
    """Return whether a reference is the URL of a gRPC server, from which the card is read."""
    return _with_two_slashes(reference).lower().startswith(("grpc://", "grpcs://"))


def grpc_url(url: str) -> str:
    """Return a URL or `host:port` with the scheme `grpcs` if it has TLS, else `grpc`, without a path."""
    scheme, separator, rest = _with_two_slashes(url).rpartition("://")
    kind = "grpcs" if scheme.lower() in ("https", "grpcs") else "grpc"
    return f"{kind}://{rest.partition('/')[0]}" if separator else grpc_url(with_scheme(url))


def mistake_in_host(reference: str) -> str:
    """Return why the host of a URL or a host cannot exist, `""` if it can: a host contains no spaces."""
    try:
        host = urlsplit(with_scheme(reference)).netloc.rpartition("@")[2]
    except ValueError:  # brackets without an address; the client rejects the URL
        return ""
    return f"“{host}” cannot be a host: it contains a space." if any(map(str.isspace, host)) else ""


def _with_two_slashes(reference: str) -> str:
    return reference.replace(":/", "://", 1) if _ONE_SLASH.match(reference) else reference


def _is_plain_http(host: str, port: int | None) -> bool:
    if host == "localhost" or host.endswith((".localhost", ".local")) or _is_address(host):
        return port != _HTTPS
    return port is not None and port != _HTTPS


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
