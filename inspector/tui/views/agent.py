"""The Agent view: the rendered card, the raw card, changes since other cards, and a copy to edit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message

from inspector.capture.records import Kind, Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import Fault
from inspector.session.card.signing import fetch_keys, verify_card
from inspector.session.card_fetch import GET_CARD
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.tui import lazy_loading
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify, notify_faults
from inspector.tui.render.card_facts import Signed
from inspector.tui.render.finding_lines import how_served
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import without_head
from inspector.tui.screens.search import SearchScreen
from inspector.tui.trust import refresh_card
from inspector.tui.views.base import View
from inspector.tui.widgets.agent_pane import SECTIONS, AgentPane
from inspector.tui.widgets.card_comparisons import CardComparisons
from inspector.tui.widgets.card_pair import CardPair
from inspector.tui.widgets.card_view import CardView, RawCard
from inspector.tui.widgets.connecting import Connecting
from inspector.tui.widgets.switcher import Switcher

if TYPE_CHECKING:
    from inspector.tui.widgets.card_editor import CardEditor


_OF_CARD = frozenset({"filter", "representation", "edit-card", "raw-card", "changes", "verify", "older-card"})
"""The commands that need a card."""


_MOST_SEARCHED = 50
"""The number of responses at the beginning of a capture that are searched for the card."""


def _is_card(record: Record) -> bool:
    """Return whether a record has a card that was fetched, or read from a file."""
    return record.event == "card" and (record.kind is Kind.NOTE or record.operation == GET_CARD)


class AgentView(View):
    """Shows the card of the agent; until it is fetched, the attempts to connect, or why they failed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("filter", "find", "find", "Search the skills"),
        bind("representation", "next_section", "view", "Show the next of: card, raw, extended card, changes"),
        bind("refresh", "refresh_card", "", "Fetch the card again"),
        bind("back", "stop", "cancel", "Cancel connecting"),
        bind("back", "clear_search", "clear filter", "Show the whole card again"),
        bind("edit-card", "edit", "edit", show=False),
        bind("extended-card", "call('EXTENDED_CARD')", "extended", "Get the extended card and compare it"),
        bind("raw-card", "raw", "raw", "Show the raw card at the place of the cursor"),
        bind("changes", "section('changes')", "", "Show changes since earlier cards"),
        bind("verify", "verify", "", "Fetch the keys and verify the signatures"),
        bind("older-card", "older", "older"),
        bind("back", "home", "card", "Go back to the card", show=False),
    ]

    NEEDS_AGENT = frozenset({"refresh_card"})

    class RefreshWanted(Message):
        """The user wants to connect again, because no agent is connected."""

    class StopWanted(Message):
        """The user wants to cancel connecting."""

    @dataclass
    class Connected(Message):
        """The agent now serves another card."""

        connection: Connection

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(session, glyphs, id=id)
        self._response: Record | None = None
        """The response that is shown without a connection: that which is not a valid card, or the recorded card."""
        self._raw_of_extended = False
        self._connecting = Connecting(session.journal, glyphs, session.settings.limits, id="connecting")
        self._cards = CardPair(session, glyphs)
        self._raw = RawCard(glyphs, id="raw")
        self._comparisons = CardComparisons(glyphs)
        self._editor: CardEditor | None = None
        sections = (self._connecting, self._cards.card, self._raw, *self._comparisons.views.values())
        self._switcher = Switcher(*sections, initial="connecting")
        self._pane = AgentPane("Agent", id="agent-pane")

    def compose(self) -> ComposeResult:
        """Make the pane with the representations of the card, and the pane of the skills for a wide screen."""
        with Horizontal():
            with self._pane:
                yield self._switcher
            with self._cards.skills_pane:
                yield self._cards.skills

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
        self._connecting.begin(reference)
        self.action_section("connecting")

    def show_recording(self) -> None:
        """Show that a capture is open, without an agent; its recorded card can be read."""
        first = self.session.journal.capture.select(kinds=(Kind.BODY, Kind.NOTE), limit=_MOST_SEARCHED)
        self._response = next((record for record in reversed(first) if _is_card(record)), None)
        self._connecting.show_recording(has_card=self._response is not None)
        self._show_title()

    def show_fault(self, fault: Fault) -> None:
        """Show why the connection failed; a response that is not a valid card can be read and edited."""
        bodies = reversed(self.session.journal.capture.select(kinds=(Kind.BODY,)))
        responses = (record for record in bodies if record.operation == GET_CARD and record.event != "catalog")
        self._response = next((record for record in responses if record.findings), None)
        self._connecting.show_fault(fault, self._response.findings if self._response else ())
        self.action_section("connecting")

    def show_connection(self, connection: Connection) -> None:
        """Show the card of the agent, or the new card if it changed."""
        self._response = None
        self._connecting.end()
        self._cards.show(connection, self.size.width)
        self._comparisons.compare_again(connection)
        if self.section == "connecting":
            self.action_section("card")
        elif self.section == "raw" and not self._raw_of_extended:
            self._show_raw()
        self._show_title()
        if connection.card.signatures and not self._cards.is_verified:
            self._verify(connection, fetch=False)

    def show_authentication(self) -> None:
        """Show which credentials are sent, and which requirements they meet."""
        self._cards.show_authentication()

    def on_resize(self) -> None:
        """Show the skills in a pane of their own if there is room."""
        self._cards.fit(self.size.width)
        self._show_skills_pane()

    def _show_skills_pane(self) -> None:
        """Show the pane of the skills beside the card, but not beside its other representations."""
        self._cards.skills_pane.display = self.section == "card" and self._cards.is_wide

    @work(group="calls")
    async def _verify(self, connection: Connection, *, fetch: bool) -> None:
        """Verify the signatures of the card, with or without fetching their keys."""
        keys = await fetch_keys(self.session, connection) if fetch else None
        verdicts = await verify_card(connection, keys)
        current = self.connection
        if current is not None and current.found is connection.found:
            self._cards.show_signatures(Signed(verdicts, keys.notes if keys else ()))

    def refresh_view(self) -> None:
        """Show the attempts to connect, or the observed behaviour."""
        if self.section == "connecting":
            if self.connection is None and not self.session.recorded:
                self._connecting.show_attempts()
        else:
            self._cards.show_observations()

    @work(group="cards", exclusive=True)
    async def compare(self, *, keep: bool | None = None) -> None:
        """Compare the card with earlier cards of the agent, and with `keep` (default: as before) store it."""
        problem = await self._comparisons.read_earlier(self.session, keep=keep)
        self._show_title()
        if problem:
            notify(self, problem, "warning")

    def show_extended(self, raw: bytes) -> None:
        """Show how the extended card differs from the public one."""
        if self.connection is not None:
            self._comparisons.show_extended(raw, self.connection)
            self._go_to_extended()

    def show_no_extended(self, fault: Fault) -> None:
        """Show why there is no extended card."""
        self._comparisons.show_no_extended(fault)
        self._go_to_extended()

    def _go_to_extended(self) -> None:
        """Show the result of the call for the extended card, unless the user is editing."""
        if self.section != "edit":
            self.action_section("extended")

    # Sections

    def _show_title(self) -> None:
        if self.section == "connecting":
            self._pane.set_title(*self._connecting.title)
            return
        pointer = self._raw.json.pointer if self.section == "raw" else ""
        of_extended = self.section == "raw" and self._raw_of_extended
        self._pane.show(self._sections, self.section, self._comparisons.count, pointer, of_extended=of_extended)

    @property
    def _sections(self) -> tuple[str, ...]:
        """The representations that a key steps through."""
        return SECTIONS if self.connection else ("connecting", "raw")

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
        self._show_skills_pane()
        if self.screen.focused is None or self.has_focus_within:
            self.focus_first()
        self.refresh_bindings()

    def _show_raw(self) -> None:
        """Show the JSON of the public card, of the extended card, or of the response instead of a card."""
        if self._raw_of_extended:
            self._raw.show(self._comparisons.extended, [without_head("the extended card, as received", "line--soft")])
        elif self.connection is not None:
            self._raw.show(self.connection.found.raw, how_served(self.connection), self.connection.findings)
        elif self._response is not None:
            instead = "the response that was received instead of a card"
            note = without_head("the card that was recorded" if self.session.recorded else instead, "line--soft")
            self._raw.show(self._response.raw, [note], self._response.findings)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable actions that need a card if there is none, and actions that do not apply to the section."""
        if action == "find":
            return self.section == "card"
        if action == "clear_search":
            return self.section == "card" and bool(self._cards.searchable.words)
        if action in ("stop", "refresh_card") and not self.session.recorded:
            return self._connecting.fetching is (action == "stop")
        if action == "stop":
            return False
        if action in ("raw", "next_section", "edit"):
            return bool(self.connection or self._response)
        if action == "home":
            return self.section != self._home
        if action == "section":
            return self.connection is not None and self.section not in parameters
        if action == "verify":
            return bool(self.connection and self.connection.card.signatures)
        if action == "older":
            return self.section == "changes" and self._comparisons.has_older
        return super().check_action(action, parameters)

    def disabled_reason(self, command: str) -> str:
        """Return why a command does not apply to the card or to the section."""
        if reason := super().disabled_reason(command):
            return reason
        if command == "refresh":
            return "the card is being fetched"
        if self.connection is None:
            return "there is no card" if command in _OF_CARD else ""
        if command == "filter":
            return f"press {key_of('back')} to go back to the card"
        return "the card has no signatures" if command == "verify" else ""

    async def on_agent_pane_chosen(self, event: AgentPane.Chosen) -> None:
        """Show the representation that was clicked."""
        await self.show_section(event.section)

    async def show_section(self, section: str) -> None:
        """Show a representation of the card."""
        match section:
            case "raw":
                self._show_raw_at()
            case "edit":
                await self.action_edit()
            case _:
                self.action_section(section)

    async def action_next_section(self) -> None:
        """Show the next representation; the raw card at the pointer of the cursor."""
        sections = self._sections
        index = sections.index(self.section) if self.section in sections else -1
        following = sections[(index + 1) % len(sections)]
        if following == "raw":
            self.action_raw()
        else:
            await self.show_section(following)

    @property
    def _home(self) -> str:
        return "card" if self.connection else "connecting"

    def action_home(self) -> None:
        """Show the card, or why the connection failed."""
        self.action_section(self._home)

    def action_raw(self) -> None:
        """Show the raw card, at the JSON pointer of the cursor."""
        match self.section:
            case "card":
                self._show_raw_at(self._cards.pointer)
            case "extended" | "changes" as section:
                of_extended = section == "extended" and bool(self._comparisons.extended)
                self._show_raw_at(self._comparisons.views[section].pointer, of_extended=of_extended)
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
        view = self._cards.searchable
        self.app.push_screen(SearchScreen(view.find, view.words))

    def action_clear_search(self) -> None:
        """Show the whole card again."""
        self._cards.searchable.find("")
        self.refresh_bindings()

    def on_card_view_verify_wanted(self) -> None:
        """Fetch the keys, and verify the signatures."""
        self.action_verify()

    def action_stop(self) -> None:
        """Cancel connecting."""
        self.post_message(self.StopWanted())

    def action_verify(self) -> None:
        """Fetch the keys that the signatures name, and verify them."""
        if self.connection is not None:
            self._verify(self.connection, fetch=True)

    def action_older(self) -> None:
        """Compare with the next older card; after the oldest card, with the newest."""
        self._comparisons.show_older()

    async def action_edit(self) -> None:
        """Edit a copy of the card; the copy is kept until the session ends."""
        if self._editor is None:
            self._editor = lazy_loading.card_editor(self.glyphs)
            self._editor.display = False
            await self._switcher.mount(self._editor)
        if not self._editor.text:
            name = self.connection.card.name if self.connection else ""
            raw = self.connection.found.raw if self.connection else self._response.raw if self._response else b""
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
        if self.section == "extended" and self.connection is not None:
            self.action_call("EXTENDED_CARD")
        elif self.connection is not None:
            self._refresh(self.connection)
        elif not self._connecting.fetching:
            self.post_message(self.RefreshWanted())

    @work(group="calls")
    async def _refresh(self, before: Connection) -> None:
        with notify_faults(self):
            after = await refresh_card(self.app, self.session)
            if after.found is not before.found:
                self.post_message(self.Connected(after))
                self.compare()
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
                return self._comparisons.views[self.section].text
            case "edit":
                return self._editor.text if self._editor is not None else ""
        return self._cards.text


def _file_name(name: str) -> str:
    return f"{re.sub(r'[^a-z0-9]+', '-', name.lower())[:40].strip('-') or 'agent'}-card.json"
