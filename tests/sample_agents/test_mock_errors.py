"""Invalid requests: each gets the error of its version, never a traceback."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.server import MAX_BODY, MockAgent

V1 = {"A2A-Version": "1.0"}
JSON_HEADERS = {"Content-Type": "application/json"}
GOOD = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "echo hi"}]}
OLD = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "echo hi"}]}


async def post(
    session: aiohttp.ClientSession, url: str, body: bytes, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    async with session.post(url, data=body, headers=JSON_HEADERS | (headers or {})) as response:
        assert response.content_type == "application/json"
        raw = await response.read()
    assert b"Traceback" not in raw
    return response.status, json.loads(raw)


def call(method: str, params: Any = None, identity: Any = 7) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params}).encode()


def reasons(answer: Any) -> list[str]:
    return [item["reason"] for item in answer["error"]["data"]]


@pytest.mark.parametrize(
    "body", [b"", b"   ", b"{", b'{"jsonrpc": "2.0", ', b"\xff\xfe", b"<html>", b"nope", b"[" * 100_000, b'{"a":NaN}']
)
async def test_invalid_json_is_a_parse_error_without_an_id(
    agent: MockAgent, session: aiohttp.ClientSession, body: bytes
) -> None:
    status, answer = await post(session, agent.url, body, V1)
    assert (status, answer["id"], answer["error"]["code"]) == (200, None, -32700)
    assert answer["error"]["data"] == [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "PARSE_ERROR", "domain": "a2a-protocol.org"}
    ]
    _, old = await post(session, agent.url + "/v0.3", body)
    assert old["error"]["code"] == -32700
    assert "data" not in old["error"]


@pytest.mark.parametrize(
    "value",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "GetTask"}],
        "text",
        None,
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "GetTask"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": True, "method": "GetTask"},
        {"jsonrpc": "2.0", "id": {}, "method": "GetTask"},
    ],
)
async def test_json_that_is_not_a_call_is_an_invalid_request(
    agent: MockAgent, session: aiohttp.ClientSession, value: Any
) -> None:
    status, answer = await post(session, agent.url, json.dumps(value).encode(), V1)
    identity = value.get("id") if isinstance(value, dict) else None
    assert (status, answer["error"]["code"], reasons(answer)) == (200, -32600, ["INVALID_REQUEST"])
    assert answer["id"] == (1 if identity == 1 and identity is not True else None)


@pytest.mark.parametrize("identity", ["x", 0, -5, 1.5, None, "\u2028", 10**30])
async def test_a_response_has_the_id_of_its_call(
    agent: MockAgent, session: aiohttp.ClientSession, identity: Any
) -> None:
    _, answer = await post(session, agent.url, call("SendMessage", {"message": GOOD}, identity), V1)
    assert answer["id"] == identity
    assert "result" in answer


async def test_the_response_to_a_call_without_id_has_id_null(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "SendMessage", "params": {"message": GOOD}}).encode()
    _, answer = await post(session, agent.url, body, V1)
    assert answer["id"] is None
    assert "message" in answer["result"]


@pytest.mark.parametrize("method", ["foo/bar", "", "tasks/list", "sendmessage", "\x1b[2J\u202e", "x" * 5000])
async def test_an_unknown_method_is_not_found(agent: MockAgent, session: aiohttp.ClientSession, method: str) -> None:
    _, answer = await post(session, agent.url, call(method), V1)
    assert (answer["id"], answer["error"]["code"], reasons(answer)) == (7, -32601, ["METHOD_NOT_FOUND"])
    assert len(answer["error"]["message"]) < 500
    _, old = await post(session, agent.url, call(method))
    assert old["error"]["code"] == -32601
    assert "data" not in old["error"]


@pytest.mark.parametrize("version", [None, "", "0.3", "2.0", "99.0", "abc", "\u202e1.0".encode().decode("latin-1")])
@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage", "GetTask"])
async def test_a_1_0_method_needs_a_1_x_version(
    agent: MockAgent, session: aiohttp.ClientSession, method: str, version: str | None
) -> None:
    headers = {} if version is None else {"A2A-Version": version}
    _, answer = await post(session, agent.url, call(method, {"message": GOOD}), headers)
    assert (answer["error"]["code"], reasons(answer)) == (-32009, ["VERSION_NOT_SUPPORTED"])


@pytest.mark.parametrize("version", ["1", "1.0", "1.0.1", "1.7", " 1.0 "])
async def test_every_1_x_version_is_accepted(agent: MockAgent, session: aiohttp.ClientSession, version: str) -> None:
    _, answer = await post(session, agent.url, call("SendMessage", {"message": GOOD}), {"a2a-version": version})
    assert "result" in answer


async def test_the_version_may_be_in_the_query(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    _, answer = await post(session, agent.url + "/?A2A-Version=1.0", call("SendMessage", {"message": GOOD}))
    assert "result" in answer


@pytest.mark.parametrize("headers", [{}, {"A2A-Version": ""}, {"A2A-Version": "0.3"}, {"A2A-Version": "0.3.0"}])
async def test_0_3_methods_need_no_version_header(
    agent: MockAgent, session: aiohttp.ClientSession, headers: dict[str, str]
) -> None:
    _, answer = await post(session, agent.url, call("message/send", {"message": OLD}), headers)
    assert answer["result"]["kind"] == "message"


async def test_a_0_3_method_with_another_version_gets_a_0_3_error(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    _, answer = await post(session, agent.url, call("message/send", {"message": OLD}), V1)
    assert answer["error"]["code"] == -32009
    assert "data" not in answer["error"]


@pytest.mark.parametrize("path", ["", "/", "/v0.3", "/v0.3/"])
async def test_both_versions_are_served_at_every_path(
    agent: MockAgent, session: aiohttp.ClientSession, path: str
) -> None:
    _, new = await post(session, agent.url + path, call("SendMessage", {"message": GOOD}), V1)
    _, old = await post(session, agent.url + path, call("message/send", {"message": OLD}))
    assert "message" in new["result"]
    assert old["result"]["kind"] == "message"


BAD_MESSAGES: list[Any] = [
    None,
    "text",
    {},
    GOOD | {"parts": []},
    GOOD | {"parts": None},
    GOOD | {"parts": "x"},
    GOOD | {"parts": [{}]},
    GOOD | {"parts": [{"text": None}]},
    GOOD | {"parts": [{"text": 5}]},
    GOOD | {"parts": [{"text": "a", "url": "b"}]},
    GOOD | {"parts": [{"text": "a", "data": {}}]},
    GOOD | {"parts": [{"raw": "not base64!"}]},
    GOOD | {"parts": [{"raw": "QUJD="}, {"raw": "Q"}]},
    GOOD | {"role": "user"},
    GOOD | {"role": ""},
    GOOD | {"messageId": ""},
    GOOD | {"messageId": 5},
    {name: member for name, member in GOOD.items() if name != "messageId"},
    {name: member for name, member in GOOD.items() if name != "role"},
]


@pytest.mark.parametrize("message", BAD_MESSAGES)
@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage"])
async def test_an_invalid_message_starts_no_task(
    agent: MockAgent, session: aiohttp.ClientSession, method: str, message: Any
) -> None:
    _, answer = await post(session, agent.url, call(method, {"message": message}), V1)
    assert (answer["id"], answer["error"]["code"], reasons(answer)) == (7, -32602, ["INVALID_PARAMS"])
    assert len(agent.store) == 0


@pytest.mark.parametrize("params", [None, [], {}, "text", {"message": OLD | {"parts": []}}])
async def test_an_error_of_0_3_has_no_details(agent: MockAgent, session: aiohttp.ClientSession, params: Any) -> None:
    _, answer = await post(session, agent.url, call("message/send", params))
    assert answer["error"]["code"] == -32602
    assert "data" not in answer["error"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("GetTask", {}),
        ("GetTask", {"id": ""}),
        ("GetTask", {"id": None}),
        ("GetTask", []),
        ("GetTask", {"id": 5}),
        ("GetTask", {"id": "x", "historyLength": -1}),
        ("GetTask", {"id": "x", "historyLength": "many"}),
        ("CancelTask", {}),
        ("SubscribeToTask", {}),
        ("SendMessage", {"message": GOOD, "configuration": {"historyLength": -1}}),
        ("SendMessage", {"message": GOOD, "configuration": {"taskPushNotificationConfig": {"url": "x"}}}),
        ("ListTasks", {"pageSize": 0}),
        ("ListTasks", {"pageSize": 101}),
        ("ListTasks", {"pageSize": -1}),
        ("ListTasks", {"pageToken": "zzz"}),
        ("ListTasks", {"pageToken": "\u00e9"}),
        ("ListTasks", {"status": "working"}),
        ("ListTasks", {"statusTimestampAfter": "yesterday"}),
        ("ListTasks", {"historyLength": -1}),
        ("CreateTaskPushNotificationConfig", {"taskId": "x"}),
        ("DeleteTaskPushNotificationConfig", {"taskId": "x"}),
        ("ListTaskPushNotificationConfigs", {}),
    ],
)
async def test_invalid_parameters_are_rejected(
    agent: MockAgent, session: aiohttp.ClientSession, method: str, params: Any
) -> None:
    _, answer = await post(session, agent.url, call(method, params), V1)
    assert (answer["error"]["code"], reasons(answer)) == (-32602, ["INVALID_PARAMS"])


async def test_an_agent_without_extended_card_has_the_error_of_each_version(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    _, new = await post(session, agent.url, call("GetExtendedAgentCard", {}), V1)
    _, old = await post(session, agent.url, call("agent/getAuthenticatedExtendedCard"))
    assert (new["error"]["code"], old["error"]["code"]) == (-32004, -32007)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "nonsense"])
async def test_another_content_type_is_rejected(
    agent: MockAgent, session: aiohttp.ClientSession, content_type: str
) -> None:
    _, answer = await post(session, agent.url, b"{not json", V1 | {"Content-Type": content_type})
    assert (answer["error"]["code"], reasons(answer)) == (-32005, ["CONTENT_TYPE_NOT_SUPPORTED"])


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "application/a2a+json"])
async def test_every_json_media_type_is_accepted(
    agent: MockAgent, session: aiohttp.ClientSession, content_type: str
) -> None:
    body = call("SendMessage", {"message": GOOD})
    _, answer = await post(session, agent.url, body, V1 | {"Content-Type": content_type})
    assert "result" in answer


async def test_a_compressed_body_is_read_and_an_invalid_one_rejected(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    headers, body = V1 | {"Content-Encoding": "gzip"}, gzip.compress(call("SendMessage", {"message": GOOD}))
    _, answer = await post(session, agent.url, body, headers)
    assert "result" in answer
    _, answer = await post(session, agent.url, b"garbage", headers)
    assert answer["error"]["code"] == -32700


async def test_a_too_large_body_is_rejected_also_compressed(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    large = call("SendMessage", {"message": GOOD | {"parts": [{"text": "x" * MAX_BODY}]}})
    for body, headers in ((large, V1), (gzip.compress(large), V1 | {"Content-Encoding": "gzip"})):
        status, answer = await post(session, agent.url, body, headers)
        assert (status, answer["error"]["code"]) == (413, -32600)
    assert len(agent.store) == 0


async def test_huge_numbers_and_deep_nesting_get_an_error(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    for odd in (b"1e999", b"[" * 150 + b"]" * 150, b'{"a_b":' * 150 + b"1" + b"}" * 150, b"1" * 4000):
        body = call("SendMessage", {"message": GOOD | {"parts": [{"data": "ODD"}]}}).replace(b'"ODD"', odd)
        _, answer = await post(session, agent.url, body, V1)
        assert "result" in answer


async def test_protobuf_names_are_accepted_for_1_0(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    message = {"message_id": "m", "context_id": "c", "role": "ROLE_USER", "parts": [{"text": "long 60"}]}
    params = {"message": message, "configuration": {"return_immediately": True, "history_length": 0}}
    _, answer = await post(session, agent.url, call("SendMessage", params), V1)
    task = answer["result"]["task"]
    assert task["contextId"] == "c"
    assert "history" not in task
    _, listed = await post(session, agent.url, call("ListTasks", {"context_id": "c", "page_size": 1}), V1)
    assert [item["id"] for item in listed["result"]["tasks"]] == [task["id"]]
    assert listed["result"]["tasks"][0]["history"][0]["messageId"] == "m"


async def test_names_in_free_form_content_do_not_change(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    part = {"data": {"task_id": 1}, "metadata": {"context_id": 2}, "own_member": 3}
    _, answer = await post(session, agent.url, call("SendMessage", {"message": GOOD | {"parts": [part]}}), V1)
    assert answer["result"]["message"]["parts"] == [part]


async def test_other_methods_and_paths_are_http_errors(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    async with session.get(agent.url + "/") as response:
        assert response.status == 405
    async with session.post(agent.url + "/nowhere", data=b"{}") as response:
        assert response.status == 404


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00hello\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a b\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"A" * 100_000 + b"\r\n\r\n",
    ],
)
async def test_invalid_http_is_rejected_without_a_traceback(agent: MockAgent, garbage: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(agent.url.rpartition(":")[2]))
    writer.write(garbage)
    writer.write_eof()
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    assert b"Traceback" not in answer
    assert b" 200 " not in answer.partition(b"\r\n")[0]
