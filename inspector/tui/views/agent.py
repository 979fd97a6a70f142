"""Agent: the card as a person reads it, as it was served, beside others of the same agent, and as a copy to edit."""

from __future__ import annotations

import asyncio
import re
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import ContentSwitcher

from inspector.capture.records import Kind, Record
from inspector.protocol.errors import Fault, FaultError
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.pointer import at
from inspector.session.card.changes import EarlierCard, card_of_answer, extended_difference
from inspector.session.card.observed import ObservedBehaviour
from inspector.session.card.signing import fetch_keys, verify_card
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.tui.notify import notify, notify_fault
from inspector.tui.render.card import CardLines, Signed
from inspector.tui.render.card_lines import Try
from inspector.tui.render.changes import ChangeLines, against_public, since_earlier
from inspector.tui.render.finding_lines import how_served
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.screens.search import SearchScreen
from inspector.tui.seen_cards import seen_before
from inspector.tui.views.base import CallWanted, View
from inspector.tui.widgets.card_editor import CardEditor
from inspector.tui.widgets.card_view import CardView, ChangeView, RawCard
from inspector.tui.widgets.connecting import Connecting
from inspector.tui.widgets.view_tabs import SectionTab, SectionTabs

SECTIONS = (
    SectionTab("card", "card"),
    SectionTab("raw", "raw", "r"),
    SectionTab("extended", "extended", "e"),
    SectionTab("drift", "drift", "D"),
    SectionTab("edit", "edit", "E"),
)
"""The ways to look at a card."""

_NO_EXTENDED = "The extended card was not asked for yet; e asks for it."
_NO_DRIFT = "No other card was seen of this agent yet. R fetches it again; later sessions compare with this one."


class AgentView(View):
    """Shows who the agent is; until there is one, what is being tried, or why it failed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "find", id="agent.find", tooltip="Find skills by their words"),
        Binding("r", "raw", "raw", id="agent.raw", tooltip="The card as it was served, or as a person reads it"),
        Binding("e", "extended", "extended", id="agent.extended", tooltip="Ask for the extended card, and compare it"),
        Binding("R", "again", "refresh", id="agent.refresh", tooltip="Fetch the card again, if it is another one now"),
        Binding("o", "other", "other agent", id="agent.other", tooltip="Connect to another agent"),
        Binding("D", "face('drift')", "drift", id="agent.drift", tooltip="What changed since earlier cards"),
        Binding("S", "verify", "verify", id="agent.verify", tooltip="Fetch the signatures' keys, and verify them"),
        Binding("v", "older", "older", id="agent.older", tooltip="Compare with an older card", show=False),
        Binding("E", "edit", "edit", id="agent.edit", tooltip="Edit a copy of the card, and lint it while you do"),
        Binding("escape", "home", "card", id="agent.card", tooltip="Back to the card", show=False),
    ]

    CALLS: ClassVar[dict[str, str]] = {"extended": "GetExtendedAgentCard"}

    class RefreshWanted(Message):
        """The agent is to be looked for again, because none is connected."""

    class Connected(Message):
        """The agent serves another card now."""

        def __init__(self, connection: Connection) -> None:
            super().__init__()
            self.connection = connection

    class OtherWanted(Message):
        """The user wants to connect to another agent."""

    LIVE = frozenset({"again", "extended"})

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
            "drift": ChangeView(id="drift", empty=_NO_DRIFT),
        }
        self._editor = CardEditor(glyphs, id="edit")
        faces = (self._connecting, self._card, self._raw, *self._changes.values(), self._editor)
        self._switcher = ContentSwitcher(*faces, initial="connecting")

    def compose(self) -> ComposeResult:
        """Make the title and the ways to look at the card."""
        yield self._tabs
        yield self._switcher

    @property
    def face(self) -> str:
        """Which face is seen."""
        return self._switcher.current or ""

    @property
    def connection(self) -> Connection | None:
        """The agent that is connected."""
        return self.session.connection

    def show_connecting(self, reference: str) -> None:
        """Show that a card is being looked for."""
        self._show_face("connecting")
        self._connecting.begin(reference)

    def show_recording(self) -> None:
        """Show that there is no agent, because what is seen elsewhere is a recording."""
        self._connecting.show_recording()

    def show_fault(self, fault: Fault) -> None:
        """Show why there is no agent: whose fault it is, what was seen and what to do next.

        What stands in the place of a card and has findings can be looked at and mended.
        """
        bodies = self.session.journal.capture.select(kinds=(Kind.BODY,))
        self._unread = next((one for one in reversed(bodies) if one.findings), None)
        self._show_face("connecting")
        self._connecting.show_fault(fault, unread=self._unread is not None)

    def show_connection(self, connection: Connection) -> None:
        """Show the card that was found, or that it is another one now."""
        self._unread = None
        self._card.show(CardLines(connection, self._observed, self.glyphs))
        self._observe()
        if self.face == "connecting":
            self._show_face("card")
        elif self.face == "raw" and not self._raw_of_extended:
            self._show_raw()
        self._show_title()
        if connection.card.signatures:
            self._verify(connection, fetch=False)

    @work(group="turns")
    async def _verify(self, connection: Connection, *, fetch: bool) -> None:
        """Verify the signatures of the card, with keys that are fetched only when that is asked for."""
        keys = await fetch_keys(self.session, connection) if fetch else None
        verdicts = await verify_card(connection, keys)
        current = self.connection
        if current is not None and current.found is connection.found and self._card.lines is not None:
            self._card.lines.signed = Signed(verdicts, keys.notes if keys else ())
            self._card.renew()

    def refresh_view(self) -> None:
        """Show the tries as they come, and what the agent was seen to do."""
        if self.face == "connecting":
            if self.connection is None and not self.session.recorded:
                self._connecting.show_tries()
        else:
            self._observe()

    def _observe(self) -> None:
        """Show what was observed since, where any call is over or a delivery came."""
        if self._observed.catch_up(self.session.journal.capture):
            self._card.renew()

    @work(group="cards", exclusive=True)
    async def compare(self, *, keep: bool) -> None:
        """Compare the card with those that were seen of its agent before, and `keep` it for the next time."""
        self._keep = keep
        self._earlier, problem = await asyncio.to_thread(seen_before, self.session, keep=keep)
        self._older = 0
        self._show_drift()
        self._show_title()
        if problem:
            notify(self, problem, "warning")

    def _show_drift(self) -> None:
        if not self._earlier:
            return
        lines = since_earlier(self._earlier, self._older, self.glyphs)
        self._changes["drift"].show(lines)

    def show_extended(self, raw: bytes) -> None:
        """Show how the extended card differs from the public one; `r` shows it as it was answered."""
        if self.connection is None:
            return
        card = card_of_answer(parse(raw))
        self._extended = dump(card)
        changes = extended_difference(self.connection.found, card)
        self._show_answer(against_public(changes, self.glyphs))

    def show_no_extended(self, fault: Fault) -> None:
        """Show why there is no extended card."""
        self._extended = b""
        self._changes["extended"].empty = f"No extended card: {fault.seen} {fault.hint} e asks again."
        self._show_answer(ChangeLines([], [], self.glyphs))

    def _show_answer(self, lines: ChangeLines) -> None:
        """Show what asking for the extended card brought; whoever is editing meanwhile is left alone."""
        self._changes["extended"].show(lines)
        if self.face != "edit":
            self._show_face("extended")

    # Faces

    def _show_title(self) -> None:
        self._tabs.display = self.face != "connecting"
        count = len(self._earlier[0].changes) if self._earlier else 0
        faces = [one._replace(name=f"drift {count:,}") if one.id == "drift" and count else one for one in SECTIONS]
        faces = faces if self.connection else [one for one in faces if one.id in ("raw", "edit")]
        note = ""
        if self.face == "raw":
            note = f"{'of the extended card  ' if self._raw_of_extended else ''}{self._raw.json.pointer}"
        self._tabs.show(faces, self.face, note)

    def on_json_view_highlighted(self) -> None:
        """Say where in the card the cursor is."""
        self._show_title()

    def focus_first(self) -> None:
        """Go to the face that is seen."""
        if self.face == "raw":
            self.screen.set_focus(self._raw.json)
        elif self.face == "edit":
            self._editor.focus_text()
        else:
            self.screen.set_focus(self.query_one(f"#{self.face}"))

    def _show_face(self, face: str) -> None:
        self._switcher.current = face
        self._show_title()
        if self.screen.focused is None or self.has_focus_within:
            self.focus_first()
        self.refresh_bindings()

    def _show_raw(self) -> None:
        """Show the bytes of the card that is meant."""
        if self._raw_of_extended:
            self._raw.show(self._extended, [_remark("the extended card, as it was answered")])
        elif self.connection is not None:
            self._raw.show(self.connection.found.raw, how_served(self.connection), self.connection.findings)
        elif self._unread is not None:
            self._raw.show(self._unread.raw, [_remark("what stands in the place of a card")], self._unread.findings)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what needs a card while there is none; leave to the text what is typed there."""
        if action == "find":
            return self.face == "card"
        if action == "raw":
            return bool(self.connection or self._unread) or None
        if action == "edit":
            return bool(self.connection or self._unread)
        if action == "home":
            return self.face != self._home
        if action == "face":
            return self.connection is not None and self.face not in parameters
        if action == "verify":
            return bool(self.connection and self.connection.card.signatures)
        if action == "older":
            return self.face == "drift" and len(self._earlier) > 1
        return super().check_action(action, parameters)

    def on_section_tabs_chosen(self, event: SectionTabs.Chosen) -> None:
        """Show the face that was clicked."""
        match event.face:
            case "raw":
                self._see_raw("", of_extended=False)
            case "edit":
                self.action_edit()
            case face:
                self._show_face(face)

    @property
    def _home(self) -> str:
        """The face that one comes back to."""
        return "card" if self.connection else "connecting"

    def action_home(self) -> None:
        """Go back to the card, or to why there is none."""
        self._show_face(self._home)

    def action_face(self, face: str) -> None:
        """Show a face."""
        self._show_face(face)

    def action_raw(self) -> None:
        """Change between the card as served and as read, at the same place."""
        match self.face:
            case "raw" if self._raw_of_extended:
                self._show_face("extended")
            case "raw":
                self._show_face(self._home)
            case "card":
                self._see_raw(self._card.pointer, of_extended=False)
            case "extended":
                self._see_raw(self._changes["extended"].pointer, of_extended=bool(self._extended))
            case "drift":
                self._see_raw(self._changes["drift"].pointer, of_extended=False)
            case _:
                self._see_raw("", of_extended=False)

    def _see_raw(self, pointer: str, *, of_extended: bool) -> None:
        self._raw_of_extended = of_extended
        self._show_raw()
        self._show_face("raw")
        self._raw.json.go_to(pointer)

    def on_card_view_place_wanted(self, event: CardView.PlaceWanted) -> None:
        """Show the place of a finding in the card as it was served."""
        self._see_raw(event.pointer, of_extended=False)

    def action_find(self) -> None:
        """Ask for the words of a skill."""
        self.app.push_screen(SearchScreen(self._card.find, self._card.words))

    def action_extended(self) -> None:
        """Ask for the extended card."""
        self.post_message(CallWanted("GetExtendedAgentCard"))

    def action_verify(self) -> None:
        """Verify the signatures with the keys that they name."""
        if self.connection is not None:
            self._verify(self.connection, fetch=True)

    def action_older(self) -> None:
        """Compare with the next older card."""
        self._older = (self._older + 1) % len(self._earlier)
        self._show_drift()

    def action_edit(self) -> None:
        """Edit a copy of the card, going on with the one that was begun."""
        if not self._editor.text:
            name = self.connection.card.name if self.connection else ""
            raw = self.connection.found.raw if self.connection else self._unread.raw if self._unread else b""
            problem = self._editor.open(raw, _file_name(name))
            if problem:
                notify(self, problem, "warning")
                return
        self._show_face("edit")

    def on_card_editor_left(self) -> None:
        """Go back to the card."""
        self.action_home()

    def action_again(self) -> None:
        """Fetch the card again; where there is none, have the agent looked for anew."""
        if self.connection is not None:
            self._refresh(self.connection)
        else:
            self.post_message(self.RefreshWanted())

    @work(group="turns")
    async def _refresh(self, before: Connection) -> None:
        try:
            after = await self.session.refresh()
        except FaultError as error:
            notify_fault(self, error.fault)
            return
        if after.found is before.found:
            if not self._raw_of_extended:
                self._raw.show_facts(how_served(after))
            self._show_title()
            notify(self, "The card is unchanged.")
        else:
            self.post_message(self.Connected(after))
            self.compare(keep=self._keep)

    def action_other(self) -> None:
        """Ask for another agent."""
        self.post_message(self.OtherWanted())

    def selected_text(self) -> str:
        """Return the example under the cursor, the value or the change there, else the card as it was served."""
        match self.face:
            case "raw":
                return self._raw.json.value
            case "extended" | "drift":
                return self._changes[self.face].text
            case "edit":
                return self._editor.text
        return self._selected_of_card()

    def _selected_of_card(self) -> str:
        """Return the example under the cursor, the value that the row is about, or all of the card."""
        view = self._card
        if isinstance(view.act, Try):
            return view.act.text
        if self.connection is None:
            return ""
        raw = self.connection.found.raw
        value = at(parse(raw), view.pointer) if view.pointer else None
        text = raw if value is None else dump(value)
        return value if isinstance(value, str) else text.decode("utf-8", "replace")


def _remark(text: str) -> Paragraph:
    return Paragraph(("", "line--soft"), text, "line--soft")


def _file_name(name: str) -> str:
    """Return a name for the file of a card."""
    return f"{re.sub(r'[^a-z0-9]+', '-', name.lower())[:40].strip('-') or 'agent'}-card.json"
