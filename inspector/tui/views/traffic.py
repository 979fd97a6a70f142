"""The Traffic view: all exchanges, the records of the selected exchange, and the detail of the selected record."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Kind, Record
from inspector.session.record_list import RecordList
from inspector.session.session import Session
from inspector.tui.keys import bind
from inspector.tui.render.annotations import Annotations
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import ExchangeRecordRows, ExchangeRows, TimelineRows
from inspector.tui.views.records import RecordsView
from inspector.tui.widgets.feed import Column, Feed
from inspector.tui.widgets.filter_line import FilterLine
from inspector.tui.widgets.timeline_pane import COLUMNS

EXCHANGE_COLUMNS = (
    Column("time", 8),
    Column("operation", 22),
    Column("where", min_total_width=40),
    Column("status", 4, "right"),
    Column("type", 18, min_total_width=110),
    Column("events", 6, "right", min_total_width=70),
    Column("size", 7, "right", min_total_width=60),
    Column("took", 7, "right"),
    Column("mark", 1),
)
RECORD_COLUMNS = (
    Column("time", 8, "right"),
    Column("way", 1),
    Column("kind", 10),
    Column("what"),
    Column("size", 7, "right"),
    Column("mark", 1),
)


class TrafficView(RecordsView):
    """Shows the exchanges, or the records that match a filter, and the records of the selected exchange."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("representation", "next_view", "view", "Show decoded, raw, hex, head or diff"),
        bind("filter", "filter", "", "Filter the records"),
        bind("back", "back", "", "Go back to the list", show=False),
    ]

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(session, glyphs, id=id)
        journal = session.journal
        self._annotations = Annotations(session)
        requests = RecordList(lambda record: record.kind is Kind.REQUEST)
        journal.subscribe(requests.offer, replay=True)
        self._exchanges = ExchangeRows(journal, requests, glyphs, self._annotations)
        self._number = 0
        self._records = RecordList(lambda record: record.exchange == self._number != 0)
        journal.subscribe(self._records.offer, replay=True)
        self._record_rows = ExchangeRecordRows(journal, self._records, glyphs, 0.0, self._annotations)
        self._hit_rows = TimelineRows(journal, RecordList(lambda _: False), glyphs, self._annotations)
        self._record_to_select = 0
        self._filter = FilterLine(session)
        self._exchange_feed = Feed(
            EXCHANGE_COLUMNS,
            self._exchanges,
            enter_hint="show records",
            id="exchanges",
            empty="No exchanges yet.",
        )
        self._hit_feed = Feed(
            COLUMNS, self._hit_rows, enter_hint="show exchange", id="hits", empty="No records match the filter."
        )
        self._hit_feed.display = False
        self._record_feed = Feed(
            RECORD_COLUMNS, self._record_rows, enter_hint="open", id="records", empty="Select an exchange above."
        )

    def compose(self) -> ComposeResult:
        """Make the lists and the detail."""
        with Vertical(id="exchanges-pane"):
            yield self.title
            yield self._filter
            yield self._exchange_feed
            yield self._hit_feed
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield Static(Content.styled("RECORDS", "bold"), classes="pane-title")
                yield self._record_feed
            yield self.detail

    def refresh_view(self) -> None:
        """Show new rows in the lists."""
        self._exchange_feed.refresh_rows()
        self._record_feed.refresh_rows()
        if self._filter.hits is not None:
            self._filter.look()
            self._show_count(self._filter.hits)
            return
        exchanges = self.session.journal.exchanges
        count = f"   {len(exchanges):,} exchange{'' if len(exchanges) == 1 else 's'}"
        running = f"   {exchanges.open:,} in progress" if exchanges.open else ""
        self.set_title(Content.assemble(("TRAFFIC", "bold"), (count + running, "$text-soft")))

    def focus_first(self) -> None:
        """Focus the exchanges, or the matching records."""
        self.screen.set_focus(self._exchange_feed if self._filter.hits is None else self._hit_feed)

    # The filter

    def action_filter(self) -> None:
        """Open the filter."""
        self._filter.open()

    def on_filter_line_changed(self) -> None:
        """Show the matching records, or without a filter the exchanges; keep the selected record."""
        record, hits = self.selected_record(), self._filter.hits
        self._record_to_select = record.seq if record is not None and hits is not None else 0
        self._hit_feed.display, self._exchange_feed.display = hits is not None, hits is None
        if hits is not None:
            self._hit_rows = TimelineRows(self.session.journal, hits, self.glyphs, self._annotations)
            self._hit_feed.show_rows(self._hit_rows)
        elif record is not None:
            self._select_exchange(record.exchange)
        self.refresh_view()

    def on_filter_line_left(self) -> None:
        """Focus the matching records."""
        self.focus_first()

    def on_filter_line_found(self) -> None:
        """Show new matching records."""
        hits = self._filter.hits
        if hits is None:
            return
        self._hit_feed.refresh_rows()
        if hits and 0 < self._record_to_select <= self._filter.searched:
            self._hit_feed.cursor = hits.index_of(self._record_to_select) or 0
            self._record_to_select = 0
        self._show_count(hits)

    def _show_count(self, hits: RecordList) -> None:
        count, searched = len(self.session.journal.capture), self._filter.searched
        searching = f"   {searched / count:.0%} searched" if searched < count else ""
        found = f"   {len(hits):,} of {count:,} records{searching}"
        self.set_title(Content.assemble(("TRAFFIC", "bold"), (found, "$text-soft")))

    def show_exchange(self, number: int) -> None:
        """List the records of an exchange."""
        if number == self._number:
            return
        self._number = number
        journal = self.session.journal
        self._records.clear()
        for record in journal.capture.select(exchange=number) if number else ():
            self._records.offer((record,))
        began = journal.capture.get(number).at if number else 0.0
        self._record_rows = ExchangeRecordRows(journal, self._records, self.glyphs, began, self._annotations)
        self._record_feed.show_rows(self._record_rows)

    def show_exchange_of(self, number: int) -> None:
        """Go to the response of an exchange."""
        answers = self.session.journal.capture.select(kinds=(Kind.BODY, Kind.FRAME), exchange=number)
        self.show_seq(answers[-1].seq if answers else number)

    def show_seq(self, seq: int) -> None:
        """Go to a record."""
        record = self.session.journal.capture.get(seq)
        self._show_record(record)
        self._select_exchange(record.exchange)
        self.screen.set_focus(self._record_feed)

    def _select_exchange(self, number: int) -> None:
        if number:
            row = next((i for i in range(len(self._exchanges)) if self._exchanges.number(i) == number), 0)
            self._exchange_feed.cursor = row

    def _show_record(self, record: Record) -> None:
        """Show a record, and select it in the list of its exchange."""
        self.show_exchange(record.exchange)
        index = self._records.index_of(record.seq)
        if index is not None:
            self._record_feed.cursor = index
        self.detail.show(record)

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected exchange, or the selected record."""
        if event.feed.id == "exchanges":
            if self._filter.hits is None and 0 <= event.index < len(self._exchanges):
                self.show_exchange(self._exchanges.number(event.index))
        elif event.feed.id == "hits":
            if 0 <= event.index < len(self._hit_rows):
                self._show_record(self._hit_rows.record(event.index))
        elif self._filter.hits is not None and not event.feed.has_focus:
            return  # the detail shows the matching record
        elif 0 <= event.index < len(self._record_rows):
            self.detail.show(self._record_rows.record(event.index))

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Go from an exchange or a match to its records, and from a record to its detail."""
        if event.feed.id in ("exchanges", "hits"):
            self.screen.set_focus(self._record_feed)
        else:
            self.open_detail()

    def action_back(self) -> None:
        """Go back by one list."""
        if self.has_class("-second"):
            self.remove_class("-second")
            self.screen.set_focus(self._record_feed)
        elif self._hit_feed.has_focus:
            self._filter.action_clear()
        else:
            self.focus_first()
