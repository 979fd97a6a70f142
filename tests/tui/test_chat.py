"""The Chat view: sending a message, its events, replying, canceling, and deliveries."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest
from driving import Driver, Open, artifact_text
from players import REPORT, begin, deliver, eventually, playing, reporting, webhook_of
from puppets import Call, chunk, status, task

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.session.compose.draft import text_draft
from inspector.tui.widgets.composer import Destination
from inspector.tui.widgets.detail_pane import DetailPane

# Sending


async def test_a_streamed_message_shows_every_event_and_the_whole_artifact(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 20")
        assert driver.sent()[0]["method"] == "SendStreamingMessage"
        assert driver.composer.text == ""
        rows = [line.split("│")[1] for line in driver.lines if "  ←  " in line]
        assert [row.split("←")[1].split()[0] for row in rows] == ["task", "status", "artifact", "status"]
        assert "report.md" in rows[2]
        assert "20 chunks, wire 9." in rows[2]
        assert "● completed" in rows[3]
        assert "● completed" in driver.line("Timeline")
        assert "Markdown ▾" in driver.line("Artifact")
        assert "content 2.3 kB ─ 20 chunks" in driver.screen  # and not the size of the events, as in the timeline
        assert artifact_text(driver) == REPORT
        assert "How a task travels" in driver.screen
        assert "# How a task travels" not in driver.screen
        folded = driver.timeline.line_count
        await driver.press("escape", "f")
        assert driver.timeline.line_count == folded + 19
        await driver.press("f")
        assert driver.timeline.line_count == folded
        await driver.press("tab", "home", "z")
        assert "How a task travels" in driver.screen
        assert "Timeline" not in driver.screen
        assert "Artifact" in driver.screen  # the pane with its title
        assert "z restore" in driver.screen
        await driver.press("z")
        assert "Timeline" in driver.screen


async def test_folding_keeps_the_selected_record_and_applies_to_filters_and_new_rows(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 20")
        detail = driver.widget("#chat-detail", DetailPane)
        await driver.press("escape", "home", *["down"] * 3)
        await driver.until(lambda: detail.record is not None and detail.record.event == "status")
        before = detail.record
        for _ in range(2):
            await driver.press("f")
            assert detail.record == before
        await driver.press("f", "slash")
        await driver.type("kind:artifact")
        await driver.until(lambda: driver.timeline.line_count == 20)
        await driver.press("enter", "f")
        await driver.until(lambda: driver.timeline.line_count == 1)
        await driver.press("f")
        await driver.until(lambda: driver.timeline.line_count == 20)
        await driver.press("escape", "end")
        await driver.until(lambda: driver.timeline.following)
        count = driver.timeline.line_count
        await driver.ask("report 20")
        assert driver.timeline.line_count > count + 20


async def test_a_message_is_sent_unchanged_with_the_selected_mode(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.write()
        await driver.press("space", "enter")
        assert "the message is empty" in driver.screen
        assert driver.sent() == []
        await driver.press("backspace")
        await driver.type("echo a")
        await driver.press("shift+left", "ctrl+j")
        assert driver.composer.text == "echo \n", "it replaces the selection, as a letter does"
        await driver.press("backspace")
        await driver.type("a")
        await driver.press("ctrl+j")
        await driver.type("b [/]")
        await driver.press("ctrl+s")
        await driver.done(1)
        assert driver.sent()[0]["params"]["message"]["parts"] == [{"text": "echo a\nb [/]"}]
        assert "a␊b [/]" in driver.line("message  "), "an answer without a task is shown too"
        await driver.press("ctrl+t")
        assert "streaming off" in driver.screen
        await driver.ask("report 3")
        assert driver.sent()[1]["method"] == "SendMessage"
        assert [record.event for record in driver.records(Kind.BODY)] == ["card", "task"]
        assert artifact_text(driver) == REPORT
        await driver.press("ctrl+t")
        assert "streaming on" in driver.screen


@pytest.mark.parametrize("capabilities", [{}, {"streaming": False}], ids=["not declared", "declared as false"])
async def test_messages_are_sent_without_streaming_unless_the_card_declares_it(
    open_app: Open, capabilities: dict[str, Any]
):
    async def answer(call: Call) -> Any:
        return call.result({"task": task("COMPLETED")})

    async with playing(answer, card={"capabilities": capabilities}) as agent, open_app(agent.url) as driver:
        await driver.connected()
        await driver.ask("go")
        assert [call["method"] for call in driver.sent()] == ["SendMessage"]


async def test_an_artifact_grows_while_it_is_streamed(open_app: Open):
    steps = [asyncio.Event() for _ in range(4)]

    async def answer(call: Call):
        response = await begin(call)
        await response.write(call.frame({"task": task("WORKING")}))
        for number, step in enumerate(steps):
            await step.wait()
            more = chunk(f"chunk {number}.\n", append=number > 0, lastChunk=number == len(steps) - 1)
            await response.write(call.frame(more))
        await response.write(call.frame(status("COMPLETED")))
        await response.write_eof()
        return response

    async with playing(answer) as agent, open_app(agent.url) as driver:
        await driver.connected()
        await driver.say("grow")
        for number, step in enumerate(steps):
            step.set()
            await driver.until(f"chunk {number}.")
            assert artifact_text(driver) == "".join(f"chunk {index}.\n" for index in range(number + 1))
        await driver.until("● completed")


async def test_three_concurrent_streams_are_separated(open_app: Open):
    going = asyncio.Event()

    async def answer(call: Call):
        name = call.rpc["params"]["message"]["parts"][0]["text"]
        ids = {"taskId": name, "contextId": "context-1"}
        response = await begin(call)
        await response.write(call.frame({"task": task("WORKING", id=name)}))
        await going.wait()
        await response.write(call.frame({"artifactUpdate": chunk(f"from {name}")["artifactUpdate"] | ids}))
        await response.write(call.frame({"statusUpdate": status("COMPLETED")["statusUpdate"] | ids}))
        await response.write_eof()
        return response

    async with playing(answer) as agent, open_app(agent.url) as driver:
        await driver.connected()
        for name in ("task-a", "task-b", "task-c"):
            await driver.say(name)
            await driver.until(lambda name=name: driver.session.tasks.get(name))
        assert driver.session.journal.exchanges.open == 3
        going.set()
        await driver.done(3)
        for name in ("task-a", "task-b", "task-c"):
            tracked = driver.session.tasks.get(name)
            assert tracked is not None
            assert tracked.now.state == "TASK_STATE_COMPLETED"
            assert [str(artifact.text) for artifact in tracked.now.artifacts.values()] == [f"from {name}"]
        assert driver.records(Kind.END)[-1].findings == ()


async def test_keys_work_during_a_fast_stream_and_the_last_row_is_shown(open_app: Open, mock: str, tmp_path):
    path = tmp_path / "firehose.a2a"
    chunks = 20_000
    async with open_app(mock, (80, 24), capture=path) as driver:
        await driver.connected()
        await driver.go(2)
        driver.composer.fill("report 20000")
        driver.app.simulate_key("enter")  # unlike the pilot's `press`, it does not wait until nothing happens any more
        for number, view in ((1, "agent"), (5, "traffic"), (2, "chat")):
            await eventually(lambda: driver.records(Kind.FRAME))
            driver.app.simulate_key(f"alt+{number}")
            await eventually(lambda view=view: driver.workbench.view == view)
            assert driver.session.journal.exchanges.open, f"the stream was over before {view} was shown"
        await eventually(lambda: not driver.session.journal.exchanges.open)
        await driver.settled()
        assert "● completed" in driver.lines[driver.place("▌")[1]]
        assert driver.timeline.cursor == driver.timeline.line_count - 1
        assert f"{chunks:,} chunks" in driver.screen
        await driver.press("escape", "f", "end")
        assert driver.timeline.line_count > chunks
        seen = len(driver.session.journal.capture)
    with Capture.open(path) as capture:
        assert len(capture) >= seen
        assert sum(record.event == "artifact" for record in capture.select(kinds=(Kind.FRAME,))) == chunks


# Answering, canceling


async def test_the_composer_addresses_an_input_required_task_until_it_is_answered_or_left(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("ask")
        question = driver.session.tasks.all()[0].now
        assert "There is one at 18:00 and one at 20:30. Which do you want?   ^r new task" in driver.screen
        assert f"Reply to task {question.id[:8]} (input-required)" in driver.screen
        await driver.ask("the early one")
        message = driver.sent()[1]["params"]["message"]
        assert (message["taskId"], message["contextId"]) == (question.id, question.context_id)
        assert artifact_text(driver) == "One table for two. You said: the early one"
        assert "Reply to task" not in driver.screen
        assert f"New task in context {question.context_id[:8]}" in driver.screen
        await driver.ask("ask")
        message = driver.sent()[2]["params"]["message"]
        assert "taskId" not in message
        assert message["contextId"] == question.context_id
        assert "Reply to task" in driver.screen
        await driver.press("ctrl+r")
        assert "Reply to task" not in driver.screen
        await driver.ask("echo fresh")
        assert {"taskId", "contextId"}.isdisjoint(driver.sent()[3]["params"]["message"])


async def test_a_task_is_left_resumed_and_canceled_and_unavailable_keys_are_disabled(open_app: Open, slow_mock: str):
    def keys() -> list[bool | None]:
        return [driver.enabled(key) for key in ("x", "s")]

    async with open_app(slow_mock) as driver:
        await driver.connected()
        await driver.press("2", "escape")
        assert keys() == [False, False]
        await driver.say("long 30")
        await driver.until("0 of 30 seconds done")
        for worker in driver.app.workers:
            if worker.group == "calls":
                worker.cancel()
        await driver.until(lambda: not driver.session.journal.exchanges.open)
        await driver.press("escape")
        assert keys() == [True, True]
        await driver.press("s")
        await driver.until(lambda: [record.event for record in driver.records(Kind.FRAME)].count("task") == 2)
        assert driver.sent()[1]["method"] == "SubscribeToTask"
        await driver.press("x")
        await driver.until(f"Cancel the task {driver.session.tasks.all()[0].id[:8]} (working)?")
        await driver.press("escape")
        assert len(driver.sent()) == 2
        await driver.press("x", "enter")
        await driver.done(3)
        assert driver.sent()[2]["method"] == "CancelTask"
        assert driver.sent()[2]["params"]["id"] == driver.session.tasks.all()[0].id
        assert "⊘ canceled" in driver.line("Timeline")
        assert keys() == [False, False]
        await driver.press("x")
        assert len(driver.sent()) == 3


async def test_the_task_of_the_question_is_canceled_although_another_is_selected_meanwhile(
    open_app: Open, slow_mock: str
):
    async with open_app(slow_mock) as driver:
        await driver.connected()
        await driver.say("long 30")
        await driver.until("0 of 30 seconds done")
        [asked] = driver.session.tasks.all()
        await driver.press("escape", "x")
        await driver.until(f"Cancel the task {asked.id[:8]}")
        other = driver.session.send(text_draft("ask"), stream=True)
        assert await other.finish() is None
        assert driver.app.workbench is not None
        driver.app.workbench.chat.open_task(other.exchange.task_id)
        await driver.press("enter")
        await driver.until(lambda: driver.sent("CancelTask"))
        assert driver.sent("CancelTask")[0]["params"]["id"] == asked.id


async def test_an_error_is_shown_above_the_text_and_on_the_timeline(open_app: Open):
    async def answer(call: Call):
        return call.error(-32602, "no such colour")

    async with playing(answer) as agent, open_app(agent.url, (200, 60)) as driver:
        await driver.connected()
        await driver.ask("paint it")
        assert "no such col" in driver.line("error")
        assert "InvalidParamsError: no such colour" in driver.line("problem:")
        assert driver.app.is_running


async def test_the_error_of_a_message_stays_when_another_call_ends(open_app: Open):
    ended = asyncio.Event()

    async def answer(call: Call):
        if "fails" in str(call.rpc):
            return call.error(-32602, "no such colour")
        await ended.wait()
        return await call.stream({"task": task("COMPLETED")})

    async with playing(answer) as agent, open_app(agent.url, (120, 36)) as driver:
        await driver.connected()
        await driver.say("waits")
        await driver.until(lambda: driver.session.journal.exchanges.open == 1)
        await driver.say("fails")
        await driver.until("problem: ")
        ended.set()
        await driver.until(lambda: not driver.session.journal.exchanges.open)
        await driver.settled()
        assert "no such colour" in driver.line("problem:")
        assert "fails" in driver.composer.text


async def test_a_long_problem_is_shown_completely(open_app: Open):
    async def answer(call: Call):
        return call.error(-32603, " ".join(f"word-{number}" for number in range(24)))

    async with playing(answer) as agent, open_app(agent.url, (80, 24)) as driver:
        await driver.connected()
        await driver.ask("paint it")
        assert "word-23" in driver.screen[driver.screen.index("problem:") :]


async def test_a_disconnected_stream_is_reported_and_keeps_its_events(open_app: Open):
    async def answer(call: Call):
        return await call.stream({"task": task("WORKING")}, chunk("half a "), breaks_off=True)

    async with playing(answer) as agent, open_app(agent.url, (200, 60)) as driver:
        await driver.connected()
        await driver.ask("go")
        assert artifact_text(driver) == "half a "
        assert [finding.rule for finding in driver.records(Kind.END)[-1].findings] == ["STREAM-008"]
        assert "problem:" in driver.screen
        assert "STREAM-008" in driver.screen


# Push


async def test_deliveries_are_shown_on_the_timeline_with_their_verdict(open_app: Open):
    drivers: list[Driver] = []
    numbers = itertools.count(1)

    async def gate() -> None:
        wanted = next(numbers)
        await eventually(lambda: len(drivers[0].records(Kind.FRAME)) == wanted)

    card = {"capabilities": {"streaming": True, "pushNotifications": True}}
    async with playing(reporting(gate), card) as agent, open_app(agent.url) as driver:
        drivers.append(driver)
        await driver.connected()
        await driver.press("p")
        await driver.until(lambda: driver.session.push.on)
        await driver.ask("report")
        assert "webhook on" in driver.screen
        await driver.until(lambda: len(driver.records(Kind.DELIVERY)) == 4)
        await driver.settled()
        pushes = [line for line in driver.lines if "⇐  push" in line]
        assert ["✓" in line for line in pushes] == [True, True, True, False]
        assert "rejected" in pushes[3]
        assert "token ✕" in pushes[3]
        recorded = driver.sent()[0]["params"]["configuration"]["taskPushNotificationConfig"]
        sent = agent.calls[1].rpc["params"]["configuration"]["taskPushNotificationConfig"]
        assert sent["url"].startswith("http://127.0.0.1:")
        assert sent["token"] != recorded["token"], "the token is masked in what is recorded"
        await driver.press("escape", "p")
        await driver.until("webhook off")
        await driver.ask("report")
        assert "taskPushNotificationConfig" not in driver.sent()[1]["params"]["configuration"]
        assert len(driver.records(Kind.DELIVERY)) == 4


async def test_what_is_written_keeps_its_destination_if_another_task_asks(open_app: Open):
    webhooks = []

    async def answer(call: Call):
        webhooks.append(webhook_of(call))
        name = f"task-{len(webhooks)}"
        waiting = task("WORKING", id=name, contextId=f"context-{len(webhooks)}")
        return await call.stream({"task": waiting}, breaks_off=True)

    async with playing(answer) as agent, open_app(agent.url) as driver:
        await driver.connected()
        await driver.press("p")
        await driver.until(lambda: driver.session.push.on)
        await driver.ask("first")
        await driver.press("ctrl+r")
        await driver.ask("second")
        await driver.press("ctrl+r")
        await driver.type("third")
        await deliver(webhooks[0], status("INPUT_REQUIRED", "Which seat?", task="task-1"))
        await driver.until("Which seat?")
        assert driver.composer.destination == Destination(chosen=True)
        await driver.press("ctrl+u")
        await driver.press("escape", "up", "end", "i")
        await driver.until("Reply to task task-1")
        await driver.type("window")
        await deliver(webhooks[1], status("INPUT_REQUIRED", "Which hotel?", task="task-2"))
        await driver.until(lambda: "Timeline ─ task-2" in driver.screen)
        await driver.settled()
        assert driver.composer.destination.task_id == "task-1"
        assert driver.composer.text == "window"


async def test_an_answer_keeps_its_destination_if_an_earlier_call_is_answered_late(open_app: Open):
    late = asyncio.Event()

    async def answer(call: Call):
        if "late" in json.dumps(call.rpc):
            await late.wait()
            return await call.stream({"task": task("WORKING", id="late")}, breaks_off=True)
        return await call.stream({"task": task("INPUT_REQUIRED", id="asks")})

    async with playing(answer) as agent, open_app(agent.url) as driver:
        await driver.connected()
        await driver.say("late")
        await driver.until(driver.sent)
        await driver.say("go")
        await driver.until("Reply to task asks")
        await driver.type("window")
        late.set()
        await driver.until("Timeline ─ late")
        await driver.settled()
        assert driver.composer.destination.task_id == "asks"


@pytest.mark.parametrize("text", ["", "other"])
async def test_a_new_task_that_was_chosen_is_kept_if_an_earlier_call_is_answered_late(open_app: Open, text: str):
    late = asyncio.Event()

    async def answer(call: Call):
        await late.wait()
        return await call.stream({"task": task("WORKING", id="late")}, breaks_off=True)

    async with playing(answer) as agent, open_app(agent.url) as driver:
        await driver.connected()
        await driver.say("late")
        await driver.until(driver.sent)
        await driver.press("i", "ctrl+r")
        await driver.type(text)
        late.set()
        await driver.until("working")
        await driver.settled()
        assert (driver.composer.destination.task_id, driver.composer.destination.context_id) == ("", "")


async def test_the_composer_addresses_a_task_whose_question_is_only_pushed(open_app: Open):
    webhooks = []

    async def answer(call: Call):
        webhooks.append(webhook_of(call))
        return await call.stream({"task": task("WORKING")}, breaks_off=True)

    async with playing(answer) as agent, open_app(agent.url) as driver:
        await driver.connected()
        await driver.press("p")
        await driver.until(lambda: driver.session.push.on)
        await driver.ask("go")
        assert "New task in context" in driver.screen
        await deliver(webhooks[0], status("INPUT_REQUIRED", "Which one?"))
        await driver.until("Which one?   ^r new task")
        assert "Reply to task task-1" in driver.screen
        await deliver(webhooks[0], status("WORKING", "Never mind."))
        await driver.until("New task in context")
        assert "Reply to task" not in driver.screen


async def test_push_stays_off_and_reports_why_the_receiver_cannot_listen(open_app: Open, mock: str):
    taken = int(mock.rpartition(":")[2])
    async with open_app(mock, receiver_port=taken, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.press("p")
        await driver.until(str(taken))
        assert not driver.session.push.on
        assert "webhook off" in driver.screen
