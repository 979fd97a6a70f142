"""`task get`, `download`, `cancel`, `list` and `subscribe`: print tasks and their artifacts, cancel and follow them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from inspector.cli import lazy_loading
from inspector.cli.arguments import Invocation
from inspector.cli.fields import Presenter
from inspector.cli.follow_task import Follower, conclude, get_task, wait_for
from inspector.cli.run_command import command
from inspector.cli.running_command import UNSUPPORTED, RunningCommand, option
from inspector.cli.task_table import TaskTable
from inspector.protocol.assemble import TextAppended
from inspector.protocol.errors import Fault, FaultError, Whose
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Event, ListTasksRequest, Task, TaskList
from inspector.protocol.operations import Operation

_MOST_PAGES = 10_000
"""The maximum number of requested pages, because an agent may return pages without end."""
_ENDLESS = "The pages have no end: after {:,} pages, the agent repeats a page token or names yet another page."
_ONE_PAGE = "Leave out --all, and request page by page with --page-token."

_FILTERS = {
    "context_id": "context_id",
    "status": "status",
    "page_size": "page_size",
    "page_token": "page_token",
    "history": "history_length",
    "after": "status_timestamp_after",
}
"""Options, and the members of `ListTasksRequest` that they set."""


@command
async def get(current: RunningCommand) -> None:
    """Print a task, at once or when it has ended."""
    await current.connect_for()
    given = current.invocation.given
    task = await get_task(current, given.id)
    if given.wait:
        task = await wait_for(current, task, lambda _: None)
    Presenter.of(current).show(task)
    if given.save is not None:
        lazy_loading.save(current.out, given.save, task)
    conclude(current, task.status.state)


@command
async def download(current: RunningCommand) -> None:
    """Save the artifacts of a task, and print the files (with `-o json`: the task)."""
    await current.connect_for()
    given, out = current.invocation.given, current.out
    task = await get_task(current, given.id)
    if given.wait:
        task = await wait_for(current, task, lambda _: None)
    presenter = Presenter.of(current)
    if out.json:
        presenter.show(task)
    else:
        presenter.summary(task.id, task.context_id or "", task.status.state)
    lazy_loading.save(out, given.save, task)
    conclude(current, task.status.state)


@command
async def cancel(current: RunningCommand) -> None:
    """Cancel a task and print the result."""
    await current.connect_for()
    task_id = current.invocation.given.id
    await current.request_state(task_id)
    task = await current.ask(current.session.cancel(task_id), Task)
    Presenter.of(current).show(task)
    conclude(current, task.status.state, wanted=State.CANCELED)


@command
async def subscribe(current: RunningCommand) -> None:
    """Follow a task until it ends or needs input (a2a-cli 0.2 section 9.4)."""
    await current.connect_for(Operation.SUBSCRIBE)
    given, presenter = current.invocation.given, Presenter.of(current)
    await current.request_state(given.id)

    def show(events: Sequence[Event | TextAppended]) -> None:
        if given.stream:
            presenter.show_stream(events)

    try:
        task = await Follower(current, show).follow(current.session.subscribe(given.id))
    except FaultError as error:
        if error.fault.code != UNSUPPORTED:
            raise
        command = current.task_command(given.id)
        raise FaultError(replace(error.fault, hint=f"{error.fault.hint} Print the task: {command}")) from error
    if task is None:
        return
    if not given.stream:
        task = await get_task(current, given.id)  # with the events before the subscription
        presenter.show(task)
    elif not current.out.json:
        presenter.summary(task.id, task.context_id or "", task.status.state)
    conclude(current, task.status.state)


@command
async def list_tasks(current: RunningCommand) -> None:
    """List tasks, the latest change of status first (A2A 1.0 section 3.1.4)."""
    await current.connect_for(Operation.LIST)
    given, out, request = current.invocation.given, current.out, _request(current.invocation)
    show = _printer(current)
    pages: list[TaskList] = []
    seen = {request.page_token}
    while True:
        call = current.session.list_tasks(request)
        page = await current.ask(call, TaskList, unsupported_hint="Use task get to print one task by its id.")
        pages.append(page)
        if given.stream or not out.json:
            show(page.tasks)
        token = page.next_page_token
        if not given.all or not token:
            break
        if token in seen or len(pages) >= _MOST_PAGES:
            raise FaultError(Fault(Whose.AGENT, "InvalidAgentResponseError", _ENDLESS.format(len(pages)), _ONE_PAGE))
        seen.add(token)
        request = request.model_copy(update={"page_token": token})
    if not out.json:
        _sum_up(current, pages)
    elif not given.stream:  # several pages are printed as one: the last page, with the tasks of all pages
        tasks = [task for page in pages for task in page.tasks]
        out.document((pages[-1].model_copy(update={"tasks": tasks}) if pages[1:] else pages[0]).to_json())


def _printer(current: RunningCommand) -> Callable[[Sequence[Task]], None]:
    """Return what prints the tasks of a page: a table in a terminal, elsewhere fields (a2a-cli 0.2 section 11.2).

    With `-o json`, and with options about more members, all members are printed.
    """
    given, presenter = current.invocation.given, Presenter.of(current)
    more = current.invocation.verbose or given.history is not None or given.include_artifacts
    width = current.out.width
    if width is not None and not (current.out.json or more):
        return TaskTable(current.out, width).show

    def show(tasks: Sequence[Task]) -> None:
        for task in tasks:
            presenter.show(task)

    return show


def _request(invocation: Invocation) -> ListTasksRequest:
    typed = vars(invocation.given)
    filters: dict[str, Any] = {name: typed[flag] for flag, name in _FILTERS.items() if typed[flag] is not None}
    if invocation.given.include_artifacts:
        filters["include_artifacts"] = True
    return ListTasksRequest(**filters)


def _sum_up(current: RunningCommand, pages: list[TaskList]) -> None:
    """Print how many tasks there are, and the command for the next page if there is one."""
    out = current.out
    shown, total = sum(len(page.tasks) for page in pages), pages[-1].total_size
    if not shown and not total:
        out.field("Tasks", "none")
    else:
        out.field("Tasks", f"{shown:,}" if total is None else f"{shown:,} of {total:,}")
    if token := pages[-1].next_page_token:
        out.field("Next page token", token)
        out.field(
            "Next page",
            out.redact(current.shell_command("task", "list", *_next_page_arguments(current.invocation, token))),
        )


def _next_page_arguments(invocation: Invocation, token: str) -> list[str]:
    typed = vars(invocation.given) | {"page_token": token}
    given = [(f"--{flag.replace('_', '-')}", str(typed[flag])) for flag in _FILTERS if typed[flag] is not None]
    words = [word for name, value in given for word in option(name, value)]
    return [*words, *(("--include-artifacts",) if typed["include_artifacts"] else ())]
