"""What is wrong with an answer as its transport carries it: envelopes, statuses, media types, the shape of errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from inspector.findings.events import of_envelope
from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import BY_CODE, ProtocolError
from inspector.protocol.jsonvalue import brief
from inspector.protocol.model import Json, Unreadable

_MAPPED = frozenset({"1.0", "opvs"})
"""The generations that say which status and which ErrorInfo an error has."""

_SUCCESS_TYPES = frozenset({rest.JSON, rest.A2A_JSON})
_ERROR_TYPES = _SUCCESS_TYPES | {"application/problem+json"}


class Payload(NamedTuple):
    """One payload of an answer: `value` as it came (an `Unreadable` where it is no JSON), `answer` as it was read.

    `status` and `content_type` are the response's; `framed` says that this is one event of a stream, `streaming` that
    a stream was asked for.
    """

    generation: str
    request_id: str
    status: int
    content_type: str
    framed: bool
    streaming: bool
    value: Json
    answer: Answer


def of_payload(binding: str, payload: Payload) -> tuple[Finding, ...]:
    """Judge a payload by the rules of the binding that it came over."""
    return tuple(_JUDGES.get(binding, _of_any)(payload))


def _of_any(payload: Payload) -> list[Finding]:
    if not isinstance(payload.answer, Unreadable):
        return []
    return [broken("STREAM-007" if payload.framed else "RPC-003", payload.answer.why)]


def _of_jsonrpc(payload: Payload) -> list[Finding]:
    value, answer = payload.value, payload.answer
    findings = [*of_envelope(payload.request_id, value)]
    if not payload.framed and not isinstance(value, Unreadable):
        if payload.streaming and not isinstance(answer, ProtocolError | Unreadable):
            findings.append(broken("RPC-004", f"answered with {payload.content_type or 'no content type'}"))
        elif "json" not in payload.content_type:
            findings.append(broken("RPC-005", payload.content_type or "none"))
    if isinstance(answer, Unreadable) and not payload.framed and not (isinstance(value, dict) and "result" in value):
        return [*findings, broken("RPC-002", answer.why)]
    return findings + _of_any(payload)


def _of_http(payload: Payload) -> list[Finding]:
    value, answer = payload.value, payload.answer
    findings: list[Finding] = []
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


def _of_http_error(payload: Payload, error: ProtocolError) -> list[Finding]:
    """Judge an error: the status against the error that its body names, and the body against AIP-193."""
    findings: list[Finding] = []
    if not payload.framed and payload.status < 300:
        findings.append(broken("HTTP-004", f"{payload.status} with {error.name}", "/error"))
    if payload.generation not in _MAPPED:
        return findings
    inner = payload.value.get("error")
    if isinstance(inner, dict):
        said, word = inner.get("code"), inner.get("status")
        if not payload.framed and payload.status >= 300 and said != payload.status:
            findings.append(broken("HTTP-003", f"{_quote(said)} in the body of a {payload.status}", "/error/code"))
        kind = BY_CODE.get(error.code) if error.code is not None else None
        status = error.status or (said if type(said) is int else 0)
        if kind is not None and status >= 300 and status not in kind.http_statuses:
            findings.append(broken("HTTP-003", f"{error.name} as {status} instead of {kind.http}"))
        if kind is not None and word not in kind.grpc_statuses:
            seen = f"{error.name} as {_quote(word)} instead of {kind.grpc}"
            findings.append(broken("HTTP-003", seen, "/error/status"))
    if error.status < 500 and not _is_explained(payload.value):
        findings.append(broken("HTTP-002", f"{error.name}: {error.message}", "/error/details"))
    return findings


def _is_explained(value: dict[str, Json]) -> bool:
    """Tell whether an error names itself: by the reason of an ErrorInfo, or by the type of a problem."""
    inner = value.get("error")
    if not isinstance(inner, dict):
        return "error" not in value and isinstance(value.get("type"), str)
    details = inner.get("details")
    return isinstance(details, list) and any(isinstance(one, dict) and "reason" in one for one in details)


def _quote(value: Json) -> str:
    return "nothing" if value is None else str(value) if type(value) is int else brief(value)


_JUDGES: Mapping[str, Callable[[Payload], list[Finding]]] = {
    jsonrpc.BINDING.name: _of_jsonrpc,
    rest.BINDING.name: _of_http,
}
