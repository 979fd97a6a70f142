"""Requests with one wrong value, in every version and binding: they get an error, never an internal error."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import aiohttp
import grpc.aio
import pytest
from inspector.sample_agents.server import MockAgent
from inspector.sample_agents.versions import VERSIONS, Version

from inspector.protocol.bindings import rest
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.dialects.registry import supports_binding
from inspector.protocol.model import (
    AuthenticationInfo,
    ExtendedCardRequest,
    ListTasksRequest,
    Message,
    Part,
    PushConfig,
    PushConfigRequest,
    Request,
    SendConfiguration,
    SendRequest,
    TaskRequest,
)
from inspector.protocol.operations import Operation

UNUSUAL: list[Any] = [None, True, 5, -1, 1e300, "x", "\u202e", [], [[]], {}, {"x": {}}, [{"kind": "text"}]]
HOOK = PushConfig(task_id="t", id="c", url="http://x/", authentication=AuthenticationInfo(scheme="Bearer"))
SEND = SendRequest(
    message=Message(message_id="m", role="ROLE_USER", task_id="t", context_id="c", parts=[Part(text="hi")]),
    configuration=SendConfiguration(task_push_notification_config=HOOK, history_length=1),
)
REQUESTS: dict[Operation, Request] = {
    Operation.SEND: SEND,
    Operation.STREAM: SEND,
    Operation.GET: TaskRequest(id="t", history_length=1),
    Operation.LIST: ListTasksRequest(page_size=1, status="TASK_STATE_WORKING", status_timestamp_after="2026-01-01"),
    Operation.CANCEL: TaskRequest(id="t"),
    Operation.SUBSCRIBE: TaskRequest(id="t"),
    Operation.SET_PUSH: HOOK,
    Operation.GET_PUSH: PushConfigRequest(task_id="t", id="c"),
    Operation.LIST_PUSH: PushConfigRequest(task_id="t"),
    Operation.DELETE_PUSH: PushConfigRequest(task_id="t", id="c"),
    Operation.EXTENDED_CARD: ExtendedCardRequest(),
}


def mutated(value: Any) -> Iterator[Any]:
    """Yield copies of a JSON value with a single member replaced, for each member and each unusual value."""
    yield from UNUSUAL
    for path in paths(value):
        for unusual in UNUSUAL:
            changed = copy.deepcopy(value)
            place = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = unusual
            yield changed


def paths(value: Any) -> Iterator[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in steps:
        yield (name,)
        yield from ((name, *rest) for rest in paths(member))


def versions_over(binding: str) -> list[Version]:
    every = (version for entries in VERSIONS.values() for version in entries)
    return [version for version in every if supports_binding(version.dialect, binding)]


def path_of(version: Version) -> str:
    return "" if version.name == "1.0" else version.path


@pytest.mark.parametrize("version", versions_over("JSONRPC"), ids=lambda version: version.name)
async def test_over_json_rpc(agent: MockAgent, session: aiohttp.ClientSession, version: Version) -> None:
    codes = set()
    for operation, method in version.dialect.methods.items():
        for params in mutated(version.dialect.encode_request(operation, REQUESTS[operation])):
            call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            headers = dict(version.dialect.headers)
            async with session.post(agent.url + path_of(version), json=call, headers=headers) as response:
                assert response.status == 200
                if response.content_type == "application/json":
                    answer = await response.json()
                    codes.add(answer.get("error", {}).get("code"))
                    assert answer.get("error", {}).get("code") != -32603, (call, answer)
    assert -32602 in codes
    assert len(codes - {None}) >= 2


@pytest.mark.parametrize("version", versions_over("HTTP+JSON"), ids=lambda version: version.name)
async def test_over_http_and_json(agent: MockAgent, session: aiohttp.ClientSession, version: Version) -> None:
    statuses = set()
    for operation in version.dialect.routes:
        valid = rest.encode(agent.url + path_of(version), version.dialect, operation, REQUESTS[operation], "1")
        assert isinstance(valid, HttpRequest)
        for body in mutated(json.loads(valid.body)) if valid.body else (None,):
            raw = None if body is None else json.dumps(body).encode()
            async with session.request(valid.method, valid.url, data=raw, headers=dict(valid.headers)) as response:
                statuses.add(response.status)
                assert response.status < 500, (valid, body, await response.text())
    assert {400, 404} <= statuses


@pytest.mark.parametrize("version", versions_over("GRPC"), ids=lambda version: version.name)
async def test_over_grpc(agent: MockAgent, version: Version) -> None:
    service = version.dialect.service
    assert service is not None
    seen = set()
    async with grpc.aio.insecure_channel(agent.grpc_target) as channel:
        for method in service.methods.values():
            for raw in (b"", b"\x0a\x00", b"\xff", b"\x0a\x03abc", b"\x12\x02\x08\x01", b"\x08\xff\xff\xff\xff\x0f"):
                try:
                    async for _ in channel.unary_stream(f"/{service.name}/{method.name}")(raw):
                        break
                except grpc.aio.AioRpcError as error:
                    seen.add(error.code())
    assert {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND} <= seen
    assert not seen & {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}
