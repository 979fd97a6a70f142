"""Errors of agents, with real servers: each error breaks its rule and no other."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from scripted import (
    CARD_PATH,
    PATIENCE,
    Agent,
    Handle,
    OpenSession,
    answering,
    artifact,
    checked,
    drive,
    eventually,
    frame,
    giving,
    message,
    old_card_of,
    records,
    rules,
    say,
    status,
    streaming,
    task,
)

from inspector.capture.records import Kind
from inspector.findings.rules import RULES
from inspector.protocol.errors import Whose
from inspector.protocol.lifecycle import State
from inspector.session.compose.draft import text_draft

WORKING = {"task": task("WORKING")}
DONE = status("COMPLETED")
OLD_TASK = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}}


def finding_of(session: Any, rule: str) -> tuple[str, str]:
    """Return the pointer and the text of the first finding of a rule."""
    record = session.journal.capture.get(session.journal.found[rule][0])
    [found] = [finding for finding in record.findings if finding.rule == rule][:1]
    assert found.severity is RULES[rule].severity
    return found.pointer, found.seen


# Streams


STREAMS: dict[str, tuple[str, list[Any], str, str]] = {
    "no final state": ("STREAM-001", [WORKING, artifact("x")], "", "working"),
    "back to submitted": (
        "STREAM-002",
        [WORKING, status("SUBMITTED"), DONE],
        "/result/statusUpdate/status/state",
        "submitted",
    ),
    "an update after the end": ("STREAM-003", [WORKING, DONE, artifact("x")], "/result/artifactUpdate", "a"),
    "the end twice": ("STREAM-003", [WORKING, DONE, DONE], "/result/statusUpdate", "completed"),
    "working after the end": (
        "STREAM-003",
        [WORKING, DONE, status("WORKING"), DONE],
        "/result/statusUpdate",
        "working",
    ),
    "a chunk of nothing": (
        "STREAM-004",
        [WORKING, artifact("x", append=True), DONE],
        "/result/artifactUpdate/append",
        "a",
    ),
    "a chunk after the last": (
        "STREAM-005",
        [WORKING, artifact("x", lastChunk=True), artifact("y", append=True), DONE],
        "/result/artifactUpdate/append",
        "a",
    ),
    "another task": (
        "STREAM-006",
        [WORKING, status("WORKING", id="u"), DONE],
        "/result/statusUpdate/taskId",
        "task is u, expected t",
    ),
    "another task whole": (
        "STREAM-006",
        [WORKING, {"task": task("WORKING", id="u")}, DONE],
        "/result/task/id",
        "task is u, expected t",
    ),
    "another context": (
        "STREAM-006",
        [WORKING, status("WORKING", context="d"), DONE],
        "/result/statusUpdate/contextId",
        "context is 'd', expected 'c'",
    ),
    "the shape of 0.3": ("DATA-006", [WORKING, OLD_TASK, DONE], "/result/kind", "the member kind"),
    "only the shape of 0.3": ("DATA-006", [OLD_TASK], "/result/kind", "the member kind"),
    "two members of a one-of": (
        "DATA-005",
        [WORKING, DONE | artifact("x"), DONE],
        "/result/artifactUpdate",
        "statusUpdate and artifactUpdate",
    ),
    "a member of the wrong type": (
        "DATA-002",
        [WORKING, {"task": {"id": 5}}, DONE],
        "/result/task/id",
        "expected a string",
    ),
    "no word of a context": (
        "DATA-001",
        [WORKING, {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}}],
        "/result/statusUpdate/contextId",
        "contextId",
    ),
    "an unspecified state": (
        "STREAM-009",
        [WORKING, status("UNSPECIFIED"), DONE],
        "/result/statusUpdate/status/state",
        "UNSPECIFIED",
    ),
    "an update first": ("STREAM-011", [status("WORKING"), DONE], "/result/statusUpdate", "a status update"),
    "no JSON": ("STREAM-007", [WORKING, b"data: {oops\n\n", DONE], "", "not JSON"),
    "a list": ("STREAM-007", [WORKING, b"data: []\n\n", DONE], "", "an array"),
    "nested too deep": ("STREAM-007", [WORKING, b"data: " + b"[" * 200_000 + b"\n\n", DONE], "", "nested deeper"),
    "not a number": ("STREAM-007", [WORKING, b'data: {"a": NaN}\n\n', DONE], "", "not JSON"),
    "5,000 digits": ("STREAM-007", [WORKING, b'data: {"a": ' + b"1" * 5000 + b"}\n\n", DONE], "", "digits"),
    "bytes that are not text": ("STREAM-007", [WORKING, b"data: \xff\xfe\n\n", DONE], "", "UTF-16"),
    "left unfinished": ("STREAM-008", [WORKING, DONE, b"data: {"], "", "after 2 events, last state completed"),
    "an unknown state": (
        "STREAM-009",
        [WORKING, status("pondering"), DONE],
        "/result/statusUpdate/status/state",
        "pondering",
    ),
    "a message beside a task": (
        "STREAM-010",
        [WORKING, message("hi"), DONE],
        "/result/message",
        "a message in a stream of 2 events",
    ),
    "a task beside a message": (
        "STREAM-010",
        [message("hi"), WORKING, DONE],
        "/result/task",
        "a message in a stream of 2 events",
    ),
    "two messages": (
        "STREAM-010",
        [message("one"), message("two")],
        "/result/message",
        "a message in a stream of 2 events",
    ),
}


ALSO = {
    "the end twice": {"STREAM-026"},
    "two messages": {"STREAM-027"},
    "the shape of 0.3": {"DATA-004", "DATA-014"},
    "only the shape of 0.3": {"DATA-004", "DATA-014"},
    "a member of the wrong type": {"DATA-001"},
    "a result that cannot be read": {"DATA-001"},
    "a result in the shape of 0.3": {"DATA-004", "DATA-014"},
    "nested too deep": {"CLIENT-005"},
}
"""The other rules that an error breaks."""


@pytest.mark.parametrize("case", STREAMS)
async def test_an_error_in_a_stream_breaks_its_rule(agent: Agent, open_session: OpenSession, case: str):
    rule, events, pointer, seen = STREAMS[case]
    agent.answer(streaming(*events))
    session = await open_session(agent.url)
    await say(session)
    assert rules(session) - ALSO.get(case, set()) == {rule}
    assert finding_of(session, rule)[0] == pointer
    assert seen in finding_of(session, rule)[1]


SOUND_STREAMS: dict[str, list[Any]] = {
    "a message": [message("hi")],
    "a task and its updates": [WORKING, artifact("x"), artifact("y", append=True, lastChunk=True), DONE],
    "a task that has ended": [{"task": task("COMPLETED")}],
    "the task again, as a whole": [WORKING, DONE, {"task": task("COMPLETED")}],
    "a question": [WORKING, status("INPUT_REQUIRED", "which one?")],
    "a login": [WORKING, status("AUTH_REQUIRED", "log in")],
    "the same state twice": [WORKING, status("WORKING", "still"), DONE],
    "an artifact that is replaced": [WORKING, artifact("x", lastChunk=True), artifact("y"), DONE],
    "only keep-alives between": [WORKING, b": ping\n\n", b"\n\n", DONE],
}


@pytest.mark.parametrize("case", SOUND_STREAMS)
async def test_a_valid_stream_has_no_finding(agent: Agent, open_session: OpenSession, case: str):
    agent.answer(streaming(*SOUND_STREAMS[case]))
    session = await open_session(agent.url)
    call = await say(session)
    assert (rules(session), call.fault) == (set(), None)


async def test_a_disconnected_stream_reports_its_events(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(WORKING, artifact("x"), cut=True))
    session = await open_session(agent.url)
    call = await say(session)
    assert rules(session) == {"STREAM-008"}
    assert finding_of(session, "STREAM-008") == ("", "after 2 events, last state working")
    fault = checked(call.fault)
    assert "broke off after 2 events" in fault.seen
    end = records(session, Kind.END)[-1]
    assert (end.meta["how"], end.meta["seen"], end.state) == ("broken", fault.seen, State.WORKING)


async def test_an_error_in_a_stream_is_its_end(agent: Agent, open_session: OpenSession):
    async def fail(request: web.BaseRequest, heard: Any) -> web.StreamResponse:
        identity = heard.json["id"]
        error = {"code": -32603, "message": "out of paper"}
        last = b"event: error\n" + frame(..., identity, error=error)
        return await streaming(frame(WORKING, identity), last)(request, heard)

    agent.answer(fail)
    session = await open_session(agent.url)
    call = await say(session)
    assert rules(session) == set()
    fault = checked(call.fault)
    assert (fault.whose, fault.code, fault.error.code) == (Whose.AGENT, "InternalError", -32603)
    assert "out of paper" in fault.seen
    assert [record.event for record in records(session, Kind.FRAME)] == ["task", "error"]


async def test_an_empty_stream_is_a_fault(agent: Agent, open_session: OpenSession):
    agent.answer(streaming())
    session = await open_session(agent.url)
    call = await say(session)
    assert rules(session) == {"STREAM-001"}
    assert checked(call.fault).seen == "The response has neither a result nor an error."


async def test_every_frame_with_another_id_is_a_finding(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(frame(WORKING, "other"), frame(DONE, "other")))
    session = await open_session(agent.url)
    await say(session)
    assert rules(session) == {"RPC-001"}
    assert len(session.journal.found["RPC-001"]) == 2


async def test_an_event_beyond_the_limit_ends_the_stream(agent: Agent, open_session: OpenSession):
    from inspector.wire.client.http import Limits

    agent.answer(streaming(WORKING, b"data: " + b"x" * 500_000 + b"\n\n"))
    session = await open_session(agent.url, limits=Limits(block=10_000))
    call = await say(session)
    assert rules(session) == {"STREAM-008"}
    assert "10,000 bytes" in checked(call.fault).seen


async def test_ignored_lines_of_sse_are_findings_at_their_frame(agent: Agent, open_session: OpenSession):
    lost = b'Data: {"jsonrpc": "2.0"}\n\n', b'event: {"a": 1}\n\n', b'{"jsonrpc": "2.0"}\n\n', b"x-note: hello\n\n"
    agent.answer(streaming(WORKING, *lost, b'datas: {"a": 1}\ndata: {', DONE))
    session = await open_session(agent.url)
    await say(session)
    assert [
        record.raw[:5] for record in records(session) if "STREAM-029" in {finding.rule for finding in record.findings}
    ] == [
        b"Data:",
        b"event",
        b'{"jso',
        b"datas",
    ]


async def test_a_stream_that_is_closed_late_is_a_finding(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(WORKING, DONE, then=lambda: asyncio.sleep(2.2)))
    session = await open_session(agent.url)
    await say(session)
    assert rules(session) == {"STREAM-022"}
    assert [finding.seen for finding in records(session)[-1].findings] == ["closed 2 s after the end of the task"]


# Answers


ANSWERS: dict[str, tuple[str, Handle, str, str]] = {
    "a page": ("RPC-002", giving(b"<!doctype html>", content_type="text/html"), "", "a web page or XML"),
    "an empty answer": ("RPC-002", giving(b""), "", "empty"),
    "no content": ("RPC-002", giving(b"", status=204), "", "empty"),
    "neither result nor error": ("RPC-002", giving({"jsonrpc": "2.0", "id": 1}), "", "neither result nor error"),
    "a batch": ("RPC-002", giving([{"jsonrpc": "2.0"}]), "", "an array"),
    "no envelope": ("RPC-002", giving({"task": task("COMPLETED")}), "", "neither result nor error"),
    "an error that is a string": (
        "RPC-002",
        giving({"jsonrpc": "2.0", "id": None, "error": "oops"}),
        "/error",
        "an object",
    ),
    "result and error": (
        "RPC-002",
        answering({"task": task("COMPLETED")}, error={"code": -32000, "message": "both"}),
        "/error",
        "the response has both result and error",
    ),
    "a code that is a string": ("RPC-002", answering(error={"code": "bad", "message": "x"}), "/error/code", "'bad'"),
    "no version of JSON-RPC": ("RPC-002", answering(message("hi"), jsonrpc=...), "/jsonrpc", "missing"),
    "another version of JSON-RPC": ("RPC-002", answering(message("hi"), jsonrpc="1.0"), "/jsonrpc", "'1.0'"),
    "another id": ("RPC-001", answering(message("hi"), id="other"), "/id", "id is 'other', expected"),
    "a number for an id": ("RPC-001", answering(message("hi"), id=7), "/id", "id is 7, expected"),
    "a huge id": ("RPC-001", answering(message("hi"), id="x" * 100_000), "/id", "'xxx"),
    "no id": ("RPC-001", answering(message("hi"), id=...), "/id", "id is missing, expected"),
    "a result that cannot be read": (
        "DATA-002",
        answering({"task": {"id": 5}}),
        "/result/task/id",
        "expected a string",
    ),
    "a result in the shape of 0.3": ("DATA-006", answering(OLD_TASK), "/result/kind", "the member kind"),
    "the wrong media type": ("RPC-005", lambda r, h: _typed(r, h, "text/plain"), "", "text/plain"),
    "an unknown state": (
        "STREAM-009",
        answering({"task": task("PONDERING")}),
        "/result/task/status/state",
        "PONDERING",
    ),
}


async def _typed(request: web.BaseRequest, heard: Any, content_type: str) -> web.StreamResponse:
    envelope = {"jsonrpc": "2.0", "id": heard.json["id"], "result": message("hi")}
    return await giving(json.dumps(envelope).encode(), content_type=content_type)(request, heard)


@pytest.mark.parametrize("case", ANSWERS)
async def test_an_error_in_a_response_breaks_its_rule(agent: Agent, open_session: OpenSession, case: str):
    rule, handle, pointer, seen = ANSWERS[case]
    agent.answer(handle)
    session = await open_session(agent.url)
    await say(session, stream=False)
    assert rules(session) - ALSO.get(case, set()) == {rule}
    found = finding_of(session, rule)
    assert found[0] == pointer
    assert seen in found[1]
    assert len(found[1]) <= 200


@pytest.mark.parametrize(
    ("status", "body", "label"),
    [
        (503, b"Down for maintenance\n", "Down for maintenance"),
        (502, b"<html><title>502 Bad &amp; Gateway</title>", "a web page, '502 Bad & Gateway'"),
        (500, b"<html>", "a web page or XML"),
        (404, b'{"detail":"Not Found"}', '{"detail":"Not Found"}'),
        (429, b"", "no body"),
        (401, b"who are you", "who are you"),
    ],
)
async def test_the_body_of_an_http_error_is_shown_and_need_not_be_json(
    agent: Agent, open_session: OpenSession, status: int, body: bytes, label: str
):
    agent.answer(giving(body, status=status, content_type="text/plain", headers={"WWW-Authenticate": "Bearer"}))
    session = await open_session(agent.url)
    await say(session, stream=False)
    [record] = [record for record in records(session) if record.kind is Kind.BODY and record.operation == "SendMessage"]
    assert (record.event, record.label) == ("http-error", label)
    assert not {rule for rule in rules(session) if rule.startswith(("RPC", "HTTP"))}


async def test_an_invalid_json_rpc_error_with_an_error_status_is_a_finding(agent: Agent, open_session: OpenSession):
    agent.answer(giving({"jsonrpc": "2.0", "id": None, "error": "oops"}, status=500))
    session = await open_session(agent.url)
    await say(session, stream=False)
    assert finding_of(session, "RPC-002")[0] == "/error"


@pytest.mark.parametrize(
    "handle",
    [
        answering(message("hi")),
        answering(..., error={"code": -32600, "message": "no"}, id=None),
        answering(..., error={"code": -32600, "message": "no"}, id=...),
    ],
    ids=["plain", "error without an id", "error with no id at all"],
)
async def test_a_valid_response_has_no_finding(agent: Agent, open_session: OpenSession, handle: Handle):
    agent.answer(handle)
    session = await open_session(agent.url)
    await say(session, stream=False)
    assert rules(session) == set()


@pytest.mark.parametrize(
    "handle",
    [
        answering({"task": task("COMPLETED")}, error=None),
        answering(..., error={"code": -32000, "message": "own code"}, result=None),
    ],
    ids=["error", "result"],
)
async def test_a_member_that_is_null_beside_the_other_is_a_hint(
    agent: Agent, open_session: OpenSession, handle: Handle
):
    agent.answer(handle)
    session = await open_session(agent.url)
    await say(session, stream=False)
    assert rules(session) == {"RPC-006"}


async def test_json_instead_of_a_stream_is_read_and_is_a_finding(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    call = await say(session)
    assert rules(session) == {"RPC-004"}
    assert (call.fault, call.exchange.task_id) == (None, "t")


async def test_a_response_about_another_task_is_a_finding(agent: Agent, open_session: OpenSession):
    agent.answer(answering(task("COMPLETED", id="u")))
    session = await open_session(agent.url)
    await drive(session.get("t"))
    assert rules(session) == {"STREAM-006"}
    assert finding_of(session, "STREAM-006") == ("/result/id", "task is u, expected t")


async def test_a_wrapped_task_in_place_of_a_bare_task_is_a_finding(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    await drive(session.get("t"))
    assert rules(session) == {"DATA-001", "DATA-014"}
    assert finding_of(session, "DATA-014")[0] == "/result/task"


# Several exchanges about one task


async def test_a_stream_may_report_an_end_that_another_response_reported(agent: Agent, open_session: OpenSession):
    canceled = asyncio.Event()

    async def rpc(request: web.BaseRequest, heard: Any) -> web.StreamResponse:
        if heard.json["method"] == "CancelTask":
            return await answering(task("CANCELED"))(request, heard)
        last = frame(status("CANCELED"), heard.json["id"])

        async def wait() -> None:
            await canceled.wait()
            await response.write(last)

        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(frame(WORKING, heard.json["id"]))
        await wait()
        return response

    agent.answer(rpc)
    session = await open_session(agent.url)
    running = asyncio.create_task(session.send(text_draft("long"), stream=True).finish())
    await eventually(lambda: "t" in session.tasks)
    await drive(session.cancel("t"))
    assert session.tasks.get("t").now.state == State.CANCELED
    canceled.set()
    async with asyncio.timeout(PATIENCE):
        assert await running is None
    assert rules(session) == set()
    assert [move.state for move in session.tasks.get("t").now.moves] == [State.WORKING, State.CANCELED]


async def test_a_task_that_ended_before_the_call_must_not_continue(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    await say(session)
    agent.routes["/rpc"] = streaming(status("WORKING"), DONE)
    await say(session, task_id="t")
    assert rules(session) == {"STREAM-003", "STREAM-013", "RESULT-013"}


def refusing(code: int) -> Handle:
    """Return a handler that answers a call with an error."""
    return answering(..., error={"code": code, "message": "No.", "data": []})


async def test_an_answer_is_compared_with_the_task_and_the_card(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("CANCELED")}))
    agent.serve_card(capabilities={"pushNotifications": False})
    session = await open_session(agent.url)
    await say(session, stream=False)
    assert rules(session) == set()
    agent.routes["/rpc"] = answering(task("CANCELED"))
    await drive(session.cancel("t"))
    assert rules(session) == {"RESULT-013"}
    agent.routes["/rpc"] = refusing(-32602)
    await say(session, stream=False, task_id="t")
    assert rules(session) == {"RESULT-013", "RESULT-011"}
    agent.routes["/rpc"] = refusing(-32601)
    await drive(session.list_push("t"))
    agent.routes["/rpc"] = refusing(-32009)
    await drive(session.get("t"))
    assert rules(session) - {"ERROR-003"} == {"RESULT-013", "RESULT-011", "RESULT-010", "RESULT-009"}
    assert finding_of(session, "RESULT-009")[0] == "/error/code"


async def test_a_second_call_may_append_to_the_artifact_of_the_first(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(WORKING, artifact("one "), status("INPUT_REQUIRED")))
    session = await open_session(agent.url)
    await say(session)
    agent.routes["/rpc"] = streaming(WORKING, artifact("two", append=True, lastChunk=True), DONE)
    await say(session, task_id="t")
    assert rules(session) == set()
    assert str(session.tasks.get("t").now.artifacts["a"].text) == "one two"


async def test_a_stream_with_an_event_of_another_task_does_not_own_that_task(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(WORKING, status("WORKING", id="u"), DONE))
    session = await open_session(agent.url)
    await say(session)
    agent.routes["/rpc"] = streaming(artifact("from its own stream", id="u"), status("COMPLETED", id="u"))
    await say(session, task_id="u")
    assert str(session.tasks.get("u").now.artifacts["a"].text) == "from its own stream"


async def test_the_1_0_format_on_a_0_3_interface_is_a_finding(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("COMPLETED")}))
    agent.routes[CARD_PATH] = giving(old_card_of(f"{agent.url}/rpc"))
    session = await open_session(agent.url)
    await say(session)
    assert rules(session) == {"DATA-001", "DATA-006"}
    assert finding_of(session, "DATA-006") == ("/result", "found the shape of 1.0, expected 0.3")
