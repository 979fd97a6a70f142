"""The Traffic view: all exchanges, the records of the selected exchange, and the detail of what is selected."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from inspector.capture.records import Kind, Record
from inspector.session.exchanges import ExchangeSummary
from inspector.session.exporters.http_exchange import HttpExchange
from inspector.session.record_list import RecordList
from inspector.session.session import Session
from inspector.text.units import counted, duration, size
from inspector.tui.keys import bind, key_of
from inspector.tui.render.annotations import Annotations
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import ExchangeRecordRows, ExchangeRows, TimelineRows
from inspector.tui.views.bookmark_view import BookmarkView
from inspector.tui.widgets.exchange_feed import RECORD_COLUMNS, ExchangeFeed
from inspector.tui.widgets.feed import Feed, Headings
from inspector.tui.widgets.filter_line import FilterLine
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.timeline_pane import COLUMNS

_HEADINGS = {"time": "TIME", "gap": "GAP", "kind": "KIND", "text": "CONTENT", "note": "SUMMARY"}
_ALIGNED = frozenset({"way", "kind"})
"""The columns before the content that do not shrink, so that the content of all rows is under its heading."""
HIT_COLUMNS = tuple(
    column._replace(name=_HEADINGS.get(column.name, ""), shrinks=column.shrinks and column.name not in _ALIGNED)
    for column in COLUMNS
)
"""The columns of the matching records: the task and the state are the beginning of the content."""


class TrafficView(BookmarkView):
    """Shows the exchanges, or the records that match a filter, and the records of the selected exchange.

    The detail shows what is selected in the focused list: an exchange with its request and response, or a record.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("representation", "next_view", "view", "Show the next section of the exchange, or format of the record"),
        bind("filter", "filter", "", "Filter the records"),
        bind("send-again", "screen.send_again", "send again", "Send the message of the exchange again"),
        bind("copy-as", "copy_as"),
        bind("back", "back", "", "Go back to the list", show=False),
    ]

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(session, glyphs, id=id)
        journal = session.journal
        self._annotations = Annotations(session)
        requests = RecordList(lambda record: record.kind is Kind.REQUEST)
        journal.subscribe(requests.offer, replay=True)
        self._exchanges = ExchangeRows(journal, requests, glyphs, self._annotations)
        self._number = 0
        self._phase: tuple[bool, ...] = ()
        self._records = RecordList(lambda record: record.exchange == self._number != 0)
        journal.subscribe(self._records.offer, replay=True)
        self._record_rows = ExchangeRecordRows(journal, self._records, glyphs, 0.0, self._annotations)
        self._hit_rows = TimelineRows(journal, RecordList(lambda _: False), glyphs, self._annotations)
        self._record_to_select = 0
        self._list = Pane("Exchanges", id="exchanges-pane")
        self._record_pane = Pane("Records", id="records-pane", classes="left")
        self._filter = FilterLine(session)
        self._exchange_feed = ExchangeFeed(
            self._exchanges,
            id="exchanges",
            empty=f"No exchanges yet. Press {key_of('connect')} to connect to an agent.",
        )
        self._hit_feed = Feed(HIT_COLUMNS, self._hit_rows, enter_hint="show exchange", id="hits")
        self._heads = {False: Headings(self._exchange_feed), True: Headings(self._hit_feed)}
        self._show_hits(False)
        self._record_feed = Feed(
            RECORD_COLUMNS, self._record_rows, enter_hint="open", id="records", empty="Select an exchange above."
        )

    def compose(self) -> ComposeResult:
        """Make the lists and the detail."""
        with self._list:
            yield self._filter
            yield from self._heads.values()
            yield self._exchange_feed
            yield self._hit_feed
        with Horizontal(classes="split"):
            with self._record_pane:
                yield Headings(self._record_feed)
                yield self._record_feed
            yield self.detail

    def refresh_view(self) -> None:
        """Show new rows in the lists."""
        self._exchanges.hosts = self._hosts
        self._exchange_feed.refresh_rows()
        self._record_feed.refresh_rows()
        self._refresh_exchange()
        if self._filter.hits is not None:
            self._filter.look()
            self._show_count(self._filter.hits)
            return
        exchanges = self.session.journal.exchanges
        running = f"{exchanges.open:,} in progress" if exchanges.open else ""
        self._list.set_title(Chip(f"{len(exchanges):,}", "$text-soft"), Chip(running, "$wire-received"))

    @property
    def _hosts(self) -> frozenset[str]:
        """The hosts of the card and of its interfaces; in a capture, the host of the first exchange."""
        connection = self.session.connection
        if connection is not None:
            urls = [connection.url, *(interface.url for interface in connection.card.supported_interfaces)]
        else:
            urls = [self._exchanges.summary(0).url] if len(self._exchanges) else []
        return frozenset(url.rpartition("://")[2].partition("/")[0] for url in urls)

    def focus_first(self) -> None:
        """Focus the exchanges, or the matching records."""
        self.screen.set_focus(self._exchange_feed if self._filter.hits is None else self._hit_feed)

    # The filter

    def action_filter(self) -> None:
        """Open the filter."""
        self.remove_class("-second")
        self._filter.open()

    def on_filter_line_changed(self) -> None:
        """Show the matching records, or without a filter the exchanges; keep the selected record."""
        record, hits = self.detail.record, self._filter.hits
        self._record_to_select = record.seq if record is not None and hits is not None else 0
        self._show_hits(hits is not None)
        if hits is not None:
            self._hit_rows = TimelineRows(self.session.journal, hits, self.glyphs, self._annotations)
            self._hit_feed.show_rows(self._hit_rows)
        elif record is not None:
            self._select_exchange(record.exchange)
        self.refresh_view()

    def _show_hits(self, shown: bool) -> None:
        """Show the matching records instead of the exchanges."""
        for hits, feed in ((False, self._exchange_feed), (True, self._hit_feed)):
            feed.display = self._heads[hits].display = hits is shown

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
        searching = f"{searched / count:.0%} searched" if searched < count else ""
        self._hit_feed.empty = "Searching ..." if searching else self._filter.no_match
        found = f"{len(hits):,} of {count:,}"
        self._list.set_title(Chip(found, "$text-soft"), Chip(searching, "$wire-received"), name="Matching records")

    # The selected exchange and the selected record

    def show_exchange(self, number: int) -> None:
        """List the records of an exchange."""
        if number == self._number:
            return
        self._number = number
        journal = self.session.journal
        self._records.fill(journal.capture.sizes(number) if number else ())
        # The request is missing if the disk was full when it was recorded.
        first = journal.capture.select(exchange=number, after=number - 1, limit=1) if number else []
        began = first[0].at if first else 0.0
        self._record_rows = ExchangeRecordRows(journal, self._records, self.glyphs, began, self._annotations)
        self._record_feed.show_rows(self._record_rows)
        summary = journal.exchanges.get(number)
        if summary is not None and summary.seconds is not None:
            self._record_feed.cursor = 0  # only the records of a running exchange are followed
        self._phase = ()
        self._refresh_exchange()

    def _refresh_exchange(self) -> None:
        """Show the request and the response again if the head, the first event or the end has arrived."""
        summary = self.session.journal.exchanges.get(self._number)
        if summary is None:
            self._record_pane.set_title()
            return
        phase = (bool(summary.headed), bool(summary.events), summary.seconds is not None)
        self._show_summary(summary)
        if phase != self._phase:
            self._phase = phase
            if self._exchange_feed.has_focus or self.detail.shows_exchange(summary.number):
                self._detail_exchange()

    def _show_summary(self, summary: ExchangeSummary) -> None:
        """Name the exchange in the title of its records."""
        took = duration(summary.seconds) if summary.seconds is not None else "in progress"
        events = counted(summary.events, "event")
        kept = f", {counted(summary.keepalives, 'keep-alive')}"
        title = f"#{summary.number} {summary.operation}"
        note = f"{events}{kept if summary.keepalives else ''}, {size(summary.received)}, {took}"
        self._record_pane.set_title(Chip(title, "$text-soft"), note=[Chip(note)])

    def _detail_exchange(self) -> None:
        """Show the request and the response of the selected exchange in the detail."""
        if self._number:
            self.detail.show_exchange(HttpExchange.read(self.session.journal.capture, self._number))

    def show_seq(self, seq: int) -> None:
        """Go to a record."""
        record = self.session.journal.capture.get(seq)
        self._show_record(record)
        self._select_exchange(record.exchange)
        self.screen.set_focus(self._record_feed)

    def _select_exchange(self, number: int) -> None:
        if number:
            self._exchange_feed.cursor = self._exchanges.index_of(number)

    def _show_record(self, record: Record) -> None:
        """Show a record, and select it in the list of its exchange."""
        self.show_exchange(record.exchange)
        index = self._records.index_of(record.seq)
        if index is not None:
            self._record_feed.cursor = index
        self.detail.show(record)

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected exchange, or the selected record."""
        if event.feed is self._exchange_feed:
            if self._filter.hits is None and 0 <= event.index < len(self._exchanges):
                self.show_exchange(self._exchanges.number(event.index))
        elif event.feed is self._hit_feed:
            if 0 <= event.index < len(self._hit_rows):
                self._show_record(self._hit_rows.record(event.index))
        elif event.feed.has_focus and 0 <= event.index < len(self._record_rows):
            self.detail.show(self._record_rows.record(event.index))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show in the detail what is selected in the list that gets the focus."""
        if event.widget is self._exchange_feed:
            self._detail_exchange()
        elif event.widget is self._record_feed and 0 <= self._record_feed.cursor < len(self._record_rows):
            self.detail.show(self._record_rows.record(self._record_feed.cursor))

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Go from an exchange or a record to its detail, and from a match to its exchange."""
        if event.feed is self._hit_feed:
            self.screen.set_focus(self._record_feed)
        else:
            self.open_detail()

    def action_next_view(self) -> None:
        """Show the next section or format; on a narrow screen first show the detail."""
        if self.detail.display and self.detail.size.width:
            self.detail.action_next_view()
        elif self.detail.record is not None:
            self.open_detail()

    def action_back(self) -> None:
        """Go back by one list."""
        if self.detail.has_focus_within:
            self.remove_class("-second")
            self.screen.set_focus(
                self._exchange_feed if self.detail.shows_exchange(self._number) else self._record_feed
            )
        elif self._hit_feed.has_focus:
            self._filter.action_clear()
        else:
            self.focus_first()

    def selected_record(self) -> Record | None:
        """Return the request of the selected exchange while the exchanges are focused, else the record shown."""
        self._catch_up()
        if self._exchange_feed.has_focus and self._number:
            return self.session.journal.capture.get(self._number)
        return super().selected_record()

    def _catch_up(self) -> None:
        """Show what is under the cursor now: a key can be handled before the message about the last move."""
        for feed in (self._exchange_feed, self._hit_feed, self._record_feed):
            if feed.has_focus:
                self.on_feed_highlighted(Feed.Highlighted(feed, feed.cursor))

    def selected_text(self) -> str:
        """Return the URL of the selected exchange while the exchanges are focused, else the text of the detail."""
        summary = self.session.journal.exchanges.get(self._number)
        if self._exchange_feed.has_focus and summary is not None:
            return summary.url
        return super().selected_text()
