"""Print records when they are recorded: with `--debug` every record on stderr, with its secrets masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from inspector.capture.records import Kind, Record
from inspector.cli.output import Output
from inspector.protocol.lifecycle import short
from inspector.session.journal import Journal
from inspector.session.payload import payload_json
from inspector.text.units import duration

_AT_ONCE = 100
"""The most records that are printed before it is checked whether the output is read."""
_MOST_CHARACTERS = 4000
"""The most characters of a payload that a line shows."""


class JournalPrinter:
    """Prints every new record of a journal; as a context manager, until the end of the context.

    While the output is not read, records are not printed, but later, after `Journal.notify`.
    """

    kinds: frozenset[Kind] | None = None
    """The kinds of records that are printed, None for all."""

    def __init__(self, journal: Journal, out: Output) -> None:
        self._journal = journal
        self._out = out
        self._last = 0
        self._unsubscribe = journal.subscribe(self._on_records)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Print the remaining records and stop."""
        self._unsubscribe()
        self._show()

    def _on_records(self, records: Sequence[Record]) -> None:
        if not records:  # notified after a batch was recorded
            self._show()

    def _show(self) -> None:
        while not self._is_waiting():
            records = self._journal.capture.select(kinds=self.kinds, after=self._last, limit=_AT_ONCE)
            for record in records:
                self._last = record.seq
                self._print(record)
            if len(records) < _AT_ONCE:
                return

    def _is_waiting(self) -> bool:
        """Return whether the output is not read."""
        return False

    def _print(self, record: Record) -> None:
        raise NotImplementedError


class Trace(JournalPrinter):
    """Prints every record on stderr."""

    def _is_waiting(self) -> bool:
        return self._out.is_stderr_waiting()

    def _print(self, record: Record) -> None:
        request = self._journal.capture.request_of(record)
        findings = [f"{item.severity.value} {item.rule} {item.pointer}: {item.seen}" for item in record.findings]
        for line in [*lines_of(record, payload_json(record, request)), *findings]:
            self._out.line_to_stderr("debug", f"{f'#{record.exchange} ' if record.exchange else ''}{line}")


def lines_of(record: Record, payload: bytes) -> list[str]:
    """Return the content of a record: a summary in the first line, then its headers and its payload."""
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
            lines = [
                f"{record.label} after {duration(meta['seconds'])}, {meta['events']} events, {meta['bytes']:,} bytes"
            ]
        case Kind.NOTE:
            lines = [record.label]
        case _:
            words = (record.kind.value, record.event, short(record.state), record.label)
            lines = [f"{' '.join(filter(None, words))}, {record.size:,} bytes"]
            lines += [f"< {_text(payload)}"] if payload else []
    return lines


def _text(payload: bytes) -> str:
    text = payload.decode("utf-8", "replace").strip()
    return (
        text
        if len(text) <= _MOST_CHARACTERS
        else f"{text[:_MOST_CHARACTERS]} … {len(text) - _MOST_CHARACTERS:,} more characters"
    )
