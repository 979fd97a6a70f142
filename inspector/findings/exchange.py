"""What is wrong with an answer as its transport carries it: envelopes, statuses, media types, the shape of errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from inspector.findings.finding import Finding, Severity
from inspector.findings.lenient_json import Lenient, Oddity, oddities
from inspector.findings.lint import check
from inspector.findings.payload.judge import of_error, of_object
from inspector.findings.rule import V1
from inspector.findings.rules import broken
from inspector.findings.stream.events import of_envelope
from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import BY_CODE, ProtocolError
from inspector.protocol.jsonvalue import brief, parse
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.operations import STREAMING, Operation
from inspector.protocol.pointer import pointer

_PROBLEM = "application/problem+json"
_SUCCESS_TYPES = frozenset({rest.JSON, rest.A2A_JSON})
_ERROR_TYPES = _SUCCESS_TYPES | {_PROBLEM}
_CHARSETS = frozenset({"", "utf-8", "utf8", "us-ascii"})
_FAILED = 400
_SAID_BY_STATUS = frozenset({429})
"""Statuses that say all there is to say, and are of no error of A2A."""
_LONGEST_READ_TWICE = 1_000_000
"""Payloads beyond this are not read a second time for members that are there more than once."""
_OF_STREAMS = (b"data:", b"event:", b"id:", b"retry:", b":")
"""What the bytes of a stream begin with."""
_UNREAD = frozenset({"STREAM-007", "RPC-003", "HTTP-005"})
"""The rules that say no more than that something cannot be read."""


class Payload(NamedTuple):
    """One payload of an answer: `value` as it came (an `Unreadable` where it is no JSON), `answer` as it was read.

    `status`, `content_type` and `charset` are the response's, the last of them to be said once, with its first payload;
    `framed` says that this is one event of a stream; `raw` are the payload's bytes, where they are JSON.
    """

    operation: Operation
    generation: str
    request_id: str | int | float | None
    status: int
    content_type: str
    framed: bool
    value: Json
    answer: Answer
    raw: bytes = b""
    charset: str = ""

    @property
    def streaming(self) -> bool:
        """Say whether a stream was asked for."""
        return self.operation in STREAMING


def of_payload(binding: str, payload: Payload) -> tuple[Finding, ...]:
    """Judge a payload: how its binding carries it, then what it says.

    What cannot be read is told once: by the places where it leaves its shape, or else by what the reader stumbled over.
    """
    said = _of_content(binding, payload)
    carried = _JUDGES.get(binding, _of_any)(payload)
    if any(one.severity is Severity.ERROR for one in said):
        carried = [one for one in carried if one.rule not in _UNREAD]
    return (*carried, *said, *_repeated(payload.raw))


def _repeated(raw: bytes) -> list[Finding]:
    """Name the members that are there more than once, of which readers see one or another."""
    if not 0 < len(raw) <= _LONGEST_READ_TWICE:
        return []
    lenient = Lenient()
    try:
        value = lenient.read(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return []  # what is no JSON is named as that
    odd = oddities(value) if lenient.odd else ()
    return [broken("DATA-023", one.seen, one.pointer) for one in odd if one.oddity is Oddity.REPEATED]


def _of_content(binding: str, payload: Payload) -> tuple[Finding, ...]:
    """Judge the object or the error inside of a payload."""
    value = payload.value
    error = value.get("error") if isinstance(value, dict) else None
    if isinstance(error, dict):
        return of_error(error, payload.generation, binding, ("error",), payload.status)
    if isinstance(value, Unreadable) or isinstance(payload.answer, ProtocolError):
        return ()
    if binding != jsonrpc.BINDING.name:
        return _of_object(binding, payload, value, ())
    result = value.get("result") if isinstance(value, dict) else None
    return () if result is None else _of_object(binding, payload, result, ("result",))


def _of_object(binding: str, payload: Payload, value: Json, steps: tuple[str, ...]) -> tuple[Finding, ...]:
    if payload.operation is Operation.EXTENDED_CARD and isinstance(value, dict):
        found = check(value, payload.generation)
        return tuple(replace(one, pointer=pointer(*steps) + one.pointer) for one in found)
    operation = None if payload.framed else payload.operation
    return of_object(value, operation, payload.generation, binding, steps)


def _of_any(payload: Payload) -> list[Finding]:
    if not isinstance(payload.answer, Unreadable):
        return []
    where = "/result" if isinstance(payload.value, dict) and "result" in payload.value else ""
    return [broken("STREAM-007" if payload.framed else "RPC-003", payload.answer.why, where)]


def charset_of(content_type: str) -> str:
    """Return the charset that a content type names, in lower case, `""` where it names none."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip(" \t\"'").lower()
    return ""


def _of_charset(rule: str, payload: Payload) -> list[Finding]:
    """Name a charset in which neither JSON nor Server-Sent Events are written."""
    return [] if payload.charset in _CHARSETS else [broken(rule, f"charset={payload.charset[:80]}")]


def _of_jsonrpc(payload: Payload) -> list[Finding]:
    value, answer = payload.value, payload.answer
    early, nullable = payload.status >= _FAILED, payload.generation == "0.1"
    findings = [
        *of_envelope(payload.request_id, value, early=early, nullable=nullable),
        *_of_failure(payload),
        *_of_charset("RPC-005", payload),
    ]
    if payload.framed and not payload.streaming:
        findings.append(broken("RPC-005", payload.content_type or "a stream of events"))
    if not payload.framed and not isinstance(value, Unreadable):
        if payload.streaming and not isinstance(answer, ProtocolError | Unreadable):
            findings.append(broken("RPC-004", f"answered with {payload.content_type or 'no content type'}"))
        elif "json" not in payload.content_type or payload.content_type == rest.A2A_JSON:
            findings.append(broken("RPC-005", payload.content_type or "none"))
    if unframed := _unframed(payload):
        return [*findings, broken("RPC-005", unframed)]
    odd_error = isinstance(value, dict) and value.get("error") is not None
    no_response = odd_error or not (payload.framed or (isinstance(value, dict) and "result" in value))
    if isinstance(answer, Unreadable) and no_response:
        return [*findings, broken("RPC-002", answer.why, "/error" if odd_error else "")]
    return findings + _of_any(payload)


def _of_http(payload: Payload) -> list[Finding]:
    value, answer = payload.value, payload.answer
    findings = [*_of_failure(payload), *_of_charset("HTTP-001", payload)]
    if payload.framed and not payload.streaming:
        findings.append(broken("HTTP-001", payload.content_type or "a stream of events"))
    if unframed := _unframed(payload):
        return [*findings, broken("HTTP-001", unframed)]
    if isinstance(value, dict) and "jsonrpc" in value:
        return [*findings, broken("HTTP-011", "the envelope of JSON-RPC, where the object itself is due", "/jsonrpc")]
    if isinstance(answer, ProtocolError):
        findings += _of_http_error(payload, answer)
    if payload.framed:
        return findings + _of_any(payload)
    if isinstance(answer, Unreadable):
        return [*findings, broken("HTTP-005", answer.why)]
    failed = isinstance(answer, ProtocolError)
    if payload.streaming and not failed:
        findings.append(broken("HTTP-006", f"answered with {payload.content_type or 'no content type'}"))
    elif value is not None and payload.content_type not in (_ERROR_TYPES if failed else _SUCCESS_TYPES):
        findings.append(broken("HTTP-001", payload.content_type or "none"))
    return findings


def _unframed(payload: Payload) -> str:
    """Say in words that events came in a body that is no stream by its head, `""` where they did not."""
    if payload.framed or not isinstance(payload.value, Unreadable):
        return ""
    raw, named = payload.raw.lstrip(), payload.content_type or "no content type"
    if raw.startswith(_OF_STREAMS):
        return f"{named}, and what came is a stream of events"
    first, _, rest_of_it = raw.partition(b"\n")
    lines = isinstance(parse(first), dict) and rest_of_it.lstrip().startswith(b"{")
    return f"{named}, and what came are lines of JSON, not Server-Sent Events" if lines else ""


def _of_http_error(payload: Payload, error: ProtocolError) -> list[Finding]:
    """Judge an error: the status against the error that its body names, and the body against AIP-193."""
    findings: list[Finding] = []
    if not payload.framed and payload.status < 300:
        findings.append(broken("HTTP-004", f"{payload.status} with {error.name}", _error_place(payload.value)))
    if payload.generation not in V1:
        return findings
    inner = payload.value.get("error")
    if inner is not None and not isinstance(inner, dict):
        return [*findings, broken("HTTP-005", f"error: an object is due, this is {brief(inner)}", "/error")]
    if isinstance(inner, dict):
        said, word = inner.get("code"), inner.get("status")
        if not payload.framed and payload.status >= 300 and said != payload.status:
            findings.append(broken("HTTP-003", f"{_quote(said)} in the body of a {payload.status}", "/error/code"))
        if payload.framed and said is not None and type(said) is not int:
            findings.append(broken("HTTP-003", f"code is {_quote(said)}", "/error/code"))
        kind = BY_CODE.get(error.code) if error.code is not None else None
        status = error.status or (said if type(said) is int else 0)
        if kind is not None and status >= 300 and status not in kind.http_statuses:
            findings.append(broken("HTTP-003", f"{error.name} as {status} instead of {kind.http}"))
        if kind is not None and word not in kind.grpc_statuses:
            seen = f"{error.name} as {_quote(word)} instead of {kind.grpc}"
            findings.append(broken("HTTP-003", seen, "/error/status"))
    problem = payload.content_type == _PROBLEM or isinstance(payload.value.get("type"), str)
    if inner is None and not problem:
        findings.append(broken("HTTP-010", f"{error.name}: {error.message}"))
    elif error.status not in _SAID_BY_STATUS and error.status < 500 and not _is_explained(payload.value):
        inside = "/details" if isinstance(inner, dict) else ""
        findings.append(broken("HTTP-002", f"{error.name}: {error.message}", _error_place(payload.value) + inside))
    return findings


def _error_place(value: Json) -> str:
    return "/error" if isinstance(value, dict) and "error" in value else ""


def _of_failure(payload: Payload) -> list[Finding]:
    """Name a result that came with a status of failure."""
    if payload.status < _FAILED or isinstance(payload.answer, ProtocolError | Unreadable):
        return []
    return [broken("HTTP-007", f"{payload.status} with a result")]


def _is_explained(value: dict[str, Json]) -> bool:
    """Tell whether an error names itself: by the reason of an ErrorInfo, or by the type of a problem.

    Only an error of A2A has an ErrorInfo: one that is explained by another type is not of its table.
    """
    inner = value.get("error")
    if not isinstance(inner, dict):
        return "error" not in value and isinstance(value.get("type"), str)
    details = inner.get("details")
    return isinstance(details, list) and any(
        isinstance(one, dict) and ("reason" in one or isinstance(one.get("@type"), str)) for one in details
    )


def _quote(value: Json) -> str:
    return "nothing" if value is None else str(value) if type(value) is int else brief(value)


_JUDGES: Mapping[str, Callable[[Payload], list[Finding]]] = {
    jsonrpc.BINDING.name: _of_jsonrpc,
    rest.BINDING.name: _of_http,
}


def of_status(generation: str, word: str, error: ProtocolError) -> tuple[Finding, ...]:
    """Judge the status with which gRPC ended a call in an error; `word` is its name."""
    kind = BY_CODE.get(error.code) if error.code is not None else None
    if generation not in V1 or kind is None:
        return ()
    findings: list[Finding] = []
    if word not in kind.grpc_statuses:
        findings.append(broken("GRPC-001", f"{error.name} as {word} instead of {kind.grpc}"))
    if not any(isinstance(one, dict) and one.get("reason") == kind.reason for one in error.data or ()):
        findings.append(broken("GRPC-002", error.name))
    return tuple(findings)
