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
from enum import IntEnum
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from inspector.wire.client.faults import explain

PATIENCE = 10.0
"""How long one layer may take, in seconds."""

_SOON_DAYS = 14
_NO_TLS = "The port is open, but nobody speaks TLS there: is it served over plain http? Then type http://."
_DROPPED = "A firewall that drops packets looks like this; check host and port."


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
    default = 443 if tls else 80
    return Place(host, default if port is None else port, tls) if host else None


def proxy_of(url: str) -> str:
    """Return the proxy that the environment names for a url, `""` where it is reached directly."""
    place = place_of(url)
    proxies = getproxies()
    if place is None or proxy_bypass(f"{place.host}:{place.port}"):
        return ""
    return proxies.get("https" if place.tls else "http") or proxies.get("all", "")


class Nearness(IntEnum):
    """From how near an address means the agent: from anywhere, its network, its machine, or only to who listens."""

    PUBLIC = 0
    NETWORK = 1
    MACHINE = 2
    WILDCARD = 3


def nearness(host: str) -> Nearness:
    """Say from how near a host name or address means one and the same machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return Nearness.MACHINE
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        inside = host.endswith((".local", ".internal", ".svc", ".cluster.local")) or "." not in host
        return Nearness.NETWORK if inside else Nearness.PUBLIC
    if address.is_unspecified:
        return Nearness.WILDCARD
    if address.is_loopback:
        return Nearness.MACHINE
    return Nearness.NETWORK if address.is_private else Nearness.PUBLIC


async def resolve(place: Place) -> Layer:
    """Look up the addresses of a host."""

    async def look_up() -> str:
        return ", ".join(dict.fromkeys(await _addresses(place)))

    return await _layer("name", place, look_up, "The name server does not answer; check the network.")


async def connect(place: Place) -> Layer:
    """Open a TCP connection and close it again."""

    async def open_it() -> str:
        writer = await _open(place)
        peer: Any = writer.get_extra_info("peername")
        writer.transport.abort()
        return f"connected to {peer[0]} port {peer[1]}"

    return await _layer("tcp", place, open_it, _DROPPED)


async def shake_hands(place: Place, *, verify: bool = True) -> Layer:
    """Speak TLS as our HTTP client does, and say what the certificate is; `verify` checks it."""

    async def open_it() -> str:
        writer = await _open(place, httpx.create_ssl_context(verify=verify))
        tls: Any = writer.get_extra_info("ssl_object")
        seen = f"{tls.version()}, {_certificate(tls.getpeercert()) if verify else 'certificate not checked'}"
        writer.transport.abort()  # an orderly end would wait for the other side
        return seen

    return await _layer("tls", place, open_it, _NO_TLS)


async def _addresses(place: Place) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


async def _open(place: Place, context: ssl.SSLContext | None = None) -> asyncio.StreamWriter:
    """Open a connection to the first address of a host that takes one; raises the error of the last that does not.

    One after the other, because asyncio sums the errors of several addresses up in one that no longer tells which.
    """
    name = place.host if context else None
    failure: OSError = OSError(f"{place.host} has no address")
    for address in await _addresses(place):
        try:
            _, writer = await asyncio.open_connection(address, place.port, ssl=context, server_hostname=name)
        except OSError as error:
            failure = error
        else:
            return writer
    raise failure


async def _layer(name: str, place: Place, work: Callable[[], Awaitable[str]], silence: str) -> Layer:
    """Take one layer; `silence` is the remedy where nothing answers."""
    began = time.perf_counter()
    try:
        async with asyncio.timeout(PATIENCE):
            seen = await work()
    except TimeoutError:
        return Layer(name, False, f"no answer within {PATIENCE:.0f} s", time.perf_counter() - began, silence)
    except (OSError, UnicodeError) as error:  # ssl.SSLError and socket.gaierror are among them
        took = time.perf_counter() - began
        wrapped = httpx.ConnectError(str(error))  # what the client raises, for which there are words
        wrapped.__cause__ = error
        fault = explain(wrapped, f"{'https' if place.tls else 'http'}://{_netloc(place)}")
        broken_off = name == "tls" and not isinstance(error, ssl.SSLError)
        return Layer(name, False, fault.seen, took, _NO_TLS if broken_off else fault.hint)
    return Layer(name, True, seen, time.perf_counter() - began)


def _netloc(place: Place) -> str:
    return f"[{place.host}]:{place.port}" if ":" in place.host else f"{place.host}:{place.port}"


def _certificate(certificate: dict[str, Any] | None) -> str:
    """Say for whom a certificate is, who signed it and how long it lasts."""
    if not certificate:
        return "no certificate"
    names = [name for _, name in certificate.get("subjectAltName", ())]
    issuer = next(
        (value for group in certificate.get("issuer", ()) for key, value in group if key == "commonName"), "?"
    )
    until = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    days = (until - datetime.now(UTC)).days
    warning = f" (in {days} days)" if days < _SOON_DAYS else ""
    return f"for {', '.join(names[:4]) or 'nobody'}, by {issuer}, until {until:%Y-%m-%d}{warning}"
