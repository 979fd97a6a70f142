"""Rules about responses that break clients in use (see `hazards.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from inspector.findings.examples import TEXT_PART, answer, message, response, status, stream, task
from inspector.findings.hazards import Hazard, Unit, describe, failures, versions_of
from inspector.findings.rule_set import HINT, Rule, RuleSet, Violation
from inspector.findings.transport.http import ResponseHead
from inspector.findings.transport.payload import Payload
from inspector.protocol.bindings import jsonrpc
from inspector.protocol.dialects.traits import VERSIONS
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import Json

_EVENT_STREAM = "text/event-stream"
_OK = 200
_FEWEST_CONTAINERS = 47
"""Values with fewer objects and arrays than this are within all limits; a level of ProtoJSON counts up to twice."""
_PASSING = stream(task(), status("COMPLETED"))

RULES: list[Rule] = []
HEADS = RuleSet[ResponseHead](RULES, passing=_PASSING)
PAYLOADS, JSON_BODIES = (RuleSet[Payload](RULES, passing=_PASSING) for _ in range(2))


def _nested(levels: int) -> Json:
    """Return objects that are nested in each other."""
    value: Json = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@HEADS.rule(
    Hazard.MEDIA_TYPE.value,
    HINT,
    "Some clients expect the media type of a stream in lower case",
    section="RFC 9110 §8.3.1",
    requirement="Media types are compared without regard to case.",
    remedy="Write text/event-stream in lower case.",
    versions=versions_of(Hazard.MEDIA_TYPE),
    failing=stream(task(), status("COMPLETED"), type="text/Event-Stream"),
)
def media_type_in_other_case(head: ResponseHead) -> Iterator[Violation]:
    found = head.content_type.partition(";")[0].strip()
    failing = failures(Hazard.MEDIA_TYPE, head.version, head.binding)
    if failing and found.lower() == _EVENT_STREAM != found:
        yield Violation("", f"Content-Type is {found}: {describe(failing)}")


@PAYLOADS.rule(
    Hazard.DEPTH.value,
    HINT,
    "Some clients do not read JSON that is nested so deeply",
    section="RFC 8259 §9",
    requirement="A parser may limit the depth of nesting.",
    remedy="Nest the values in data and metadata less deeply, or send them as the text of a part.",
    versions=versions_of(Hazard.DEPTH),
    passing=answer(message(TEXT_PART, {"data": _nested(40)})),
    failing=answer(message(TEXT_PART, {"data": _nested(50)})),
)
def deeply_nested(payload: Payload) -> Iterator[Violation]:
    if has_few_containers(payload.raw):
        return
    in_envelope = payload.binding == jsonrpc.BINDING.name and isinstance(payload.value, dict)
    content = payload.value.get("result") if in_envelope else payload.value
    depths = {
        Unit.LEVELS: _depth(payload.value),
        Unit.PROTOBUF: _protobuf_depth(content, _depth_of_data(payload.version)),
    }
    known = failures(Hazard.DEPTH, payload.version, payload.binding)
    if failing := [failure for failure in known if depths[failure.unit] > failure.limit]:
        yield Violation("", f"{depths[Unit.LEVELS]} levels: {describe(failing)}")


def has_few_containers(raw: bytes) -> bool:
    """Whether a JSON text has so few objects and arrays that no client has a problem with its depth."""
    return raw.count(b"{") + raw.count(b"[") < _FEWEST_CONTAINERS


def _depth(value: Json) -> int:
    """Return how many objects and arrays are nested in each other."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


def _protobuf_depth(value: Json, depth_of_data: Callable[[Json], int]) -> int:
    """Return the depth of an object of A2A as the ProtoJSON parser counts it: messages, but not arrays of them.

    In `data` and `metadata`, each value is a message of its own (google.protobuf.Value) beside the object or array.
    """
    if isinstance(value, list):
        return max((_protobuf_depth(item, depth_of_data) for item in value), default=0)
    if not isinstance(value, dict):
        return 0
    depths = {"data": depth_of_data, "metadata": _depth_of_struct}
    rest = partial(_protobuf_depth, depth_of_data=depth_of_data)
    return 1 + max((depths.get(name, rest)(member) for name, member in value.items()), default=0)


def _depth_of_data(version: str) -> Callable[[Json], int]:
    """Return the function for the member `data` of a part, which was a message with an object in it before 1.0."""
    return _depth_of_data_part if VERSIONS[version].outdated else _depth_of_value


def _depth_of_data_part(value: Json) -> int:
    members = value.values() if isinstance(value, dict) else ()
    return 1 + max(map(_depth_of_struct, members), default=0)


def _depth_of_value(value: Json) -> int:
    return 1 + (_depth_of_struct(value) if isinstance(value, dict | list) else 0)


def _depth_of_struct(value: Json) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth_of_value, inner), default=0)


@JSON_BODIES.rule(
    Hazard.JSON_ERROR.value,
    HINT,
    "Some clients do not read an error outside of a stream",
    section="1.0 §3.3.2, §9.4.2",
    requirement="The response to a streaming call is a stream. How to send an error before it is not specified.",
    remedy="Send the error as the only event of a stream.",
    versions=versions_of(Hazard.JSON_ERROR),
    passing=stream({"error": {"code": -32602, "message": "The message has no parts."}}),
    failing=response(
        {"jsonrpc": "2.0", "id": "the-id", "error": {"code": -32602, "message": "The message has no parts."}},
        operation="SendStreamingMessage",
    ),
)
def error_outside_of_stream(payload: Payload) -> Iterator[Violation]:
    if payload.framed or not payload.streaming or not isinstance(payload.answer, ProtocolError):
        return
    if payload.status == _OK and (failing := failures(Hazard.JSON_ERROR, payload.version, payload.binding)):
        yield Violation("", f"Content-Type is {payload.content_type}: {describe(failing)}")
