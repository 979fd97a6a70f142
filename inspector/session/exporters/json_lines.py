"""Records as JSON Lines: each is a line with all that it holds."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from inspector.capture.records import Record
from inspector.findings.finding import Finding
from inspector.findings.rules import RULES
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json, Unreadable
from inspector.text.safe_json import dump


def write(records: Iterable[tuple[Record, bytes]]) -> Iterator[str]:
    """Write a line for each record."""
    for record, payload in records:
        yield f"{dump(_record_json(record, payload))}\n"


def _record_json(record: Record, payload: bytes) -> dict[str, Json]:
    """Return a record with all that it holds; a payload that is not JSON is there as its bytes in Base64."""
    value = parse(payload) if payload else None
    said: dict[str, Json] = {
        "seq": record.seq,
        "at": iso_time(record.at),
        "kind": record.kind.value,
        "exchange": record.exchange,
        "operation": record.operation,
        "event": record.event,
        "task": record.task,
        "context": record.context,
        "state": record.state,
        "label": record.label,
        "size": record.size,
        "meta": dict(record.meta),
        "findings": [finding_json(finding) for finding in record.findings],
        "payload": None if isinstance(value, Unreadable) else value,
    }
    if isinstance(value, Unreadable):
        said["raw"] = base64.b64encode(record.raw).decode("ascii")
    return said


def iso_time(at: float) -> str:
    """Return seconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def finding_json(finding: Finding) -> dict[str, Json]:
    """Return a finding with what its rule says, where this version knows the rule."""
    rule = RULES.get(finding.rule)
    known = {"id": finding.rule, "severity": finding.severity.value, "pointer": finding.pointer}
    if rule is None:
        return {**known, "seen": finding.seen}
    return {**known, "section": rule.section, "message": message(finding), "remedy": rule.remedy}


def message(finding: Finding) -> str:
    """Return in one sentence what is wrong and what was there; it may quote the agent."""
    title = RULES[finding.rule].title
    return f"{title}: {finding.seen}" if finding.seen else title
