"""The Agent view: the rendered card, the raw card, changes since other cards, and a copy to edit."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import ContentSwitcher

from inspector.capture import card_history
from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind, Record
from inspector.protocol.errors import Fault
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.pointer import at
from inspector.session.card.changes import EarlierCard, card_of_answer, extended_difference
from inspector.session.card.observed import ObservedBehaviour
from inspector.session.card.signing import fetch_keys, verify_card
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.tui import lazy_loading
from inspector.tui.notify import notify, notify_faults
from inspector.tui.render.card import CardLines, Signed
from inspector.tui.render.card_lines import Try
from inspector.tui.render.changes import ChangeLines, against_public, since_earlier
from inspector.tui.render.finding_lines import how_served
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.screens.search import SearchScreen
from inspector.tui.views.base import View
from inspector.tui.widgets.card_view import CardView, ChangeView, RawCard
from inspector.tui.widgets.connecting import Connecting
from inspector.tui.widgets.view_tabs import SectionTab, SectionTabs

if TYPE_CHECKING:
    from inspector.tui.widgets.card_editor import CardEditor

SECTIONS = (
    SectionTab("card", "card"),
    SectionTab("raw", "raw", "r"),
    SectionTab("extended", "extended", "e"),
    SectionTab("changes", "changes", "D"),
    SectionTab("edit", "edit", "E"),
)
"""The sections of the view."""

_NO_EXTENDED = "The extended card has not been requested yet. Press e to request it."
_NO_CHANGES = "No other card of this agent is stored. Press R to fetch the card again; later sessions compare with it."


class AgentView(View):
    """Shows the card of the agent; until it is fetched, the attempts to connect, or why they failed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "find", id="agent.find", tooltip="Search the skills"),
        Binding("r", "raw", "raw", id="agent.raw", tooltip="Show the raw or the rendered card"),
        Binding(
            "e",
            "call('EXTENDED_CARD')",
            "extended",
            id="agent.extended",
            tooltip="Get the extended card and compare it",
        ),
        Binding("R", "refresh_card", "refresh", id="agent.refresh", tooltip="Fetch the card again"),
        Binding("o", "app.connect", "connect", id="agent.connect", tooltip="Connect to another agent"),
        Binding("D", "section('changes')", "changes", id="agent.changes", tooltip="Show changes since earlier cards"),
        Binding("S", "verify", "verify", id="agent.verify", tooltip="Fetch the keys and verify the signatures"),
        Binding("v", "older", "older", id="agent.older", tooltip="Compare with an older card", show=False),
        Binding("E", "edit", "edit", id="agent.edit", tooltip="Edit and validate a copy of the card"),
        Binding("escape", "home", "card", id="agent.card", tooltip="Go back to the card", show=False),
    ]

    NEEDS_AGENT = frozenset({"refresh_card"})

    class RefreshWanted(Message):
        """The user wants to connect again, because no agent is connected."""

    @dataclass
    class Connected(Message):
        """The agent now serves another card."""

        connection: Connection

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(session, glyphs, id=id)
        self._observed = ObservedBehaviour()
        self._unread: Record | None = None
        self._extended = b""
        self._raw_of_extended = False
        self._earlier: list[EarlierCard] = []
        self._older = 0
        self._keep = False
        self._tabs = SectionTabs("AGENT", id="agent-title", classes="pane-title")
        self._connecting = Connecting(session.journal, glyphs, id="connecting")
        self._card = CardView(id="card")
        self._raw = RawCard(glyphs, id="raw")
        self._changes = {
            "extended": ChangeView(id="extended", empty=_NO_EXTENDED),
            "changes": ChangeView(id="changes", empty=_NO_CHANGES),
        }
        self._editor: CardEditor | None = None
        sections = (self._connecting, self._card, self._raw, *self._changes.values())
        self._switcher = ContentSwitcher(*sections, initial="connecting")

    def compose(self) -> ComposeResult:
        """Make the title and the sections."""
        yield self._tabs
        yield self._switcher

    @property
    def section(self) -> str:
        """The id of the section that is shown."""
        return self._switcher.current or ""

    @property
    def connection(self) -> Connection | None:
        """The connection to the agent, if any."""
        return self.session.connection

    def show_connecting(self, reference: str) -> None:
        """Show the attempts to connect."""
        self.action_section("connecting")
        self._connecting.begin(reference)

    def show_recording(self) -> None:
        """Show that there is no agent, because a capture is open."""
        self._connecting.show_recording()

    def show_fault(self, fault: Fault) -> None:
        """Show why the connection failed; a response that is not a valid card can be read and edited."""
        bodies = self.session.journal.capture.select(kinds=(Kind.BODY,))
        self._unread = next((record for record in reversed(bodies) if record.findings), None)
        self.action_section("connecting")
        self._connecting.show_fault(fault, unread=self._unread is not None)

    def show_connection(self, connection: Connection) -> None:
        """Show the card of the agent, or the new card if it changed."""
        self._unread = None
        self._card.show(CardLines(connection, self._observed, self.glyphs))
        self._update_observed()
        if self.section == "connecting":
            self.action_section("card")
        elif self.section == "raw" and not self._raw_of_extended:
            self._show_raw()
        self._show_title()
        if connection.card.signatures:
            self._verify(connection, fetch=False)

    @work(group="calls")
    async def _verify(self, connection: Connection, *, fetch: bool) -> None:
        """Verify the signatures of the card, with or without fetching their keys."""
        keys = await fetch_keys(self.session, connection) if fetch else None
        verdicts = await verify_card(connection, keys)
        current = self.connection
        if current is not None and current.found is connection.found and self._card.lines is not None:
            self._card.lines.signed = Signed(verdicts, keys.notes if keys else ())
            self._card.renew()

    def refresh_view(self) -> None:
        """Show the attempts to connect, or the observed behaviour."""
        if self.section == "connecting":
            if self.connection is None and not self.session.recorded:
                self._connecting.show_attempts()
        else:
            self._update_observed()

    def _update_observed(self) -> None:
        """Show new observations of the agent's behaviour."""
        if self._observed.catch_up(self.session.journal.capture):
            self._card.renew()

    @work(group="cards", exclusive=True)
    async def compare(self, *, keep: bool) -> None:
        """Compare the card with earlier cards of the agent, and with `keep` store it for the next session."""
        self._keep = keep
        self._earlier, problem = await asyncio.to_thread(_earlier_cards, self.session, keep=keep)
        self._older = 0
        self._show_changes()
        self._show_title()
        if problem:
            notify(self, problem, "warning")

    def _show_changes(self) -> None:
        if self._earlier:
            self._changes["changes"].show(since_earlier(self._earlier, self._older, self.glyphs))

    def show_extended(self, raw: bytes) -> None:
        """Show how the extended card differs from the public one."""
        if self.connection is None:
            return
        card = card_of_answer(parse(raw))
        self._extended = dump(card)
        changes = extended_difference(self.connection.found, card)
        self._show_answer(against_public(changes, self.glyphs))

    def show_no_extended(self, fault: Fault) -> None:
        """Show why there is no extended card."""
        self._extended = b""
        self._changes["extended"].empty = f"No extended card: {fault.seen} {fault.hint} Press e to request it again."
        self._show_answer(ChangeLines([], [], self.glyphs))

    def _show_answer(self, lines: ChangeLines) -> None:
        """Show the result of the call for the extended card, unless the user is editing."""
        self._changes["extended"].show(lines)
        if self.section != "edit":
            self.action_section("extended")

    # Sections

    def _show_title(self) -> None:
        self._tabs.display = self.section != "connecting"
        count = len(self._earlier[0].changes) if self._earlier else 0
        tabs = [tab._replace(name=f"changes {count:,}") if tab.id == "changes" and count else tab for tab in SECTIONS]
        tabs = tabs if self.connection else [tab for tab in tabs if tab.id in ("raw", "edit")]
        note = ""
        if self.section == "raw":
            note = f"{'extended card  ' if self._raw_of_extended else ''}{self._raw.json.pointer}"
        self._tabs.show(tabs, self.section, note)

    def on_json_view_highlighted(self) -> None:
        """Show the JSON pointer of the cursor."""
        self._show_title()

    def focus_first(self) -> None:
        """Focus the section that is shown."""
        if self.section == "raw":
            self.screen.set_focus(self._raw.json)
        elif self.section == "edit" and self._editor is not None:
            self._editor.focus_text()
        else:
            self.screen.set_focus(self.query_one(f"#{self.section}"))

    def action_section(self, section: str) -> None:
        """Show a section."""
        self._switcher.current = section
        self._show_title()
        if self.screen.focused is None or self.has_focus_within:
            self.focus_first()
        self.refresh_bindings()

    def _show_raw(self) -> None:
        """Show the JSON of the public card, of the extended card, or of the response instead of a card."""
        if self._raw_of_extended:
            self._raw.show(self._extended, [_note("the extended card, as received")])
        elif self.connection is not None:
            self._raw.show(self.connection.found.raw, how_served(self.connection), self.connection.findings)
        elif self._unread is not None:
            self._raw.show(
                self._unread.raw, [_note("the response that was received instead of a card")], self._unread.findings
            )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable actions that need a card if there is none, and actions that do not apply to the section."""
        if action == "find":
            return self.section == "card"
        if action == "raw":
            return bool(self.connection or self._unread) or None
        if action == "edit":
            return bool(self.connection or self._unread)
        if action == "home":
            return self.section != self._home
        if action == "section":
            return self.connection is not None and self.section not in parameters
        if action == "verify":
            return bool(self.connection and self.connection.card.signatures)
        if action == "older":
            return self.section == "changes" and len(self._earlier) > 1
        return super().check_action(action, parameters)

    async def on_section_tabs_chosen(self, event: SectionTabs.Chosen) -> None:
        """Show the section that was clicked."""
        match event.section:
            case "raw":
                self._show_raw_at()
            case "edit":
                await self.action_edit()
            case section:
                self.action_section(section)

    @property
    def _home(self) -> str:
        return "card" if self.connection else "connecting"

    def action_home(self) -> None:
        """Show the card, or why the connection failed."""
        self.action_section(self._home)

    def action_raw(self) -> None:
        """Switch between the raw and the rendered card, at the same JSON pointer."""
        match self.section:
            case "raw":
                self.action_section("extended" if self._raw_of_extended else self._home)
            case "card":
                self._show_raw_at(self._card.pointer)
            case "extended" | "changes" as section:
                self._show_raw_at(
                    self._changes[section].pointer, of_extended=section == "extended" and bool(self._extended)
                )
            case _:
                self._show_raw_at()

    def _show_raw_at(self, pointer: str = "", *, of_extended: bool = False) -> None:
        self._raw_of_extended = of_extended
        self._show_raw()
        self.action_section("raw")
        self._raw.json.go_to(pointer)

    def on_card_view_place_wanted(self, event: CardView.PlaceWanted) -> None:
        """Show the JSON pointer of a finding in the raw card."""
        self._show_raw_at(event.pointer)

    def action_find(self) -> None:
        """Search the skills."""
        self.app.push_screen(SearchScreen(self._card.find, self._card.words))

    def action_verify(self) -> None:
        """Fetch the keys that the signatures name, and verify them."""
        if self.connection is not None:
            self._verify(self.connection, fetch=True)

    def action_older(self) -> None:
        """Compare with the next older card; after the oldest card, with the newest."""
        self._older = (self._older + 1) % len(self._earlier)
        self._show_changes()

    async def action_edit(self) -> None:
        """Edit a copy of the card; the copy is kept until the session ends."""
        if self._editor is None:
            self._editor = lazy_loading.card_editor(self.glyphs)
            self._editor.display = False
            await self._switcher.mount(self._editor)
        if not self._editor.text:
            name = self.connection.card.name if self.connection else ""
            raw = self.connection.found.raw if self.connection else self._unread.raw if self._unread else b""
            problem = self._editor.open(raw, _file_name(name))
            if problem:
                notify(self, problem, "warning")
                return
        self.action_section("edit")

    def on_card_editor_left(self) -> None:
        """Show the card."""
        self.action_home()

    def action_refresh_card(self) -> None:
        """Fetch the card again, or connect again if there is none."""
        if self.connection is not None:
            self._refresh(self.connection)
        else:
            self.post_message(self.RefreshWanted())

    @work(group="calls")
    async def _refresh(self, before: Connection) -> None:
        with notify_faults(self):
            after = await self.session.refresh()
            if after.found is not before.found:
                self.post_message(self.Connected(after))
                self.compare(keep=self._keep)
                return
            if not self._raw_of_extended:
                self._raw.show_facts(how_served(after))
            self._show_title()
            notify(self, "The card is unchanged.")

    def selected_text(self) -> str:
        """Return the example, the value or the change under the cursor; by default the raw card."""
        match self.section:
            case "raw":
                return self._raw.json.value
            case "extended" | "changes":
                return self._changes[self.section].text
            case "edit":
                return self._editor.text if self._editor is not None else ""
        if isinstance(self._card.act, Try):
            return self._card.act.text
        if self.connection is None:
            return ""
        raw, pointer = self.connection.found.raw, self._card.pointer
        value = at(parse(raw), pointer) if pointer else None
        text = raw if value is None else dump(value)
        return value if isinstance(value, str) else text.decode("utf-8", "replace")


def _note(text: str) -> Paragraph:
    return Paragraph(("", "line--soft"), text, "line--soft")


def _file_name(name: str) -> str:
    return f"{re.sub(r'[^a-z0-9]+', '-', name.lower())[:40].strip('-') or 'agent'}-card.json"


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
