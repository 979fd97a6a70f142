"""Print records while they come: with `--debug` every record as a line on stderr, secrets already masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from inspector.capture.records import Kind, Record
from inspector.cli.output import Output
from inspector.protocol.lifecycle import short
from inspector.session.journal import Journal
from inspector.session.payload import payload_json

_MOST = 4000
"""How many characters of a payload a line shows."""


class JournalPrinter:
    """Prints something about every new record of a journal as long as the context lasts."""

    def __init__(self, journal: Journal, out: Output) -> None:
        self._journal = journal
        self._out = out
        self._last = 0
        self._unsubscribe = journal.subscribe(self._news)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Print what is left and stop."""
        self._unsubscribe()
        self._show()

    def _news(self, records: Sequence[Record]) -> None:
        if not records:  # what was recorded has been printed, then
            self._show()

    def _show(self) -> None:
        for record in self._journal.capture.select(after=self._last):
            self._last = record.seq
            self._print(record)

    def _print(self, record: Record) -> None:
        raise NotImplementedError


class Trace(JournalPrinter):
    """Prints every record on stderr."""

    def _print(self, record: Record) -> None:
        request = self._journal.capture.get(record.exchange) if record.exchange else record
        for line in [*lines_of(record, payload_json(record, request)), *_found(record)]:
            self._out.tell("debug", f"{f'#{record.exchange} ' if record.exchange else ''}{line}")


def lines_of(record: Record, payload: bytes) -> list[str]:
    """Say what a record holds, line by line: what it is, and then its headers and its payload."""
    meta = record.meta
    match record.kind:
        case Kind.REQUEST:
            lines = [f"{record.operation}: {meta['method']} {meta['url']}"]
            lines += [f"> {name}: {value}" for name, value in meta["headers"]]
            lines += [f"> {_text(payload)}"] if payload else []
        case Kind.RESPONSE:
            lines = [f"< {meta['http']} {record.label}"]
            lines += [f"< {name}: {value}" for name, value in meta["headers"]]
        case Kind.END:
            lines = [f"{record.label} after {meta['seconds']:.3f} s, {meta['events']} events, {meta['bytes']:,} bytes"]
        case Kind.NOTE:
            lines = [record.label]
        case _:
            said = (record.kind.value, record.event, short(record.state), record.label)
            lines = [f"{' '.join(filter(None, said))}, {record.size:,} bytes"]
            lines += [f"< {_text(payload)}"] if payload else []
    return lines


def _found(record: Record) -> list[str]:
    return [f"{one.severity.value} {one.rule} {one.pointer}: {one.seen}" for one in record.findings]


def _text(payload: bytes) -> str:
    text = payload.decode("utf-8", "replace").strip()
    return text if len(text) <= _MOST else f"{text[:_MOST]} … {len(text) - _MOST:,} more characters"
