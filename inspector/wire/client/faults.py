"""Describe what fails on the network: who has to act, what was seen and what to do next."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

import httpx

from inspector.protocol.bindings.base import GrpcRequest
from inspector.protocol.errors import Fault, FaultCode, Whose
from inspector.wire.client.observations import Ending

TOO_LARGE = "Is an answer of this size meant? The limit is there so that no agent can fill this machine."
_CHECK_NAME = "Check the spelling, the network and, inside a container, its DNS."
_CHECK_PLACE = "Check host, port and the network between."

_agent = partial(Fault, Whose.AGENT, FaultCode.UNREACHABLE)
_network = partial(Fault, Whose.NETWORK, FaultCode.UNREACHABLE)
_usage = partial(Fault, Whose.YOURS, FaultCode.USAGE)

_TOO_LARGE = re.compile(r"CLIENT: Received message larger than max \((\d+) vs\. (\d+)\)")
_HTTP_STATUS = re.compile(r"Received http2 header with status: (\d+)")
_NO_GRPC = ("http1.x server", "Expected SETTINGS frame", "Failed parsing HTTP/2")
_BROKEN = (
    *("Socket closed", "recvmsg:", "sendmsg:", "GOAWAY"),
    *("Connection reset", "Broken pipe", "RST_STREAM", "Stream r"),
)
"""How gRPC's messages about a lost connection begin; those of a server may be anything else."""

_NAME = re.compile(r"[0-9a-z_.-]+")
_VALUE = re.compile(r"[\x20-\x7e]*")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
BINARY = "-bin"
"""The suffix of the names of metadata whose values are bytes."""


def explain(error: Exception, url: str) -> Fault:
    """Turn an error of the HTTP client into a fault about `url`."""
    host, place = _host_and_place(url)
    cause = _root(error)
    match cause:
        case ssl.SSLCertVerificationError():
            seen = f"The certificate of {host} was refused: {cause.verify_message}."
            return _agent(seen, "Check its name, dates and chain; --insecure connects anyway, for development only.")
        case ssl.SSLError():
            seen = f"TLS with {host} failed: {_words(cause)}."
            return _agent(seen, "Is this port served over plain http? Then type http:// instead of https://.")
        case socket.gaierror():
            return _network(f"The name {host} could not be resolved: {_words(cause)}.", _CHECK_NAME)
        case ConnectionRefusedError():
            seen = f"Nothing listens at {place}: the connection was refused."
            return _agent(seen, "Is the agent running, and on this port?")
        case _:
            return _explain_http(error, host, url)


def _explain_http(error: Exception, host: str, url: str) -> Fault:
    match error:
        case httpx.InvalidURL() | httpx.UnsupportedProtocol():
            seen = f"{url!r} is not a url that can be asked: {_words(error)}."
            return _usage(seen, "A url starts with http:// or https://.")
        case httpx.LocalProtocolError() | UnicodeError():
            return _usage(
                f"The request to {host} cannot be written as HTTP: {_words(error)}.",
                "Look at the host and at the headers that you give: a strange character, or a wrong length, is in one.",
            )
        case httpx.ConnectTimeout():
            hint = "A firewall that drops packets looks like this; check host and port."
            return _network(f"{host} did not answer the connection in time.", hint)
        case httpx.ReadTimeout() | httpx.WriteTimeout() | httpx.PoolTimeout():
            seen = f"{host} accepted the request and then stayed silent until the time was up."
            hint = "Is the agent stuck? Try again with a longer --timeout, or streamed."
            return Fault(Whose.AGENT, FaultCode.TIMEOUT, seen, hint)
        case httpx.ConnectError():
            return _network(f"No connection to {host}: {_words(_root(error))}.", _CHECK_PLACE)
        case httpx.RemoteProtocolError():
            seen = f"{host} broke off or answered against HTTP: {_words(error)}."
            return _agent(seen, "Did the agent crash while it answered? Its log will tell.")
        case httpx.TransportError():
            seen = f"The connection to {host} broke: {_words(_root(error))}."
            return _network(seen, "Did the agent or a proxy between close it?")
        case _:
            seen = f"The inspector failed on {host}: {type(error).__name__}: {_words(error)}."
            return Fault(Whose.OURS, FaultCode.INTERNAL, seen, "Please report this with the capture.")


def _host_and_place(url: str) -> tuple[str, str]:
    """Return the host of a url, and host with port; the url itself if it has none."""
    try:
        parts = urlsplit(url)
        return parts.hostname or url, parts.netloc.rpartition("@")[2] or url
    except ValueError:  # brackets without an address inside
        return url, url


def _root(error: BaseException) -> BaseException:
    """Return the cause of an error: httpx wraps httpcore, which wraps the error of the system."""
    seen: BaseException = error
    while (below := seen.__cause__ or seen.__context__) is not None:
        seen = below
        if isinstance(seen, ssl.SSLError | socket.gaierror | ConnectionError):
            return seen
        if isinstance(seen, BaseExceptionGroup) and seen.exceptions:
            seen = seen.exceptions[0]
    return seen


def _words(error: BaseException) -> str:
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(said).rstrip(".")


class LostError(Exception):
    """Raised if a gRPC call gets no status from the server: how it ended, and the fault."""

    def __init__(self, how: Ending, fault: Fault) -> None:
        super().__init__(fault.seen)
        self.how = how
        self.fault = fault


def is_made_up(code: str, words: str, *, connected: bool) -> bool:
    """Return whether the gRPC library made a status up because no response came."""
    if not connected:
        return code == "UNAVAILABLE"
    return words.startswith(_BROKEN) or bool(_TOO_LARGE.search(words) or _HTTP_STATUS.match(words))


def invalid_metadata(metadata: Mapping[str, str]) -> Fault | None:
    """Return the fault of metadata that gRPC cannot carry, None if all of it is valid."""
    for name, value in metadata.items():
        pattern = _BASE64 if name.endswith(BINARY) else _VALUE
        if not _NAME.fullmatch(name) or not pattern.fullmatch(value) or (pattern is _BASE64 and len(value) % 4 == 1):
            return _usage(
                f"The header {name!r} cannot be written as gRPC metadata.",
                "Names have letters, digits, '_', '-', '.'; values printable ASCII, base64 where a name ends in -bin.",
            )
    return None


def connect_timeout(call: GrpcRequest) -> LostError:
    """Return the error of a call whose connection was not accepted in time."""
    hint = "A firewall that drops packets looks like this, and so does a server that does not speak HTTP/2."
    return LostError(Ending.BROKEN, _network(f"{call.target} did not answer the connection in time.", hint))


def lost(words: str, call: GrpcRequest, events: int, *, connected: bool) -> LostError:
    """Explain a status that the gRPC library made up; `events` is how many messages came before."""
    if found := _TOO_LARGE.search(words):
        seen = f"Stopped reading: a message has {int(found[1]):,} bytes, the limit is {int(found[2]):,}."
        return LostError(Ending.LIMIT, _agent(seen, TOO_LARGE))
    return LostError(Ending.BROKEN, after_events(events, (_broken if connected else _unreached)(words, call)))


def after_events(events: int, fault: Fault) -> Fault:
    """Add to a fault how many events of a stream came before it."""
    count = f"{events:,} event{'s' if events > 1 else ''}"
    return replace(fault, seen=f"The stream broke off after {count}. {fault.seen}") if events else fault


def _broken(words: str, call: GrpcRequest) -> Fault:
    if found := _HTTP_STATUS.match(words):
        hint = "A web server or a proxy without gRPC answers like this; is the url on the card that of the gRPC port?"
        return _agent(f"{call.target} answered with HTTP {found[1]}, without a gRPC status.", hint)
    hint = "Did the agent crash, or stop, while it answered? Its log will tell."
    return _agent(f"{call.target} broke off: {words}.", hint)


def _unreached(words: str, call: GrpcRequest) -> Fault:
    host = call.target.rpartition(":")[0]
    why = words.rpartition("last error: ")[2]
    if "Connection refused" in words:
        seen = f"Nothing listens at {call.target}: the connection was refused."
        return _agent(seen, "Is the agent running, and is this its gRPC port?")
    if "errors resolving" in words or "DNS resolution failed" in words:
        return _network(f"The name {host} could not be resolved.", _CHECK_NAME)
    if "CERTIFICATE_VERIFY_FAILED" in words or "erification Check" in words or "not in peer certificate" in words:
        hint = "Check its name, dates and chain; --insecure trusts any chain, for development only."
        return _agent(f"The certificate of {host} was refused: {why}.", hint)
    if "andshake failed" in words:
        hint = "Is this port served without TLS? Then the card should say grpc:// or http://."
        return _agent(f"TLS with {host} failed: {why}.", hint)
    if any(mark in words for mark in _NO_GRPC):
        hint = "Is this the port of another transport? gRPC needs HTTP/2, and a port of its own with most agents."
        return _agent(f"{call.target} does not speak HTTP/2.", hint)
    if "Socket closed" in words or "recvmsg" in words:
        hint = "Is TLS spoken there? Then the card should say grpcs:// or https://."
        return _agent(f"{call.target} took the connection and closed it.", hint)
    return _network(f"No connection to {call.target}: {why}.", _CHECK_PLACE)
