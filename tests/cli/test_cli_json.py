"""The output of `-o json` is valid JSON whatever the agent sends, in the types of A2A 1.0."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from aiohttp import web
from puppets import Call, CliResult, MakeAgent, RunCli

from inspector.protocol.dialects import v0_1, v1_0
from inspector.protocol.dialects.legacy import without_older_members
from inspector.protocol.model import Unreadable, Wire

VALUES = {
    "infinity": "1e999",
    "negative infinity": "-1e999",
    "many digits": "7" * 4300,
    "too many digits": "7" * 4301,
    "a small number": "1e-400",
    "NaN": "NaN",
    "Infinity": "Infinity",
    "half of a surrogate pair": '"\\ud800"',
    "a control character": '"\\u0000\\u001b[31m\\u202e"',
}
COMMANDS = {
    "send": ("send", "--text", "hi"),
    "send with findings": ("send", "--text", "hi", "--findings"),
    "send with a stream": ("send", "--text", "hi", "--stream"),
    "get": ("task", "get", "t"),
    "list": ("task", "list"),
    "list with a stream": ("task", "list", "--stream"),
    "subscribe": ("task", "subscribe", "t", "--stream"),
    "cancel": ("task", "cancel", "t"),
    "extended card": ("card", "get", "--extended"),
    "push": ("task", "push-config", "get", "t", "--id", "p"),
}


def refuse(name: str) -> NoReturn:
    raise AssertionError(f"{name} is not JSON")


def strict(text: str) -> Any:
    """Read JSON; fail for the constants that JSON does not have."""
    return json.loads(text, parse_constant=refuse)


def check(ran: CliResult) -> None:
    """Check that stdout is a JSON document or JSON Lines, and that the error on stderr is JSON."""
    if ran.out.startswith("{\n"):
        strict(ran.out)
    else:
        assert [strict(line) for line in ran.out.splitlines()] or not ran.out
    for line in ran.err.splitlines():
        if line.startswith("{"):
            strict(line)
    assert "Traceback" not in ran.err


def answer_of(method: str, value: str) -> str:
    """Return a result of an operation, with a value of the agent in its metadata and data."""
    part = f'{{"data": {{"x": {value}}}, "metadata": {{"y": [{value}]}}}}'
    task = (
        '{"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}, '
        f'"artifacts": [{{"artifactId": "a", "parts": [{part}]}}], "metadata": {{"z": {value}}}, "unknown": {value}}}'
    )
    match method:
        case "SendMessage" | "SendStreamingMessage" | "SubscribeToTask":
            return f'{{"task": {task}}}'
        case "ListTasks":
            return f'{{"tasks": [{task}], "nextPageToken": "", "pageSize": 1, "totalSize": 1}}'
        case "GetExtendedAgentCard":
            return f'{{"name": "x", "extra": {value}}}'
        case "GetTaskPushNotificationConfig":
            return f'{{"id": "p", "taskId": "t", "url": "https://a.example/", "extra": {value}}}'
        case _:
            return task


@pytest.mark.parametrize("value", VALUES.values(), ids=list(VALUES))
def test_the_output_is_valid_json(cli: RunCli, make_agent: MakeAgent, tmp_path: Path, value: str):
    async def answer(call: Call) -> web.StreamResponse:
        envelope = f'{{"jsonrpc": "2.0", "id": {json.dumps(call.rpc["id"])}, "result": '
        body = f"{envelope}{answer_of(call.rpc['method'], value)}}}"
        if call.rpc["method"] in ("SendStreamingMessage", "SubscribeToTask"):
            return web.Response(body=f"data: {body}\n\n".encode(), content_type="text/event-stream")
        return call.raw(body.encode())

    capabilities = {"streaming": True, "pushNotifications": True, "extendedAgentCard": True}
    agent = make_agent(answer, card={"capabilities": capabilities})
    for words in COMMANDS.values():
        check(cli(*words, "-a", agent.url, "-o", "json"))
    path = str(tmp_path / "recorded.a2a")
    saved = tmp_path / "saved"
    cli("send", "-a", agent.url, "--text", "hi", "--capture", path, "--save", str(saved))
    check(cli("show", path, "-o", "json"))
    for file in saved.glob("*.json"):
        strict(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("value", ["1e999", "[-1e999]", '{"x": 1e999}'])
def test_an_error_with_any_data_is_valid_json(cli: RunCli, make_agent: MakeAgent, value: str):
    async def answer(call: Call) -> web.StreamResponse:
        error = f'{{"code": -32000, "message": "no", "data": {value}}}'
        return call.raw(f'{{"jsonrpc": "2.0", "id": {json.dumps(call.rpc["id"])}, "error": {error}}}'.encode())

    for words in COMMANDS.values():
        check(cli(*words, "-a", make_agent(answer).url, "-o", "json"))


def test_a_card_with_any_number_is_valid_json(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    card = tmp_path / "card.json"
    card.write_text('{"name": "x", "skills": [], "capabilities": {}, "extra": [1e999, -1e999]}', encoding="utf-8")
    check(cli("card", "get", "-a", str(card), "-o", "json"))
    for ran in (cli("lint", str(card), "-o", "json"), cli("lint", str(card), "-o", "sarif")):
        strict(ran.out)


def unknown_members(value: Any) -> set[str]:
    """Return the members of an event that A2A 1.0 does not define, with the name of their object."""
    event = v1_0.decode_event(value)
    assert not isinstance(event, Unreadable)
    return set(_extra(event))


def _extra(value: Any) -> Iterator[str]:
    if isinstance(value, Wire):
        yield from (f"{type(value).__name__}.{name}" for name in value.model_extra or {})
        for name in value.model_fields_set:
            yield from _extra(getattr(value, name, None))
    for item in value if isinstance(value, list) else ():
        yield from _extra(item)


@pytest.mark.parametrize("version", ["0.2", "0.3"])
def test_an_older_agent_is_printed_with_members_of_1_0_only(cli: RunCli, mock: str, version: str):
    words = ("-a", mock, "--a2a-version", version, "-o", "json")
    ran = cli("send", "--text", "report 3", "--stream", *words)
    events = [strict(line) for line in ran.out.splitlines()]
    assert len(events) > 4
    ran = cli("send", "--text", "report 3", *words)
    events.append(strict(ran.out))
    unknown = {place for event in events for place in unknown_members(event)}
    assert unknown == set()
    task = strict(cli("task", "get", events[-1]["task"]["id"], *words).out)
    assert unknown_members({"task": task}) == set()


@pytest.mark.parametrize(
    "value",
    [
        {"id": "t", "status": {"state": "completed"}, "final": True},
        {"id": "t", "artifact": {"index": 1, "parts": [{"type": "text", "text": "x"}]}},
        {"id": "t", "status": {"state": "completed"}, "artifacts": [{"index": 0, "parts": []}], "history": []},
    ],
    ids=["status", "artifact", "task"],
)
def test_an_event_of_0_1_has_members_of_1_0_only(value: Any):
    event = v0_1.DIALECT.decode_event(value)
    assert not isinstance(event, Unreadable)
    assert unknown_members(v1_0.encode_event(event))
    assert unknown_members(v1_0.encode_event(without_older_members(event))) == set()
