"""Errors in responses of agents, and in several exchanges about one task: each error breaks its rule and no other."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from scripted import (
    CARD_PATH,
    DONE,
    OLD_TASK,
    PATIENCE,
    WORKING,
    Agent,
    Handle,
    OpenSession,
    answering,
    artifact,
    drive,
    eventually,
    finding_of,
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
from inspector.protocol.lifecycle import State
from inspector.session.compose.draft import text_draft

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


ALSO = {
    "a result that cannot be read": {"DATA-001"},
    "a result in the shape of 0.3": {"DATA-004", "DATA-014"},
}
"""The other rules that an error breaks."""


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
