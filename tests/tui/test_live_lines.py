"""The lines above the timeline: states of the task, the stream, reconnecting."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from typing import Any

import pytest
from driving import Driver, Open
from players import begin, playing, stream
from puppets import Call, chunk, status, task
from snapshots import with_constant_times

from inspector.capture.records import Kind
from inspector.tui.render.output_filter import OutputFilter
from inspector.tui.screens.text_dialog import TextDialog
from inspector.tui.views.chat import ChatView
from inspector.tui.widgets import task_lines
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.task_lines import StreamLine

SIZES = [(80, 24), (120, 40), (200, 60)]


def stream_line(driver: Driver) -> StreamLine:
    return driver.widget("StreamLine", StreamLine)


async def dropping(call: Call) -> Any:
    """Lose the stream of a message; who listens again gets the task as it is by then, and its end."""
    if call.rpc["method"] == "SubscribeToTask":
        whole = {"artifactId": "a", "name": "notes", "parts": [{"text": "one two three"}]}
        snapshot = {"task": task("WORKING") | {"artifacts": [whole]}}
        return await stream(call, snapshot, status("COMPLETED"))
    return await stream(call, {"task": task("WORKING")}, chunk("one "), chunk("two ", append=True), cut=True)


# Notices


@pytest.mark.parametrize("size", SIZES)
async def test_the_title_shows_the_task_its_state_and_its_duration(open_app: Open, mock: str, size: tuple[int, int]):
    async with open_app(mock, size) as driver:
        await driver.connected()
        await driver.ask("report 3")
        task_id = driver.session.tasks.all()[0].id[:8]
        assert re.search(rf"Timeline ─ {task_id} ─ ● completed ─ [\d.]+ m?s ─", driver.line("Timeline"))
        assert "submitted 0.000" not in driver.screen  # the line of states is in Tasks


@pytest.mark.parametrize("size", SIZES)
async def test_the_border_shows_the_measures_that_fit(
    open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
):
    # On a busy machine, events may arrive late and together, which would be shown in place of other measures.
    monkeypatch.setattr(task_lines, "health", with_constant_times(task_lines.health))
    async with open_app(mock, size) as driver:
        await driver.connected()
        await driver.ask("report 3")
        border = driver.line("● following ─ 6 events · ")
        assert "first " in border
        assert "…" not in border
        await driver.press("escape", "home")
        assert "not following, press end ─ 6 events" in driver.screen
        assert "…" not in driver.line("not following")


async def test_a_task_that_waits_shows_what_to_do_until_it_continues(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("ask")
        assert "the agent waits for your input: enter reply, esc x cancel" in driver.screen
        await driver.press("escape")
        await driver.until("the agent waits for your input: i reply, x cancel task")
        await driver.press("i")
        await driver.ask("blue, please")
        await driver.until("● completed")
        assert "the agent waits" not in driver.screen
        await driver.ask("ask")
        await driver.until("the agent waits for your input: enter reply, esc x cancel")
        await driver.press("ctrl+r")
        await driver.until("the agent waits for your input: esc x cancel")


async def test_an_illegal_move_is_marked(open_app: Open):
    async def answer(call: Call) -> Any:
        return await stream(call, {"task": task("WORKING")}, status("COMPLETED"), status("WORKING"))

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        assert "✕ illegal transition: completed → working" in driver.screen


# The stream


async def test_a_stream_that_broke_off_offers_to_listen_again_and_tells_what_was_missed(open_app: Open):
    async with playing(dropping) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.press("escape")
        assert "press s to subscribe again" in driver.screen
        assert "✕ disconnected after 3 events" in driver.screen
        assert "s reconnect" in driver.lines[-1]
        assert "─ 3 events" not in driver.screen
        await driver.press("s")
        await driver.done(2)
        assert "while disconnected: artifact notes has 5 B more" in driver.screen
        assert "s reconnect" not in driver.lines[-1]
        assert driver.sent()[1]["method"] == "SubscribeToTask"


async def test_the_duration_of_a_task_continues_after_its_stream_was_lost(open_app: Open):
    async with playing(dropping) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.until(lambda: re.search(r"◐ working ─ [1-9]\d*\.\d+ s ─", driver.line("Timeline")))
        await driver.go(3)
        assert re.search(r"◐ working ─ \d+\.\d+ s ─", driver.line("─ Task ─"))


async def test_a_stream_that_ends_early_is_not_shown_as_done(open_app: Open):
    async def answer(call: Call) -> Any:
        return await stream(call, {"task": task("WORKING")}, chunk("one "))

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        assert "✕ ended while the task is working" in driver.screen
        assert "✕ 2 events" in driver.screen


@pytest.mark.parametrize(
    ("state", "notice"),
    [
        ("WORKING", r"nothing received for \d+ s   c GetTask, x cancel, \. stop"),
        ("INPUT_REQUIRED", "the agent waits for your input"),
    ],
)
async def test_a_silent_stream_is_reported_with_the_key_that_ends_the_task(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, state: str, notice: str
):
    monkeypatch.setattr(task_lines, "_SILENT", 1.0)
    canceled = asyncio.Event()

    async def answer(call: Call) -> Any:
        if call.rpc["method"] == "CancelTask":
            canceled.set()
            return call.result(task("CANCELED"))
        response = await begin(call)
        await response.write(call.frame({"task": task(state)}))
        await canceled.wait()
        return response

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.say("go")
        await driver.press("escape")
        await driver.until(lambda: re.search(r"idle (?:[2-9]|\d\d)\.", driver.screen))
        assert re.search(notice, driver.screen)
        assert ("nothing received" in driver.screen) == (state == "WORKING")
        await driver.press("x", "enter")
        await driver.done(2)
        assert "nothing received" not in driver.screen


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_an_awaited_response_is_reported_and_its_call_can_be_stopped(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, streaming: bool, size: tuple[int, int]
):
    monkeypatch.setattr(task_lines, "_SILENT", 1.0)

    async def answer(call: Call) -> Any:
        await asyncio.sleep(60)

    async with playing(answer) as agent, open_app(agent.url, size) as driver:
        await driver.connected()
        if not streaming:
            await driver.go(2)
            await driver.press("i", "ctrl+t")
        await driver.say("go")
        await driver.until(lambda: re.search(r"nothing received for \d+ s   esc, then \. stop call", driver.screen))
        assert re.search(r"● following ─ ← awaiting response, \d+\.\d+ s", driver.line("following"))
        await driver.press("escape")
        assert ". stop call" in driver.lines[-1]
        await driver.press("full_stop")
        await driver.done()
        assert len(driver.sent()) == 1  # no CancelTask
        assert driver.records(Kind.END)[-1].meta["how"] == "stopped"
        assert "awaiting" not in driver.screen
        assert "nothing received" not in driver.screen
        assert "stop call" not in driver.lines[-1]


async def test_a_stream_is_stopped_although_the_agent_has_no_cancel_task(open_app: Open):
    async def answer(call: Call) -> Any:
        response = await begin(call)
        await response.write(call.frame({"task": task("WORKING")}))
        await asyncio.sleep(60)

    async with playing(answer) as agent, open_app(agent.url, (120, 36)) as driver:
        await driver.connected()
        await driver.say("go")
        await driver.until("◐ working")
        await driver.press("escape", "full_stop")
        await driver.until("stopped by us after 1 event")
        assert not driver.session.journal.exchanges.open
        assert len(driver.sent()) == 1
        assert "s reconnect" not in driver.lines[-1]


@pytest.mark.parametrize("view", ["2", "3", "5"])
async def test_an_invisible_state_is_displayed_visibly_without_the_output_filter(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, view: str
):
    state = "TASK_STATE_\u200bO\u00addd\u3164\u202e\x1b"

    async def answer(call: Call) -> Any:
        hidden = task("WORKING") | {"status": {"state": state}}
        return await stream(call, {"task": task("WORKING")}, {"task": hidden})

    monkeypatch.setattr(OutputFilter, "apply", lambda self, segments, background: segments)
    async with playing(answer) as agent, open_app(agent.url, (140, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.press("escape", view)
        text = driver.screen
        assert not {character for character in text if unicodedata.category(character) in {"Cc", "Cf"}} - {"\n"}
        assert "\u3164" not in text
        if view == "2":
            assert "✕ ended while the task is ‹U+200B›o‹U+00AD›dd‹U+3164›" in text


async def test_a_lost_stream_is_listened_to_again_by_itself_where_that_was_asked_for(open_app: Open):
    async with playing(dropping) as agent, open_app(agent.url, (120, 40), resubscribe=True) as driver:
        await driver.connected()
        await driver.say("go")
        await driver.until("while disconnected: artifact notes has 5 B more")
        await driver.done(2)
        assert [call["method"] for call in driver.sent()] == ["SendStreamingMessage", "SubscribeToTask"]


async def test_a_rejected_subscription_is_not_offered_again(open_app: Open):
    async def answer(call: Call) -> Any:
        match call.rpc["method"]:
            case "SubscribeToTask":
                return call.error(-32004, "the task has ended")
            case "GetTask":
                return call.result(task("COMPLETED"))
        return await stream(call, {"task": task("WORKING")}, cut=True)

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.press("escape", "s")
        await driver.done(2)
        await driver.until("subscription rejected, press c for GetTask")
        assert "subscribe again" not in driver.screen
        await driver.press("c")
        await driver.until("Stream, push and GetTask")
        await driver.press("escape")
        await driver.until("● completed")
        assert "subscription rejected" not in driver.screen


async def test_a_key_switches_that_on_and_an_agent_that_stays_away_is_left_alone(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("inspector.session.reconnect.DELAYS", (0.01, 0.01))

    async def answer(call: Call) -> Any:
        if call.rpc["method"] == "SubscribeToTask":
            call.request.transport.abort()
        return await stream(call, {"task": task("WORKING")}, cut=True)

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.press("escape")
        driver.widget("#chat", ChatView).action_auto_reconnect()
        await driver.until("2 attempts failed, press s to subscribe again")
        await driver.settled()
        assert [call["method"] for call in driver.sent()].count("SubscribeToTask") == 2


async def test_a_call_of_the_app_itself_that_fails_does_not_cover_the_question(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("inspector.session.reconnect.DELAYS", (0.01, 0.01))

    async def answer(call: Call) -> Any:
        if call.rpc["method"] == "SendStreamingMessage":
            return await stream(call, {"task": task("AUTH_REQUIRED")})
        return call.error(-32601, "no such method")

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.until(lambda: driver.sent()[-1]["method"] == "GetTask")
        await driver.until("subscription rejected, press esc, then c for GetTask")
        await driver.settled()
        assert [call["method"] for call in driver.sent()[1:]] == ["SubscribeToTask", "GetTask"]
        assert not driver.app.screen.query("Toast")
        assert not driver.composer.problem


async def test_the_stream_is_told_in_full(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 3")
        assert "6 events" in driver.screen
        await driver.press("escape", "a")
        await driver.click("Show stream statistics")
        await driver.until("first byte")
        assert "ended after 6 events" in driver.screen
        await driver.press("escape")
        await driver.click("6 events")
        assert isinstance(driver.app.screen, TextDialog)


async def test_the_paper_about_a_stream_goes_on_with_it_and_stays_where_it_is_read(open_app: Open):
    more, end = asyncio.Event(), asyncio.Event()

    async def answer(call: Call) -> Any:
        response = await begin(call)
        await response.write(call.frame({"task": task("WORKING")}))
        await more.wait()
        await response.write(call.frame(status("WORKING")))
        await end.wait()
        await response.write(call.frame(status("COMPLETED")))
        return response

    async with playing(answer) as agent, open_app(agent.url, (60, 11)) as driver:
        await driver.connected()
        await driver.say("go")
        await driver.until(lambda: driver.records(Kind.FRAME))
        await driver.press("escape")
        driver.widget("#chat", ChatView).action_statistics()
        await driver.until("first byte")
        text = driver.app.screen.query_one(FactView)
        assert text.max_scroll_y > 0
        text.scroll_to(y=1, animate=False)
        more.set()
        await driver.until(lambda: any("2 events" in paragraph for paragraph in _written(driver)))
        assert text.scroll_y == 1
        end.set()
        await driver.until(lambda: any("ended after 3 events" in paragraph for paragraph in _written(driver)))


def _written(driver: Driver) -> list[str]:
    source = driver.app.screen.query_one(FactView).source
    return ["".join(text for text, _ in source.line(number)) for number in range(len(source))]


async def test_without_a_stream_there_is_no_line_about_one(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.write()
        assert not stream_line(driver).display
        await driver.press("ctrl+t")
        await driver.ask("report 3")
        assert not stream_line(driver).display
