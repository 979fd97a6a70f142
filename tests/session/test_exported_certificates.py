"""The client certificate in exported programs, really run against servers that require it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import grpc
import grpc.aio
import pytest
import trustme
from certificates import encrypted_key, pkcs12_file, write_pem
from inspector.sample_agents.server import serve_in_thread
from inspector.sample_agents.tls import Tls

from inspector.protocol.bindings import protobuf
from inspector.protocol.bindings.base import GrpcRequest, HttpRequest
from inspector.session.exporters.curl import write as as_curl
from inspector.session.exporters.httpx_program import write as as_httpx
from inspector.wire.client.client_certificate import read_client_certificate
from inspector.wire.client.credentials import Credentials, origin

CARD = "/.well-known/agent-card.json"
NAME = "client@agents.example"
PASSPHRASE = "canary-päss 'word'-4411"
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on this machine")
FORMS = pytest.mark.parametrize("form", ["two files", "one file", "pkcs12"])
ENCRYPTED = pytest.mark.parametrize("passphrase", ["", PASSPHRASE], ids=["open", "encrypted"])


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(autouse=True)
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust the authority in this process and in its children."""
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    for variable in ("SSL_CERT_FILE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(variable, str(tmp_path / "ca.pem"))


@pytest.fixture(scope="module")
def strict_agent(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The mock agent, which requires a client certificate."""
    folder = tmp_path_factory.mktemp("server")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    files = write_pem(folder, "server", authority.issue_cert("127.0.0.1"))
    with serve_in_thread(pace=0, tls=Tls(*files, folder / "ca.pem")) as url:
        yield url


def credentials(authority: trustme.CA, folder: Path, form: str, passphrase: str, url: str) -> Credentials:
    """Write a client certificate in one of the forms to a folder whose name needs quotes, and read it."""
    folder = folder / "a:b 'c' \\d"
    folder.mkdir()
    issued = authority.issue_cert(NAME)
    certificate, key = write_pem(folder, "client", issued)
    if passphrase:
        key.write_bytes(encrypted_key(issued, passphrase))
    if form == "one file":
        certificate.write_bytes(certificate.read_bytes() + key.read_bytes())
    if form == "pkcs12":
        certificate.write_bytes(pkcs12_file(issued, passphrase))
    read = read_client_certificate(certificate, key if form == "two files" else None, passphrase=passphrase)
    return Credentials(origins=frozenset([origin(url)]), certificate=read)


async def run(*words: str, **environment: str) -> tuple[int, bytes, bytes]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe, env={**os.environ, **environment}
    )
    async with asyncio.timeout(20):
        out, err = await process.communicate()
    return process.returncode or 0, out, err


@needs_curl
@FORMS
@ENCRYPTED
async def test_curl_sends_the_client_certificate(
    authority: trustme.CA, strict_agent: str, tmp_path: Path, form: str, passphrase: str
):
    request = HttpRequest("GET", f"{strict_agent}{CARD}", {})
    command = as_curl(credentials(authority, tmp_path, form, passphrase, request.url).sign(request))
    code, out, err = await run("sh", "-c", command, PASSPHRASE=passphrase)
    assert code == 0, err
    assert json.loads(out)["name"]
    assert PASSPHRASE not in command
    refused, _, _ = await run("sh", "-c", as_curl(request))
    assert refused != 0


@needs_curl
async def test_without_the_passphrase_the_curl_command_names_its_variable(authority: trustme.CA, tmp_path: Path):
    request = HttpRequest("POST", "https://127.0.0.1:1/", {}, b"{}")
    signed = credentials(authority, tmp_path, "pkcs12", PASSPHRASE, request.url).sign(request)
    code, _, err = await run("sh", "-c", as_curl(signed))
    assert code != 0
    assert b"PASSPHRASE: parameter" in err


@FORMS
@ENCRYPTED
async def test_httpx_sends_the_client_certificate(
    authority: trustme.CA, strict_agent: str, tmp_path: Path, form: str, passphrase: str
):
    request = HttpRequest("GET", f"{strict_agent}{CARD}", {})
    program = as_httpx(credentials(authority, tmp_path, form, passphrase, request.url).sign(request))
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    code, out, err = await run(sys.executable, str(tmp_path / "program.py"), PASSPHRASE=passphrase)
    assert (code, err) == (0, b"")
    assert out.startswith(b"200 ")
    assert PASSPHRASE not in program


@needs_curl
async def test_curl_makes_a_grpc_call_with_the_client_certificate(authority: trustme.CA, tmp_path: Path):
    async def respond(_raw: bytes, _context: grpc.aio.ServicerContext) -> bytes:
        return protobuf.write("v1_0", "SendMessageResponse", {"message": {"messageId": "of-the-agent"}})

    server = grpc.aio.server()
    methods = {"SendMessage": grpc.unary_unary_rpc_method_handler(respond)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("lf.a2a.v1.A2AService", methods),))
    own = authority.issue_cert("127.0.0.1")
    pair = own.private_key_pem.bytes(), b"".join(blob.bytes() for blob in own.cert_chain_pems)
    required = grpc.ssl_server_credentials([pair], authority.cert_pem.bytes(), require_client_auth=True)
    port = server.add_secure_port("127.0.0.1:0", required)
    await server.start()
    try:
        call = GrpcRequest(f"127.0.0.1:{port}", "/lf.a2a.v1.A2AService/SendMessage", {}, b"", streaming=False, tls=True)
        signed = credentials(authority, tmp_path, "two files", "", call.url).sign_call(call)
        code, out, err = await run("sh", "-c", as_curl(signed))
        refused = await run("sh", "-c", as_curl(call))
    finally:
        await server.stop(None)
    assert code == 0, err
    assert b"of-the-agent" in out
    assert refused[0] != 0


def test_a_certificate_is_named_for_its_origin_and_with_tls_only(authority: trustme.CA, tmp_path: Path):
    own = credentials(authority, tmp_path, "two files", "", "https://agent.example")
    both = replace(own, origins=own.origins | {origin("http://agent.example")})
    assert both.sign(HttpRequest("GET", "https://agent.example/x", {})).certificate is not None
    assert both.sign(HttpRequest("GET", "https://other.example/x", {})).certificate is None
    assert both.sign(HttpRequest("GET", "http://agent.example/x", {})).certificate is None
