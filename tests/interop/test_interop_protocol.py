"""The data of the official SDKs, decoded by the protocol package: everything is readable and in order."""

from __future__ import annotations

import http.server
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from calling import Caller, readable, send_request, texts
from sdk_agent import Agent

from inspector.protocol import jsonvalue
from inspector.protocol.assemble import AssembledTask, Order
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import registry
from inspector.protocol.errors import BY_NAME, ProtocolError
from inspector.protocol.lifecycle import State
from inspector.protocol.model import (
    Event,
    Message,
    PushConfig,
    PushConfigRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskRequest,
    TaskStatusUpdateEvent,
)
from inspector.protocol.operations import Operation

pytestmark = pytest.mark.interop

SECONDS = 20


@dataclass
class Webhook:
    url: str
    deliveries: queue.Queue[tuple[str | None, bytes]] = field(default_factory=queue.Queue)


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.deliveries.put((self.headers["X-A2A-Notification-Token"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hook = Webhook(f"http://127.0.0.1:{server.server_port}/hook")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield hook
        server.shutdown()
        thread.join()


def folded(task_id: str, events: list[Event]) -> AssembledTask:
    task = AssembledTask(task_id)
    order = Order()
    for at, event in enumerate(events):
        assert order.add(event) == ()
        task.apply(event, float(at))
    return task


def test_the_card_declares_the_version_that_the_agent_speaks(agent: Agent, caller: Caller):
    answer = caller.http.get(f"{agent.url}{agent.sdk.card}")
    card, dialect = registry.read_card(jsonvalue.parse(answer.content))
    assert isinstance(card, AgentCard)
    assert dialect.version == agent.version
    assert [interface.protocol_binding for interface in card.supported_interfaces] == list(agent.sdk.transports)
    assert card.supported_interfaces[0].url == caller.url
    versions = {registry.version_of(interface.protocol_version) for interface in card.supported_interfaces}
    assert versions == {agent.version}
    assert card.capabilities.streaming
    assert card.capabilities.push_notifications


def test_the_agent_spells_its_answers_as_its_version_does(agent: Agent, caller: Caller):
    result = caller.raw(Operation.SEND, send_request("echo hello"))["result"]
    if agent.version == "1.0":
        assert list(result) == ["message"]
        assert result["message"]["role"] == "ROLE_AGENT"
        assert result["message"]["parts"] == [{"text": "hello"}]
    else:
        assert result["kind"] == "message"
        assert result["role"] == "agent"
        assert result["parts"] == [{"kind": "text", "text": "hello"}]


def test_a_message_is_answered_with_a_message(caller: Caller):
    reply = caller.call(Operation.SEND, send_request("echo hello there"))
    assert isinstance(reply, Message)
    assert reply.role == "ROLE_AGENT"
    assert texts(reply.parts) == "hello there"


def test_a_send_waits_for_the_whole_task(caller: Caller):
    task = caller.call(Operation.SEND, send_request("stream 3"))
    assert isinstance(task, Task)
    assert task.status.state == State.COMPLETED
    [artifact] = task.artifacts
    assert texts(artifact.parts) == "chunk 1 chunk 2 chunk 3 "


def test_a_stream_has_every_event_in_order(caller: Caller):
    events = caller.stream(send_request("stream 20"))
    assert [type(event) for event in events] == [
        Task,
        TaskStatusUpdateEvent,
        *[TaskArtifactUpdateEvent] * 20,
        TaskStatusUpdateEvent,
    ]
    task = folded(events[0].id, events)
    assert [move.state for move in task.moves] == [State.SUBMITTED, State.WORKING, State.COMPLETED]
    assert str(task.artifacts["chunks"].text) == "".join(f"chunk {number} " for number in range(1, 21))
    assert task.artifacts["chunks"].closed


def test_a_streamed_message_is_the_whole_stream(caller: Caller):
    [reply] = caller.stream(send_request("echo hello"))
    assert isinstance(reply, Message)
    assert texts(reply.parts) == "hello"


def test_a_reply_continues_the_task_in_its_context(caller: Caller):
    asked = caller.call(Operation.SEND, send_request("input"))
    assert asked.status.state == State.INPUT_REQUIRED
    assert texts(asked.status.message.parts) == "which color?"
    done = caller.call(Operation.SEND, send_request("the blue color", task=asked))
    assert (done.id, done.context_id, done.status.state) == (asked.id, asked.context_id, State.COMPLETED)
    assert texts(done.status.message.parts) == "your reply: the blue color"


def test_a_reply_over_a_stream_continues_the_task(caller: Caller):
    first = caller.stream(send_request("input"))
    assert first[-1].status.state == State.INPUT_REQUIRED
    second = caller.stream(send_request("the blue color", task=first[0]))
    task = folded(first[0].id, [*first, *second])
    assert [move.state for move in task.moves][-2:] == [State.INPUT_REQUIRED, State.COMPLETED]


def test_a_running_task_is_canceled_once(agent: Agent, caller: Caller):
    with caller.started(send_request("long 600")) as started:
        asked = TaskRequest(id=started.id)
        assert caller.call(Operation.GET, asked).status.state in (State.SUBMITTED, State.WORKING)
        canceled = caller.call(Operation.CANCEL, asked)
    assert (canceled.id, canceled.status.state) == (started.id, State.CANCELED)
    assert caller.call(Operation.GET, asked).status.state == State.CANCELED
    again = caller.call(Operation.CANCEL, asked)
    if agent.sdk.waits:
        assert again.status.state == State.CANCELED
    else:
        assert isinstance(again, ProtocolError)
        assert again.code == BY_NAME["TaskNotCancelableError"].code


def test_a_failed_task_has_its_reason(caller: Caller):
    task = caller.call(Operation.SEND, send_request("fail"))
    assert task.status.state == State.FAILED
    assert texts(task.status.message.parts) == "failed as asked"


def test_an_unknown_task_has_the_a2a_error(caller: Caller):
    refusal = caller.call(Operation.GET, TaskRequest(id="no-such-task"))
    assert isinstance(refusal, ProtocolError)
    assert refusal.name == "TaskNotFoundError"


def test_pushes_arrive_until_the_task_has_ended(agent: Agent, caller: Caller, webhook: Webhook):
    config = PushConfig(id="ours", url=webhook.url, token="the-token")
    task = caller.call(
        Operation.SEND, send_request("push", return_immediately=True, task_push_notification_config=config)
    )
    events: list[Event] = []
    while not completed(events):
        token, body = webhook.deliveries.get(timeout=SECONDS)
        assert token == "the-token"
        events.append(readable(caller.dialect.decode_push(jsonvalue.parse(body))))
    assert len(events) == 1 if agent.sdk.waits else len(events) > 5
    kept = AssembledTask(task.id)
    for event in events:
        kept.apply(event, 0.0)  # order is not checked: the 0.3 SDK sends the first two at once
    assert kept.state == State.COMPLETED
    assert str(kept.artifacts["chunks"].text) == "".join(f"chunk {number} " for number in range(1, 6))


def completed(events: list[Event]) -> bool:
    return any(
        isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state == State.COMPLETED for event in events
    )


def test_a_push_configuration_is_stored_and_deleted(caller: Caller, webhook: Webhook):
    task = caller.call(Operation.SEND, send_request("input"))
    made = caller.call(Operation.SET_PUSH, PushConfig(task_id=task.id, id="ours", url=webhook.url))
    assert (made.task_id, made.id, made.url) == (task.id, "ours", webhook.url)
    chosen = PushConfigRequest(task_id=task.id, id="ours")
    assert caller.call(Operation.GET_PUSH, chosen).url == webhook.url
    listed = caller.call(Operation.LIST_PUSH, PushConfigRequest(task_id=task.id))
    assert [config.id for config in listed.configs] == ["ours"]
    caller.call(Operation.DELETE_PUSH, chosen)
    assert caller.call(Operation.LIST_PUSH, PushConfigRequest(task_id=task.id)).configs == []
