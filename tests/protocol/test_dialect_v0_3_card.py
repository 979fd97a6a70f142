"""A card of 0.3 is converted to 1.0 and back: interfaces, security, capabilities."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.card import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentProvider,
    AgentSkill,
)
from inspector.protocol.dialects.v0_3 import DIALECT
from inspector.protocol.dialects.v0_3_card import json_card
from inspector.protocol.model import Unreadable


def card(**members: Any) -> AgentCard:
    read = DIALECT.decode_card({"url": "http://h", "protocolVersion": "0.3.0"} | members)
    assert isinstance(read, AgentCard), read
    return read


def interfaces(**members: Any) -> list[tuple[str, str, str]]:
    listed = card(**members).supported_interfaces
    return [(interface.protocol_binding, interface.url, interface.protocol_version) for interface in listed]


MAIN = ("JSONRPC", "http://h", "0.3.0")


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({}, [MAIN]),
        ({"preferredTransport": None, "additionalInterfaces": None}, [MAIN]),
        ({"preferredTransport": "GRPC"}, [("GRPC", "http://h", "0.3.0")]),
        ({"protocolVersion": None}, [("JSONRPC", "http://h", "")]),
        ({"additionalInterfaces": []}, [MAIN]),
        ({"additionalInterfaces": [{"url": "http://h", "transport": "JSONRPC"}]}, [MAIN]),
        ({"additionalInterfaces": [{"url": "u", "transport": "GRPC"}]}, [MAIN, ("GRPC", "u", "0.3.0")]),
        (
            {"additionalInterfaces": [{"url": "u", "transport": "GRPC"}, {"url": "http://h", "transport": "JSONRPC"}]},
            [MAIN, ("GRPC", "u", "0.3.0")],
        ),
        (
            {"additionalInterfaces": [{"url": "http://h", "transport": "HTTP+JSON"}]},
            [MAIN, ("HTTP+JSON", "http://h", "0.3.0")],
        ),
        ({"additionalInterfaces": [{"url": "u"}]}, [MAIN, ("", "u", "0.3.0")]),
        ({"additionalInterfaces": [{"url": None, "transport": None}]}, [MAIN, ("", "", "0.3.0")]),
        ({"url": None, "additionalInterfaces": [{"url": "u", "transport": "GRPC"}]}, [("GRPC", "u", "0.3.0")]),
        ({"url": None}, []),
    ],
)
def test_the_main_interface_comes_first_and_once(members: Any, found: Any) -> None:
    assert interfaces(**members) == found


def test_an_additional_interface_keeps_its_unknown_members() -> None:
    extra = {"url": "http://h", "transport": "JSONRPC", "region": "eu"}
    read = card(additionalInterfaces=[extra])
    assert read.supported_interfaces[0].model_extra == {"region": "eu"}
    assert DIALECT.encode_card(read)["additionalInterfaces"] == [extra]


SCHEMES = {
    "key": (
        {"type": "apiKey", "in": "header", "name": "X"},
        {"apiKeySecurityScheme": {"location": "header", "name": "X"}},
    ),
    "http": ({"type": "http", "scheme": "bearer"}, {"httpAuthSecurityScheme": {"scheme": "bearer"}}),
    "oauth": ({"type": "oauth2", "flows": {"x": {}}}, {"oauth2SecurityScheme": {"flows": {"x": {}}}}),
    "oidc": (
        {"type": "openIdConnect", "openIdConnectUrl": "u"},
        {"openIdConnectSecurityScheme": {"openIdConnectUrl": "u"}},
    ),
    "mtls": ({"type": "mutualTLS", "description": "d"}, {"mtlsSecurityScheme": {"description": "d"}}),
    "an unknown type": ({"type": "magic", "word": "sesame"}, {"type": "magic", "word": "sesame"}),
    "a type that is not a string": ({"type": ["http"]}, {"type": ["http"]}),
    "no type": ({"scheme": "bearer"}, {"scheme": "bearer"}),
}


@pytest.mark.parametrize(("spelled", "canonical"), SCHEMES.values(), ids=SCHEMES)
def test_a_security_scheme_is_wrapped_and_unwrapped(spelled: Any, canonical: Any) -> None:
    read = card(securitySchemes={"s": spelled})
    assert read.security_schemes == {"s": canonical}
    assert DIALECT.encode_card(read)["securitySchemes"] == {"s": spelled}


def test_requirements_are_converted_on_the_card_and_its_skills() -> None:
    demanded = [{"oauth": ["read"], "key": []}, {}]
    wrapped = [{"schemes": {"oauth": {"list": ["read"]}, "key": {"list": []}}}, {"schemes": {}}]
    read = card(security=demanded, skills=[{"id": "s", "security": demanded}, {"id": "t"}])
    assert read.security_requirements == wrapped
    assert [skill.security_requirements for skill in read.skills] == [wrapped, None]
    written = DIALECT.encode_card(read)
    assert written["security"] == demanded
    assert written["skills"] == [{"id": "s", "security": demanded}, {"id": "t"}]


@pytest.mark.parametrize("demanded", [[{"key": "read"}], [{"schemes": None}], [{"key": {"list": None}}]])
def test_invalid_requirements_are_read_and_written(demanded: Any) -> None:
    assert DIALECT.encode_card(card(security=demanded))["security"] == demanded


@pytest.mark.parametrize(
    ("members", "capabilities"),
    [
        ({}, AgentCapabilities()),
        ({"capabilities": None}, AgentCapabilities()),
        ({"capabilities": {"streaming": True}}, AgentCapabilities(streaming=True)),
        (
            {"capabilities": {"streaming": None, "pushNotifications": None, "extensions": None}},
            AgentCapabilities(),
        ),
        (
            {"capabilities": {"streaming": False}, "supportsAuthenticatedExtendedCard": True},
            AgentCapabilities(streaming=False, extended_agent_card=True),
        ),
        ({"supportsAuthenticatedExtendedCard": True}, AgentCapabilities(extended_agent_card=True)),
        (
            {"capabilities": None, "supportsAuthenticatedExtendedCard": False},
            AgentCapabilities(extended_agent_card=False),
        ),
        (
            {"capabilities": {"stateTransitionHistory": True}},
            AgentCapabilities(stateTransitionHistory=True),
        ),
    ],
)
def test_the_extended_card_is_a_capability(members: Any, capabilities: AgentCapabilities) -> None:
    read = card(**members)
    assert read.capabilities == capabilities
    assert "supportsAuthenticatedExtendedCard" not in (read.model_extra or {})


@pytest.mark.parametrize(
    "members",
    [
        {"url": 5},
        {"preferredTransport": ["JSONRPC"]},
        {"protocolVersion": 0.3},
        {"additionalInterfaces": {"url": "u"}},
        {"additionalInterfaces": "u"},
        {"additionalInterfaces": ["u"]},
        {"additionalInterfaces": [None]},
        {"additionalInterfaces": [{"url": 5}]},
        {"security": {"key": []}},
        {"security": ["key"]},
    ],
)
def test_a_card_whose_interfaces_or_requirements_cannot_be_read_is_refused(members: Any) -> None:
    value = {"url": "http://h", "protocolVersion": "0.3.0"} | members
    refused = DIALECT.decode_card(value)
    assert isinstance(refused, Unreadable)
    assert refused.value is value
    assert refused.why.startswith("AgentCard/")


@pytest.mark.parametrize(
    "members",
    [
        {"capabilities": []},
        {"capabilities": "all", "supportsAuthenticatedExtendedCard": True},
        {"supportsAuthenticatedExtendedCard": "yes"},
        {"securitySchemes": []},
        {"securitySchemes": {"key": "apiKey"}},
        {"skills": {"id": "s"}},
        {"skills": ["s"]},
        {"skills": [{"security": "key"}]},
        {"defaultInputModes": "text"},
        {"name": {}},
        {"provider": "me"},
    ],
)
def test_other_members_of_the_wrong_type_are_left_out(members: Any) -> None:
    value = {"url": "http://h", "protocolVersion": "0.3.0"}
    read = DIALECT.decode_card(value | members)
    assert isinstance(read, AgentCard)
    assert read.supported_interfaces == card(**value).supported_interfaces
    assert DIALECT.mistake_in_card(value | members).startswith("AgentCard/")
    assert DIALECT.mistake_in_card(value) == ""


def test_what_can_be_read_of_an_object_or_a_list_is_kept() -> None:
    bearer = {"type": "http", "scheme": "bearer"}
    read = card(
        securitySchemes={"a": bearer, "b": None, "c": "apiKey"},
        skills=["s", {"id": "one", "name": 5, "tags": "t", "examples": ["e", 7]}],
        capabilities={
            "streaming": "yes",
            "pushNotifications": True,
            "extensions": [{"uri": 5}, {"uri": "u"}],
        },
        provider={"organization": "o", "url": []},
    )
    assert read.security_schemes == {"a": {"httpAuthSecurityScheme": {"scheme": "bearer"}}, "b": {}, "c": {}}
    assert read.skills == [AgentSkill(), AgentSkill(id="one", examples=["e"])]
    assert read.capabilities == AgentCapabilities(
        push_notifications=True, extensions=[AgentExtension(), AgentExtension(uri="u")]
    )
    assert read.provider == AgentProvider(organization="o")


@pytest.mark.parametrize("value", [None, [], "card", 3])
def test_a_value_that_is_not_an_object_is_not_a_card(value: Any) -> None:
    refused = DIALECT.decode_card(value)
    assert isinstance(refused, Unreadable)
    assert refused.why.startswith("AgentCard: expected an object")


def test_lists_that_are_null_are_empty() -> None:
    read = card(skills=None, defaultInputModes=None, defaultOutputModes=None, security=None, signatures=None)
    assert (read.skills, read.default_input_modes, read.default_output_modes) == ([], [], [])
    read = card(skills=[{"id": "s", "tags": None, "examples": None}])
    assert (read.skills[0].tags, read.skills[0].examples) == ([], None)


def test_an_empty_card_is_written_without_interfaces() -> None:
    assert DIALECT.encode_card(AgentCard()) == {"capabilities": {}}


def test_a_card_is_written_with_its_first_interface_as_the_main_one() -> None:
    written = DIALECT.encode_card(
        AgentCard(
            name="n",
            supported_interfaces=[
                AgentInterface(url="a", protocol_binding="GRPC", protocol_version="0.3", tenant="acme"),
                AgentInterface(url="b", protocol_binding="JSONRPC", protocol_version="0.3"),
            ],
            capabilities=AgentCapabilities(streaming=True, extended_agent_card=True),
        )
    )
    assert written == {
        "name": "n",
        "url": "a",
        "preferredTransport": "GRPC",
        "protocolVersion": "0.3.0",
        "additionalInterfaces": [{"url": "a", "transport": "GRPC"}, {"url": "b", "transport": "JSONRPC"}],
        "capabilities": {"streaming": True},
        "supportsAuthenticatedExtendedCard": True,
    }


def test_the_security_of_a_card_in_protojson_is_converted_to_json():
    schemes = {"key": {"apiKeySecurityScheme": {"location": "header", "name": "X"}}, "old": {"type": "http"}, "bad": 5}
    needs = [{"schemes": {"key": {"list": []}}}, {"old": ["read"]}]
    card = {"securitySchemes": schemes, "security": needs, "skills": [{"security": needs}, 7]}
    typed = [{"key": []}, {"old": ["read"]}]
    assert json_card(card) == {
        "securitySchemes": {**schemes, "key": {"type": "apiKey", "in": "header", "name": "X"}},
        "security": typed,
        "skills": [{"security": typed}, 7],
    }
    assert json_card({"securitySchemes": [], "security": 1, "skills": None}) == {
        "securitySchemes": [],
        "security": 1,
        "skills": None,
    }
