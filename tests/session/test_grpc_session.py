"""A session with an agent over gRPC: calls, errors, secrets and records."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from inspector.capture.records import Kind, Record
from inspector.protocol.bindings import protobuf
from inspector.protocol.errors import FaultCode, FaultError, ProtocolError, Whose
from inspector.protocol.model import PushConfig, Task
from inspector.protocol.operations import Operation
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.settings import Settings

TASK = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
HELLO = text_draft("hello")
WORD = {"Authorization": "Bearer a-secret-word"}


def written(kind: str, value: Any) -> bytes:
    return protobuf.write("v1_0", kind, value)


async def send(raw: bytes, context: Any) -> bytes:
    return written("SendMessageResponse", {"task": TASK})


async def stream(raw: bytes, context: Any) -> AsyncIterator[bytes]:
    working = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}
    yield written("StreamResponse", {"task": working})
    yield b"\xff\xff"
    yield written("StreamResponse", {"statusUpdate": {"taskId": "t", "contextId": "c", "status": TASK["status"]}})


async def get(raw: bytes, context: Any) -> bytes:
    if dict(context.invocation_metadata()).get("authorization"):
        said = dict(context.invocation_metadata())["authorization"]
        return written("Task", {"id": "t", "metadata": {"said": said}})
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you")
    return b""


async def cancel(raw: bytes, context: Any) -> bytes:
    status = protobuf.message_class("status", "Status")(code=9, message="too late")
    reason = protobuf.write("status", "ErrorInfo", {"reason": "TASK_NOT_CANCELABLE", "domain": "a2a-protocol.org"})
    status.details.add(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=reason)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "too late")
    return b""


async def same(raw: bytes, context: Any) -> bytes:
    return raw


@pytest.fixture
async def target() -> AsyncIterator[str]:
    """The `host:port` of an agent over gRPC."""
    unary = {"SendMessage": send, "GetTask": get, "CancelTask": cancel, "CreateTaskPushNotificationConfig": same}
    methods = {name: grpc.unary_unary_rpc_method_handler(handle) for name, handle in unary.items()}
    methods["SendStreamingMessage"] = grpc.unary_stream_rpc_method_handler(stream)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("lf.a2a.v1.A2AService", methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


@pytest.fixture
async def connected(target: str, tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Session]]]:
    """Create a session with some settings, and connect it with a card from a file."""
    made: list[Session] = []
    card = {
        "name": "a",
        "description": "d",
        "version": "1",
        "supportedInterfaces": [{"url": target, "protocolBinding": "GRPC", "protocolVersion": "1.0"}],
    }
    (tmp_path / "card.json").write_text(json.dumps(card))

    async def connect(**settings: Any) -> Session:
        session = Session(tmp_path / f"{len(made)}.a2acap", Settings(**settings))
        made.append(session)
        await session.connect(str(tmp_path / "card.json"))
        return session

    yield connect
    for session in made:
        await session.close()


def records(session: Session, call: Call) -> list[Record]:
    return list(session.journal.capture.select(exchange=call.exchange.number))


def kinds(session: Session, call: Call) -> list[str]:
    return [record.kind.value for record in records(session, call)]


async def test_a_send_is_recorded_with_its_messages_and_shown_as_json(connected: Any, target: str):
    session = await connected()
    call = session.send(HELLO, stream=False)
    assert await call.finish() is None
    assert call.exchange.answer == Task.model_validate(TASK)
    request, head, body, trailers, end = records(session, call)
    assert request.meta["url"] == f"grpc://{target}/lf.a2a.v1.A2AService/SendMessage"
    assert ("a2a-version", "1.0") in [tuple(pair) for pair in request.meta["headers"]]
    assert json.loads(session.payload(request))["message"]["parts"] == [{"text": "hello"}]
    assert body.raw == written("SendMessageResponse", {"task": TASK})
    assert json.loads(session.payload(body)) == {"task": TASK}
    assert (trailers.kind, trailers.label, session.payload(trailers)) == (Kind.TRAILERS, "OK", b"")
    assert (head.label, end.label) == ("200 OK", "complete")
    assert not any(record.findings for record in (request, head, body, trailers, end))


async def test_a_stream_is_folded_and_an_unreadable_message_is_recorded_with_a_finding(connected: Any):
    session = await connected()
    call = session.send(HELLO, stream=True)
    assert await call.finish() is None
    assert kinds(session, call) == ["request", "response", "frame", "frame", "frame", "trailers", "end"]
    bad = records(session, call)[3]
    assert (bad.event, bad.raw, session.payload(bad)) == ("unreadable", b"\xff\xff", b"\xff\xff")
    assert [finding.rule for finding in bad.findings] == ["STREAM-007"]
    tracked = session.tasks.get("t")
    assert tracked is not None
    assert tracked.answered.state == "TASK_STATE_COMPLETED"


async def test_an_error_is_the_response_and_is_shown_with_its_details(connected: Any):
    session = await connected()
    call = session.cancel("t")
    fault = await call.finish()
    assert fault is not None
    assert (fault.whose, fault.code) == (Whose.AGENT, "TaskNotCancelableError")
    assert isinstance(call.exchange.answer, ProtocolError)
    trailers = records(session, call)[2]
    assert (trailers.kind, trailers.event, trailers.task) == (Kind.TRAILERS, "error", "t")
    assert trailers.label == "TaskNotCancelableError: too late", "the code -32002 is only sent over JSON-RPC"
    shown = json.loads(session.payload(trailers))
    assert (shown["code"], shown["status"], shown["message"]) == (9, "FAILED_PRECONDITION", "too late")
    assert shown["details"][0]["reason"] == "TASK_NOT_CANCELABLE"
    summary = session.journal.exchanges.get(call.exchange.number)
    assert summary is not None
    assert summary.status == 9


async def test_leaving_a_stream_early_ends_it(connected: Any):
    session = await connected()
    call = session.send(HELLO, stream=True)
    driving = call.__aiter__()
    async for _ in driving:
        break
    await driving.aclose()
    assert kinds(session, call)[-1] == "end"
    assert records(session, call)[-1].meta["how"] == "stopped"


async def test_credentials_are_not_sent_to_another_port_unless_it_is_trusted(connected: Any, target: str):
    careful = await connected(headers=WORD)
    fault = await careful.get("t").finish()
    assert fault is not None
    assert (fault.whose, fault.code) == (Whose.YOURS, FaultCode.CREDENTIALS_MISSING)
    assert fault.seen == "The agent requires credentials (UNAUTHENTICATED: who are you)."
    assert any(target in record.label for record in careful.journal.capture.select(kinds={Kind.NOTE}))
    trusting = await connected(headers=WORD, trusted=(target,))
    call = trusting.get("t")
    assert await call.finish() is None
    assert isinstance(call.exchange.answer, Task)
    assert call.exchange.answer.metadata == {"said": "Bearer a-secret-word"}
    assert b"a-secret-word" not in b"".join(record.raw for record in trusting.journal.capture.select())


async def test_the_secrets_of_a_push_configuration_are_masked_in_the_messages(connected: Any):
    session = await connected()
    config = PushConfig(task_id="t", url="http://127.0.0.1:9/", token="push-word")
    call = session.call(Operation.SET_PUSH, config, task_id="t")
    assert await call.finish() is None
    assert call.exchange.answer == config
    for record in records(session, call):
        assert b"push-word" not in record.raw
        if record.raw:
            assert json.loads(session.payload(record)) == {"taskId": "t", "url": "http://127.0.0.1:9/", "token": "****"}


async def test_a_request_that_grpc_cannot_express_is_refused_before_sending(connected: Any):
    session = await connected()
    before = len(session.journal.capture)
    with pytest.raises(FaultError, match="cannot be encoded as SendMessageRequest"):
        session.send(text_draft("hello", history_length=2**40), stream=False)
    assert len(session.journal.capture) == before


async def test_a_header_that_grpc_cannot_send_is_an_error_of_the_user(connected: Any):
    session = await connected(headers={"User-Agent": "café"})
    fault = await session.get("t").finish()
    assert fault is not None
    assert (fault.whose, fault.code) == (Whose.YOURS, FaultCode.USAGE)
