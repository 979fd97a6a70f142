"""Time travel in the Chat view: the task at earlier events, marks and differences."""

from __future__ import annotations

import asyncio

import pytest
from driving import Driver, Open
from players import begin, playing
from puppets import Call, chunk, status, task
from textual import events

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind
from inspector.protocol.operations import Operation
from inspector.session.replay.moments import Moments
from inspector.session.tasks import TrackedTask
from inspector.tui.views.base import CallWanted
from inspector.tui.views.chat import ChatView
from inspector.tui.widgets.artifact_pane import ArtifactPane
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.travel_line import TravelLine

WORDS = ["one\n", "two\n", "three\n"]


def travel(driver: Driver) -> TravelLine:
    return driver.widget("TravelLine", TravelLine)


def text(driver: Driver) -> str:
    return driver.widget("#artifact", ArtifactPane).selected_text()


def frames(driver: Driver) -> list[int]:
    return [record.seq for record in driver.records(Kind.FRAME)]


async def answer(call: Call):
    response = await begin(call)
    await response.write(call.frame({"task": task("SUBMITTED")}))
    await response.write(call.frame(status("WORKING", "Reading.")))
    for number, word in enumerate(WORDS):
        await response.write(call.frame(chunk(word, append=number > 0)))
    await response.write(call.frame(status("COMPLETED", "Written.")))
    await response.write_eof()
    return response


async def arrive(driver: Driver) -> None:
    await driver.press("escape", "t")
    await driver.until(lambda: travel(driver).seq)


async def test_every_event_can_be_selected_and_escape_returns_to_now(open_app: Open):
    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await arrive(driver)
        seqs = frames(driver)
        assert travel(driver).has_focus
        assert travel(driver).seq == seqs[-1]
        assert f"As of #{seqs[-1]}" in driver.screen
        assert "6 of 6" in driver.screen
        for back, (expected, state) in enumerate(
            [("one\ntwo\nthree\n", "working"), ("one\ntwo\n", "working"), ("one\n", "working")], 2
        ):
            await driver.press("left")
            assert travel(driver).seq == seqs[-back]
            assert text(driver) == expected
            assert f" {state}" in driver.line("Timeline")
            assert driver.widget("#chat-detail", DetailPane).record.seq == seqs[-back]
        await driver.press("right_square_bracket")
        assert text(driver) == "one\ntwo\n"
        await driver.press("home")
        assert (travel(driver).seq, "submitted" in driver.line("Timeline")) == (seqs[0], True)
        assert "one" not in text(driver)
        await driver.press("left")
        assert travel(driver).seq == seqs[0]
        await driver.press("end")
        assert travel(driver).seq == seqs[-1]
        await driver.press("home", "escape")
        assert not travel(driver).travelling
        assert "As of" not in driver.screen
        assert text(driver) == "".join(WORDS)
        assert "● completed" in driver.line("Timeline")
        assert driver.timeline.has_focus


async def test_time_travel_starts_at_the_selected_row_and_follows_the_cursor(open_app: Open):
    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.press("escape", "up", "up", "t")
        seqs = frames(driver)
        await driver.until(lambda: travel(driver).seq == seqs[1])
        driver.timeline.focus()
        await driver.press("down")
        await driver.until(lambda: travel(driver).seq == seqs[4])
        assert text(driver) == "".join(WORDS)
        await driver.press("up", "up")
        await driver.until(lambda: travel(driver).seq == seqs[0])
        await driver.press("escape")
        assert not travel(driver).travelling


async def test_two_moments_are_compared_line_by_line(open_app: Open):
    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await arrive(driver)
        seqs = frames(driver)
        await driver.press("left", "left", "left", "m")
        assert f"mark #{seqs[2]}" in driver.screen
        await driver.press("right", "right", "c")
        await driver.until("summary")
        assert f"Changes: #{seqs[2]}" in driver.screen
        assert "artifact report.md has 2 more chunks" in driver.screen or "has 2 more chunks" in driver.screen
        assert "  + two" in driver.screen
        assert "  + three" in driver.screen
        await driver.press("escape", "m", "m", "enter")
        await driver.until("summary")
        assert "now" in driver.line("Changes:")
        assert "state changed from working to completed" in driver.screen


async def test_the_time_travel_bar_can_be_clicked(open_app: Open):
    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await arrive(driver)
        line = travel(driver)
        assert driver.screen, "the bar has a place once it is drawn"
        start, width = line._bar
        await driver.pilot.click(line, offset=(start, 0))
        assert line.seq == frames(driver)[0]
        await driver.pilot.click(line, offset=(start + width - 1, 0))
        assert line.seq == frames(driver)[-1]


async def test_new_events_do_not_change_the_past_and_can_be_selected(open_app: Open):
    going = asyncio.Event()

    async def slowly(call: Call):
        response = await begin(call)
        await response.write(call.frame({"task": task("WORKING")}))
        await response.write(call.frame(chunk("one\n")))
        await going.wait()
        await response.write(call.frame(chunk("two\n", append=True)))
        await response.write_eof()
        return response

    async with playing(slowly) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.say("go")
        await driver.until(lambda: text(driver) == "one\n")
        await arrive(driver)
        going.set()
        await driver.done(1)
        await driver.until("2 of 3")
        assert text(driver) == "one\n"
        assert driver.widget("#chat", ChatView).has_class("-past")
        await driver.press("right")
        assert text(driver) == "one\ntwo\n"


async def test_an_unreadable_past_ends_time_travel_with_a_notification(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    async with playing(answer) as agent, open_app(agent.url, (120, 40), run={"notifications": True}) as driver:
        await driver.connected()
        await driver.ask("go")
        await arrive(driver)

        def lost(moments: Moments, index: int) -> TrackedTask:
            raise CaptureError("Cannot read the capture: the disk is gone.")

        monkeypatch.setattr(Moments, "at", lost)
        await driver.press("left")
        await driver.until("the disk is gone")
        assert not travel(driver).travelling


async def test_changes_that_cannot_be_read_any_more_are_reported_where_they_are_shown(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
):
    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await arrive(driver)
        await driver.press("left")
        present = travel(driver).seq

        def lost(moments: Moments, index: int) -> TrackedTask:
            raise CaptureError("Cannot read the capture: the disk is gone.")

        with monkeypatch.context() as patched:
            patched.setattr(Moments, "at", lost)
            await driver.press("c")
            await driver.until("the disk is gone")
            await driver.press("escape")
            assert travel(driver).seq == present
            pane = driver.widget("#chat-detail", DetailPane)
            pane.choose("diff")
            await driver.until("the disk is gone")
        pane.choose("raw")
        pane.choose("diff")
        await driver.until("+ three")


async def test_without_a_task_there_is_no_time_travel(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("escape", "t")
        assert not travel(driver).travelling


async def test_brackets_travel_from_every_pane_and_mark_and_compare_work_there(open_app: Open):
    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        seqs = frames(driver)
        await driver.press("escape")
        assert driver.enabled("m") is False
        await driver.press("left_square_bracket")
        await driver.until(lambda: travel(driver).seq == seqs[-2])
        assert text(driver) == "".join(WORDS)
        await driver.press("escape")
        assert not travel(driver).travelling
        await driver.press("end")
        pane = driver.widget("#artifact", ArtifactPane)
        pane.focus_body()
        await driver.press("left_square_bracket")
        await driver.until(lambda: travel(driver).seq == seqs[-2])
        assert pane.has_focus_within
        await driver.press("left_square_bracket", "m", "left_square_bracket")
        assert text(driver) == "one\n"
        await driver.press("c")
        await driver.until(f"Changes: #{seqs[-4]}")
        assert "  + two" in driver.screen


async def test_a_sent_message_ends_the_time_travel_and_follows_the_newest_row(open_app: Open):
    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        await arrive(driver)
        await driver.press("home")
        assert "not following" in driver.screen
        await driver.ask("again")
        assert not travel(driver).travelling
        assert "● following" in driver.screen
        assert driver.timeline.cursor == driver.timeline.line_count - 1
        assert driver.composer.has_focus_within


async def test_a_key_that_arrives_at_once_is_about_the_row_under_the_cursor(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.ask("ask")
        report = driver.session.tasks.all()[1]
        await driver.press("escape")
        for key in ("up", "up", "up", "up", "t"):  # without waiting between them
            driver.app.post_message(events.Key(key, None))
        await driver.until(lambda: travel(driver).seq)
        assert travel(driver).past.id == report.id
        assert f"Timeline ─ {report.id[:8]} ─ ● completed" in driver.screen


@pytest.mark.parametrize(("action", "back"), [("step", 1), ("leap", 2)])
async def test_keys_are_not_lost_while_the_past_is_read(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, action: str, back: int
):
    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        seqs = frames(driver)
        reading, read = asyncio.Event(), TravelLine.read_on
        monkeypatch.setattr(TravelLine, "read_on", lambda line: read(line) if reading.is_set() else None)
        await driver.press("escape", "left_square_bracket")
        await travel(driver).run_action(f"{action}(-1)")
        reading.set()
        travel(driver).read_on()
        await driver.until(lambda: travel(driver).seq)
        assert travel(driver).seq == seqs[-2 - back]


async def test_another_task_is_not_selected_behind_the_past(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.ask("ask")
        now, earlier = driver.session.tasks.all()
        await arrive(driver)
        driver.workbench.post_message(CallWanted(Operation.GET, earlier.id))
        await driver.done(3)
        assert driver.workbench.chat.call_task == travel(driver).past.id == now.id


async def test_pushes_that_repeat_events_are_counted_and_listed(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.press("p")
        await driver.until(lambda: driver.session.push.on)
        await driver.ask("report 3")
        await driver.until(lambda: len(driver.records(Kind.DELIVERY)) == 6)
        await driver.settled()
        pushes = [record.seq for record in driver.records(Kind.DELIVERY)]
        await driver.press("escape", "end", "t")
        await driver.until(lambda: travel(driver).seq == pushes[-1])
        await driver.press("m", "left", "left", "c")
        await driver.until("Nothing changed in 2 events.")
        assert f"Changes: #{pushes[-3]}" in driver.screen
        await driver.until("Compared with earlier pushes only:")
        assert "state changed from working to completed" in driver.screen
