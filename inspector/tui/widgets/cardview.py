"""The card as a person reads it, its examples under the cursor one key away from the composer."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from inspector.tui.render.card import CardLines
from inspector.tui.widgets.cursor import CursorView


class CardView(CursorView):
    """Draws a card's lines; enter on an example asks for it to be tried."""

    DEFAULT_CSS = """
    CardView {
        overflow-x: hidden;
        & > .card--text { color: $foreground; }
        & > .card--muted { color: $text-soft; }
        & > .card--label { color: $wire-quiet; }
        & > .card--title { color: $foreground; text-style: bold; }
        & > .card--heading { color: $bar; text-style: bold; }
        & > .card--example { color: $wire-sent; }
        & > .card--good { color: $state-good; }
        & > .card--warning { color: $state-warning; }
        & > .card--bad { color: $state-bad; }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "card--text",
        "card--muted",
        "card--label",
        "card--title",
        "card--heading",
        "card--example",
        "card--good",
        "card--warning",
        "card--bad",
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "next_example(1)", "next example", id="agent.next", tooltip="To the next example", show=False),
        Binding("shift+tab", "next_example(-1)", "", id="agent.previous", tooltip="To the one before", show=False),
    ]

    enter_hint = "try the example"

    class Tried(Message):
        """An example is to be written into the composer."""

        def __init__(self, example: str) -> None:
            super().__init__()
            self.example = example

    def action_next_example(self, step: int) -> None:
        """Move the cursor to the next example in a direction, or give the focus on where there is none."""
        if isinstance(self.source, CardLines):
            ahead = [line for line in self.source.examples() if (line - self.cursor) * step > 0]
            if ahead:
                self.cursor = min(ahead) if step > 0 else max(ahead)
                return
        self.screen.focus_next() if step > 0 else self.screen.focus_previous()

    @property
    def example(self) -> str:
        """Return the example under the cursor, `""` where there is none."""
        return self.source.example(self.cursor) if isinstance(self.source, CardLines) else ""

    def _opened(self) -> None:
        if self.example:
            self.post_message(self.Tried(self.example))
        else:
            self.action_next_example(1)
