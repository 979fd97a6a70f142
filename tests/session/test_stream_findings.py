"""Errors in streams of agents, with real servers: each error breaks its rule and no other."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from scripted import (
    DONE,
    OLD_TASK,
    WORKING,
    Agent,
    OpenSession,
    artifact,
    checked,
    finding_of,
    frame,
    giving,
    message,
    records,
    rules,
    say,
    status,
    streaming,
    task,
)

from inspector.capture.records import Kind, Record
from inspector.findings.stream import ending
from inspector.protocol.errors import Whose
from inspector.protocol.lifecycle import State

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
    assert checked(call.fault).seen == "The stream ended without an event."


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
    reason = "after 1 event, last state working: Stopped reading: one event of the stream is larger than 10,000 bytes."
    assert finding_of(session, "STREAM-008") == ("", reason)


async def test_an_interrupted_stream_of_a_failed_task_has_its_state(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(WORKING, status("FAILED"), cut=True))
    session = await open_session(agent.url)
    await say(session)
    assert finding_of(session, "STREAM-008") == ("", "after 2 events, last state failed")


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
    [finding] = records(session)[-1].findings
    assert re.fullmatch(r"closed \d+ s after the end of the task", finding.seen)


async def test_a_stream_that_closes_while_we_do_not_run_is_not_late(agent: Agent, open_session: OpenSession):
    async def suspend() -> None:
        await asyncio.sleep(0.3)  # the client reads the last event
        time.sleep(2.5)  # stops client and agent, as SIGSTOP does

    agent.answer(streaming(WORKING, DONE, then=suspend))
    session = await open_session(agent.url)
    await say(session)
    assert records(session)[-1].at - records(session)[-2].at > 2
    assert rules(session) == set()


async def test_a_suspended_machine_does_not_keep_a_stream_open_while_its_last_event_is_handled(
    agent: Agent, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ending, "_MAX_SECONDS_OPEN", 0.6)
    agent.answer(streaming(WORKING, DONE))
    session = await open_session(agent.url)

    def suspend(appended: Sequence[Record]) -> None:
        if appended and appended[0].kind is Kind.FRAME and appended[0].state == State.COMPLETED:
            time.sleep(1)

    session.journal.subscribe(suspend)
    await say(session)
    assert "STREAM-022" not in rules(session)


async def test_a_stream_that_ends_inside_an_event_names_its_bytes(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(WORKING, b'data: {"jsonrpc": "2.0"}\n'))
    session = await open_session(agent.url)
    await say(session)
    [finding] = records(session)[-1].findings
    assert (finding.rule, finding.seen) == (
        "STREAM-008",
        "after 1 event, last state working, inside an event: 24 bytes without the empty line that ends an event",
    )


@pytest.mark.parametrize(
    ("body", "events"),
    [(b'data: {"jsonrpc": "2.0"}\n\n', "a stream of events"), (b'{"jsonrpc": "2.0"}\n{}\n', "lines of JSON")],
)
async def test_the_wrong_content_type_of_a_stream_is_named(
    agent: Agent, open_session: OpenSession, body: bytes, events: str
):
    agent.answer(giving(body))
    session = await open_session(agent.url)
    fault = checked((await say(session)).fault)
    assert fault.seen.startswith("The response to a streaming call has the Content-Type ")
    assert fault.seen.endswith(f", but its body is {events}.")
    assert fault.hint == "Send Content-Type: text/event-stream."
