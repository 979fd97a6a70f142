"""The dialect of a declared version, and the version of a card by its format."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects import opvs, v0_1, v0_2, v0_3, v0_3_proto, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL, DIALECTS, for_interface, for_version, read_card
from inspector.protocol.model import Unreadable
from inspector.protocol.operations import REQUESTS, STREAMING, Operation
from inspector.protocol.selection import select


@pytest.mark.parametrize(
    ("declared", "version"),
    [
        ("1.0", "1.0"),
        ("1", "1.0"),
        ("1.0.1", "1.0"),
        ("1.7", "1.0"),
        (" 1.0 ", "1.0"),
        ("0.3", "0.3"),
        ("0.3.0", "0.3"),
        ("0.3.26", "0.3"),
        ("0.2.5", "0.2"),
        ("0.2", "0.2"),
        ("0.1", "0.1"),
        ("0.1.0", "0.1"),
        ("opvs", "opvs"),
        ("OPVS", "opvs"),
        ("0.0", None),
        ("0.30", None),
        ("0", None),
        ("2.0", None),
        ("10.0", None),
        ("v1.0", None),
        ("", None),
        ("abc", None),
        (".", None),
    ],
)
def test_a_declared_version_has_a_dialect_or_none(declared: str, version: str | None) -> None:
    dialect = for_version(declared)
    assert (dialect and dialect.version) == version


def test_the_newest_version_comes_first() -> None:
    assert list(DIALECTS) == ["1.0", "0.3", "0.2", "0.1", "opvs"]


def test_every_operation_has_parameters_and_a_method() -> None:
    assert set(REQUESTS) == set(Operation) == set(DIALECTS["1.0"].methods)
    assert set(Operation) - set(DIALECTS["0.3"].methods) == {Operation.LIST}
    assert {Operation.STREAM, Operation.SUBSCRIBE} == STREAMING


def test_the_methods_have_the_names_of_each_version() -> None:
    assert all(DIALECTS["1.0"].methods[operation] == operation.value for operation in Operation)
    assert DIALECTS["0.3"].methods == {
        Operation.SEND: "message/send",
        Operation.STREAM: "message/stream",
        Operation.GET: "tasks/get",
        Operation.CANCEL: "tasks/cancel",
        Operation.SUBSCRIBE: "tasks/resubscribe",
        Operation.SET_PUSH: "tasks/pushNotificationConfig/set",
        Operation.GET_PUSH: "tasks/pushNotificationConfig/get",
        Operation.LIST_PUSH: "tasks/pushNotificationConfig/list",
        Operation.DELETE_PUSH: "tasks/pushNotificationConfig/delete",
        Operation.EXTENDED_CARD: "agent/getAuthenticatedExtendedCard",
    }


def test_the_headers_are_those_of_the_version() -> None:
    assert DIALECTS["1.0"].headers == {"A2A-Version": "1.0"}
    assert DIALECTS["1.0"].extensions_header == "A2A-Extensions"
    assert DIALECTS["0.3"].headers == {}
    assert DIALECTS["0.3"].extensions_header == "X-A2A-Extensions"


INTERFACE = {"url": "http://h/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
HYBRID = {
    "name": "both",
    "supportedInterfaces": [INTERFACE, INTERFACE | {"protocolVersion": "0.3"}],
    "url": "http://h/a2a",
    "preferredTransport": "JSONRPC",
    "protocolVersion": "0.3",
    "additionalInterfaces": [{"url": "http://h/a2a", "transport": "JSONRPC"}],
    "supportsAuthenticatedExtendedCard": True,
    "security": [{"bearer": []}],
    "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}, "type": "http", "scheme": "Bearer"}},
}
"""A card as the official Python SDK 1.x serves it when it speaks 0.3 too."""


@pytest.mark.parametrize(
    ("value", "version"),
    [
        ({"supportedInterfaces": [INTERFACE]}, "1.0"),
        (HYBRID, "1.0"),
        ({"url": "http://h", "protocolVersion": "0.3.0"}, "0.3"),
        ({"url": "http://h", "protocolVersion": "0.3.0", "supportedInterfaces": []}, "0.3"),
        ({"url": "http://h", "protocolVersion": "0.3.0", "supportedInterfaces": None}, "0.3"),
        ({"name": "without url", "protocolVersion": "0.3.0"}, "0.3"),
        ({"url": "http://h", "protocolVersion": "1.0"}, "0.3"),
        ({"url": "http://h", "protocolVersion": "0.9"}, "0.3"),
        ({"url": "http://h", "protocolVersion": "0.2.6"}, "0.2"),
        ({"url": "http://h", "protocolVersion": "0.2.6", "authentication": {"schemes": []}}, "0.2"),
        ({"url": "http://h"}, "0.1"),
        ({"url": "http://h", "description": "", "defaultInputModes": ["text"], "defaultOutputModes": []}, "0.1"),
        ({"url": "http://h", "description": "", "defaultInputModes": [], "defaultOutputModes": []}, "0.2"),
        ({"url": "http://h", "iconUrl": "http://h/i.png"}, "0.2"),
        ({"url": "http://h", "securitySchemes": {}, "authentication": {"schemes": []}}, "0.2"),
        ({"name": "without url", "preferredTransport": "GRPC"}, "0.2"),
        ({"url": "http://h", "authentication": {"schemes": ["Bearer"]}}, "0.1"),
        ({"url": "http://h", "protocolVersion": "0.1.0"}, "0.1"),
        ({"supportedInterfaces": []}, "1.0"),
        ({"name": "neither"}, "1.0"),
        ({}, "1.0"),
    ],
)
def test_a_card_is_read_in_the_version_of_its_format(value: Any, version: str) -> None:
    card, dialect = read_card(value)
    assert isinstance(card, AgentCard)
    assert dialect.version == version


def test_a_card_without_a_version_is_read_in_the_version_of_its_format() -> None:
    card, _ = read_card({"url": "http://h", "iconUrl": "http://h/i.png"})
    assert isinstance(card, AgentCard)
    assert [interface.protocol_version for interface in card.supported_interfaces] == ["0.2"]
    assert select(card) is not None
    assert (choice := select(card, version="0.1")) is not None
    assert choice.dialect is v0_1.DIALECT


@pytest.mark.parametrize(
    ("version", "binding", "dialect"),
    [
        ("1.0", "JSONRPC", v1_0.DIALECT),
        ("1.0", "HTTP+JSON", v1_0.DIALECT),
        ("1.0", "GRPC", v1_0.DIALECT),
        ("0.3.0", "JSONRPC", v0_3.DIALECT),
        ("0.3.0", "HTTP+JSON", v0_3_proto.DIALECT),
        ("0.3.0", "grpc", v0_3_proto.DIALECT),
        ("0.2.6", "JSONRPC", v0_2.DIALECT),
        ("0.2.6", "GRPC", v0_2.PROTO_DIALECT),
        ("0.1", "JSONRPC", v0_1.DIALECT),
        ("0.1", "GRPC", None),
        ("0.1", "HTTP+JSON", None),
        ("opvs", "GRPC", opvs.DIALECT),
        ("1.0", "telepathy", None),
    ],
)
def test_an_interface_has_the_dialect_of_its_version_over_its_binding(
    version: str, binding: str, dialect: Dialect | None
) -> None:
    assert for_interface(version, binding) is dialect


def test_every_route_and_every_grpc_method_is_of_an_operation_that_the_version_has() -> None:
    for dialect in ALL:
        for route in dialect.routes.values():
            assert route.verb in ("GET", "POST", "DELETE")
            assert route.path.startswith("/")
        if dialect.service is not None:
            assert len({method.name for method in dialect.service.methods.values()}) == len(dialect.service.methods)
    assert set(v1_0.DIALECT.routes) == set(v1_0.SERVICE.methods) == set(Operation)


@pytest.mark.parametrize("value", [None, [], "card", 5, True])
def test_a_value_that_is_not_an_object_is_not_a_card(value: Any) -> None:
    card, dialect = read_card(value)
    assert isinstance(card, Unreadable)
    assert dialect.version == "1.0"


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.version)
def test_every_version_reads_a_card_without_the_members_of_the_wrong_type(dialect: Dialect) -> None:
    interface = AgentInterface(url="http://h", protocol_binding="JSONRPC", protocol_version=dialect.version)
    value = dialect.encode_card(AgentCard(name="n", supported_interfaces=[interface]))
    assert isinstance(value, dict)
    mistaken = value | {"provider": "us", "version": 1, "skills": ["s"]}
    card = dialect.decode_card(mistaken)
    assert isinstance(card, AgentCard)
    assert (card.name, card.version, card.provider, len(card.skills)) == ("n", "", None, 1)
    assert card.supported_interfaces[0].url == "http://h"
    assert dialect.mistake_in_card(mistaken).startswith("AgentCard/")


def test_a_hybrid_card_offers_both_versions_and_keeps_its_old_members() -> None:
    card, _ = read_card(HYBRID)
    assert isinstance(card, AgentCard)
    assert [interface.protocol_version for interface in card.supported_interfaces] == ["1.0", "0.3"]
    assert card.model_extra
    assert set(card.model_extra) == {
        "url",
        "preferredTransport",
        "protocolVersion",
        "additionalInterfaces",
        "supportsAuthenticatedExtendedCard",
        "security",
    }
    assert card.to_json() == HYBRID
