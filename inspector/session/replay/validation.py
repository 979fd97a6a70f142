"""Validate the records of a capture file, which may come from any source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inspector.capture.records import END_OF_TIME, EXTENSIONS, VERIFIED, Kind, Record
from inspector.protocol.jsonvalue import is_number


def validated(record: Record) -> Record:
    """Return a record if it has all members that its readers need, else a note with the reason."""
    problem = problem_of(record)
    if not problem:
        return record
    label = f"This record of the capture file cannot be read: {problem}."
    return Record(record.seq, 0.0, Kind.NOTE, event="unreadable", label=label)


def problem_of(record: Record) -> str:
    """Return why a record cannot be read, `""` if it has all members that its readers need."""
    if not 0 <= record.at < END_OF_TIME:
        return "its time is not valid"
    if not 0 <= record.exchange <= record.seq:
        return "its exchange is not valid"
    if record.size < 0:
        return "its size is not valid"
    meta, members = record.meta, _MEMBERS.get(record.kind, {})
    invalid = next((name for name, is_valid in members.items() if not is_valid(meta.get(name))), "")
    if invalid:
        return f"its {invalid} is missing or has the wrong type"
    optional = ((name, is_valid) for name, is_valid in _OPTIONAL.items() if name in meta)
    wrong = next((name for name, is_valid in optional if not is_valid(meta[name])), "")
    return f"its {wrong} has the wrong type" if wrong else ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    return is_number(value) and abs(value) < END_OF_TIME


def _are_words(value: Any) -> bool:
    return value is None or (isinstance(value, list | tuple) and all(map(_is_text, value)))


def _or_none(is_valid: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_valid(value)


def _rows(*columns: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a check for a list of rows, each with these columns."""

    def is_row(row: Any) -> bool:
        same_width = isinstance(row, list | tuple) and len(row) == len(columns)
        return same_width and all(is_valid(value) for is_valid, value in zip(columns, row, strict=True))

    return lambda value: isinstance(value, list | tuple) and all(map(is_row, value))


_are_headers = _rows(_is_text, _is_text)
_are_results = _rows(_is_text, _is_text, _is_text, _is_text)


def _are_verified(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_are_results, value.values()))


_OPTIONAL: Mapping[str, Callable[[Any], bool]] = {
    "headers": _or_none(_are_headers),
    "lag": _or_none(_is_number),
    "whose": _or_none(_is_text),
    "code": _or_none(lambda value: _is_text(value) or _is_count(value)),
    "seen": _or_none(_is_text),
    "hint": _or_none(_is_text),
    EXTENSIONS: _are_words,
    VERIFIED: _or_none(_are_verified),
}
"""The members of `meta` that records of several kinds may have."""

_MEMBERS: Mapping[Kind, Mapping[str, Callable[[Any], bool]]] = {
    Kind.REQUEST: {"method": _is_text, "url": _is_text, "headers": _are_headers, "deliberate": _are_words},
    Kind.RESPONSE: {"status": _is_count, "reason": _is_text, "http": _is_text, "headers": _are_headers},
    Kind.TRAILERS: {"code": _is_count, "name": _is_text, "message": _is_text, "headers": _are_headers},
    Kind.END: {"how": _is_text, "events": _is_count, "bytes": _is_count, "seconds": _is_number},
    Kind.DELIVERY: {
        "method": _is_text,
        "target": _is_text,
        "headers": _are_headers,
        "peer": _is_text,
        "status": _is_count,
        "refused": _is_text,
        "dialled": _is_text,
        "delay": _is_number,
        "taken": _is_flag,
        "challenge": _is_flag,
        "seconds": _is_number,
        "registration": _is_count,
        "asked": _is_text,
        "attempt": _is_count,
        "first": _is_count,
        "gap": _is_number,
        "latency": _or_none(_is_number),
        "again": _or_none(_is_count),
        "checks": _rows(_is_text, _is_flag, _is_text),
    },
}
"""The members of `meta` that readers of a record need, by its kind."""
