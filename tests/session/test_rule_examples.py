"""The examples of the rules about exchanges: an agent sends each, and it breaks only its rule, or none."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.findings.examples import chunk, status, stream, task
from inspector.findings.rule_set import Rule
from inspector.findings.rules import EXCHANGE_RULES
from inspector.protocol.bindings.grpc import DETAILS, encode_error
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import for_request
from inspector.protocol.errors import BY_CODE
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import ListTasksRequest, PushConfig, SendRequest, TaskRequest
from inspector.protocol.operations import REQUESTS, STREAMING, Operation
from inspector.protocol.sse import Decoder
from inspector.session.exchange import CallContext, Exchange
from inspector.session.journal import Journal
from inspector.session.tasks import TaskFold
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Sent, Trailers

ID = "the-id"
ERRORS_OF_GRPC = {"UNKNOWN": 2, "NOT_FOUND": 5, "INTERNAL": 13}


def named(request: Any) -> tuple[str, str]:
    """Return the task and the context of a request."""
    match request:
        case SendRequest():
            return request.message.task_id or "", request.message.context_id or ""
        case TaskRequest():
            return request.id, ""
        case PushConfig():
            return request.task_id or "", ""
        case _:
            return "", ""


def play(example: dict[str, Any], version: str, journal: Journal) -> dict[str, list[str]]:
    """Let an agent answer with an example; return the rules that it broke, and the pointers."""
    operation = Operation(example.get("operation", Operation.STREAM))
    binding = BINDINGS[example.get("binding", "JSONRPC")]
    dialect = for_request(version, binding.name)
    assert dialect is not None
    request = REQUESTS[operation].model_validate(example.get("asked", {}))
    card = AgentCard.model_validate(example["card"]) if "card" in example else None
    interface = next(iter(card.supported_interfaces), None) if card else None
    about = (*named(request), request, card, interface)
    call = CallContext(operation, dialect, binding, ID, *about)
    tasks = TaskFold(journal.exchanges)
    if "before" in example:
        report_state(example["before"], dialect, journal, tasks)
    if "pageBefore" in example:
        send_page(example["pageBefore"], example["asked"]["pageToken"], dialect, journal, tasks)
    exchange = Exchange(journal, operation.value, call, tasks)
    exchange.take(Sent(1.0, "POST", "http://x/", tuple(example.get("headers", {}).items()), b""))
    streamed = "events" in example
    if binding.name == "GRPC":
        tell_status(exchange, example)
    else:
        kind = example.get("type", "text/event-stream" if streamed else "application/json")
        headers = (("Content-Type", kind), *example.get("responseHeaders", {}).items())
        exchange.take(Head(1.0, example.get("status", 200), "", "HTTP/1.1", headers, kind.startswith("text/e")))
        for data in payloads(example, wrapped=binding.name == "JSONRPC"):
            if streamed:
                exchange.take(Frames(2.0, Decoder(1_000_000).feed(b"data: " + data + b"\n\n")))
            else:
                exchange.take(Body(2.0, data))
        if "sse" in example:
            exchange.take(Frames(2.0, Decoder(1_000_000).feed(example["sse"].encode())))
    end = example.get("end", 0)
    how = Ending.BROKEN if end == "cut" else Ending.STOPPED if end else Ending.COMPLETE
    exchange.take(Ended(2.0 + (0 if end == "cut" else end), how, 1.0, len(example.get("events", ())), 1))
    records = journal.capture.slice(1, 100)
    found: dict[str, list[str]] = {}
    for record in records:
        for finding in record.findings:
            found.setdefault(finding.rule, []).append(finding.pointer)
    return found


def report_state(state: str, dialect: Dialect, journal: Journal, tasks: TaskFold) -> None:
    """Let the agent report the state of its task in an earlier exchange."""
    call = CallContext(Operation.GET, dialect, BINDINGS["JSONRPC"], ID, "t-1")
    answer({"id": "t-1", "contextId": "c-1", "status": {"state": state}}, call, journal, tasks)


def send_page(listed: list[Any], token: str, dialect: Dialect, journal: Journal, tasks: TaskFold) -> None:
    """Let the agent send a page of tasks in an earlier exchange."""
    call = CallContext(Operation.LIST, dialect, BINDINGS["JSONRPC"], ID, request=ListTasksRequest())
    page = {"tasks": listed, "nextPageToken": token, "pageSize": 50, "totalSize": len(listed) + 1}
    answer(page, call, journal, tasks)


def answer(result: Any, call: CallContext, journal: Journal, tasks: TaskFold) -> None:
    exchange = Exchange(journal, call.operation.value, call, tasks)
    exchange.take(Sent(0.0, "POST", "http://x/", (), b""))
    exchange.take(Head(0.0, 200, "", "HTTP/1.1", (("Content-Type", "application/json"),), False))
    exchange.take(Body(0.0, dump({"jsonrpc": "2.0", "id": ID, "result": result})))
    exchange.take(Ended(0.0, Ending.COMPLETE, 0.0, 1, 1))


def payloads(example: dict[str, Any], *, wrapped: bool) -> list[bytes]:
    if "text" in example:
        return [example["text"].encode()]
    if "payload" in example:
        return [dump(example["payload"])]
    results = example.get("events", [example.get("result")])
    envelope = {"jsonrpc": "2.0", "id": ID}
    return [
        dump(result if not wrapped else envelope | (result if is_error(result) else {"result": result}))
        for result in results
    ]


def is_error(result: Any) -> bool:
    return isinstance(result, dict) and list(result) == ["error"]


def tell_status(exchange: Exchange, example: dict[str, Any]) -> None:
    error, word = example["payload"], example["status"]
    said: tuple[tuple[str, str], ...] = ()
    if error.get("data"):
        _, details = encode_error(BY_CODE[error["code"]], error["message"], word)
        said = ((DETAILS, b64encode(details).decode()),)
    exchange.take(Head(1.0, 200, "", "HTTP/2", (), False))
    exchange.take(Trailers(2.0, ERRORS_OF_GRPC[word], word, error["message"], said))


@pytest.fixture
def journal(tmp_path: Path) -> Any:
    with Capture.create(tmp_path / "capture") as capture:
        yield Journal(capture, Redactor())


@pytest.mark.parametrize("rule", EXCHANGE_RULES, ids=lambda rule: rule.id)
def test_the_failing_example_breaks_the_rule_and_no_other(rule: Rule, journal: Journal):
    found = play(rule.failing, rule.versions[0], journal)
    assert set(found) == {rule.id}
    assert len(found[rule.id]) == 1


@pytest.mark.parametrize("rule", EXCHANGE_RULES, ids=lambda rule: rule.id)
def test_the_passing_example_breaks_none(rule: Rule, journal: Journal):
    assert play(rule.passing, rule.versions[0], journal) == {}


@pytest.mark.parametrize("rule", [rule for rule in EXCHANGE_RULES if set(rule.versions) <= {"1.0", "opvs"}])
def test_a_rule_for_1_0_does_not_apply_to_0_3(rule: Rule, journal: Journal):
    if rule.failing.get("binding", "JSONRPC") == "JSONRPC" and rule.failing.get("operation", "") not in ("ListTasks",):
        assert rule.id not in play(rule.failing, "0.3", journal)


def test_every_streaming_example_is_of_a_call_that_streams():
    for rule in EXCHANGE_RULES:
        for example in (rule.passing, rule.failing):
            assert ("events" not in example) or Operation(example.get("operation", Operation.STREAM)) in STREAMING


DONE = status("COMPLETED")


@pytest.mark.parametrize(
    "slip",
    [chunk(artifact={"name": 5}), chunk(artifact={"metadata": []}), chunk(lastChunk="no")],
    ids=["name", "metadata", "lastChunk"],
)
def test_a_chunk_with_one_member_of_the_wrong_type_is_not_missed(slip: Any, journal: Journal):
    found = play(stream(task(), slip, chunk(append=True), DONE), "1.0", journal)
    assert list(found) == ["DATA-002"]
    [found] = [record for record in journal.capture.slice(1, 100) if record.findings]
    assert (found.event, found.task) == ("artifact", "t-1")


@pytest.mark.parametrize(
    "artifacts",
    [{"artifactId": "a-1"}, "none", [{"artifactId": "a-1", "parts": [{"text": 5}]}]],
    ids=["an object", "a string", "content"],
)
def test_an_unreadable_artifact_causes_no_later_findings(artifacts: Any, journal: Journal):
    assert list(play(stream(task(artifacts=artifacts), chunk(append=True), DONE), "1.0", journal)) == ["DATA-002"]


def test_a_task_of_0_1_has_the_id_that_the_client_gave_it(journal: Journal):
    asked = {"message": {"messageId": "t-1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}}
    over = {"status": {"state": "completed"}, "final": True}
    assert play(stream({"id": "t-1"} | over, asked=asked), "0.1", journal) == {}
    assert play(stream({"id": "t-2"} | over, asked=asked), "0.1", journal) == {"STREAM-006": ["/result/id"]}
