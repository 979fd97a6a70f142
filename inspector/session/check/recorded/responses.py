"""Turn a recorded response into the expectations of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.protocol.assemble import AssembledArtifact, AssembledTask
from inspector.protocol.errors import BY_NAME, ProtocolError
from inspector.protocol.lifecycle import is_settled
from inspector.protocol.model import (
    Json,
    Message,
    PushConfig,
    PushConfigList,
    Task,
    TaskList,
    TaskStatusUpdateEvent,
    Wire,
)
from inspector.protocol.operations import Operation
from inspector.session.check.calls import as_response
from inspector.session.check.document.node import EXTENSION
from inspector.session.check.expectations import digest_of
from inspector.session.check.recorded.assertions import expectation, is_exact, literal, text_expectation, varies
from inspector.session.check.recorded.exchanges import RecordedExchange
from inspector.session.check.stream_order import order_mismatch


def expectations_of(exchange: RecordedExchange, ids: Mapping[str, str]) -> dict[str, Json]:
    """Return the members of a step that compare its response with the recorded one; `ids` has the known ids."""
    answer = exchange.answer
    if isinstance(answer, ProtocolError):
        named = answer.name in BY_NAME
        return {"expect_error": {"error_type": answer.name} if named else {"message": {"type": "string"}}}
    if answer is None:
        return {"expect": {"status": exchange.status}}
    if exchange.streamed:
        return _stream_expectations(exchange, ids)
    return {"expect": {"status": exchange.status, "body": _body(exchange, answer, ids)}}


def _body(exchange: RecordedExchange, answer: Wire, ids: Mapping[str, str]) -> Json:
    if isinstance(answer, TaskList):
        return {"tasks": {"type": "array"}}  # a new agent has no tasks
    if isinstance(answer, Task) and not is_settled(answer.status.state):
        status = answer.status.model_copy(update={"message": None})
        answer = answer.model_copy(update={"artifacts": None, "status": status})
    members = answer.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
    body = expectation(members, ids, exact_state=exchange.operation is Operation.SEND)
    if isinstance(answer, PushConfig | PushConfigList):
        _accept_any_url(body)
    return as_response(exchange.operation, answer, body)


def _accept_any_url(body: Json) -> None:
    """Accept any URL of a webhook in a push configuration or a list of them: that of the recording is replaced."""
    configs = body.get("configs", [body]) if isinstance(body, dict) else ()
    for config in configs if isinstance(configs, list) else ():
        if isinstance(config, dict) and "url" in config:
            config["url"] = {"type": "string"}


def _stream_expectations(exchange: RecordedExchange, ids: Mapping[str, str]) -> dict[str, Json]:
    """Return the expectations of a stream: its states, its last event, and its assembled artifacts."""
    stream: dict[str, Json] = {}
    states = [event.status.state for event in exchange.events if isinstance(event, TaskStatusUpdateEvent)]
    if states and order_mismatch(exchange.states) is None:
        stream["ordering"] = "monotonic_state"
    last = exchange.states[-1] if exchange.states else ""
    expected = [state for state in dict.fromkeys(states) if not (is_settled(last) and state == last)]
    final = exchange.events[-1] if exchange.events else None
    assertions: list[dict[str, Json]] = [{"status_update": {"status": {"state": state}}} for state in expected]
    if any(isinstance(event, Task) for event in exchange.events[:-1]):
        assertions.insert(0, {"task": {"id": {"type": "string"}}})
    if assertions:
        stream["events"] = [{"match": "any_position", **assertion} for assertion in assertions]
    if isinstance(final, Message):
        stream["final_event"] = {"message": expectation(final.to_json(), ids)}
    elif is_settled(last) and isinstance(final, Task | TaskStatusUpdateEvent):
        stream["final_event"] = {"status": expectation(final.status.to_json(), ids)}
    artifacts = list(_artifacts(exchange)) if is_settled(last) else []
    return {
        "expect_stream": stream or {"min_count": 1},
        **({EXTENSION: {"artifacts": artifacts}} if artifacts else {}),
    }


def _artifacts(exchange: RecordedExchange) -> Iterator[Json]:
    """Yield an assertion about each artifact of a stream, as assembled from its chunks.

    If there are several artifacts, one without a name or an id that is always the same cannot be selected.
    """
    task = AssembledTask("")
    for event in exchange.events:
        task.apply(event, 0.0)
    known: set[str] = set()
    for artifact in task.artifacts.values():
        name = next((text for text in (artifact.name, artifact.artifact_id) if text and not varies(text)), "")
        if len(task.artifacts) == 1 or (name and name not in known):
            yield {**({"name": literal(name)} if name else {}), **_content(artifact)}
        known.add(name)


def _content(artifact: AssembledArtifact) -> dict[str, Json]:
    """Return the assertions about the content of an artifact."""
    found: dict[str, Json] = {}
    text, others = str(artifact.text), artifact.other_parts
    if text:
        found["text"] = text_expectation(text)
    data = next((part.data for part in others if part.content == "data"), None)
    if data is not None:
        found["data"] = expectation(data, {})
    if media_type := next((part.media_type for part in artifact.parts if part.media_type), None):
        found["media_type"] = literal(media_type)
    if is_exact(text) or any(part.raw for part in others):
        found["sha256"] = digest_of(artifact)
    return found
