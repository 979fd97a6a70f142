"""Traffic: every exchange in a line, its records below, the detail of the selected one beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker

from inspector.capture.records import Kind, Record
from inspector.tui.render.annotations import Asides
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import ExchangeRecordRows, ExchangeRows, TimelineRows
from inspector.tui.views.records import RecordsPlace
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.feed import Column, Feed
from inspector.tui.widgets.filter_line import FilterLine, values_of
from inspector.tui.widgets.timeline_pane import COLUMNS

if TYPE_CHECKING:
    from inspector.capture.query import Query
    from inspector.session.record_list import RecordList
    from inspector.session.session import Session

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


class TrafficPlace(RecordsPlace):
    """Exchanges above, or the records that a filter leaves; the records of the selected one below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "next_view", "view", id="traffic.view", tooltip="The selected record decoded, raw, as hex ..."),
        Binding("slash", "filter", "filter", id="traffic.filter", tooltip="The records that a filter leaves, alone"),
        Binding("escape", "back", "back", id="traffic.back", tooltip="Back to the list", show=False),
    ]

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("traffic", glyphs)
        self._asides: Asides | None = None
        self._exchanges: ExchangeRows | None = None
        self._records: RecordList | None = None
        self._record_rows: ExchangeRecordRows | None = None
        self._number = 0
        self._query: Query | None = None
        self._hits: RecordList | None = None
        self._hit_rows: TimelineRows | None = None
        self._searched = 0
        self._wanted = 0
        self._search: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        """Make the two lists and the detail."""
        with Vertical(id="exchanges-pane"):
            yield Static(id="list-title", classes="pane-title")
            yield FilterLine(self._seen)
            yield Feed(
                EXCHANGE_COLUMNS, enter_hint="records", id="exchanges", empty="Nothing has crossed the wire yet."
            )
            hits = Feed(COLUMNS, enter_hint="its exchange", id="hits", empty="No record is a hit.")
            hits.display = False
            yield hits
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield Static(Content.styled("RECORDS", "bold"), classes="pane-title")
                yield Feed(RECORD_COLUMNS, enter_hint="detail", id="records", empty="Select an exchange above.")
            yield DetailPane(self.glyphs, id="traffic-detail")

    def attach(self, session: Session) -> None:
        """Show another session."""
        from inspector.session.record_list import RecordList  # noqa: PLC0415 - loaded with the session, after first paint

        super().attach(session)
        self._asides = Asides(session)
        requests = RecordList(lambda record: record.kind is Kind.REQUEST)
        session.journal.subscribe(requests.offer, replay=True)
        self._exchanges = ExchangeRows(session.journal, requests, self.glyphs, self._asides)
        self._number = 0
        self._records = RecordList(lambda record: record.exchange == self._number != 0)
        session.journal.subscribe(self._records.offer, replay=True)
        self._record_rows = ExchangeRecordRows(session.journal, self._records, self.glyphs, 0.0, self._asides)
        self.query_one("#exchanges", Feed).show_rows(self._exchanges)
        self.query_one("#records", Feed).show_rows(self._record_rows)
        self.query_one(FilterLine).close()
        self._use(None)
        self.show_record(None)

    def refresh_view(self) -> None:
        """Show what is new in both lists."""
        if self.session is None or self._exchanges is None:
            return
        self.query_one("#exchanges", Feed).refresh_rows()
        self.query_one("#records", Feed).refresh_rows()
        if self._query is not None and self._hits is not None:
            self._look()
            self._show_count()
            return
        exchanges = self.session.journal.exchanges
        count = f"   {len(exchanges):,} exchange{'' if len(exchanges) == 1 else 's'}"
        running = f"   {exchanges.open:,} open" if exchanges.open else ""
        self.set_title(Content.assemble(("TRAFFIC", "bold"), (count + running, "$text-soft")))

    def focus_first(self) -> None:
        """Go to the exchanges, or to the hits."""
        self.screen.set_focus(self.query_one("#exchanges" if self._query is None else "#hits"))

    # The filter

    def action_filter(self) -> None:
        """Write a filter."""
        self.query_one(FilterLine).open()

    def on_filter_line_changed(self, event: FilterLine.Changed) -> None:
        """Show the hits of another filter, or the exchanges where there is none any more."""
        self._use(event.query)
        record = self.selected_record()
        if event.query is None and record is not None:
            self._point_at(record.exchange)
        self.refresh_view()

    def on_filter_line_left(self) -> None:
        """Go to what the filter leaves."""
        self.focus_first()

    def _seen(self) -> Mapping[str, Sequence[str]]:
        """Return the values that a filter may well be about."""
        return values_of(self.session) if self.session is not None else {}

    def _use(self, query: Query | None) -> None:
        """Begin to look for the hits of a query; the cursor stays with its record, or the nearest hit before it."""
        if self.session is None:
            return
        from inspector.session.record_list import RecordList  # noqa: PLC0415 - loaded with the session, after first paint

        if self._search is not None:
            self._search.cancel()
        record = self.selected_record()
        self._wanted = record.seq if record is not None and query is not None else 0
        self._query, self._searched, self._search = query, 0, None
        self._hits = RecordList(lambda _: True)
        self._hit_rows = TimelineRows(self.session.journal, self._hits, self.glyphs, self._asides)
        hits, exchanges = self.query_one("#hits", Feed), self.query_one("#exchanges", Feed)
        hits.display, exchanges.display = query is not None, query is None
        hits.show_rows(self._hit_rows)

    def _look(self) -> None:
        """Go on looking where records came that were not looked at."""
        busy = self._search is not None and not self._search.is_finished
        if self.session is not None and not busy and self._searched < len(self.session.journal.capture):
            self._search = self._find()

    @work(group="filter", exclusive=True)
    async def _find(self) -> None:
        """Take in the hits page by page, with everything else between two pages."""
        from inspector.capture.private_files import CaptureError  # noqa: PLC0415 - loaded with the session

        if self.session is None or self._query is None or self._hits is None:
            return
        try:
            for page in self.session.journal.capture.search(self._query, after=self._searched):
                self._hits.extend(page.hits)
                self._searched = page.through
                self._show_hits()
                await asyncio.sleep(0)
        except CaptureError as error:
            self.query_one(FilterLine).complain(str(error))

    def _show_hits(self) -> None:
        feed = self.query_one("#hits", Feed)
        feed.refresh_rows()
        if self._hits and 0 < self._wanted <= self._searched:
            feed.cursor = self._hits.index_of(self._wanted) or 0
            self._wanted = 0
        self._show_count()

    def _show_count(self) -> None:
        if self.session is None or self._hits is None:
            return
        count = len(self.session.journal.capture)
        searching = f"   {self._searched / count:.0%} searched" if self._searched < count else ""
        found = f"   {len(self._hits):,} of {count:,} records{searching}"
        self.set_title(Content.assemble(("TRAFFIC", "bold"), (found, "$text-soft")))

    def show_exchange(self, number: int) -> None:
        """List the records of an exchange."""
        if self.session is None or self._records is None or number == self._number:
            return
        self._number = number
        journal = self.session.journal
        self._records.clear()
        for record in journal.capture.select(exchange=number) if number else ():
            self._records.offer((record,))
        began = journal.capture.get(number).at if number else 0.0
        self._record_rows = ExchangeRecordRows(journal, self._records, self.glyphs, began, self._asides)
        self.query_one("#records", Feed).show_rows(self._record_rows)

    def show_exchange_of(self, number: int) -> None:
        """Go to what was answered in an exchange."""
        if self.session is not None:
            answers = self.session.journal.capture.select(kinds=(Kind.BODY, Kind.FRAME), exchange=number)
            self.show_seq(answers[-1].seq if answers else number)

    def show_seq(self, seq: int) -> None:
        """Go to a record, wherever it is."""
        if self.session is None or self._exchanges is None:
            return
        record = self.session.journal.capture.get(seq)
        self._show_among_others(record)
        self._point_at(record.exchange)
        self.screen.set_focus(self.query_one("#records"))

    def _point_at(self, number: int) -> None:
        """Put the cursor on an exchange."""
        if self._exchanges is not None and number:
            row = next((i for i in range(len(self._exchanges)) if self._exchanges.number(i) == number), 0)
            self.query_one("#exchanges", Feed).cursor = row

    def _show_among_others(self, record: Record) -> None:
        """Show a record, and where it stands in its exchange."""
        self.show_exchange(record.exchange)
        index = self._records.index_of(record.seq) if self._records else None
        if index is not None:
            self.query_one("#records", Feed).cursor = index
        self.show_record(record)

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected exchange, or the selected record."""
        if event.feed.id == "exchanges":
            if self._query is None and self._exchanges is not None and 0 <= event.index < len(self._exchanges):
                self.show_exchange(self._exchanges.number(event.index))
        elif event.feed.id == "hits":
            if self._hit_rows is not None and 0 <= event.index < len(self._hit_rows):
                self._show_among_others(self._hit_rows.record(event.index))
        elif self._query is not None and not event.feed.has_focus:
            return  # the detail is about the hit, however the list below goes on
        elif self._record_rows is not None and 0 <= event.index < len(self._record_rows):
            self.show_record(self._record_rows.record(event.index))

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Go from the exchange to its records, from a record to its detail."""
        if event.feed.id in ("exchanges", "hits"):
            self.screen.set_focus(self.query_one("#records"))
        else:
            self.open_detail()

    def action_back(self) -> None:
        """Go back by one list."""
        if self.has_class("-second"):
            self.remove_class("-second")
            self.screen.set_focus(self.query_one("#records"))
        elif self.query_one("#hits").has_focus:
            self.query_one(FilterLine).clear()
        else:
            self.focus_first()
