"""Records as JSON Lines."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from inspector.capture.records import Record
from inspector.findings.finding import Finding
from inspector.findings.rules import RULES
from inspector.protocol.jsonvalue import has_lone_surrogates, parse, repeated_names
from inspector.protocol.model import Json, Unreadable
from inspector.text.safe_json import dump

if TYPE_CHECKING:
    from inspector.session.exporters.selection import Selection

_MEMBERS = ("exchange", "operation", "event", "task", "context", "state", "label", "size")


def write(records: Iterable[tuple[Record, bytes]]) -> Iterator[str]:
    """Write a line for each record."""
    for record, payload in records:
        yield f"{dump(_record_json(record, payload))}\n"


def write_capture(selection: Selection, _: Callable[[str], None]) -> Iterator[str]:
    """Write a line for each chosen record."""
    return write(selection.records())


def _record_json(record: Record, payload: bytes) -> dict[str, Json]:
    """Return all members of a record; bytes that the payload does not represent exactly are in `raw` as base64."""
    value = parse(payload) if payload else None
    members: dict[str, Json] = {
        "seq": record.seq,
        "at": iso_time(record.at),
        "kind": record.kind.value,
        **{name: getattr(record, name) for name in _MEMBERS},
        "meta": dict(record.meta),
        "findings": [finding_json(finding) for finding in record.findings],
        "payload": None if isinstance(value, Unreadable) else value,
    }
    if isinstance(value, Unreadable) or not _is_exact(payload):
        members["raw"] = base64.b64encode(record.raw).decode("ascii")
    return members


class _InexactError(Exception):
    """JSON text with something that its value does not have."""


def _is_exact(payload: bytes) -> bool:
    """Return whether the value of JSON text has every member and every character, and each number in its spelling."""
    if not payload:
        return True
    if has_lone_surrogates(payload):
        return False
    try:
        json.loads(payload, object_pairs_hook=_unique_names, parse_float=_same_float, parse_int=_same_int)
    except _InexactError:
        return False
    return True


def _unique_names(pairs: list[tuple[str, Json]]) -> None:
    if repeated_names(pairs):
        raise _InexactError


def _same_float(text: str) -> None:
    if repr(float(text)) != text:
        raise _InexactError


def _same_int(text: str) -> None:
    if text == "-0":
        raise _InexactError


def iso_time(at: float) -> str:
    """Return seconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def finding_json(finding: Finding) -> dict[str, Json]:
    """Return a finding with its message and remedy, if its rule is known."""
    rule = RULES.get(finding.rule)
    known = {"id": finding.rule, "severity": finding.severity.value, "pointer": finding.pointer}
    if rule is None:
        return {**known, "seen": finding.seen}
    return {**known, "section": rule.section, "message": message(finding), "remedy": rule.remedy}


def message(finding: Finding) -> str:
    """Return the title of a finding and the value that was found, which may quote the agent."""
    title = RULES[finding.rule].title
    return f"{title}: {finding.seen}" if finding.seen else title
