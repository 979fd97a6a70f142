"""The draft of A2A 1.1: used only on request, with a revision counter over every binding."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.findings.payload.judge import judge_error_object, judge_object
from inspector.protocol.bindings import grpc, jsonrpc
from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects import v1_0, v1_1
from inspector.protocol.dialects.registry import ALL, EXPERIMENTAL, for_interface, for_request, readers, traits_of
from inspector.protocol.dialects.traits import STABLE, VERSIONS
from inspector.protocol.dialects.v1_1 import DIALECT, awaited_revision, required_revision, revision_of
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import Message, SendRequest, Task, TaskArtifactUpdateEvent, TaskRequest
from inspector.protocol.operations import Operation
from inspector.protocol.selection import alternatives, select

EVENT = {
    "statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}, "generation": "2"}
}


def card(*versions: str) -> AgentCard:
    interfaces = [
        AgentInterface(url=f"http://x/v{version}", protocol_binding="JSONRPC", protocol_version=version)
        for version in versions
    ]
    return AgentCard(name="x", supported_interfaces=interfaces)


def test_every_dialect_has_a_listed_version_and_drafts_are_separate():
    assert {dialect.traits.version for dialect in ALL} == set(STABLE)
    assert {dialect.traits.version for dialect in EXPERIMENTAL} == set(VERSIONS) - set(STABLE)
    assert all(traits_of(name, binding) for name in VERSIONS for binding in ("JSONRPC", "HTTP+JSON", "GRPC"))


@pytest.mark.parametrize("versions", [("1.1",), ("1.1", "1.0"), ("1.0", "1.1")])
def test_1_0_is_used_for_a_card_with_1_1_unless_requested(versions: tuple[str, ...]):
    choice = select(card(*versions))
    assert choice is not None
    assert choice.dialect is v1_0.DIALECT
    assert DIALECT not in [choice.dialect for choice in alternatives(card(*versions))]
    asked = select(card(*versions), (), "1.1")
    assert asked is not None
    assert (asked.dialect, asked.interface.protocol_version) == (DIALECT, "1.1")
    assert asked.dialect.headers == {"A2A-Version": "1.1"}


def test_1_1_is_used_for_an_agent_of_1_0_if_requested():
    asked = select(card("0.3", "1.0"), (), "1.1")
    assert asked is not None
    assert (asked.dialect, asked.interface.protocol_version) == (DIALECT, "1.0")
    assert for_request("1.1", "GRPC") is DIALECT
    assert for_interface("1.1", "GRPC") is v1_0.DIALECT


def test_a_push_is_read_as_the_draft_in_which_its_webhook_was_registered():
    assert readers("1.1") == (DIALECT, *ALL)
    assert readers("1.0") == readers("") == ALL


@pytest.mark.parametrize(
    ("value", "revision"),
    [(3, 3), ("3", 3), (0, 0), ("", 0), (-1, 0), ("-1", 0), (True, 0), (1.0, 0), ([1], 0), ({}, 0), ("9" * 5000, 0)],
)
def test_a_revision_is_a_number_or_its_digits_and_nothing_else(value: Any, revision: int):
    for decode in (DIALECT.decode_event, v1_0.DIALECT.decode_event):
        event = decode({"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}, "generation": value}})
        assert isinstance(event, Task)
        assert revision_of(event) == revision
    assert awaited_revision(TaskRequest.model_validate({"id": "t", "currentGeneration": value})) == revision
    asked = {"message": {}, "configuration": {"ifGenerationMatch": value}}
    assert required_revision(SendRequest.model_validate(asked)) == revision


def test_an_event_without_a_revision_has_revision_0():
    assert revision_of(Message()) == revision_of(TaskArtifactUpdateEvent()) == required_revision(SendRequest()) == 0


def test_grpc_messages_contain_the_counter_and_the_members_of_requests():
    task = {"id": "t", "status": {"state": "TASK_STATE_WORKING"}, "generation": "7"}
    raw = grpc.write_answer(DIALECT, Operation.GET, task)
    assert grpc.read(DIALECT, Operation.GET, raw) == task
    assert "generation" not in grpc.read(v1_0.DIALECT, Operation.GET, raw)
    for operation, request in (
        (Operation.GET, {"id": "t", "currentGeneration": "0"}),
        (Operation.SEND, {"message": {"messageId": "m"}, "configuration": {"ifGenerationMatch": "5"}}),
    ):
        raw = grpc.write_request(DIALECT, operation, request)
        assert grpc.read(DIALECT, operation, raw, is_request=True) == request
        with pytest.raises(ValueError, match=r"currentGeneration|ifGenerationMatch"):
            grpc.write_request(v1_0.DIALECT, operation, request)


def test_the_counter_belongs_to_1_1_and_has_64_bits():
    def found(event: Any, version: str) -> list[tuple[str, str]]:
        return [(finding.rule, finding.pointer) for finding in judge_object(event, None, version, "JSONRPC")]

    assert found(EVENT, "1.1") == []
    assert found(EVENT, "1.0") == [("DATA-014", "/statusUpdate/generation")]
    for wrong in ("two", True, 1.5, "1" * 20):
        event = {"statusUpdate": {**EVENT["statusUpdate"], "generation": wrong}}
        assert found(event, "1.1") == [("DATA-002", "/statusUpdate/generation")]


def test_the_error_of_another_revision_is_one_of_1_1():
    error = {"code": -32010, "message": "changed"}
    named = [jsonrpc.decode_item(dialect, {"error": error}) for dialect in (v1_1.DIALECT, v1_0.DIALECT)]
    assert [error.name for error in named if isinstance(error, ProtocolError)] == [
        "TaskGenerationMismatchError",
        "Error",
    ]
    rules = {
        version: {finding.rule for finding in judge_error_object(error, version, "JSONRPC", ())}
        for version in ("1.0", "1.1")
    }
    assert rules == {"1.0": {"ERROR-003", "ERROR-006"}, "1.1": {"ERROR-003"}}
