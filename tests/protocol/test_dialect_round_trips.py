"""An object that is written in a dialect and read again is unchanged, except for unsupported members."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples
from strategies import (
    cards,
    events,
    push_config_lists,
    push_configs,
    requests,
    task_lists,
    tasks,
    words,
)

from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects import v0_3, v1_0
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import (
    AuthenticationInfo,
    Deleted,
    Message,
    Part,
    PushConfig,
    PushConfigList,
    SendConfiguration,
    SendRequest,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from inspector.protocol.operations import REQUESTS, Operation

V1, V03 = v1_0.DIALECT, v0_3.DIALECT
KIND_OF_REQUEST = {
    Operation.SEND: "send",
    Operation.STREAM: "send",
    Operation.GET: "task",
    Operation.LIST: "list",
    Operation.CANCEL: "task",
    Operation.SUBSCRIBE: "task",
    Operation.SET_PUSH: "push",
    Operation.GET_PUSH: "push query",
    Operation.LIST_PUSH: "push query",
    Operation.DELETE_PUSH: "push query",
    Operation.EXTENDED_CARD: "card",
}
few = settings(max_examples=examples(40))


def over_the_wire(value: Any) -> Any:
    return parse(dump(value))


def saved(event: Any) -> Any:
    """Leave out what every status update of 0.3 carries and no canonical one does."""
    if isinstance(event, TaskStatusUpdateEvent):
        return TaskStatusUpdateEvent(**{name: value for name, value in event if name != "final"})
    return event


@given(events)
@few
def test_an_event_survives_1_0(event: Any) -> None:
    assert V1.decode_event(over_the_wire(V1.encode_event(event))) == event
    assert V1.decode_push(over_the_wire(V1.encode_push(event))) == event


@given(events)
@few
def test_an_event_survives_0_3(event: Any) -> None:
    assert saved(V03.decode_event(over_the_wire(V03.encode_event(event)))) == event
    assert saved(V03.decode_push(over_the_wire(V03.encode_push(event)))) == event


@pytest.mark.parametrize("operation", list(Operation))
@given(data=st.data())
@settings(max_examples=12)
def test_a_request_survives_1_0(operation: Operation, data: st.DataObject) -> None:
    request = data.draw(requests(tenant=words)[KIND_OF_REQUEST[operation]])
    assert isinstance(request, REQUESTS[operation])
    assert V1.decode_request(operation, over_the_wire(V1.encode_request(operation, request))) == request


@pytest.mark.parametrize("operation", list(V03.methods))
@given(data=st.data())
@settings(max_examples=12)
def test_a_request_without_a_tenant_survives_0_3(operation: Operation, data: st.DataObject) -> None:
    request = data.draw(requests(tenant=None)[KIND_OF_REQUEST[operation]])
    assert V03.decode_request(operation, over_the_wire(V03.encode_request(operation, request))) == request


@pytest.mark.parametrize(
    ("operation", "results"),
    [
        (Operation.SEND, events),
        (Operation.STREAM, events),
        (Operation.SUBSCRIBE, events),
        (Operation.GET, tasks),
        (Operation.CANCEL, tasks),
        (Operation.LIST, task_lists),
        (Operation.SET_PUSH, push_configs(tenant=words)),
        (Operation.GET_PUSH, push_configs(tenant=words)),
        (Operation.LIST_PUSH, push_config_lists),
        (Operation.DELETE_PUSH, st.just(Deleted())),
        (Operation.EXTENDED_CARD, cards(url=words, protocol_binding=words, protocol_version=words, tenant=words)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@given(data=st.data())
@settings(max_examples=12)
def test_a_result_survives_1_0(operation: Operation, results: Any, data: st.DataObject) -> None:
    result = data.draw(results)
    assert V1.decode_result(operation, over_the_wire(V1.encode_result(operation, result))) == result


@pytest.mark.parametrize(
    ("operation", "results"),
    [
        (Operation.SEND, events),
        (Operation.STREAM, events),
        (Operation.SUBSCRIBE, events),
        (Operation.GET, tasks),
        (Operation.CANCEL, tasks),
        (Operation.SET_PUSH, push_configs()),
        (Operation.GET_PUSH, push_configs()),
        (Operation.LIST_PUSH, st.builds(PushConfigList, configs=st.lists(push_configs(), max_size=3))),
        (Operation.DELETE_PUSH, st.just(Deleted())),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@given(data=st.data())
@settings(max_examples=12)
def test_a_result_survives_0_3(operation: Operation, results: Any, data: st.DataObject) -> None:
    result = data.draw(results)
    assert saved(V03.decode_result(operation, over_the_wire(V03.encode_result(operation, result)))) == result


some_words = st.text(min_size=1, max_size=8)
versions = st.sampled_from(["0.3.0", "0.3.1", "1.0"])


@given(cards(url=words, protocol_binding=words, protocol_version=words, tenant=words))
@few
def test_a_card_survives_1_0(card: AgentCard) -> None:
    assert V1.decode_card(over_the_wire(V1.encode_card(card))) == card


@given(cards(url=some_words, protocol_binding=some_words, protocol_version=versions))
@few
def test_a_card_with_complete_interfaces_survives_0_3(card: AgentCard) -> None:
    complete = [
        AgentInterface(**({"url": "u", "protocolBinding": "JSONRPC", "protocolVersion": "0.3.0"} | interface.to_json()))
        for interface in card.supported_interfaces
    ]
    card = AgentCard(**(card.to_json() | {"supportedInterfaces": complete}))
    assert V03.decode_card(over_the_wire(V03.encode_card(card))) == card


class TestWhat03CannotCarry:
    def test_the_tenant_of_a_request_is_left_out_at_every_depth(self) -> None:
        push = PushConfig(tenant="acme", url="http://h")
        request = SendRequest(
            tenant="acme",
            message=Message(message_id="m"),
            configuration=SendConfiguration(task_push_notification_config=push),
        )
        assert "acme" not in str(V03.encode_request(Operation.SEND, request))
        assert "acme" not in str(V03.encode_request(Operation.SET_PUSH, push))
        assert "acme" not in str(V03.encode_result(Operation.SET_PUSH, push))

    def test_the_tenant_of_an_interface_is_left_out(self) -> None:
        interface = AgentInterface(url="u", protocol_binding="JSONRPC", protocol_version="0.3.0", tenant="acme")
        assert "acme" not in str(V03.encode_card(AgentCard(supported_interfaces=[interface])))

    def test_the_next_page_of_push_configurations_is_left_out(self) -> None:
        page = PushConfigList(configs=[PushConfig(url="u")], next_page_token="more")
        assert V03.encode_result(Operation.LIST_PUSH, page) == [{"pushNotificationConfig": {"url": "u"}}]

    @pytest.mark.parametrize(("version", "written"), [("", "0.3.0"), ("0.3", "0.3.0"), ("0.3.1", "0.3.1")])
    def test_the_version_of_the_main_interface_is_written_in_full(self, version: str, written: str) -> None:
        card = AgentCard(supported_interfaces=[AgentInterface(url="u", protocol_version=version)])
        assert V03.encode_card(card)["protocolVersion"] == written

    def test_an_interface_without_a_binding_becomes_json_rpc(self) -> None:
        assert (
            V03.encode_card(AgentCard(supported_interfaces=[AgentInterface(url="u")]))["preferredTransport"]
            == "JSONRPC"
        )

    def test_a_state_in_0_3_spelling_comes_back_under_its_1_0_name(self) -> None:
        event = TaskStatusUpdateEvent(status=TaskStatus(state="working"))
        read = V03.decode_event(V03.encode_event(event))
        assert isinstance(read, TaskStatusUpdateEvent)
        assert read.status.state == "TASK_STATE_WORKING"


class TestWhat03CarriesBeyondItsSpecification:
    """0.3 names expected one of these, but lets them through as members that it does not know."""

    def test_a_text_part_keeps_its_media_type_and_file_name(self) -> None:
        written = V03.encode_event(Message(parts=[Part(text="# a", media_type="text/markdown", filename="a.md")]))
        assert written["parts"] == [{"kind": "text", "text": "# a", "mediaType": "text/markdown", "filename": "a.md"}]

    def test_data_that_is_no_object_is_written_as_it_is(self) -> None:
        written = V03.encode_event(Message(parts=[Part(data=[1, 2])]))
        assert written["parts"] == [{"kind": "data", "data": [1, 2]}]

    def test_the_pages_of_a_push_query_are_kept(self) -> None:
        query = requests(None)["push query"]
        assert query is not None
        request = REQUESTS[Operation.LIST_PUSH].model_validate({"taskId": "t", "pageSize": 5, "pageToken": "p"})
        assert V03.encode_request(Operation.LIST_PUSH, request) == {"id": "t", "pageSize": 5, "pageToken": "p"}

    def test_the_task_id_of_an_inline_push_configuration_is_kept(self) -> None:
        push = PushConfig(task_id="t", url="u")
        request = SendRequest(configuration=SendConfiguration(task_push_notification_config=push))
        written = V03.encode_request(Operation.SEND, request)
        assert written["configuration"]["pushNotificationConfig"] == {"taskId": "t", "url": "u"}

    def test_an_interface_of_another_version_keeps_its_version(self) -> None:
        card = AgentCard(
            supported_interfaces=[
                AgentInterface(url="a", protocol_binding="JSONRPC", protocol_version="0.3.0"),
                AgentInterface(url="b", protocol_binding="JSONRPC", protocol_version="1.0"),
            ]
        )
        assert V03.encode_card(card)["additionalInterfaces"][1]["protocolVersion"] == "1.0"

    def test_a_second_authentication_scheme_is_kept(self) -> None:
        sent = {"url": "u", "authentication": {"schemes": ["Bearer", "Basic"], "credentials": "c"}}
        config = V03.decode_request(Operation.SET_PUSH, {"taskId": "t", "pushNotificationConfig": sent})
        assert isinstance(config, PushConfig)
        assert config.authentication == AuthenticationInfo(
            scheme="Bearer", credentials="c", schemes=["Bearer", "Basic"]
        )
        assert V03.encode_request(Operation.SET_PUSH, config)["pushNotificationConfig"] == sent
