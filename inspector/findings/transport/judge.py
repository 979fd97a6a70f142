"""Check a payload: first its transport, then its content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inspector.findings.finding import Finding, Severity
from inspector.findings.lint import check
from inspector.findings.payload.judge import judge_error_object, judge_object
from inspector.findings.transport import http, jsonrpc
from inspector.findings.transport.clients import JSON_BODIES, PAYLOADS
from inspector.findings.transport.http import GRPC, GRPC_WORDS, GrpcStatus, GrpcWord, HttpError
from inspector.findings.transport.payload import FAILED, REPEATED, UNREADABLE, Payload
from inspector.protocol.bindings.jsonrpc import BINDING as JSONRPC
from inspector.protocol.bindings.rest import BINDING as REST
from inspector.protocol.dialects.traits import VERSIONS
from inspector.protocol.dialects.v0_3_card import json_card
from inspector.protocol.errors import BY_CODE, ErrorKind, ProtocolError
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.operations import Operation
from inspector.protocol.pointer import pointer

_UNREAD = frozenset({"STREAM-007", "RPC-003", "HTTP-005"})
"""The rules that only report that a payload cannot be read."""


def judge_payload(payload: Payload) -> tuple[Finding, ...]:
    """Check a payload of any binding.

    An unreadable payload is reported once: its members with a wrong shape or, if there are none, the reason why it is
    unreadable.
    """
    content = _of_content(payload)
    of_transport = _TRANSPORTS.get(payload.binding, _of_other)(payload)
    if any(finding.severity is Severity.ERROR for finding in content):
        of_transport = (finding for finding in of_transport if finding.rule not in _UNREAD)
    of_clients = (*PAYLOADS.judge(payload), *JSON_BODIES.judge(payload))
    return (*of_transport, *content, *REPEATED.judge(payload), *of_clients)


def judge_grpc_status(version: str, word: str, error: ProtocolError) -> tuple[Finding, ...]:
    """Check the status of a gRPC call that failed; `word` is the name of the status."""
    kind = _kind_of(error)
    found = [] if kind is None else GRPC.judge(GrpcStatus(version, word, error, kind))
    return (*found, *GRPC_WORDS.judge(GrpcWord(version, word, error)))


def _of_content(payload: Payload) -> tuple[Finding, ...]:
    """Check the object or the error in a payload."""
    value, binding = payload.value, payload.binding
    error = value.get("error") if isinstance(value, dict) else None
    if isinstance(error, dict):
        return judge_error_object(error, payload.version, binding, ("error",))
    if isinstance(value, Unreadable) or isinstance(payload.answer, ProtocolError):
        return ()
    if payload.status >= FAILED and isinstance(payload.answer, Unreadable):
        return ()  # the body of an HTTP error, not an object of A2A
    if binding != JSONRPC.name:
        return _of_object(payload, value, ())
    result = value.get("result") if isinstance(value, dict) else None
    return () if result is None else _of_object(payload, result, ("result",))


def _of_object(payload: Payload, value: Json, steps: tuple[str, ...]) -> tuple[Finding, ...]:
    if payload.operation is Operation.EXTENDED_CARD and isinstance(value, dict):
        # Up to 0.3, a card over other bindings than JSON-RPC may be in ProtoJSON, as the message of gRPC is.
        is_proto = payload.binding != JSONRPC.name and bool(VERSIONS[payload.version].card.scheme_types)
        found = check(json_card(value) if is_proto else value, payload.version)
        return tuple(replace(finding, pointer=pointer(*steps) + finding.pointer) for finding in found)
    operation = None if payload.framed else payload.operation
    return judge_object(value, operation, payload.version, payload.binding, steps)


def _of_jsonrpc(payload: Payload) -> Iterator[Finding]:
    if not jsonrpc.is_valid_result(payload.value, payload.request_id):
        yield from jsonrpc.ENVELOPE.judge(payload)
    yield from http.STATUS.judge(payload)
    yield from jsonrpc.MEDIA_TYPE.judge(payload)
    if not payload.framed:
        yield from jsonrpc.BODY.judge(payload)
    if isinstance(payload.answer, Unreadable) and not payload.unframed:
        yield from jsonrpc.RESPONSE.judge(payload)
        yield from jsonrpc.RESULT.judge(payload)
        yield from UNREADABLE.judge(payload)


def _of_http(payload: Payload) -> Iterator[Finding]:
    yield from http.STATUS.judge(payload)
    yield from http.MEDIA_TYPE.judge(payload)
    if payload.unframed:
        return
    yield from http.ENVELOPE.judge(payload)
    if payload.enveloped:
        return
    if isinstance(payload.answer, ProtocolError):
        yield from _of_http_error(payload, payload.answer)
    if payload.framed:
        yield from UNREADABLE.judge(payload)
    else:
        yield from http.BODY.judge(payload)


def _of_http_error(payload: Payload, error: ProtocolError) -> Iterator[Finding]:
    inner = payload.value.get("error") if isinstance(payload.value, dict) else None
    facts = HttpError(payload.version, payload, error, _kind_of(error), inner)
    yield from http.ERROR_AS_RESULT.judge(facts)
    if VERSIONS[payload.version].details_errors:
        yield from http.ERROR_BODY.judge(facts)
        if inner is None or isinstance(inner, dict):
            yield from http.ERROR_STATUS.judge(facts)
            yield from http.ERROR_DETAILS.judge(facts)


def _of_other(payload: Payload) -> Iterator[Finding]:
    yield from jsonrpc.RESULT.judge(payload)
    yield from UNREADABLE.judge(payload)


def _kind_of(error: ProtocolError) -> ErrorKind | None:
    return BY_CODE.get(error.code) if error.code is not None else None


_TRANSPORTS = {JSONRPC.name: _of_jsonrpc, REST.name: _of_http}
