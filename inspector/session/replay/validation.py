"""Records from a capture that anybody may have made: only those that hold what their readers take for granted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inspector.capture.records import Kind, Record

_END_OF_TIME = 253_402_300_800.0
"""The year 10000, in seconds since 1970: what shows times knows none beyond."""
_LARGEST = 2**63
_PAIR, _TRIPLE = 2, 3


def validated(record: Record) -> Record:
    """Return a record that has all that its readers rely on, in place of any other a note that says what it lacks."""
    wrong = _wrong(record)
    if not wrong:
        return record
    label = f"This record of the capture file cannot be read: {wrong}."
    return Record(record.seq, 0.0, Kind.NOTE, event="unreadable", label=label)


def _wrong(record: Record) -> str:
    if not 0 <= record.at < _END_OF_TIME:
        return "its time is none"
    if not 0 <= record.exchange <= record.seq:
        return "its exchange cannot be"
    if record.size < 0:
        return "its size cannot be"
    members = _MEMBERS.get(record.kind)
    if members is None:
        return ""
    bad = next((name for name, is_good in members.items() if not is_good(record.meta.get(name))), "")
    return f"its {bad} is missing or of another kind" if bad else ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_sign(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _END_OF_TIME


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _are_headers(value: Any) -> bool:
    return _are_rows(value, _PAIR) and all(_is_text(name) and _is_text(said) for name, said in value)


def _are_checks(value: Any) -> bool:
    return _are_rows(value, _TRIPLE) and all(
        _is_text(name) and _is_sign(good) and _is_text(said) for name, good, said in value
    )


def _are_words(value: Any) -> bool:
    return value is None or (isinstance(value, list | tuple) and all(map(_is_text, value)))


def _are_rows(value: Any, width: int) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(row, list | tuple) and len(row) == width for row in value)


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
        "taken": _is_sign,
        "seconds": _is_number,
        "registration": _is_count,
        "asked": _is_text,
        "attempt": _is_count,
        "first": _is_count,
        "gap": _is_number,
        "latency": _is_number_or_none,
        "checks": _are_checks,
    },
}
"""What readers of a record take for granted, by its kind."""
