"""The lane under the timeline's title: where the task has been, where it is, and whose turn it is."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Kind
from inspector.protocol.assemble import AssembledTask
from inspector.session.journal import Journal
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.state_line import lane, next_word
from inspector.tui.render.text_lines import Piece

LOW = 16
"""On a screen with fewer rows, the rows of the timeline need the place."""

_SENDS = ("SendMessage", "SendStreamingMessage")


class StateLine(Static):
    """One line of states, and where something is to be said about them a second one; hidden without a task."""

    DEFAULT_CSS = """
    StateLine {
        height: auto;
        max-height: 2;
        display: none;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    def __init__(self, journal: Journal, glyphs: Glyphs) -> None:
        super().__init__()
        self._journal = journal
        self._glyphs = glyphs
        self._account: AssembledTask | None = None
        self._past = False
        self._answers: list[tuple[float, str]] = []
        self._asked: tuple[str, int] = ("", -1)
        self._drawn: tuple[Piece, ...] = ()

    def show(self, account: AssembledTask | None, *, past: bool = False) -> None:
        """Show the states of a task as it is, or as it was in the `past`."""
        self._account, self._past = account, past
        if account is not None:
            self._learn_answers(account.id)
        self._draw()

    def _learn_answers(self, task_id: str) -> None:
        """Look for what was sent to the task, again only when something was sent."""
        journal = self._journal
        asked = (task_id, len(journal.sends))
        if asked != self._asked:
            self._asked = asked
            sent = journal.capture.select(kinds=(Kind.REQUEST,), task=task_id)
            self._answers = [(one.at, one.label) for one in sent if one.operation in _SENDS]

    def on_resize(self) -> None:
        """Fit the states to the new width."""
        self._draw()

    def _draw(self) -> None:
        account = self._account
        moves = account.moves if account is not None else []
        self.display = bool(moves)
        if not moves:
            return
        width = self.size.width or self.container_size.width
        states = lane(moves, self._glyphs, width)
        low = self.app.size.height < LOW
        said = [] if low else next_word(moves, self._answers, self._glyphs, past=self._past)
        drawn = (*states, *([("\n", ""), *said] if said else []))
        if drawn != self._drawn:
            taller = ("\n", "") in drawn, ("\n", "") in self._drawn
            self._drawn = drawn
            self.update(Content.assemble(*drawn), layout=taller[0] != taller[1])
