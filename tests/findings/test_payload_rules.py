"""The rules about objects and errors: the examples of each rule, and recordings of real agents."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from inspector.findings.finding import Finding, Severity
from inspector.findings.payload.judge import ERROR_RULES, OBJECT_RULES, judge_error_object, judge_object
from inspector.findings.payload.shapes import shapes_of
from inspector.findings.shape import ArrayOf, MapOf, Shape, Union
from inspector.protocol.operations import Operation
from inspector.protocol.pointer import at

RECORDINGS = Path(__file__).parents[1] / "protocol" / "recordings"
FULL_1_0: dict[str, Any] = {
    "task": {
        "id": "t-1",
        "contextId": "c-1",
        "status": {
            "state": "TASK_STATE_WORKING",
            "timestamp": "2026-01-31T12:00:00.000Z",
            "message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "on it"}], "taskId": "t-1"},
        },
        "artifacts": [
            {
                "artifactId": "a-1",
                "name": "report",
                "parts": [
                    {"text": "# Report", "mediaType": "text/markdown"},
                    {"raw": "aGVsbG8=", "filename": "hello.txt", "mediaType": "text/plain"},
                    {"url": "https://example.com/a.png", "mediaType": "image/png"},
                    {"data": {"a": [1, None]}, "metadata": {"x": 1}},
                    {"data": None},
                ],
            }
        ],
        "history": [{"messageId": "m-0", "role": "ROLE_USER", "parts": [{"text": "go"}], "contextId": "c-1"}],
        "metadata": {"kind": "mine"},
    }
}
FULL_0_3: dict[str, Any] = {
    "kind": "task",
    "id": "t-1",
    "contextId": "c-1",
    "status": {"state": "working", "timestamp": "2026-01-31T12:00:00+00:00"},
    "artifacts": [
        {
            "artifactId": "a-1",
            "parts": [
                {"kind": "text", "text": "x"},
                {"kind": "file", "file": {"bytes": "aGVsbG8=", "mimeType": "text/plain", "name": "a"}},
                {"kind": "file", "file": {"uri": "https://example.com/a.png"}},
                {"kind": "data", "data": {"a": 1}},
            ],
        }
    ],
    "history": [{"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "go"}]}],
}
FULL_0_1: dict[str, Any] = {
    "id": "t-1",
    "status": {"state": "completed", "message": {"role": "agent", "parts": [{"type": "text", "text": "x"}]}},
    "final": True,
}
VALID = [("1.0", FULL_1_0), ("opvs", FULL_1_0), ("0.3", FULL_0_3), ("0.2", FULL_0_3), ("0.1", FULL_0_1)]


def judged(value: Any, version: str, binding: str = "JSONRPC") -> tuple[Finding, ...]:
    return judge_object(value, None, version, binding, ("result",))


@pytest.mark.parametrize(("version", "event"), VALID)
def test_a_valid_event_of_every_version_has_no_findings(version: str, event: Any):
    assert judged(event, version) == ()


@pytest.mark.parametrize("rule", [checked.rule for checked in OBJECT_RULES], ids=lambda rule: rule.id)
def test_the_examples_of_a_rule_about_objects_pass_and_fail(rule: Any):
    version = rule.versions[0]
    found = [finding for finding in judged(rule.failing, version) if finding.rule == rule.id]
    assert found
    for finding in found:
        assert finding.severity is rule.severity
        assert finding.pointer.startswith("/result")
        holder = finding.pointer.rpartition("/")[0]
        assert isinstance(at({"result": rule.failing}, holder), dict | list)
    assert judged(rule.passing, version) == ()


@pytest.mark.parametrize("rule", [checked.rule for checked in ERROR_RULES], ids=lambda rule: rule.id)
def test_the_examples_of_a_rule_about_errors_pass_and_fail(rule: Any):
    version = rule.versions[0]
    found = judge_error_object(rule.failing, version, "JSONRPC", ("error",))
    assert rule.id in {finding.rule for finding in found}
    assert all(finding.pointer.startswith("/error") for finding in found)
    assert judge_error_object(rule.passing, version, "JSONRPC", ("error",)) == ()


@pytest.mark.parametrize(
    ("version", "last"), [("0.1", -32011), ("0.2", -32006), ("0.3", -32007), ("1.0", -32009), ("1.1", -32010)]
)
def test_the_error_codes_of_each_version_are_known(version: str, last: int):
    def rules(code: int) -> set[str]:
        found = judge_error_object({"code": code, "message": "x"}, version, "JSONRPC", ("error",))
        return {finding.rule for finding in found}

    assert not any("ERROR-006" in rules(code) for code in range(-32001, last - 1, -1))
    assert "ERROR-006" in rules(last - 1)


@pytest.mark.parametrize(
    ("number", "is_valid"),
    [
        *((2**63 - 1, True), (str(2**63 - 1), True), (-(2**63), True), ("-9223372036854775808", True)),
        *((2**63, False), (str(2**63), False), (10**30, False), ("9" * 19, False), (True, False), ("1.0", False)),
    ],
)
def test_the_revision_of_a_draft_1_1_event_has_64_bits(number: Any, is_valid: bool):
    event = {"task": FULL_1_0["task"] | {"generation": number}}
    assert (judged(event, "1.1") == ()) is is_valid


@pytest.mark.parametrize(
    ("time", "is_valid"),
    [
        ("2026-01-31T12:00:00+05:45", True),
        ("2026-01-31T12:00:00-0800", True),
        ("2026-01-31T12:00:00+23", True),
        ("2016-12-31T23:59:60.123456789012Z", True),
        ("2026-01-31T12:00:00+24:00", False),
        ("2026-01-31T12:00:00+05:60", False),
        ("2026-01-31T12:00:0\u0660Z", False),
    ],
)
def test_a_timestamp_has_ascii_digits_and_an_offset_of_hours_and_minutes(time: str, is_valid: bool):
    event = {
        "kind": "status-update",
        "taskId": "t-1",
        "contextId": "c-1",
        "status": {"state": "working", "timestamp": time},
        "final": False,
    }
    found = judge_object(event, None, "0.3", "JSONRPC")
    assert {finding.rule for finding in found} == (set() if is_valid else {"DATA-007"})


@pytest.mark.parametrize("member", ["@type", "reason", "domain"])
@pytest.mark.parametrize("value", [["x"], {"x": 1}, 7])
def test_the_details_of_an_error_may_have_any_type(member: str, value: Any):
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "TASK_NOT_FOUND",
        "domain": "d",
        member: value,
    }
    error = {"code": -32001, "message": "No such task.", "data": [info]}
    assert judge_error_object(error, "1.0", "JSONRPC", ("error",))


def places(value: Any, kind: Any, steps: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], bool]]:
    """List every member of a value that its shape names, and whether it is required."""
    match kind:
        case ArrayOf():
            return [place for number, item in enumerate(value) for place in places(item, kind.item, (*steps, number))]
        case MapOf():
            return [place for name, item in value.items() for place in places(item, kind.value, (*steps, name))]
        case Union():
            return places(value, kind.shapes[value[kind.by]], steps)
        case Shape():
            own = [((*steps, name), name in kind.required) for name in value if name in kind.members]
            inner = [
                place
                for name in value
                if name in kind.members
                for place in places(value[name], kind.members[name], (*steps, name))
            ]
            return own + inner
        case _:
            return []


def changed(event: Any, steps: tuple[Any, ...], value: Any = ...) -> Any:
    """Return a copy of an event with finding member replaced or removed."""
    copied = copy.deepcopy(event)
    holder = copied
    for step in steps[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[steps[-1]]
    else:
        holder[steps[-1]] = value
    return copied


@pytest.mark.parametrize(("version", "event"), VALID)
def test_each_missing_required_member_is_found(version: str, event: Any):
    required = [steps for steps, is_required in places(event, shapes_of(version, "JSONRPC").event) if is_required]
    assert required
    for steps in required:
        where = "/result/" + "/".join(map(str, steps))
        found = judged(changed(event, steps), version)
        assert where in {finding.pointer for finding in found if finding.severity is Severity.ERROR}, where


@pytest.mark.parametrize(("version", "event"), VALID)
def test_each_member_of_a_wrong_type_is_found(version: str, event: Any):
    for steps, _ in places(event, shapes_of(version, "JSONRPC").event):
        if steps[-1] == "data":
            continue  # any value is right in 1.0
        for wrong in (7.5, ["x"] if not isinstance(at(event, "/" + "/".join(map(str, steps))), list) else "x"):
            where = "/result/" + "/".join(map(str, steps))
            found = judged(changed(event, steps, wrong), version)
            assert where in {finding.pointer for finding in found if finding.severity is Severity.ERROR}, (where, wrong)


def test_an_event_of_another_version_has_an_error():
    for version, binding, event in (
        ("1.0", "JSONRPC", FULL_0_3),
        ("0.3", "JSONRPC", FULL_1_0),
        ("0.3", "HTTP+JSON", FULL_0_3),
        ("0.1", "JSONRPC", FULL_0_3),
    ):
        assert Severity.ERROR in {finding.severity for finding in judged(event, version, binding)}


@pytest.mark.parametrize(("version", "member", "parts"), [("1.0", "message", "parts"), ("0.3", "update", "content")])
def test_the_message_of_a_status_is_checked_whatever_its_member_is_called(version: str, member: str, parts: str):
    message = {"messageId": "m-1", "role": "ROLE_USER", "taskId": "t-2", parts: [{"text": "on it"}]}
    status = {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-31T12:00:00Z", member: message}
    event = {"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": status}}
    found = {(finding.rule, finding.pointer) for finding in judged(event, version, "HTTP+JSON")}
    where = f"/result/statusUpdate/status/{member}"
    assert {("DATA-019", f"{where}/role"), ("DATA-022", f"{where}/taskId")} <= found


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, [[[]]], {"task": []}, {"kind": {}}, {"task": {"status": [1]}}])
@pytest.mark.parametrize("version", ["0.1", "0.2", "0.3", "1.0", "opvs"])
def test_arbitrary_values_can_be_checked(version: str, value: Any):
    for binding in ("JSONRPC", "HTTP+JSON", "GRPC"):
        for operation in (None, *Operation):
            assert isinstance(judge_object(value, operation, version, binding), tuple)


STREAMS = [
    (path, version, binding)
    for folder, version in (("01", "0.1"), ("02", "0.2"), ("03", "0.3"), ("10", "1.0"))
    for transport, binding in (("jsonrpc", "JSONRPC"), ("rest", "HTTP+JSON"))
    for path in sorted((RECORDINGS / folder / transport).glob("*stream*.txt"))
]


def test_there_are_recorded_streams():
    assert len(STREAMS) > 10


@pytest.mark.parametrize(("path", "version", "binding"), STREAMS, ids=lambda value: getattr(value, "stem", str(value)))
def test_the_events_of_real_agents_have_no_errors(path: Path, version: str, binding: str):
    for block in re.findall(r"(?:^data: ?.*\r?\n)+", path.read_text(), re.MULTILINE):
        value = json.loads("\n".join(line[5:] for line in block.replace("\r", "").split("\n")))
        event = value.get("result") if binding == "JSONRPC" else value
        if event is None or "error" in value:
            continue
        errors = [
            finding for finding in judge_object(event, None, version, binding) if finding.severity is Severity.ERROR
        ]
        assert errors == []


@pytest.mark.parametrize("operation", [Operation.SET_PUSH, Operation.GET_PUSH])
def test_opvs_may_nest_a_push_configuration(operation: Operation):
    nested = {"taskId": "t", "pushNotificationConfig": {"id": "p", "url": "https://a.example/"}}
    assert judge_object(nested, operation, "opvs", "JSONRPC") == ()
    assert judge_object(nested, operation, "1.0", "JSONRPC")


def test_an_empty_context_of_a_task_is_no_context():
    task = {"id": "t", "contextId": "", "status": {"state": "TASK_STATE_WORKING"}}
    assert judge_object(task, Operation.GET, "1.0", "JSONRPC") == ()
    update = {"statusUpdate": {"taskId": "t", "contextId": "", "status": {"state": "TASK_STATE_WORKING"}}}
    assert "DATA-016" in {finding.rule for finding in judge_object(update, Operation.STREAM, "1.0", "JSONRPC")}


@pytest.mark.parametrize("domain", ["agent.example", "a2a-protocol.org", None])
def test_the_reasons_of_other_domains_are_not_those_of_a2a(domain: str | None):
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "INTERNAL_ERROR", "domain": domain}
    info = {name: value for name, value in info.items() if value is not None}
    error = {"code": -32603, "message": "broken", "data": [info]}
    found = {finding.rule for finding in judge_error_object(error, "1.0", "JSONRPC", ("error",))}
    assert ("ERROR-005" in found) is (domain is None)
