"""The list of views; the tabs, keys and commands of the workbench are made from it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from textual.binding import Binding

from inspector.tui.keys import VIEW

if TYPE_CHECKING:
    from inspector.tui.views.base import View


class ViewEntry(NamedTuple):
    """One view: its id, its title, and its class as `module:class`, which is imported on first use."""

    id: str
    title: str
    path: str

    def load(self) -> type[View]:
        """Import the class."""
        module, _, name = self.path.partition(":")
        view: type[View] = getattr(import_module(module), name)
        return view


VIEWS = [
    ViewEntry("agent", "Agent", "inspector.tui.views.agent:AgentView"),
    ViewEntry("chat", "Chat", "inspector.tui.views.chat:ChatView"),
    ViewEntry("tasks", "Tasks", "inspector.tui.views.tasks:TasksView"),
    ViewEntry("webhooks", "Webhooks", "inspector.tui.views.webhooks:WebhooksView"),
    ViewEntry("traffic", "Traffic", "inspector.tui.views.traffic:TrafficView"),
    ViewEntry("findings", "Findings", "inspector.tui.views.findings:FindingsView"),
    ViewEntry("checks", "Checks", "inspector.tui.views.checks:ChecksView"),
]
"""The views in the order of their number keys."""

ALL_VIEWS = tuple(entry.id for entry in VIEWS)
"""The ids of all views."""


def entry_of(view: str) -> ViewEntry:
    """Return the entry of the view with an id."""
    return next(entry for entry in VIEWS if entry.id == view)


def key_of_view(view: str) -> str:
    """Return the key that goes to a view."""
    return next(str(number) for number, entry in enumerate(VIEWS, 1) if entry.id == view)


def view_bindings() -> list[Binding]:
    """Return the keys of the views."""
    return [
        Binding(
            f"{number},alt+{number}",
            f"go('{view.id}')",
            view.title,
            id=VIEW + view.id,
            tooltip=f"Go to {view.title}",
            show=False,
        )
        for number, view in enumerate(VIEWS, 1)
    ]
