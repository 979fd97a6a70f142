"""The views of the workbench, of which Agent is mounted first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from textual.dom import DOMNode

from inspector.session.session import Session
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.views.agent import AgentView
from inspector.tui.views.base import View
from inspector.tui.views.registry import VIEWS, entry_of
from inspector.tui.widgets.switcher import Switcher

if TYPE_CHECKING:  # loaded later
    from inspector.tui.views.chat import ChatView
    from inspector.tui.views.checks import ChecksView
    from inspector.tui.views.tasks import TasksView
    from inspector.tui.views.webhooks import WebhooksView


class ViewSwitcher(Switcher):
    """Shows one of the views.

    The Agent view is mounted first, so that the card appears early. Another view is loaded and mounted after the card
    is drawn, or before that if the user goes to it.
    """

    def __init__(self, session: Session, glyphs: Glyphs, chosen: str) -> None:
        super().__init__(id="views")
        self._session = session
        self._glyphs = glyphs
        self._chosen = chosen
        self._views: dict[str, View] = {}
        self._adding = asyncio.Lock()
        self.agent = AgentView(session, glyphs, id="agent")

    @property
    def chat(self) -> ChatView:
        """The Chat view, which must be mounted."""
        return cast("ChatView", self._views["chat"])

    @property
    def webhooks(self) -> WebhooksView:
        """The Webhooks view, which must be mounted."""
        return cast("WebhooksView", self._views["webhooks"])

    @property
    def checks(self) -> ChecksView:
        """The Checks view, which must be mounted."""
        return cast("ChecksView", self._views["checks"])

    @property
    def tasks(self) -> TasksView:
        """The Tasks view, which must be mounted."""
        return cast("TasksView", self._views["tasks"])

    def has(self, view: str) -> bool:
        """Whether a view is mounted."""
        return view in self._views

    @property
    def view(self) -> View:
        """The view that the user chose, or the Agent view until that is mounted."""
        return self._views.get(self._chosen, self.agent)

    def show(self, chosen: str) -> None:
        """Show and focus a view; a view that is not mounted yet is shown by `add`."""
        self._chosen = chosen
        if chosen in self._views:
            self.current = chosen
            self.view.refresh_view()
            self.view.focus_first()

    def carry_task(self, before: str, view: str) -> None:
        """Select the task of Chat in Tasks, and open the task that the user selected in Tasks in Chat."""
        if {before, view} <= self._views.keys():
            if (before, view) == ("chat", "tasks"):
                self.tasks.select_task(self.chat.call_task)
            elif (before, view) == ("tasks", "chat") and self.tasks.chosen_task not in ("", self.chat.call_task):
                self.chat.open_task(self.tasks.chosen_task)

    def names_with(self, command: str) -> list[str]:
        """Return the titles of the mounted views in which a command has a key."""
        return [
            entry.title
            for entry in VIEWS
            if (view := self._views.get(entry.id)) is not None
            and any(_binds(node, command) for node in (view, *view.query("*")))
        ]

    async def add_agent(self) -> None:
        """Mount the Agent view."""
        await self._add(self.agent)

    async def add(self, name: str, set_up: Callable[[View], None]) -> None:
        """Load and mount a view unless it is mounted, and show it if the user chose it; call `set_up` before that."""
        async with self._adding:
            if name in self._views:
                return
            view = (await asyncio.to_thread(entry_of(name).load))(self._session, self._glyphs, id=name)
            if await self._add(view):
                set_up(view)
                if name == self._chosen:
                    self.show(name)

    async def _add(self, view: View) -> bool:
        """Mount a view; return False if the app or the session has ended meanwhile."""
        view.display = False
        if self.is_attached:
            await self.mount(view)
        if view.is_attached:
            self._views[str(view.id)] = view
        return view.is_attached


def _binds(node: DOMNode, command: str) -> bool:
    """Return whether a node has a key for a command."""
    return any(binding.id == command for _, binding in node._bindings)
