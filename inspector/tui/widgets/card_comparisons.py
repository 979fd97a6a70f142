"""The comparisons of the card with the extended card and with the earlier cards of the agent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from inspector.capture import card_history
from inspector.capture.private_files import CaptureError
from inspector.protocol.errors import Fault
from inspector.protocol.jsonvalue import dump, parse
from inspector.session.card.changes import EarlierCard, card_of_answer, extended_difference
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.tui.keys import key_of
from inspector.tui.render.changes import ChangeLines, against_public, since_earlier
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.widgets.card_view import ChangeView


class CardComparisons:
    """Fills the views of both comparisons; `views` has them by the id of their section."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._earlier: list[EarlierCard] = []
        self._older = 0
        self._keep = False
        self.extended = b""
        """The extended card, empty without one."""
        self.views = {
            "extended": ChangeView(
                id="extended",
                empty=f"The extended card has not been requested yet. Press {key_of('refresh')} to request it.",
            ),
            "changes": ChangeView(
                id="changes",
                empty=f"No other card of this agent is stored. Press {key_of('refresh')} to fetch the card again; "
                "later sessions compare with it.",
            ),
        }

    @property
    def count(self) -> int:
        """How many changes there are since the last earlier card."""
        return len(self._earlier[0].changes) if self._earlier else 0

    @property
    def has_older(self) -> bool:
        """Whether there are several earlier cards."""
        return len(self._earlier) > 1

    async def read_earlier(self, session: Session, *, keep: bool | None = None) -> str:
        """Compare the card with earlier cards, and with `keep` (default: as before) store it for the next session.

        Return a problem, or `""`.
        """
        self._keep = self._keep if keep is None else keep
        self._earlier, problem = await asyncio.to_thread(_earlier_cards, session, keep=self._keep)
        self._older = 0
        self._show_earlier()
        return problem

    def show_older(self) -> None:
        """Compare with the next older card; after the oldest card, with the newest."""
        self._older = (self._older + 1) % len(self._earlier)
        self._show_earlier()

    def _show_earlier(self) -> None:
        if self._earlier:
            self.views["changes"].show(since_earlier(self._earlier, self._older, self._glyphs))

    def show_extended(self, raw: bytes, connection: Connection) -> None:
        """Show how the extended card differs from the public card."""
        card = card_of_answer(parse(raw))
        self.extended = dump(card)
        self.views["extended"].show(against_public(extended_difference(connection.found, card), self._glyphs))

    def compare_again(self, connection: Connection) -> None:
        """Compare the extended card with a public card that may be new."""
        if self.extended:
            self.show_extended(self.extended, connection)

    def show_no_extended(self, fault: Fault) -> None:
        """Show why there is no extended card."""
        self.extended = b""
        again = f"Press {key_of('refresh')} to request it again."
        self.views["extended"].empty = f"No extended card: {fault.seen} {fault.hint} {again}"
        self.views["extended"].show(ChangeLines([], [], self._glyphs))


def _earlier_cards(session: Session, *, keep: bool) -> tuple[list[EarlierCard], str]:
    """Compare the card with earlier cards of the agent; the second value is an error message or `""`."""
    connection, redactor, problem = session.connection, session.journal.redactor, ""
    if connection is None:
        return [], ""
    url = redactor.url(connection.url) if connection.url else str(Path(connection.reference).absolute())
    raw = redactor.body(connection.found.raw)
    if keep:
        try:
            if not session.history:
                session.history.load(card_history.seen_cards(url))
            card_history.store_card(url, raw, connection.at)
        except CaptureError as error:
            problem = str(error)
    session.history.see(raw, connection.at)
    return session.history.earlier(), problem
