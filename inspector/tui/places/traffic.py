"""Traffic: every exchange in a line, its records below, the detail of the selected one beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Kind
from inspector.tui.places.records import RecordsPlace
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.sources import ExchangeRecordRows, ExchangeRows
from inspector.tui.widgets.detailpane import DetailPane
from inspector.tui.widgets.feed import Column, Feed

if TYPE_CHECKING:
    from inspector.session.lists import RecordList
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
    """Exchanges above, the records of the selected one below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "next_view", "view", id="traffic.view", tooltip="The selected record decoded, raw, as hex ..."),
        Binding("escape", "back", "back", id="traffic.back", tooltip="Back to the list", show=False),
    ]

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("traffic", glyphs)
        self._exchanges: ExchangeRows | None = None
        self._records: RecordList | None = None
        self._record_rows: ExchangeRecordRows | None = None
        self._number = 0

    def compose(self) -> ComposeResult:
        """Make the two lists and the detail."""
        with Vertical(id="exchanges-pane"):
            yield Static(id="list-title", classes="pane-title")
            yield Feed(
                EXCHANGE_COLUMNS, enter_hint="records", id="exchanges", empty="Nothing has crossed the wire yet."
            )
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield Static(Content.styled("RECORDS", "bold"), classes="pane-title")
                yield Feed(RECORD_COLUMNS, enter_hint="detail", id="records", empty="Select an exchange above.")
            yield DetailPane(self.glyphs, id="traffic-detail")

    def attach(self, session: Session) -> None:
        """Show another session."""
        from inspector.session.lists import RecordList  # noqa: PLC0415 - loaded with the session, after first paint

        super().attach(session)
        requests = RecordList(lambda record: record.kind is Kind.REQUEST)
        session.journal.follow(requests)
        self._exchanges = ExchangeRows(session.journal, requests, self.glyphs)
        self._number = 0
        self._records = RecordList(lambda record: record.exchange == self._number != 0)
        session.journal.follow(self._records)
        self._record_rows = ExchangeRecordRows(session.journal, self._records, self.glyphs, 0.0)
        self.query_one("#exchanges", Feed).show_rows(self._exchanges)
        self.query_one("#records", Feed).show_rows(self._record_rows)
        self.show_record(None)

    def refresh_view(self) -> None:
        """Show what is new in both lists."""
        if self.session is None or self._exchanges is None:
            return
        self.query_one("#exchanges", Feed).refresh_rows()
        self.query_one("#records", Feed).refresh_rows()
        exchanges = self.session.journal.exchanges
        count = f"   {len(exchanges):,} exchange{'' if len(exchanges) == 1 else 's'}"
        running = f"   {exchanges.open:,} open" if exchanges.open else ""
        self.set_title(Content.assemble(("TRAFFIC", "bold"), (count + running, "$text-soft")))

    def focus_first(self) -> None:
        """Go to the exchanges."""
        self.screen.set_focus(self.query_one("#exchanges"))

    def show_exchange(self, number: int) -> None:
        """List the records of an exchange."""
        if self.session is None or self._records is None or number == self._number:
            return
        self._number = number
        journal = self.session.journal
        self._records.rebuild(journal.capture.select(exchange=number), folded=False)
        began = journal.capture.get(number).at
        self._record_rows = ExchangeRecordRows(journal, self._records, self.glyphs, began)
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
        if record.exchange:
            self.show_exchange(record.exchange)
            row = next((i for i in range(len(self._exchanges)) if self._exchanges.number(i) == record.exchange), 0)
            self.query_one("#exchanges", Feed).cursor = row
            index = self._records.index_of(seq) if self._records else None
            if index is not None:
                self.query_one("#records", Feed).cursor = index
        self.show_record(record)
        self.screen.set_focus(self.query_one("#records"))

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected exchange, or the selected record."""
        if event.feed.id == "exchanges":
            if self._exchanges is not None and 0 <= event.index < len(self._exchanges):
                self.show_exchange(self._exchanges.number(event.index))
        elif self._record_rows is not None and 0 <= event.index < len(self._record_rows):
            self.show_record(self._record_rows.record(event.index))

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Go from the exchange to its records, from a record to its detail."""
        if event.feed.id == "exchanges":
            self.screen.set_focus(self.query_one("#records"))
        else:
            self.open_detail()

    def action_back(self) -> None:
        """Go back by one list."""
        if self.has_class("-second"):
            self.remove_class("-second")
            self.screen.set_focus(self.query_one("#records"))
        else:
            self.focus_first()
