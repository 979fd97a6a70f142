"""The tools that read captures, also the capture of a running app, and the rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from inspector.capture.paths import is_being_written, recent_captures
from inspector.capture.private_files import MissingRecordError
from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.findings.rules import RULES
from inspector.mcp_server.files import capture_name, capture_path
from inspector.mcp_server.results import MOST_ROWS, TEXT, Result, finding_rows, refused, tidy, tool, without_blanks
from inspector.mcp_server.search import MOST_SEARCHED, find_findings, hits, read_filter
from inspector.protocol.jsonvalue import parse as parse_json
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.pointer import at, steps_of
from inspector.protocol.pointer import pointer as pointer_of
from inspector.session.exporters.json_lines import finding_json, iso_time
from inspector.session.payload import payload_json
from inspector.session.replay.validation import validated
from inspector.text.safe_json import dump
from inspector.text.units import counted

_LONGEST_PAYLOAD = 20_000
_LONGEST_EXAMPLE = 1_000
_MOST_PLACES = 5
"""How many records are named for each rule."""
_MISSING = object()
_ROW_MEMBERS = ("exchange", "operation", "event", "task", "state", "label")

CaptureName = Annotated[
    str, Field(description="A capture: its path, its name in the captures folder, or empty for the newest")
]
Filter = Annotated[
    str,
    Field(
        description="Conditions that all hold: kind:status, task:ID, state:failed, op:SendMessage, finding:error, "
        'finding:STREAM-003, gap>2s, size>10k, "text"; - before a condition negates it'
    ),
]


@tool
def captures(limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 10) -> Result:
    """List the newest captures. `live` is true while an app or a command still writes to the capture."""
    rows = [
        {
            "capture": capture_name(stored.path),
            "changed": iso_time(stored.changed),
            "bytes": stored.size,
            "live": is_being_written(stored.path),
        }
        for stored in recent_captures(limit)
    ]
    return {"captures": rows}


@tool
def records(
    capture: CaptureName = "",
    filter: Filter = "",  # noqa: A002 - the name that the caller sees
    after: Annotated[int, Field(ge=0, description="Return records after this number; next of the page before")] = 0,
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 20,
) -> Result:
    """List the records of a capture in order: requests, responses, stream frames, webhook deliveries, notes.

    Each row is a summary; call `record` with its `seq` for headers and payload. `next` is missing on the last page.
    """
    with _opened(capture) as opened:
        found = list(islice(hits(opened, read_filter(filter), after), limit + 1))
        rows = [_row(opened.get(seq)) for seq in found[:limit]]
        result = {"capture": capture_name(opened.path), "records": len(opened), "rows": rows}
        return result if len(found) <= limit else {**result, "next": found[limit - 1]}


@tool
def record(
    seq: Annotated[int, Field(ge=1, description="The number of the record")],
    capture: CaptureName = "",
    pointer: Annotated[str, Field(description="A JSON pointer: return only this part of the payload")] = "",
    limit: Annotated[int, Field(ge=100, le=_LONGEST_PAYLOAD, description="The most characters of the payload")] = 4_000,
) -> Result:
    """Return one record with its headers, its findings and its payload as text. Secrets are masked."""
    with _opened(capture) as opened:
        found = _get(opened, seq)
        request = opened.get(found.exchange) if found.exchange else found
        payload = payload_json(found, request)
    members = _row(found) | {"context": found.context, "meta": tidy(dict(found.meta), longest=TEXT)}
    members["findings"] = tidy([finding_json(finding) for finding in found.findings[:MOST_ROWS]])
    return without_blanks(members) | _excerpt(payload, pointer, limit)


@tool
def findings(
    capture: CaptureName = "",
    filter: Filter = "",  # noqa: A002 - the name that the caller sees
) -> Result:
    """List the rules that the recorded traffic violates, the most severe first, with the records that show it.

    Call `explain_rule` for the requirement, and `record` for the bytes.
    """
    with _opened(capture) as opened:
        found, complete = find_findings(opened, filter)
    result = finding_rows([finding for _, finding in found])
    for row in result.get("rules", ()):
        places = dict.fromkeys(seq for seq, finding in found if finding.rule == row["id"])
        row["records"] = list(islice(places, _MOST_PLACES))
    cut = {} if complete else {"incomplete": f"only the first {MOST_SEARCHED} records with findings were read"}
    return {"capture": capture_name(opened.path), **_tidied(result), **cut}


@tool
def explain_rule(rule: Annotated[str, Field(description="The id of a rule, such as CARD-004")]) -> Result:
    """Explain a rule: the requirement with its section, how to fix a violation, and an example that violates it."""
    known = RULES.get(rule.strip().upper())
    if known is None:
        families = ", ".join(dict.fromkeys(name.partition("-")[0] for name in RULES))
        raise refused(f"Use an id such as CARD-004: {rule} is not a rule. The families are {families}.")
    return {
        "id": known.id,
        "severity": known.severity.value,
        "title": known.title,
        "section": known.section,
        "requirement": known.requirement,
        "remedy": known.remedy,
        "protocolVersions": sorted(known.versions),
        "violated": dump(known.failing)[:_LONGEST_EXAMPLE],
    }


@contextmanager
def _opened(name: str) -> Iterator[Capture]:
    with Capture.open(capture_path(name), validated) as capture:
        yield capture


def read_record(capture: str, seq: int) -> Record:
    """Return a record of a capture; raises `ToolError`."""
    with _opened(capture) as opened:
        return _get(opened, seq)


def _get(capture: Capture, seq: int) -> Record:
    try:
        return capture.get(seq)
    except MissingRecordError as error:
        raise refused(f"{capture_name(capture.path)} has the records 1 to {len(capture)}, but not {seq}.") from error


def _row(record: Record) -> Result:
    """Return the summary of a record."""
    members: Result = {"seq": record.seq, "at": iso_time(record.at), "kind": record.kind.value}
    members |= {name: getattr(record, name) for name in _ROW_MEMBERS}
    if record.kind is Kind.REQUEST:
        members["url"] = record.meta.get("url")
    members |= {"size": record.size, "findings": sorted({finding.rule for finding in record.findings})}
    return without_blanks(_tidied(members))


def _excerpt(payload: bytes, pointer: str, limit: int) -> Result:
    """Return the beginning of a payload, or of the part at a JSON pointer, and its whole length if it is cut."""
    value: Json = parse_json(payload) if payload else None
    if isinstance(value, Unreadable):
        if pointer:
            raise refused("The payload is not JSON, so it has no JSON pointers.")
        text = payload.decode("utf-8", "backslashreplace")
    else:
        part = at(value, pointer, _MISSING) if not pointer or pointer.startswith("/") else _MISSING
        if part is _MISSING:
            raise refused(f"The payload has no value at {pointer}. {_nearest(value, pointer)}")
        text = dump(part) if payload else ""
    cut = {"payloadCharacters": len(text)} if len(text) > limit else {}
    return {"payload": tidy(text, longest=limit), **cut}


def _nearest(value: Json, pointer: str) -> str:
    """Return the last position of a JSON pointer that exists, and what is there."""
    steps: list[str] = []
    for step in steps_of(pointer):
        if at(value, pointer_of(*steps, step), _MISSING) is _MISSING:
            break
        steps.append(step)
    parent, where = at(value, pointer_of(*steps)), pointer_of(*steps) or "The whole payload"
    if isinstance(parent, dict):
        return f"{where} has the members {', '.join(list(parent)[:MOST_ROWS])}."
    if isinstance(parent, list):
        return f"{where} has {counted(len(parent), 'element')}, the first is 0."
    return f"{where} is neither an object nor an array."


def _tidied(members: Result) -> Result:
    tidied: Any = tidy(members)
    return dict(tidied)
