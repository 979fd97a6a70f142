"""The pane around the card, with the representations of the card in its title."""

from __future__ import annotations

from collections.abc import Sequence

from textual.message import Message

from inspector.lazy_dataclass import dataclass
from inspector.tui.keys import key_of
from inspector.tui.widgets.pane import Chip, NextChip, Pane

SECTIONS = ("card", "raw", "extended", "changes")
"""The representations of the card, in the order in which a key steps through them."""
_EDIT = "edit"


class AgentPane(Pane):
    """Shows the representations of the card in its title, where they can be clicked."""

    @dataclass
    class Chosen(Message):
        """A representation was clicked."""

        section: str

    def show(self, sections: Sequence[str], current: str, changes: int, pointer: str, *, of_extended: bool) -> None:
        """Show the names of the representations, the number of changes, and the place in the raw card.

        The editor is not one of them, because it has a key of its own.
        """
        names = {"connecting": "result", "changes": f"changes {changes:,}" if changes else "changes"}
        first, *others = (
            (names.get(section, section), "bold $foreground" if section == current else "$text-soft", section)
            for section in sections
        )
        edit = Chip(f"{key_of('edit-card')}: edit", "bold $foreground" if current == _EDIT else "$bar", _EDIT)
        chips = [Chip(*first), *(NextChip(*other) for other in others), edit]
        self.set_title(*chips, note=(Chip("extended card" if of_extended else "", "bold"), Chip(pointer)))

    def chosen(self, target: str) -> None:
        """Report the representation that was clicked."""
        self.post_message(self.Chosen(target))
