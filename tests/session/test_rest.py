"""A session over HTTP+JSON: the request of every operation, and the findings about responses."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from inspector.capture.records import Kind, Record
from inspector.findings.hazards import Hazard
from inspector.findings.rules import RULES
from inspector.protocol.errors import FaultCode, FaultError, ProtocolError
from inspector.protocol.model import (
    AuthenticationInfo,
    Deleted,
    ListTasksRequest,
    Message,
    Part,
    PushConfig,
    PushConfigList,
    Task,
    TaskList,
)
from inspector.protocol.operations import Operation
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.settings import Settings

TASK = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
CONFIG = {"id": "p", "taskId": "t", "url": "http://hook/x", "token": "of-the-agent"}
INFO = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"}
MISSING = {"code": 404, "status": "NOT_FOUND", "message": "Task not found", "details": [INFO]}
A2A_JSON = "application/a2a+json"


@dataclass(frozen=True)
class Reply:
    """The response of the agent to one method and path."""

    body: Any = b""
    status: int = 200
    content_type: str = A2A_JSON

    @property
    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


def stream(*events: Any) -> Reply:
    """Write events as the official 0.3 SDK does: several lines each, errors with an event name."""
    text = ""
    for event in events:
        name = "event: error\n" if "error" in event else ""
        lines = "".join(f"data: {line}\n" for line in json.dumps(event, indent=2).splitlines())
        text += f"{name}{lines}\n"
    return Reply(text.encode(), content_type="text/event-stream")


@dataclass
class Agent:
    """An agent with a scripted response for each method and path, which stores its requests."""

    url: str = ""
    card: dict[str, Any] = field(default_factory=dict)
    replies: dict[str, Reply] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    async def handle(self, request: web.BaseRequest) -> web.Response:
        if request.path == "/.well-known/agent-card.json":
            return web.json_response(self.card)
        line = f"{request.method} {request.raw_path}"
        self.asked.append((line, dict(request.headers), await request.read()))
        reply = self.replies.get(line, Reply(b"no route here", 404, "text/plain"))
        headers = {"Content-Type": reply.content_type} if reply.content_type else {}
        return web.Response(status=reply.status, body=reply.raw, headers=headers)

    def declare(self, version: str = "1.0", tenant: str = "", **capabilities: bool) -> None:
        first = {"url": f"{self.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": version}
        second = {"url": f"{self.url}/rest/", "protocolBinding": "HTTP+JSON", "protocolVersion": version}
        self.card = {
            "name": "Rest",
            "description": "Answers as a test wants",
            "version": "1",
            "supportedInterfaces": [first, second | ({"tenant": tenant} if tenant else {})],
            "capabilities": {"streaming": True, "pushNotifications": True, "extendedAgentCard": True} | capabilities,
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [],
        }


@pytest.fixture
async def agent() -> AsyncIterator[Agent]:
    puppet = Agent()
    runner = web.ServerRunner(web.Server(puppet.handle, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    puppet.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    puppet.declare()
    yield puppet
    await runner.cleanup()


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    opened = Session(tmp_path / "capture.a2a", Settings(transports=("HTTP+JSON",)))
    yield opened
    await opened.close()


async def records_of(call: Call) -> list[Record]:
    await call.finish()
    capture = call.exchange.journal.capture
    return capture.select(exchange=call.exchange.number)


def rules(records: list[Record]) -> list[str]:
    """Return the rules with findings, except the hint about the data lines that `stream` writes."""
    found = [finding.rule for record in records for finding in record.findings]
    return [rule for rule in found if rule != Hazard.DATA_LINES]


CALLS: list[tuple[Callable[[Session], Call], str, Reply, Any]] = [
    (
        lambda session: session.send(text_draft("hi"), stream=False),
        "POST /rest/message:send",
        Reply({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}, 201),
        Message(message_id="m", role="ROLE_AGENT", parts=[Part(text="x")]),
    ),
    (
        lambda session: session.send(text_draft("hi"), stream=True),
        "POST /rest/message:stream",
        stream({"task": TASK | {"status": {"state": "TASK_STATE_WORKING"}}}, {"task": TASK}),
        Task,
    ),
    (lambda session: session.get("t", 2), "GET /rest/tasks/t?historyLength=2", Reply(TASK), Task),
    (lambda session: session.get("a/b"), "GET /rest/tasks/a%2Fb", Reply(TASK | {"id": "a/b"}), Task),
    (lambda session: session.cancel("t"), "POST /rest/tasks/t:cancel", Reply(TASK), Task),
    (lambda session: session.subscribe("t"), "POST /rest/tasks/t:subscribe", stream({"task": TASK}), Task),
    (
        lambda session: session.list_tasks(ListTasksRequest(page_size=2, include_artifacts=True)),
        "GET /rest/tasks?pageSize=2&includeArtifacts=true",
        Reply({"tasks": [TASK], "nextPageToken": "", "pageSize": 2, "totalSize": 1}),
        TaskList,
    ),
    (
        lambda session: session.set_push(PushConfig(task_id="t", url="http://hook/x")),
        "POST /rest/tasks/t/pushNotificationConfigs",
        Reply(CONFIG, 201),
        PushConfig,
    ),
    (
        lambda session: session.get_push("t", "p"),
        "GET /rest/tasks/t/pushNotificationConfigs/p",
        Reply(CONFIG),
        PushConfig,
    ),
    (
        lambda session: session.list_push("t"),
        "GET /rest/tasks/t/pushNotificationConfigs",
        Reply({"configs": [CONFIG]}),
        PushConfigList,
    ),
    (
        lambda session: session.delete_push("t", "p"),
        "DELETE /rest/tasks/t/pushNotificationConfigs/p",
        Reply(status=204, content_type=""),
        Deleted(),
    ),
]


@pytest.mark.parametrize(("call", "line", "reply", "expected"), CALLS, ids=[line for _, line, _, _ in CALLS])
async def test_every_operation_uses_its_route_and_returns_its_result(
    agent: Agent, session: Session, call: Any, line: str, reply: Reply, expected: Any
) -> None:
    agent.replies[line] = reply
    await session.connect(agent.url)
    call = call(session)
    records = await records_of(call)
    assert call.fault is None
    answer = call.exchange.answer
    assert isinstance(answer, expected) if isinstance(expected, type) else answer == expected
    assert rules(records) == []
    [(asked, headers, _)] = agent.asked
    assert asked == line
    assert headers["A2A-Version"] == "1.0"
    assert headers["Accept"] in ("text/event-stream", "application/a2a+json, application/json")


async def test_the_extended_card_is_read_like_any_response(agent: Agent, session: Session) -> None:
    agent.replies["GET /rest/extendedAgentCard"] = Reply(agent.card | {"name": "More"})
    await session.connect(agent.url)
    call = session.extended_card()
    assert await call.finish() is None
    assert getattr(call.exchange.answer, "name", None) == "More"


async def test_every_request_is_addressed_to_the_tenant_of_the_interface(agent: Agent, session: Session) -> None:
    agent.declare(tenant="acme")
    await session.connect(agent.url)
    for call in (
        session.send(text_draft("hi"), stream=False),
        session.get("t"),
        session.list_tasks(),
        session.set_push(PushConfig(task_id="t", url="http://hook/x")),
        session.list_push("t"),
        session.extended_card(),
    ):
        await call.finish()
    assert [line.split(" ")[1] for line, _, _ in agent.asked] == [
        "/rest/acme/message:send",
        "/rest/acme/tasks/t",
        "/rest/acme/tasks",
        "/rest/acme/tasks/t/pushNotificationConfigs",
        "/rest/acme/tasks/t/pushNotificationConfigs",
        "/rest/acme/extendedAgentCard",
    ]
    assert all(b"acme" not in body for _, _, body in agent.asked)


async def test_webhook_credentials_are_sent_but_not_recorded(agent: Agent, session: Session) -> None:
    place = "/rest/tasks/t/pushNotificationConfigs"
    agent.replies[f"POST {place}"] = Reply(CONFIG)
    agent.replies[f"GET {place}"] = Reply({"configs": [CONFIG]})
    await session.connect(agent.url)
    secret = AuthenticationInfo(scheme="Bearer", credentials="my-credentials")
    config = PushConfig(task_id="t", url="http://hook/x", token="my-token", authentication=secret)
    records = [*await records_of(session.set_push(config)), *await records_of(session.list_push("t"))]
    assert b"my-token" in agent.asked[0][2]
    assert b"my-credentials" in agent.asked[0][2]
    raws = b"".join(record.raw for record in records)
    assert raws.count(b'"token":"****"') + raws.count(b'"token": "****"') == 3
    for said in (b"my-token", b"my-credentials", b"of-the-agent"):
        assert said not in raws


async def test_an_error_of_the_agent_has_its_name_over_every_transport(agent: Agent, session: Session) -> None:
    agent.replies["GET /rest/tasks/t"] = Reply({"error": MISSING}, 404, "application/json")
    await session.connect(agent.url)
    call = session.get("t")
    records = await records_of(call)
    assert call.fault is not None
    assert call.fault.code == "TaskNotFoundError"
    assert "does not know this task" in call.fault.seen
    assert rules(records) == []


GET, STREAM = "GET /rest/tasks/t", "POST /rest/message:stream"
PLAIN = {"code": 404, "status": "NOT_FOUND", "message": "?"}
WRONG: list[tuple[str, Reply, list[str]]] = [
    (GET, Reply(TASK, content_type="text/plain"), ["HTTP-001"]),
    (GET, Reply(TASK, content_type="application/problem+json"), ["HTTP-001"]),
    (GET, Reply({"error": PLAIN}, 404), ["HTTP-002"]),
    (GET, Reply({"message": "Task not found"}, 404), ["HTTP-010"]),
    (GET, Reply({"title": "Gone", "status": 410}, 410, "application/problem+json"), ["HTTP-002"]),
    (GET, Reply({"type": "x/task-not-found", "detail": "?"}, 404, "application/problem+json"), []),
    (GET, Reply({"error": MISSING | {"code": 400}}, 404), ["HTTP-003"]),
    (GET, Reply({"error": MISSING | {"code": 400}}, 400), ["HTTP-003"]),
    (GET, Reply({"error": MISSING | {"status": "INTERNAL"}}, 404), ["HTTP-003"]),
    (GET, Reply({"error": {"code": 500, "status": "INTERNAL", "message": "?"}}, 500), []),
    (GET, Reply({"error": MISSING}, 200), ["HTTP-004"]),
    (GET, Reply({"id": 7}), ["DATA-001", "DATA-002"]),
    (GET, Reply(b"Not Found", 404, "text/plain"), ["HTTP-005"]),
    (GET, Reply({"detail": "Not Found"}, 404), ["HTTP-005"]),
    (GET, Reply(b"<html>Bad Gateway</html>", 502, "text/html"), []),
    (GET, Reply(b"Down for maintenance", 503, "text/plain"), []),
    (GET, Reply({"detail": "rate limit"}, 429), []),
    (GET, Reply(b"", 200, ""), ["HTTP-005"]),
    (
        GET,
        Reply({"jsonrpc": "2.0", "id": 1, "result": TASK}),
        ["HTTP-011", "DATA-001", "DATA-002", "DATA-014", "DATA-014"],
    ),
    (GET, Reply({"detail": "Unauthorized"}, 401, "text/plain"), ["HTTP-008"]),
    (GET, Reply(b"", 307, ""), []),
    (STREAM, Reply({"task": TASK}), ["HTTP-006"]),
    (STREAM, Reply({"error": MISSING}, 404), ["RESULT-008"]),
    (STREAM, stream({"task": TASK}, {"error": MISSING}), ["RESULT-008"]),
    (STREAM, stream({"task": TASK}, {"error": PLAIN}), ["HTTP-002"]),
    (STREAM, stream({"nothing": 1}, {"task": TASK}), ["DATA-004", "DATA-014"]),
]


@pytest.mark.parametrize(("line", "reply", "broken"), WRONG)
async def test_an_invalid_response_is_a_finding(
    agent: Agent, session: Session, line: str, reply: Reply, broken: list[str]
) -> None:
    agent.replies[line] = reply
    await session.connect(agent.url)
    call = session.get("t") if line == GET else session.send(text_draft("hi"), stream=True)
    records = await records_of(call)
    assert rules(records) == broken
    assert all(rule in RULES for rule in broken)
    last = next(record for record in reversed(records) if record.kind in (Kind.BODY, Kind.FRAME))
    assert last.raw in reply.raw


async def test_the_body_of_a_0_3_error_may_be_any_text(agent: Agent, session: Session) -> None:
    agent.declare("0.3.0")
    agent.replies["GET /rest/v1/tasks/t"] = Reply(b"Not Found", 404, "text/plain")
    await session.connect(agent.url)
    records = await records_of(session.get("t"))
    assert rules(records) == []
    assert [(record.event, record.label) for record in records if record.raw][-1] == ("http-error", "Not Found")


async def test_a_0_3_error_needs_no_details(agent: Agent, session: Session) -> None:
    agent.declare("0.3.0")
    agent.replies["GET /rest/v1/tasks/t"] = Reply({"message": "Task not found"}, 404, "application/json")
    await session.connect(agent.url)
    call = session.get("t")
    assert rules(await records_of(call)) == []
    assert isinstance(call.exchange.answer, ProtocolError)
    assert call.exchange.answer.name == "TaskNotFoundError"


async def test_the_requested_transport_takes_precedence_over_the_card(agent: Agent, session: Session) -> None:
    connection = await session.connect(agent.url)
    assert connection.choice is not None
    assert (connection.choice.binding.name, connection.choice.reason) == ("HTTP+JSON", "HTTP+JSON was requested")


async def test_unavailable_operations_have_a_reason(agent: Agent, session: Session) -> None:
    assert session.unavailable_reason(Operation.SEND) == "no agent is connected"
    agent.declare(streaming=False, pushNotifications=False, extendedAgentCard=False)
    await session.connect(agent.url)
    for operation in (Operation.SEND, Operation.GET, Operation.CANCEL, Operation.LIST):
        assert session.unavailable_reason(operation) == ""
    for operation in (Operation.STREAM, Operation.SUBSCRIBE):
        assert session.unavailable_reason(operation) == "the card declares streaming: false"
    for operation in (Operation.SET_PUSH, Operation.GET_PUSH, Operation.LIST_PUSH, Operation.DELETE_PUSH):
        assert session.unavailable_reason(operation) == "the card declares pushNotifications: false"
    assert session.unavailable_reason(Operation.EXTENDED_CARD) == "the card declares no extended card"
    agent.card["supportedInterfaces"] = []
    await session.connect(agent.url)
    assert session.unavailable_reason(Operation.SEND) == "the card has no supported interface"


async def test_an_operation_that_a_version_lacks_is_refused_before_anything_is_sent(
    agent: Agent, tmp_path: Path
) -> None:
    agent.declare("0.3.0")
    session = Session(tmp_path / "other.a2a", Settings(transports=("JSONRPC",)))
    await session.connect(agent.url)
    assert session.unavailable_reason(Operation.LIST) == "A2A 0.3 over JSONRPC does not have ListTasks"
    assert session.unavailable_reason(Operation.GET) == ""
    with pytest.raises(FaultError) as refused:
        session.list_tasks()
    assert refused.value.fault.code == FaultCode.USAGE
    assert agent.asked == []
    await session.close()
