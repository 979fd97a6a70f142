"""Agent: the card as a person reads it, or as it was served."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import ContentSwitcher, Static

from inspector.capture.records import Kind
from inspector.tui.places.base import CallWanted, Place
from inspector.tui.render.card import CardLines
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.widgets.cardview import CardView
from inspector.tui.widgets.jsonview import JsonView

if TYPE_CHECKING:
    from inspector.protocol.errors import Fault
    from inspector.session.connection import Connection


class AgentPlace(Place):
    """Shows who the agent is; until there is one, what is being tried, or why it failed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "raw", "raw", id="agent.raw", tooltip="The card as it was served, or as a person reads it"),
        Binding("e", "extended", "extended", id="agent.extended", tooltip="Ask for the extended card, and show it"),
        Binding("R", "again", "refresh", id="agent.refresh", tooltip="Fetch the card again"),
        Binding("o", "other", "other agent", id="agent.other", tooltip="Connect to another agent"),
    ]

    CALLS: ClassVar[dict[str, str]] = {"extended": "GetExtendedAgentCard"}

    class RefreshWanted(Message):
        """The card is to be fetched again."""

    class OtherWanted(Message):
        """The user wants to connect to another agent."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("agent", glyphs)
        self._reference = ""

    def compose(self) -> ComposeResult:
        """Make the three faces of the place."""
        with ContentSwitcher(initial="connecting"):
            with VerticalScroll(id="connecting"):
                yield Static(id="connecting-text")
            yield CardView(id="card")
            yield JsonView(id="card-raw")

    def show_connecting(self, reference: str) -> None:
        """Show that a card is being looked for."""
        self._reference = reference
        self._show_face("connecting")
        self._show_tries([Content.styled("looking for its card", "$text-soft")])

    def show_connection(self, connection: Connection) -> None:
        """Show the card that was found."""
        self.query_one(CardView).show(CardLines(connection, self.glyphs))
        self.query_one(JsonView).show_bytes(connection.found.raw)
        self._show_face("card")

    def show_fault(self, fault: Fault) -> None:
        """Show why there is no agent: whose fault it is, what was seen and what to do next."""
        self._show_face("connecting")
        lines = [
            Content.assemble((f"{self.glyphs.cross} ", "$state-bad"), plain(fault.seen)),
            Content.assemble(("  up to     ", "$text-soft"), fault.whose.value),
        ]
        lines += [Content.assemble(("  to do     ", "$text-soft"), plain(fault.hint))] if fault.hint else []
        keys = "  d asks the doctor   R tries again   o another agent   5 what crossed the wire"
        self._show_tries([*lines, Content(""), Content.styled(keys, "$wire-quiet")])

    def refresh_view(self) -> None:
        """Show the tries as they come."""
        if self.session is not None and self.session.connection is None and self._reference:
            looking = self.query_one(ContentSwitcher).current == "connecting"
            if looking and self.session.journal.exchanges.open:
                self._show_tries([Content.styled("looking for its card", "$text-soft")])

    def _show_tries(self, lines: list[Content]) -> None:
        title = Content.assemble(("AGENT   ", "bold"), plain(self._reference))
        self.query_one("#connecting-text", Static).update(
            Content("\n").join([title, Content(""), *self._tries(), *lines])
        )

    def _tries(self) -> list[Content]:
        if self.session is None:
            return []
        journal = self.session.journal
        tries: list[Content] = []
        for record in journal.capture.select(kinds=(Kind.REQUEST,)):
            summary = journal.exchanges.get(record.seq)
            if summary is not None and summary.operation == "GetAgentCard":
                outcome = str(summary.status) if summary.status else summary.how or "waiting"
                tries.append(
                    Content.assemble(
                        (f"{self.glyphs.sent} ", "$wire-sent"), plain(summary.url), (f"   {outcome}", "$text-soft")
                    )
                )
        return [*tries, Content("")] if tries else []

    def focus_first(self) -> None:
        """Go to the face that is seen."""
        current = self.query_one(ContentSwitcher).current
        self.screen.set_focus(self.query_one(f"#{current}"))

    def _show_face(self, face: str) -> None:
        self.query_one(ContentSwitcher).current = face
        if self.screen.focused is None or self.has_focus_within:
            self.focus_first()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what needs a card while there is none."""
        if action == "raw":
            return self.query_one(ContentSwitcher).current != "connecting" or None
        return super().check_action(action, parameters)

    def action_raw(self) -> None:
        """Change between the card as served and as read."""
        switcher = self.query_one(ContentSwitcher)
        if switcher.current != "connecting":
            if switcher.current == "card" and self.session is not None and self.session.connection is not None:
                self.query_one(JsonView).show_bytes(self.session.connection.found.raw)
            self._show_face("card-raw" if switcher.current == "card" else "card")

    def action_extended(self) -> None:
        """Ask for the extended card."""
        self.post_message(CallWanted("GetExtendedAgentCard"))

    def show_extended(self, raw: bytes) -> None:
        """Show the extended card as it was answered; `r` goes back to the public one."""
        self.query_one(JsonView).show_bytes(raw)
        self._show_face("card-raw")

    def action_again(self) -> None:
        """Ask for the card to be fetched again."""
        self.post_message(self.RefreshWanted())

    def action_other(self) -> None:
        """Ask for another agent."""
        self.post_message(self.OtherWanted())

    def selected_text(self) -> str:
        """Return the example under the cursor, or what is selected of the served card."""
        if self.query_one(ContentSwitcher).current == "card-raw":
            return self.query_one(JsonView).value
        example = self.query_one(CardView).example
        if example or self.session is None or self.session.connection is None:
            return example
        return self.session.connection.found.raw.decode("utf-8", "replace")
