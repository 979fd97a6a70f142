"""HTTP+JSON: methods, paths, queries and bodies, and the statuses of errors in each release."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MAX_BODY, MockAgent

V1 = {"A2A-Version": "1.0"}
V03 = {"A2A-Version": "0.3"}
GOOD = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "ask"}]}


async def ask(
    session: aiohttp.ClientSession,
    verb: str,
    url: str,
    body: Any = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, Any, str]:
    """Return the status, the JSON and the media type of a response."""
    raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    sent = V1 | ({} if raw is None else {"Content-Type": "application/json"}) | (headers or {})
    async with session.request(verb, url, data=raw, headers=sent) as response:
        answer = await response.read()
        assert b"Traceback" not in answer
        return response.status, json.loads(answer) if answer else None, response.content_type


async def task_of(session: aiohttp.ClientSession, agent: MockAgent) -> Any:
    _, answer, _ = await ask(session, "POST", agent.url + "/message:send", {"message": GOOD})
    return answer["task"]


def error_body(status: int, word: str, reason: str) -> dict[str, Any]:
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"}
    return {"code": status, "status": word, "details": [info]}


def without_words(answer: Any) -> Any:
    assert answer["error"].pop("message")
    return answer["error"]


async def test_members_may_be_in_path_and_query_in_camel_and_snake_case(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    task = await task_of(session, agent)
    for query, turns in (("", 2), ("?historyLength=1", 1), ("?historyLength=0", 0), ("?history_length=0", 0)):
        _, got, _ = await ask(session, "GET", f"{agent.url}/tasks/{task['id']}{query}")
        assert len(got.get("history", [])) == turns
    query = f"context_id={task['contextId']}&pageSize=1&includeArtifacts=true&status=TASK_STATE_INPUT_REQUIRED"
    _, page, _ = await ask(session, "GET", f"{agent.url}/tasks?{query}")
    assert [task["id"] for task in page["tasks"]] == [task["id"]]


async def test_the_version_may_be_in_the_query(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    status, page, _ = await ask(session, "GET", agent.url + "/tasks?A2A-Version=1.0", headers={"A2A-Version": ""})
    assert (status, page["totalSize"]) == (200, 0)


@pytest.mark.parametrize("prefix", ["", "/", "/acme", "/acme%2Fwest"])
async def test_a_tenant_and_a_second_slash_are_accepted(
    agent: MockAgent, session: aiohttp.ClientSession, prefix: str
) -> None:
    status, _, _ = await ask(session, "GET", f"{agent.url}{prefix}/tasks")
    assert status == 200
    status, answer, _ = await ask(session, "GET", f"{agent.url}/v0.3/{prefix.strip('/')}/v1/tasks/x", headers=V03)
    assert (status, answer["code"]) == (404, -32001)


@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_subscribe_accepts_both_http_methods(agent: MockAgent, session: aiohttp.ClientSession, verb: str) -> None:
    task = await task_of(session, agent)
    async with session.request(verb, f"{agent.url}/tasks/{task['id']}:subscribe", headers=V1) as response:
        assert response.content_type == "text/event-stream"
        first = await response.content.readuntil(b"\n\n")
    assert json.loads(first.removeprefix(b"data: "))["task"]["id"] == task["id"]


async def test_an_operation_without_members_needs_no_body(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    task = await task_of(session, agent)
    headers = {"Content-Type": "application/json"}
    status, canceled, _ = await ask(session, "POST", f"{agent.url}/tasks/{task['id']}:cancel", headers=headers)
    assert (status, canceled["status"]["state"]) == (200, "TASK_STATE_CANCELED")


async def test_deleting_a_push_configuration_returns_an_empty_object(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    task = await task_of(session, agent)
    configs = f"{agent.url}/tasks/{task['id']}/pushNotificationConfigs"
    status, made, _ = await ask(session, "POST", configs, {"id": "a:b", "url": "http://127.0.0.1:9/"})
    assert (status, made["id"], made["taskId"]) == (200, "a:b", task["id"])
    assert (await ask(session, "GET", f"{configs}/a%3Ab"))[1] == made
    assert (await ask(session, "DELETE", f"{configs}/a%3Ab"))[:2] == (200, {})


@pytest.mark.parametrize(
    ("headers", "media_type"),
    [
        ({"Content-Type": "application/json"}, "application/json"),
        ({"Content-Type": "application/a2a+json"}, "application/a2a+json"),
        ({"Content-Type": "application/a2a+json; charset=utf-8"}, "application/a2a+json"),
        ({"Content-Type": "application/json", "Accept": "application/a2a+json"}, "application/a2a+json"),
    ],
)
async def test_the_media_type_is_one_that_the_client_sends_or_accepts(
    agent: MockAgent, session: aiohttp.ClientSession, headers: dict[str, str], media_type: str
) -> None:
    answered = await ask(session, "POST", agent.url + "/message:send", {"message": GOOD}, headers)
    assert (answered[0], answered[2]) == (200, media_type)


async def test_without_body_the_media_type_follows_the_accept_header(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    for accept, media_type in (("*/*", "application/json"), ("application/a2a+json", "application/a2a+json")):
        assert (await ask(session, "GET", agent.url + "/tasks", headers={"Accept": accept}))[2] == media_type


@pytest.mark.parametrize("release", ["1.0.0", "1.0.1"])
async def test_errors_have_the_status_of_their_release(session: aiohttp.ClientSession, release: str) -> None:
    agent = MockAgent(Profile(("1.0",), release), pace=0)
    await agent.start()
    try:
        task = await task_of(session, agent)
        over = f"{agent.url}/tasks/{task['id']}"
        await ask(session, "POST", f"{over}:cancel")
        old = release == "1.0.0"
        for verb, url, body, headers, status, word, reason in (
            ("GET", agent.url + "/tasks/x", None, {}, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
            ("POST", f"{over}:cancel", None, {}, 409 if old else 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
            (
                "POST",
                f"{over}:subscribe",
                None,
                {},
                400,
                "UNIMPLEMENTED" if old else "FAILED_PRECONDITION",
                "UNSUPPORTED_OPERATION",
            ),
            (
                "GET",
                agent.url + "/tasks",
                None,
                {"A2A-Version": "99.0"},
                400,
                "UNIMPLEMENTED" if old else "FAILED_PRECONDITION",
                "VERSION_NOT_SUPPORTED",
            ),
            (
                "POST",
                agent.url + "/message:send",
                b"{}",
                {"Content-Type": "text/plain"},
                415 if old else 400,
                "INVALID_ARGUMENT",
                "CONTENT_TYPE_NOT_SUPPORTED",
            ),
        ):
            got, answer, media_type = await ask(session, verb, url, body, headers)
            assert (got, media_type) == (status, "application/json"), reason
            assert without_words(answer) == error_body(status, word, reason)
    finally:
        await agent.stop()


@pytest.mark.parametrize("version", ["", "0.3", "2.0", "abc"])
async def test_a_path_of_1_0_needs_a_1_x_version(
    agent: MockAgent, session: aiohttp.ClientSession, version: str
) -> None:
    status, answer, _ = await ask(session, "GET", agent.url + "/tasks", headers={"A2A-Version": version})
    assert (status, answer["error"]["details"][0]["reason"]) == (400, "VERSION_NOT_SUPPORTED")


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("POST", "/message:send", {}),
        ("POST", "/message:stream", {"message": GOOD | {"parts": []}}),
        ("POST", "/message:send", []),
        ("POST", "/message:send", "text"),
        ("POST", "/message:send", None),
        ("GET", "/tasks?pageSize=0", None),
        ("GET", "/tasks?pageSize=ten", None),
        ("GET", "/tasks?pageSize=9999999999999999999999", None),
        ("GET", "/tasks?includeArtifacts=maybe", None),
        ("GET", "/tasks?status=working", None),
        ("GET", "/tasks/x?historyLength=-1", None),
        ("GET", "/tasks/x?historyLength=1.5", None),
        ("POST", "/tasks/x/pushNotificationConfigs", {"url": 5}),
    ],
)
async def test_invalid_parameters_are_rejected(
    agent: MockAgent, session: aiohttp.ClientSession, verb: str, path: str, body: Any
) -> None:
    status, answer, _ = await ask(session, verb, agent.url + path, body)
    assert (status, answer["error"]["details"][0]["reason"]) == (400, "INVALID_PARAMS")


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"<html>", b"[" * 100_000])
async def test_invalid_json_is_a_parse_error(agent: MockAgent, session: aiohttp.ClientSession, body: bytes) -> None:
    status, answer, _ = await ask(session, "POST", agent.url + "/message:send", body)
    assert (status, answer["error"]["details"][0]["reason"]) == (400, "PARSE_ERROR")


async def test_a_too_large_body_is_rejected(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    status, answer, _ = await ask(session, "POST", agent.url + "/message:send", b" " * (MAX_BODY + 1))
    assert (status, answer["error"]["code"]) == (413, 413)


@pytest.mark.parametrize(
    ("verb", "path", "status", "allowed"),
    [
        ("GET", "/nowhere", 404, None),
        ("POST", "/tasks/x:explode", 405, "GET"),
        ("GET", "/tasks/%ff%00/x/y", 404, None),
        ("GET", "/message:send", 405, "POST"),
        ("PUT", "/tasks/x", 405, "GET"),
        ("DELETE", "/tasks/x:subscribe", 405, "GET, POST"),
        ("PATCH", "/tasks/x/pushNotificationConfigs", 405, "GET, POST"),
    ],
)
async def test_an_unknown_path_is_404_and_a_wrong_method_405(
    agent: MockAgent, session: aiohttp.ClientSession, verb: str, path: str, status: int, allowed: str | None
) -> None:
    async with session.request(verb, agent.url + path, headers=V1) as response:
        assert (response.status, response.headers.get("Allow")) == (status, allowed)
        assert (await response.json())["error"]["code"] == status


async def test_an_error_of_0_3_has_a_code_and_a_message(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    home = agent.url + "/v0.3/v1"
    for verb, path, body, status, code in (
        ("GET", "/tasks/x", None, 404, -32001),
        ("POST", "/message:send", {}, 400, -32602),
        ("POST", "/message:send", b"{", 400, -32700),
        ("GET", "/card", None, 400, -32007),
        ("GET", "/nowhere", None, 404, -32601),
    ):
        answered = await ask(session, verb, home + path, body, {"A2A-Version": "0.3"})
        assert answered[0] == status
        assert (answered[1].keys(), answered[1]["code"]) == ({"code", "message"}, code)


async def test_a_version_without_http_json_has_no_paths(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    async with session.get(agent.url + "/v0.1/v1/tasks/x") as response:
        assert response.status == 404
