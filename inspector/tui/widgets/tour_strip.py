"""The strip of the tour: two lines above the keys, which say what to look at, and have keys while they are focused."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static


class Move(StrEnum):
    """Where the user wants to go on the tour."""

    ON = "on"
    NEXT = "next"
    BACK = "back"
    LEAVE = "leave"


class Where(NamedTuple):
    """Where the tour is: the number of the stop, of how many, and its name."""

    stop: int
    stops: int
    title: str


class TourStrip(Static, can_focus=True):
    """Says where the tour is; it has its keys only while it has the focus, so that they are in nobody's way."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,right", "move('on')", "go on", id="tour.on", tooltip="Do what the tour offers", show=False),
        Binding("n", "move('next')", "next stop", id="tour.next", tooltip="To the next stop of the tour"),
        Binding("b,left", "move('back')", "back", id="tour.back", tooltip="To the stop of the tour before"),
        Binding("escape", "move('leave')", "leave the tour", id="tour.leave", tooltip="Leave the tour"),
    ]

    class Moved(Message):
        """The user wants to go somewhere."""

        def __init__(self, move: Move) -> None:
            super().__init__()
            self.move = move

    def __init__(self) -> None:
        super().__init__()
        self.enter_hint = ""
        self._where = Where(0, 0, "")
        self._say = ""

    def show(self, where: Where, say: str, enter_hint: str) -> None:
        """Say something at a stop; `enter_hint` is what enter does."""
        self._where, self._say, self.enter_hint = where, say, enter_hint
        self.refresh()
        self.refresh_bindings()

    def render(self) -> Content:
        """Draw the text, behind where the tour is or, while others have the keys, which one brings them back."""
        where = self._where
        head = [("TOUR", "bold $bar")] if self.has_focus else [("f2", "$bar"), (" TOUR", "bold $text-soft")]
        number = (f" {where.stop}/{where.stops}  ", "$text-soft")
        return Content.assemble(*head, number, (f"{where.title}  ", "bold"), self._say)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Have no next stop at the last one."""
        if parameters == (Move.NEXT,):
            return self._where.stop < self._where.stops
        return super().check_action(action, parameters)

    def action_move(self, move: str) -> None:
        """Ask for a move."""
        self.post_message(self.Moved(Move(move)))
