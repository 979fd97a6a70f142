"""Descriptions of network failures; `test_http.py` and `test_http_connections.py` test them with real servers."""

from __future__ import annotations

import errno
import socket
import ssl

import httpx
import pytest

from inspector.protocol.errors import INVALID_RESPONSE, FaultCode, FaultKind, Whose
from inspector.wire.client.faults import explain

URL = "http://user:hunter2@host.example:81/path"


def wrapped(outer: Exception, *inner: BaseException) -> Exception:
    """Return an error with a chain of causes, as httpx wraps the error of the system."""
    error: BaseException = outer
    for below in inner:
        error.__cause__ = below
        error = below
    return outer


UNREACHABLE = [
    (httpx.ConnectTimeout("x"), Whose.NETWORK, "The connection to host.example timed out"),
    (httpx.ConnectError("All connection attempts failed"), Whose.NETWORK, "Connecting to host.example failed"),
    (
        wrapped(httpx.ConnectError("x"), OSError(errno.EHOSTUNREACH, "No route to host")),
        Whose.NETWORK,
        "No route to host",
    ),
    (wrapped(httpx.ConnectError("x"), ConnectionRefusedError(111, "refused")), Whose.AGENT, "host.example:81"),
    (
        wrapped(httpx.ConnectError("x"), ExceptionGroup("all", [ConnectionRefusedError(111, "refused")])),
        Whose.AGENT,
        "the connection was refused",
    ),
    (wrapped(httpx.ConnectError("x"), socket.gaierror(-2, "Name or service not known")), Whose.NETWORK, "resolved"),
    (wrapped(httpx.ConnectError("x"), ssl.SSLError(1, "WRONG_VERSION_NUMBER")), Whose.AGENT, "TLS with host.example"),
    (
        wrapped(httpx.ReadError(""), ConnectionResetError(104, "Connection reset by peer")),
        Whose.NETWORK,
        "reset by peer",
    ),
    (httpx.RemoteProtocolError("peer closed connection"), Whose.AGENT, "peer closed connection"),
    (httpx.WriteError(""), Whose.NETWORK, "was lost"),
]


@pytest.mark.parametrize(("error", "whose", "said"), UNREACHABLE)
def test_an_agent_that_cannot_be_reached_is_explained(error: Exception, whose: Whose, said: str):
    fault = explain(error, URL)
    assert (fault.whose, fault.code) == (whose, FaultCode.UNREACHABLE)
    assert said in fault.seen
    assert fault.hint
    assert "hunter2" not in fault.seen + fault.hint


@pytest.mark.parametrize(("headed", "code"), [(False, FaultCode.UNREACHABLE), (True, INVALID_RESPONSE)])
def test_an_agent_is_reached_if_the_head_of_its_response_is_http(headed: bool, code: str):
    fault = explain(httpx.RemoteProtocolError("illegal chunk header: bytearray(b'x')"), URL, headed=headed)
    assert (fault.whose, fault.code) == (Whose.AGENT, code)
    assert "is not valid HTTP: illegal chunk header" in fault.seen


@pytest.mark.parametrize("words", ["Receive buffer too long", "illegal status line: bytearray(b'x')"])
def test_a_response_that_is_not_http_over_tls_is_not_about_a_client_certificate(words: str):
    fault = explain(httpx.RemoteProtocolError(words), "https://host")
    assert fault.kind is not FaultKind.CLIENT_CERTIFICATE
    assert "certificate" not in fault.hint
    closed = explain(httpx.RemoteProtocolError("Server disconnected without sending a response."), "https://host")
    assert closed.kind is FaultKind.CLIENT_CERTIFICATE


@pytest.mark.parametrize("error", [httpx.ReadTimeout("x"), httpx.WriteTimeout("x"), httpx.PoolTimeout("x")])
def test_a_silent_agent_is_a_timeout(error: Exception):
    assert explain(error, URL).code == FaultCode.TIMEOUT


@pytest.mark.parametrize("error", [httpx.LocalProtocolError("Illegal header")])
def test_an_invalid_request_is_a_usage_error(error: Exception):
    fault = explain(error, URL)
    assert (fault.whose, fault.code) == (Whose.YOURS, FaultCode.USAGE)


def test_an_unexpected_error_is_an_internal_error():
    fault = explain(ValueError("surprise"), URL)
    assert (fault.whose, fault.code) == (Whose.OURS, FaultCode.INTERNAL)
    assert "surprise" in fault.seen


@pytest.mark.parametrize("url", ["http://[", "", "not a url", "http://[::1"])
def test_an_invalid_url_can_be_explained(url: str):
    assert explain(httpx.InvalidURL("x"), url).code == FaultCode.USAGE
    assert url in explain(wrapped(httpx.ConnectError("x"), ConnectionRefusedError()), url).seen
