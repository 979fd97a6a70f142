"""The card in one list, or on a wide screen in two: the skills beside everything else."""

from __future__ import annotations

from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.pointer import at
from inspector.session.card.observed import ObservedBehaviour
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.tui.render.card import CardLines, Part
from inspector.tui.render.card_facts import Signed
from inspector.tui.render.card_lines import Try
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.widgets.card_view import CardView
from inspector.tui.widgets.pane import Chip, Pane

WIDE = 150
"""The width from which the skills are beside the other parts of the card."""


class CardPair:
    """The two lists of a card, with what was observed, the signatures and the authentication."""

    def __init__(self, session: Session, glyphs: Glyphs) -> None:
        self._session = session
        self._glyphs = glyphs
        self._observed = ObservedBehaviour(used=session.journal.extensions)
        self._signed = Signed()
        self._connection: Connection | None = None
        self.card = CardView(id="card")
        self.skills = CardView(id="skills")
        self.skills_pane = Pane("Skills", id="skills-pane")
        self.skills_pane.display = False

    @property
    def is_verified(self) -> bool:
        """Whether the signatures of the card were verified, as far as its keys are known."""
        return self._signed != Signed()

    @property
    def is_wide(self) -> bool:
        """Whether the skills are in a list of their own."""
        return self.card.lines is not None and self.card.lines.part is Part.FACTS

    @property
    def _selected(self) -> CardView:
        return self.skills if self.skills.has_focus else self.card

    def show(self, connection: Connection, width: int) -> None:
        """Show a card; the signatures of a new card are not verified yet."""
        if self._connection is None or self._connection.found is not connection.found:
            self._signed = Signed()
        self._connection = connection
        self._show(wide=width >= WIDE)

    def fit(self, width: int) -> None:
        """Use one or two lists, as fits the width."""
        if self._connection is not None and self.is_wide is not (width >= WIDE):
            self._show(wide=width >= WIDE)

    def _show(self, *, wide: bool) -> None:
        connection = self._connection
        if connection is None:
            return
        self.card.show(CardLines(connection, self._observed, self._glyphs, Part.FACTS if wide else Part.ALL))
        if wide:
            self.skills.show(CardLines(connection, self._observed, self._glyphs, Part.SKILLS))
            self.skills_pane.set_title(Chip(f"{len(connection.card.skills):,}"))
        self._catch_up()
        self.show_authentication()

    def show_signatures(self, signed: Signed) -> None:
        """Show the verdicts on the signatures."""
        self._signed = signed
        self.show_authentication()

    def show_authentication(self) -> None:
        """Show which credentials are sent, and which requirements they meet."""
        lines = self.card.lines
        if lines is None or self._connection is None:
            return
        lines.authenticate(self._session.credentials.authentication)
        lines.signed = self._signed
        self.card.renew()
        if self.is_wide and self.skills.lines is not None:
            self.skills.lines.authenticate(self._session.credentials.authentication)
            self.skills.renew()

    def show_observations(self) -> None:
        """Show new observations of the agent's behaviour."""
        if self._catch_up():
            self.card.renew()

    def _catch_up(self) -> bool:
        registrations = self._session.push.registrations
        self._observed.registered = sum(each.for_new_task and bool(each.task_id) for each in registrations)
        return self._observed.catch_up(self._session.journal.capture)

    @property
    def searchable(self) -> CardView:
        """The list with the skills."""
        return self.skills if self.is_wide else self.card

    @property
    def pointer(self) -> str:
        """The JSON pointer of the line under the cursor."""
        return self._selected.pointer

    @property
    def text(self) -> str:
        """The example or the value under the cursor, by default the whole card as it was served."""
        act = self._selected.act
        if isinstance(act, Try):
            return act.text
        if self._connection is None:
            return ""
        raw, pointer = self._connection.found.raw, self.pointer
        value = at(parse(raw), pointer) if pointer else None
        text = raw if value is None else dump(value)
        return value if isinstance(value, str) else text.decode("utf-8", "replace")
