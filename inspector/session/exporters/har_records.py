"""The members of a record in a HAR file that HAR does not have: written by the export, read by the import."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from inspector.capture.records import Common, Kind
from inspector.findings.finding import Finding, Severity
from inspector.protocol.jsonvalue import is_number
from inspector.protocol.model import Json

if TYPE_CHECKING:
    from inspector.capture.records import Record
    from inspector.session.exporters.selection import Selection

REFERENCES = {Kind.NOTE: ("about", "delivery"), Kind.DELIVERY: ("first",)}
"""The members of `meta` that are numbers of other records."""
_TEXTS = ("operation", "event", "task", "context", "state", "label")
_KINDS = {kind.value: kind for kind in Kind}


class InvalidRecordError(ValueError):
    """The reason why a record in a HAR file cannot be read."""


def record_json(selection: Selection, record: Record, *, inline: bool = False) -> Json:
    """Return a record without its empty members; `inline` is whether it contains its bytes, in base64."""
    length = len(record.raw)
    members: dict[str, Json] = {"seq": selection.number(record.seq), "at": selection.at(record), "kind": record.kind}
    if inline and record.exchange:
        members["exchange"] = selection.number(record.exchange)
    members |= {name: getattr(record, name) for name in _TEXTS if getattr(record, name)}
    if length:
        members |= {"raw": b64encode(record.raw).decode("ascii")} if inline else {"length": length}
    if record.size != length:
        members["size"] = record.size
    if record.meta:
        members["meta"] = renumbered(record.kind, record.meta, selection.number)
    if record.findings:
        members["findings"] = [_finding_json(finding) for finding in record.findings]
    return members


def renumbered(kind: Kind, meta: Mapping[str, Any], number: Callable[[object], int]) -> dict[str, Any]:
    """Return `meta` with the new numbers of the records that it refers to."""
    changed = {name: number(meta[name]) for name in REFERENCES.get(kind, ()) if meta.get(name)}
    return {**meta, **changed}


def _finding_json(finding: Finding) -> Json:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "pointer": finding.pointer,
        "seen": finding.seen,
    }


class StoredRecord:
    """A record as read from a HAR file; `length` is the number of its bytes in the body of its entry.

    `exchange` is the number in the file of the request that it belongs to, 0 for none.
    """

    __slots__ = ("at", "common", "exchange", "findings", "length", "meta", "raw", "seq", "size")

    def __init__(self, value: Json) -> None:
        """Read a record; raises `InvalidRecordError`."""
        if not isinstance(value, dict):
            raise InvalidRecordError("a record is not an object")
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in _KINDS:
            raise InvalidRecordError("the kind of a record is unknown")
        self.seq = _natural(value, "seq")
        self.at = _number(value, "at")
        self.exchange = _natural(value, "exchange")
        self.length = _natural(value, "length")
        self.raw = _raw(value)
        self.size = _natural(value, "size", self.length or len(self.raw))
        self.common = Common(_KINDS[kind], 0, *(_text(value, name) for name in _TEXTS))
        meta = value.get("meta", {})
        if not isinstance(meta, dict):
            raise InvalidRecordError("the meta of a record is not an object")
        self.meta: dict[str, Any] = meta
        self.findings = _findings(value.get("findings", []))


def _natural(value: dict[str, Json], name: str, default: int = 0) -> int:
    number = value.get(name, default)
    if type(number) is not int or not 0 <= number < 2**63:
        raise InvalidRecordError(f"the {name} of a record is not a whole number from 0")
    return number


def _number(value: dict[str, Json], name: str) -> float:
    number = value.get(name)
    if not is_number(number):
        raise InvalidRecordError(f"the {name} of a record is not a number")
    try:
        return float(number)
    except OverflowError:
        raise InvalidRecordError(f"the {name} of a record is too large") from None


def _text(value: dict[str, Json], name: str) -> str:
    text = value.get(name, "")
    if not isinstance(text, str):
        raise InvalidRecordError(f"the {name} of a record is not a string")
    return text


def _raw(value: dict[str, Json]) -> bytes:
    try:
        return b64decode(_text(value, "raw"), validate=True)
    except (Base64Error, ValueError):
        raise InvalidRecordError("the raw of a record is not base64") from None


def _findings(value: Json) -> tuple[Finding, ...]:
    found = value if isinstance(value, list) else [None]
    try:
        return tuple(
            Finding(_text(item, "rule"), Severity(_text(item, "severity")), _text(item, "pointer"), _text(item, "seen"))
            for item in map(dict, found)
        )
    except (TypeError, ValueError):
        raise InvalidRecordError("the findings of a record are not valid") from None
