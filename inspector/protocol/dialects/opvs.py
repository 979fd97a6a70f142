"""OPVS: the JSON of A2A 1.0 with other headers and another gRPC service; push configurations may be nested as in 0.3.

OPVS does not specify the package of its gRPC service. Servers use the package of A2A, `lf.opvs.v1` or `opvs.v1`.
"""

from __future__ import annotations

from dataclasses import replace

from inspector.protocol.dialects import v1_0
from inspector.protocol.dialects.base import Result
from inspector.protocol.dialects.legacy import import_push
from inspector.protocol.dialects.rewriting import each, members, renamed, request_reader
from inspector.protocol.dialects.traits import OPVS
from inspector.protocol.jsonvalue import read
from inspector.protocol.model import Json, PushConfig, PushConfigList, SendRequest, Unreadable
from inspector.protocol.operations import Operation

_import_configuration = renamed(
    {"pushNotificationConfig": "taskPushNotificationConfig"}, taskPushNotificationConfig=import_push
)


def decode_result(operation: Operation, value: Json) -> Result | Unreadable:
    """Read the result of an operation; push configurations may be flat or nested."""
    match operation:
        case Operation.SET_PUSH | Operation.GET_PUSH:
            return read(PushConfig, value, import_push)
        case Operation.LIST_PUSH:
            return read(PushConfigList, value, members(configs=each(import_push)))
        case _:
            return v1_0.decode_result(operation, value)


DIALECT = replace(
    v1_0.DIALECT,
    traits=OPVS,
    headers={"OPVS-Version": "1.0"},
    extensions_header="OPVS-Extensions",
    decode_request=request_reader({SendRequest: members(configuration=_import_configuration), PushConfig: import_push}),
    decode_result=decode_result,
    service=replace(v1_0.SERVICE, name="lf.a2a.v1.OPVSService"),
)
