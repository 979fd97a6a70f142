"""The choice of an interface of a card, and its reason."""

from __future__ import annotations

import pytest

from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.selection import Option, alternatives, options, select

UNKNOWN = "https://example.com/binding"


def interface(version: str, binding: str = "JSONRPC", url: str = "http://x/") -> AgentInterface:
    return AgentInterface(url=url, protocol_binding=binding, protocol_version=version)


def card(*interfaces: AgentInterface) -> AgentCard:
    return AgentCard(name="x", supported_interfaces=list(interfaces))


def only(declared: AgentInterface) -> Option:
    [option] = options(card(declared))
    return option


@pytest.mark.parametrize(
    ("declared", "version"),
    [
        ("1.0", "1.0"),
        ("1.0.1", "1.0"),
        ("1.7", "1.0"),
        ("1", "1.0"),
        ("0.3", "0.3"),
        ("0.3.0", "0.3"),
        (" 0.3 ", "0.3"),
    ],
)
def test_a_version_selects_the_dialect(declared: str, version: str):
    option = only(interface(declared))
    assert option.usable
    assert option.dialect is not None
    assert option.dialect.version == version
    assert option.reason == f"{version} over JSONRPC"


@pytest.mark.parametrize("version", ["", "2.0", "0.30", "one", "v1.0", "9" * 5000])
def test_an_unsupported_version_is_reported(version: str):
    option = only(interface(version))
    assert not option.usable
    assert (repr(version) if version else "protocolVersion is missing") in option.reason


def test_an_unsupported_binding_is_reported():
    option = only(interface("1.0", UNKNOWN))
    assert not option.usable
    assert UNKNOWN in option.reason


def test_the_case_of_a_binding_is_ignored():
    assert only(interface("1.0", "jsonRpc")).usable


def test_the_first_interface_is_chosen():
    choice = select(card(interface("0.3", url="http://old/"), interface("1.0", url="http://new/")))
    assert choice is not None
    assert (choice.interface.url, choice.dialect.version, choice.reason) == (
        "http://old/",
        "0.3",
        "preferred",
    )


def test_unsupported_interfaces_are_skipped():
    choice = select(card(interface("1.0", UNKNOWN), interface("9.0"), interface("1.0", url="http://new/")))
    assert choice is not None
    assert (choice.interface.url, choice.reason) == ("http://new/", "first supported interface")


def test_a_requested_transport_has_priority_over_the_card():
    offered = card(interface("1.0", UNKNOWN), interface("0.3", url="http://old/"), interface("1.0", url="http://new/"))
    choice = select(offered, transports=("no-such-thing", "jsonrpc"))
    assert choice is not None
    assert (choice.interface.url, choice.reason) == ("http://old/", "jsonrpc was requested")


def test_a_requested_transport_that_is_not_declared_is_ignored():
    choice = select(card(interface("1.0")), transports=(UNKNOWN, "GRPC"))
    assert choice is not None
    assert choice.undeclared
    assert choice.reason == f"the card declares no interface over {UNKNOWN} or GRPC"


def test_a_requested_version_has_priority_over_the_card():
    choice = select(card(interface("1.0"), interface("0.3", url="http://old/")), version="0.3")
    assert choice is not None
    assert (choice.interface.url, choice.reason) == ("http://old/", "protocol version 0.3 was requested")
    assert not choice.undeclared


def test_a_requested_version_is_used_if_the_card_declares_none():
    choice = select(card(interface("", url="http://bare/")), version="1.0")
    assert choice is not None
    assert (choice.interface.url, choice.dialect.version) == ("http://bare/", "1.0")


@pytest.mark.parametrize(
    ("interfaces", "version"),
    [
        ((), ""),
        ((interface("2.0"),), ""),
        ((interface("1.0", UNKNOWN),), ""),
        ((interface("1.0"),), "7"),
    ],
    ids=["none", "too new", "unknown binding", "unknown protocol version"],
)
def test_no_interface_is_chosen_if_none_is_supported(interfaces: tuple[AgentInterface, ...], version: str):
    assert select(card(*interfaces), version=version) is None


def test_alternatives_list_declared_versions_first():
    found = [
        (choice.dialect.version, choice.reason)
        for choice in alternatives(card(interface("1.0"), interface("1.0", UNKNOWN)))
    ]
    assert found[0] == ("1.0", "declared")
    assert ("0.3", "not declared") in found[1:]
    assert ("1.0", "declared") not in found[1:]


def test_a_requested_version_replaces_the_declared_versions():
    chosen = select(card(interface("1.0", "GRPC"), interface("1.0")), ("JSONRPC",), version="0.3")
    assert chosen is not None
    assert (chosen.interface.protocol_binding, chosen.dialect.version) == ("JSONRPC", "0.3")
    assert (chosen.reason, chosen.undeclared) == ("0.3 was requested, but the card declares 1.0", True)
    first = select(card(interface("1.0", "GRPC")), version="0.3")
    assert first is not None
    assert (first.reason, first.undeclared) == (chosen.reason, True)


def test_a_version_that_an_interface_declares_is_not_forced_on_another():
    chosen = select(card(interface("1.0"), interface("0.3")), version="0.3")
    assert chosen is not None
    assert chosen.interface.protocol_version == "0.3"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SLIMRPC", "SLIM network"),
        ("slimrpc", "SLIM network"),
        ("https://a2a-protocol.org/bindings/slim-rpc/v1", "SLIM network"),
        ("WEBSOCKET", "WebSocket connection"),
        ("https://a2a-protocol.org/bindings/web-socket/v1", "WebSocket connection"),
        ("MQTT", ""),
    ],
)
def test_a_known_custom_binding_is_explained(name: str, words: str):
    card = AgentCard(supported_interfaces=[AgentInterface(url="x", protocol_binding=name, protocol_version="1.0")])
    [option] = options(card)
    assert option.reason.startswith(f"the binding {name!r} is not supported")
    assert words in option.reason


def test_a_requested_transport_whose_version_is_not_used_is_named_with_its_version():
    offered = card(interface("1.0"), interface("0.3", "HTTP+JSON"), interface("7.0", "GRPC"))
    for wanted, version in (("HTTP+JSON", "0.3"), ("GRPC", "7.0")):
        choice = select(offered, transports=(wanted,), outdated=False)
        assert choice is not None
        assert choice.undeclared
        assert choice.reason == f"{wanted} was requested, but the card declares {version} for it"
