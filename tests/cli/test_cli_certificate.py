"""Client certificates and basic credentials from the options of a command."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from aiohttp import web
from certificates import encrypted_key, pkcs12_file, write_pem
from inspector.sample_agents.server import serve_in_thread
from inspector.sample_agents.tls import Tls
from puppets import Call, MakeAgent, RunCli, task

PASSPHRASE = "canary-passphrase-77"
PASSWORD = "canary-password-88"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def strict_agent(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The mock agent, which requires a client certificate."""
    folder = tmp_path_factory.mktemp("server")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    files = write_pem(folder, "server", authority.issue_cert("127.0.0.1"))
    with serve_in_thread(pace=0, tls=Tls(*files, folder / "ca.pem")) as url:
        yield url


@pytest.fixture
def client(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.LeafCert:
    """Trust the authority, and return a certificate that it issued."""
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    return authority.issue_cert("client@agents.example")


@pytest.mark.parametrize("transport", ["JSONRPC", "HTTP+JSON", "GRPC"])
def test_a_client_certificate_is_sent_over_every_transport(
    cli: RunCli, strict_agent: str, client: trustme.LeafCert, tmp_path: Path, transport: str
):
    certificate, key = write_pem(tmp_path, "client", client)
    files = ("--client-cert", str(certificate), "--client-key", str(key))
    words = ("send", strict_agent, "--text", "hello", *files, "--transport", transport, "-o", "json")
    ran = cli(*words)
    if transport == "GRPC":  # the mock serves gRPC on another port, which is another origin
        [trust] = re.findall(r"--trust https://127\.0\.0\.1:\d+", ran.err)
        ran = cli(*words, *trust.split())
    assert ran.code == 0, ran.err
    assert "message" in ran.json or "task" in ran.json


def test_without_a_certificate_the_error_names_the_option(cli: RunCli, strict_agent: str, client: trustme.LeafCert):
    ran = cli("card", "get", strict_agent)
    assert ran.code != 0
    assert "--client-cert FILE" in ran.err


def test_a_passphrase_is_read_from_the_environment_and_never_stored(
    cli: RunCli, strict_agent: str, client: trustme.LeafCert, tmp_path: Path
):
    path, capture = tmp_path / "client.p12", tmp_path / "x.a2a"
    path.write_bytes(pkcs12_file(client, PASSPHRASE))
    words = ("card", "get", strict_agent, "--client-cert", str(path), "--client-passphrase", "env:OF_THE_KEY")
    ran = cli(*words, "--capture", str(capture), OF_THE_KEY=PASSPHRASE)
    assert ran.code == 0, ran.err
    assert PASSPHRASE not in ran.out + ran.err
    assert PASSPHRASE.encode() not in capture.read_bytes()
    wrong = cli(*words, OF_THE_KEY="another-passphrase")
    assert wrong.code != 0
    assert "passphrase" in wrong.err
    assert "another-passphrase" not in wrong.err


def test_a_preview_names_the_files_of_the_certificate_and_not_its_passphrase(
    cli: RunCli, strict_agent: str, client: trustme.LeafCert, tmp_path: Path
):
    path = tmp_path / "client.p12"
    path.write_bytes(pkcs12_file(client, PASSPHRASE))
    words = ("send", strict_agent, "--text", "hello", "--client-cert", str(path), "--transport", "JSONRPC")
    for form, named in (("curl", f"--cert {path} "), ("httpx", f'open({str(path)!r}, "rb")')):
        ran = cli(*words, "--client-passphrase", "env:OF_THE_KEY", "--preview", form, OF_THE_KEY=PASSPHRASE)
        assert ran.code == 0, ran.err
        assert named in ran.out
        assert PASSPHRASE not in ran.out + ran.err


def test_without_a_terminal_a_missing_passphrase_is_an_error_that_names_the_option(
    cli: RunCli, strict_agent: str, client: trustme.LeafCert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("inspector.cli.passphrase._has_terminal", lambda: False)
    certificate, _ = write_pem(tmp_path, "client", client)
    key = tmp_path / "encrypted.pem"
    key.write_bytes(encrypted_key(client, PASSPHRASE))
    ran = cli("card", "get", strict_agent, "--client-cert", str(certificate), "--client-key", str(key))
    assert ran.code != 0
    assert "--client-passphrase env:NAME" in ran.err


def test_a_key_without_a_certificate_is_an_error(cli: RunCli, client: trustme.LeafCert, tmp_path: Path):
    _, key = write_pem(tmp_path, "client", client)
    ran = cli("card", "get", "https://127.0.0.1:1", "--client-key", str(key))
    assert ran.code == 2
    assert "--client-key needs --client-cert" in ran.err


async def only_for_alice(call: Call) -> web.StreamResponse:
    expected = "Basic " + b64encode(f"alice:{PASSWORD}".encode()).decode()
    if call.request.headers.get("Authorization") != expected:
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="agent"'})
    return call.result({"task": task("COMPLETED")})


@pytest.mark.parametrize("value", [f"alice:{PASSWORD}", "env:WHO"])
def test_basic_credentials_are_sent_and_masked(cli: RunCli, make_agent: MakeAgent, tmp_path: Path, value: str):
    capture = tmp_path / "x.a2a"
    url = make_agent(only_for_alice).url
    ran = cli(
        "send", url, "--text", "hello", "--basic", value, "--capture", str(capture), "--debug", WHO=f"alice:{PASSWORD}"
    )
    assert ran.code == 0, ran.err
    for secret in (PASSWORD, b64encode(f"alice:{PASSWORD}".encode()).decode()):
        assert secret not in ran.out + ran.err
        assert secret.encode() not in capture.read_bytes()


def test_basic_credentials_without_a_colon_are_an_error_that_does_not_repeat_them(cli: RunCli):
    ran = cli("card", "get", "http://127.0.0.1:1", "--basic", PASSWORD)
    assert ran.code == 2
    assert "USER:PASSWORD" in ran.err
    assert PASSWORD not in ran.err
