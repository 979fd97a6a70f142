"""Client certificates: their files, their origins, and servers that refuse them, over HTTP and gRPC."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import wrap

import pytest
import trustme
from certificates import encrypted_key, pkcs12_file, requiring_certificates, tunnel, write_pem

from inspector.protocol.bindings.base import CertificateFiles, GrpcRequest, HttpRequest
from inspector.protocol.errors import Fault, FaultCode, FaultError
from inspector.wire.client.client_certificate import (
    ClientCertificate,
    PassphraseError,
    read_client_certificate,
)
from inspector.wire.client.credentials import Credentials, origin
from inspector.wire.client.grpc import GrpcClient
from inspector.wire.client.http import Client
from inspector.wire.client.observations import Ended, Observation

PASSPHRASE = "canary-päss-4411"
NAME = "client@agents.example"
VERSIONS = pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def issued(authority: trustme.CA) -> trustme.LeafCert:
    return authority.issue_cert(NAME)


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the authority, as users do."""
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))


def read(folder: Path, issued: trustme.LeafCert) -> ClientCertificate:
    return read_client_certificate(*write_pem(folder, "client", issued))


async def fault(observed: AsyncGenerator[Observation, None]) -> Fault | None:
    async with asyncio.timeout(20), aclosing(observed):
        last = [seen async for seen in observed][-1]
    assert isinstance(last, Ended)
    return last.fault


async def over_http(place: str, certificate: ClientCertificate | None, body: bytes = b"{}") -> Fault | None:
    async with aclosing(Client(certificate_for=lambda _: certificate)) as client:
        return await fault(client.exchange(HttpRequest("POST", f"https://{place}/", {}, body)))


async def over_grpc(place: str, certificate: ClientCertificate | None) -> Fault | None:
    async with aclosing(GrpcClient(certificate_for=lambda _: certificate)) as client:
        return await fault(client.exchange(GrpcRequest(place, "/a.B/C", {}, b"", streaming=False, tls=True)))


# ── files ──


@pytest.mark.parametrize("passphrase", ["", PASSPHRASE], ids=["open", "encrypted"])
@pytest.mark.parametrize("form", ["two files", "one file", "key first", "pkcs12"])
def test_a_certificate_is_read_from_pem_and_pkcs12(
    tmp_path: Path, issued: trustme.LeafCert, form: str, passphrase: str
):
    key = encrypted_key(issued, passphrase) if passphrase else issued.private_key_pem.bytes()
    chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
    certificate, key_file = tmp_path / "client", tmp_path / "key"
    content = {"two files": chain, "one file": chain + key, "key first": key + chain}
    certificate.write_bytes(content.get(form) or pkcs12_file(issued, passphrase))
    key_file.write_bytes(key)
    used_key = key_file if form == "two files" else None
    read = read_client_certificate(certificate, used_key, passphrase=passphrase)
    assert (read.name, read.chain) == (NAME, chain)
    assert read == read_client_certificate(*write_pem(tmp_path, "same", issued))
    assert read.files == CertificateFiles(certificate, used_key, form == "pkcs12", bool(passphrase))
    assert read.in_words() == f"client certificate {NAME}"
    assert "PRIVATE KEY" not in repr(read)


@pytest.mark.parametrize("form", ["pem", "pkcs12"])
def test_a_missing_or_wrong_passphrase_is_reported_with_the_file(tmp_path: Path, issued: trustme.LeafCert, form: str):
    certificate, key = write_pem(tmp_path, "client", issued)
    key.write_bytes(encrypted_key(issued, PASSPHRASE))
    files: tuple[Path, ...] = (certificate, key)
    if form == "pkcs12":
        files = (tmp_path / "client.p12",)
        files[0].write_bytes(pkcs12_file(issued, PASSPHRASE))
    for given, wrong in (("", False), (PASSPHRASE + "x", True)):
        with pytest.raises(PassphraseError) as raised:
            read_client_certificate(*files, passphrase=given)
        assert (raised.value.wrong, raised.value.file) == (wrong, files[-1])
        assert raised.value.fault.code == FaultCode.CREDENTIALS_MISSING
        assert PASSPHRASE not in str(raised.value)


@pytest.mark.parametrize(
    ("certificate", "key", "problem"),
    [
        ("missing.pem", None, "missing.pem cannot be read: No such file"),
        ("text", None, "text is not a certificate with its key"),
        ("client.pem", "text", "text has no valid private key"),
        ("client.pem", None, "client.pem has no valid private key"),
        ("client.pem", "other-key.pem", "does not belong to the certificate in"),
        ("/dev/zero", None, "/dev/zero cannot be read: it has more than 1,048,576 bytes"),
        ("client.pem", "/dev/zero", "/dev/zero cannot be read: it has more than 1,048,576 bytes"),
        ("damaged.pem", "client-key.pem", "damaged.pem has no valid certificate"),
    ],
)
def test_unusable_files_are_reported(
    tmp_path: Path, issued: trustme.LeafCert, authority: trustme.CA, certificate: str, key: str | None, problem: str
):
    write_pem(tmp_path, "client", issued)
    write_pem(tmp_path, "other", authority.issue_cert("other@agents.example"))
    (tmp_path / "text").write_text("no certificate")
    (tmp_path / "damaged.pem").write_bytes(issued.cert_chain_pems[0].bytes().replace(b"M", b"N"))
    with pytest.raises(FaultError, match=problem) as raised:
        read_client_certificate(tmp_path / certificate, tmp_path / key if key else None)
    assert raised.value.fault.code == FaultCode.USAGE


@pytest.mark.parametrize("unsupported", ["client", "client-key"])
def test_an_unsupported_curve_is_reported(tmp_path: Path, issued: trustme.LeafCert, unsupported: str):
    files = write_pem(tmp_path, "client", issued)
    path = tmp_path / f"{unsupported}.pem"
    path.write_text(on_an_unsupported_curve(path.read_text()))
    with pytest.raises(FaultError, match=f"{path} cannot be used: Curve .* is not supported") as raised:
        read_client_certificate(*files)
    assert raised.value.fault.code == FaultCode.USAGE


def on_an_unsupported_curve(pem: str) -> str:
    """Return the first block of a PEM file with the curve P-256 replaced by prime192v2."""
    begin, *lines = pem.partition("\n-----END ")[0].splitlines()
    curve = bytes.fromhex("06082a8648ce3d0301")
    data = b64decode("".join(lines))
    assert curve + b"\x07" in data
    changed = b64encode(data.replace(curve + b"\x07", curve + b"\x02")).decode("ascii")
    return "\n".join([begin, *wrap(changed, 64), begin.replace("BEGIN", "END"), ""])


def test_the_certificate_of_the_key_is_sent_first(tmp_path: Path, issued: trustme.LeafCert, authority: trustme.CA):
    certificate, key = write_pem(tmp_path, "client", issued)
    own = issued.cert_chain_pems[0].bytes()
    certificate.write_bytes(authority.cert_pem.bytes() + own)
    read = read_client_certificate(certificate, key)
    assert (read.chain, read.name) == (own + authority.cert_pem.bytes(), NAME)


def test_the_key_is_not_written_without_encryption(
    tmp_path: Path, issued: trustme.LeafCert, monkeypatch: pytest.MonkeyPatch
):
    written: list[bytes] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    class Watched:
        def load_cert_chain(self, file: Path, password: str) -> None:
            written.append(file.read_bytes())
            assert file.parent.stat().st_mode & 0o077 == 0
            context.load_cert_chain(file, password=password)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    certificate = read(tmp_path, issued)
    certificate.load_into(Watched())  # type: ignore[arg-type]
    assert b"BEGIN ENCRYPTED PRIVATE KEY" in written[0]
    assert [path.name for path in tmp_path.glob("a2a-inspect-*")] == []


# ── origins ──


def test_a_certificate_is_only_for_its_origins(tmp_path: Path, issued: trustme.LeafCert):
    certificate, other = read(tmp_path, issued), read(tmp_path, issued)
    home, place = "https://agent.example/a2a", "https://other.example"
    credentials = Credentials(origins=frozenset({origin(home)}), certificate=certificate)
    assert credentials
    assert credentials.certificate_for("https://agent.example:443/rpc") is certificate
    for url in ("https://other.example/", "http://agent.example/", "https://agent.example:8443/", "nonsense"):
        assert credentials.certificate_for(url) is None
    more = Credentials(origins=frozenset({origin(place)}), certificate=other)
    both = Credentials(origins=credentials.origins, certificate=certificate, more=(more,))
    assert (both.certificate_for(home), both.certificate_for(place)) == (certificate, other)


@pytest.mark.usefixtures("trusted")
async def test_only_the_origin_of_the_certificate_gets_it(
    tmp_path: Path, authority: trustme.CA, issued: trustme.LeafCert
):
    version = ssl.TLSVersion.TLSv1_3
    with requiring_certificates(authority, version) as home, requiring_certificates(authority, version) as other:
        credentials = Credentials(origins=frozenset({origin(f"https://{home[0]}")}), certificate=read(tmp_path, issued))
        async with aclosing(Client(certificate_for=credentials.certificate_for)) as client:
            accepted = await fault(client.exchange(HttpRequest("GET", f"https://{home[0]}/", {})))
            refused = await fault(client.exchange(HttpRequest("GET", f"https://{other[0]}/", {})))
    assert accepted is None
    assert refused is not None
    assert len(home[1]) == 1
    assert NAME in home[1][0]
    assert other[1] == []


@pytest.mark.usefixtures("trusted")
async def test_a_connection_with_a_certificate_is_not_reused_without_it(
    tmp_path: Path, authority: trustme.CA, issued: trustme.LeafCert
):
    chosen: list[ClientCertificate | None] = [read(tmp_path, issued)]
    with requiring_certificates(authority, ssl.TLSVersion.TLSv1_2) as (place, names):
        async with aclosing(Client(certificate_for=lambda _: chosen[0])) as client:
            request = HttpRequest("GET", f"https://{place}/", {})
            assert await fault(client.exchange(request)) is None
            chosen[0] = None
            assert await fault(client.exchange(request)) is not None
    assert len(names) == 1


# ── servers that refuse ──


@VERSIONS
@pytest.mark.usefixtures("trusted")
async def test_a_server_that_requires_a_certificate_is_explained(authority: trustme.CA, version: ssl.TLSVersion):
    with requiring_certificates(authority, version) as (place, _):
        seen = [await over_http(place, None), await over_grpc(place, None)]
    for problem in seen:
        assert problem is not None
        assert "add --client-cert FILE (PEM or PKCS#12)" in problem.hint.replace("Add", "add")
    http = seen[0]
    assert http is not None
    if version is ssl.TLSVersion.TLSv1_3:
        assert http.seen == "127.0.0.1 requires a client certificate (TLS alert: certificate required)."
        assert http.code == FaultCode.AUTH_FAILED


@VERSIONS
@pytest.mark.usefixtures("trusted")
async def test_a_server_that_refuses_the_certificate_is_explained(
    tmp_path: Path, authority: trustme.CA, version: ssl.TLSVersion
):
    stranger = read(tmp_path, trustme.CA().issue_cert(NAME))
    before = datetime.now(UTC) - timedelta(days=9)
    expired = read(tmp_path, authority.issue_cert(NAME, not_before=before, not_after=before + timedelta(days=1)))
    day = f"{before + timedelta(days=1):%Y-%m-%d}"
    with requiring_certificates(authority, version) as (place, names):
        unknown, late = await over_http(place, stranger), await over_http(place, expired)
        grpc_unknown, grpc_late = await over_grpc(place, stranger), await over_grpc(place, expired)
    assert unknown is not None
    assert late is not None
    assert grpc_unknown is not None
    assert grpc_late is not None
    assert unknown.seen == f"127.0.0.1 refused the client certificate {NAME} (TLS alert: unknown ca)."
    assert "which authorities the server accepts" in unknown.hint
    assert late.seen.startswith(f"127.0.0.1 refused the client certificate {NAME}, expired on {day} (TLS alert:")
    assert (unknown.code, late.code) == (FaultCode.AUTH_FAILED, FaultCode.AUTH_FAILED)
    assert f"client certificate {NAME}" in grpc_unknown.sentence()
    assert f"client certificate {NAME}, expired on {day}" in grpc_late.sentence()
    assert names == []


@pytest.mark.usefixtures("trusted")
async def test_a_client_that_uses_a_proxy_sends_the_certificate_through_its_tunnel(
    tmp_path: Path, authority: trustme.CA, issued: trustme.LeafCert, monkeypatch: pytest.MonkeyPatch
):
    certificate = read(tmp_path, issued)
    with requiring_certificates(authority, ssl.TLSVersion.TLSv1_3) as (place, names):
        async with tunnel() as proxy:
            monkeypatch.setenv("https_proxy", proxy)
            monkeypatch.setenv("no_proxy", "")
            assert await over_http(place, certificate) is None
    assert len(names) == 1
    assert NAME in names[0]
