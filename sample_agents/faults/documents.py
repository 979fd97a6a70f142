"""Faults in the JSON of responses and events: envelope, shape and values."""

from __future__ import annotations

import base64
from collections.abc import Callable

from inspector.protocol.dialects import v0_3, v1_0
from inspector.protocol.model import Json, Unreadable

from .fault import FaultRegistry, Level

DOCUMENTS = FaultRegistry(Level.JSON)
REGISTRIES = (DOCUMENTS,)

_FREE_FORM = ("data", "metadata")


def _inside(value: Json, change: Callable[[Json], Json]) -> Json:
    """Change the result in a JSON-RPC envelope, or the whole value without an envelope."""
    if isinstance(value, dict) and "jsonrpc" in value:
        return value | {"result": change(value["result"])} if "result" in value else value
    return change(value)


def _members(value: Json, change: Callable[[str, Json], Json]) -> Json:
    """Change the members of A2A objects at every depth; free-form content stays as it is."""
    if isinstance(value, list):
        return [_members(item, change) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: change(name, member if name in _FREE_FORM else _members(member, change)) for name, member in value.items()
    }


@DOCUMENTS.fault("wrong-rpc-id", "responds with a JSON-RPC id that was not requested", "RPC-001")
def wrong_rpc_id(value: Json) -> Json:
    return value | {"id": "wrong-id"} if isinstance(value, dict) and "jsonrpc" in value else value


@DOCUMENTS.fault("shapes-0.3", "sends objects in the form of 0.3 to a 1.0 client", "DATA-006")
def shapes_0_3(value: Json) -> Json:
    def older(inner: Json) -> Json:
        if isinstance(inner, dict) and isinstance(inner.get("tasks"), list):
            return inner | {"tasks": list(map(older, inner["tasks"]))}
        events = map(v1_0.DIALECT.decode_event, (inner, {"task": inner}))  # an event, or the task of GetTask
        event = next((event for event in events if not isinstance(event, Unreadable)), None)
        return inner if event is None else v0_3.DIALECT.encode_event(event)

    return _inside(value, older)


@DOCUMENTS.fault("final", "sends final in the status updates of 1.0", "STREAM-012")
def final(value: Json) -> Json:
    return _members(value, lambda name, member: member | {"final": False} if name == "statusUpdate" else member)


@DOCUMENTS.fault("no-final", "omits final from the status updates of 0.3", "DATA-001")
def no_final(value: Json) -> Json:
    def without_final(inner: Json) -> Json:
        return {name: member for name, member in inner.items() if name != "final"} if isinstance(inner, dict) else inner

    wrapped = _members(value, lambda name, member: without_final(member) if name == "statusUpdate" else member)
    return _inside(wrapped, without_final)


@DOCUMENTS.fault("no-timezone", "sends timestamps without a time zone", "DATA-008")
def no_timezone(value: Json) -> Json:
    return _members(value, lambda name, member: member.rstrip("Z") if name == "timestamp" else member)


@DOCUMENTS.fault("double-base64", "encodes bytes in base64 twice", "DATA-011")
def double_base64(value: Json) -> Json:
    def again(name: str, member: Json) -> Json:
        twice = name in ("raw", "bytes", "fileWithBytes") and isinstance(member, str)
        return base64.b64encode(member.encode()).decode() if twice else member

    return _members(value, again)


@DOCUMENTS.fault("snake-case", "sends member names in snake_case, as in protobuf", "DATA-012")
def snake_case(value: Json) -> Json:
    def renamed(inner: Json) -> Json:
        if isinstance(inner, list):
            return [renamed(item) for item in inner]
        if not isinstance(inner, dict):
            return inner
        return {
            "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name): member
            if name in _FREE_FORM
            else renamed(member)
            for name, member in inner.items()
        }

    return _inside(value, renamed)
