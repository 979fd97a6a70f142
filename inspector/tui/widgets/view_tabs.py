"""The tabs of the views, and those of a view that shows several sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from inspector.tui.render.content import plain
from inspector.tui.views.registry import VIEWS, ViewEntry


class ViewTabs(Static):
    """Shows the views with their numbers and asks for the one that is clicked."""

    class Chosen(Message):
        """A view was clicked."""

        def __init__(self, view: str) -> None:
            super().__init__()
            self.view = view

    current: reactive[str] = reactive("")

    def __init__(self, current: str) -> None:
        super().__init__()
        self.set_reactive(ViewTabs.current, current)

    def render(self) -> Content:
        """Draw the names, the current one marked."""
        return Content("   ").join([self._tab(number, view) for number, view in enumerate(VIEWS, 1)])

    def _tab(self, number: int, view: ViewEntry) -> Content:
        if view.id == self.current:
            return Content.assemble((f"{number} ", "$bar"), (view.title, "bold $bar"))
        return Content.assemble((f"{number} ", "$wire-quiet"), (view.title, "$text-soft"))

    def on_click(self, event: events.Click) -> None:
        """Ask for the view under the pointer."""
        at = event.get_content_offset(self)
        if at is None:
            return
        end = 0
        for view in VIEWS:
            end += len(view.title) + 5
            if at.x < end:
                self.post_message(self.Chosen(view.id))
                return


_GAP = "   "


class SectionTab(NamedTuple):
    """A way to look at something: its id, and its name and key as they are shown."""

    id: str
    name: str
    key: str = ""


class SectionTabs(Static):
    """Shows the faces and a note behind them; a click on one asks for it."""

    class Chosen(Message):
        """A face was clicked."""

        def __init__(self, face: str) -> None:
            super().__init__()
            self.face = face

    def __init__(self, title: str, *, id: str, classes: str) -> None:  # noqa: A002 - as every widget of Textual's calls it
        super().__init__(id=id, classes=classes)
        self._title = title
        self._faces: Sequence[SectionTab] = ()

    def show(self, faces: Sequence[SectionTab], current: str, note: str = "") -> None:
        """Show these faces, one of which is seen, and what is to be said of it."""
        self._faces = faces
        pieces: list[Content | tuple[str, str]] = [(self._title, "bold")]
        for face in faces:
            pieces.append((_GAP + face.name, "bold $foreground" if face.id == current else "$text-soft"))
            pieces.append((f" {face.key}" if face.key else "", "$bar"))
        self.update(Content.assemble(*pieces, _GAP, plain(note)))

    def on_click(self, event: events.Click) -> None:
        """Ask for the face whose name is clicked."""
        at = event.get_content_offset(self)
        if at is None:
            return
        end = len(self._title)
        for face in self._faces:
            start = end + len(_GAP)
            end = start + len(face.name) + (len(face.key) + 1 if face.key else 0)
            if start <= at.x < end:
                self.post_message(self.Chosen(face.id))
