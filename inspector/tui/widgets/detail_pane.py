"""The detail of a record (payload decoded or raw, headers, changes), or the request and response of an exchange."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from operator import attrgetter
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType

from inspector.capture.private_files import CaptureError
from inspector.capture.records import EXTENSIONS, Kind, Record
from inspector.protocol.extensions.known import uses_in
from inspector.protocol.jsonvalue import parse
from inspector.session.exporters.http_exchange import HttpExchange
from inspector.session.replay.moments import Moments
from inspector.session.replay.position import position_of
from inspector.session.replay.task_diff import compare_tasks
from inspector.session.session import Session
from inspector.text.units import duration
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify
from inspector.tui.render import detail
from inspector.tui.render.extension_lines import extension_lines
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.hexdump import HexDump, raw_text
from inspector.tui.render.task_diff import what_changed
from inspector.tui.render.text_lines import Paragraph, Paragraphs, WrappedText, without_head
from inspector.tui.screens.menu import ask_and_copy
from inspector.tui.screens.search import SearchScreen
from inspector.tui.widgets.copy_menu import copy_menu
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.pane import Chip, NextChip, Pane
from inspector.tui.widgets.switcher import Switcher

REPRESENTATIONS = ("decoded", "raw", "hex", "headers", "diff")
"""The representations of a record, in the order in which the key shows them."""
EXTENSION = "extension"
"""The first representation of a record with data of known extensions: what the data means."""


class Section(StrEnum):
    """The sections of an exchange, in the order in which the key shows them."""

    REQUEST_HEADERS = "request headers"
    REQUEST_BODY = "request body"
    RESPONSE_HEADERS = "response headers"
    RESPONSE_BODY = "response body"


_LINE = 3
"""The cells of the line before a word in the border."""
_AROUND = 6
"""The cells of the border that a title cannot use: at each end a corner, a line and a space."""

_MOST_NOTES = 9
"""How many lines above the payload are shown at once in a low pane; in a high pane, they have up to half of it."""


class DetailPane(Pane):
    """Shows one record, in the representation that was chosen last."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("representation", "next_view", "view", "Show decoded, raw, hex, headers or diff"),
        bind("filter", "find", "find", "Search the text that is shown"),
        bind("next-match", "next_hit(1)", show=False),
        bind("previous-match", "next_hit(-1)", show=False),
        bind("copy-as", "copy_as", show=False),
    ]

    DEFAULT_CSS = """
    DetailPane {
        & > .notes { height: auto; }
        & ContentSwitcher { height: 1fr; }
    }
    """

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__("Detail", id=id)
        self._session = session
        self._glyphs = glyphs
        self._chosen = ""
        self._section: str = Section.RESPONSE_BODY
        self._exchange: HttpExchange | None = None
        self._moments: Moments | None = None
        self._noted_as_over = False
        self.record: Record | None = None
        self._notes = FactView(id="detail-notes", classes="notes")
        self._json = JsonView(id="decoded", empty="Select a row to see it here.")
        self._texts = {
            EXTENSION: FactView(id="extension"),
            "raw": FactView(id="raw", empty="No bytes."),
            "hex": FactView(id="hex", empty="No bytes."),
            "headers": FactView(id="headers"),
            "diff": FactView(id="diff", empty="Comparing with the task before the event."),
        }
        self._switcher = Switcher(self._json, *self._texts.values(), initial="decoded")

    def compose(self) -> ComposeResult:
        """Make the title, the notes and one view for each representation."""
        yield self._notes
        yield self._switcher

    def on_mount(self) -> None:
        """Show that nothing is selected."""
        self._show_title()
        self._notes.display = False

    def show(self, record: Record | None) -> None:
        """Show a record, or nothing."""
        shown = self.record if self._exchange is None else None
        if record is not None and shown is not None and record.seq == shown.seq:
            if self._noted_as_over != self._is_over(record):
                self._show_title()
            return
        self.record, self._exchange = record, None
        self._show_all()

    def show_exchange(self, exchange: HttpExchange) -> None:
        """Show the request and the response of an exchange."""
        self._exchange = exchange
        self._show_all()

    def shows_exchange(self, number: int) -> bool:
        """Return whether an exchange is shown, not one of its records."""
        return self._exchange is not None and self._exchange.request.seq == number

    def _show_all(self) -> None:
        if self._exchange is not None:
            request = self._current.startswith("request")
            self.record = self._exchange.request if request else self._exchange.newest
        self._show_title()
        self._show_notes()
        self._show_view()

    def on_resize(self) -> None:
        """Fit the title and the notes to the new width."""
        self._show_title()
        self._show_notes()

    def _show_notes(self) -> None:
        notes, exchange = self._notes, self._exchange
        records = [self.record] if self.record is not None else []
        if exchange is not None and not self._current.startswith("request"):
            records = exchange.response_findings
        about = Paragraphs([line for record in records for line in detail.about(record, self._glyphs)])
        about.layout(self.content_size.width - 1, 0)
        notes.display = bool(len(about))
        notes.styles.height = min(len(about), max(_MOST_NOTES, self.content_size.height // 2))
        notes.show(about)

    def _is_over(self, record: Record) -> bool:
        summary = self._session.journal.exchanges.get(record.exchange)
        return summary is None or summary.seconds is not None

    @property
    def _names(self) -> tuple[str, ...]:
        """Return the sections of the exchange that have a content, or the representations of the record."""
        exchange = self._exchange
        if exchange is not None:
            empty = {Section.REQUEST_BODY: not exchange.request.raw, Section.RESPONSE_BODY: not exchange.bodies}
            return tuple(section for section in Section if not empty.get(section))
        has_diff = self.record is not None and detail.has_task_update(self.record)
        names = REPRESENTATIONS if has_diff else REPRESENTATIONS[:-1]
        return (EXTENSION, *names) if self._uses_extensions else names

    @property
    def _uses_extensions(self) -> bool:
        return self.record is not None and bool(self.record.meta.get(EXTENSIONS))

    @property
    def _current(self) -> str:
        """Return the name of what is shown."""
        if self._exchange is not None:
            return self._section if self._section in self._names else Section.RESPONSE_HEADERS
        names = self._names
        return self._chosen if self._chosen in names else next(name for name in (EXTENSION, "decoded") if name in names)

    def action_next_view(self) -> None:
        """Show the next representation, or the next section of the exchange."""
        names = self._names
        self.choose(names[(names.index(self._current) + 1) % len(names)])

    def choose(self, name: str) -> None:
        """Show another representation of the record, or another section of the exchange."""
        had_focus = self.has_focus_within
        if self._exchange is not None:
            self._section = name
        else:
            self._chosen = name
        self._show_all()
        if had_focus:
            self.focus_body()

    def focus_body(self) -> None:
        """Focus the visible representation."""
        self.screen.set_focus(self._body)

    @property
    def _body(self) -> JsonView | FactView:
        return self._texts.get(self._widget_name, self._json)

    @property
    def _widget_name(self) -> str:
        """Return the id of the widget that shows the representation or the section."""
        if self._exchange is None:
            return self._current
        if self._current.endswith("headers"):
            return "headers"
        return "raw" if self._current == Section.RESPONSE_BODY and self._exchange.streamed else "decoded"

    def selected_text(self) -> str:
        """Return the value under the cursor of the decoded payload, or all that is shown."""
        if self.record is None:
            return ""
        if self._widget_name == "decoded" and self._json.has_focus:
            return self._json.value
        exchange, payload = self._exchange, self._session.payload
        if exchange is None:
            return payload(self.record).decode("utf-8", "replace")
        if self._current == Section.REQUEST_BODY:
            return payload(exchange.request).decode("utf-8", "replace")
        if self._current == Section.RESPONSE_BODY:
            return exchange.response_body(payload).decode("utf-8", "replace")
        first, headers = (
            exchange.request_head() if self._current == Section.REQUEST_HEADERS else exchange.response_head()
        )
        return "\n".join([first, *(f"{name}: {value}" for name, value in headers)])

    def action_find(self) -> None:
        """Ask what to find in the visible representation."""
        self.app.push_screen(SearchScreen(self._body.find))

    def action_next_hit(self, step: int) -> None:
        """Go to the next hit in a direction."""
        if isinstance(self._body, FactView) and not self._body.next_hit(step):
            notify(self, f"No match. Press {key_of('filter')} to search.", "warning")

    def action_copy_as(self) -> None:
        """Ask in which form to copy the record or its exchange, and copy it."""
        if self.record is not None:
            record, view = self.record, self._json if self._widget_name == "decoded" else None
            whole = self._exchange is not None
            entries = copy_menu(self._session, record, view, whole=whole)
            name = f"#{record.exchange} {record.operation}" if whole else detail.title(record)
            ask_and_copy(self, f"Copy {name} as", entries)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys while there is no record."""
        if action in ("find", "next_hit", "next_view", "copy_as"):
            return True if self.record is not None else None
        return super().check_action(action, parameters)

    def disabled_reason(self, command: str) -> str:  # noqa: ARG002 - the same for all commands of the pane
        """Return why the commands of the pane are disabled."""
        return "" if self.record is not None else "no row is selected"

    def _show_view(self) -> None:
        record = self.record
        self._switcher.current = self._widget_name
        if self._exchange is not None:
            self._show_section(self._exchange)
        elif record is None:
            self._json.show(Paragraphs([]))
        else:
            self._show_record(record)

    def _show_record(self, record: Record) -> None:
        match self._current:
            case "extension":
                uses = uses_in(parse(self._session.payload(record)))
                self._body.show(Paragraphs(extension_lines(uses, self._session.journal)))
            case "decoded":
                if record.kind is Kind.END and record.raw:
                    self._json.show_text(record.raw, "an incomplete event, as text:")
                elif record.kind is not Kind.KEEPALIVE and (body := self._session.payload(record)):
                    self._json.show_bytes(body)
                else:
                    self._json.show(Paragraphs(detail.facts(record)))
            case "raw":
                self._body.show(raw_text(record.raw))
            case "hex":
                self._body.show(HexDump(record.raw))
            case "headers":
                self._body.show(Paragraphs(detail.facts(record)))
            case _:
                self._body.show(Paragraphs([]))  # not the changes by another record
                self._compare(record)

    def _show_section(self, exchange: HttpExchange) -> None:
        payload = self._session.payload
        match self._current, self._body:
            case Section.REQUEST_HEADERS, body:
                body.show(Paragraphs(detail.request_head(exchange)))
            case Section.RESPONSE_HEADERS, body:
                body.show(Paragraphs(detail.response_head(exchange)))
            case Section.REQUEST_BODY, _:
                self._json.show_bytes(payload(exchange.request))
            case _, JsonView() as body:
                body.show_bytes(exchange.response_body(payload))
            case _, body:
                text = exchange.response_body(payload).decode("utf-8", "replace")
                wrapped = WrappedText(text, words=False, style="line--text")
                summary = self._session.journal.exchanges.get(exchange.request.seq)
                rest = summary.received - sum(record.size for record in exchange.bodies) if summary else 0
                wrapped.skip(rest if exchange.omitted else 0)
                body.show(wrapped)

    @work(exclusive=True, group="compare")
    async def _compare(self, record: Record) -> None:
        """Show what the event changed: compare the task before and after it, both rebuilt from the records."""
        moments = self._moments
        if moments is None or moments.task_id != record.task:
            moments = self._moments = Moments(self._session.journal, record.task)
        try:
            while moments.through < record.seq and moments.read():  # noqa: ASYNC110 - let other coroutines run
                await asyncio.sleep(0)  # a page needs a few milliseconds, and there may be many
            lines = self._changes(moments, record)
        except CaptureError as error:  # the disk was full, or the file is damaged
            self._moments = None
            lines = [Paragraph((f"{self._glyphs.cross} ", "line--bad"), str(error), "line--bad")]
        if self.record is record and self._current == "diff":
            self._texts["diff"].show(Paragraphs(lines))

    def _changes(self, moments: Moments, record: Record) -> list[Paragraph]:
        index = moments.index_of(record.seq)
        if index < 0 or moments.seq(index) != record.seq:
            return [without_head("The record contains no update of the task.", "line--soft")]
        after, before = moments.at(index), moments.at(index - 1) if index else None
        account = attrgetter("pushed" if record.kind is Kind.DELIVERY else "answered")
        found = compare_tasks(account(before) if before else None, account(after))
        return what_changed(found, self._glyphs)

    def _show_title(self) -> None:
        """Show the title with the names of what can be shown; if there is no room, only the number of the record."""
        record, exchange = self.record, self._exchange
        self._noted_as_over = record is not None and self._is_over(record)
        if record is None:
            self.set_title()
            return
        names = self._section_chips() if exchange is not None else self._representation_chips()
        room = self.content_size.width + 2 - _AROUND - len("Detail") - _width(names)
        titles = [detail.title(record), f"#{record.seq}"] if exchange is None else [f"#{exchange.request.seq}"]
        title = next((title for title in titles if len(title) + _LINE <= room), "")
        name = None if room >= 0 else ""
        self.set_title(Chip(title, "$text-soft"), *names, name=name, note=[Chip(self._position(record))])

    def _position(self, record: Record) -> str:
        """Return the operation and the position of the record, without the operation if there is no room."""
        exchange, room = self._exchange, self.content_size.width + 2 - _AROUND
        if exchange is None:
            position = position_of(record, self._session.journal)
        else:
            took = duration(exchange.end.meta["seconds"]) if exchange.end else "in progress"
            position = ", ".join(filter(None, (exchange.response.label if exchange.response else "", took)))
        note = ", ".join(filter(None, (record.operation, position)))
        return note if len(note) <= room else position

    def _representation_chips(self) -> list[Chip]:
        first, *rest = ((name, self._style_of(name), name) for name in self._names)
        return [Chip(*first), *(NextChip(*chip) for chip in rest)]

    def _section_chips(self) -> list[Chip]:
        """Return the names of the sections, each side separated from the other by a line."""
        chips: list[Chip] = []
        for name in self._names:
            side, part = name.split()
            if not any(chip.text == side for chip in chips):
                chips.append(Chip(side, "$text-soft", name))
            chips.append(NextChip(part, self._style_of(name), name))
        return chips

    def _style_of(self, name: str) -> str:
        return "bold $foreground" if name == self._current else "$wire-quiet"

    def chosen(self, target: str) -> None:
        """Show the representation or the section whose name is clicked."""
        if target in self._names:
            self.choose(target)


def _width(chips: Sequence[Chip]) -> int:
    """Return the cells of words in the border, with the lines and spaces before them."""
    return sum(len(chip.text) + (1 if isinstance(chip, NextChip) else _LINE) for chip in chips)
