"""A task that is listed on two pages of one list is found, over every transport; tasks of other lists are not."""

from __future__ import annotations

import pytest
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession

from inspector.protocol.model import ListTasksRequest, Task, TaskList, TaskStatus
from inspector.session.listed_pages import ListedPages
from inspector.session.session import Session

RULE = "RESULT-015"
WAYS = [
    *[(version, binding) for version in ("1.0", "1.1") for binding in ("JSONRPC", "HTTP+JSON", "GRPC")],
    ("0.3", "HTTP+JSON"),
]
"""The versions and bindings that have ListTasks."""


def pages_of(*pages: str) -> dict[str, TaskList]:
    """Return pages with these tasks (one letter each) by their tokens; the token of a page is its index."""
    found = {}
    for number, ids in enumerate(pages):
        tasks = [Task(id=letter, context_id="c", status=TaskStatus(state="TASK_STATE_COMPLETED")) for letter in ids]
        token = str(number + 1) if number + 1 < len(pages) else ""
        found[str(number or "")] = TaskList(tasks=tasks, next_page_token=token, page_size=50, total_size=9)
    return found


async def listed(session: Session, token: str = "", **more: str) -> list[str]:
    """List a page, and return what was found about tasks on two pages."""
    before = session.journal.last_seq
    assert await session.list_tasks(ListTasksRequest(page_token=token or None, **more)).finish() is None
    records = session.journal.capture.slice(before + 1, 100)
    return [f"{found.pointer} {found.seen}" for record in records for found in record.findings if found.rule == RULE]


@pytest.mark.parametrize(("version", "binding"), WAYS)
async def test_a_task_on_two_pages_is_found(
    version: str, binding: str, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
):
    pages = pages_of("abc", "cd", "ad")
    agent = MockAgent(Profile(versions=("1.0", "1.1", "0.3")), pace=0)
    monkeypatch.setattr(
        "inspector.sample_agents.service.Service._list", lambda _, request, __: pages[request.page_token or ""]
    )
    await agent.start()
    try:
        session = await open_session(agent.url, version=version, transports=(binding,))
        assert (session.choice.dialect.version, session.choice.binding.name) == (version, binding)
        root = "/result" if binding == "JSONRPC" else ""
        assert await listed(session) == []
        assert await listed(session, "1") == [f"{root}/tasks/0/id 'c' is also on page 1 of the list"]
        assert await listed(session, "2") == [
            f"{root}/tasks/0/id 'a' is also on page 1 of the list",
            f"{root}/tasks/1/id 'd' is also on page 2 of the list",
        ]
    finally:
        await agent.stop()


def page_after(pages: ListedPages, request: ListTasksRequest, answer: TaskList) -> list[str]:
    """Return the tasks of a page that an earlier page contains, too, and remember the page."""
    page = pages.page_of(request)
    twice = [task.id for task in answer.tasks if page.listed.get(task.id, page.number) < page.number]
    pages.add(request, answer)
    return twice


def test_a_page_or_a_list_that_is_requested_again_has_no_findings():
    known, pages = ListedPages(), pages_of("ab", "cd", "e")
    for _ in range(2):
        for token in ("", "1", "1", "2", "1", "2"):
            assert page_after(known, ListTasksRequest(page_token=token or None), pages[token]) == []


def test_lists_with_other_filters_are_other_lists():
    known, pages = ListedPages(), pages_of("ab", "ab")
    for filtered in ({}, {"context_id": "c"}, {"status": "TASK_STATE_FAILED"}, {"status_timestamp_after": "2026"}):
        assert page_after(known, ListTasksRequest(**filtered), pages[""]) == []
    other = ListTasksRequest(page_token="1", tenant="another")
    assert page_after(known, other, pages["1"]) == []
    assert page_after(known, ListTasksRequest(page_token="1", context_id="c"), pages["1"]) == ["a", "b"]


def test_lists_without_end_are_forgotten():
    known = ListedPages()
    for number in range(3000):
        first = TaskList(tasks=pages_of("a")[""].tasks, next_page_token=f"of {number}")
        page_after(known, ListTasksRequest(), first)
    assert len(known._pages) == 1000
    assert page_after(known, ListTasksRequest(page_token="of 0"), pages_of("a")[""]) == []
    assert page_after(known, ListTasksRequest(page_token="of 2999"), pages_of("a")[""]) == ["a"]
