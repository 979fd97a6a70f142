"""The doctor with a message: streaming and push notifications."""

from __future__ import annotations

import asyncio
import copy
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from examining import (
    UPDATES,
    Answer,
    agent,
    examine,
    framed,
    knows_no_task,
    result,
    row,
    streaming,
    task,
    the,
)

from inspector.findings.rules import RULES
from inspector.session import stream_health
from inspector.session.doctor import message_check
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Step, Timeouts
from inspector.session.hints import CHECK_RESPONSE
from inspector.session.session import Session
from inspector.session.settings import Settings


def dated(seconds: int) -> list[Any]:
    """The updates of a task, the last with a timestamp this many seconds after the first."""
    first, middle, last = copy.deepcopy(UPDATES)
    first["task"]["status"]["timestamp"] = "2026-01-01T10:00:00Z"
    last["statusUpdate"]["status"]["timestamp"] = f"2026-01-01T10:00:{seconds:02}Z"
    return [first, middle, last]


@pytest.mark.parametrize(
    ("events", "passed"), [(dated(3), False), (dated(0), True), (UPDATES, None)], ids=["dated", "at once", "undated"]
)
async def test_only_timestamps_prove_that_a_late_batch_was_buffered(
    session: Session, monkeypatch: pytest.MonkeyPatch, events: list[Any], passed: bool | None
):
    monkeypatch.setattr(stream_health, "_SILENCE", 0.1)  # seconds, so that the test is fast
    async with agent(streaming(events, wait=0.2)) as url:
        report = await examine(session, url, "go")
    step = the(report, "streaming")
    assert step.passed is row(report, "streaming")[2] is passed
    assert step.message.startswith("3 events, the first after ")
    assert ("buffer" in step.remedy) is (passed is not True)


async def test_single_late_event_is_not_reported_as_buffered(session: Session):
    async with agent(streaming([{"task": task("COMPLETED")}], wait=0.2)) as url:
        report = await examine(session, url, "go")
    assert the(report, "streaming").passed


async def test_text_event_stream_is_not_recommended_for_a_call_without_streaming(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] != "SendMessage":
            return await knows_no_task(request, call)
        return web.Response(body=framed(call, {"task": task("COMPLETED")}), content_type="text/plain")

    async with agent(answer, capabilities={}) as url:
        step = the(await examine(session, url, "go"), "message")
    assert (step.passed, step.remedy) == (False, CHECK_RESPONSE)


@pytest.fixture
def any_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mention all gaps, also those of a short stream."""
    monkeypatch.setattr(message_check, "_LONG_GAP", 0.1)  # seconds


def keeping_open(sent: asyncio.Event) -> Answer:
    """Answer with a stream of one event and two keep-alives that the agent does not end."""

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] != "SendStreamingMessage":
            return await knows_no_task(request, call)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(framed(call, {"task": task("WORKING")}))
        for _ in range(2):
            await response.write(b": keep-alive\n\n")
            await asyncio.sleep(0.1)
        sent.set()
        await asyncio.Event().wait()
        return response

    return answer


@pytest.mark.usefixtures("any_gap")
async def test_a_gap_between_events_is_reported(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] != "SendStreamingMessage":
            return await knows_no_task(request, call)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in UPDATES:
            await response.write(framed(call, event))
            await asyncio.sleep(0.2 if event is UPDATES[1] else 0)
        return response

    async with agent(answer) as url:
        step = the(await examine(session, url, "go"), "streaming")
    assert step.passed
    assert re.match(r"3 events, the first after .*, all within .*, none between \d+ ms and \d+ ms; ", step.message)


@pytest.mark.usefixtures("any_gap")
async def test_a_stream_that_stays_open_has_no_result(session: Session):
    async with agent(keeping_open(asyncio.Event())) as url:
        report = await examine(session, url, "go", Timeouts(call=5.0, work=0.5, push=0.3))
    step = the(report, "streaming")
    assert step.passed is None
    pattern = (
        r"1 event, after \S+ ms; still open after \S+ \w+, without an event for \S+ ms, with 2 keep-alives; .* working"
    )
    assert re.fullmatch(pattern, step.message), step.message


async def cancelled(session: Session, url: str, sent: asyncio.Event) -> Step:
    """Return the step about the stream of an examination that is cancelled once something was `sent`."""
    doctor = Doctor(session, url, "go")
    examining = asyncio.create_task(anext(step async for step in doctor.examine() if step.name == "streaming"))
    await sent.wait()
    examining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await examining
    return the(doctor.report, "streaming")


async def test_a_cancelled_check_reports_what_has_arrived(session: Session):
    sent = asyncio.Event()
    async with agent(keeping_open(sent)) as url:
        step = await cancelled(session, url, sent)
    assert step.passed is None
    assert step.message.startswith("1 event, after ")
    assert step.message.endswith(", with 2 keep-alives; the task is working")


async def test_a_check_that_is_cancelled_before_the_response_has_no_result(session: Session):
    sent = asyncio.Event()

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] != "SendStreamingMessage":
            return await knows_no_task(request, call)
        sent.set()
        await asyncio.Event().wait()
        raise AssertionError("never continues")

    async with agent(answer) as url:
        step = await cancelled(session, url, sent)
    assert step.passed is None
    assert re.fullmatch(r"stopped after \S+ m?s, before the response", step.message), step.message


async def test_an_error_of_the_stream_explains_a_difference_to_the_task(session: Session):
    other = {"statusUpdate": {"taskId": "other", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}}
    stream = streaming([{"task": task("WORKING")}, other])

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        known = call["method"] == "GetTask" and call["params"]["id"] == "t"
        return result(call, task("COMPLETED")) if known else await stream(request, call)

    async with agent(answer) as url:
        report = await examine(session, url, "go")
    assert the(report, "streaming").remedy.startswith(RULES["STREAM-006"].remedy)
    assert the(report, "task").remedy.startswith("Correct the problem of the stream first")
    assert row(report, "streaming") == ("yes", "not as declared: see the step streaming", False)


async def test_missing_declared_stream_is_reported(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] == "GetTask":
            return await knows_no_task(request, call)
        return result(call, {"task": task("COMPLETED")})

    async with agent(answer) as url:
        report = await examine(session, url, "go")
    step = the(report, "streaming")
    assert (step.passed, step.message) == (False, "the response is not a stream")
    assert "text/event-stream" in step.remedy
    assert row(report, "streaming")[2] is False


async def test_card_without_streaming_is_checked_without_streaming(session: Session):
    methods = []

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        methods.append(call["method"])
        known = call["method"] == "SendMessage"
        return result(call, {"task": task("COMPLETED")}) if known else await knows_no_task(request, call)

    async with agent(answer, capabilities={}) as url:
        report = await examine(session, url, "go")
    assert methods == ["GetTask", "SendMessage"]
    assert the(report, "message").passed
    assert row(report, "streaming") == ("not declared", "not checked", None)


async def test_rejected_message_is_reported_without_waiting_for_push(session: Session):
    async with agent(knows_no_task, capabilities={"streaming": True, "pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "streaming")
    assert step.passed is False
    assert step.remedy
    assert the(report, "push").passed is None


async def test_missing_push_is_reported(session: Session):
    can = {"streaming": True, "pushNotifications": True}
    async with agent(streaming(UPDATES), capabilities=can) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is False
    assert re.fullmatch(r"0 accepted, 0 rejected at http://127\.0\.0\.1:\d+ within 0\.3 s", step.message)
    assert step.remedy.startswith("Check the log of the agent")
    assert "--public-url" in step.remedy
    assert row(report, "push notifications")[::2] == ("yes", False)


async def test_a_missing_push_is_no_failure_while_the_task_is_running(session: Session):
    async with agent(streaming(UPDATES[:2]), capabilities={"streaming": True, "pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    assert the(report, "push").passed is None
    assert the(report, "push").message.endswith("; the task has not ended")


async def test_push_is_not_expected_without_a_task(session: Session):
    message = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}}
    async with agent(streaming([message]), capabilities={"streaming": True, "pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    assert the(report, "push").passed is None
    assert report.passed


async def test_push_without_its_token_is_reported_as_rejected(session: Session):
    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] == "GetTask":
            return await knows_no_task(request, call)
        config = call["params"]["configuration"]["taskPushNotificationConfig"]
        async with ClientSession() as client, client.post(config["url"], json=UPDATES[-1]) as response:
            assert response.status == 401
        return result(call, {"task": task("COMPLETED")})

    async with agent(answer, capabilities={"pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is False
    assert re.fullmatch(r"0 accepted, 1 rejected at \S+: .*token.*", step.message), step.message
    assert "what the registration requires" in step.remedy


def pushing(*bodies: Any, path: str = "", ends: bool = True) -> Any:
    """Return a handler that pushes these bodies before it responds; `ends` is whether the response ends the task."""

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] == "GetTask":
            return result(call, task("COMPLETED"))
        config = call["params"]["configuration"]["taskPushNotificationConfig"]
        token = config["token"]
        headers = {"X-A2A-Notification-Token": token, "Authorization": f"Bearer {token}"}
        async with ClientSession(headers=headers) as client:
            for body in bodies:
                await client.post(config["url"] + path, json=body)
        return result(call, {"task": task("COMPLETED" if ends else "WORKING")})

    return answer


async def test_an_invalid_push_fails_although_it_is_accepted(session: Session):
    async with agent(pushing({"event": "status", "state": "done"}), capabilities={"pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is False
    assert "1 accepted" in step.message
    assert "PUSH-003" in step.message


@pytest.mark.parametrize("own", [[], [UPDATES[-1]]], ids=["only those", "and its own"])
async def test_pushes_about_another_task_are_no_success(session: Session, own: list[Any]):
    other = {"statusUpdate": UPDATES[-1]["statusUpdate"] | {"taskId": "other"}}
    async with agent(pushing(other, other, *own), capabilities={"pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is False
    assert re.fullmatch(rf"{len(own)} accepted, 0 rejected at \S+, 2 about another task", step.message), step.message
    assert "only to the webhooks of its task" in step.remedy


@pytest.mark.parametrize("members", [{"kind": "task", "id": "t"}, {"kind": "status-update", "taskId": "t"}])
async def test_pushes_in_the_shape_of_another_version_are_no_success(session: Session, members: Any):
    body = {**members, "contextId": "c", "status": {"state": "completed"}}
    async with agent(pushing(body), capabilities={"pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is False
    assert "PUSH-006" in step.message
    assert "DATA-" not in step.message


async def test_pushes_without_the_end_of_the_task_are_no_success(session: Session):
    async with agent(pushing(UPDATES[1]), capabilities={"pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is None
    assert step.message.endswith("; the end of the task was not pushed within 0.3 s")
    assert "late" in step.remedy


async def test_a_push_to_another_path_is_named(session: Session):
    async with agent(pushing(UPDATES[-1], path="/extra"), capabilities={"pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is False
    assert step.message.endswith("; 1 of this task came to another path")


async def test_the_agent_is_asked_whether_a_task_without_pushes_has_ended(session: Session):
    async with agent(pushing(ends=False), capabilities={"pushNotifications": True}) as url:
        report = await examine(session, url, "go")
    step = the(report, "push")
    assert step.passed is False
    assert step.message.startswith("0 accepted, 0 rejected")


async def test_a_receiver_that_cannot_listen_is_no_fault_of_the_agent(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        session = Session(tmp_path / "doctor.a2a", settings=Settings(receiver_port=other.getsockname()[1]))
        async with agent(streaming(UPDATES), capabilities={"streaming": True, "pushNotifications": True}) as url:
            report = await examine(session, url, "go")
        await session.close()
    step = the(report, "push")
    assert (step.passed, report.passed) == (None, True)
    assert "is in use" in step.message
    assert "choose another port" in step.remedy


async def test_a_streamed_message_about_a_task_is_not_compared_with_the_state_of_the_task(session: Session):
    said = {
        "messageId": "m",
        "role": "ROLE_AGENT",
        "taskId": "t",
        "contextId": "c",
        "parts": [{"text": "It has ended."}],
    }
    stream = streaming([{"message": said}])

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] == "GetTask" and call["params"]["id"] == "t":
            return result(call, task("COMPLETED"))
        return await stream(request, call)

    async with agent(answer) as url:
        report = await examine(session, url, "go")
    assert the(report, "task").passed is None
    assert report.passed
