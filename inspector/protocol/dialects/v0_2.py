"""A2A 0.2 (0.2.0 to 0.2.6): spelled as 0.3 over JSON-RPC, and from 0.2.4 on as its ProtoJSON over gRPC and REST.

It differs in the extended card, which is fetched by HTTP GET; in the version of its cards, which they say from 0.2.5
on; and in the name under which ProtoJSON sends a message. Push configurations are listed and deleted from 0.2.5 on;
no card says so, an agent that does not know the methods does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_3, v0_3_card, v0_3_proto
from inspector.protocol.dialects.base import Result
from inspector.protocol.dialects.traits import V0_2, in_proto_json
from inspector.protocol.model import Json, Request, Unreadable
from inspector.protocol.operations import Operation

LATEST = "0.2.6"
EXTENDED_CARD_PATH = "agent/authenticatedExtendedCard"
METHODS: Mapping[Operation, str] = {
    operation: name for operation, name in v0_3.METHODS.items() if operation is not Operation.EXTENDED_CARD
}


_UNSAID = "0.2"
"""What the interfaces of a card that does not say its version are read as."""


def decode_card(value: Json) -> AgentCard | Unreadable:
    """Read a card; one from before 0.2.5 does not say its version."""
    return v0_3_card.decode_card(value, _UNSAID)


def encode_card(card: AgentCard) -> Json:
    """Write a card; without a version where its main interface says none, as before 0.2.5."""
    value = v0_3_card.encode_card(card, LATEST)
    interfaces = card.supported_interfaces
    if interfaces and interfaces[0].protocol_version in ("", _UNSAID):
        del value["protocolVersion"]
    return value


def encode_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation over JSON-RPC."""
    return encode_card(result) if isinstance(result, AgentCard) else v0_3.encode_result(operation, result)


def encode_proto_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation in ProtoJSON."""
    if isinstance(result, AgentCard):
        return v0_3_card.encode_proto_card(result, LATEST)
    return v0_3_proto.encode_result(operation, result)


def encode_proto_request(operation: Operation, request: Request) -> Json:
    """Write the parameters of an operation in ProtoJSON, which calls the message of a send `request`."""
    value = v0_3_proto.encode_request(operation, request)
    if operation in (Operation.SEND, Operation.STREAM) and "message" in value:
        return {"request": value["message"]} | {name: value[name] for name in value if name != "message"}
    return value


DIALECT = replace(
    v0_3.DIALECT,
    traits=V0_2,
    methods=METHODS,
    encode_result=encode_result,
    decode_card=decode_card,
    encode_card=encode_card,
    extended_card_path=EXTENDED_CARD_PATH,
)

PROTO_DIALECT = replace(
    v0_3_proto.DIALECT,
    traits=in_proto_json(V0_2),
    encode_request=encode_proto_request,
    encode_result=encode_proto_result,
    decode_card=decode_card,
    encode_card=encode_card,
)
