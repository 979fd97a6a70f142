"""The rows of the Chat view: the selected record, the panes about its task, and copying."""

from __future__ import annotations

import json
from pathlib import Path

import pyperclip
import pytest
from aiohttp import web
from driving import Driver, Open, artifact_text
from players import REPORT, begin, playing
from puppets import Call, status, task

from inspector.capture.records import Kind
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_part
from inspector.tui.notify import copy
from inspector.tui.views.tasks import TasksView
from inspector.tui.widgets.artifact_pane import ArtifactPane
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.feed import Feed
from inspector.tui.widgets.json_view import JsonView

PANES = ("timeline-pane", "artifact", "chat-detail", "tasks-pane", "composer")


# Rows and what they hold


async def test_the_selected_row_is_shown_decoded_raw_as_hex_and_with_its_head(open_app: Open, mock: str):
    async with open_app(mock, (150, 40)) as driver:
        await driver.connected()
        await driver.ask("report 1")
        await driver.press("escape", "home", "down", "down", "down", "down")
        record = driver.records(Kind.FRAME)[2]
        assert record.event == "artifact"
        assert f"#{record.seq} artifact" in driver.line("Detail")
        assert '"artifactUpdate": {' in driver.screen
        await driver.press("enter")
        view = driver.widget("#chat #decoded", JsonView)
        assert view.has_focus
        whole = view.line_count
        await driver.press("left")
        assert view.line_count == 1
        await driver.press("right")
        assert view.line_count == whole
        await driver.press("v")
        assert "data: {" in driver.screen
        await driver.press("v")
        assert "0000  64 61 74 61" in driver.screen
        await driver.press("v")
        assert f"#{record.seq} frame" in driver.line("│record ")
        assert driver.line("│exchange ").split()[-2] == f"#{record.exchange}"
        await driver.press("escape", "down")
        after = driver.records(Kind.FRAME)[3]
        assert f"#{after.seq} frame" in driver.line("│record "), "the view that was chosen stays"
        await driver.press("enter", "v", "escape", "home", "down")
        request = driver.records(Kind.REQUEST)[1]
        assert f"#{request.seq} request" in driver.line("Detail")
        assert '"text": "report 1"' in driver.screen


async def test_a_row_names_the_parts_of_a_message_that_are_not_texts(open_app: Open, tmp_path: Path):
    pdf, data = {"raw": "aGk=", "filename": "report.pdf"}, {"data": {"pages": 3}}

    async def answer(call: Call) -> web.StreamResponse:
        events = [status("WORKING", "Here it is."), status("COMPLETED", "none")]
        for event, parts in zip(events, ([{"text": "Here it is."}, pdf, data], [pdf, data]), strict=True):
            event["statusUpdate"]["status"]["message"]["parts"] = parts
        return await call.stream({"task": task("SUBMITTED")}, *events)

    (tmp_path / "notes.md").write_text("notes")
    file = DraftPart(PartKind.FILE, str(tmp_path / "notes.md"))
    async with playing(answer) as agent, open_app(agent.url, (120, 36)) as driver:
        await driver.connected()
        await driver.go(2)
        draft = Draft((text_part("summarise"), file, file, DraftPart(PartKind.DATA, "{}")))
        driver.workbench.chat.drive(driver.session.send(draft, stream=True))
        await driver.done()
        assert "summarise + 2 files, 1 data" in driver.line("you")
        assert "Here it is. + 1 file, 1 data" in driver.line("working")
        assert "report.pdf, data" in next(line for line in driver.lines if "← " in line and "completed" in line)


async def test_on_a_narrow_screen_the_detail_is_a_second_page(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        await driver.ask("report 1")
        assert "Detail" not in driver.screen
        await driver.press("escape")
        assert driver.enabled("escape") is not True
        await driver.press("enter")
        assert "Detail" in driver.screen
        assert "Timeline" not in driver.screen
        await driver.press("escape")
        assert "Timeline" in driver.screen
        assert "Detail" not in driver.screen


async def test_the_tab_key_reaches_every_pane_of_a_narrow_screen(open_app: Open, mock: str):
    panes = ("Timeline", "Artifact", "Detail", "Timeline")
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        await driver.ask("report 1")
        await driver.press("escape")
        for key, shown in (("tab", panes), ("shift+tab", (panes[0], *panes[::-1][:-1]))):
            for pane in shown:
                assert [name for name in set(panes) if f"{name} ─" in driver.screen] == [pane]
                await driver.press(key)
            await driver.press("escape")
            assert driver.timeline.has_focus


async def test_the_tab_key_visits_the_panes_of_a_wide_screen(open_app: Open, mock: str):
    async with open_app(mock, (200, 50)) as driver:
        await driver.connected()
        await driver.ask("report 1")
        await driver.press("escape")
        focused = []
        for _ in range(5):
            await driver.press("tab")
            focused.append(next(node.id for node in driver.app.focused.ancestors_with_self if node.id in PANES))
        assert focused == ["artifact", "chat-detail", "tasks-pane", "composer", "timeline-pane"]


async def test_copy_uses_the_clipboard_or_the_terminal(open_app: Open, mock: str, monkeypatch):
    import pyperclip

    copied: list[str] = []

    def refuse(text: str) -> None:
        raise pyperclip.PyperclipException("no clipboard here")

    monkeypatch.setattr(pyperclip, "copy", copied.append)
    async with open_app(mock, run={"notifications": True}) as driver:
        monkeypatch.setattr(driver.app, "copy_to_clipboard", copied.append)
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", "y")
        assert json.loads(copied[-1])["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
        assert f"Copied {len(copied[-1]):,} characters to the clipboard" in driver.screen
        await driver.press("enter", "down", "y")
        assert copied[-1] == "2.0"
        monkeypatch.setattr(pyperclip, "copy", refuse)
        driver.widget("#artifact", ArtifactPane).focus_body()
        await driver.press("y")
        assert copied[-1] == REPORT
        assert f"Copied {len(REPORT):,} characters with the terminal (OSC 52)" in driver.screen


async def test_rows_are_selected_and_opened_with_the_mouse(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.click("task      ○ submitted")
        assert driver.widget("#chat-detail", DetailPane).record == driver.records(Kind.FRAME)[0]
        await driver.click("task      ○ submitted")
        assert isinstance(driver.app.focused, JsonView)
        await driver.click(" raw ", aside=1)
        assert "data: {" in driver.screen


async def test_the_task_column_of_a_wide_screen_selects_a_task(open_app: Open, mock: str):
    async with open_app(mock, (200, 60)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.ask("file")
        first = driver.session.tasks.all()[-1]
        driver.widget("#task-column", Feed).focus()
        await driver.press("end", "enter")
        assert first.id[:8] in driver.line("Timeline")
        assert artifact_text(driver) == REPORT


async def test_a_new_task_does_not_move_the_cursor_of_the_task_column_to_another(open_app: Open, mock: str):
    async with open_app(mock, (200, 60)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        first = driver.session.tasks.all()[-1]
        column = driver.widget("#task-column", Feed)
        column.focus()
        await driver.settled()
        assert column.cursor == 0
        await driver.session.send(Draft((text_part("file"),)), stream=False).finish()
        await driver.until(lambda: column.line_count == 2)
        await driver.settled()
        assert column.cursor == 1
        await driver.press("enter")
        assert driver.workbench.chat.shown_task is first


# One selection


def names_of_tasks(driver: Driver) -> list[str]:
    return [task.id[:8] for task in reversed(driver.session.tasks.all())]


async def test_every_pane_is_about_the_task_of_the_selected_row(open_app: Open, mock: str):
    async with open_app(mock, (200, 50)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.ask("ask")
        report, question = names_of_tasks(driver)
        assert f"Timeline ─ {question} ─ ◔ input-required" in driver.screen
        assert f"Reply to task {question}" in driver.screen
        await driver.press("escape", *["up"] * 4)
        assert f"Timeline ─ {report} ─ ● completed" in driver.screen
        assert "Artifact ─ report.md" in driver.screen
        assert "Reply to task" not in driver.screen
        assert "New task in context" in driver.screen
        assert driver.widget("#task-column", Feed).cursor == 1
        await driver.press("end")
        assert f"Timeline ─ {question} ─ ◔ input-required" in driver.screen
        assert f"Reply to task {question}" in driver.screen
        assert driver.widget("#task-column", Feed).cursor == 0


async def test_the_request_of_a_row_belongs_to_the_task_that_it_created(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.ask("echo hello")
        assert "Message ─ text ▾" in driver.screen
        assert "Timeline ─ " not in driver.screen
        await driver.press("escape", "home", "down")
        assert '"text": "report 2"' in driver.screen
        assert f"Timeline ─ {names_of_tasks(driver)[0]} ─ ● completed" in driver.screen
        await driver.press("end")
        assert "Message ─ text ▾" in driver.screen


async def test_the_cursor_skips_the_rule_between_two_exchanges(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("echo one")
        await driver.ask("echo two")
        feed = driver.timeline
        [rule] = [row for row, line in enumerate(driver.lines) if line.startswith("│ ──────")]
        await driver.press("escape", "home")
        visited = []
        for key in ("down", "down", "down", "down", "up", "up"):
            await driver.press(key)
            visited.append(feed.cursor)
        assert visited == [1, 2, 4, 5, 4, 2]
        await driver.pilot.click(offset=(20, rule))
        assert feed.cursor == 4


async def test_sending_follows_the_newest_row_again(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", "home")
        assert "not following, press end" in driver.screen
        await driver.ask("report 2")
        assert "● following" in driver.screen
        assert driver.timeline.cursor == driver.timeline.line_count - 1
        assert f"Timeline ─ {names_of_tasks(driver)[1]} ─ ● completed" in driver.screen


async def test_tasks_opens_chat_at_the_last_row_of_the_task(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.ask("ask")
        report = driver.session.tasks.all()[1]
        driver.workbench.post_message(TasksView.Opened(report.id))
        await driver.until(f"Timeline ─ {report.id[:8]} ─ ● completed")
        record = driver.widget("#chat-detail", DetailPane).record
        assert (record.task, record.state) == (report.id, "TASK_STATE_COMPLETED")
        assert driver.timeline.has_focus


async def test_keep_alives_are_counted_in_the_row_of_their_request(open_app: Open):
    async def answer(call: Call):
        response = await begin(call)
        await response.write(call.frame({"task": task("WORKING")}))
        for _ in range(3):
            await response.write(b": ping\n\n")
        await response.write(call.frame(status("COMPLETED")))
        for _ in range(2):
            await response.write(b": ping\n\n")
        await response.write_eof()
        return response

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("go")
        assert len(driver.records(Kind.KEEPALIVE)) == 5
        assert "5 keep-alives, stream" in driver.line("you ▸  go")
        assert "● completed" in driver.line("▌"), "a keep-alive is not followed"
        rows = driver.timeline.line_count
        await driver.press("escape", "f")
        assert driver.timeline.line_count == rows + 5


async def test_a_text_with_half_of_a_surrogate_pair_is_copied(
    open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch
):
    copied: list[bytes] = []
    monkeypatch.setattr(pyperclip, "copy", lambda text: copied.append(text.encode()))
    async with open_app(mock) as driver:
        await driver.connected()
        copy(driver.app, "half \ud800")
    assert copied == [b"half ?"]
