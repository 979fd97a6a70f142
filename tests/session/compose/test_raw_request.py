"""A request as text and back, right or wrong, and what an agent gets when it is sent."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inspector.sample_agents.server import MockAgent
from scripted import Agent, OpenSession, answering, drive, giving, records, streaming, task
from sinks import Sink, running

from inspector.capture.records import Kind
from inspector.protocol.bindings import grpc as grpc_binding
from inspector.protocol.bindings import jsonrpc, protobuf, rest
from inspector.protocol.bindings.base import FileSplice, GrpcRequest, HttpRequest
from inspector.protocol.dialects import v0_1, v0_3, v0_3_proto, v1_0
from inspector.protocol.errors import FaultCode, FaultError, ProtocolError, Whose
from inspector.protocol.model import Task, TaskList
from inspector.protocol.operations import Operation
from inspector.session.compose.build import compose
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.compose.raw_request import raw_context, read_request, write_text
from inspector.session.exchange import CallContext
from inspector.session.session import Session
from inspector.session.settings import Settings
from inspector.wire.client.observations import Sent

RELAXED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
RPC = CallContext(Operation.SEND, v1_0.DIALECT, jsonrpc.BINDING, "id-1", "t", "c", label="label")
REST = CallContext(Operation.SEND, v1_0.DIALECT, rest.BINDING, "id-1")
GRPC = CallContext(Operation.SEND, v1_0.DIALECT, grpc_binding.BINDING, "id-1")
BEFORE = HttpRequest("POST", "http://agent.example:80/rpc?x=1", {"Content-Type": "application/json"}, b"{}")
TOKEN = st.text("abcXYZ-_!#09", min_size=1, max_size=8)
VALUE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0")).map(lambda text: text.strip(" \t"))
HEADERS = st.dictionaries(TOKEN, VALUE, max_size=4)


@RELAXED
@given(TOKEN.filter(lambda method: method != "GRPC"), HEADERS, st.binary() | st.text().map(str.encode))
def test_any_request_over_http_goes_into_text_and_back(method: str, headers: dict[str, str], body: bytes):
    wire = HttpRequest(method, "http://agent.example/a?b=c#d", headers, body)
    assert read_request(write_text(wire, RPC), BEFORE, RPC) == wire


@RELAXED
@given(st.text(), st.dictionaries(TOKEN.map(str.lower), VALUE, max_size=3))
def test_any_message_over_grpc_goes_into_text_and_back(text: str, metadata: dict[str, str]):
    message = compose(text_draft(text, message_id="m")).request
    wire = grpc_binding.encode("agent.example:443", v1_0.DIALECT, Operation.SEND, message, "")
    wire = GrpcRequest(wire.target, wire.path, metadata, wire.body, streaming=False, tls=wire.tls)
    assert read_request(write_text(wire, GRPC), wire, GRPC) == wire


@RELAXED
@given(st.binary(min_size=1))
def test_bytes_that_are_no_message_go_as_hex_and_back(body: bytes):
    wire = GrpcRequest("h:1", "/lf.a2a.v1.A2AService/SendMessage", {}, body, streaming=False)
    read = read_request(write_text(wire, GRPC), wire, GRPC)
    assert isinstance(read, GrpcRequest)
    value = protobuf.read("v1_0", "SendMessageRequest", body)
    assert read.body == body or protobuf.read("v1_0", "SendMessageRequest", read.body) == value


def test_a_text_with_the_line_ends_of_windows_is_read_alike():
    text = "POST http://h/x HTTP/1.1\r\nA: 1\r\nB:2\r\n\r\nline\r\nline\r\n\r\n"
    assert read_request(text, BEFORE, RPC) == HttpRequest(
        "POST", "http://h/x", {"A": "1", "B": "2"}, b"line\r\nline\r\n\r\n"
    )


def test_what_looks_like_a_line_end_elsewhere_is_none():
    text = "POST http://h/x\nX-A: a\u2028b\x85c\x0bd\n\nbody"
    assert read_request(text, BEFORE, RPC).headers == {"X-A": "a\u2028b\x85c\x0bd"}


@pytest.mark.parametrize("text", ["GET /a/b?c=d", "GET /a/b?c=d\n", "GET /a/b?c=d\n\n"])
def test_a_path_alone_is_one_of_the_same_agent_and_a_body_may_be_missing(text: str):
    read = read_request(text, BEFORE, RPC)
    assert (read.method, read.url, dict(read.headers), read.body) == ("GET", "http://agent.example:80/a/b?c=d", {}, b"")


@pytest.mark.parametrize("path", ["//tasks/x", "//[half/x", "/a/../b", "///"])
def test_a_path_is_sent_as_written(path: str):
    assert read_request(f"GET {path}", BEFORE, RPC).url == f"http://agent.example:80{path}"


def test_a_header_that_stands_there_twice_has_both_values():
    assert read_request("GET /\nA: 1\nA: 2\na: 3", BEFORE, RPC).headers == {"A": "1, 2, 3"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The first line must be a method and a URL"),
        ("\n\nPOST http://h/", "The first line must be"),
        ("POST", "The first line must be"),
        ("POST http://h/ with more", "The first line must be"),
        ("PO(ST http://h/", "'PO(ST' has characters that an HTTP method cannot contain"),
        ("POST http://h/\nno header", "'no header' is not a header"),
        ("POST http://h/\nA: 1\n folded", "' folded' is not a header"),
        ("POST http://h/\n: empty", "is not a header"),
        ("POST http://h/\nA b: 1", "is not a header"),
        ('POST http://h/\n{"body": "without the empty line"}', "An empty line must precede the body"),
        ("GRPC nowhere\n\n{}", "'nowhere' is not the URL of a gRPC call"),
        ("GRPC http://[half/x\n\n{}", "is not the URL of a gRPC call"),
        ("GRPC http://h:port/x\n\n{}", "is not the URL of a gRPC call"),
        ("GRPC ftp://h:1/x\n\n{}", "is not the URL of a gRPC call"),
        ("GRPC http://h:1/s/SendMessage\n\n", "Write a gRPC message as JSON; this is empty"),
        ("GRPC http://h:1/s/SendMessage\n\nhello", "Use hex: to send any bytes"),
        ('GRPC http://h:1/s/SendMessage\n\n{"nobody": 1}', "This JSON is not a SendMessage message"),
        ("GRPC http://h:1/s/SendMessage\n\n[1]", "This JSON is not a SendMessage message"),
        ("GRPC http://h:1/s/SendMessage\n\nhex: 0", "pairs of hexadecimal digits"),
    ],
)
def test_what_is_no_request_at_all_is_refused_with_a_sentence(text: str, words: str):
    with pytest.raises(FaultError) as raised:
        read_request(text, BEFORE, RPC)
    fault = raised.value.fault
    assert (fault.whose, fault.code) == (Whose.YOURS, FaultCode.USAGE)
    assert words in fault.seen


def test_hex_is_any_bytes():
    read = read_request("GRPC https://h:1/s/SendMessage\nA: 1\n\n hex: 00 ff\n0A ", BEFORE, GRPC)
    assert read == GrpcRequest("h:1", "/s/SendMessage", {"a": "1"}, b"\x00\xff\n", streaming=False, tls=True)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://h/s/M", "h:80"),
        ("https://h/s/M", "h:443"),
        ("http://u:p@h:1/s/M", "h:1"),
        ("http://[::1]:5/s/M", "[::1]:5"),
    ],
)
def test_a_call_goes_to_a_host_and_a_port(url: str, target: str):
    read = read_request(f"GRPC {url}\n\nhex:", BEFORE, GRPC)
    assert isinstance(read, GrpcRequest)
    assert (read.target, read.path, read.body) == (target, "/s/M", b"")


def test_the_message_of_a_call_is_that_of_the_method_in_its_path():
    text = 'GRPC http://h:1/lf.a2a.v1.A2AService/{}\n\n{{"id": "t"}}'
    read = read_request(text.format("GetTask"), BEFORE, GRPC)
    assert isinstance(read, GrpcRequest)
    assert protobuf.read("v1_0", "GetTaskRequest", read.body) == {"id": "t"}
    assert raw_context(read, GRPC).operation is Operation.GET
    subscribed = read_request(text.format("SubscribeToTask"), BEFORE, GRPC)
    assert isinstance(subscribed, GrpcRequest)
    assert subscribed.streaming


def test_a_file_is_honoured_only_where_it_was(tmp_path: Path):
    path = tmp_path / "a.bin"
    wire = HttpRequest("POST", "http://h/", {}, b'["","typed {{file:/etc/passwd}}"]', (FileSplice(2, path, 9),))
    text = write_text(wire, RPC)
    assert text.endswith(f'["{{{{file:{path}}}}}","typed {{{{file:/etc/passwd}}}}"]')
    assert read_request(text, wire, RPC) == wire
    assert read_request(text, BEFORE, RPC).splices == (), "it is no file of this request"
    moved = read_request(text.replace('["', '["more ", "'), wire, RPC)
    assert moved.splices == (FileSplice(11, path, 9),)
    without = read_request(text.replace(f"{{{{file:{path}}}}}", ""), wire, RPC)
    assert (without.splices, without.body) == ((), wire.body)


def test_the_mark_of_a_file_that_was_typed_as_text_stays_text(tmp_path: Path):
    path = tmp_path / "a.bin"
    splice = FileSplice(0, path, 9)
    typed = f'["{splice.mark}","","{splice.mark}"]'.encode()
    wire = HttpRequest("POST", "http://h/", {}, typed, (FileSplice(len(splice.mark) + 5, path, 9),))
    assert read_request(write_text(wire, RPC), wire, RPC) == wire


def test_files_may_change_places(tmp_path: Path):
    one, two = FileSplice(1, tmp_path / "one", 9), FileSplice(2, tmp_path / "two", 8)
    wire = HttpRequest("POST", "http://h/", {}, b"a,b", (one, two))
    read = read_request(f"POST http://h/\n\na{two.mark},{one.mark}b", wire, RPC)
    assert (read.body, read.splices) == (b"a,b", (FileSplice(1, two.path, 8), FileSplice(2, one.path, 9)))
    same = HttpRequest("POST", "http://h/", {}, b"a,b", (one, FileSplice(2, one.path, 9)))
    assert read_request(write_text(same, RPC), same, RPC) == same


def test_the_mark_of_a_file_with_an_odd_name_is_json_all_the_same():
    path = Path(os.fsdecode(b'/tmp/caf\xe9 "q" \\ \n.bin'))
    wire = HttpRequest("POST", "http://h/", {}, b'[""]', (FileSplice(2, path, 9),))
    assert json.loads(wire.shown) == ['{{file:/tmp/caf\ufffd "q" \\ \n.bin}}']
    assert read_request(write_text(wire, RPC), wire, RPC) == wire


# ── what a request that was written by hand asks for ──


@pytest.mark.parametrize(
    ("body", "operation", "identity"),
    [
        ('{"jsonrpc": "2.0", "id": "a", "method": "GetTask"}', Operation.GET, "a"),
        ('{"jsonrpc": "2.0", "id": 7, "method": "SendStreamingMessage"}', Operation.STREAM, 7),
        ('{"jsonrpc": "2.0", "method": "CancelTask"}', Operation.CANCEL, None),
        ('{"jsonrpc": "2.0", "id": null, "method": "CancelTask"}', Operation.CANCEL, None),
        ('{"jsonrpc": "2.0", "id": true, "method": "Unheard"}', Operation.SEND, None),
        ('{"jsonrpc": "2.0", "id": [1], "method": ["x"]}', Operation.SEND, None),
        ('{"id": "b", "method": "GetTask"}', Operation.SEND, "id-1"),
        ('{"jsonrpc": "2.0", "id": "a", "method": "GetTask"', Operation.SEND, None),
        ("", Operation.SEND, None),
        ("[]", Operation.SEND, "id-1"),
    ],
)
def test_a_call_says_its_operation_and_its_id(body: str, operation: Operation, identity: Any):
    call = raw_context(HttpRequest("POST", "http://h/", {}, body.encode()), RPC)
    assert (call.operation, call.request_id) == (operation, identity)
    assert (call.request, call.task_id, call.label) == (None, "t", "raw request")


@pytest.mark.parametrize(
    ("dialect", "verb", "path", "operation"),
    [
        (v1_0.DIALECT, "POST", "/message:send", Operation.SEND),
        (v1_0.DIALECT, "POST", "/a/b/acme/message:stream?x=1", Operation.STREAM),
        (v1_0.DIALECT, "GET", "/tasks/t%2F1?historyLength=1", Operation.GET),
        (v1_0.DIALECT, "GET", "/base/tasks", Operation.LIST),
        (v1_0.DIALECT, "POST", "/tasks/t:cancel", Operation.CANCEL),
        (v1_0.DIALECT, "GET", "/tasks/t/pushNotificationConfigs", Operation.LIST_PUSH),
        (v1_0.DIALECT, "DELETE", "/tasks/t/pushNotificationConfigs/p", Operation.DELETE_PUSH),
        (v1_0.DIALECT, "POST", "/tasks/t:subscribe", Operation.SUBSCRIBE),
        (v1_0.DIALECT, "GET", "/tasks/t:subscribe", Operation.SUBSCRIBE),
        (v1_0.DIALECT, "PATCH", "/tasks/t", None),
        (v1_0.DIALECT, "GET", "/nowhere", None),
        (v0_3_proto.DIALECT, "GET", "/v1/tasks/t", Operation.GET),
        (v0_3_proto.DIALECT, "POST", "/x/v1/tasks/t:cancel", Operation.CANCEL),
        (v0_3_proto.DIALECT, "GET", "/v1/tasks/t:subscribe", Operation.SUBSCRIBE),
        (v0_3_proto.DIALECT, "POST", "/v1/tasks/t:subscribe", Operation.SUBSCRIBE),
        (v0_3_proto.DIALECT, "GET", "/v1/tasks/t/pushNotificationConfigs/p", Operation.GET_PUSH),
        (v0_1.DIALECT, "POST", "/message:send", None),
    ],
)
def test_a_verb_and_a_path_say_their_operation(dialect: Any, verb: str, path: str, operation: Operation | None):
    assert rest.operation_at(dialect, verb, f"http://h{path}") is operation
    call = raw_context(
        HttpRequest(verb, f"http://h{path}", {}, b"{}"), CallContext(Operation.SEND, dialect, rest.BINDING, "i")
    )
    assert call.operation is (operation or Operation.SEND)


def test_every_version_knows_its_methods_by_hand():
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "message/stream"}'
    call = raw_context(
        HttpRequest("POST", "http://h/", {}, body), CallContext(Operation.SEND, v0_3.DIALECT, jsonrpc.BINDING, "i")
    )
    assert call.operation is Operation.STREAM


# ── sent ──


async def by_hand(session: Session, text: str, *, stream: bool = False) -> Any:
    like = session.send(text_draft("x", message_id="m", request_id="r"), stream=stream)
    turn = session.send_raw(text, like)
    return turn, turn.preview(), await drive(turn)


async def test_what_was_written_by_hand_goes_out_as_it_is(agent: Agent, open_session: OpenSession):
    agent.routes["/rpc"] = giving(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON"}}')
    agent.serve_card()
    session = await open_session(agent.url)
    body = b'{"jsonrpc": broken \xff\r\n\n'
    text = "POST /rpc\nContent-Type: text/odd\nX-Mine: a  b\n\n" + body.decode("utf-8", "surrogateescape")
    turn, shown, _ = await by_hand(session, text)
    [call] = agent.calls
    assert call.body == body
    assert (call.headers["Content-Type"], call.headers["X-Mine"]) == ("text/odd", "a  b")
    assert "A2A-Version" not in call.headers, "what the protocol would set is not there unless it was written"
    assert isinstance(turn.exchange.answer, ProtocolError)
    [request] = [record for record in records(session, Kind.REQUEST) if record.operation == "SendMessage"]
    assert isinstance(shown, Sent)
    assert (request.raw, request.meta["url"]) == (shown.body, shown.url)
    assert request.label == "raw request"
    assert request.meta["deliberate"] == ["raw request"]
    assert request.meta["id"] is None


async def test_an_answer_to_a_broken_request_is_no_slip_of_the_agent(agent: Agent, open_session: OpenSession):
    agent.routes["/rpc"] = giving(
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Invalid JSON payload"}}'
    )
    agent.serve_card()
    session = await open_session(agent.url)
    _, _, turn = await by_hand(session, "POST /rpc\n\n{")
    said = [record for record in records(session, Kind.BODY) if record.exchange == turn.exchange.number]
    assert [finding.rule for record in said for finding in record.findings] == []


async def test_another_method_is_read_as_what_it_asks_for(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"tasks": [], "nextPageToken": "", "pageSize": 0, "totalSize": 0}))
    session = await open_session(agent.url)
    body = '{"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}'
    turn, _, _ = await by_hand(session, f"POST /rpc\nContent-Type: application/json\n\n{body}")
    assert isinstance(turn.exchange.answer, TaskList)
    agent.answer(streaming({"task": task("COMPLETED")}))
    body = '{"jsonrpc": "2.0", "id": 2, "method": "SendStreamingMessage", "params": {}}'
    turn, _, _ = await by_hand(session, f"POST /rpc\nContent-Type: application/json\n\n{body}")
    assert isinstance(turn.exchange.answer, Task)


async def test_a_wrong_verb_path_or_length_is_sent_as_far_as_http_can(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    turn, _, _ = await by_hand(session, "PROPFIND /nowhere\n\n")
    assert (agent.heard[-1].method, agent.heard[-1].path) == ("PROPFIND", "/nowhere")
    assert turn.exchange.head.status == 404
    turn, _, _ = await by_hand(session, "POST /rpc\nContent-Length: 99\n\n{}")
    assert turn.fault is not None
    assert turn.fault.whose is Whose.YOURS
    assert "Content-Length" in turn.fault.seen
    turn, _, _ = await by_hand(session, "POST /rpc\nContent-Length: 1\n\n{}")
    assert turn.fault is not None
    turn, _, _ = await by_hand(session, "POST ftp://h/x\n\n{}")
    assert turn.fault is not None
    assert turn.fault.whose is Whose.YOURS


async def test_credentials_are_added_but_for_headers_that_were_written(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url, headers={"Authorization": "Bearer of-the-user", "X-Key": "of-the-user"})
    body = '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {}}'
    _, shown, _ = await by_hand(session, f"POST /rpc\nauthorization: Basic by-hand\n\n{body}")
    told = {name.lower(): value for name, value in agent.calls[-1].headers.items()}
    assert (told["authorization"], told["x-key"]) == ("Basic by-hand", "of-the-user")
    assert "by-hand" not in str(shown)
    assert "of-the-user" not in str(shown)


async def test_credentials_do_not_go_where_a_request_by_hand_goes(
    agent: Agent, stranger: Agent, open_session: OpenSession
):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url, headers={"Authorization": "Bearer of-the-user"})
    await by_hand(session, f"POST {stranger.url}/rpc\n\n{{}}")
    assert "Authorization" not in stranger.heard[-1].headers
    await by_hand(session, f"POST {stranger.url.replace('http:', '')}/rpc\n\n{{}}")
    assert "Authorization" not in stranger.heard[-1].headers


async def test_a_text_that_says_the_mark_of_a_file_sends_the_text(
    open_session: OpenSession, tmp_path: Path, agent: Agent
):
    agent.serve_card()
    session = await open_session(agent.url)
    (tmp_path / "big").write_bytes(b"x" * 9_000_000)
    draft = Draft((DraftPart(PartKind.TEXT, "x"), DraftPart(PartKind.FILE, str(tmp_path / "big"))))
    like = session.send(draft, stream=False)
    text = write_text(like.wire, like.exchange.context).replace('"x"', '"{{file:/etc/passwd}}"')
    async with running(Sink(keeps=True)) as sink:
        await drive(session.send_raw(text.replace(f"{agent.url}/rpc", sink.url), like))
    [first, second] = json.loads(sink.body)["params"]["message"]["parts"]
    assert first["text"] == "{{file:/etc/passwd}}"
    assert len(second["raw"]) == 12_000_000


@pytest.fixture
async def over_grpc(tmp_path: Path) -> AsyncIterator[Session]:
    """A session with the mock agent over gRPC."""
    agent = MockAgent(pace=0)
    await agent.start()
    session = Session(tmp_path / "grpc.a2a", Settings(transports=("GRPC",)))
    await session.connect(agent.url)
    yield session
    await session.close()
    await agent.stop()


async def test_over_grpc_json_and_hex_are_sent_and_their_answers_read(over_grpc: Session):
    session = over_grpc
    like = session.send(text_draft("report 1", message_id="m"), stream=False)
    text = write_text(like.wire, like.exchange.context)
    assert text.startswith(f"GRPC {like.wire.url}\na2a-version: 1.0\n\n{{")
    turn = await drive(session.send_raw(text, like))
    assert turn.wire == like.wire
    assert isinstance(turn.exchange.answer, Task)
    name = turn.exchange.answer.id
    asked = text.replace("SendMessage", "GetTask").partition("\n\n")[0] + f'\n\n{{"id": "{name}"}}'
    got = await drive(session.send_raw(asked, like))
    assert isinstance(got.exchange.answer, Task)
    assert got.exchange.answer.id == name
    streamed = await drive(session.send_raw(text.replace("SendMessage", "SendStreamingMessage"), like))
    assert streamed.fault is None
    assert len([record for record in records(session, Kind.FRAME) if record.exchange == streamed.exchange.number]) > 1
    broken = await drive(session.send_raw(text.partition("\n\n")[0] + "\n\nhex: ff ff ff", like))
    assert broken.fault is not None
    unheard = await drive(session.send_raw(text.replace("/SendMessage", "/Unheard"), like))
    assert isinstance(unheard.exchange.answer, ProtocolError)


async def test_binary_metadata_is_written_as_base64(over_grpc: Session):
    like = over_grpc.send(text_draft("x"), stream=False)
    head, _, body = write_text(like.wire, like.exchange.context).partition("\n\n")
    assert (await drive(over_grpc.send_raw(f"{head}\nx-of-mine-bin: AP8\n\n{body}", like))).fault is None
    for value in ("caf", "not base64!", "A", "A==="):
        turn = await drive(over_grpc.send_raw(f"{head}\nx-of-mine-bin: {value}\n\n{body}", like))
        assert (turn.fault is None) is (value == "caf")
        assert turn.fault is None or "base64" in turn.fault.hint


async def test_a_body_in_chunks_has_no_length_besides(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    body = '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}'
    turn, shown, _ = await by_hand(session, f"POST /rpc\nTransfer-Encoding: chunked\n\n{body}")
    assert turn.fault is None
    assert "content-length" not in {name.lower() for name, _ in shown.headers}
    assert agent.calls[-1].body == body.encode()


async def test_a_request_over_the_other_sort_of_transport_ends_without_a_crash(
    over_grpc: Session, agent: Agent, open_session: OpenSession
):
    agent.answer(answering({"task": task("COMPLETED")}))
    like = over_grpc.send(text_draft("x"), stream=False)
    body = '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}'
    turn = await drive(over_grpc.send_raw(f"POST {agent.url}/rpc\n\n{body}", like))
    assert turn.exchange.head.status == 200
    session = await open_session(agent.url)
    text = write_text(like.wire, like.exchange.context)
    turn = await drive(session.send_raw(text, session.send(text_draft("x"), stream=False)))
    assert [record.kind for record in records(session, Kind.TRAILERS)] == [Kind.TRAILERS]


def test_cookies_and_metadata_with_several_values_are_sent_once():
    assert read_request("GET /\nCookie: a=1\ncookie: b=2", BEFORE, RPC).headers == {"Cookie": "a=1; b=2"}
    before = grpc_binding.encode(
        "agent.example:443", v1_0.DIALECT, Operation.SEND, compose(text_draft("a", message_id="m")).request, ""
    )
    call = read_request("GRPC http://a:1/x.Y/SendMessage\nX-A: 1\nx-a: 2\n\nhex:", before, GRPC)
    assert isinstance(call, GrpcRequest)
    assert call.metadata == {"x-a": "1, 2"}
