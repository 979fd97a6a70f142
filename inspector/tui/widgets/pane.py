"""A pane: a box with a title and a note in its border; their words can be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import events
from textual.containers import Vertical
from textual.content import Content

from inspector.tui.render.content import plain
from inspector.tui.widgets.view_tabs import clickable, clicked

_LONGEST = 60


class Chip(NamedTuple):
    """A word in the border: a text, which may come from an agent, its style, and the target of a click, if any."""

    text: str
    style: str = ""
    target: str = ""


class NextChip(Chip):
    """A word that is separated from the word before it by a space instead of a line."""


class Pane(Vertical):
    """A box around widgets; a subclass handles clicks on the words of its border in `chosen`."""

    ALLOW_MAXIMIZE = True  # maximise the pane with its border, not only the list in it

    def __init__(
        self,
        title: str = "",
        *,
        id: str | None = None,
        classes: str = "",
    ) -> None:
        super().__init__(id=id, classes=f"pane {classes}".strip())
        self._border: tuple[tuple[Chip, ...], tuple[Chip, ...]] = ((), ())
        self._title = title
        self.set_title()

    def on_mount(self) -> None:
        """Show the focus in the border from now on."""
        self.watch(self.screen, "focused", self._show_focus)

    def _show_focus(self) -> None:
        """Style the border for the focus; `:focus-within` would style all widgets in the pane again."""
        if self.has_focus_within is not self.has_class("-focused"):
            self.set_class(self.has_focus_within, "-focused", update=False)
            self.app.stylesheet.update_nodes([self])

    def set_title(self, *chips: Chip, name: str | None = None, note: Sequence[Chip] = ()) -> None:
        """Show words after the name of the pane, and a note in the lower border.

        `name` is another name, or `""` for none.
        """
        title, note = (Chip(self._title if name is None else name, "bold"), *chips), tuple(note)
        if (title, note) != self._border:
            self._border = title, note
            self.border_title = _joined(title)
            self.border_subtitle = _joined(note)

    def chosen(self, target: str) -> None:
        """Handle a click on a word with a target."""

    def on_click(self, event: events.Click) -> None:
        """Report the word under the pointer."""
        if target := clicked(event):
            event.stop()
            self.chosen(target)


def _joined(chips: Sequence[Chip]) -> Content:
    pieces: list[Content] = []
    for word in chips:
        if word.text:
            if pieces:
                pieces.append(Content(" ") if isinstance(word, NextChip) else Content.styled(" ─ ", "$rule"))
            pieces.append(clickable(plain(word.text, limit=_LONGEST).stylize(word.style), word.target))
    return Content.assemble(*pieces)
