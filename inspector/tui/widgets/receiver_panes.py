"""The panes above the deliveries: the state of the receiver, and the registrations."""

from __future__ import annotations

from textual.app import ComposeResult

from inspector.protocol.model import PushConfig
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.session import Session
from inspector.tui.keys import key_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.registration_rows import RegistrationRows
from inspector.tui.render.webhook_lines import receiver_text
from inspector.tui.widgets.feed import Column, Feed, Headings
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.text_block import TextBlock

COLUMNS = (
    Column("#", 2, "right"),
    Column("TASK", 8),
    Column("ACCEPTED", 8, "right"),
    Column("REJECTED", 8, "right"),
    Column("OVERRIDE", 8, "right", min_total_width=90),
    Column("EXPECTS", 15),
    Column("STATE"),
)
_MOST_ROWS = 4
_MOST_ROWS_NARROW = 3
_AROUND = 3
"""The lines of the pane that are not rows: its border and the headings."""


class ReceiverPane(Pane):
    """Shows whether the receiver listens and where, or why it could not, and whether messages register a webhook."""

    def __init__(self, session: Session, glyphs: Glyphs) -> None:
        super().__init__("Receiver", id="receiver-pane")
        self._session = session
        self._glyphs = glyphs
        self._text = TextBlock(id="receiver")
        self._shown = ""

    def compose(self) -> ComposeResult:
        """Make the text."""
        yield self._text

    def show(self) -> None:
        """Show the current state; the screen is laid out again only if the text has changed."""
        push, connection = self._session.push, self._session.connection
        agent = connection.choice.interface.url if connection and connection.choice else ""
        state = Chip("not listening", "$text-soft")
        if push.listening:
            state = Chip(f"{self._glyphs.light} listening", "$state-good")
        elif push.failure is not None:
            state = Chip(f"{self._glyphs.cross} failed", "bold $state-bad")
        on = Chip("webhook with every message", "$wire-pushed")
        off = Chip("webhook off", "$text-soft")
        self.set_title(state, on if push.on else off)
        text = receiver_text(push, agent)
        if self._session.recorded:
            text = type(text)("A capture has no receiver. Its deliveries are below.")
        if text.plain != self._shown:
            self._shown = text.plain
            self._text.update(text)


class RegistrationsPane(Pane):
    """Shows the registrations with the counts of their deliveries, as high as they need."""

    def __init__(self, session: Session, glyphs: Glyphs) -> None:
        super().__init__("Registrations", id="registrations-pane")
        self._session = session
        self.rows = RegistrationRows(session.push.registrations, session.journal.redactor, glyphs)
        self.feed = Feed(COLUMNS, self.rows, id="registrations", follow=False, enter_hint="last delivery")
        self._height = 0

    def compose(self) -> ComposeResult:
        """Make the headings and the rows."""
        yield Headings(self.feed)
        yield self.feed

    def show(self, listed: str) -> None:
        """Show the current counts, and what the agent listed; the screen is laid out only for another height.

        While the pane has the focus, the cursor stays on its registration.
        """
        selected = self._selected_row
        self.rows.refresh()
        count, push = len(self.rows), self._session.push
        self.display = bool(count or listed) or (push.listening and not self._narrow)
        self.feed.empty = f"No webhook yet. Send a message, or press {key_of('register')} to register one for a task."
        self.feed.refresh_rows()
        if self.feed.has_focus and selected in self.rows.items:
            self.feed.cursor = self.rows.items.index(selected)
        self.set_title(Chip(f"{count:,}", "$text-soft"), note=[Chip(listed, "$text-soft")])
        self._fit(count)

    def _fit(self, count: int) -> None:
        """Make the pane as high as its rows, up to half of the screen while it has the focus."""
        most = _MOST_ROWS_NARROW if self._narrow else _MOST_ROWS
        if self.has_focus_within:
            most = max(most, self.screen.size.height // 2 - _AROUND)
        height = _AROUND + max(1, min(count, most))
        if height != self._height:
            self._height = height
            self.styles.height = height

    def on_descendant_focus(self) -> None:
        """Show more rows while the pane has the focus."""
        self._fit(len(self.rows))

    def on_descendant_blur(self) -> None:
        """Give the rows back to the deliveries."""
        self.call_after_refresh(lambda: self._fit(len(self.rows)))  # the next pane has the focus only then

    @property
    def _narrow(self) -> bool:
        return self.screen.has_class("-narrow")

    @property
    def selected_task(self) -> str:
        """The id of the task of the selected registration, `""` if it has none."""
        item = self._selected_row
        return "" if item is None else item.task_id if isinstance(item, WebhookRegistration) else item[0]

    @property
    def selected(self) -> WebhookRegistration | None:
        """The selected registration, None if it is not of this session."""
        item = self._selected_row
        return item if isinstance(item, WebhookRegistration) else None

    @property
    def _selected_row(self) -> WebhookRegistration | tuple[str, PushConfig] | None:
        return self.feed.item_of(self.rows.items)
