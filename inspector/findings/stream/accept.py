"""Accept the events of a stream that violate no rule about payloads, so that these rules can be skipped.

For each protocol version and binding, a msgspec type is created from the tables in `shapes.py`. The type is stricter
than the tables: an event that it does not accept may be valid, and is checked by the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import attrgetter, or_
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from inspector.findings.payload import content, objects
from inspector.findings.payload.content import MEDIA_TYPE
from inspector.findings.payload.shapes import shapes_of
from inspector.findings.shape import ArrayOf, EnumOf, JsonType, Kind, MapOf, Shape, Union, is_timestamp
from inspector.findings.transport import clients, http, jsonrpc
from inspector.findings.transport.clients import has_few_containers
from inspector.findings.transport.payload import REPEATED, UNREADABLE, names_are_unique
from inspector.protocol.bindings.base import Binding
from inspector.protocol.bindings.jsonrpc import BINDING as JSONRPC
from inspector.protocol.content import Content
from inspector.protocol.jsonvalue import has_lone_surrogates
from inspector.protocol.model import Json

_RULE_SETS = (
    *(objects.RULE_SET, content.RULE_SET, REPEATED, UNREADABLE),
    *(jsonrpc.ENVELOPE, jsonrpc.MEDIA_TYPE, jsonrpc.RESULT, http.STATUS, http.MEDIA_TYPE, http.ENVELOPE),
    *(clients.PAYLOADS, clients.JSON_BODIES),
)
_COVERED_RULES = frozenset(
    {
        *("DATA-001", "DATA-002", "DATA-003", "DATA-004", "DATA-005", "DATA-006", "DATA-007", "DATA-008"),
        *("DATA-009", "DATA-010", "DATA-011", "DATA-012", "DATA-013", "DATA-014", "DATA-015", "DATA-016"),
        *("DATA-017", "DATA-018", "DATA-019", "DATA-020", "DATA-021", "DATA-022", "DATA-023", "DATA-024", "DATA-025"),
        *("HTTP-001", "HTTP-007", "HTTP-011", "RPC-001", "RPC-002", "RPC-003", "RPC-005", "RPC-006"),
        *("STREAM-007", "STREAM-009", "STREAM-012", "CLIENT-007", "CLIENT-008"),
    }
)
"""The rules that no accepted event violates, except rules about the head of the response.

The ids are written out: while a new rule is missing here, the rules are checked for every event.
"""

_CHECKED_BY_RULES = frozenset({"raw", "url", "file", "artifacts", "history", "tasks"})
"""Members whose content only rules can check; objects with such a member are not accepted."""
_NOT_EMPTY = frozenset({"id", "taskId", "contextId", "messageId", "artifactId", "parts", "content"})
_AGENT_ROLES = frozenset({"ROLE_AGENT", "agent"})
_NEEDS_MESSAGE = frozenset({"TASK_STATE_AUTH_REQUIRED"})
_MEDIA_TYPES = frozenset({"mediaType", "mimeType"})
_PYTHON_TYPES: Mapping[JsonType, Any] = {
    JsonType.STRING: str,
    JsonType.BOOLEAN: bool,
    JsonType.INTEGER: int,
    # 18 digits: whether a longer number has 64 bits is checked by the rules.
    JsonType.INT64: Annotated[int, Meta(ge=-(10**18), le=10**18)] | Annotated[str, Meta(pattern=r"\A-?[0-9]{1,18}\Z")],
    JsonType.OBJECT: dict[str, Any],
    JsonType.TIMESTAMP: str,
    JsonType.ANY: Any,
}


def covers_all_rules() -> bool:
    """Return whether `_COVERED_RULES` has every rule about payloads; rules that were added later are not in it."""
    return all(checked.rule.id in _COVERED_RULES for rules in _RULE_SETS for checked in rules.rules)


class Acceptor:
    """Recognises the events of one response that violate no rule about payloads, except rules about its head.

    Accepted events of one response violate the same rules about its head.
    """

    def __init__(self, version: str, binding: Binding, request_id: str | int | float | None) -> None:
        self._request_id = request_id
        self._is_json = binding.uses_sse
        self._enveloped = binding.name == JSONRPC.name
        self._type = _envelope_type(version) if self._enveloped else _event_type(version, binding.name)
        self._decode = msgspec.json.Decoder(self._type).decode
        self._covers_all_rules = covers_all_rules()

    def accepts(self, content: Content) -> bool:
        """Return True for a payload that violates no rule; False does not mean that it violates a rule."""
        if not self._covers_all_rules:
            return False
        if not self._is_json:
            return self._accepts_value(content.value)
        raw = content.raw
        try:
            accepted = self._decode(raw)
        except (ValueError, RecursionError):  # not of this type, or not JSON
            return False
        if self._enveloped and accepted.id != self._request_id:
            return False
        return has_few_containers(raw) and not has_lone_surrogates(raw) and names_are_unique(raw, accepted)

    def _accepts_value(self, value: Json) -> bool:
        try:
            msgspec.convert(value, self._type)
        except (msgspec.ValidationError, RecursionError):
            return False
        return True


@cache
def _event_type(version: str, binding: str) -> Any:
    return _type_of(shapes_of(version, binding).event)


@cache
def _envelope_type(version: str) -> Any:
    """Return the type of JSON-RPC responses with an event; `jsonrpc.is_valid_result` defines which are valid."""
    event = _event_type(version, JSONRPC.name)
    return msgspec.defstruct(
        "Envelope",
        [("jsonrpc", Literal["2.0"]), ("id", Any), ("result", event), ("error", UnsetType, UNSET)],
        kw_only=True,
    )


def _type_of(kind: Kind) -> Any:
    """Return the msgspec type of the accepted values of a shape."""
    match kind:
        case JsonType():
            return _PYTHON_TYPES[kind]
        case EnumOf():
            return Literal[
                tuple(sorted(kind.values - _NEEDS_MESSAGE if kind.of != "role" else kind.values & _AGENT_ROLES))
            ]
        case ArrayOf():
            return list[_type_of(kind.item)]  # type: ignore[misc]
        case MapOf():
            return dict[str, _type_of(kind.value)]  # type: ignore[misc]
        case Shape():
            return _struct_of(kind)
        case Union():
            return reduce(or_, (_struct_of(shape, kind.by, tag) for tag, shape in kind.shapes.items() if tag != "file"))


def _struct_of(shape: Shape, by: str | None = None, tag: str | None = None) -> Any:
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for name, kind in shape.members.items():
        if name in _CHECKED_BY_RULES or name == by:
            continue
        accepted = _member_type(name, kind, required=name in shape.required)
        is_required = name in shape.required or name in ("parts", "content")
        fields.append((name, accepted) if is_required else (name, accepted | UnsetType, UNSET))
    check = _check_for(shape)
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
    if kind is JsonType.STRING and required:
        return Annotated[accepted, Meta(pattern=r"\S")]  # not blank
    if name in _NOT_EMPTY and (kind is JsonType.STRING or isinstance(kind, ArrayOf)):
        return Annotated[accepted, Meta(min_length=1)]
    return accepted


def _check_for(shape: Shape) -> Callable[[Any], None] | None:
    """Return the check of an object beyond the types of its members, which raises ValueError; None if there is none."""
    if "timestamp" in shape.members:
        return _check_timestamp
    if "status" in shape.members and not shape.one_of:
        return _check_ids
    names = [name for name in shape.one_of if name not in _CHECKED_BY_RULES]
    if not names:
        return None

    members = attrgetter(*names)  # of a single name, it would return a value; each table has several
    others = len(names) - 1

    def check(self: Any) -> None:
        if members(self).count(UNSET) != others:
            raise ValueError("not exactly one")

    return check


def _check_timestamp(status: Any) -> None:
    time = status.timestamp
    if time is not UNSET and not (time.endswith("Z") and is_timestamp(time)):
        raise ValueError("not a timestamp in UTC")


def _check_ids(owner: Any) -> None:
    """Compare the ids of a message in a status with those of the object that contains the status."""
    message = owner.status.message
    if message is UNSET:
        return
    task = getattr(owner, "taskId", UNSET)
    own = task if task is not UNSET else getattr(owner, "id", UNSET)
    context = getattr(message, "contextId", UNSET)
    for found, expected in ((getattr(message, "taskId", UNSET), own), (context, getattr(owner, "contextId", UNSET))):
        if found is not UNSET and found != expected:
            raise ValueError("ids differ")
