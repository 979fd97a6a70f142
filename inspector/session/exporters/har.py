"""A capture as HAR 1.2: an entry for each exchange and each webhook delivery.

Members that begin with `_` contain what HAR does not have, so that an import restores the same records: `_records` in
an entry has the members of its records, whose bytes are consecutive slices of the bodies of the entry. `_records` in
the log has the records that do not belong to an entry, such as notes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import merge
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from inspector import PROGRAM, __version__
from inspector.capture.records import Kind, Record
from inspector.protocol.bindings.jsonrpc import EVENT_STREAM
from inspector.protocol.http_fields import header
from inspector.protocol.model import Json
from inspector.protocol.sse import Decoder
from inspector.session.exporters.har_records import record_json
from inspector.session.exporters.json_lines import iso_time
from inspector.session.exporters.selection import Selection
from inspector.text.safe_json import dump

DELIVERY_COMMENT = "a webhook delivery to a2a-inspect"
_UNKNOWN = -1
"""The value of sizes and times that are unknown."""


def write_capture(selection: Selection, _: Callable[[str], None]) -> Iterator[str]:
    """Write an entry on each line, then each record without an entry."""
    creator = dump({"name": PROGRAM, "version": __version__})
    yield f'{{"log":{{"version":"1.2","creator":{creator},"entries":['
    yield from _lines(_entries(selection))
    yield '],"_records":['
    others = map(selection.capture.get, selection.others)
    loose = (record for record in others if record.kind is not Kind.DELIVERY)
    yield from _lines(record_json(selection, record, inline=True) for record in loose)
    yield "]}}\n"


def _lines(values: Iterable[Json]) -> Iterator[str]:
    separator = "\n"
    for value in values:
        yield f"{separator}{dump(value)}"
        separator = ",\n"


def _entries(selection: Selection) -> Iterator[Json]:
    """Return the entries in the order of their beginnings."""
    requests = set(selection.requests)
    for seq in merge(selection.requests, selection.others):
        if seq in requests:
            yield _exchange(selection, selection.exchange(seq))
        elif (record := selection.capture.get(seq)).kind is Kind.DELIVERY:
            yield _delivery(selection, record)


def _exchange(selection: Selection, records: list[Record]) -> Json:
    """Return the entry of an exchange; the body of its response consists of the bytes of all records but the first."""
    request, *others = records
    head = next((record for record in others if record.kind is Kind.RESPONSE), None)
    times = [selection.at(record) for record in records]
    began, ended = times[0], times[-1]
    answered = selection.at(head) if head else ended
    meta = head.meta if head else {}
    version = str(meta.get("http", ""))
    content = b"".join(record.raw for record in others)
    streamed = EVENT_STREAM in _header(meta, "content-type")
    entry = {
        "startedDateTime": iso_time(began),
        "time": _milliseconds(ended - began),
        "request": _request(request.meta, str(request.meta["url"]), version, request.raw, request.size),
        "response": {
            "status": meta.get("status", 0),
            "statusText": meta.get("reason", ""),
            "httpVersion": version,
            "cookies": [],
            "headers": _headers(meta),
            "content": {
                "size": len(content),
                "mimeType": _header(meta, "content-type") or "x-unknown",
                **text_members(content, "encoding"),
            },
            "redirectURL": _header(meta, "location"),
            "headersSize": _UNKNOWN,
            "bodySize": sum(record.size for record in others),
        },
        "cache": {},
        "timings": _timings(answered - began, ended - answered),
        "_resourceType": "eventsource" if streamed else "fetch",
        **({"_eventSourceMessages": list(_messages(selection, others))} if streamed else {}),
        "_records": [record_json(selection, record) for record in records],
    }
    return {"comment": request.operation, **entry} if request.operation else entry


def _delivery(selection: Selection, record: Record) -> Json:
    """Return the entry of a webhook delivery, with the response of the receiver."""
    meta, at, target = record.meta, selection.at(record), str(record.meta["target"])
    url = target if "://" in target else f"http://{_header(meta, 'host') or 'localhost'}{target}"
    return {
        "comment": DELIVERY_COMMENT,
        "startedDateTime": iso_time(at),
        "time": _milliseconds(meta["seconds"]),
        "request": _request(meta, url, "HTTP/1.1", record.raw, record.size),
        "response": {
            "status": meta["status"],
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": [],
            "content": {"size": 0, "mimeType": "x-unknown"},
            "redirectURL": "",
            "headersSize": _UNKNOWN,
            "bodySize": _UNKNOWN,
        },
        "cache": {},
        "timings": _timings(meta["seconds"], 0),
        "_resourceType": "fetch",
        "_records": [record_json(selection, record)],
    }


def _request(meta: Mapping[str, Any], url: str, version: str, body: bytes, size: int) -> Json:
    media_type = _header(meta, "content-type")
    return {
        "method": meta["method"],
        "url": url,
        "httpVersion": version,
        "cookies": [],
        "headers": _headers(meta),
        "queryString": [{"name": name, "value": value} for name, value in _query(url)],
        **({"postData": {"mimeType": media_type, **text_members(body, "_encoding")}} if body else {}),
        "headersSize": _UNKNOWN,
        "bodySize": size,
    }


def _query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True, errors="replace")
    except ValueError:  # not a URL, or too many parameters
        return []


def text_members(raw: bytes, encoding: str) -> dict[str, Json]:
    """Return bytes as `text`; `encoding` is the name of the member that marks base64, for bytes that are not UTF-8."""
    try:
        return {"text": raw.decode("utf-8")}
    except UnicodeDecodeError:
        return {"text": b64encode(raw).decode("ascii"), encoding: "base64"}


def _messages(selection: Selection, records: Iterable[Record]) -> Iterator[Json]:
    """Return the events of a stream as Chrome writes them, each with its time of arrival."""
    for record in records:
        frames = Decoder(len(record.raw) + 1).feed(record.raw) if record.kind is Kind.FRAME else []
        for frame in frames:
            yield {
                "type": "receive",
                "time": selection.at(record),
                "id": frame.id or "",
                "eventName": frame.event or "message",
                "data": (frame.data or b"").decode("utf-8", "replace"),
            }


def _headers(meta: Mapping[str, Any]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in meta.get("headers") or ()]


def _header(meta: Mapping[str, Any], name: str) -> str:
    return header(meta.get("headers") or (), name)


def _timings(wait: float, receive: float) -> Json:
    """Return the times of the phases; those of the connection are not recorded."""
    unknown = dict.fromkeys(("blocked", "dns", "connect", "ssl"), _UNKNOWN)
    return {**unknown, "send": 0, "wait": _milliseconds(wait), "receive": _milliseconds(receive)}


def _milliseconds(seconds: float) -> float:
    return round(max(seconds, 0) * 1000, 3)
