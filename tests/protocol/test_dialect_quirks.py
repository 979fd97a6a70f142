"""Deviations of official SDKs from the specification that the dialects accept, with the numbers of our notes."""

from __future__ import annotations

from typing import Any

import pytest
from recordings import ROOT, deliveries, dialect_of, exchanges, name_of, pinged, recordings
from strategies import name_of_dialect

from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_1, v0_2, v0_3, v0_3_proto, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL, read_card
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Message, PushConfig, Task, TaskStatus, TaskStatusUpdateEvent, Unreadable
from inspector.protocol.operations import Operation

dialects = pytest.mark.parametrize("dialect", ALL, ids=name_of_dialect)


def results(path: Any) -> list[Any]:
    last = exchanges(path)[-1].response
    return [parse(frame).get("result") for frame in last.frames]


@pytest.mark.parametrize("version", ["02", "03", "10"])
def test_quirk_09_a_stream_may_be_a_single_message(version: str) -> None:
    path = ROOT / version / "jsonrpc" / "stream_echo_hi.txt"
    [event] = [dialect_of(path).decode_event(value) for value in results(path)]
    assert isinstance(event, Message)


def test_quirk_09_a_stream_of_0_1_begins_with_a_status() -> None:
    path = ROOT / "01" / "jsonrpc" / "sendSubscribe_task_hi.txt"
    first, *_ = [v0_1.DIALECT.decode_event(value) for value in results(path)]
    assert isinstance(first, TaskStatusUpdateEvent)


def test_quirk_12_a_card_of_0_2_16_says_0_2_6() -> None:
    card, dialect = read_card(parse(exchanges(ROOT / "02" / "jsonrpc" / "card.txt")[0].response.body))
    assert dialect is v0_2.DIALECT
    assert isinstance(card, AgentCard)
    assert {interface.protocol_version for interface in card.supported_interfaces} == {"0.2.6"}


def test_quirk_13_a_subscription_over_rest_of_0_3_is_a_get() -> None:
    assert v0_3_proto.ROUTES[Operation.SUBSCRIBE].verb == "GET"
    assert v1_0.ROUTES[Operation.SUBSCRIBE].verb == "POST"


def test_quirk_13_a_push_configuration_over_rest_of_0_3_is_the_body_or_a_part_of_it() -> None:
    config = PushConfig(task_id="t", id="c", url="http://x/", token="k")
    official = rest.encode("http://agent", v0_3_proto.DIALECT, Operation.SET_PUSH, config, "1")
    inner = {"url": "http://x/", "id": "c", "token": "k"}
    named = {"name": "tasks/t/pushNotificationConfigs/c", "pushNotificationConfig": inner}
    assert parse(official.body) == named
    assert official.url == "http://agent/v1/tasks/t/pushNotificationConfigs?configId=c"
    other = v0_3_proto.DIALECT.with_whole_body(Operation.SET_PUSH)
    whole = rest.encode("http://agent", other, Operation.SET_PUSH, config, "1")
    assert parse(whole.body) == {"parent": "tasks/t", "configId": "c", "config": named}
    assert whole.url == "http://agent/v1/tasks/t/pushNotificationConfigs"


@dialects
@pytest.mark.parametrize(
    "time", ["2026-11-20T13:34:59.296926+00:00", "2026-11-20T13:34:59.296926Z", "2026-11-20T13:34:40.688022", "", "now"]
)
def test_quirk_14_any_spelling_of_a_time_is_kept_as_it_came(dialect: Dialect, time: str) -> None:
    event = TaskStatusUpdateEvent(status=TaskStatus(state="TASK_STATE_WORKING", timestamp=time))
    read = dialect.decode_event(dialect.encode_event(event))
    assert isinstance(read, TaskStatusUpdateEvent)
    assert read.status.timestamp == time


@dialects
def test_quirk_17_a_message_without_parts_is_a_message(dialect: Dialect) -> None:
    message = Message(message_id="m", role="ROLE_USER", parts=[])
    read = dialect.decode_event(dialect.encode_event(message))
    assert isinstance(read, Message)
    assert read.parts == []


@pytest.mark.parametrize("version", ["02", "03"])
def test_quirk_20_a_grpc_url_without_a_scheme_is_kept(version: str) -> None:
    card, _ = read_card(parse(exchanges(ROOT / version / "jsonrpc" / "card.txt")[0].response.body))
    assert isinstance(card, AgentCard)
    [url] = [interface.url for interface in card.supported_interfaces if interface.protocol_binding == "GRPC"]
    assert url.startswith("127.0.0.1:")


@pytest.mark.parametrize("path", [path for path in recordings("webhook") if name_of(path).startswith("0")], ids=name_of)
def test_quirk_21_old_versions_push_bare_tasks(path: Any) -> None:
    for post in deliveries(path):
        assert isinstance(dialect_of(path).decode_push(parse(post.body)), Task)


def test_quirk_21_a_bare_task_of_0_1_is_not_read_as_0_3() -> None:
    for post in deliveries(ROOT / "01" / "webhook" / "push.txt"):
        value = parse(post.body)
        read = {name_of_dialect(dialect) for dialect in ALL if not isinstance(dialect.decode_push(value), Unreadable)}
        assert read == {"0.1"}


@pytest.mark.parametrize(
    "path", [path for path in recordings("webhook") if name_of(path).startswith("10")], ids=name_of
)
def test_quirk_21_the_pushes_of_1_0_are_read_by_no_old_dialect(path: Any) -> None:
    for post in deliveries(path):
        value = parse(post.body)
        read = {dialect.version for dialect in ALL if not isinstance(dialect.decode_push(value), Unreadable)}
        assert read == {"1.0", "opvs"}


@pytest.mark.parametrize(("name", "ending"), [("10", "Z"), ("js10", "Z"), ("03", "+00:00")])
def test_quirk_01_and_14_both_line_endings_carry_times_in_their_own_spelling(name: str, ending: str) -> None:
    dialect = v0_3.DIALECT if name == "03" else v1_0.DIALECT
    frames = pinged(ROOT / "ping" / f"{name}.txt").frames
    last = jsonrpc.decode_item(dialect, parse(frames[-1]))
    assert isinstance(last, TaskStatusUpdateEvent)
    assert str(last.status.timestamp).endswith(ending)
