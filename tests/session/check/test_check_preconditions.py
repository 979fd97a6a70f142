"""When a test is skipped."""

from __future__ import annotations

from typing import Any

import pytest
from check_files import CARD_STEP, planned
from scripted import card_of

from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects.registry import for_version
from inspector.protocol.selection import Choice
from inspector.session.check.document.enumerations import Requirement, Transport
from inspector.session.check.preconditions import needs, skip_reason

CARD = card_of("http://127.0.0.1:9/", capabilities={"streaming": True, "extensions": [{"uri": "urn:x"}]})
SECURED = {
    "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
    "securityRequirements": [{"schemes": {"b": {"list": []}}}],
}


def reason(
    *steps: Any, binding: str = "JSONRPC", version: str = "1.0", known: Any = (), card: Any = None, **members: Any
) -> str:
    dialect = for_version(version)
    assert dialect is not None
    interface = AgentInterface(url="http://127.0.0.1:9/", protocol_binding=binding, protocol_version=version)
    transport = next(transport for transport in Transport if transport.binding == binding)
    test = planned(*steps, **members).test
    read = AgentCard.model_validate({**CARD, **(card or {})})
    return skip_reason(
        test, transport, Choice(interface, dialect, BINDINGS[binding], "test"), read, dict.fromkeys(known, "x")
    )


def test_a_test_without_preconditions_applies():
    assert reason() == ""


@pytest.mark.parametrize("place", ["transport", "preconditions"])
def test_a_test_of_another_transport_is_skipped(place: str):
    members: dict[str, Any] = {"transport": ["grpc", "rest"]}
    given = members if place == "transport" else {"preconditions": members}
    assert reason(**given) == "only over grpc, rest"
    assert reason(binding="HTTP+JSON", **given) == ""


@pytest.mark.parametrize(
    ("capabilities", "words"),
    [
        ({"streaming": True}, ""),
        ({"streaming": False}, "the card declares streaming: true, the test needs false"),
        ({"pushNotifications": True}, "the card declares pushNotifications: false, the test needs true"),
        ({"pushNotifications": False}, ""),
        ({"authentication": True}, "the card declares authentication: false, the test needs true"),
    ],
)
def test_a_test_that_needs_other_capabilities_is_skipped(capabilities: dict[str, Any], words: str):
    assert reason(preconditions={"capabilities": capabilities}) == words


def test_a_card_with_security_requirements_has_authentication():
    assert reason(preconditions={"capabilities": {"authentication": True}}, card=SECURED) == ""


def test_a_test_that_needs_a_skill_or_an_extension_is_skipped_without_it():
    assert reason(preconditions={"skills": [{"id": "any"}], "extensions": ["urn:x"]}) == ""
    assert reason(preconditions={"skills": [{"id": "other"}]}) == "the card has no skill 'other'"
    assert reason(preconditions={"extensions": ["urn:y"]}) == "the card does not declare the extension urn:y"


def test_a_test_of_an_operation_that_the_version_does_not_have_is_skipped():
    step = {"id": "list", "operation": "list_tasks"}
    assert reason(step) == ""
    assert reason(step, version="0.3") == "A2A 0.3 over JSONRPC does not have ListTasks"
    assert reason(CARD_STEP, version="0.3") == ""


def test_a_test_that_needs_credentials_is_skipped_without_them():
    step = {
        "id": "a",
        "raw": {"method": "GET", "path": "/{{env.HOME}}{{$uuid}}", "headers": {"Authorization": "{{token}}"}},
        "capture": {"id": "id"},
    }
    other = {"id": "b", "raw": {"method": "GET", "path": "/{{a.id}}{{webhookUrl}}"}}
    members: dict[str, Any] = {"runner_requirements": ["auth_credentials"]}
    assert reason(step, other, **members) == "needs credentials: set --var token=VALUE"
    assert reason(step, other, known=["token"], **members) == ""
    assert reason(step, other) == ""


@pytest.mark.parametrize(
    ("tags", "requirement"),
    [
        (["runner-special", "concurrent"], Requirement.CONCURRENT_STREAMS),
        (["runner-special", "resubscribe"], Requirement.STREAM_DISCONNECT),
    ],
)
def test_a_tag_of_the_official_suite_declares_what_a_test_needs(tags: list[str], requirement: Requirement):
    assert needs(planned(tags=tags).test, requirement)
    assert not needs(planned(tags=tags[1:]).test, requirement)
    assert not needs(planned(tags=tags).test, Requirement.WEBHOOK)
    assert needs(planned(runner_requirements=[requirement.value]).test, requirement)


def test_a_reference_to_the_webhook_needs_one():
    params = {"taskId": "t", "url": "{{webhookUrl}}"}
    test = planned({"id": "set", "operation": "create_push_config", "params": params}, tags=["runner-special"]).test
    assert needs(test, Requirement.WEBHOOK)
