"""Describe network failures: who has to act, what happened, and what to do next."""

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
from inspector.protocol.errors import INVALID_RESPONSE, Fault, FaultCode, FaultKind, Whose
from inspector.text.binary_metadata import BINARY
from inspector.text.units import counted
from inspector.wire.client.client_certificate import ClientCertificate
from inspector.wire.client.observations import Ending

TOO_LARGE = "Check whether the agent should send that much; the limit protects this machine."
_CHECK_NAME = "Check the spelling, the network connection and, in a container, its DNS."
_CHECK_FIREWALL = "Check host and port; a firewall may drop the packets."
_CHECK_PORT = "Check that this is the port of the agent, and check what a proxy before it sends."
_USE_HTTP = "If the agent uses plain http on this port, use http:// instead of https://."
_USE_PLAIN_GRPC = "If this port has no TLS, its URL has to start with grpc:// or http://."
_USE_GRPC_TLS = "If this port uses TLS, its URL has to start with grpcs:// or https://."
_CHECK_GRPC_PORT = "Check that this is the gRPC port: gRPC needs HTTP/2, and most agents use a separate port for it."
_ABOUT_URL = frozenset({FaultKind.NOT_HTTP, FaultKind.OTHER_PROTOCOL})
"""The kinds of faults about a URL whose scheme or port is probably wrong."""
_CHECK_TRUST = "Correct the environment variables SSL_CERT_FILE and SSL_CERT_DIR, or remove them."
_CHECK_CONNECTION = "Check the host, the port and the network connection."

PROXY_HINT = "Add the user name and the password to the URL of the proxy: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT."
"""What to do if a proxy requires credentials."""

_agent = partial(Fault, Whose.AGENT, FaultCode.UNREACHABLE)
_network = partial(Fault, Whose.NETWORK, FaultCode.UNREACHABLE)
_invalid = partial(Fault, Whose.AGENT, INVALID_RESPONSE)
_usage = partial(Fault, Whose.YOURS, FaultCode.USAGE)

_invalid_url = partial(_usage, kind=FaultKind.INVALID_URL)
_refused = partial(Fault, Whose.YOURS, FaultCode.AUTH_FAILED)

_CLOSED = ("peer closed connection", "Server disconnected")
"""What the errors of h11, httpcore and our transport about a lost connection contain."""
_LONG_HEAD = "Receive buffer too long"
"""The error of h11 about a head that is larger than its limit."""
_QUOTED = re.compile(r"bytearray\(b(['\"])(.*)\1\)", re.DOTALL)
"""The bytes in an error of h11."""
_TOO_LARGE = re.compile(r"CLIENT: Received message larger than max \((\d+) vs\. (\d+)\)")
_HTTP_STATUS = re.compile(r"Received http2 header with status: (\d+)")
_NO_GRPC = ("http1.x server", "Expected SETTINGS frame", "Failed parsing HTTP/2")
_BROKEN = ("Socket closed", "recvmsg:", "sendmsg:", "GOAWAY", "Connection reset", "Broken pipe")
"""How the gRPC library's messages about a lost connection begin."""
_RESET = ("RST_STREAM", "Received RST_STREAM")
"""How the gRPC library's messages about a call that the server reset begin."""
_REMOVED = re.compile(r"Stream r\w+ \((.*)\)", re.DOTALL)
"""A message of the gRPC library about a call that it ended itself, and why."""
_NO_STATUS = ("No status received", "Data frame with END_STREAM")
"""How the gRPC library's messages about a response without a status begin."""
_LOCAL = re.compile(
    r"Stream r\w+ \(.*\)|Socket closed|(?:recv|send)msg:.*|GOAWAY received.*|Connection reset(?: by peer)?|Broken pipe"
    r"|No status received|Data frame with END_STREAM flag received|(?:RST_STREAM \()?Received RST_STREAM with error .*"
    r"|Received http2 header with status: \d+|CLIENT: Received message larger than max \(.*\)"
    r"|Compression algorithm '.*' is disabled\.?",
    re.DOTALL,
)
"""A whole message of the gRPC library; that of an agent may begin in the same way."""
_LONG_HEADERS = re.compile(r"received metadata size exceeds \w+ limit \((?:value length )?(\d+) vs\. (\d+)\)")

_ALERT = re.compile(r"ALERT_([A-Z_]+)")
"""A TLS alert in the text of an error, as in `TLSV1_ALERT_UNKNOWN_CA`."""
_NO_AGREEMENT = "handshake failure"
_CERTIFICATE_OPTION = "--client-cert FILE (PEM or PKCS#12)"
_MAY_REQUIRE = f"The server may require a client certificate: add {_CERTIFICATE_OPTION}."
_ABOUT_CLIENT: Mapping[str, str] = {
    "access denied": "",
    "bad certificate": "",
    "certificate expired": "Request a new certificate, or check the clock of the server.",
    "certificate required": "The server accepts certificates of other authorities only.",
    "certificate revoked": "Request a new certificate.",
    "certificate unknown": "",
    "decrypt error": "",
    "unknown ca": "Check which authorities the server accepts; the file needs the intermediate certificates, too.",
    "unsupported certificate": "Check that the certificate is for client authentication.",
}
"""The TLS alerts of a server about a client certificate, with the remedy."""

_ENDED = ("Socket closed", "recvmsg", "Unwrap failed")
"""What the gRPC library's messages contain if the server ended a TLS connection, with or without an alert."""

_NAME = re.compile(r"[0-9a-z_.-]+")
_VALUE = re.compile(r"[\x20-\x7e]*")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")


def explain(error: Exception, url: str, certificate: ClientCertificate | None = None, *, headed: bool = False) -> Fault:
    """Convert an error of the HTTP client for `url` into a fault.

    `certificate` is the client certificate that was used; `headed`: the head of the response was received.
    """
    host, authority = _host_and_port(url)
    if trust := next((each for each in (error, error.__cause__) if isinstance(each, TrustError)), None):
        return _usage(f"The trusted certificate authorities cannot be read: {_words(trust)}.", _CHECK_TRUST)
    cause = _root(error)
    match cause:
        case ssl.SSLCertVerificationError():
            seen = f"The certificate of {host} was refused: {cause.verify_message}."
            return _agent(
                seen, "Check its names, dates and chain. --insecure skips this check; use it in development only."
            )
        case ssl.SSLError():
            seen = f"TLS with {host} failed: {_words(cause)}."
            fault = _agent(seen, _USE_HTTP, kind=FaultKind.OTHER_PROTOCOL)
            return _of_alert(fault, _words(cause), host, certificate)
        case socket.gaierror():
            return _network(f"The name {host} could not be resolved: {_words(cause)}.", _CHECK_NAME)
        case ConnectionRefusedError():
            seen = f"Nothing listens at {authority}: the connection was refused."
            return _agent(seen, "Is the agent running, and on this port?")
        case _:
            fault = _explain_http(error, host, url, headed=headed)
            lost = not headed and (isinstance(error, httpx.NetworkError) or _is_closed(error))
            if not lost or isinstance(error, httpx.ConnectError) or not url.startswith("https:"):
                return fault
            return _after_handshake(fault, certificate)


def _is_closed(error: Exception) -> bool:
    """Return whether an error is that of a connection that was closed before the end of the response."""
    return isinstance(error, httpx.RemoteProtocolError) and any(mark in _words(error) for mark in _CLOSED)


def _explain_http(error: Exception, host: str, url: str, *, headed: bool) -> Fault:
    match error:
        case httpx.InvalidURL() | httpx.UnsupportedProtocol():
            seen = f"{url!r} is not a valid URL: {_words(error)}."
            has_scheme = url.lower().startswith(("http://", "https://"))
            hint = "Correct the URL." if has_scheme else "Use a URL that starts with http:// or https://."
            return _invalid_url(seen, hint)
        case UnicodeError():
            seen = f"{url!r} is not a valid URL: the host has an empty label, or one of more than 63 characters."
            return _invalid_url(seen, "Check the spelling of the host.")
        case httpx.LocalProtocolError():
            return _usage(
                f"The request to {host} is not valid HTTP: {_words(error)}.",
                "Check the host and your headers for invalid characters or a wrong Content-Length.",
            )
        case httpx.ConnectTimeout() | TimeoutError():
            return _network(f"The connection to {host} timed out.", _CHECK_FIREWALL)
        case httpx.ReadTimeout() | httpx.WriteTimeout() | httpx.PoolTimeout():
            did = "did not continue the response" if headed else "accepted the request, but did not respond"
            seen = f"{host} {did} before the timeout."
            hint = "Check the log of the agent, or try again with a longer --timeout."
            return Fault(Whose.AGENT, FaultCode.TIMEOUT, seen, hint)
        case httpx.ProxyError() if _words(error).startswith("407"):
            seen = f"The proxy requires credentials for the connection to {host}: {_words(error)}."
            return Fault(Whose.YOURS, FaultCode.UNREACHABLE, seen, PROXY_HINT)
        case httpx.ConnectError() | OSError():
            return _network(f"Connecting to {host} failed: {_words(_root(error))}.", _CHECK_CONNECTION)
        case httpx.RemoteProtocolError() if _is_closed(error):
            seen = f"{host} closed the connection before the end of the response: {_words(error)}."
            return _agent(seen, "Check the log of the agent: it may have crashed during the response.")
        case httpx.RemoteProtocolError():
            words = _words(error)
            if words.startswith(_LONG_HEAD):
                return _invalid(f"Stopped reading: the head of the response of {host} is too large.", TOO_LARGE)
            describe = _invalid if headed else _agent  # a server without HTTP is not an agent
            seen = f"The response of {host} is not valid HTTP: {_http_words(words)}."
            return describe(seen, _CHECK_PORT, kind=FaultKind.NOT_HTTP)
        case httpx.TransportError():
            seen = f"The connection to {host} was lost: {_words(_root(error))}."
            return _network(seen, "Check whether the agent or a proxy closed it.")
        case _:
            seen = f"An internal error occurred in the request to {host}: {type(error).__name__}: {_words(error)}."
            return Fault(Whose.OURS, FaultCode.INTERNAL, seen, "Please report this error with the capture.")


def of_typed_url(fault: Fault) -> Fault:
    """Return the fault of a request to a URL that the user typed: if it is about the URL, it is not the agent's."""
    return replace(fault, whose=Whose.YOURS) if fault.kind in _ABOUT_URL else fault


def _of_alert(fault: Fault, words: str, host: str, certificate: ClientCertificate | None) -> Fault:
    """Return the fault for the TLS alert in a text, `fault` if the alert is not about the client certificate."""
    found = _ALERT.search(words)
    alert = found[1].lower().replace("_", " ") if found else ""
    if alert == _NO_AGREEMENT and certificate is None:  # TLS 1.2 has no alert for a missing certificate
        return replace(fault, hint=_MAY_REQUIRE, kind=FaultKind.CLIENT_CERTIFICATE)
    if alert not in _ABOUT_CLIENT:
        return fault
    if certificate is None:
        seen = f"{host} requires a client certificate (TLS alert: {alert})."
        return replace(_refused(seen, f"Add {_CERTIFICATE_OPTION}."), kind=FaultKind.CLIENT_CERTIFICATE)
    seen = f"{host} refused the {certificate.in_words()} (TLS alert: {alert})."
    return _refused(seen, _ABOUT_CLIENT[alert] or "Use a certificate that the server accepts.")


def _after_handshake(fault: Fault, certificate: ClientCertificate | None) -> Fault:
    """Return the fault of a connection that was lost before the response; many servers do not send an alert."""
    if certificate is not None:
        return replace(fault, hint=f"The server may have refused the {certificate.in_words()}: check its log.")
    hint = f"Check whether the agent or a proxy closed it. {_MAY_REQUIRE}"
    return replace(fault, hint=hint, kind=FaultKind.CLIENT_CERTIFICATE)


def _host_and_port(url: str) -> tuple[str, str]:
    """Return the host of a URL, and the host with its port; without a host, return the URL for both."""
    try:
        parts = urlsplit(url)
        return parts.hostname or url, parts.netloc.rpartition("@")[2] or url
    except ValueError:  # invalid IPv6 address
        return url, url


def _root(error: BaseException) -> BaseException:
    """Return the original cause of an error: httpx wraps httpcore, which wraps the error of the system."""
    seen: BaseException = error
    while (below := seen.__cause__ or seen.__context__) is not None:
        seen = below
        if isinstance(seen, ssl.SSLError | socket.gaierror | ConnectionError):
            return seen
        if isinstance(seen, BaseExceptionGroup) and seen.exceptions:
            seen = seen.exceptions[0]
    return seen


def _words(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).rstrip(".")


def _http_words(words: str) -> str:
    """Return the error of h11 about a response without the names of Python and of h11."""
    if "_SWITCH_" in words:
        return "it switches to another protocol (101), which the request did not ask for"
    return _QUOTED.sub(r"\2", words)


class TrustError(OSError):
    """The trusted certificate authorities that the environment names cannot be read; the message has the reason."""


class LostError(Exception):
    """A gRPC call ended without a status from the server: how it ended, and the fault."""

    def __init__(self, how: Ending, fault: Fault) -> None:
        super().__init__(fault.seen)
        self.how = how
        self.fault = fault


def is_local_status(code: str, words: str, *, connected: bool) -> bool:
    """Return whether the gRPC library created the status itself because no response was received."""
    if not connected:
        return code == "UNAVAILABLE"
    return _LOCAL.fullmatch(words) is not None


def invalid_metadata(metadata: Mapping[str, str]) -> Fault | None:
    """Return the fault for metadata that is invalid in gRPC, None if all of it is valid."""
    for name, value in metadata.items():
        pattern = _BASE64 if name.endswith(BINARY) else _VALUE
        if (
            not _NAME.fullmatch(name)
            or not pattern.fullmatch(value)
            or (pattern is _BASE64 and len(value.rstrip("=")) % 4 == 1)
        ):
            return _usage(
                f"The header {name!r} is not valid gRPC metadata.",
                "Use letters, digits, _ - . in names, and printable ASCII in values (base64 if the name ends in -bin).",
            )
    return None


def connect_timeout(call: GrpcRequest) -> LostError:
    """Return the error for a connection that was not accepted in time."""
    hint = f"{_CHECK_FIREWALL} A server without HTTP/2 can also cause this."
    return LostError(Ending.BROKEN, _network(f"The connection to {call.target} timed out.", hint))


def lost(
    words: str, call: GrpcRequest, events: int, certificate: ClientCertificate | None = None, *, connected: bool
) -> LostError:
    """Explain a status that the gRPC library created itself; `events` is the number of messages before it."""
    if found := _TOO_LARGE.search(words):
        seen = f"Stopped reading: a message has {int(found[1]):,} bytes, the limit is {int(found[2]):,}."
        return LostError(Ending.LIMIT, _invalid(seen, TOO_LARGE))
    removed = _REMOVED.fullmatch(words)
    why = removed[1] if removed else words
    if found := _LONG_HEADERS.match(why):
        seen = f"Stopped reading: the metadata has {int(found[1]):,} bytes, the limit is {int(found[2]):,}."
        hint = "Most gRPC clients have this limit: send less metadata; the details of an error are metadata, too."
        return LostError(Ending.LIMIT, after_events(events, _invalid(seen, hint)))
    fault = _broken(why, call) if connected else _unreached(words, call, certificate)
    return LostError(Ending.BROKEN, after_events(events, fault))


def after_events(events: int, fault: Fault) -> Fault:
    """Add to the text of a fault how many events were received before it."""
    how = "stopped" if fault.code is FaultCode.TIMEOUT else "broke off"
    count = counted(events, "event")
    return replace(fault, seen=f"The stream {how} after {count}. {fault.seen}") if events else fault


def _broken(words: str, call: GrpcRequest) -> Fault:
    if found := _HTTP_STATUS.match(words):
        hint = "Check that the URL on the card is the gRPC port, and that the agent has this method and version there."
        return _invalid(f"{call.target} answered with HTTP {found[1]}, without a gRPC status.", hint)
    if words.startswith(_NO_STATUS):
        hint = "The status is in the trailers of HTTP/2: check whether a proxy before the agent removes them."
        return _invalid(f"The response of {call.target} ended without a gRPC status.", hint)
    if words.startswith(_RESET):
        hint = "Check the log of the agent, and that of a proxy before it: either can reset a call."
        return _agent(f"{call.target} reset the call: {words}.", hint)
    if words.startswith(_BROKEN):
        hint = "Check the log of the agent: it, or a proxy before it, may have crashed or stopped during the response."
        return _agent(f"{call.target} closed the connection: {words}.", hint)
    hint = "Check the gRPC library of the agent, and what a proxy before it changes."
    return _invalid(f"The response of {call.target} is not valid gRPC: {words.rstrip('.')}.", hint)


def _unreached(words: str, call: GrpcRequest, certificate: ClientCertificate | None) -> Fault:
    host = call.target.rpartition(":")[0]
    why = words.rpartition("last error: ")[2]
    if "Connection refused" in words:
        seen = f"Nothing listens at {call.target}: the connection was refused."
        return _agent(seen, "Check that the agent is running and that this is its gRPC port.")
    if "errors resolving" in words or "DNS resolution failed" in words:
        return _network(f"The name {host} could not be resolved.", _CHECK_NAME)
    if "CERTIFICATE_VERIFY_FAILED" in words or "erification Check" in words or "not in peer certificate" in words:
        hint = "Check its names, dates and chain. --insecure trusts any chain; use it in development only."
        return _agent(f"The certificate of {host} was refused: {why}.", hint)
    if "andshake failed" in words:
        fault = _agent(f"TLS with {host} failed: {why}.", _USE_PLAIN_GRPC, kind=FaultKind.OTHER_PROTOCOL)
        return _of_alert(fault, why, host, certificate)
    if any(mark in words for mark in _NO_GRPC):
        return _agent(f"{call.target} does not use HTTP/2.", _CHECK_GRPC_PORT, kind=FaultKind.OTHER_PROTOCOL)
    if call.tls and any(mark in words for mark in _ENDED):
        return _after_handshake(_agent(f"{call.target} closed the connection after the TLS handshake."), certificate)
    if "Socket closed" in words or "recvmsg" in words:
        seen = f"{call.target} accepted the connection and closed it."
        return _agent(seen, _USE_GRPC_TLS, kind=FaultKind.OTHER_PROTOCOL)
    return _network(f"Connecting to {call.target} failed: {why}.", _CHECK_CONNECTION)
