"""The texts that a stream sends in pieces, joined: a secret can be split over several events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.capture.records import Kind, Record
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json
from inspector.session.payload import payload_json

_TEXT = "text"


class StreamTexts:
    """Joins the texts in the events of each running stream, by the type and the label of the events."""

    def __init__(self) -> None:
        self._running: dict[int, dict[tuple[str, str], list[str]]] = {}

    def add(self, record: Record, request: Record) -> Iterator[str]:
        """Add a record; at the end of a stream, yield its joined texts that consist of several pieces."""
        if record.kind is Kind.FRAME:
            pieces = self._running.setdefault(record.exchange, {}).setdefault((record.event, record.label), [])
            pieces += _texts(parse(payload_json(record, request)))
        elif record.kind is Kind.END:
            yield from _joined(self._running.pop(record.exchange, {}))

    def rest(self) -> Iterator[str]:
        """Yield the joined texts of streams without an end, after the last record."""
        for texts in self._running.values():
            yield from _joined(texts)


def _joined(texts: Mapping[tuple[str, str], list[str]]) -> Iterator[str]:
    return ("".join(pieces) for pieces in texts.values() if len(pieces) > 1)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == _TEXT and isinstance(item, str):
                yield item
            else:
                yield from _texts(item)
