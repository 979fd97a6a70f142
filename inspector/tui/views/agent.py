"""Agent: the card as a person reads it, as it was served, beside others of the same agent, and as a copy to edit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import AwaitMount
from textual.widgets import ContentSwitcher

from inspector.capture.records import Kind, Record
from inspector.tui.render.card import CardLines, Signed
from inspector.tui.render.card_lines import Try
from inspector.tui.render.card_source import how_served
from inspector.tui.render.changes import ChangeLines, against_public, since_earlier
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.paragraphs import Paragraph
from inspector.tui.screens.search import SearchScreen
from inspector.tui.views.base import CallWanted, Place
from inspector.tui.widgets.card_view import CardView
from inspector.tui.widgets.change_view import ChangeView
from inspector.tui.widgets.connecting import Connecting
from inspector.tui.widgets.raw_card import RawCard
from inspector.tui.widgets.section_tabs import Face, FaceTabs

if TYPE_CHECKING:
    from inspector.protocol.errors import Fault
    from inspector.session.card.changes import EarlierCard
    from inspector.session.card.observed import ObservedBehaviour
    from inspector.session.connection import Connection
    from inspector.session.session import Session
    from inspector.tui.widgets.card_editor import CardEditor

FACES = (
    Face("card", "card"),
    Face("raw", "raw", "r"),
    Face("extended", "extended", "e"),
    Face("drift", "drift", "D"),
    Face("edit", "edit", "E"),
)
"""The ways to look at a card."""

_NO_EXTENDED = "The extended card was not asked for yet; e asks for it."
_NO_DRIFT = "No other card was seen of this agent yet. R fetches it again; later sessions compare with this one."


class AgentPlace(Place):
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
        """The card is to be fetched again."""

    class VerifyWanted(Message):
        """The signatures of the card are to be verified, with the keys that they name."""

    class OtherWanted(Message):
        """The user wants to connect to another agent."""

    LIVE = frozenset({"again", "extended"})

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("agent", glyphs)
        self._observed: ObservedBehaviour | None = None
        self._unread: Record | None = None
        self._extended = b""
        self._raw_of_extended = False
        self._earlier: list[EarlierCard] = []
        self._older = 0

    def compose(self) -> ComposeResult:
        """Make the faces that are seen first."""
        yield FaceTabs("AGENT", id="agent-title", classes="pane-title")
        with ContentSwitcher(initial="connecting"):
            yield Connecting(self.glyphs, id="connecting")
            yield CardView(id="card")

    def complete(self) -> AwaitMount:
        """Make the other faces, which would hold up the first paint."""
        from inspector.tui.widgets.card_editor import CardEditor  # noqa: PLC0415 - loads what edits text, as said above

        faces = (
            RawCard(self.glyphs, id="raw"),
            ChangeView(id="extended", empty=_NO_EXTENDED),
            ChangeView(id="drift", empty=_NO_DRIFT),
            CardEditor(self.glyphs, id="edit"),
        )
        for face in faces:
            face.display = False
        return self.query_one(ContentSwitcher).mount_all(faces)

    def attach(self, session: Session) -> None:
        """Show another session."""
        from inspector.session.card.observed import ObservedBehaviour  # noqa: PLC0415 - loaded with the session, after first paint

        super().attach(session)
        self._observed = ObservedBehaviour()
        self._unread, self._extended, self._raw_of_extended = None, b"", False
        self._earlier, self._older = [], 0
        for face in ("extended", "drift"):
            self.query_one(f"#{face}", ChangeView).show(ChangeLines([], [], self.glyphs))
        self.query_one("#extended", ChangeView).empty = _NO_EXTENDED
        self._editor.close()

    @property
    def _editor(self) -> CardEditor:
        from inspector.tui.widgets.card_editor import CardEditor  # noqa: PLC0415 - loaded by `complete`

        return self.query_one(CardEditor)

    @property
    def face(self) -> str:
        """Which face is seen."""
        return self.query_one(ContentSwitcher).current or ""

    @property
    def connection(self) -> Connection | None:
        """The agent that is connected."""
        return self.session.connection if self.session else None

    def show_connecting(self, reference: str) -> None:
        """Show that a card is being looked for."""
        self._show_face("connecting")
        self.query_one(Connecting).begin(reference)

    def show_recording(self) -> None:
        """Show that there is no agent, because what is seen elsewhere is a recording."""
        self.query_one(Connecting).show_recording()

    def show_fault(self, fault: Fault) -> None:
        """Show why there is no agent: whose fault it is, what was seen and what to do next.

        What stands in the place of a card and has findings can be looked at and mended.
        """
        journal = self.session.journal if self.session else None
        bodies = journal.capture.select(kinds=(Kind.BODY,)) if journal else []
        self._unread = next((one for one in reversed(bodies) if one.findings), None)
        self._show_face("connecting")
        self.query_one(Connecting).show_fault(fault, journal, unread=self._unread is not None)

    def show_connection(self, connection: Connection) -> None:
        """Show the card that was found, or that it is another one now."""
        self._unread = None
        if self._observed is not None:
            self.query_one(CardView).show(CardLines(connection, self._observed, self.glyphs))
        self._observe()
        if self.face == "connecting":
            self._show_face("card")
        elif self.face == "raw" and not self._raw_of_extended:
            self._show_raw()
        self._show_title()

    def show_signed(self, signed: Signed) -> None:
        """Show what came of verifying the signatures."""
        view = self.query_one(CardView)
        if view.lines is not None:
            view.lines.signed = signed
            view.renew()

    def show_confirmed(self, connection: Connection) -> None:
        """Show that the card is still the same one."""
        if not self._raw_of_extended:
            self.query_one(RawCard).show_facts(how_served(connection))
        self._show_title()

    def refresh_view(self) -> None:
        """Show the tries as they come, and what the agent was seen to do."""
        if self.session is None:
            return
        if self.face == "connecting":
            if self.connection is None and not self.session.recorded:
                self.query_one(Connecting).show_tries(self.session.journal)
        else:
            self._observe()

    def _observe(self) -> None:
        """Show what was observed since, where any call is over or a delivery came."""
        if self.session is None or self._observed is None:
            return
        if self._observed.catch_up(self.session.journal.capture):
            self.query_one(CardView).renew()

    def show_drift(self, earlier: list[EarlierCard]) -> None:
        """Show how the card differs from those that were seen before."""
        self._earlier, self._older = earlier, 0
        self._show_drift()
        self._show_title()

    def _show_drift(self) -> None:
        if not self._earlier:
            return
        lines = since_earlier(self._earlier, self._older, self.glyphs)
        self.query_one("#drift", ChangeView).show(lines)

    def show_extended(self, raw: bytes) -> None:
        """Show how the extended card differs from the public one; `r` shows it as it was answered."""
        from inspector.protocol.jsonvalue import dump, parse  # noqa: PLC0415 - loaded with the session
        from inspector.session.card.changes import card_of_answer, extended_difference  # noqa: PLC0415 - likewise

        if self.connection is None:
            return
        card = card_of_answer(parse(raw))
        self._extended = dump(card)
        changes = extended_difference(self.connection.found, card)
        self._show_answer(against_public(changes, self.glyphs))

    def show_no_extended(self, fault: Fault) -> None:
        """Show why there is no extended card."""
        self._extended = b""
        self.query_one("#extended", ChangeView).empty = f"No extended card: {fault.seen} {fault.hint} e asks again."
        self._show_answer(ChangeLines([], [], self.glyphs))

    def _show_answer(self, lines: ChangeLines) -> None:
        """Show what asking for the extended card brought; whoever is editing meanwhile is left alone."""
        self.query_one("#extended", ChangeView).show(lines)
        if self.face != "edit":
            self._show_face("extended")

    # Faces

    def _show_title(self) -> None:
        tabs = self.query_one(FaceTabs)
        tabs.display = self.face != "connecting"
        count = len(self._earlier[0].changes) if self._earlier else 0
        faces = [one._replace(name=f"drift {count:,}") if one.id == "drift" and count else one for one in FACES]
        faces = faces if self.connection else [one for one in faces if one.id in ("raw", "edit")]
        note = ""
        if self.face == "raw":
            note = f"{'of the extended card  ' if self._raw_of_extended else ''}{self.query_one(RawCard).json.pointer}"
        tabs.show(faces, self.face, note)

    def on_json_view_highlighted(self) -> None:
        """Say where in the card the cursor is."""
        self._show_title()

    def focus_first(self) -> None:
        """Go to the face that is seen."""
        if self.face == "raw":
            self.screen.set_focus(self.query_one(RawCard).json)
        elif self.face == "edit":
            self._editor.focus_text()
        else:
            self.screen.set_focus(self.query_one(f"#{self.face}"))

    def _show_face(self, face: str) -> None:
        self.query_one(ContentSwitcher).current = face
        self._show_title()
        if self.screen.focused is None or self.has_focus_within:
            self.focus_first()
        self.refresh_bindings()

    def _show_raw(self) -> None:
        """Show the bytes of the card that is meant."""
        raw = self.query_one(RawCard)
        if self._raw_of_extended:
            raw.show(self._extended, [_remark("the extended card, as it was answered")])
        elif self.connection is not None:
            raw.show(self.connection.found.raw, how_served(self.connection), self.connection.findings)
        elif self._unread is not None:
            raw.show(self._unread.raw, [_remark("what stands in the place of a card")], self._unread.findings)

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

    def on_face_tabs_chosen(self, event: FaceTabs.Chosen) -> None:
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
                self._see_raw(self.query_one(CardView).pointer, of_extended=False)
            case "extended":
                self._see_raw(self.query_one("#extended", ChangeView).pointer, of_extended=bool(self._extended))
            case "drift":
                self._see_raw(self.query_one("#drift", ChangeView).pointer, of_extended=False)
            case _:
                self._see_raw("", of_extended=False)

    def _see_raw(self, pointer: str, *, of_extended: bool) -> None:
        self._raw_of_extended = of_extended
        self._show_raw()
        self._show_face("raw")
        self.query_one(RawCard).json.go_to(pointer)

    def on_card_view_place_wanted(self, event: CardView.PlaceWanted) -> None:
        """Show the place of a finding in the card as it was served."""
        self._see_raw(event.pointer, of_extended=False)

    def action_find(self) -> None:
        """Ask for the words of a skill."""
        view = self.query_one(CardView)
        self.app.push_screen(SearchScreen(view.find, view.words))

    def action_extended(self) -> None:
        """Ask for the extended card."""
        self.post_message(CallWanted("GetExtendedAgentCard"))

    def action_verify(self) -> None:
        """Ask for the signatures to be verified."""
        self.post_message(self.VerifyWanted())

    def action_older(self) -> None:
        """Compare with the next older card."""
        self._older = (self._older + 1) % len(self._earlier)
        self._show_drift()

    def action_edit(self) -> None:
        """Edit a copy of the card, going on with the one that was begun."""
        editor = self._editor
        if editor.is_empty:
            name = self.connection.card.name if self.connection else ""
            raw = self.connection.found.raw if self.connection else self._unread.raw if self._unread else b""
            problem = editor.open(raw, _file_name(name))
            if problem:
                self.app.notify(problem, severity="warning", markup=False)
                return
        self._show_face("edit")

    def on_card_editor_left(self) -> None:
        """Go back to the card."""
        self.action_home()

    def action_again(self) -> None:
        """Ask for the card to be fetched again."""
        self.post_message(self.RefreshWanted())

    def action_other(self) -> None:
        """Ask for another agent."""
        self.post_message(self.OtherWanted())

    def selected_text(self) -> str:
        """Return the example under the cursor, the value or the change there, else the card as it was served."""
        match self.face:
            case "raw":
                return self.query_one(RawCard).json.value
            case "extended" | "drift":
                return self.query_one(f"#{self.face}", ChangeView).text
            case "edit":
                return self._editor.text
        return self._selected_of_card()

    def _selected_of_card(self) -> str:
        """Return the example under the cursor, the value that the row is about, or all of the card."""
        from inspector.protocol.jsonvalue import dump, parse  # noqa: PLC0415 - loaded with the session
        from inspector.protocol.pointer import at  # noqa: PLC0415 - likewise

        view = self.query_one(CardView)
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
