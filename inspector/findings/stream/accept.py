"""Accept the events of a stream that break no rule about payloads, so that those rules need not be asked.

For each protocol version and binding, a type of msgspec is made from the tables in `shapes.py`. It allows less than
they do: an event that it does not accept may still be valid, and is judged by the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from inspector.findings.payload import content, objects
from inspector.findings.payload.content import MEDIA_TYPE
from inspector.findings.payload.shapes import shapes_of
from inspector.findings.shape import Kind, Many, Named, Plain, Shape, Union, Words, is_timestamp
from inspector.findings.transport import http, jsonrpc
from inspector.findings.transport.payload import REPEATED, UNREADABLE, Payload, names_are_unique
from inspector.protocol.bindings.jsonrpc import BINDING as JSONRPC
from inspector.protocol.model import Json

_SETS = (
    *(objects.RULE_SET, content.RULE_SET, REPEATED, UNREADABLE),
    *(jsonrpc.ENVELOPE, jsonrpc.MEDIA_TYPE, jsonrpc.RESULT, http.STATUS, http.MEDIA_TYPE, http.ENVELOPE),
)
_PROVED = frozenset(checked.rule.id for rules in _SETS for checked in rules.rules)
"""The rules that no accepted event breaks, apart from those about the head of the response."""

_RULED = frozenset({"raw", "url", "file", "artifacts", "history", "tasks"})
"""Members that a rule looks into; an object that has one is not accepted."""
_NOT_EMPTY = frozenset({"id", "taskId", "contextId", "messageId", "artifactId", "parts", "content"})
_AGENT = frozenset({"ROLE_AGENT", "agent"})
_UNEXPLAINED = frozenset({"TASK_STATE_AUTH_REQUIRED"})
_MEDIA_TYPES = frozenset({"mediaType", "mimeType"})
_PLAIN: Mapping[Plain, Any] = {
    Plain.TEXT: str,
    Plain.FLAG: bool,
    Plain.WHOLE: int,
    Plain.INT64: int | Annotated[str, Meta(pattern=r"\A-?[0-9]{1,19}\Z")],
    Plain.STRUCT: dict[str, Any],
    Plain.TIME: str,
    Plain.ANY: Any,
}


def proves_all() -> bool:
    """Return whether there is no further rule about payloads: one that was added later has to be asked."""
    return all(checked.rule.id in _PROVED for rules in _SETS for checked in rules.rules)


def is_accepted(payload: Payload) -> bool:
    """Return whether an event certainly breaks no rule about payloads, apart from those about the head of the response.

    Two accepted events of one response break the same rules about its head.
    """
    event = payload.value
    if payload.binding == JSONRPC.name:
        if not jsonrpc.is_valid_result(payload):
            return False
        event = event["result"]
    return _accepts(event, payload.version, payload.binding) and (
        not payload.raw or names_are_unique(payload.raw, payload.value)
    )


def _accepts(value: Json, version: str, binding: str) -> bool:
    try:
        msgspec.convert(value, _event_type(version, binding))
    except (msgspec.ValidationError, RecursionError):
        return False
    return True


@cache
def _event_type(version: str, binding: str) -> Any:
    return _type_of(shapes_of(version, binding).event)


def _type_of(kind: Kind) -> Any:
    """Return the type of the values that are accepted where a value of a kind is expected."""
    match kind:
        case Plain():
            return _PLAIN[kind]
        case Words():
            return Literal[tuple(sorted(kind.words - _UNEXPLAINED if kind.of != "role" else kind.words & _AGENT))]
        case Many():
            return list[_type_of(kind.item)]  # type: ignore[misc]
        case Named():
            return dict[str, _type_of(kind.value)]  # type: ignore[misc]
        case Shape():
            return _struct_of(kind)
        case Union():
            return reduce(or_, (_struct_of(shape, kind.by, tag) for tag, shape in kind.shapes.items() if tag != "file"))


def _struct_of(shape: Shape, by: str | None = None, tag: str | None = None) -> Any:
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name, kind in shape.members.items():
        if name in _RULED or name == by:
            continue
        accepted = _member_type(name, kind, required=name in shape.required)
        needed = name in shape.required or name in ("parts", "content")
        fields.append((name, accepted) if needed else (name, accepted | UnsetType, UNSET))
    check = _check_of(shape)
    return msgspec.defstruct(
        shape.of.title().replace(" ", ""),
        fields,
        namespace={"__post_init__": check} if check else None,
        forbid_unknown_fields=True,
        kw_only=True,
        tag_field=by,
        tag=tag,
    )


def _member_type(name: str, kind: Kind, *, required: bool) -> Any:
    accepted = _type_of(kind)
    if name in _MEDIA_TYPES:
        return Annotated[accepted, Meta(pattern=rf"\A(?:{MEDIA_TYPE.pattern})\Z")]
    if kind is Plain.TEXT and required:
        return Annotated[accepted, Meta(pattern=r"\S")]  # not blank
    if name in _NOT_EMPTY and (kind is Plain.TEXT or isinstance(kind, Many)):
        return Annotated[accepted, Meta(min_length=1)]
    return accepted


def _check_of(shape: Shape) -> Callable[[Any], None] | None:
    """Return what is checked of an object besides the types of its members; it raises ValueError."""
    if "timestamp" in shape.members:
        return _check_timestamp
    if "status" in shape.members and not shape.one_of:
        return _check_ids
    names = [name for name in shape.one_of if name not in _RULED]
    if not names:
        return None

    def check(self: Any) -> None:
        if sum([getattr(self, name) is not UNSET for name in names]) != 1:
            raise ValueError("not exactly one")

    return check


def _check_timestamp(status: Any) -> None:
    time = status.timestamp
    if time is not UNSET and not (time.endswith("Z") and is_timestamp(time)):
        raise ValueError("not a timestamp in UTC")


def _check_ids(owner: Any) -> None:
    """Compare the task and the context of a message inside a status with those of the object around it."""
    message = owner.status.message
    if message is UNSET:
        return
    task = getattr(owner, "taskId", UNSET)
    own = task if task is not UNSET else getattr(owner, "id", UNSET)
    context = getattr(message, "contextId", UNSET)
    for said, known in ((getattr(message, "taskId", UNSET), own), (context, getattr(owner, "contextId", UNSET))):
        if said is not UNSET and said != known:
            raise ValueError("ids differ")
