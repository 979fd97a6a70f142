"""`task list`: the tasks that an agent keeps, a page or all of them (A2A 1.0 section 3.1.4)."""

from __future__ import annotations

from typing import Any

from inspector.cli.arguments import Invocation
from inspector.cli.fields import Presenter
from inspector.cli.output import Output
from inspector.cli.run_command import Run, run, unfit
from inspector.protocol.errors import Fault, FaultError, Whose
from inspector.protocol.model import ListTasksRequest, TaskList
from inspector.protocol.operations import Operation

_MOST_PAGES = 10_000
"""An agent that always has one more page would fill this machine."""

_FILTERS = {
    "context_id": "context_id",
    "status": "status",
    "page_size": "page_size",
    "page_token": "page_token",
    "history": "history_length",
    "after": "status_timestamp_after",
}


def list_tasks(invocation: Invocation, out: Output) -> int:
    """List tasks, those whose status changed last first."""
    out.lines = out.json and invocation.given.stream
    return run(invocation, out, _list)


async def _list(current: Run) -> None:
    await current.connect()
    current.check_interface()
    current.allow(Operation.LIST)
    given, request = current.invocation.given, _request(current.invocation)
    pages: list[TaskList] = []
    seen = {request.page_token}
    while True:
        page = await current.call(current.session.list_tasks(request), undone="task get shows one task by its id.")
        if not isinstance(page, TaskList):
            raise unfit("ListTasks", page)
        pages.append(page)
        if given.stream or not current.out.json:
            _print(current, page)
        token = page.next_page_token
        if not given.all or not token:
            break
        if token in seen or len(pages) >= _MOST_PAGES:
            raise FaultError(_endless(len(pages)))
        seen.add(token)
        request = request.model_copy(update={"page_token": token})
    if current.out.json and not given.stream:
        current.out.document(_joined(pages).to_json())
    elif not current.out.json:
        _sum_up(current, pages)


def _request(invocation: Invocation) -> ListTasksRequest:
    typed = vars(invocation.given)
    filters: dict[str, Any] = {name: typed[flag] for flag, name in _FILTERS.items() if typed[flag] is not None}
    if invocation.given.include_artifacts:
        filters["include_artifacts"] = True
    return ListTasksRequest(**filters)


def _joined(pages: list[TaskList]) -> TaskList:
    """Return the only page, or the last one with the tasks of all."""
    if len(pages) == 1:
        return pages[0]
    return pages[-1].model_copy(update={"tasks": [task for page in pages for task in page.tasks]})


def _print(current: Run, page: TaskList) -> None:
    out, given = current.out, current.invocation.given
    presenter = Presenter(out, verbose=current.invocation.verbose, history=given.history is not None)
    for task in page.tasks:
        if out.json:
            out.document(task.to_json())
        else:
            presenter.event(task)


def _sum_up(current: Run, pages: list[TaskList]) -> None:
    """Print how many tasks there are, and how to go on where there are more."""
    shown, total = sum(len(page.tasks) for page in pages), pages[-1].total_size
    current.out.field("Tasks", f"{shown:,}" if total is None else f"{shown:,} of {total:,}")
    if token := pages[-1].next_page_token:
        current.out.field("Next page token", token)
        current.out.field("More", current.out.redact(current.again("task", "list", *_again(current.invocation, token))))


def _again(invocation: Invocation, token: str) -> list[str]:
    typed = vars(invocation.given) | {"page_token": token}
    words = [
        word
        for flag in _FILTERS
        if typed[flag] is not None
        for word in (f"--{flag.replace('_', '-')}", str(typed[flag]))
    ]
    return [*words, *(("--include-artifacts",) if typed["include_artifacts"] else ())]


def _endless(pages: int) -> Fault:
    seen = f"The pages have no end: after {pages:,} the agent names one that was there, or still another."
    hint = "Without --all a page is shown by itself; --page-token asks for the next one."
    return Fault(Whose.AGENT, "InvalidAgentResponseError", seen, hint)
