"""The title of the compose screen: the message, its problems and, on a narrow screen, the names of the panes."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.lazy_dataclass import dataclass
from inspector.session.compose.draft import Draft
from inspector.text.short_id import short_id
from inspector.text.units import counted
from inspector.tui.compose.built_request import BuiltRequest
from inspector.tui.render.content import plain
from inspector.tui.widgets.view_tabs import clickable, clicked


class ComposeTitle(Static):
    """Shows what is written, and reports the pane whose name is clicked."""

    @dataclass
    class Chosen(Message):
        """The name of a pane was clicked."""

        pane: str

    def __init__(self) -> None:
        super().__init__(id="compose-title")

    def show(self, agent: str, draft: Draft, built: BuiltRequest, panes: Mapping[str, str], current: str) -> None:
        """Show the agent or, on a narrow screen, the names of `panes` with the current one in a block."""
        self.update(_title_of(agent, draft, built, panes, current), layout=False)

    def on_click(self, event: events.Click) -> None:
        """Report the pane under the pointer."""
        if pane := clicked(event):
            self.post_message(self.Chosen(pane))


def _title_of(agent: str, draft: Draft, built: BuiltRequest, panes: Mapping[str, str], current: str) -> Content:
    """Return the title of a message: its agent or the panes, its task, and how many problems and warnings it has."""
    task = f"reply to task {short_id(draft.task_id)}" if draft.task_id else "new task"
    names = [
        clickable(Content.styled(f" {name} ", "bold $background on $bar" if pane == current else "$text-soft"), pane)
        for pane, name in panes.items()
    ]
    pieces = [
        Content.styled("Compose", "bold $bar"),
        Content(" ").join(names) if names else plain(f"message to {agent}", limit=60),
        plain(task).stylize("$state-warning" if draft.task_id else "$text-soft"),
    ]
    if built.problems:
        pieces.append(Content.styled(counted(len(built.problems), "problem"), "$state-bad"))
    if built.warnings:
        pieces.append(Content.styled(f"{counted(len(built.warnings), 'warning')}, can be sent", "$state-warning"))
    return Content("   ").join(pieces)
