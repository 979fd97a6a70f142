"""Test whether a host can be reached: resolve the name, connect, perform the TLS handshake."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import httpx

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import Fault
from inspector.text.host import AddressScope, address_scope, authority
from inspector.wire.client.client_certificate import ClientCertificate
from inspector.wire.client.faults import explain
from inspector.wire.client.http import tls_context
from inspector.wire.endpoint import Endpoint, endpoint_of
from inspector.wire.resolve import connect_to, look_up

TIMEOUT = 10.0
"""The time limit for each layer, in seconds."""

_SOON_DAYS = 14
_NO_TLS = "The port is open, but does not use TLS. If the agent uses plain http, use http:// instead of https://."
_DROPPED = "Check host and port; a firewall may drop the packets."


@dataclass(frozen=True, slots=True)
class Layer:
    """The result of testing one layer: name, success, description, duration in seconds and, on failure, a remedy.

    `fault` is the failure, None without one.
    """

    name: str
    good: bool
    seen: str
    seconds: float
    remedy: str = ""
    fault: Fault | None = None


async def resolve(endpoint: Endpoint) -> Layer:
    """Look up the addresses of a host."""

    async def find() -> str:
        found = await look_up(endpoint.host, endpoint.port)
        return ", ".join(dict.fromkeys(str(entry[4][0]) for entry in found))

    return await _layer("name", endpoint, find, "The DNS server does not respond; check the network connection.")


async def connect(endpoint: Endpoint) -> Layer:
    """Open a TCP connection and close it."""

    async def open_it() -> str:
        _, writer = await open_connection(endpoint)
        peer: Any = writer.get_extra_info("peername")
        writer.transport.abort()
        return f"connected to {peer[0]} port {peer[1]}"

    return await _layer("tcp", endpoint, open_it, _DROPPED)


async def tls_handshake(
    endpoint: Endpoint, certificate: ClientCertificate | None = None, *, verify: bool = True
) -> Layer:
    """Perform a TLS handshake like our HTTP client; describe the certificate or, without `verify`, accept any.

    `certificate` is the client certificate.
    """

    async def open_it() -> str:
        context = tls_context(verify=verify)
        if certificate is not None:
            certificate.load_into(context)
        _, writer = await open_connection(endpoint, context)
        tls: Any = writer.get_extra_info("ssl_object")
        seen = f"{tls.version()}, {_certificate(tls.getpeercert()) if verify else 'certificate not checked'}"
        seen += f"; sent the {certificate.in_words()}" if certificate else ""
        writer.transport.abort()  # an orderly shutdown would wait for the peer
        return seen

    return await _layer("tls", endpoint, open_it, _NO_TLS, certificate)


async def open_connection(
    endpoint: Endpoint, context: ssl.SSLContext | None = None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a host in the same way as our HTTP client, which tries its addresses side by side."""
    sock = await connect_to(endpoint.host, endpoint.port)
    return await asyncio.open_connection(sock=sock, ssl=context, server_hostname=endpoint.host if context else None)


async def _layer(
    name: str,
    endpoint: Endpoint,
    work: Callable[[], Awaitable[str]],
    timeout_remedy: str,
    certificate: ClientCertificate | None = None,
) -> Layer:
    """Test one layer; `timeout_remedy` is the remedy for a timeout."""
    began = time.perf_counter()
    try:
        async with asyncio.timeout(TIMEOUT):
            seen = await work()
    except TimeoutError:
        return Layer(name, False, f"no response within {TIMEOUT:.0f} s", time.perf_counter() - began, timeout_remedy)
    except (OSError, UnicodeError) as error:  # ssl.SSLError and socket.gaierror are OSErrors
        took = time.perf_counter() - began
        wrapped = httpx.ConnectError(str(error))  # `explain` expects errors of the HTTP client
        wrapped.__cause__ = error
        url = f"{'https' if endpoint.tls else 'http'}://{authority(endpoint.host, endpoint.port)}"
        fault = explain(wrapped, url, certificate)
        broken_off = name == "tls" and not isinstance(error, ssl.SSLError)
        return Layer(name, False, fault.seen, took, _NO_TLS if broken_off else fault.hint, fault)
    return Layer(name, True, seen, time.perf_counter() - began)


def _certificate(certificate: dict[str, Any] | None) -> str:
    """Describe a certificate: names, issuer and expiry date."""
    if not certificate:
        return "no certificate"
    names = [name for _, name in certificate.get("subjectAltName", ())]
    issuer = next(
        (value for group in certificate.get("issuer", ()) for key, value in group if key == "commonName"), "?"
    )
    until = datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    days = (until - datetime.now(UTC)).days
    warning = f" (in {days} days)" if days < _SOON_DAYS else ""
    return f"for {', '.join(names[:4]) or 'no name'}, by {issuer}, until {until:%Y-%m-%d}{warning}"


class Reachable(NamedTuple):
    """Whether an agent can reach a webhook URL (None: unknown until a delivery arrives), and the reason."""

    good: bool | None
    words: str


_REACHED_FROM = {
    AddressScope.MACHINE: "this machine only",
    AddressScope.LINK: "this link only",
    AddressScope.NETWORK: "this network only",
    AddressScope.SHARED: "the network of this provider or VPN only",
}


def reachable(advertised: str, agent_url: str, *, came: bool) -> Reachable:
    """Return whether the agent at `agent_url` (`""`: unknown) can reach the advertised webhook URL.

    `came` is True if deliveries have already been received.
    """
    if came:
        return Reachable(True, "yes: deliveries were received")
    ours, theirs = endpoint_of(advertised), endpoint_of(agent_url)
    if ours is None:
        return Reachable(False, "no: the advertised URL has no host")
    near = address_scope(ours.host)
    if near is AddressScope.WILDCARD:
        return Reachable(False, f"no: {ours.host} is an address to listen on, not an address to connect to")
    if near is AddressScope.PUBLIC:
        return Reachable(None, "unknown until a delivery is received")
    if theirs is None:
        return Reachable(None, f"from {_REACHED_FROM[near]}")
    if address_scope(theirs.host) is AddressScope.MACHINE:
        return Reachable(True, "yes: the agent is on this machine")
    if near is AddressScope.MACHINE or address_scope(theirs.host) is AddressScope.PUBLIC:
        return Reachable(False, f"no: it can be reached from {_REACHED_FROM[near]}, and the agent is at {theirs.host}")
    return Reachable(None, "possible: the agent and the receiver have private addresses")
