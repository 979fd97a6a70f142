"""Any canonical object can be written in any dialect, and exactly the lost members are reported."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples
from strategies import cards, events, name_of_dialect, push_config_lists, requests, task_lists, words

from inspector.protocol.card import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from inspector.protocol.dialects import opvs, v0_1, v0_2, v0_3, v0_3_proto, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import (
    Artifact,
    AuthenticationInfo,
    Deleted,
    ExtendedCardRequest,
    ListTasksRequest,
    Message,
    Part,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    SendConfiguration,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskRequest,
    TaskStatus,
    TaskStatusUpdateEvent,
    Unreadable,
    Wire,
)
from inspector.protocol.operations import REQUESTS, Operation

dialects = pytest.mark.parametrize("dialect", ALL, ids=name_of_dialect)
anything = st.one_of(
    events,
    *requests(tenant=words).values(),
    task_lists,
    push_config_lists,
    cards(url=words, protocol_binding=words, protocol_version=words, tenant=words),
)


def read_back(dialect: Dialect, value: Wire, written: Any) -> Wire | Unreadable:
    if isinstance(value, AgentCard):
        return dialect.decode_card(written)
    if isinstance(value, TaskList | PushConfigList | Deleted):
        operation = Operation.LIST if isinstance(value, TaskList) else Operation.LIST_PUSH
        return dialect.decode_result(operation, written)
    if isinstance(value, Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
        return dialect.decode_event(written)
    offered = [
        operation for operation, model in REQUESTS.items() if isinstance(value, model) and dialect.has(operation)
    ]
    return dialect.decode_request(offered[0], written)


def taken_out(value: Any, pointers: set[str], where: str = "") -> Any:
    if isinstance(value, dict):
        steps = {name: f"{where}/{name.replace('~', '~0').replace('/', '~1')}" for name in value}
        return {name: taken_out(value[name], pointers, steps[name]) for name in value if steps[name] not in pointers}
    if isinstance(value, list):
        places = [f"{where}/{place}" for place in range(len(value))]
        return [taken_out(item, pointers, at) for item, at in zip(value, places, strict=True) if at not in pointers]
    return value


def holds(big: Any, small: Any) -> bool:
    """Say whether all that is in one JSON value is in another too, which may have more members."""
    if isinstance(small, dict):
        if not isinstance(big, dict):
            return False
        return all(small[name] is None or (name in big and holds(big[name], small[name])) for name in small)
    if isinstance(small, list):
        return isinstance(big, list) and len(big) == len(small) and all(map(holds, big, small))
    return big == small


@dialects
@given(value=anything)
@settings(max_examples=examples(80))
def test_members_not_reported_as_unsupported_survive(dialect: Dialect, value: Wire) -> None:
    written, losses = dialect.encode(value), dialect.unsupported_members(value)
    if "" in losses:
        return
    back = read_back(dialect, value, parse(dump(written)))
    assert not isinstance(back, Unreadable)
    lost = set(losses)
    assert holds(taken_out(back.to_json(), lost), taken_out(value.to_json(), lost))


@dialects
@given(value=anything)
@settings(max_examples=examples(40))
def test_members_reported_as_unsupported_do_not_survive(dialect: Dialect, value: Wire) -> None:
    written, losses = dialect.encode(value), dialect.unsupported_members(value)
    if "" in losses:
        return
    back = read_back(dialect, value, written)
    assert isinstance(back, Wire)
    for pointer in losses:
        before, after = at(value.to_json(), pointer), at(back.to_json(), pointer)
        assert before is not MISSING
        assert before != after


MISSING = object()


def at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


@pytest.mark.parametrize("dialect", [v1_0.DIALECT, opvs.DIALECT], ids=name_of_dialect)
@given(value=anything)
@settings(max_examples=examples(60))
def test_1_0_supports_all_members(dialect: Dialect, value: Wire) -> None:
    assert dialect.unsupported_members(value) == ()


RICH = SendRequest(
    tenant="acme",
    message=Message(
        message_id="m",
        context_id="c",
        task_id="t",
        role="ROLE_USER",
        parts=[
            Part(text="hi", filename="a.txt", media_type="text/markdown"),
            Part(data=[1, 2]),
            Part(raw="QQ==", filename="a.bin", media_type="application/octet-stream"),
        ],
        reference_task_ids=["before"],
        extensions=["https://e"],
    ),
    configuration=SendConfiguration(
        accepted_output_modes=["text/plain"],
        history_length=3,
        return_immediately=True,
        task_push_notification_config=PushConfig(
            id="cfg", url="http://h", token="k", authentication=AuthenticationInfo(scheme="Bearer", credentials="s")
        ),
    ),
    metadata={"a": 1},
)

LOST_TO_PROTO = {
    "/tenant",
    "/message/parts/0/filename",
    "/message/parts/0/mediaType",
    "/message/parts/1/data",
    "/message/referenceTaskIds",
}
LOST_TO_0_1 = {
    "/tenant",
    "/message/messageId",
    "/message/extensions",
    "/message/referenceTaskIds",
    "/configuration/returnImmediately",
    "/configuration/taskPushNotificationConfig/id",
}


@pytest.mark.parametrize(
    ("dialect", "lost"),
    [
        (v0_3.DIALECT, {"/tenant"}),
        (v0_2.DIALECT, {"/tenant"}),
        (v0_3_proto.DIALECT, LOST_TO_PROTO),
        (v0_2.PROTO_DIALECT, LOST_TO_PROTO),
        (v0_1.DIALECT, LOST_TO_0_1),
    ],
    ids=["0.3", "0.2", "0.3 proto", "0.2 proto", "0.1"],
)
def test_unsupported_members_of_a_full_request_by_dialect(dialect: Dialect, lost: set[str]) -> None:
    assert set(dialect.unsupported_members(RICH)) == lost


@pytest.mark.parametrize(
    ("value", "dialect", "losses"),
    [
        (PushConfigList(configs=[PushConfig(url="u")], next_page_token="p"), v0_3.DIALECT, ("/nextPageToken",)),
        (PushConfigList(configs=[PushConfig(url="u")], next_page_token="p"), v0_3_proto.DIALECT, ()),
        (PushConfigList(), v0_1.DIALECT, ("",)),
        (ListTasksRequest(), v0_3.DIALECT, ("",)),
        (ListTasksRequest(context_id="c"), v0_3_proto.DIALECT, ()),
        (ExtendedCardRequest(), v0_1.DIALECT, ("",)),
        (ExtendedCardRequest(), v0_2.DIALECT, ()),
        (PushConfigRequest(task_id="t", id="c"), v0_1.DIALECT, ("/id",)),
        (PushConfigRequest(task_id="t", id="c"), v0_3.DIALECT, ()),
        (TaskRequest(id="t", metadata={"a": 1}), v0_1.DIALECT, ()),
        (TaskRequest(id="t", metadata={"a": 1}), v0_3_proto.DIALECT, ("/metadata",)),
        (
            TaskStatusUpdateEvent(task_id="t", context_id="c", status=TaskStatus(state="TASK_STATE_WORKING")),
            v0_1.DIALECT,
            ("/contextId",),
        ),
        (
            TaskStatusUpdateEvent(task_id="t", status=TaskStatus(message=Message(message_id="m", role="ROLE_AGENT"))),
            v0_1.DIALECT,
            ("/status/message/messageId",),
        ),
        (TaskArtifactUpdateEvent(artifact=Artifact(artifact_id="artifact-2")), v0_1.DIALECT, ()),
        (TaskArtifactUpdateEvent(artifact=Artifact(artifact_id="chart")), v0_1.DIALECT, ("/artifact/artifactId",)),
        (TaskStatusUpdateEvent(status=TaskStatus(state="working")), v0_3.DIALECT, ("/status/state",)),
        (
            AgentCard(
                supported_interfaces=[AgentInterface(url="u", protocol_binding="JSONRPC", protocol_version="0.1")],
                capabilities=AgentCapabilities(streaming=True, extended_agent_card=True),
                skills=[AgentSkill(id="s", security_requirements=[])],
                icon_url="i",
                security_schemes={"key": {"apiKeySecurityScheme": {"name": "k"}}},
            ),
            v0_1.DIALECT,
            (
                "/iconUrl",
                "/capabilities/extendedAgentCard",
                "/securitySchemes/key",
                "/skills/0/securityRequirements",
            ),
        ),
    ],
)
def test_unsupported_members_are_reported(value: Wire, dialect: Dialect, losses: tuple[str, ...]) -> None:
    assert dialect.unsupported_members(value) == losses


def test_a_name_with_a_slash_is_escaped_in_the_pointer() -> None:
    card = AgentCard(security_schemes={"a/b~c": {"apiKeySecurityScheme": {}}})
    assert v0_1.DIALECT.unsupported_members(card) == ("/securitySchemes/a~1b~0c",)


def test_a_message_is_written_in_every_version() -> None:
    message = Message(message_id="m", role="ROLE_USER", parts=[Part(text="hi")])
    assert {name_of_dialect(dialect): dialect.encode(message) for dialect in ALL} == {
        "1.0": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}},
        "opvs": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}},
        "0.3": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]},
        "0.2": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]},
        "0.3 proto": {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}},
        "0.2 proto": {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}},
        "0.1": {"role": "user", "parts": [{"type": "text", "text": "hi"}]},
    }
