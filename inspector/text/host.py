"""Write hosts in URLs."""

from __future__ import annotations


def url_host(host: str) -> str:
    """Return a host as in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def authority(host: str, port: int) -> str:
    """Return a host and a port as in a URL and in the header `Host`."""
    return f"{url_host(host)}:{port}"
