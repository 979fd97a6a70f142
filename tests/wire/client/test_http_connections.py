"""The HTTP client: servers that cannot be reached, and TLS."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
import trustme
from observing import JSON, body_of, fault_of, observe
from ports import unused_port
from raw_server import Peer, RawServer, answering, response, serve

from inspector.protocol.errors import FaultCode, Whose
from inspector.wire.client.http import Client

# Servers that cannot be reached


async def test_a_refused_connection_is_reported_with_host_and_port_without_the_password(client: Client):
    port = unused_port()
    fault = fault_of(await observe(client, f"http://user:hunter2@127.0.0.1:{port}/x"))
    assert (fault.whose, fault.code) == (Whose.AGENT, FaultCode.UNREACHABLE)
    assert f"127.0.0.1:{port}" in fault.seen
    assert "hunter2" not in fault.seen + fault.hint


async def test_a_name_that_does_not_exist_is_not_resolved(client: Client):
    fault = fault_of(await observe(client, "http://no-such-host.invalid/"))
    assert (fault.whose, fault.code) == (Whose.NETWORK, FaultCode.UNREACHABLE)
    assert "no-such-host.invalid could not be resolved" in fault.seen


@pytest.mark.parametrize(
    "url",
    ["", "x", "//x", "ftp://x/", "file:///etc/passwd", "javascript:alert(1)", "http://", "http://[", "http://a:b/",
     "http://a b/", "http://\x1b[31m/", "http://x:99999/", "http://\udc80/", "http:///x"],
)  # fmt: skip
async def test_an_invalid_url_is_a_usage_error(client: Client, url: str):
    fault = fault_of(await observe(client, url))
    assert fault.code in (FaultCode.USAGE, FaultCode.UNREACHABLE)
    assert fault.whose is not Whose.OURS


@pytest.mark.parametrize("url", [f"http://{'a' * 64}.invalid/", f"http://{'a.' * 200}invalid/", "http://a..b/"])
async def test_an_invalid_host_name_is_reported(client: Client, url: str):
    assert fault_of(await observe(client, url)).whose is not Whose.OURS


@pytest.mark.parametrize("difference", [65_536, -65_536])
async def test_a_port_that_does_not_exist_is_not_another_port(difference: int):
    """The system uses the lowest 16 bits of a port, so that the shown port would not be the one that is used."""
    async with serve(answering(response())) as server:
        port = int(server.url.rpartition(":")[2])
        fault = fault_of(await observe(Client(), f"http://127.0.0.1:{port + difference}/"))
        assert fault.code == FaultCode.USAGE
        assert f"The port {port + difference} is not between 1 and 65535" in fault.seen
    fault = fault_of(await observe(Client(), "http://127.0.0.1:0/"))  # not the default port
    assert "The port 0 is not between" in fault.seen


@pytest.mark.parametrize("headers", [{"X-A": "b\r\nX-Evil: 1"}, {"X A": "b"}, {"X-é": "b"}, {"X-A": "a\0b"}, {"": "b"}])
async def test_a_header_that_http_does_not_allow_is_not_sent(client: Client, headers: dict[str, str]):
    async with serve(answering(response())) as server:
        fault = fault_of(await observe(client, server.url, headers=headers))
    assert (fault.whose, fault.code) == (Whose.YOURS, FaultCode.USAGE)
    assert server.heard == []


# TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def tls_server(authority: trustme.CA) -> AsyncIterator[RawServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with serve(answering(response(b"{}", JSON)), context) as server:
        yield server


async def test_an_untrusted_certificate_is_rejected(client: Client, tls_server: RawServer):
    fault = fault_of(await observe(client, tls_server.url))
    assert (fault.whose, fault.code) == (Whose.AGENT, FaultCode.UNREACHABLE)
    assert "certificate of 127.0.0.1 was refused" in fault.seen
    assert "--insecure" in fault.hint
    assert tls_server.heard == []


async def test_an_untrusted_certificate_is_accepted_with_insecure(tls_server: RawServer):
    async with aclosing(Client(verify=False)) as client:
        assert body_of(await observe(client, tls_server.url)) == b"{}"


async def test_a_certificate_for_another_name_is_refused(authority: trustme.CA, tmp_path: Any, monkeypatch: Any):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("other.example").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    async with serve(answering(response()), context) as server, aclosing(Client()) as client:
        fault = fault_of(await observe(client, server.url))
    assert "127.0.0.1" in fault.seen
    assert server.heard == []


async def test_tls_to_a_plain_http_port_is_reported(client: Client):
    async def refuse(peer: Peer) -> None:
        await peer.reader.read(1)
        await peer.send(response(status="400 Bad Request"))

    async with serve(refuse) as server:
        fault = fault_of(await observe(client, server.url.replace("http://", "https://")))
    assert fault.whose is Whose.AGENT
    assert "http://" in fault.hint


async def test_plain_http_to_a_tls_port_is_reported(client: Client, tls_server: RawServer):
    fault = fault_of(await observe(client, tls_server.url.replace("https://", "http://")))
    assert fault.whose in (Whose.AGENT, Whose.NETWORK)
