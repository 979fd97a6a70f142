"""OPVS: A2A 1.0 under another name, with its own headers and gRPC service; push configurations may be nested as in 0.3.

Its gRPC service stands in no stated package; servers have it in that of A2A, in `lf.opvs.v1` or in `opvs.v1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inspector.protocol.dialects import v1_0
from inspector.protocol.dialects.base import Result
from inspector.protocol.dialects.legacy import up_push
from inspector.protocol.dialects.rewriting import Change, each, members, renamed
from inspector.protocol.dialects.traits import OPVS
from inspector.protocol.jsonvalue import read
from inspector.protocol.model import Json, PushConfig, PushConfigList, Request, Unreadable
from inspector.protocol.operations import REQUESTS, Operation

_up_send = members(
    configuration=renamed({"pushNotificationConfig": "taskPushNotificationConfig"}, taskPushNotificationConfig=up_push)
)
_UP_REQUESTS: Mapping[Operation, Change] = {
    Operation.SEND: _up_send,
    Operation.STREAM: _up_send,
    Operation.SET_PUSH: up_push,
}


def decode_request(operation: Operation, value: Json) -> Request | Unreadable:
    """Read the parameters of an operation, push configurations flat or nested."""
    return read(REQUESTS[operation], {} if value is None else value, _UP_REQUESTS.get(operation))


def decode_result(operation: Operation, value: Json) -> Result | Unreadable:
    """Read the result of an operation, push configurations flat or nested."""
    match operation:
        case Operation.SET_PUSH | Operation.GET_PUSH:
            return read(PushConfig, value, up_push)
        case Operation.LIST_PUSH:
            return read(PushConfigList, value, members(configs=each(up_push)))
        case _:
            return v1_0.decode_result(operation, value)


DIALECT = replace(
    v1_0.DIALECT,
    traits=OPVS,
    headers={"OPVS-Version": "1.0"},
    extensions_header="OPVS-Extensions",
    decode_request=decode_request,
    decode_result=decode_result,
    service=replace(v1_0.SERVICE, name="lf.a2a.v1.OPVSService"),
)
