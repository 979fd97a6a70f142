"""Remember which tasks the pages of a list contained: each response to ListTasks has the token of the next page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from inspector.protocol.model import ListTasksRequest, TaskList

_MOST_TOKENS = 1000
_MOST_TASKS = 100_000
"""How many tokens, and how many tasks of one list, are remembered: an agent may send pages without end."""


class Page(NamedTuple):
    """A page of a list: its number, from 1, and for each task in the list the number of the first page with it."""

    number: int
    listed: Mapping[str, int]


class ListedPages:
    """The pages that can be requested next in a session, by token and filter."""

    def __init__(self) -> None:
        self._pages: dict[tuple[str | None, ...], tuple[int, dict[str, int]]] = {}

    def page_of(self, request: object) -> Page:
        """Return the page that a request asks for; it is the first page of a list unless its token is known."""
        if not isinstance(request, ListTasksRequest) or not request.page_token:
            return Page(1, {})
        return Page(*self._pages.get(_key(request, request.page_token), (1, {})))

    def add(self, request: ListTasksRequest, answer: TaskList) -> None:
        """Remember the tasks of a page, and the token of the next page."""
        token = request.page_token
        number, listed = self._pages.get(_key(request, token), (1, {})) if token else (1, {})
        for task in answer.tasks:
            if task.id and len(listed) < _MOST_TASKS:
                listed.setdefault(task.id, number)
        if answer.next_page_token:
            key = _key(request, answer.next_page_token)
            self._pages.pop(key, None)
            self._pages[key] = number + 1, listed
            if len(self._pages) > _MOST_TOKENS:
                del self._pages[next(iter(self._pages))]


def _key(request: ListTasksRequest, token: str) -> tuple[str | None, ...]:
    """Return what identifies a page: its token, with the filter of the list."""
    return request.tenant, request.context_id, request.status, request.status_timestamp_after, token
