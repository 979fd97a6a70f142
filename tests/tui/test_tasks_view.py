"""The Tasks view: lists with filters and pages, and polling."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from driving import Driver, Open
from players import playing
from puppets import Call

from inspector.capture.records import Kind


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


async def opened(driver: Driver) -> None:
    await driver.connected()
    await driver.go(3)


async def test_tasks_are_listed_page_by_page(open_app: Open):
    office = Office(5)
    async with playing(office.answer) as agent, open_app(agent.url) as driver:
        await opened(driver)
        assert not driver.enabled("n")
        await driver.press("l")
        await driver.until("2 of 5 listed, n: next page")
        await driver.press("n")
        await driver.until("4 of 5 listed, n: next page")
        await driver.press("n")
        await driver.until(lambda: "5 of 5 listed" in driver.screen and "n: next" not in driver.line("TASKS"))
        assert not driver.enabled("n")
        assert [asked.get("pageToken") for asked in office.asked] == [None, "2", "4"]
        assert all(f"task-{n:03}" in driver.screen for n in range(5))


async def test_a_filter_applies_to_the_table_and_to_list_tasks(open_app: Open):
    office = Office(4)
    async with playing(office.answer) as agent, open_app(agent.url) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("2 of 4 listed")
        await driver.press("slash")
        await driver.type("ctx-1")
        await driver.press("enter")
        await driver.type("dreaming")
        await driver.press("enter", "enter")
        await driver.until("dreaming is not a task state")
        field = driver.app.screen.query_one("#field-state")
        field.value = "working"
        await driver.press("enter")
        await driver.until("context ctx-1   state working")
        assert office.asked[-1] == {"contextId": "ctx-1", "status": "TASK_STATE_WORKING"}
        await driver.until("2 of 2 listed")
        assert "task-000" not in driver.screen
        assert "task-001" in driver.screen


async def test_several_tasks_are_polled_concurrently_until_they_end(open_app: Open):
    office = Office(2, moves=20)
    async with playing(office.answer) as agent, open_app(agent.url, (110, 40)) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.until("2 of 2 listed")
        await driver.press("W")
        field = driver.app.screen.query_one("#field-seconds")
        field.value = "0"
        await driver.press("enter")
        await driver.until("Enter a number of seconds")
        field.value = "0.2"
        await driver.press("enter", "w", "down", "w")
        await driver.until(lambda: driver.screen.count("⟳ 0.2s") == 2)
        await driver.until(lambda: driver.screen.count("● completed") >= 2 and "⟳ 0.2s" not in driver.screen)
        assert office.left == {"task-000": 0, "task-001": 0}
        assert not driver.enabled("w")
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
        await driver.press("w")
        await driver.until("⟳ 2s")
        await driver.press("w")
        await driver.until(lambda: "⟳ 2s" not in driver.screen)
        assert driver.records(Kind.NOTE, event="poll")[-1].label == "polled task task-000 1 time: it was stopped"
