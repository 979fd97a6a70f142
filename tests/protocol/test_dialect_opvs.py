"""OPVS: A2A 1.0 with other names, and nested push configurations as in 0.3."""

from __future__ import annotations

from typing import Any

import pytest
from recordings import ROOT

from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects import v1_0
from inspector.protocol.dialects.opvs import DIALECT
from inspector.protocol.model import AuthenticationInfo, PushConfig, PushConfigList, SendConfiguration, SendRequest
from inspector.protocol.operations import Operation
from inspector.protocol.selection import select

NESTED = {
    "taskId": "t",
    "pushNotificationConfig": {"url": "u", "token": "k", "authentication": {"schemes": ["Bearer"]}},
}
FLAT = PushConfig(task_id="t", url="u", token="k", authentication=AuthenticationInfo(scheme="Bearer"))


def test_headers_and_service_have_the_names_of_opvs() -> None:
    assert DIALECT.headers == {"OPVS-Version": "1.0"}
    assert DIALECT.extensions_header == "OPVS-Extensions"
    assert DIALECT.service is not None
    assert DIALECT.service.name == "lf.a2a.v1.OPVSService"
    assert DIALECT.service.methods == v1_0.SERVICE.methods
    assert DIALECT.routes == v1_0.ROUTES


def test_a_recording_contains_the_service_of_opvs() -> None:
    table = (ROOT / "opvs" / "grpc" / "paths.txt").read_text()
    assert DIALECT.service is not None
    assert f"/{DIALECT.service.name}/SendMessage (('opvs-version', '1.0'),) -> OK" in table


def test_opvs_is_used_for_a_1_0_card_if_the_user_requests_it() -> None:
    interface = AgentInterface(url="u", protocol_binding="JSONRPC", protocol_version="1.0")
    choice = select(AgentCard(supported_interfaces=[interface]), version="opvs")
    assert choice is not None
    assert choice.dialect is DIALECT


@pytest.mark.parametrize("sent", [NESTED, FLAT.to_json()])
def test_push_configurations_are_read_nested_and_flat(sent: Any) -> None:
    assert DIALECT.decode_request(Operation.SET_PUSH, sent) == FLAT
    assert DIALECT.decode_result(Operation.GET_PUSH, sent) == FLAT
    assert DIALECT.decode_result(Operation.LIST_PUSH, {"configs": [sent]}) == PushConfigList(configs=[FLAT])


@pytest.mark.parametrize("name", ["pushNotificationConfig", "taskPushNotificationConfig"])
def test_an_inline_push_configuration_is_read_with_both_names(name: str) -> None:
    inner = {"url": "u", "authentication": {"schemes": ["Bearer"]}}
    read = DIALECT.decode_request(Operation.SEND, {"configuration": {name: inner}})
    expected = PushConfig(url="u", authentication=AuthenticationInfo(scheme="Bearer"))
    assert read == SendRequest(configuration=SendConfiguration(task_push_notification_config=expected))
