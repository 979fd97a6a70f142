"""The tour on the screen: two lines above the footer, with keys of their own while they have the focus."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.lazy_dataclass import dataclass
from inspector.session.journal import Journal
from inspector.tui.keys import bind, key_of
from inspector.tui.tour_steps import STOPS, Send, Step

_TITLES, _STEPS = list(STOPS), list(STOPS.values())


class Tour(Static, can_focus=True):
    """Leads through the stops: it requests to show steps and to send messages, and waits for the results."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "move('on')", "continue", "Continue the tour", show=False),
        bind("right", "move('on')", "continue", "Continue the tour", show=False),
        bind("page-down", "move('next')", "next stop", "Go to the next stop of the tour"),
        bind("left", "move('back')", "back", "Go back in the tour"),
        bind("back", "move('leave')", "leave", "Leave the tour"),
    ]

    @dataclass
    class Shown(Message):
        """Show a step, with the record that was found for it (0 for none); `focused` keeps the focus on the tour."""

        step: Step
        found: int
        focused: bool

    @dataclass
    class SendWanted(Message):
        """Send the message that the step offers."""

        tour: Tour
        send: Send

    class Left(Message):
        """The user leaves the tour."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal
        self._stop = self._step = 0
        self._looked = self._found = 0

    def on_mount(self) -> None:
        """Show the first step."""
        self.focus()
        self._show(focused=True)

    @property
    def step(self) -> Step:
        """The step that is shown."""
        return _STEPS[self._stop][self._step]

    @property
    def _over(self) -> bool:
        """Whether this is the last step."""
        return self._stop == len(STOPS) - 1 and self._step == len(_STEPS[-1]) - 1

    @property
    def enter_hint(self) -> str:
        """What enter does, in words."""
        return self.step.enter or ("leave the tour" if self._over else "continue")

    def _show(self, *, focused: bool) -> None:
        """Request the step to be shown; records from now on count as its result."""
        self.post_message(self.Shown(self.step, self._found, focused=focused))
        self._looked, self._found = len(self._journal.capture), 0
        self.refresh()
        self.refresh_bindings()

    def render(self) -> Content:
        """Draw the position in the tour and the text, with the key that focuses the tour if it has no focus."""
        head = [("TOUR", "bold $bar")] if self.has_focus else [(key_of("tour"), "$bar"), (" TOUR", "bold $text-soft")]
        number = (f" {self._stop + 1}/{len(STOPS)}  ", "$text-soft")
        return Content.assemble(*head, number, (f"{_TITLES[self._stop]}  ", "bold"), self.step.text)

    def look(self) -> None:
        """Continue once the record that the step waits for is there and every call has ended."""
        if self.step.send is None:
            return
        looked, self._looked = self._looked, len(self._journal.capture)
        for record in self._journal.capture.slice(looked + 1, self._looked):
            if not self._found and self.step.is_result(record):
                self._found = record.seq
        if self._found and not self._journal.exchanges.open:
            self._advance()

    def _advance(self) -> None:
        if self._step < len(_STEPS[self._stop]) - 1:
            self._step += 1
            self._show(focused=self.has_focus)
        else:
            self._go(self._stop + 1)

    def _go(self, stop: int) -> None:
        self._stop, self._step, self._found = stop, 0, 0
        self._show(focused=self.has_focus)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the key for the next stop at the last stop."""
        if parameters == ("next",):
            return self._stop < len(STOPS) - 1
        return super().check_action(action, parameters)

    def action_move(self, move: str) -> None:
        """Go to another step: "on", "next" or "back", or leave the tour."""
        match move:
            case "on" if self.step.send is not None:
                self.post_message(self.SendWanted(self, self.step.send))
            case "on" if not self._over:
                self._advance()
            case "next":
                self._go(self._stop + 1)
            case "back":
                self._go(max(0, self._stop - (self._step == 0)))
            case _:
                self.post_message(self.Left())
