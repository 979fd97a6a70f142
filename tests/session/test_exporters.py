"""The command and the program that a request is copied as, really run: the server gets what we would have sent."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import grpc.aio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import examples

from inspector.protocol.bindings import grpc as grpc_binding
from inspector.protocol.bindings import protobuf
from inspector.protocol.bindings.base import FileSplice, GrpcRequest, HttpRequest
from inspector.protocol.dialects import v1_0
from inspector.protocol.errors import FaultError
from inspector.protocol.operations import Operation
from inspector.session.compose.build import compose
from inspector.session.compose.draft import text_draft
from inspector.session.exporters.curl import LARGEST_COMMAND
from inspector.session.exporters.curl import write as as_curl
from inspector.session.exporters.httpx_program import write as as_httpx

PATIENCE = 20.0
HAS_CURL = shutil.which("curl") is not None
needs_curl = pytest.mark.skipif(not HAS_CURL, reason="curl is not on this machine")

BODIES = {
    "json": b'{"text": "a < b & c"}',
    "quotes": b"it's \"quoted\" `so` '",
    "at": b"@/etc/passwd",
    "at alone": b"@-",
    "newlines": b"\n\none\r\ntwo\n\n",
    "shell": b"$HOME ${HOME} $(id) !! \\ \\n %s %% ; | > /dev/null #",
    "unicode": "ä\u2028\U0001f600".encode(),
    "no utf-8": b"caf\xe9 \xff\xfe",
    "nul": b"a\0b",
    "empty": b"",
    "dash": b"--data x",
    "equals": b"a=b&c=%20 +",
}


@dataclass
class Heard:
    """What a server got: first line, headers by lower-case name, body."""

    first: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Listener:
    url: str = ""
    heard: list[Heard] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip(" ") for name, _, value in (line.partition(":") for line in lines)}
        assert len(headers) == len(lines), "no header stands there twice"
        assert "100-continue" not in headers.get("expect", "")
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.heard.append(Heard(first, headers, body))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nheard")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    listener = Listener()
    server = await asyncio.start_server(listener.serve, "127.0.0.1", 0, limit=2**22)
    listener.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield listener
    finally:
        server.close()


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    async with listening() as listener:
        yield listener


async def ran(*words: str, home: Path | None = None) -> bytes:
    """Run a program and return what it printed; it must not fail and must not complain."""
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    return out


def request(url: str, body: bytes, **headers: str) -> HttpRequest:
    told = {"Content-Type": "application/json", "Accept": "application/json", "A2A-Version": "1.0"}
    return HttpRequest("POST", f"{url}/rpc/acme%20co/message:send?a=b%26c&d=[1]{{2}}", told | headers, body)


def agree(heard: Heard, wire: HttpRequest, url: str) -> None:
    assert heard.first == f"{wire.method} {wire.url.removeprefix(url)} HTTP/1.1"
    for name, value in wire.headers.items():
        assert heard.headers[name.lower()].encode("latin-1") == value.encode(), name
    assert heard.body == wire.body


@needs_curl
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_curl_sends_the_same(listener: Listener, body: bytes):
    wire = request(listener.url, body, **{"X-Odd": 'it\'s $HOME "x"; y', "X-Empty": ""})
    assert await ran("sh", "-c", as_curl(wire)) == b"heard"
    [heard] = listener.heard
    agree(heard, wire, listener.url)
    assert heard.headers["user-agent"] == "a2a-inspect"
    assert heard.headers.keys() <= {"host", "user-agent", "content-length", *map(str.lower, wire.headers)}


@needs_curl
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PROPFIND"])
async def test_curl_sends_other_verbs_and_headers_of_its_own_are_kept_away(listener: Listener, method: str):
    wire = HttpRequest(method, f"{listener.url}/a//b?c=d", {"user-agent": "mine"}, b"{}" if method == "PUT" else b"")
    await ran("sh", "-c", as_curl(wire))
    [heard] = listener.heard
    agree(heard, wire, listener.url)
    assert heard.headers.keys() <= {"host", "user-agent", "content-length"}


@needs_curl
async def test_curl_asks_the_url_that_our_client_asks(listener: Listener):
    wire = HttpRequest("POST", f"{listener.url}/x/../a b/ä", {}, b"x")
    await ran("sh", "-c", as_curl(wire))
    assert listener.heard[0].first == "POST /a%20b/%C3%A4 HTTP/1.1"


@needs_curl
async def test_a_body_as_long_as_may_be_is_sent_and_a_longer_one_refused(listener: Listener):
    wire = request(listener.url, b"'" * LARGEST_COMMAND)
    plain = request(listener.url, b"x" * LARGEST_COMMAND)
    await ran("sh", "-c", as_curl(plain))
    assert listener.heard[0].body == plain.body
    assert as_curl(wire)
    with pytest.raises(FaultError, match="100,001 bytes does not fit on a command line"):
        as_curl(request(listener.url, b"x" * (LARGEST_COMMAND + 1)))


@needs_curl
def test_curl_sends_any_text(tmp_path: Path):
    @settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.text(max_size=50) | st.text("'\"\\$`!@\n\r\t ;", max_size=20), st.text("ab '\"\\$`!:;,", max_size=8))
    def run(text: str, value: str) -> None:
        async def main() -> None:
            async with listening() as listener:
                wire = request(listener.url, text.encode(), **{"X-Value": value.strip()})
                await ran("sh", "-c", as_curl(wire))
                agree(listener.heard[0], wire, listener.url)

        asyncio.run(main())

    run()


def test_a_stream_is_shown_as_it_comes():
    streamed = request("http://h", b"{}", Accept="text/event-stream")
    assert "--no-buffer" in as_curl(streamed)
    assert "--no-buffer" not in as_curl(request("http://h", b"{}"))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_httpx_sends_the_same(listener: Listener, tmp_path: Path, body: bytes):
    wire = request(listener.url, body, **{"X-Odd": 'it\'s "x" \\', "X-Far": "caf\u00e9", "X-Empty": ""})
    (tmp_path / "program.py").write_text(as_httpx(wire), encoding="utf-8")
    out = await ran(sys.executable, str(tmp_path / "program.py"))
    assert out.startswith(b"200 ")
    assert out.rstrip().endswith(b"heard")
    [heard] = listener.heard
    agree(heard, wire, listener.url)


async def test_httpx_sends_bytes_of_a_terminal_that_are_not_utf_8(listener: Listener, tmp_path: Path):
    wire = HttpRequest("GET", f"{listener.url}/", {"X-Odd": "a\udcff"})
    (tmp_path / "program.py").write_text(as_httpx(wire), encoding="utf-8")
    await ran(sys.executable, str(tmp_path / "program.py"))
    assert listener.heard[0].headers["x-odd"] == "a\xff"


async def test_httpx_asks_without_a_body(listener: Listener, tmp_path: Path):
    wire = HttpRequest("GET", f"{listener.url}/tasks/t?historyLength=1", {"Accept": "application/json"})
    (tmp_path / "program.py").write_text(as_httpx(wire), encoding="utf-8")
    await ran(sys.executable, str(tmp_path / "program.py"))
    agree(listener.heard[0], wire, listener.url)


@needs_curl
@pytest.mark.parametrize("text", ["echo hello", 'it\'s \u2028 "$HOME" \0'])
async def test_curl_makes_a_grpc_call(text: str):
    got: list[tuple[bytes, dict[str, str]]] = []

    async def keep(raw: bytes, context: grpc.aio.ServicerContext) -> bytes:
        got.append((raw, dict(context.invocation_metadata() or ())))
        return protobuf.write("v1_0", "SendMessageResponse", {"message": {"messageId": "of-the-agent"}})

    server = grpc.aio.server()
    methods = {"SendMessage": grpc.unary_unary_rpc_method_handler(keep)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("lf.a2a.v1.A2AService", methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        message = compose(text_draft(text)).request
        wire = grpc_binding.encode(f"127.0.0.1:{port}", v1_0.DIALECT, Operation.SEND, message, "")
        wire = GrpcRequest(wire.target, wire.path, {**wire.metadata, "x-mine": "it's"}, wire.body, streaming=False)
        out = await ran("sh", "-c", as_curl(wire))
    finally:
        await server.stop(None)
    [(raw, metadata)] = got
    assert raw == wire.body
    assert (metadata["a2a-version"], metadata["x-mine"]) == ("1.0", "it's")
    assert b"of-the-agent" in out


def test_a_call_over_tls_is_one_with_curl_too():
    wire = GrpcRequest("h:443", "/s/M", {}, b"", streaming=True, tls=True)
    assert "--http2 " in as_curl(wire)
    assert "https://h:443/s/M" in as_curl(wire)


@needs_curl
async def test_a_url_that_looks_like_an_option_is_none(tmp_path: Path):
    (tmp_path / "options").write_text(f"output = {tmp_path / 'written'}\nurl = file:///dev/null\n")
    command = as_curl(HttpRequest("GET", f"-K{tmp_path / 'options'}", {}, b""))
    shell = await asyncio.create_subprocess_exec("sh", "-c", command, stderr=asyncio.subprocess.PIPE)
    await asyncio.wait_for(shell.communicate(), PATIENCE)
    assert shell.returncode
    assert not (tmp_path / "written").exists()


def test_a_url_with_half_of_a_surrogate_pair_is_refused():
    with pytest.raises(FaultError, match="surrogate"):
        as_curl(HttpRequest("GET", "http://h/\ud800", {}, b""))


def test_what_is_no_command_or_program_is_said_to_be_none(tmp_path: Path):
    large = HttpRequest("POST", "http://h/", {}, b"{}", (FileSplice(1, tmp_path / "x", 9_000_000),))
    call = GrpcRequest("h:1", "/s/M", {}, b"", streaming=False)
    for copy, wire, words in (
        (as_curl, large, "large file does not fit on a command line"),
        (as_httpx, large, "large file does not fit into a program"),
        (as_httpx, call, "httpx does not support gRPC"),
    ):
        with pytest.raises(FaultError, match=words):
            copy(wire)
