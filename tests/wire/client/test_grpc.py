"""The gRPC client with real servers on this machine: observations, and descriptions of failures."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest
import trustme
from stream_servers import serving_bytes

from inspector.protocol.bindings import protobuf
from inspector.protocol.bindings.base import GrpcRequest
from inspector.protocol.bindings.grpc import DETAILS, decode_error
from inspector.protocol.errors import Fault, FaultCode, Whose
from inspector.wire.client.credentials import Credentials
from inspector.wire.client.grpc import GrpcClient
from inspector.wire.client.http import Limits
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Sent, Trailers

SERVICE = "lf.a2a.v1.A2AService"
Handler = Callable[[bytes, Any], Awaitable[Any]]


def message(text: str) -> bytes:
    part = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    return protobuf.write("v1_0", "StreamResponse", {"message": part})


@asynccontextmanager
async def served(
    unary: Handler | None = None, stream: Any = None, credentials: grpc.ServerCredentials | None = None
) -> AsyncIterator[str]:
    """Serve one unary and one streaming method of A2A on a free port, and give `host:port`."""
    methods: dict[str, grpc.RpcMethodHandler] = {}
    if unary:
        methods["SendMessage"] = grpc.unary_unary_rpc_method_handler(unary)
    if stream:
        methods["SendStreamingMessage"] = grpc.unary_stream_rpc_method_handler(stream)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
    place = "127.0.0.1:0"
    port = server.add_secure_port(place, credentials) if credentials else server.add_insecure_port(place)
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


def asking(target: str, *, streaming: bool = False, tls: bool = False, **metadata: str) -> GrpcRequest:
    method = "SendStreamingMessage" if streaming else "SendMessage"
    spelled = {name.replace("_", "-"): value for name, value in metadata.items()}
    return GrpcRequest(target, f"/{SERVICE}/{method}", spelled, b"\x0a\x01t", streaming, tls)


async def observe(call: GrpcRequest, client: GrpcClient | None = None) -> list[Observation]:
    async with aclosing(client or GrpcClient()) as using, asyncio.timeout(20):
        return [seen async for seen in using.exchange(call)]


def ended(seen: list[Observation]) -> Ended:
    last = seen[-1]
    assert isinstance(last, Ended)
    return last


def fault(seen: list[Observation]) -> Fault:
    found = ended(seen).fault
    assert found is not None
    return found


async def echo(raw: bytes, context: Any) -> bytes:
    return raw + b"!"


async def three(raw: bytes, context: Any) -> AsyncIterator[bytes]:
    for number in range(3):
        yield message(str(number))


@pytest.fixture
def certified(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> grpc.ServerCredentials:
    """The credentials of a server whose authority is trusted by an environment variable."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return credentials_of(authority.issue_cert("127.0.0.1"))


def credentials_of(certificate: trustme.LeafCert) -> grpc.ServerCredentials:
    chain = b"".join(pem.bytes() for pem in certificate.cert_chain_pems)
    return grpc.ssl_server_credentials([(certificate.private_key_pem.bytes(), chain)])


# ── what is seen ──


async def test_a_unary_call_is_observed_from_its_request_to_its_status():
    async with served(unary=echo) as target:
        seen = await observe(asking(target, a2a_version="1.0"))
    sent, head, body, trailers, end = seen
    assert isinstance(sent, Sent)
    assert (sent.method, sent.url) == ("POST", f"grpc://{target}/{SERVICE}/SendMessage")
    assert (sent.headers, sent.body) == ((("a2a-version", "1.0"),), b"\x0a\x01t")
    assert isinstance(head, Head)
    assert (head.status, head.http_version, head.streamed) == (200, "HTTP/2", False)
    assert isinstance(body, Body)
    assert body.raw == b"\x0a\x01t!"
    assert isinstance(trailers, Trailers)
    assert (trailers.code, trailers.name) == (0, "OK")
    assert isinstance(end, Ended)
    assert (end.how, end.events, end.size, end.fault) == (Ending.COMPLETE, 1, 4, None)


async def test_each_message_of_a_stream_is_a_frame_with_its_bytes():
    async with served(stream=three) as target:
        seen = await observe(asking(target, streaming=True))
    frames = [frame for observation in seen if isinstance(observation, Frames) for frame in observation.frames]
    assert [(frame.raw, frame.data) for frame in frames] == [(message(text), message(text)) for text in "012"]
    assert [type(observation) for observation in seen] == [Sent, Head, Frames, Frames, Frames, Trailers, Ended]
    assert ended(seen).events == 3


async def test_metadata_is_sent_and_received_with_binary_values_in_base64():
    heard: dict[str, Any] = {}

    async def handle(raw: bytes, context: Any) -> bytes:
        heard.update(context.invocation_metadata())
        await context.send_initial_metadata((("a2a-extensions", "urn:x"), ("first-bin", b"\x00\x01")))
        context.set_trailing_metadata((("cost", "3"), ("last-bin", b"\xff")))
        return raw

    async with served(unary=handle) as target:
        seen = await observe(asking(target, a2a_version="1.0", authorization="Bearer w"))
    assert heard["a2a-version"] == "1.0"
    assert heard["authorization"] == "Bearer w"
    assert heard["user-agent"].startswith("a2a-inspect")
    head, trailers = seen[1], seen[3]
    assert isinstance(head, Head)
    assert isinstance(trailers, Trailers)
    assert head.headers == (("a2a-extensions", "urn:x"), ("first-bin", "AAE="))
    assert trailers.headers == (("cost", "3"), ("last-bin", "/w=="))
    assert trailers.binary("last-bin") == b"\xff"


async def test_an_error_is_a_status_with_details_without_a_fault():
    status = protobuf.message_class("status", "Status")(code=5, message="no such task")
    reason = protobuf.write("status", "ErrorInfo", {"reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"})
    status.details.add(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=reason)

    async def refuse(raw: bytes, context: Any) -> bytes:
        context.set_trailing_metadata(((DETAILS, status.SerializeToString()),))
        await context.abort(grpc.StatusCode.NOT_FOUND, "no such task")
        return b""

    async with served(unary=refuse) as target:
        seen = await observe(asking(target))
    assert [type(observation) for observation in seen] == [Sent, Head, Trailers, Ended]
    trailers = seen[2]
    assert isinstance(trailers, Trailers)
    assert (trailers.code, trailers.name, trailers.message) == (5, "NOT_FOUND", "no such task")
    assert decode_error(trailers.code, trailers.message, trailers.binary(DETAILS)).name == "TaskNotFoundError"
    assert (ended(seen).how, ended(seen).fault) == (Ending.COMPLETE, None)


_CODES = ("UNAVAILABLE", "RESOURCE_EXHAUSTED", "UNKNOWN", "CANCELLED")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        *((code, "failed to connect to all addresses; last error: Connection refused") for code in _CODES),
        ("UNAVAILABLE", "Connection reset by the database"),
        ("INTERNAL", "Broken pipe to the model server"),
        ("INVALID_ARGUMENT", "Compression algorithm zstd is not supported for files"),
        ("UNKNOWN", "No status received from the planner"),
    ],
)
async def test_a_status_of_the_server_is_not_a_lost_connection(code: str, words: str):
    async def refuse(raw: bytes, context: Any) -> bytes:
        await context.abort(grpc.StatusCode[code], words)
        return b""

    async with served(unary=refuse) as target:
        seen = await observe(asking(target))
    assert [type(observation) for observation in seen] == [Sent, Head, Trailers, Ended]
    trailers = seen[2]
    assert isinstance(trailers, Trailers)
    assert (trailers.name, trailers.message) == (code, words)
    assert ended(seen).fault is None


async def test_an_error_in_the_middle_of_a_stream_comes_after_its_messages():
    async def break_off(raw: bytes, context: Any) -> AsyncIterator[bytes]:
        yield message("one")
        await context.abort(grpc.StatusCode.INTERNAL, "fell over")

    async with served(stream=break_off) as target:
        seen = await observe(asking(target, streaming=True))
    assert [type(observation) for observation in seen] == [Sent, Head, Frames, Trailers, Ended]
    trailers = seen[3]
    assert isinstance(trailers, Trailers)
    assert (trailers.name, trailers.message) == ("INTERNAL", "fell over")


async def test_a_missing_method_is_unimplemented():
    async with served(unary=echo) as target:
        seen = await observe(asking(target, streaming=True))
    trailers = seen[2]
    assert isinstance(trailers, Trailers)
    assert trailers.name == "UNIMPLEMENTED"


# ── limits and leaving ──


async def test_a_message_beyond_the_limit_is_not_read():
    async def much(raw: bytes, context: Any) -> bytes:
        return bytes(5000)

    async with served(unary=much) as target:
        seen = await observe(asking(target), GrpcClient(Limits(body=4000)))
    assert ended(seen).how is Ending.LIMIT
    assert fault(seen).seen == "Stopped reading: a message has 5,000 bytes, the limit is 4,000."
    assert not any(isinstance(observation, Body) for observation in seen)


async def test_a_call_that_failed_does_not_end_the_other_calls_of_its_connection():
    failed = asyncio.Event()

    async def long(raw: bytes, context: Any) -> bytes:
        return message("x" * 2000)

    async def stream(raw: bytes, context: Any) -> AsyncIterator[bytes]:
        yield message("first")
        await failed.wait()
        yield message("second")

    client = GrpcClient(Limits(body=1000))
    async with served(long, stream) as target:
        observed = client.exchange(asking(target, streaming=True))
        seen = [await anext(observed) for _ in range(3)]
        assert ended([each async for each in client.exchange(asking(target))]).how is Ending.LIMIT
        failed.set()
        seen += [each async for each in observed]
        await client.aclose()
    assert len([each for each in seen if isinstance(each, Frames)]) == 2
    assert ended(seen).how is Ending.COMPLETE


async def test_closing_the_iterator_ends_the_call_on_the_wire():
    ending = asyncio.Event()

    async def forever(raw: bytes, context: Any) -> AsyncIterator[bytes]:
        try:
            yield message("one")
            await asyncio.Event().wait()
        finally:
            ending.set()

    async with served(stream=forever) as target, aclosing(GrpcClient()) as client, asyncio.timeout(20):
        calling = client.exchange(asking(target, streaming=True))
        async for seen in calling:
            if isinstance(seen, Frames):
                break
        await calling.aclose()
        await ending.wait()


async def test_closing_the_client_leaves_no_task_behind():
    before = asyncio.all_tasks()
    async with served(stream=three) as target:
        client = GrpcClient()
        calling = client.exchange(asking(target, streaming=True))
        async for seen in calling:
            if isinstance(seen, Frames):
                break
        await calling.aclose()
        await client.aclose()
    async with asyncio.timeout(20):
        while left := asyncio.all_tasks() - before:
            await asyncio.wait(left)


async def test_calls_run_side_by_side_on_one_client():
    async with served(unary=echo, stream=three) as target, aclosing(GrpcClient()) as client:

        async def outcome(streaming: bool) -> int:
            seen = [observation async for observation in client.exchange(asking(target, streaming=streaming))]
            return ended(seen).events

        assert await asyncio.gather(*map(outcome, (True, False, True, False))) == [3, 1, 3, 1]


# ── what breaks ──


async def test_a_closed_port_is_reported():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound but not listening, so that no other process can use the port
        target = f"127.0.0.1:{held.getsockname()[1]}"
        seen = await observe(asking(target))
    assert [type(observation) for observation in seen] == [Sent, Ended]
    assert ended(seen).how is Ending.BROKEN
    assert fault(seen).seen == f"Nothing listens at {target}: the connection was refused."
    assert fault(seen).whose is Whose.AGENT


async def test_a_restarted_server_is_reached_immediately():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        async with aclosing(GrpcClient()) as client:
            assert fault([observation async for observation in client.exchange(asking(f"127.0.0.1:{port}"))])
            held.close()
            server = grpc.aio.server()
            handlers = {"SendMessage": grpc.unary_unary_rpc_method_handler(echo)}
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
            assert server.add_insecure_port(f"127.0.0.1:{port}") == port
            await server.start()
            seen = [observation async for observation in client.exchange(asking(f"127.0.0.1:{port}"))]
            await server.stop(None)
    assert ended(seen).fault is None


async def test_an_unknown_host_name_is_reported():
    seen = await observe(asking("no-such-host.invalid:5000"))
    assert fault(seen).seen == "The name no-such-host.invalid could not be resolved."
    assert fault(seen).whose is Whose.NETWORK


@asynccontextmanager
async def raw_server(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[str]:
    """Serve bytes, to one connection after the other, until they are closed."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await answer(reader, writer)
            await reader.read()
        writer.close()

    async with serving_bytes(serve) as place:
        yield place


async def test_a_server_without_http_2_is_reported():
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with raw_server(refuse) as target:
        seen = await observe(asking(target))
    assert fault(seen).seen == f"{target} does not use HTTP/2."
    assert "the gRPC port" in fault(seen).hint


async def test_a_silent_server_is_reported():
    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)

    async with raw_server(listen) as target:
        seen = await observe(asking(target), GrpcClient(Limits(connect_seconds=0.2)))
    assert fault(seen).seen == f"The connection to {target} timed out."


async def test_a_web_server_without_grpc_is_reported():
    not_found = b"\x8d"  # :status 404, from the static table of HPACK

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
        writer.write(bytes(3) + b"\x04" + bytes(5))  # SETTINGS
        kind, headers = 0, 1
        while kind != headers:
            frame = await reader.readexactly(9)
            kind, stream = frame[3], frame[5:]
            await reader.readexactly(int.from_bytes(frame[:3], "big"))
        writer.write(b"\0\0\x01\x01\x05" + stream + not_found)

    async with raw_server(answer) as target:
        seen = await observe(asking(target))
    assert fault(seen).seen == f"{target} answered with HTTP 404, without a gRPC status."
    assert "the agent has this method and version there" in fault(seen).hint
    assert "proxy" not in fault(seen).hint


async def test_a_server_that_stops_during_a_stream_is_reported():
    server = """
import asyncio, grpc.aio, grpc
async def stream(raw, context):
    yield b""
    await asyncio.Event().wait()
async def main():
    server = grpc.aio.server()
    methods = {"SendStreamingMessage": grpc.unary_stream_rpc_method_handler(stream)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("lf.a2a.v1.A2AService", methods),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", server], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        target = f"127.0.0.1:{int(process.stdout.readline())}"
        seen = []
        async with aclosing(GrpcClient()) as client, asyncio.timeout(20):
            async for observation in client.exchange(asking(target, streaming=True)):
                seen.append(observation)
                if isinstance(observation, Frames):
                    process.kill()
    assert ended(seen).how is Ending.BROKEN
    assert fault(seen).seen.startswith(f"The stream broke off after 1 event. {target} closed the connection: ")
    assert not any(isinstance(observation, Trailers) for observation in seen)


@pytest.mark.parametrize(
    "metadata", [{"x_header": "café"}, {"X_header": "upper"}, {"x_header": "a\r\nb"}, {"x_bin": "a=="}, {"x_bin": "a"}]
)
async def test_invalid_metadata_is_a_usage_error(metadata: dict[str, str]):
    async with served(unary=echo) as target:
        seen = await observe(asking(target, **metadata))
    assert [type(observation) for observation in seen] == [Sent, Ended]
    assert (fault(seen).whose, fault(seen).code) == (Whose.YOURS, FaultCode.USAGE)


# ── TLS ──


async def test_a_server_that_does_not_answer_the_handshake_without_checks_is_reported():
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        target = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        seen = await observe(asking(target, tls=True), GrpcClient(Limits(connect_seconds=0.2), verify=False))
    assert (fault(seen).whose, fault(seen).code) == (Whose.NETWORK, FaultCode.UNREACHABLE)


@pytest.mark.parametrize("verify", [True, False], ids=["verified", "any certificate"])
@pytest.mark.parametrize(
    "target",
    ["a..b:443", f"{'a' * 64}.test:443", "\udcff:443", "127.0.0.1:port", "[::1", "no-such-host.invalid"],
)
async def test_every_target_leads_to_an_end_with_a_fault(target: str, verify: bool):
    seen = await observe(asking(target, tls=True), GrpcClient(verify=verify))
    assert [type(observation) for observation in seen] == [Sent, Ended]
    assert (ended(seen).how, fault(seen).code == FaultCode.INTERNAL) == (Ending.BROKEN, False)


async def test_authorities_that_cannot_be_read_are_a_usage_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/missing.pem")
    seen = await observe(asking("127.0.0.1:9", tls=True))
    assert (fault(seen).whose, fault(seen).code) == (Whose.YOURS, FaultCode.USAGE)


async def test_a_call_is_encrypted_where_the_url_says_so(certified: grpc.ServerCredentials):
    async with served(unary=echo, credentials=certified) as target:
        seen = await observe(asking(target, tls=True))
    sent = seen[0]
    assert isinstance(sent, Sent)
    assert sent.url.startswith(f"grpcs://{target}/")
    assert ended(seen).fault is None


async def test_a_certificate_of_an_unknown_authority_is_refused():
    credentials = credentials_of(trustme.CA().issue_cert("127.0.0.1"))
    async with served(unary=echo, credentials=credentials) as target:
        refused = await observe(asking(target, tls=True))
        trusted = await observe(asking(target, tls=True), GrpcClient(verify=False))
    assert fault(refused).seen.startswith("The certificate of 127.0.0.1 was refused: ")
    assert ended(trusted).fault is None


async def test_a_certificate_for_another_name_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    credentials = credentials_of(authority.issue_cert("elsewhere.example"))
    async with served(unary=echo, credentials=credentials) as target:
        seen = await observe(asking(target, tls=True))
    assert fault(seen).seen.startswith("The certificate of 127.0.0.1 was refused: ")


async def test_tls_to_a_port_without_tls_is_reported():
    async with served(unary=echo) as target:
        seen = await observe(asking(target, tls=True))
    assert fault(seen).seen.startswith("TLS with 127.0.0.1 failed: ")
    assert "grpc://" in fault(seen).hint


async def test_plain_grpc_to_a_port_with_tls_is_reported(certified: grpc.ServerCredentials):
    async with served(unary=echo, credentials=certified) as target:
        seen = await observe(asking(target))
    assert fault(seen).seen == f"{target} accepted the connection and closed it."
    assert "grpcs://" in fault(seen).hint


# ── credentials ──


def test_credentials_are_sent_in_lower_case_to_their_origin_only():
    credentials = Credentials(
        {"Authorization": "Bearer w"}, frozenset({"http://a:1"}), {"Key": "k"}, plain={"A2A-Extensions": "urn:x"}
    )
    assert credentials.sign_call(asking("a:1", a2a_version="1.0")).metadata == {
        "a2a-version": "1.0",
        "a2a-extensions": "urn:x",
        "authorization": "Bearer w",
        "key": "k",
    }
    for elsewhere in (asking("b:1"), asking("a:2"), asking("a:1", tls=True)):
        assert credentials.sign_call(elsewhere).metadata == {"a2a-extensions": "urn:x"}
