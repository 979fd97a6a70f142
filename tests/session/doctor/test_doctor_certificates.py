"""The doctor, and agents that require a client certificate."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme
from certificates import write_pem
from inspector.sample_agents.server import serve_in_thread
from inspector.sample_agents.tls import Tls
from stream_servers import serving_bytes

from inspector.protocol.errors import FaultCode
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Report, Step, Timeouts
from inspector.session.session import Session
from inspector.session.settings import Settings
from inspector.wire.client.client_certificate import ClientCertificate, read_client_certificate

NAME = "client@agents.example"
OPTION = "add --client-cert FILE (PEM or PKCS#12)."
HURRIED = Timeouts(call=5.0, work=5.0, push=0.3)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(autouse=True)
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the authority, as users do."""
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))


@pytest.fixture(scope="module")
def strict_agent(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The mock agent, which requires a client certificate."""
    folder = tmp_path_factory.mktemp("server")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    files = write_pem(folder, "server", authority.issue_cert("127.0.0.1"))
    with serve_in_thread(pace=0, tls=Tls(*files, folder / "ca.pem")) as url:
        yield url


@pytest.fixture
def certificate(authority: trustme.CA, tmp_path: Path) -> ClientCertificate:
    return read_client_certificate(*write_pem(tmp_path, "client", authority.issue_cert(NAME)))


@pytest.fixture
def stranger(tmp_path: Path) -> ClientCertificate:
    return read_client_certificate(*write_pem(tmp_path, "stranger", trustme.CA().issue_cert(NAME)))


@asynccontextmanager
async def strict_server(authority: trustme.CA) -> AsyncIterator[str]:
    """Serve TLS 1.2, which refuses clients in the handshake; HTTP without TLS is answered, as servers in Go do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    context.maximum_version = ssl.TLSVersion.TLSv1_2

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(inward, outward, server_side=True)
        done = False
        while not done and (received := await reader.read(65536)):
            if not received.startswith(b"\x16") and inward.pending == 0 and not received.startswith((b"\x14", b"\x15")):
                writer.write(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
                break
            inward.write(received)
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError:
                done = True
            writer.write(outward.read())
        await writer.drain()
        writer.close()

    async with serving_bytes(serve) as place:
        yield f"https://{place}"


async def examine(folder: Path, url: str, settings: Settings) -> Report:
    session = Session(folder / "capture", settings)
    doctor = Doctor(session, url, timeouts=HURRIED)
    try:
        async for _ in doctor.examine():
            pass
    finally:
        await session.close()
    return doctor.report


def the(report: Report, name: str) -> Step:
    [step] = [step for step in report.steps if step.name == name]
    return step


def call_over(report: Report, binding: str) -> Step:
    return next(step for step in report.steps if step.name.endswith(f" as 1.0 over {binding}"))


async def test_the_handshake_and_the_calls_send_the_certificate(
    strict_agent: str, certificate: ClientCertificate, tmp_path: Path
):
    settings = Settings(certificate=certificate, transports=("JSONRPC",))
    report = await examine(tmp_path, strict_agent, settings)
    assert the(report, "tls").passed
    assert the(report, "tls").message.endswith(f"; sent the client certificate {NAME}")
    assert the(report, "card content").passed
    assert call_over(report, "JSONRPC").passed
    assert call_over(report, "HTTP+JSON").passed


async def test_an_interface_with_another_origin_needs_trust(
    strict_agent: str, certificate: ClientCertificate, tmp_path: Path
):
    (tmp_path / "1").mkdir()
    report = await examine(tmp_path / "1", strict_agent, Settings(certificate=certificate))
    step = call_over(report, "GRPC")
    assert step.passed is False
    assert "not sent: the interface has another origin. Add --trust https://127.0.0.1:" in step.remedy
    trusted = step.remedy.rpartition(" ")[2].rstrip(".")
    report = await examine(tmp_path, strict_agent, Settings(certificate=certificate, trusted=(trusted,)))
    assert call_over(report, "GRPC").passed
    assert report.passed


@pytest.mark.parametrize("version", ["1.2", "1.3"])
async def test_a_missing_certificate_is_reported_with_the_option(
    strict_agent: str, authority: trustme.CA, tmp_path: Path, version: str
):
    if version == "1.3":
        report = await examine(tmp_path, strict_agent, Settings())
    else:
        async with strict_server(authority) as url:
            report = await examine(tmp_path, url, Settings())
    assert report.fault is not None
    assert OPTION in report.fault.hint
    assert OPTION in report.steps[-1].remedy
    assert report.steps[-1].name == ("tls" if version == "1.2" else "card")


async def test_a_refused_certificate_is_reported_with_its_name(
    authority: trustme.CA, stranger: ClientCertificate, tmp_path: Path
):
    async with strict_server(authority) as url:
        report = await examine(tmp_path, url, Settings(certificate=stranger))
    assert [step.name for step in report.steps] == ["name", "tcp", "tls"]
    assert the(report, "tls").denied
    assert the(report, "tls").message == f"127.0.0.1 refused the client certificate {NAME} (TLS alert: unknown ca)."
    assert report.fault is not None
    assert report.fault.code == FaultCode.AUTH_FAILED
    assert "which authorities the server accepts" in report.fault.hint
