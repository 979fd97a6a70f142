"""Make a check file from recorded exchanges: a test for each conversation, which passes against the same agent.

The ids that the agent generates are captured and used again, values that vary become matchers, chunk boundaries are
left free. If the same requests were recorded several times, the responses are compared: what differs between them
becomes a matcher, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.capture.query import Query
from inspector.capture.store import Capture
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.errors import BY_NAME, ProtocolError, usage_error
from inspector.protocol.lifecycle import is_interrupted, is_terminal
from inspector.protocol.model import (
    Json,
    Message,
    PushConfig,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskStatusUpdateEvent,
    Wire,
)
from inspector.protocol.operations import Operation
from inspector.session.check.document import EXTENSION, OPERATIONS
from inspector.session.check.expectations import digest_of
from inspector.session.check.preconditions import WEBHOOK_VARIABLE
from inspector.session.check.recorded.exchanges import (
    RecordedExchange,
    RecordedPush,
    numbers_of,
    read_exchanges,
    read_pushes,
)
from inspector.session.check.recorded.expected import expectation, is_exact, merge, references_in, text_expectation
from inspector.session.check.stream_order import order_mismatch

_NAMES = {operation: name for name, operation in reversed(list(OPERATIONS.items()))}
"""The name of each operation in ACTS."""
_LONGEST_NAME = 60
_POLL_MS = 500
_MOST_POLLS = 120
_STEP_NAMES = {
    Operation.SEND: "send",
    Operation.STREAM: "stream",
    Operation.GET: "get",
    Operation.LIST: "list",
    Operation.CANCEL: "cancel",
    Operation.SUBSCRIBE: "subscribe",
    Operation.SET_PUSH: "set-push",
    Operation.GET_PUSH: "get-push",
    Operation.LIST_PUSH: "list-push",
    Operation.DELETE_PUSH: "delete-push",
    Operation.EXTENDED_CARD: "extended-card",
}


@dataclass(frozen=True, slots=True)
class MadeCheck:
    """A check document as JSON, and the exchanges that are left out, with the reasons."""

    document: dict[str, Json]
    left_out: tuple[str, ...]


def make_check(
    capture: Capture,
    query: Query | None = None,
    *,
    numbers: Iterable[int] | None = None,
    others: Sequence[Capture] = (),
) -> MadeCheck:
    """Make a check from the exchanges of a capture that match a filter, or that have these numbers.

    `others` are recordings of the same requests: values that differ between the recordings become matchers. Raises
    `FaultError` if there is no exchange from which a check can be made.
    """
    tests: dict[str, dict[str, Json]] = {}
    left_out: list[str] = []
    for source in (capture, *others):
        chosen = numbers_of(source, query) if numbers is None or source is not capture else numbers
        exchanges, missing = read_exchanges(source, chosen)
        pushes = read_pushes(source)
        left_out += missing
        for group in _conversations(exchanges):
            made = _Conversation(group, pushes).make()
            signature = made.pop("signature")
            if signature in tests:
                tests[signature] = merge_tests(tests[signature], made)
            elif source is capture:
                tests[signature] = made
    if not tests:
        raise usage_error("There is no exchange from which a check can be made.", "Choose another filter.")
    for number, test in enumerate(tests.values(), 1):
        test["id"] = f"RECORDED-{number:03}"
    document = {
        "acts_version": "1.0",
        "spec_version": "1.0",
        "suites": [{"id": "recorded", "name": "Recorded exchanges", "tests": list(tests.values())}],
    }
    return MadeCheck(document, tuple(left_out))


def merge_tests(first: dict[str, Json], second: dict[str, Json]) -> dict[str, Json]:
    """Return a test that both recordings of the same requests pass."""
    steps = [merge_steps(*pair) for pair in zip(first["steps"], second["steps"], strict=True)]
    merged = {**first, "steps": steps}
    own, other = first[EXTENSION], second[EXTENSION]
    merged[EXTENSION] = {**own, "findings": _merged_findings(own["findings"], other["findings"])}
    if own.get("pushes") != other.get("pushes"):
        merged[EXTENSION].pop("pushes", None)
    return merged


def merge_steps(first: dict[str, Json], second: dict[str, Json]) -> dict[str, Json]:
    """Return a step that meets both recordings; the request is the same."""
    kept = {name: first[name] for name in first if name in ("id", "operation", "params", "capture", "repeat")}
    for name in ("expect", "expect_error", "expect_stream", EXTENSION):
        if name not in first or name not in second:
            continue
        if name == "expect_stream":
            events = [event for event in first[name].get("events", ()) if event in second[name].get("events", ())]
            merged = merge(first[name], second[name])
            kept[name] = {**merged, **({"events": events} if events else {})}
            if not events:
                kept[name].pop("events", None)
        else:
            kept[name] = merge(first[name], second[name])
    return kept


def _merged_findings(first: dict[str, Json], second: dict[str, Json]) -> dict[str, Json]:
    return {"max": "hint", "allow": sorted({*first.get("allow", ()), *second.get("allow", ())})}


def _conversations(exchanges: Iterable[RecordedExchange]) -> list[list[RecordedExchange]]:
    """Group exchanges that share a task or a context, in the order of their first exchanges."""
    groups: list[tuple[set[str], list[RecordedExchange]]] = []
    for exchange in exchanges:
        related = [group for group in groups if group[0] & exchange.ids]
        if not related:
            groups.append((set(exchange.ids), [exchange]))
            continue
        first = related[0]
        first[0].update(exchange.ids, *(ids for ids, _ in related[1:]))
        for group in related[1:]:
            first[1].extend(group[1])
            groups.remove(group)
        first[1].append(exchange)
    return [sorted(members, key=lambda each: each.number) for _, members in groups]


@dataclass(slots=True)
class _Conversation:
    """Makes the test of one conversation; `ids` has the variable of each known id."""

    exchanges: list[RecordedExchange]
    pushes: list[RecordedPush]
    ids: dict[str, str] = field(default_factory=dict)
    steps: list[dict[str, Json]] = field(default_factory=list)
    needs_webhook: bool = False
    is_overlapped: bool = False

    def make(self) -> dict[str, Json]:
        """Return the test, with its `signature`: equal requests have equal signatures."""
        for index, exchange in enumerate(self.exchanges):
            following = self.exchanges[index + 1 :]
            if following and _is_same_poll(exchange, following[0]):
                continue
            polled = index > 0 and _is_same_poll(self.exchanges[index - 1], exchange)
            self._add_step(exchange, overlapped=_is_overlapped(exchange, following), polled=polled)
        extension: dict[str, Json] = {"findings": self._findings()}
        if self.needs_webhook and (expected := self._expected_pushes()):
            extension["pushes"] = expected
        test: dict[str, Json] = {"id": "", "name": self._name(), "level": "must"}
        if self.needs_webhook:
            test["runner_requirements"] = ["webhook_endpoint"]
        requests = [[step["operation"], step["params"]] for step in self.steps]
        return {**test, "steps": self.steps, EXTENSION: extension, "signature": repr(requests)}

    def _name(self) -> str:
        for exchange in self.exchanges:
            if isinstance(exchange.request, SendRequest):
                texts = (part.text for part in exchange.request.message.parts if part.text)
                text = " ".join(next(texts, "").split())
                if text:
                    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
        return ", ".join(dict.fromkeys(exchange.operation.value for exchange in self.exchanges))

    def _findings(self) -> dict[str, Json]:
        known = {push.task for push in self.pushes} & set(self.ids)
        rules = set().union(*(exchange.rules for exchange in self.exchanges))
        rules |= set().union(*(push.rules for push in self.pushes if push.task in known)) if known else set()
        return {"max": "hint", **({"allow": sorted(rules)} if rules else {})}

    def _expected_pushes(self) -> dict[str, Json]:
        own = [push for push in self.pushes if push.task in self.ids and push.state]
        states = [push.state for number, push in enumerate(own) if number == 0 or own[number - 1].state != push.state]
        if not states:
            return {}
        # Where exchanges overlap, their order in time decides which states are pushed.
        return {"count": {"gte": 1}} if self.is_overlapped else {"count": {"gte": len(states)}, "states": states}

    def _add_step(self, exchange: RecordedExchange, *, overlapped: bool, polled: bool) -> None:
        """Add the step of an exchange; one that another exchange overlapped is sent without waiting for its end."""
        operation = exchange.operation
        self.is_overlapped |= overlapped
        if overlapped and operation is Operation.SUBSCRIBE:
            return
        params = self._params(exchange)
        if overlapped and operation is Operation.STREAM:
            operation = Operation.SEND
            params = {**params, "configuration": {**(params.get("configuration") or {}), "returnImmediately": True}}
        step: dict[str, Json] = {"id": self._step_id(operation), "operation": _NAMES[operation], "params": params}
        known = dict(self.ids)
        captures = self._captures(exchange, step["id"], is_stream=operation.value == exchange.operation.value)
        if overlapped and operation is not exchange.operation:
            step["expect"] = {"body": {"task": {"id": {"type": "string"}}}}
        else:
            step |= self._expectations(exchange, known)
        if captures:
            step["capture"] = captures
        if polled and isinstance(exchange.answer, Task) and is_terminal(exchange.answer.status.state):
            until = f"status.state == {exchange.answer.status.state}"
            step["repeat"] = {"until": until, "max_attempts": _MOST_POLLS, "delay_ms": _POLL_MS}
        self.steps.append(step)

    def _step_id(self, operation: Operation) -> str:
        name = _STEP_NAMES[operation]
        count = sum(step["id"].partition("_")[0] == name for step in self.steps)
        return f"{name}_{count + 1}" if count else name

    def _params(self, exchange: RecordedExchange) -> dict[str, Json]:
        """Return the parameters with references to known ids, and with our webhook for that of the recording."""
        params: dict[str, Any] = references_in(exchange.request.to_json(), self.ids)
        message = params.get("message")
        if isinstance(message, dict):
            message.pop("messageId", None)
        configuration = params.get("configuration")
        if isinstance(configuration, dict) and "taskPushNotificationConfig" in configuration:
            configuration["taskPushNotificationConfig"] = {"url": f"{{{{{WEBHOOK_VARIABLE}}}}}"}
            self.needs_webhook = True
        if isinstance(exchange.request, PushConfig):
            params = {"taskId": params.get("taskId"), "pushNotificationConfig": {"url": f"{{{{{WEBHOOK_VARIABLE}}}}}"}}
            self.needs_webhook = True
        return params

    def _captures(self, exchange: RecordedExchange, step: str, *, is_stream: bool) -> dict[str, str]:
        """Return what the step captures: the ids of its response that were not known before."""
        found: dict[str, str] = {}
        answer = exchange.answer
        if isinstance(answer, PushConfig) and answer.id and answer.id not in self.ids:
            self.ids[answer.id] = f"{step}.configId"
            found["configId"] = "id"
        event = next((each for each in exchange.events if not isinstance(each, Message)), None)
        task_id = event.task_id if event is not None else ""
        context_id = next((each.context_id for each in exchange.events if each.context_id), "") or ""
        if exchange.operation in (Operation.SEND, Operation.STREAM, Operation.SUBSCRIBE):
            unary = exchange.operation is Operation.SEND or not is_stream
            updates = any(isinstance(each, TaskStatusUpdateEvent | TaskArtifactUpdateEvent) for each in exchange.events)
            kind = "task" if task_id else "message"
            task_path = "task.id" if unary else "taskId" if updates else "id"
            for value, name, path in (
                (task_id, "taskId", task_path),
                (context_id, "contextId", f"{kind}.contextId" if unary else "contextId"),
            ):
                if value and value not in self.ids:
                    self.ids[value] = f"{step}.{name}"
                    found[name] = path
        return found

    def _expectations(self, exchange: RecordedExchange, known: dict[str, str]) -> dict[str, Json]:
        answer = exchange.answer
        if isinstance(answer, ProtocolError):
            named = answer.name in BY_NAME
            return {"expect_error": {"error_type": answer.name} if named else {"message": {"type": "string"}}}
        if answer is None:
            return {"expect": {"status": exchange.status}}
        if exchange.streamed:
            return self._stream_expectations(exchange, known)
        return {"expect": {"status": exchange.status, "body": self._body(exchange, answer, known)}}

    def _body(self, exchange: RecordedExchange, answer: Wire, known: dict[str, str]) -> Json:
        if isinstance(answer, TaskList):
            return {"tasks": {"type": "array"}}  # a new agent has no tasks
        running = isinstance(answer, Task) and not (
            is_terminal(answer.status.state) or is_interrupted(answer.status.state)
        )
        if isinstance(answer, Task) and running:
            answer = answer.model_copy(
                update={"artifacts": None, "status": answer.status.model_copy(update={"message": None})}
            )
        members = answer.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
        body = expectation(members, known, exact_state=exchange.operation is Operation.SEND)
        if isinstance(answer, PushConfig) and "url" in body:
            body["url"] = {"type": "string"}
        if exchange.operation is Operation.SEND:
            return {"task" if isinstance(answer, Task) else "message": body}
        return body

    def _stream_expectations(self, exchange: RecordedExchange, known: dict[str, str]) -> dict[str, Json]:
        """Return the expectations of a stream: its states, its last event, and its assembled artifacts."""
        stream: dict[str, Json] = {"min_count": 1}
        states = [event.status.state for event in exchange.events if isinstance(event, TaskStatusUpdateEvent)]
        if states and order_mismatch(exchange.states) is None:
            stream["ordering"] = "monotonic_state"
        last = exchange.states[-1] if exchange.states else ""
        settled = is_terminal(last) or is_interrupted(last)
        expected = [state for state in dict.fromkeys(states) if not (settled and state == last)]
        if expected:
            stream["events"] = [
                {"match": "any_position", "status_update": {"status": {"state": state}}} for state in expected
            ]
        final = exchange.events[-1] if exchange.events else None
        if isinstance(final, Message):
            stream["final_event"] = {"message": expectation(final.to_json(), known)}
        elif settled and isinstance(final, Task | TaskStatusUpdateEvent):
            stream["final_event"] = {"status": expectation(final.status.to_json(), known)}
        artifacts = _assembled(exchange) if settled else []
        return {"expect_stream": stream, **({EXTENSION: {"artifacts": artifacts}} if artifacts else {})}


def _assembled(exchange: RecordedExchange) -> list[Json]:
    """Return an assertion about each artifact of a stream, as assembled from its chunks."""
    task = AssembledTask("")
    for event in exchange.events:
        task.apply(event, 0.0)
    found: list[Json] = []
    named = len(task.artifacts) > 1
    for artifact in task.artifacts.values():
        expected: dict[str, Json] = {"name": artifact.name} if named and artifact.name else {}
        if text := str(artifact.text):
            expected["text"] = text_expectation(text)
        if is_exact(text) or any(part.raw for part in artifact.other_parts):
            expected["sha256"] = digest_of(artifact)
        data = next((part.data for part in artifact.other_parts if part.content == "data"), None)
        if data is not None:
            expected["data"] = expectation(data, {})
        if set(expected) - {"name"}:
            found.append(expected)
    return found


def _is_same_poll(first: RecordedExchange, second: RecordedExchange) -> bool:
    """Return whether two consecutive exchanges are requests for the same task."""
    both = first.operation is second.operation is Operation.GET
    return both and first.request == second.request and not isinstance(first.answer, ProtocolError)


def _is_overlapped(exchange: RecordedExchange, following: Sequence[RecordedExchange]) -> bool:
    """Return whether another exchange began before a stream ended."""
    return exchange.streamed and any(other.at < (exchange.ended or float("inf")) for other in following)
