"""A2A 0.2 (0.2.0 to 0.2.6): the JSON of 0.3 over JSON-RPC; since 0.2.4, its ProtoJSON over gRPC and HTTP+JSON.

The differences from 0.3:

- The extended card is fetched with HTTP GET.
- Cards declare their version only from 0.2.5 on.
- In ProtoJSON, the message of a send is the member `request`.

Push configurations can be listed and deleted from 0.2.5 on; cards do not declare this.
"""

from __future__ import annotations

from dataclasses import replace

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_3, v0_3_card, v0_3_proto
from inspector.protocol.dialects.base import Result
from inspector.protocol.dialects.rewriting import renamed
from inspector.protocol.dialects.traits import V0_2, in_proto_json
from inspector.protocol.model import Json, Request, SendRequest
from inspector.protocol.operations import Operation

_LATEST = "0.2.6"
_UNDECLARED = "0.2"
"""The version that is assumed for a card without a version."""


def import_card(value: Json) -> Json:
    """Convert a card, whose version may be missing (before 0.2.5)."""
    return v0_3_card.import_card(value, _UNDECLARED)


def encode_card(card: AgentCard) -> Json:
    """Write a card, without a version (as before 0.2.5) if its main interface has none."""
    value = v0_3_card.encode_card(card, _LATEST)
    interfaces = card.supported_interfaces
    if interfaces and interfaces[0].protocol_version in ("", _UNDECLARED):
        del value["protocolVersion"]
    return value


def encode_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation over JSON-RPC."""
    return encode_card(result) if isinstance(result, AgentCard) else v0_3.encode_result(operation, result)


def encode_proto_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation in ProtoJSON."""
    if isinstance(result, AgentCard):
        return v0_3_card.encode_proto_card(result, _LATEST)
    return v0_3_proto.encode_result(operation, result)


def encode_proto_request(operation: Operation, request: Request) -> Json:
    """Write the parameters of an operation in ProtoJSON, where the message of a send is called `request`."""
    value = v0_3_proto.encode_request(operation, request)
    return renamed({"message": "request"})(value) if isinstance(request, SendRequest) else value


DIALECT = replace(
    v0_3.DIALECT,
    traits=V0_2,
    methods={name: method for name, method in v0_3.METHODS.items() if name is not Operation.EXTENDED_CARD},
    encode_result=encode_result,
    import_card=import_card,
    encode_card=encode_card,
    extended_card_path="agent/authenticatedExtendedCard",
)

PROTO_DIALECT = replace(
    v0_3_proto.DIALECT,
    traits=in_proto_json(V0_2),
    encode_request=encode_proto_request,
    encode_result=encode_proto_result,
    import_card=import_card,
    encode_card=encode_card,
)
