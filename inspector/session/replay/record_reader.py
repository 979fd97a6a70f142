"""Read the events in the recorded bytes of a capture."""

from __future__ import annotations

from collections.abc import Callable

from inspector.capture.records import Kind, Record
from inspector.protocol.assemble import TextAppended
from inspector.protocol.content import Content
from inspector.protocol.model import Wire
from inspector.protocol.sse import Frame
from inspector.session.frame_reader import FrameReader
from inspector.session.journal import Journal
from inspector.session.replay.translate import canonical


class RecordReader:
    """Reads the events in the records of a capture in order; each stream has its own `FrameReader`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._streams: dict[int, FrameReader[Wire | None]] = {}

    def read(self, record: Record) -> Wire | TextAppended | None:
        """Return the event or response in a record, None for an error or an unreadable payload."""
        if record.kind is Kind.FRAME:
            reader = self._streams.get(record.exchange)
            if reader is None:
                reader = self._streams[record.exchange] = FrameReader(self._decoder(record))
            # The reader only searches the bytes for the text, so the whole SSE block can be used as the data.
            [event] = reader.read((Frame(record.raw, record.raw),), len)
            return event.answer
        if record.kind is Kind.END:
            self._streams.pop(record.exchange, None)
        if record.kind not in (Kind.BODY, Kind.DELIVERY):
            return None
        request = self._journal.capture.request_of(record)
        summary = self._journal.exchanges.get(record.exchange)
        known = record.kind is Kind.DELIVERY or "binding" in request.meta
        return canonical(record, request, summary.status if summary is not None else 0) if known else None

    def _decoder(self, like: Record) -> Callable[[bytes], tuple[Wire | None, Content | None]]:
        """Return the function that reads the frames of the stream of a record."""
        request = self._journal.capture.request_of(like)
        if "binding" not in request.meta:  # without a binding the payload cannot be read
            return lambda _: (None, None)
        return lambda raw: (canonical(like._replace(raw=raw), request), None)
