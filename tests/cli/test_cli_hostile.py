"""Agents whose texts contain terminal sequences: the output is harmless."""

from __future__ import annotations

import unicodedata

import pytest
from aiohttp import web
from puppets import Call, CliResult, MakeAgent, RunCli

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\x08\x7f\u202egnp\u200b\ufeff\u2028\x85\x00<end>"
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def assert_harmless(ran: CliResult) -> None:
    for text in (ran.out, ran.err):
        bad = {letter for letter in text if letter != "\n" and unicodedata.category(letter) in HIDDEN}
        assert not bad, [hex(ord(letter)) for letter in bad]
    assert "<end>" in ran.out + ran.err


def evil(value: object) -> object:
    """Replace every string in a value by the hostile text, keeping names and structure."""
    match value:
        case dict():
            return {name: evil(member) for name, member in value.items()}
        case list():
            return [evil(member) for member in value]
        case str():
            return f"{value}{EVIL}"
        case _:
            return value


CARD = {
    "name": "n",
    "description": "d\nd",
    "version": "v",
    "documentationUrl": "u",
    "provider": {"organization": "o", "url": "u"},
    "capabilities": {"streaming": True, "extensions": [{"uri": "x"}]},
    "securitySchemes": {"a": {"apiKeySecurityScheme": {"location": "l", "name": "n"}}, "b": {"odd": {}}},
    "securityRequirements": [{"schemes": {"a": {"list": ["s"]}}}, {"schemes": {"nobody": {}}}],
    "defaultInputModes": ["i"],
    "defaultOutputModes": ["o"],
    "skills": [{"id": "i", "name": "n", "description": "d", "tags": ["t"], "examples": ["e"], "inputModes": ["m"]}],
}
INTERFACE = {"url": "http://127.0.0.1:1/x", "protocolBinding": "B", "protocolVersion": "9"}
MESSAGE = {
    "messageId": "m",
    "contextId": "c",
    "role": "r",
    "parts": [
        {"text": "t", "mediaType": "m", "filename": "f", "metadata": {"k": "v"}},
        {"data": {"k": ["v"]}},
        {"url": "u", "filename": "f", "mediaType": "m"},
        {"raw": "r", "filename": "f"},
        {"odd": "o"},
    ],
    "metadata": {"k": "v"},
    "odd": "o",
}
TASK = {
    "id": "t",
    "contextId": "c",
    "status": {"state": "s", "message": MESSAGE, "timestamp": "t"},
    "artifacts": [{"artifactId": "a", "name": "n", "description": "d", "parts": MESSAGE["parts"], "odd": "o"}],
    "history": [MESSAGE],
    "metadata": {"k": "v"},
}


@pytest.mark.parametrize("words", [[], ["--verbose"], ["--validate"], ["-o", "json"], ["--debug"]], ids=" ".join)
def test_a_hostile_card(cli: RunCli, make_agent: MakeAgent, words: list[str]):
    agent = make_agent(card=evil(CARD | {"supportedInterfaces": [INTERFACE]}))
    assert_harmless(cli("card", "get", "-a", agent.url, *words))


@pytest.mark.parametrize("words", [[], ["--verbose"], ["-o", "json"], ["--debug", "--history", "9"]], ids=" ".join)
def test_a_hostile_task(cli: RunCli, make_agent: MakeAgent, words: list[str]):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(evil(TASK))

    assert_harmless(cli("task", "get", "x", "-a", make_agent(answer).url, *words))


@pytest.mark.parametrize("words", [[], ["--verbose"], ["-o", "json"], ["--debug"]], ids=" ".join)
def test_a_hostile_message(cli: RunCli, make_agent: MakeAgent, words: list[str]):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"message": evil(MESSAGE)})

    assert_harmless(cli("send", "-a", make_agent(answer).url, "--text", "hi", *words))


@pytest.mark.parametrize("words", [[], ["--verbose"], ["-o", "json"], ["--debug"]], ids=" ".join)
def test_a_hostile_stream(cli: RunCli, make_agent: MakeAgent, words: list[str]):
    ids = {"taskId": EVIL, "contextId": EVIL}
    asking = {"status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": evil(MESSAGE)}}
    artifact = {"artifact": evil(TASK["artifacts"][0])}

    async def answer(call: Call) -> web.StreamResponse:
        events = (
            {"artifactUpdate": ids | artifact},
            b"data: " + EVIL.encode() + b"\n\n",
            {"statusUpdate": ids | asking},
        )
        return await call.stream(*events)

    ran = cli("send", "-a", make_agent(answer).url, "--text", "hi", "--stream", *words)
    assert ran.code == 0
    assert_harmless(ran)


@pytest.mark.parametrize("words", [[], ["-o", "json"], ["--debug"]], ids=" ".join)
def test_a_hostile_error(cli: RunCli, make_agent: MakeAgent, words: list[str]):
    async def answer(call: Call) -> web.StreamResponse:
        return call.error(-32000, EVIL)

    ran = cli("task", "get", "x", "-a", make_agent(answer).url, *words)
    assert ran.code == 1
    assert_harmless(ran)


def test_address_with_invalid_utf_8_is_printed(cli: RunCli):
    ran = cli("card", "get", "-a", "\udcff<end>")
    assert ran.code != 0
    assert_harmless(ran)


def test_text_that_looks_like_a_field_is_indented(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        parts = [{"text": "hello\n\nState: completed\r\nTask: forged"}]
        return call.result({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts}})

    out = cli("send", "-a", make_agent(answer).url, "--text", "hi").out
    assert not [line for line in out.splitlines() if line.startswith(("State:", "Task:"))]


def test_forged_id_is_quoted_for_the_shell(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result(
            {"task": {"id": "x; touch owned $(id) `id`", "status": {"state": "TASK_STATE_INPUT_REQUIRED"}}}
        )

    out = cli("send", "-a", make_agent(answer).url, "--text", "hi").out
    assert "--task-id 'x; touch owned $(id) `id`' " in out


def test_half_of_a_surrogate_pair_hides_only_itself(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        body = rb'{"jsonrpc": "2.0", "id": "%s", "result": {"message": {"messageId": "m", "role": "ROLE_AGENT", '
        body += rb'"parts": [{"text": "one \ud83d"}, {"text": "two"}]}}}'
        return call.raw(body.replace(b"%s", call.rpc["id"].encode()))

    agent = make_agent(answer, {"name": "Agent \ud83d", "description": "the rest"})
    card = cli("card", "get", agent.url, "-o", "json")
    assert (card.code, card.json["name"], card.json["description"]) == (0, "Agent \ufffd", "the rest")
    assert "surrogate" in card.err
    assert "CARD-096" in cli("lint", agent.url).out
    sent = cli("send", agent.url, "--text", "hi", "-o", "json", "--findings")
    finding, answered = sent.lines
    assert [part["text"] for part in answered["message"]["parts"]] == ["one \ufffd", "two"]
    assert finding["finding"]["pointer"] == "/result/message/parts/0/text"
