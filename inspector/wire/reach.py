"""Reaching a host, one layer after the other: name, connection, TLS; each with what was seen and how long it took."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from inspector.wire.faults import explain

PATIENCE = 10.0
"""How long one layer may take, in seconds."""

_SOON_DAYS = 14


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: its name, whether it worked, what was seen, the seconds that it took and, on failure, a remedy."""

    name: str
    good: bool
    seen: str
    seconds: float
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a url leads: host, port and whether TLS is spoken there."""

    host: str
    port: int
    tls: bool


def place_of(url: str) -> Place | None:
    """Return where a url leads, None where it names no host; a bare `host:port`, as gRPC has it, is plain."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    tls = parts.scheme in ("https", "grpcs")
    return Place(host, port or (443 if tls else 80), tls) if host else None


def only_there(host: str) -> str:
    """Say why an address means something on the agent's own machine or network only, `""` where it does not."""
    if host == "localhost" or host.endswith(".localhost"):
        return "it is this machine, seen from wherever one stands"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        inside = host.endswith((".local", ".internal", ".svc", ".cluster.local")) or "." not in host
        return "the name is one of an internal network" if inside else ""
    if address.is_unspecified:
        return "it means every address of the agent's own machine"
    if address.is_loopback:
        return "it is this machine, seen from wherever one stands"
    return "it is an address of a private network" if address.is_private else ""


async def resolve(place: Place) -> Layer:
    """Look up the addresses of a host."""

    async def look_up() -> str:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
        return ", ".join(dict.fromkeys(str(entry[4][0]) for entry in found))

    return await _layer("name", place, look_up)


async def connect(place: Place) -> Layer:
    """Open a TCP connection and close it again."""

    async def open_it() -> str:
        _, writer = await asyncio.open_connection(place.host, place.port)
        peer: Any = writer.get_extra_info("peername")
        writer.close()
        return f"connected to {peer[0]} port {peer[1]}"

    return await _layer("tcp", place, open_it)


async def shake_hands(place: Place) -> Layer:
    """Speak TLS as a client does that trusts the system's authorities, and say what the certificate is."""

    async def open_it() -> str:
        _, writer = await asyncio.open_connection(place.host, place.port, ssl=ssl.create_default_context())
        tls: Any = writer.get_extra_info("ssl_object")
        seen = f"{tls.version()}, {_certificate(tls.getpeercert())}"
        writer.close()
        return seen

    return await _layer("tls", place, open_it)


async def _layer(name: str, place: Place, work: Callable[[], Awaitable[str]]) -> Layer:
    began = time.perf_counter()
    try:
        async with asyncio.timeout(PATIENCE):
            seen = await work()
    except TimeoutError:
        took = time.perf_counter() - began
        remedy = "A firewall that drops packets looks like this; check host and port."
        return Layer(name, False, f"no answer within {PATIENCE:.0f} s", took, remedy)
    except OSError as error:  # ssl.SSLError and socket.gaierror are among them
        fault = explain(error, f"{'https' if place.tls else 'http'}://{place.host}:{place.port}")
        return Layer(name, False, fault.seen, time.perf_counter() - began, fault.hint)
    return Layer(name, True, seen, time.perf_counter() - began)


def _certificate(certificate: dict[str, Any] | None) -> str:
    """Say for whom a certificate is, who signed it and how long it lasts."""
    if not certificate:
        return "no certificate"
    names = [name for kind, name in certificate.get("subjectAltName", ()) if kind == "DNS"]
    issuer = next(
        (value for group in certificate.get("issuer", ()) for key, value in group if key == "commonName"), "?"
    )
    until = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    days = (until - datetime.now(UTC)).days
    warning = f" (in {days} days)" if days < _SOON_DAYS else ""
    return f"for {', '.join(names[:4]) or 'nobody'}, by {issuer}, until {until:%Y-%m-%d}{warning}"
