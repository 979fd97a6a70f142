"""The receiver over TLS, with a certificate of the user."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import trustme
from receiving import BODY, PATIENT, QUICK, Answer, opened

from inspector.protocol.errors import FaultError, Whose
from inspector.wire.receiver.listen_address import ListenAddress, tls_context


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def written(folder: Path, cert: trustme.LeafCert) -> tuple[Path, Path]:
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(b"".join(pem.bytes() for pem in cert.cert_chain_pems))
    key.write_bytes(cert.private_key_pem.bytes())
    return chain, key


async def test_a_receiver_with_a_certificate_uses_https(authority: trustme.CA, tmp_path: Path):
    chain, key = written(tmp_path, authority.issue_cert("127.0.0.1"))
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    async with opened(tls=tls_context(chain, key)) as running, httpx.AsyncClient(verify=trusting) as client:
        assert running.registration.url.startswith("https://127.0.0.1:")
        headers = {"X-A2A-Notification-Token": running.registration.token, "Content-Type": "application/json"}
        answer = await client.post(running.registration.url, content=BODY, headers=headers)
        assert answer.status_code == 204
        assert (await running.inbox.one()).body == BODY


async def test_the_only_allowed_connection_is_not_counted_twice(authority: trustme.CA, tmp_path: Path):
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    tls = tls_context(*written(tmp_path, authority.issue_cert("127.0.0.1")))
    async with opened(replace(PATIENT, connections=1), tls=tls) as running:
        reader, writer = await asyncio.open_connection(*running.receiver.address, ssl=trusting)
        writer.write(running.post())
        assert (await Answer.read(reader)).status == 204
        with pytest.raises(OSError):  # refused before the handshake
            await asyncio.open_connection(*running.receiver.address, ssl=trusting)
        assert (await running.inbox.until(2))[1].refused == "Too many connections are open."
        writer.close()


async def test_a_sender_that_does_not_trust_the_certificate_is_reported(authority: trustme.CA, tmp_path: Path):
    def distrust(address: tuple[str, int]) -> None:
        context = ssl.create_default_context()
        with socket.create_connection(address) as plain, pytest.raises(ssl.SSLCertVerificationError):
            context.wrap_socket(plain, server_hostname=address[0])

    async with opened(tls=tls_context(*written(tmp_path, authority.issue_cert("127.0.0.1")))) as running:
        await asyncio.to_thread(distrust, running.receiver.address)
        delivery = await running.inbox.one()
        assert (delivery.method, delivery.status, delivery.registration) == ("TLS", 0, None)
        assert delivery.refused.startswith("The sender does not trust our certificate (")
        assert delivery.peer.startswith("127.0.0.1:")


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"POST / HTTP/1.1\r\n\r\n", "The sender uses plain http, but this receiver uses https."),
        (b"\x16\x03\x01\x00\x05hello", "The TLS handshake failed ("),
        (b"", "The sender closed the connection during the TLS handshake"),
    ],
    ids=["plain http", "nonsense", "nothing"],
)
async def test_a_failed_handshake_is_reported(authority: trustme.CA, tmp_path: Path, sent: bytes, why: str):
    async with opened(tls=tls_context(*written(tmp_path, authority.issue_cert("127.0.0.1")))) as running:
        reader, writer = await running.connect()
        writer.write(sent)
        if not sent:
            writer.close()
        with suppress(ConnectionError):
            await reader.read()
        assert (await running.inbox.one()).refused.startswith(why)
        writer.close()


async def test_a_silent_sender_does_not_prevent_the_receiver_from_stopping(authority: trustme.CA, tmp_path: Path):
    async with opened(tls=tls_context(*written(tmp_path, authority.issue_cert("127.0.0.1")))) as running:
        _, writer = await running.connect()
        await asyncio.sleep(0.05)
        async with asyncio.timeout(5):
            await running.receiver.stop()
        delivery = await running.inbox.one()
        assert (delivery.method, delivery.refused) == ("TLS", "The receiver was stopped during the TLS handshake.")
        writer.close()


async def test_a_handshake_that_takes_too_long_is_reported(authority: trustme.CA, tmp_path: Path):
    tls = tls_context(*written(tmp_path, authority.issue_cert("127.0.0.1")))
    async with opened(QUICK, tls=tls) as running:
        _, writer = await running.connect()
        delivery = await running.inbox.one()
        assert (delivery.method, delivery.refused) == ("TLS", "The sender did not complete the TLS handshake in time.")
        writer.close()


def test_certificate_and_key_may_be_in_one_file(authority: trustme.CA, tmp_path: Path):
    both = tmp_path / "both.pem"
    both.write_bytes(authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.bytes())
    assert isinstance(tls_context(both), ssl.SSLContext)


def test_the_default_port_of_https_may_be_omitted_in_host():
    assert "127.0.0.1" in ListenAddress.at("127.0.0.1", 443, tls=True).hosts
    assert "127.0.0.1" not in ListenAddress.at("127.0.0.1", 443).hosts


@pytest.mark.parametrize("content", [None, b"", b"no certificate"], ids=["absent", "empty", "something else"])
def test_an_invalid_certificate_is_a_usage_error(tmp_path: Path, content: bytes | None):
    path = tmp_path / "cert.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FaultError) as raised:
        tls_context(path)
    assert raised.value.fault.whose is Whose.YOURS
    assert raised.value.fault.hint


def test_a_key_of_another_certificate_is_refused(authority: trustme.CA, tmp_path: Path):
    chain, _ = written(tmp_path, authority.issue_cert("127.0.0.1"))
    other = tmp_path / "other.pem"
    other.write_bytes(authority.issue_cert("127.0.0.1").private_key_pem.bytes())
    with pytest.raises(FaultError):
        tls_context(chain, other)
