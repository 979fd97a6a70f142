"""Make a test from the exchanges of one conversation: its requests, with references to the ids of earlier responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import Any

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import ProtocolError
from inspector.protocol.lifecycle import is_terminal
from inspector.protocol.model import (
    Event,
    Json,
    Message,
    PushConfig,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from inspector.protocol.operations import Operation
from inspector.session.check.document.node import EXTENSION
from inspector.session.check.document.steps import OPERATIONS
from inspector.session.check.preconditions import WEBHOOK_VARIABLE
from inspector.session.check.recorded.assertions import literal
from inspector.session.check.recorded.exchanges import RecordedExchange, RecordedPush
from inspector.session.check.recorded.responses import expectations_of
from inspector.session.check.variables import references

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
_OUR_WEBHOOK: Mapping[str, Json] = {"url": f"{{{{{WEBHOOK_VARIABLE}}}}}"}
"""The push configuration of a request: the receiver that runs the test, in place of that of the recording."""


@dataclass(slots=True)
class Conversation:
    """Makes the test of exchanges that share a task or a context; `ids` has the variable of each known id."""

    exchanges: Sequence[RecordedExchange]
    pushes: Sequence[RecordedPush]
    ids: dict[str, str] = field(default_factory=dict)
    steps: list[dict[str, Json]] = field(default_factory=list)
    needs_webhook: bool = False
    is_shortened: bool = False
    """Whether a stream became a message that returns immediately."""

    def make(self) -> dict[str, Json]:
        """Return the test without an id."""
        for index, exchange in enumerate(self.exchanges):
            following = self.exchanges[index + 1 :]
            if following and _is_same_poll(exchange, following[0]):
                continue
            polled = index > 0 and _is_same_poll(self.exchanges[index - 1], exchange)
            self._add_step(exchange, shortened=_is_shortened(exchange, following), polled=polled)
        self._remove_unused_captures()
        extension: dict[str, Json] = {"findings": self._findings()}
        if self.needs_webhook:
            extension["pushes"] = self._expected_pushes()
        test: dict[str, Json] = {"id": "", "name": self._name(), "level": "must"}
        if self.needs_webhook:
            test["runner_requirements"] = ["webhook_endpoint"]
        return {**test, "steps": list(self.steps), EXTENSION: extension}

    def _name(self) -> str:
        for exchange in self.exchanges:
            if isinstance(exchange.request, SendRequest):
                texts = (part.text for part in exchange.request.message.parts if part.text)
                text = " ".join(next(texts, "").split())
                if text:
                    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
        return ", ".join(dict.fromkeys(exchange.operation.value for exchange in self.exchanges))

    def _findings(self) -> Json:
        rules = set[str]().union(*(exchange.rules for exchange in self.exchanges))
        rules.update(*(push.rules for push in self.pushes if push.task in self.ids))
        return {"max": "hint", **({"allow": sorted(rules)} if rules else {})}

    def _expected_pushes(self) -> Json:
        own = (push.state for push in self.pushes if push.task in self.ids and push.state)
        states = [state for state, _ in groupby(own)]
        if not states:  # by default, a test with a webhook expects a push
            return {"count": {"gte": 0}}
        # Where exchanges overlap, their order in time decides which states are pushed.
        return {"count": {"gte": 1}} if self.is_shortened else {"count": {"gte": len(states)}, "states": states}

    def _add_step(self, exchange: RecordedExchange, *, shortened: bool, polled: bool) -> None:
        """Add the step of an exchange; a stream that is `shortened` becomes a message that returns immediately."""
        operation = exchange.operation
        self.is_shortened |= shortened
        if shortened and operation is Operation.SUBSCRIBE:
            return
        params = self._params(exchange)
        if shortened:
            operation = Operation.SEND
            params["configuration"] = {**(params.get("configuration") or {}), "returnImmediately": True}
        step: dict[str, Json] = {"id": self._step_id(operation), "operation": _NAMES[operation], "params": params}
        known = dict(self.ids)
        captures = self._captures(exchange, str(step["id"]), is_stream=exchange.streamed and not shortened)
        if shortened:
            step["expect"] = {"body": {"task": {"id": {"type": "string"}}}}
        else:
            step |= expectations_of(exchange, known)
        if captures:
            step["capture"] = captures
        if polled and isinstance(exchange.answer, Task) and is_terminal(exchange.answer.status.state):
            until = f"status.state == {exchange.answer.status.state}"
            step["repeat"] = {"until": until, "max_attempts": _MOST_POLLS, "delay_ms": _POLL_MS}
        self.steps.append(step)

    def _step_id(self, operation: Operation) -> str:
        name = _STEP_NAMES[operation]
        count = sum(str(step["id"]).partition("_")[0] == name for step in self.steps)
        return f"{name}_{count + 1}" if count else name

    def _params(self, exchange: RecordedExchange) -> dict[str, Any]:
        """Return the parameters with references to known ids, and with our webhook for that of the recording."""
        request = exchange.request
        params: dict[str, Any] = _with_references(request.to_json(), self.ids)
        if isinstance(request, PushConfig):
            self.needs_webhook = True
            return {"taskId": params.get("taskId"), "pushNotificationConfig": dict(_OUR_WEBHOOK)}
        if isinstance(request, SendRequest):
            params.get("message", {}).pop("messageId", None)  # a recorded request may have no message
            if exchange.names_tasks and request.message.task_id not in self.ids:
                del params["message"]["taskId"]
        if isinstance(configuration := params.get("configuration"), dict):
            if "taskPushNotificationConfig" in configuration:
                configuration["taskPushNotificationConfig"] = dict(_OUR_WEBHOOK)
                self.needs_webhook = True
            if configuration.get("returnImmediately") is False:  # the default in ACTS
                del configuration["returnImmediately"]
            if not configuration:
                del params["configuration"]
        return params

    def _captures(self, exchange: RecordedExchange, step: str, *, is_stream: bool) -> dict[str, Json]:
        """Return what the step captures: the ids of its response that were not known before."""
        answer = exchange.answer
        found: list[tuple[str | None, str, str]] = []
        if isinstance(answer, PushConfig):
            found.append((answer.id, "configId", "id"))
        elif exchange.operation in (Operation.SEND, Operation.STREAM, Operation.SUBSCRIBE):
            found += _ids_of_task(exchange.events, is_stream=is_stream)
        captures: dict[str, Json] = {}
        for value, name, path in found:
            if value and value not in self.ids:
                self.ids[value] = f"{step}.{name}"
                captures[name] = path
        return captures

    def _remove_unused_captures(self) -> None:
        """Remove the captures that no later step refers to."""
        used = references(self.steps)
        for step in self.steps:
            captures = step.pop("capture", {})
            if isinstance(captures, dict):
                captures = {name: path for name, path in captures.items() if f"{step['id']}.{name}" in used}
            if captures:
                step["capture"] = captures


def _ids_of_task(events: Sequence[Event], *, is_stream: bool) -> list[tuple[str | None, str, str]]:
    """Return the ids in a response to a message, each with the name of its variable and its path."""
    event = next((each for each in events if not isinstance(each, Message)), None)
    task_id = event.task_id if event is not None else ""
    context_id = next((each.context_id for each in events if each.context_id), "")
    updates = any(isinstance(each, TaskStatusUpdateEvent | TaskArtifactUpdateEvent) for each in events)
    if is_stream:
        return [(task_id, "taskId", "taskId" if updates else "id"), (context_id, "contextId", "contextId")]
    kind = "task" if task_id else "message"
    return [(task_id, "taskId", "task.id"), (context_id, "contextId", f"{kind}.contextId")]


def _with_references(value: Any, ids: Mapping[str, str]) -> Any:
    """Return a value of a request with references to captured variables in place of the known ids."""
    if isinstance(value, str):
        value = literal(value)
        for known, reference in ids.items():
            value = value.replace(known, f"{{{{{reference}}}}}")
        return value
    if isinstance(value, dict):
        return {literal(name): _with_references(item, ids) for name, item in value.items()}
    return [_with_references(item, ids) for item in value] if isinstance(value, list) else value


def _is_same_poll(first: RecordedExchange, second: RecordedExchange) -> bool:
    """Return whether two consecutive exchanges are requests for the same task."""
    both = first.operation is second.operation is Operation.GET
    return both and first.request == second.request and not isinstance(first.answer, ProtocolError)


def _is_shortened(exchange: RecordedExchange, following: Sequence[RecordedExchange]) -> bool:
    """Return whether a stream was left, or whether another exchange began before it ended."""
    overlapped = any(other.at < (exchange.ended or float("inf")) for other in following)
    return exchange.is_left or (exchange.streamed and overlapped)
