"""`card diff`: the differences between cards from files, URLs and stdin."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from puppets import MakeAgent, RunCli, header

from inspector.findings.card.valid_examples import VALID_CARDS, patched

CARD = VALID_CARDS["1.0"]


def write(path: Path, card: object) -> str:
    path.write_text(json.dumps(card))
    return str(path)


@pytest.fixture
def old(tmp_path: Path) -> str:
    return write(tmp_path / "old.json", CARD)


def test_equal_cards_have_no_changes(cli: RunCli, mock: str, tmp_path: Path):
    copy = tmp_path / "copy.json"
    copy.write_text(cli("card", "get", mock, "-o", "json").out)
    ran = cli("card", "diff", str(copy), mock)
    assert (ran.code, ran.out, ran.err) == (0, "Changes: none\n", "")
    assert cli("card", "diff", str(copy), mock, "-o", "json").json == []


def test_each_change_is_a_line_and_the_exit_code_is_1(cli: RunCli, old: str, tmp_path: Path):
    skills = [{**CARD["skills"][0], "id": "new"}, *CARD["skills"]]
    new = write(tmp_path / "new.json", patched(CARD, {"version": "2\x1b[31m", "description": None, "skills": skills}))
    ran = cli("card", "diff", old, new)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert f'~ version: {json.dumps(CARD["version"])} -> "2\\u001b[31m"' in lines
    assert f"- description: {json.dumps(CARD['description'])}" in lines
    assert [line for line in lines if line.startswith('+ skills / new: {"id":"new",')]
    assert lines[-1] == "Changes: 3"


def test_json_has_a_pointer_and_the_values_that_exist(cli: RunCli, old: str, tmp_path: Path):
    new = write(tmp_path / "new.json", patched(CARD, {"version": "2", "x-note": [None]}))
    ran = cli("card", "diff", old, new, "-o", "json")
    assert ran.code == 1
    assert ran.json == [
        {"change": "changed", "pointer": "/version", "before": CARD["version"], "after": "2"},
        {"change": "added", "pointer": "/x-note", "after": [None]},
    ]


def test_another_order_of_interfaces_is_a_change(cli: RunCli, tmp_path: Path):
    interfaces = [{"url": f"https://a/{n}", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"} for n in (1, 2)]
    one = write(tmp_path / "one.json", patched(CARD, {"supportedInterfaces": interfaces}))
    other = write(tmp_path / "other.json", patched(CARD, {"supportedInterfaces": interfaces[::-1]}))
    ran = cli("card", "diff", one, other)
    assert (ran.code, ran.out) == (1, "^ supportedInterfaces: the same items in another order\nChanges: 1\n")


def test_cards_of_two_versions_are_compared_in_one_form(cli: RunCli, old: str, tmp_path: Path):
    ran = cli("card", "diff", write(tmp_path / "earlier.json", VALID_CARDS["0.3"]), old)
    assert "the cards are of A2A 0.3 and 1.0: compared as cards of 1.0" in ran.err
    assert "preferredTransport" not in ran.out


@pytest.mark.parametrize("place", [0, 1])
def test_one_card_can_come_from_stdin(cli: RunCli, old: str, place: int):
    words = [old, old]
    words[place] = "-"
    assert cli("card", "diff", *words, stdin=json.dumps(CARD).encode()).code == 0
    broken = cli("card", "diff", *words, stdin=b'{"name": ')
    assert broken.code == 1
    assert broken.err.startswith("Error: The text on stdin is not a card: ")
    invalid = cli("card", "diff", *words, stdin=b'{"name": "A", "skills": [], "supportedInterfaces": 1}')
    assert invalid.err.startswith("Error: The card in the text on stdin is invalid: ")


def test_only_one_card_can_come_from_stdin(cli: RunCli):
    ran = cli("card", "diff", "-", "-", stdin=b"{}")
    assert (ran.code, ran.out) == (2, "")
    assert "Only one of the two cards can be read from stdin." in ran.err


@pytest.mark.parametrize("place", [0, 1])
def test_a_missing_card_has_the_exit_code_of_other_commands(cli: RunCli, old: str, closed_port: int, place: int):
    words = [old, old]
    words[place] = f"http://127.0.0.1:{closed_port}"
    ran = cli("card", "diff", *words)
    assert (ran.code, ran.out) == (3, "")
    assert f"127.0.0.1:{closed_port}" in ran.err


def test_credentials_are_for_the_second_agent_only(cli: RunCli, make_agent: MakeAgent):
    def protected(request: web.BaseRequest) -> Any:
        return {} if "Authorization" in request.headers else web.Response(status=401)

    old, new = make_agent(card={}), make_agent(card=protected)
    ran = cli("card", "diff", old.url, new.url, "--bearer", "canary-5511-token")
    assert ran.code == 1  # their interfaces differ
    assert header(new, "Authorization") == "Bearer canary-5511-token"
    assert header(old, "Authorization") is None
    old.card = protected
    assert cli("card", "diff", old.url, new.url, "--bearer", "canary-5511-token").code == 4
    trusting = ("--trust", old.url)
    assert cli("card", "diff", old.url, new.url, "--bearer", "canary-5511-token", *trusting).code == 1
    assert header(old, "Authorization") == "Bearer canary-5511-token"
    named = old.url.replace("http://", "http://user:password@")
    assert cli("card", "diff", named, new.url, "--bearer", "canary-5511-token").code == 1
    assert header(old, "Authorization") == f"Basic {b64encode(b'user:password').decode()}"


def test_both_cards_can_be_those_of_named_agents(cli: RunCli, mock: str, tmp_path: Path):
    home = str(tmp_path / "home")
    for name in ("staging", "production"):
        assert cli("agents", "add", name, mock, A2A_INSPECT_HOME=home).code == 0
    ran = cli("card", "diff", "staging", "production", A2A_INSPECT_HOME=home)
    assert (ran.code, ran.out) == (0, "Changes: none\n")


def test_the_card_of_the_host_is_named(cli: RunCli, mock: str, old: str):
    ran = cli("card", "diff", f"{mock}/some/path", old)
    assert ran.code == 1
    assert f"{mock}/some/path: no valid card was found below /some/path; this is the card of the host" in ran.err


def test_credentials_are_for_the_only_agent(cli: RunCli, make_agent: MakeAgent, old: str):
    def protected(request: web.BaseRequest) -> Any:
        return {} if "Authorization" in request.headers else web.Response(status=401)

    agent = make_agent(card=protected)
    assert cli("card", "diff", agent.url, old, "--bearer", "canary-5511-token").code == 1
    assert header(agent, "Authorization") == "Bearer canary-5511-token"
