"""What differs between the versions: ids of tasks, responses, streams and version headers."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from mock_peer import immediately, peer_for, state_of, text_of

from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import Message, Task

SAID = {"role": "user", "parts": [{"type": "text", "text": "echo hi"}]}


async def old(session: aiohttp.ClientSession, agent: MockAgent, method: str, params: Any) -> Any:
    """Call a method of 0.1 and return the result, or the error."""
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with session.post(agent.url + "/v0.1", json=call) as response:
        answer = await response.json()
    return answer.get("result", answer.get("error"))


async def old_stream(session: aiohttp.ClientSession, agent: MockAgent, text: str) -> list[Any]:
    message = {"role": "user", "parts": [{"type": "text", "text": text}]}
    params = {"id": f"stream of {text}", "sessionId": "s", "message": message}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tasks/sendSubscribe", "params": params}
    async with session.post(agent.url + "/v0.1", json=call) as response:
        lines = [line async for line in response.content if line.startswith(b"data: ")]
    return [json.loads(line.removeprefix(b"data: "))["result"] for line in lines]


async def test_in_0_1_the_client_creates_the_id_and_every_response_is_a_task(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    task = await old(session, agent, "tasks/send", {"id": "mine", "sessionId": "s", "message": SAID})
    assert (task["id"], task["sessionId"], task["status"]["state"]) == ("mine", "s", "completed")
    assert task["status"]["message"]["parts"] == [{"type": "text", "text": "hi"}]
    assert "history" not in task
    shown = await old(session, agent, "tasks/get", {"id": "mine", "historyLength": 5})
    assert [message["role"] for message in shown["history"]] == ["user"]


async def test_in_0_1_a_task_continues_under_its_id(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    message = {"role": "user", "parts": [{"type": "text", "text": "ask"}]}
    first = await old(session, agent, "tasks/send", {"id": "t", "message": message})
    assert first["status"]["state"] == "input-required"
    answer = {"role": "user", "parts": [{"type": "text", "text": "18:00"}]}
    done = await old(session, agent, "tasks/send", {"id": "t", "message": answer})
    assert (done["status"]["state"], done["sessionId"]) == ("completed", first["sessionId"])
    assert done["artifacts"][0]["index"] == 0
    refused = await old(session, agent, "tasks/send", {"id": "t", "message": answer})
    assert refused["code"] == -32004


async def test_a_stream_of_0_1_has_updates_only_and_artifacts_by_index(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    items = await old_stream(session, agent, "report 3")
    assert ["artifact" if "artifact" in item else item["status"]["state"] for item in items] == [
        "submitted",
        "working",
        *["artifact"] * 3,
        "completed",
    ]
    assert [item["final"] for item in items if "status" in item] == [False, False, True]
    assert [item["artifact"]["index"] for item in items if "artifact" in item] == [0, 0, 0]
    assert [item["artifact"]["append"] for item in items if "artifact" in item] == [False, True, True]
    places = [item["artifact"]["index"] for item in await old_stream(session, agent, "file") if "artifact" in item]
    assert places == sorted(places)
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("method", ["tasks/list", "tasks/pushNotificationConfig/list", "message/send"])
async def test_0_1_has_no_later_operations(session: aiohttp.ClientSession, method: str) -> None:
    agent = MockAgent(Profile(versions=("0.1",)), pace=0)
    await agent.start()
    try:
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
        async with session.post(agent.url, json=call) as response:
            assert (await response.json())["error"]["code"] == -32601
    finally:
        await agent.stop()


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_opvs_works_like_1_0_with_its_own_headers(
    agent: MockAgent, session: aiohttp.ClientSession, binding: str
) -> None:
    peer = peer_for(session, agent, "opvs", binding)
    assert isinstance(await peer.send("echo hi"), Message)
    events = await peer.events("report 2")
    assert [state_of(event) for event in events] == ["submitted", "working", "artifact", "artifact", "completed"]
    peer.headers = {"OPVS-Version": "2.0"}
    refused = await peer.send("echo hi")
    assert isinstance(refused, ProtocolError)
    assert refused.code == -32009


@pytest.mark.parametrize("binding", ["HTTP+JSON", "GRPC"])
async def test_a_0_3_send_over_protobuf_returns_immediately_by_default(
    slow_agent: MockAgent, session: aiohttp.ClientSession, binding: str
) -> None:
    peer = peer_for(session, slow_agent, "0.3", binding)
    if binding == "HTTP+JSON":
        body = {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "long 3600"}]}}
        async with session.post(slow_agent.url + "/v0.3/v1/message:send", json=body) as response:
            assert (await response.json())["task"]["status"]["state"] == "TASK_STATE_SUBMITTED"
    else:
        assert state_of(await peer.send("long 3600", configuration=immediately())) == "submitted"


async def test_the_path_selects_the_version_of_a_shared_method(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    asked = await peer_for(session, agent, "0.3").send("ask")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"id": asked.id}}
    shapes = {}
    for path in ("/v0.3", "/v0.2", "/v0.1", "/"):
        async with session.post(agent.url + path, json=call) as response:
            shapes[path] = (await response.json())["result"]
    assert "kind" not in shapes["/v0.1"]
    assert shapes["/v0.1"]["sessionId"] == asked.context_id
    assert shapes["/v0.3"] == shapes["/v0.2"] == shapes["/"]


@pytest.mark.parametrize("version", ["0.3", "0.2", "opvs"])
async def test_any_version_can_be_the_main_one(session: aiohttp.ClientSession, version: str) -> None:
    agent = MockAgent(Profile(versions=(version,)), pace=0)
    await agent.start()
    try:
        async with session.get(agent.url + "/.well-known/agent-card.json") as response:
            card = await response.json()
        where = card["supportedInterfaces"][0]["url"] if version == "opvs" else card["url"]
        assert where == f"{agent.url}/"
        peer = peer_for(session, agent, version)
        peer.home = ""
        done = await peer.send("report 2")
        assert isinstance(done, Task)
        assert text_of(done.artifacts[0].parts if done.artifacts else [])
    finally:
        await agent.stop()
