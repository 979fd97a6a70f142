"""Lines of words that can be clicked: the tabs of the views, and chips."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widgets import Static

from inspector.lazy_dataclass import dataclass
from inspector.tui.render.content import plain
from inspector.tui.views.registry import VIEWS

_TARGET = "target"


def clickable(content: Content, target: str) -> Content:
    """Return the content as a text for which `clicked` returns the target."""
    return content.stylize(Style.from_meta({_TARGET: target}))


def clicked(event: events.Click) -> str:
    """Return the target of the text under the pointer, `""` if it has none."""
    return str(event.style.meta.get(_TARGET, ""))


class ViewTabs(Static):
    """Shows the views with their numbers, and reports the view that is clicked."""

    @dataclass
    class Chosen(Message):
        """A view was clicked."""

        view: str

    current: reactive[str] = reactive("")

    def __init__(self, current: str) -> None:
        super().__init__()
        self.set_reactive(ViewTabs.current, current)

    def render(self) -> Content:
        """Draw the names, or only numbers where they do not fit; the current view is a filled block with its name."""
        fits = sum(len(f" {number} {view.title}  ") for number, view in enumerate(VIEWS, 1)) <= self.size.width + 1
        tabs: list[Content] = []
        for number, view in enumerate(VIEWS, 1):
            current = view.id == self.current
            styles = ("bold $background on $bar",) * 2 if current else ("$bar", "$text-soft")
            title = f"{view.title} " if fits or current else ""
            tab = Content.assemble((f" {number} ", styles[0]), (title, styles[1]))
            tabs += [clickable(tab, view.id), Content(" ")]
        return Content.assemble(*tabs)

    def on_click(self, event: events.Click) -> None:
        """Report the view under the pointer."""
        if view := clicked(event):
            self.post_message(self.Chosen(view))


class Chips(Static):
    """Shows words beside each other that can be clicked; the pane around it handles the click."""

    _chips: Sequence[tuple[str, str, str]] = ()

    def show(self, chips: Sequence[tuple[str, str, str]]) -> None:
        """Show words, each with its style and the target of a click."""
        if chips != self._chips:
            self._chips = chips
            contents = [clickable(plain(text, limit=40).stylize(style), target) for text, style, target in chips]
            self.update(Content("  ").join(contents), layout=False)
