"""The detail of one record: its position, notes about it, its payload decoded or raw, its head, its changes."""

from __future__ import annotations

import asyncio
from operator import attrgetter
from typing import ClassVar, Literal

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import ContentSwitcher, Static

from inspector.capture.records import Kind, Record
from inspector.protocol.errors import FaultError
from inspector.session.replay.moments import Moments
from inspector.session.replay.position import position_of
from inspector.session.replay.task_diff import compare_tasks
from inspector.session.session import Session
from inspector.tui.notify import copy, notify, notify_fault
from inspector.tui.render import detail
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.hexdump import HexDump, raw_text
from inspector.tui.render.task_diff import what_changed
from inspector.tui.render.text_lines import Paragraph, Paragraphs
from inspector.tui.screens.search import SearchScreen
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.view_tabs import clickable, clicked

Representation = Literal["decoded", "raw", "hex", "head", "diff"]
REPRESENTATIONS: tuple[Representation, ...] = ("decoded", "raw", "hex", "head", "diff")
"""The representations of a record, in the order in which the key shows them."""

_GAP = 2
"""Cells before each name in the title."""

_MOST_NOTES = 9
"""The most lines that are shown above the payload."""


class DetailPane(Vertical):
    """Shows one record, in the representation that was chosen last."""

    ALLOW_MAXIMIZE = True  # maximise the pane with its title, not only the list or the lines in it

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "next_view", "view", id="detail.view", tooltip="Show decoded, raw, hex, head or diff"),
        Binding("slash", "find", "find", id="detail.find", tooltip="Search the text that is shown"),
        Binding("n", "next_hit(1)", "next", show=False, id="detail.next", tooltip="Go to the next match"),
        Binding("N", "next_hit(-1)", "", show=False, id="detail.previous", tooltip="Go to the previous match"),
        Binding("J", "copy_json", "copy JSON", show=False, id="detail.json", tooltip="Copy the value as JSON"),
        Binding("C", "copy_curl", "copy curl", show=False, id="detail.curl", tooltip="Copy the request as curl"),
    ]

    DEFAULT_CSS = """
    DetailPane {
        & > .notes { height: auto; }
        & ContentSwitcher { height: 1fr; }
    }
    """

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(id=id)
        self._session = session
        self._glyphs = glyphs
        self._chosen: Representation = "decoded"
        self._moments: Moments | None = None
        self._noted_as_over = False
        self.record: Record | None = None
        self._title = Static(id="detail-title", classes="pane-title")
        self._notes = FactView(id="detail-notes", classes="notes")
        self._json = JsonView(id="decoded", empty="Select a row to see it here.")
        self._texts = {
            "raw": FactView(id="raw", empty="No bytes."),
            "hex": FactView(id="hex", empty="No bytes."),
            "head": FactView(id="head"),
            "diff": FactView(id="diff", empty="Comparing with the task before the event."),
        }
        self._switcher = ContentSwitcher(self._json, *self._texts.values(), initial="decoded")

    def compose(self) -> ComposeResult:
        """Make the title, the notes and one view for each representation."""
        yield self._title
        yield self._notes
        yield self._switcher

    def on_mount(self) -> None:
        """Show that nothing is selected."""
        self._show_title()
        self._notes.display = False

    def show(self, record: Record | None) -> None:
        """Show a record, or nothing."""
        if record is not None and self.record is not None and record.seq == self.record.seq:
            if self._noted_as_over != self._is_over(record):
                self._show_notes()
            return
        self.record = record
        self._show_title()
        self._show_notes()
        self._show_view()

    def on_resize(self) -> None:
        """Fit the title and the notes to the new width."""
        self._show_title()
        self._show_notes()

    def _show_notes(self) -> None:
        record, notes = self.record, self._notes
        self._noted_as_over = record is not None and self._is_over(record)
        found = position_of(record, self._session.journal) if record else None
        place = [Paragraph(("", "line--soft"), found, "line--quiet")] if found else []
        about = Paragraphs([*place, *detail.about(record, self._glyphs)] if record else [])
        about.layout(self.content_size.width - 1, 0)
        notes.display = bool(len(about))
        notes.styles.height = min(len(about), _MOST_NOTES)
        notes.show(about)

    def _is_over(self, record: Record) -> bool:
        summary = self._session.journal.exchanges.get(record.exchange)
        return summary is None or summary.seconds is not None

    @property
    def _representations(self) -> tuple[Representation, ...]:
        """Return the representations of this record; without information about a task there is no diff."""
        has_diff = self.record is not None and detail.has_task_update(self.record)
        return REPRESENTATIONS if has_diff else REPRESENTATIONS[:-1]

    @property
    def _current(self) -> Representation:
        return self._chosen if self._chosen in self._representations else "decoded"

    def action_next_view(self) -> None:
        """Show the next representation."""
        views = self._representations
        self.choose(views[(views.index(self._current) + 1) % len(views)])

    def choose(self, view: Representation) -> None:
        """Show the record in another representation."""
        had_focus = self.has_focus_within
        self._chosen = view
        self._show_title()
        self._show_view()
        if had_focus:
            self.focus_body()

    def focus_body(self) -> None:
        """Focus the visible representation."""
        self.screen.set_focus(self._body)

    @property
    def _body(self) -> JsonView | FactView:
        return self._texts.get(self._current, self._json)

    def selected_text(self) -> str:
        """Return the value under the cursor of the decoded payload, or the whole payload."""
        if self.record is None:
            return ""
        if self._current == "decoded" and self._json.has_focus:
            return self._json.value
        return self._session.payload(self.record).decode("utf-8", "replace")

    def action_find(self) -> None:
        """Ask what to find in the visible representation."""
        self.app.push_screen(SearchScreen(self._body.find))

    def action_next_hit(self, step: int) -> None:
        """Go to the next hit in a direction."""
        if isinstance(self._body, FactView) and not self._body.next_hit(step):
            notify(self, "No match. Press / to search.", "warning")

    def action_copy_json(self) -> None:
        """Copy the value under the cursor, or the whole payload, as JSON."""
        copy(self, self._json.json)

    def action_copy_curl(self) -> None:
        """Copy the request behind the record as a curl command."""
        if self.record is None:
            return
        try:
            copy(self, self._session.curl(self.record))
        except FaultError as error:
            notify_fault(self, error.fault)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the curl key of records without a request, and disable the keys for what this record does not have."""
        if action == "copy_curl":
            record = self.record
            return record is not None and (bool(record.exchange) or record.kind is Kind.REQUEST)
        if action in ("find", "next_hit", "next_view"):
            return True if self.record is not None else None
        if action == "copy_json":
            return True if self.record is not None and self._json.json else None
        return super().check_action(action, parameters)

    def _show_view(self) -> None:
        record = self.record
        self._switcher.current = self._current
        if record is None:
            self._json.show(Paragraphs([]))
            return
        match self._current:
            case "decoded":
                if record.kind is not Kind.KEEPALIVE and (body := self._session.payload(record)):
                    self._json.show_bytes(body)
                else:
                    self._json.show(Paragraphs(detail.facts(record)))
            case "raw":
                self._body.show(raw_text(record.raw))
            case "hex":
                self._body.show(HexDump(record.raw))
            case "head":
                self._body.show(Paragraphs(detail.facts(record)))
            case "diff":
                self._compare(record)

    @work(exclusive=True, group="compare")
    async def _compare(self, record: Record) -> None:
        """Show what the event changed: compare the task before and after it, both rebuilt from the records."""
        moments = self._moments
        if moments is None or moments.task_id != record.task:
            moments = self._moments = Moments(self._session.journal, record.task)
        more = True
        while more and moments.through < record.seq:
            more = moments.read()
            await asyncio.sleep(0)  # a page needs a few milliseconds, and there may be many
        index = moments.index_of(record.seq)
        if index < 0 or moments.seq(index) != record.seq:
            lines = [Paragraph(("", "line--soft"), "The record contains no update of the task.", "line--soft")]
        else:
            after, before = moments.at(index), moments.at(index - 1) if index else None
            account = attrgetter("pushed" if record.kind is Kind.DELIVERY else "answered")
            found = compare_tasks(account(before) if before else None, account(after))
            lines = what_changed(found, self._glyphs)
        if self.record is record and self._current == "diff":
            self._texts["diff"].show(Paragraphs(lines))

    @property
    def _title_text(self) -> str:
        """Return the title of the record, or its number if there is no room for the title."""
        if self.record is None:
            return ""
        whole = f"  {detail.title(self.record)}"
        views = sum(len(view) + _GAP for view in self._representations)
        return whole if len("DETAIL" + whole) + views <= self.content_size.width else f"  #{self.record.seq}"

    def _show_title(self) -> None:
        views: list[Content] = []
        for view in self._representations if self.record else ():
            style = "bold $foreground" if view == self._current else "$wire-quiet"
            views.append(clickable(Content.styled(" " * _GAP + view, style), view))
        self._title.update(Content.assemble(("DETAIL", "bold"), (self._title_text, "$text-soft"), *views), layout=False)

    def on_click(self, event: events.Click) -> None:
        """Show the representation whose name is clicked."""
        for view in self._representations:
            if view == clicked(event):
                self.choose(view)
