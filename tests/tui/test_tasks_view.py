"""The Tasks view: lists with filters and pages, and polling."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from driving import Driver, Open
from players import playing
from puppets import Call

from inspector.capture.records import Kind
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.session import Session
from inspector.tui.views.tasks import TasksView
from inspector.tui.widgets.composer import Destination
from inspector.tui.widgets.feed import Feed


def task_of(number: int, state: str) -> dict[str, Any]:
    return {"id": f"task-{number:03}", "contextId": f"ctx-{number % 2}", "status": {"state": f"TASK_STATE_{state}"}}


class Office:
    """An agent with tasks: it lists two per page, and each GetTask advances a task."""

    def __init__(self, count: int, moves: int = 2) -> None:
        self.left = dict.fromkeys((f"task-{n:03}" for n in range(count)), moves)
        self.asked: list[dict[str, Any]] = []

    async def answer(self, call: Call) -> web.StreamResponse:
        params = call.rpc["params"]
        if call.rpc["method"] == "GetTask":
            self.left[params["id"]] -= 1
            state = "WORKING" if self.left[params["id"]] > 0 else "COMPLETED"
            return call.result(task_of(int(params["id"][-3:]), state))
        self.asked.append(params)
        wanted = [n for n in range(len(self.left)) if params.get("contextId", f"ctx-{n % 2}") == f"ctx-{n % 2}"]
        start = int(params.get("pageToken") or 0)
        token = str(start + 2) if start + 2 < len(wanted) else ""
        return call.result(
            {
                "tasks": [task_of(n, "WORKING") for n in wanted[start : start + 2]],
                "nextPageToken": token,
                "pageSize": 2,
                "totalSize": len(wanted),
            }
        )


def listed(driver: Driver) -> list[str]:
    """Return the ids in the table, from the top."""
    rows = driver.lines[4 : next(row for row, line in enumerate(driver.lines) if "╰" in line)]
    return [word for line in rows for word in line.split() if word.startswith("task-")]


async def opened(driver: Driver) -> None:
    await driver.connected()
    await driver.go(3)


async def test_tasks_with_numbered_ids_have_different_names(open_app: Open):
    async def answer(call: Call):
        tasks = [task_of(1, "WORKING") | {"id": f"task-2026-{number:04}"} for number in range(2)]
        return call.result({"tasks": tasks, "nextPageToken": "", "pageSize": 50, "totalSize": 2})

    async with playing(answer) as agent, open_app(agent.url) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("…26-0001")
        assert "…26-0000" in driver.screen


async def test_a_page_that_cannot_be_requested_is_requested_again(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> Any:
        raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, "This version has no ListTasks.", "Choose another one."))

    office = Office(5)
    async with playing(office.answer) as agent, open_app(agent.url, run={"notifications": True}) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("2 of 5 listed by the agent ─ l: next page")
        with monkeypatch.context() as patched:
            patched.setattr(Session, "list_tasks", refuse)
            await driver.press("l")
            await driver.until("This version has no ListTasks.")
        await driver.until("2 of 5 listed by the agent ─ l: next page")
        await driver.press("l")
        await driver.until("4 of 5 listed by the agent ─ l: next page")


async def test_tasks_are_listed_page_by_page(open_app: Open):
    office = Office(5)
    async with playing(office.answer) as agent, open_app(agent.url) as driver:
        await opened(driver)
        assert "l list" in driver.lines[-1]
        await driver.press("l")
        await driver.until("2 of 5 listed by the agent ─ l: next page")
        assert "l next page" in driver.lines[-1]
        assert "l list" not in driver.lines[-1]
        view = driver.workbench.query_one(TasksView)
        view.action_next_page()
        view.action_next_page()  # before the page has arrived
        await driver.until("4 of 5 listed by the agent ─ l: next page")
        await driver.click("l next page", aside=2)
        await driver.until("5 of 5 listed by the agent")
        assert "next page" not in driver.screen
        assert "l list" in driver.lines[-1]
        assert [asked.get("pageToken") for asked in office.asked] == [None, "2", "4"]
        assert all(f"task-{n:03}" in driver.screen for n in range(5))


async def test_a_filter_applies_to_the_table_and_to_list_tasks(open_app: Open):
    office = Office(4)
    async with playing(office.answer) as agent, open_app(agent.url) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("2 of 4 listed")
        await driver.press("F")
        await driver.type("ctx-1")
        await driver.press("enter")
        await driver.type("dreaming")
        await driver.press("enter", "enter")
        await driver.until("dreaming is not a task state")
        field = driver.app.screen.query_one("#field-state")
        field.value = "working"
        await driver.press("enter")
        await driver.until("─ context ctx-1   state working ─")
        await driver.until("2 of 2 listed")
        assert office.asked[-1] == {"contextId": "ctx-1", "status": "TASK_STATE_WORKING"}
        assert "Tasks ─ 2 of 3 ─" in driver.screen
        assert "task-000" not in driver.screen
        assert "task-001" in driver.screen


async def test_several_tasks_are_polled_concurrently_until_they_end(open_app: Open):
    office = Office(2, moves=20)
    async with playing(office.answer) as agent, open_app(agent.url, (110, 40)) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("2 of 2 listed")
        driver.workbench.query_one(TasksView).action_poll_interval()
        await driver.pilot.pause()
        field = driver.app.screen.query_one("#field-seconds")
        field.value = "0"
        await driver.press("enter")
        await driver.until("Enter a number of seconds")
        field.value = "0.2"
        await driver.press("enter", "P", "down", "P")
        await driver.until(lambda: driver.screen.count("working ⟳") == 2)
        await driver.until(lambda: "every 0.2 s" in driver.line("polled"))  # the facts are drawn later than the table
        await driver.until(lambda: driver.screen.count("● completed") >= 2 and "⟳" not in driver.screen)
        assert office.left == {"task-000": 0, "task-001": 0}
        assert not driver.enabled("P")
        polls = [record for record in driver.records(Kind.REQUEST) if record.operation == "GetTask"]
        assert sorted(record.task for record in polls) == ["task-000"] * 20 + ["task-001"] * 20
        await driver.go(2)
        await driver.press("escape")
        await driver.until(lambda: driver.screen.count("⟳  get") > 6)


async def test_a_poll_is_stopped_by_the_same_key(open_app: Open):
    office = Office(1, moves=10_000)
    async with playing(office.answer) as agent, open_app(agent.url) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("1 of 1 listed")
        await driver.press("P")
        await driver.until("every 2 s")
        await driver.press("P")
        await driver.until(lambda: "every 2 s" not in driver.screen)
        label = driver.records(Kind.NOTE, event="poll")[-1].label
        assert re.fullmatch(r"polled task task-000 (?:1 time|\d+ times): it was stopped", label)


async def test_the_key_that_starts_a_poll_can_be_pressed_twice(open_app: Open):
    office = Office(1, moves=10_000)
    async with playing(office.answer) as agent, open_app(agent.url, run={"notifications": True}) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("1 of 1 listed")
        view = driver.workbench.query_one(TasksView)
        view.action_poll()
        view.action_poll()  # before the first poll has begun
        await driver.until("every 2 s")
        assert [notice.message for notice in driver.app._notifications if "Polling" in notice.message] == []


async def test_the_table_has_headings_and_shows_request_and_last_message(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        await driver.connected()
        await driver.ask("push")
        await driver.go(3)
        headings = driver.line("LAST MESSAGE").split()
        assert headings[1:] == [
            *("STATE", "ID", "CONTEXT", "AGE▾", "UPDATED", "ARTIFACTS", "REQUEST", "LAST", "MESSAGE", "│")
        ]
        [task] = driver.session.tasks.all()
        assert driver.line("│▌").split()[1:4] == ["completed", task.id[:8], task.now.context_id[:8]]
        assert driver.line("│▌").split()[-7:-1] == ["1", "push", "The", "summary", "is", "ready."]
        assert task.id in driver.screen
        assert task.now.context_id in driver.screen
        assert "summary.txt" in driver.line("artifacts ")
        assert driver.line("states ").split()[-2:] == ["completed", "│"]


async def test_a_listed_task_has_the_age_of_its_state_and_no_artifacts_until_they_are_received(open_app: Open):
    ended = (datetime.now(UTC) - timedelta(minutes=15)).isoformat()
    listed = {"id": "task-1", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED", "timestamp": ended}}

    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "GetTask":
            return call.result(listed)
        return call.result({"tasks": [listed], "nextPageToken": "", "pageSize": 1, "totalSize": 1})

    async with playing(answer) as agent, open_app(agent.url, (120, 36)) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.done()
        assert driver.line("│▌").split()[4:-1] == ["15", "min", "15", "min", "-"]
        await driver.press("r")
        await driver.done(2)
        assert driver.line("│▌").split()[4:-1] == ["15", "min", "15", "min", "0"]


def task_with_texts(request: str, message: str) -> dict[str, Any]:
    return {
        "id": "task-000",
        "contextId": "ctx-0",
        "status": {
            "state": "TASK_STATE_COMPLETED",
            "message": {"messageId": "m-2", "role": "ROLE_AGENT", "parts": [{"text": message}]},
        },
        "history": [{"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": request}]}],
    }


@pytest.mark.parametrize(
    ("request_length", "message_length", "request_shown", "message_shown"),
    [(4, 20, 4, 20), (30, 12, 30, 12), (4, 60, 4, 35), (60, 4, 31, 4), (60, 60, 17, 26)],
    ids=["both fit", "a long request", "a long message", "a request that is too long", "both too long"],
)
async def test_a_request_is_as_wide_as_it_needs_and_the_messages_keep_their_share(
    open_app: Open, request_length: int, message_length: int, request_shown: int, message_shown: int
):
    listed_task = task_with_texts("r" * request_length, "m" * message_length)

    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"tasks": [listed_task], "nextPageToken": "", "pageSize": 1, "totalSize": 1})

    async with playing(answer) as agent, open_app(agent.url, (120, 36)) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("1 of 1 listed")
        row = driver.line("│▌")
        widths = [len(found) for letter in "rm" for found in re.findall(f"{letter}{{3,}}…?", row)]
        assert widths == [request_shown, message_shown]
        assert driver.line("LAST MESSAGE").index("LAST MESSAGE") == row.index("mmm")


async def test_a_heading_that_is_clicked_sorts_and_the_cursor_stays_on_its_task(open_app: Open):
    office = Office(6)
    async with playing(office.answer) as agent, open_app(agent.url, (120, 36)) as driver:
        await opened(driver)
        for page in (2, 4, 6):
            await driver.press("l")
            await driver.until(f"{page} of 6 listed")
        assert listed(driver) == [f"task-{n:03}" for n in (5, 4, 3, 2, 1, 0)]
        selected = driver.workbench.query_one(TasksView).call_task
        await driver.click("ID ")
        assert listed(driver) == [f"task-{n:03}" for n in range(6)]
        assert driver.workbench.query_one(TasksView).call_task == selected
        assert "sorted by id" in driver.screen
        await driver.click("ID▾")
        assert listed(driver) == [f"task-{n:03}" for n in (5, 4, 3, 2, 1, 0)]
        await driver.press("h")
        assert "CONTEXT▾" in driver.screen
        await driver.press("H")
        assert "CONTEXT▴" in driver.screen


async def test_a_refresh_keeps_the_cursor_on_the_row_to_which_a_key_has_just_moved_it(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.ask("report 2")
        await driver.go(3)
        tasks, table = driver.widget("#tasks", TasksView), driver.widget("#task-table", Feed)
        await driver.until(lambda: table.line_count == 2)
        moved = 1 - table.cursor
        table.cursor = moved
        tasks.refresh_view()  # before the message about the move is handled
        assert table.cursor == moved
        await driver.settled()
        assert table.cursor == moved


async def test_words_filter_the_table_by_id_state_and_texts(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        await driver.connected()
        await driver.ask("push")
        await driver.press("ctrl+r")
        await driver.ask("ask")
        await driver.go(3)
        await driver.until("Tasks ─ 2 ")
        await driver.press("slash")
        await driver.type("summary ready")
        await driver.until("Tasks ─ 1 of 2 ─ filter summary ready")
        assert "input-required" not in driver.screen
        await driver.press("enter", "slash")
        await driver.type(" x")
        await driver.until("No task matches the filter. Press esc to show all tasks.")
        await driver.press("escape")
        await driver.until("Tasks ─ 2 ")
        await driver.press("slash")
        await driver.type("input")
        await driver.until(lambda: "completed" not in driver.screen)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("state:failed", ["task-001"]),
        ("State:WORK", ["task-000"]),
        ("context:ctx-1", ["task-001"]),
        ("task:working", []),
        ("message:failed", ["task-000"]),
        ("at:failed", []),
        ("state:", ["task-000"]),
    ],
)
async def test_a_word_with_a_name_filters_the_table_by_that_field(open_app: Open, words: str, shown: list[str]):
    said = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "state: nothing failed"}]}
    first, second = task_of(0, "WORKING"), task_of(1, "FAILED")
    first["status"]["message"] = said

    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"tasks": [first, second], "nextPageToken": "", "pageSize": 2, "totalSize": 2})

    async with playing(answer) as agent, open_app(agent.url, (120, 36)) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("Tasks ─ 2 ")
        await driver.press("slash")
        await driver.type(words)
        await driver.until(f"filter {words}")
        assert listed(driver) == shown


async def test_the_task_on_which_the_cursor_begins_is_not_opened_in_chat(open_app: Open):
    """The next message would be sent in the context of a task that was only listed."""
    office = Office(2)
    async with playing(office.answer) as agent, open_app(agent.url) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("2 of 2 listed")
        await driver.press("2")
        assert driver.workbench.chat.call_task == ""
        assert driver.composer.destination == Destination()
        await driver.press("3", "down", "2")
        assert driver.workbench.chat.call_task == "task-000"
        assert driver.composer.destination.context_id == "ctx-0"


async def test_the_task_that_chat_follows_is_not_replaced_by_a_task_chosen_earlier(open_app: Open, slow_mock: str):
    async with open_app(slow_mock) as driver:
        await driver.connected()
        await driver.ask("report 1")
        await driver.ask("report 1")
        await driver.press("escape")
        await driver.go(3)
        await driver.press("down", "alt+2", "alt+3")
        driver.composer.stream = False
        await driver.say("long 1")
        await driver.go(3)
        await driver.done(3)
        newest = driver.session.tasks.all()[0].id
        await driver.go(2)
        await driver.settled()
        assert driver.workbench.chat.call_task == newest


async def test_tasks_are_sorted_by_their_age(open_app: Open):
    """A task that was listed first may be older than one of this session."""
    now = datetime.now(UTC)
    ages = {0: 1, 1: 180, 2: 20}  # minutes

    async def answer(call: Call) -> web.StreamResponse:
        tasks = [task_of(number, "COMPLETED") for number in ages]
        for one, minutes in zip(tasks, ages.values(), strict=True):
            one["status"]["timestamp"] = (now - timedelta(minutes=minutes)).isoformat()
        return call.result({"tasks": tasks, "nextPageToken": "", "pageSize": 3, "totalSize": 3})

    async with playing(answer) as agent, open_app(agent.url, (120, 36)) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("3 of 3 listed")
        assert listed(driver) == ["task-000", "task-002", "task-001"]
        await driver.press("H")
        await driver.until("sorted by age")
        assert listed(driver) == ["task-001", "task-002", "task-000"]


async def test_cancel_asks_before_the_task_is_canceled(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        await driver.connected()
        await driver.ask("ask")
        await driver.go(3)
        await driver.press("x")
        await driver.until("Cancel the task")
        await driver.press("escape")
        assert not driver.sent("CancelTask")
        await driver.press("x")
        await driver.until("Cancel the task")
        await driver.press("enter")
        await driver.until(lambda: driver.sent("CancelTask"))
        await driver.until("⊘ canceled")


async def test_enter_opens_chat_at_the_task(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        await driver.connected()
        await driver.ask("push")
        await driver.press("ctrl+r")
        await driver.ask("ask")
        second, first = driver.session.tasks.all()
        await driver.go(3)
        await driver.press("down", "enter")
        await driver.until(lambda: driver.workbench.view == "chat")
        assert driver.workbench.chat.call_task == first.id
        assert driver.workbench.chat.selected_record().task == first.id
        assert second.id != first.id


async def test_chat_and_tasks_show_the_same_task(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        await driver.connected()
        await driver.ask("push")
        await driver.press("ctrl+r")
        await driver.ask("ask")
        second, first = driver.session.tasks.all()
        await driver.press("escape", "3")
        tasks = driver.workbench.query_one(TasksView)
        assert tasks.call_task == second.id
        await driver.press("down", "2")
        assert driver.workbench.chat.call_task == first.id
        assert f"Timeline ─ {first.id[:8]}" in driver.screen
        assert not driver.timeline.following
        await driver.press("G")
        assert driver.workbench.chat.call_task == second.id
        await driver.press("3", "2")
        assert driver.timeline.following, "the same task is not opened again"


async def test_sending_from_tasks_follows_the_new_task(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        await driver.connected()
        await driver.ask("push")
        await driver.press("ctrl+r")
        await driver.ask("push")
        await driver.press("escape", "3", "down")
        driver.composer.fill("report 2")
        driver.composer.action_send(True)
        await driver.done(3)
        assert driver.timeline.following
        assert driver.workbench.chat.call_task == driver.session.tasks.all()[0].id
