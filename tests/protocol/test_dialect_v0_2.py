"""0.2: like 0.3, except for the extended card, the version of a card, and the message of a ProtoJSON send."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.bindings import jsonrpc
from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects import v0_2, v0_3
from inspector.protocol.model import ExtendedCardRequest, Message, SendRequest, Task
from inspector.protocol.operations import Operation


def test_the_methods_are_those_of_0_3_except_for_the_extended_card() -> None:
    assert set(v0_3.METHODS) - set(v0_2.DIALECT.methods) == {Operation.EXTENDED_CARD}
    assert all(v0_3.METHODS[operation] == name for operation, name in v0_2.DIALECT.methods.items())
    assert Operation.LIST not in v0_2.DIALECT.methods


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("http://h", "http://h/agent/authenticatedExtendedCard"),
        ("http://h/", "http://h/agent/authenticatedExtendedCard"),
        ("http://h/a2a", "http://h/agent/authenticatedExtendedCard"),
        ("http://h/x/a2a", "http://h/x/agent/authenticatedExtendedCard"),
    ],
)
def test_the_extended_card_is_fetched_relative_to_the_interface(url: str, where: str) -> None:
    sent = jsonrpc.BINDING.encode(url, v0_2.DIALECT, Operation.EXTENDED_CARD, ExtendedCardRequest(), "1")
    assert (sent.method, sent.url) == ("GET", where)
    assert v0_2.DIALECT.has(Operation.EXTENDED_CARD)
    assert not v0_3.DIALECT.extended_card_path


@pytest.mark.parametrize("version", ["0.2.5", "0.2.6"])
def test_a_card_keeps_its_version(version: str) -> None:
    card = v0_2.DIALECT.decode_card({"url": "u", "protocolVersion": version})
    assert isinstance(card, AgentCard)
    assert v0_2.DIALECT.encode_card(card)["protocolVersion"] == version


def test_a_card_from_before_0_2_5_is_written_without_a_version() -> None:
    card = AgentCard(supported_interfaces=[AgentInterface(url="u", protocol_binding="JSONRPC")])
    assert "protocolVersion" not in v0_2.DIALECT.encode_card(card)
    assert v0_2.DIALECT.decode_card(v0_2.DIALECT.encode_card(card)).supported_interfaces[0].protocol_version == "0.2"


def test_the_message_of_a_proto_json_send_is_the_member_request() -> None:
    request = SendRequest(message=Message(message_id="m"), metadata={"a": 1})
    written = v0_2.PROTO_DIALECT.encode_request(Operation.SEND, request)
    assert written == {"request": {"messageId": "m"}, "metadata": {"a": 1}}
    assert v0_2.PROTO_DIALECT.decode_request(Operation.SEND, written) == request


@pytest.mark.parametrize("name", ["update", "message"])
def test_the_message_of_a_status_is_the_member_update_before_0_2_6(name: str) -> None:
    value: Any = {"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING", name: {"messageId": "m"}}}}
    event = v0_2.PROTO_DIALECT.decode_event(value)
    assert isinstance(event, Task)
    assert event.status.message == Message(message_id="m")
