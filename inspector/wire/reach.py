"""Test how a host can be reached: name, connection and TLS one after the other, with results and durations."""

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
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from inspector.wire.client.faults import explain
from inspector.wire.receiver.listen_address import authority

TIMEOUT = 10.0
"""How long one layer may take, in seconds."""

_SOON_DAYS = 14
_NO_TLS = "The port is open, but nobody speaks TLS there: is it served over plain http? Then type http://."
_DROPPED = "A firewall that drops packets looks like this; check host and port."


@dataclass(frozen=True, slots=True)
class Layer:
    """The test of one layer: its name, success, result, duration in seconds and, on failure, a remedy."""

    name: str
    good: bool
    seen: str
    seconds: float
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The host, the port and the use of TLS of a url."""

    host: str
    port: int
    tls: bool


def endpoint_of(url: str) -> Endpoint | None:
    """Return the place of a url, None without a host; a bare `host:port` (gRPC) is without TLS."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    tls = parts.scheme in ("https", "grpcs")
    default = 443 if tls else 80
    return Endpoint(host, default if port is None else port, tls) if host else None


def proxy_of(url: str) -> str:
    """Return the proxy that the environment names for a url, `""` for none."""
    place = endpoint_of(url)
    proxies = getproxies()
    if place is None or proxy_bypass(f"{place.host}:{place.port}"):
        return ""
    return proxies.get("https" if place.tls else "http") or proxies.get("all", "")


class AddressScope(IntEnum):
    """From where an address is valid: from anywhere, its network, its machine, or only for listening."""

    PUBLIC = 0
    NETWORK = 1
    MACHINE = 2
    WILDCARD = 3


def address_scope(host: str) -> AddressScope:
    """Return from where a host name or an address is valid."""
    if host == "localhost" or host.endswith(".localhost"):
        return AddressScope.MACHINE
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        inside = host.endswith((".local", ".internal", ".svc", ".cluster.local")) or "." not in host
        return AddressScope.NETWORK if inside else AddressScope.PUBLIC
    if address.is_unspecified:
        return AddressScope.WILDCARD
    if address.is_loopback:
        return AddressScope.MACHINE
    return AddressScope.NETWORK if address.is_private else AddressScope.PUBLIC


async def resolve(place: Endpoint) -> Layer:
    """Look up the addresses of a host."""

    async def look_up() -> str:
        return ", ".join(dict.fromkeys(await _addresses(place)))

    return await _layer("name", place, look_up, "The name server does not answer; check the network.")


async def connect(place: Endpoint) -> Layer:
    """Open a TCP connection and close it again."""

    async def open_it() -> str:
        writer = await _open(place)
        peer: Any = writer.get_extra_info("peername")
        writer.transport.abort()
        return f"connected to {peer[0]} port {peer[1]}"

    return await _layer("tcp", place, open_it, _DROPPED)


async def tls_handshake(place: Endpoint, *, verify: bool = True) -> Layer:
    """Perform a TLS handshake like our HTTP client, and describe the certificate; `verify` checks it."""

    async def open_it() -> str:
        writer = await _open(place, httpx.create_ssl_context(verify=verify))
        tls: Any = writer.get_extra_info("ssl_object")
        seen = f"{tls.version()}, {_certificate(tls.getpeercert()) if verify else 'certificate not checked'}"
        writer.transport.abort()  # an orderly end would wait for the other side
        return seen

    return await _layer("tls", place, open_it, _NO_TLS)


async def _addresses(place: Endpoint) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


async def _open(place: Endpoint, context: ssl.SSLContext | None = None) -> asyncio.StreamWriter:
    """Connect to the first address of a host that accepts; raises the error of the last address.

    The addresses are tried here because asyncio would combine their errors into one without details.
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


async def _layer(name: str, place: Endpoint, work: Callable[[], Awaitable[str]], silence: str) -> Layer:
    """Test one layer; `silence` is the remedy for a timeout."""
    began = time.perf_counter()
    try:
        async with asyncio.timeout(TIMEOUT):
            seen = await work()
    except TimeoutError:
        return Layer(name, False, f"no answer within {TIMEOUT:.0f} s", time.perf_counter() - began, silence)
    except (OSError, UnicodeError) as error:  # ssl.SSLError and socket.gaierror are among them
        took = time.perf_counter() - began
        wrapped = httpx.ConnectError(str(error))  # what the client raises, for which there are words
        wrapped.__cause__ = error
        fault = explain(wrapped, f"{'https' if place.tls else 'http'}://{authority(place.host, place.port)}")
        broken_off = name == "tls" and not isinstance(error, ssl.SSLError)
        return Layer(name, False, fault.seen, took, _NO_TLS if broken_off else fault.hint)
    return Layer(name, True, seen, time.perf_counter() - began)


def _certificate(certificate: dict[str, Any] | None) -> str:
    """Describe a certificate: its names, its issuer and its end."""
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


class Reachable(NamedTuple):
    """Whether an agent can reach a url (None: not known without a delivery), and why in words."""

    good: bool | None
    words: str


_MEANS = {
    AddressScope.MACHINE: "this machine alone",
    AddressScope.NETWORK: "this network alone",
    AddressScope.WILDCARD: "nobody in particular",
}


def reachable(advertised: str, agent_url: str, *, came: bool) -> Reachable:
    """Return whether the agent at `agent_url` (`""`: unknown) can reach the advertised url; `came`: deliveries did."""
    if came:
        return Reachable(True, "yes: deliveries came")
    ours, theirs = endpoint_of(advertised), endpoint_of(agent_url)
    if ours is None:
        return Reachable(False, "no: the advertised url names no host")
    near = address_scope(ours.host)
    if near is AddressScope.WILDCARD:
        return Reachable(False, f"no: {ours.host} is where a server listens, not where it is reached")
    if near is AddressScope.PUBLIC:
        return Reachable(None, "not known until a delivery comes")
    if theirs is None:
        return Reachable(None, f"from {_MEANS[near]}")
    if address_scope(theirs.host) is AddressScope.MACHINE:
        return Reachable(True, "yes: the agent is on this machine")
    if near is AddressScope.MACHINE or address_scope(theirs.host) is AddressScope.PUBLIC:
        return Reachable(False, f"no: it means {_MEANS[near]}, and the agent is at {theirs.host}")
    return Reachable(None, "perhaps: both are in a private network")
