"""Rewrite the URLs in a recorded card, so that clients reach this server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Json

from .substitution import replace_members

_LISTS = {"supportedInterfaces": "protocolBinding", "additionalInterfaces": "transport"}
"""The lists of interfaces in a card of any version, with the member that has the binding."""


class Addresses(NamedTuple):
    """Where this server is reached: the HTTP origin, and `host:port` for gRPC (`""` without gRPC)."""

    base: str
    grpc: str


def rewrite_card(raw: bytes, addresses: Addresses) -> bytes:
    """Return a card, or a JSON-RPC response with a card, with the URLs of its interfaces at this server.

    The signatures are left out if a URL changed, because they do not match the card any more.
    """
    changed = moved_urls(_card_in(parse(raw)), addresses)
    if not changed:
        return raw
    rewritten = replace_members(raw, {"url": changed})
    value = parse(rewritten)
    card = _card_in(value)
    if isinstance(card, dict) and card.pop("signatures", None) is not None:
        return dump(value)
    return rewritten


def _card_in(value: Json) -> Json:
    """Return the card in a JSON-RPC response, or else the value itself."""
    return value["result"] if isinstance(value, dict) and "result" in value else value


def moved_urls(card: Json, addresses: Addresses) -> dict[str, str]:
    """Return the new URL for each URL of an interface that changes."""
    urls = {url: _moved(url, binding, addresses) for url, binding in _interfaces(card)}
    return {url: moved for url, moved in urls.items() if url != moved}


def lists_grpc(raw: bytes) -> bool:
    """Return whether a card has an interface for gRPC."""
    return any(binding.upper() == "GRPC" for _, binding in _interfaces(parse(raw)))


def _interfaces(card: Json) -> Iterator[tuple[str, str]]:
    """Yield the URL and the binding of each interface of a card of any version."""
    if not isinstance(card, dict):
        return
    if isinstance(url := card.get("url"), str):
        yield url, str(card.get("preferredTransport", "JSONRPC"))
    for name, member in _LISTS.items():
        listed = card.get(name)
        for item in listed if isinstance(listed, list) else ():
            if isinstance(item, dict) and isinstance(url := item.get("url"), str):
                yield url, str(item.get(member, ""))


def _moved(url: str, binding: str, addresses: Addresses) -> str:
    """Return the URL of an interface at this server, with its path."""
    if binding.upper() == "GRPC":
        if not addresses.grpc:
            return url
        scheme = "https" if addresses.base.startswith("https:") else "http"
        return f"{scheme}://{addresses.grpc}" if "://" in url or scheme == "https" else addresses.grpc
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if not parts.netloc:  # relative to the URL of the card
        return url
    return addresses.base + parts.path + (f"?{parts.query}" if parts.query else "")
