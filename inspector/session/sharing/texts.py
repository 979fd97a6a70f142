"""The texts in a record, and copies of a record with other texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from inspector.capture.query import EVENT_NAMES
from inspector.capture.records import Kind, Record
from inspector.protocol.bindings.base import Hide
from inspector.protocol.jsonvalue import parse
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Unreadable
from inspector.protocol.operations import Operation
from inspector.session.card_fetch import GET_CARD
from inspector.session.payload import OPERATIONS, interface_of, payload_json

_STRUCTURAL = frozenset({"binding", "code", "dialect", "how", "http", "login", "method", "name", "whose"})
"""Members of `meta` that programs read; they are not changed, and contain no text of a user or an agent."""
_URLS = frozenset({"url", "target", "to"})
"""Members of `meta` that are URLs."""
_PAYLOADS = frozenset({Kind.REQUEST, Kind.BODY, Kind.FRAME})
_PROTOCOL = frozenset({"", GET_CARD, *OPERATIONS, *EVENT_NAMES, *State})
"""Operations, types of payloads and states, which every capture has and which identify nothing."""
_HEADERS = frozenset(
    {
        *("a2a-extensions", "a2a-notification-token", "a2a-version", "accept", "accept-encoding"),
        *("accept-language", "authorization", "cache-control", "connection", "content-encoding", "content-length"),
        *("content-type", "cookie", "date", "etag", "expires", "grpc-accept-encoding", "grpc-message"),
        *("grpc-status", "grpc-status-details-bin", "host", "if-modified-since", "if-none-match", "keep-alive"),
        *("last-modified", "location", "opvs-version", "origin", "pragma", "referer", "server", "set-cookie", "te"),
        *("traceparent", "tracestate", "trailer", "transfer-encoding", "user-agent", "vary", "via"),
        *("www-authenticate", "x-a2a-extensions", "x-a2a-notification-token", "x-accel-buffering", "x-api-key"),
    }
)
"""Names of headers that identify nothing, so that they are not changed."""
_BODIES = {
    Kind.REQUEST: "request body",
    Kind.BODY: "response body",
    Kind.FRAME: "event",
    Kind.DELIVERY: "delivery body",
}
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\\?\Z)|-?[0-9][0-9.eE+-]*+', re.DOTALL)
"""A string or a number in JSON. A string that is cut off ends at the end, so that it is read only once."""
_SURROGATE = re.compile("[\ud800-\udfff]")

_SHORT = 64
_CACHE_SIZE = 16_384
Change = Callable[[str], str]
T = TypeVar("T")


class Place(NamedTuple):
    """A text in a record, and where it is."""

    name: str
    text: str


def places(record: Record, request: Record) -> Iterator[Place]:
    """Yield the texts of a record: columns, headers, URLs, findings, and the strings and numbers of the body."""
    for name in ("task", "context", "label"):
        if text := getattr(record, name):
            yield Place(name, text)
    for finding in record.findings:
        yield Place("finding", finding.seen)
        yield Place("finding", finding.pointer)
    yield from _in_meta(record.meta)
    if record.raw:
        where = _BODIES.get(record.kind, record.kind.value)
        yield from (Place(where, text) for text in body_texts(payload_json(record, request)))


def all_texts(record: Record, request: Record) -> Iterator[Place]:
    """Yield every text of a record, also those that are never changed, and its bytes as text."""
    for name in ("operation", "event", "state"):
        if (text := getattr(record, name)) not in _PROTOCOL:
            yield Place(name, text)
    yield from places(record, request)
    others = {name: value for name, value in record.meta.items() if name != "headers"}
    yield from (Place("meta", text) for text in _strings(others))
    yield Place("payload", record.raw.decode("utf-8", "replace"))


def _in_meta(meta: Mapping[str, Any]) -> Iterator[Place]:
    for name, value in meta.items():
        if name == "headers":
            yield from (Place(f"header {key}", str(text)) for key, text in value or ())
            yield from (Place("header name", str(key)) for key, _ in value or () if str(key).lower() not in _HEADERS)
        elif name not in _STRUCTURAL:
            yield from (Place("URL" if name in _URLS else name, text) for text in _strings(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def body_texts(body: bytes) -> Iterator[str]:
    """Yield the strings and the numbers of JSON, decoded; the whole text of another body."""
    text = body.decode("utf-8", "replace")
    if isinstance(parse(body), Unreadable):
        yield text
        return
    for found in _TOKEN.finditer(text):
        yield _decoded(found[0])


def _decoded(token: str) -> str:
    """Return the text of a string in JSON, or a number as it is written."""
    if not token.startswith('"'):
        return token
    return str(json.loads(token, strict=False)) if "\\" in token else token[1:-1]


def cached(function: Callable[[str], T]) -> Callable[[str], T]:
    """Return a function that caches its results for short texts, because names and ids are often repeated."""
    short = lru_cache(_CACHE_SIZE)(function)
    return lambda text: short(text) if len(text) <= _SHORT else function(text)


class Rewriter:
    """Changes the texts of records; `change` is for a text, `header` for a header with its name.

    `body` changes a body after its strings were changed, or a body that is not JSON.
    """

    def __init__(self, change: Change, header: Callable[[str, str], str], url: Change, body: Hide) -> None:
        self._change = cached(change)
        self._header = header
        self._url = url
        self._body = body

    def meta(self, meta: Mapping[str, Any]) -> dict[str, Any]:
        """Return `meta` with changed texts."""
        return {name: self._member(name, value) for name, value in meta.items()}

    def _member(self, name: str, value: Any) -> Any:
        if name == "headers":
            return [(self._name(str(key)), self._header(str(key), str(text))) for key, text in value or ()]
        if name in _STRUCTURAL:
            return value
        return self._value(value, self._url if name in _URLS else self._change)

    def _name(self, header: str) -> str:
        return header if header.lower() in _HEADERS else self._change(header)

    def _value(self, value: Any, change: Change) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, Mapping):
            return {change(str(name)): self._value(item, change) for name, item in value.items()}
        return [self._value(item, change) for item in value] if isinstance(value, list | tuple) else value

    def record(self, record: Record, request: Record) -> Record:
        """Return a record with changed texts; its kind, times and size on the wire stay as they are."""
        change = self._change
        return record._replace(
            task=change(record.task),
            context=change(record.context),
            label=change(record.label),
            raw=self._raw(record, request) if record.raw else record.raw,
            meta=self.meta(record.meta),
            findings=tuple(
                replace(finding, seen=change(finding.seen), pointer=change(finding.pointer))
                for finding in record.findings
            ),
        )

    def _raw(self, record: Record, request: Record) -> bytes:
        binding, dialect = interface_of(request)
        if binding and dialect and record.kind in _PAYLOADS and record.operation in OPERATIONS:
            is_request = record.kind is Kind.REQUEST
            hide = self._events if binding.uses_sse and record.kind is Kind.FRAME else self.json
            return binding.mask(dialect, Operation(record.operation), record.raw, is_request, hide)
        return self._events(record.raw) if record.kind in (Kind.FRAME, Kind.KEEPALIVE) else self.json(record.raw)

    def _events(self, raw: bytes) -> bytes:
        """Change the lines of a Server-Sent Event; the data of most events is one line of JSON."""
        return b"".join(self._line(line) for line in raw.splitlines(keepends=True))

    def _line(self, line: bytes) -> bytes:
        name, colon, rest = line.partition(b":")
        data = rest.strip()
        if name != b"data" or not data:
            return self._text(line)
        before, _, after = rest.partition(data)
        return name + colon + before + self.json(data) + after

    def json(self, raw: bytes) -> bytes:
        """Change the strings in JSON, or the whole text of another body."""
        if isinstance(parse(raw), Unreadable):
            return self._text(raw)
        text = raw.decode("utf-8")
        return self._body(_TOKEN.sub(self._token, text).encode("utf-8", "surrogatepass"))

    def _token(self, found: re.Match[str]) -> str:
        token = found[0]
        if not token.startswith('"'):
            return token
        before = _decoded(token)
        after = self._change(before)
        if after == before:
            return token
        return json.dumps(after, ensure_ascii=token.isascii() or _SURROGATE.search(after) is not None)

    def _text(self, raw: bytes) -> bytes:
        text = self._change(raw.decode("utf-8", "surrogateescape"))
        return self._body(text.encode("utf-8", "surrogateescape"))
