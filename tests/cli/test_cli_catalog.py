"""Agents in an AI Catalog: `-a CATALOG#entry` wherever an agent is accepted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from puppets import CARD, RunCli, ServerThread

WELL_KNOWN = "/.well-known/ai-catalog.json"


@pytest.fixture
def serve_catalog(server_thread: ServerThread) -> Iterator[Callable[..., str]]:
    """Serve a catalog with these entries; `seen` collects the requests."""
    serving = []

    def serve(*entries: Any, seen: list[web.BaseRequest] | None = None, status: int = 200) -> str:
        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            if seen is not None:
                seen.append(request)
            if request.path != WELL_KNOWN:
                return web.Response(status=404)
            return web.json_response({"specVersion": "1.0", "entries": list(entries)}, status=status)

        context = server_thread.serve(handle)
        serving.append(context)
        return context.__enter__()

    yield serve
    for context in serving:
        context.__exit__(None, None, None)


@pytest.mark.parametrize("name", ["urn:example:mock", "mock", "The%20Mock"])
def test_an_entry_with_a_url_is_an_agent(cli: RunCli, mock: str, serve_catalog: Callable[..., str], name: str):
    entry = {"identifier": "urn:example:mock", "displayName": "The Mock", "url": f"{mock}/.well-known/agent-card.json"}
    catalog = serve_catalog({"identifier": "urn:example:other", "url": "/x"}, entry)
    assert cli("card", "get", "-a", f"{catalog}#{name}", "-o", "json").json["name"] == "Mock Agent"
    ran = cli("send", f"{catalog}{WELL_KNOWN}#{name}", "--text", "echo hi", "-o", "json")
    assert ran.json["message"]["parts"] == [{"text": "hi"}]


def test_an_entry_with_a_card_is_an_agent_and_is_recorded(
    cli: RunCli, mock: str, serve_catalog: Callable[..., str], tmp_path: Path
):
    card = cli("card", "get", mock, "-o", "json").json | {"name": "Inline"}
    catalog = serve_catalog({"name": "inline", "mediaType": "application/a2a-agent-card+json", "data": card})
    capture = str(tmp_path / "c.a2a")
    ran = cli("send", f"{catalog}#inline", "--text", "echo hi", "-o", "json", "--capture", capture)
    assert ran.json["message"]["parts"] == [{"text": "hi"}]
    labels = [record["label"] for record in cli("show", capture, "-o", "json").lines]
    assert "an AI Catalog with 1 entries" in labels
    assert f"the card of {catalog}#inline" in labels


@pytest.mark.parametrize("command", ["doctor", "lint", "conformance"])
def test_the_agent_of_an_entry_can_be_examined(
    cli: RunCli, mock: str, serve_catalog: Callable[..., str], command: str, tmp_path: Path
):
    catalog = serve_catalog(
        {"name": "a", "url": mock}, {"name": "b", "data": cli("card", "get", mock, "-o", "json").json}
    )
    assert cli(command, f"{catalog}#a").code == 0
    file = tmp_path / "catalog.json"
    file.write_text(json.dumps({"entries": [{"name": "a", "url": mock}]}), "utf-8")
    assert cli(command, f"{file}#a").code == 0
    if command != "conformance":  # which fetches the card from its own URL
        assert cli(command, f"{catalog}#b").code == 0


def test_a_catalog_can_be_a_file(cli: RunCli, mock: str, tmp_path: Path):
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps({"entries": [{"identifier": "mock", "url": mock}]}), "utf-8")
    assert cli("card", "get", f"{path}#mock", "-o", "json").json["name"] == "Mock Agent"


def test_a_file_whose_name_has_the_character_is_a_card(cli: RunCli, tmp_path: Path):
    path = tmp_path / "a#b.json"
    path.write_text(json.dumps(CARD | {"supportedInterfaces": []}), "utf-8")
    assert cli("card", "get", str(path), "-o", "json").json["name"] == "Puppet"


@pytest.mark.parametrize(
    ("entry", "code", "exit_code", "message"),
    [
        ({"identifier": "b", "url": "x"}, "A2ACLI_ERR_CARD_NOT_FOUND", 3, "has no entry 'a'"),
        ({"identifier": "a"}, "A2ACLI_ERR_CARD_INVALID", 1, "neither a url nor data"),
        ({"identifier": "a", "data": {"x": 1}}, "A2ACLI_ERR_CARD_INVALID", 1, "without the members of a card"),
        ({"identifier": "a", "url": "/nothing"}, "A2ACLI_ERR_CARD_NOT_FOUND", 3, "404"),
        ("a", "A2ACLI_ERR_CARD_NOT_FOUND", 3, "has no entry 'a'"),
    ],
)
def test_an_entry_without_a_card_is_an_error(
    cli: RunCli, serve_catalog: Callable[..., str], entry: Any, code: str, exit_code: int, message: str
):
    ran = cli("card", "get", f"{serve_catalog(entry)}#a", "-o", "json")
    assert (ran.code, ran.error["code"]) == (exit_code, code)
    assert message in ran.error["message"]
    assert ran.error["hint"]


@pytest.mark.parametrize(("status", "code"), [(404, 3), (401, 4), (403, 4)])
def test_a_catalog_that_is_not_served_is_an_error(
    cli: RunCli, serve_catalog: Callable[..., str], status: int, code: int
):
    assert cli("card", "get", f"{serve_catalog(status=status)}#a").code == code


def test_credentials_are_not_sent_to_the_agent_of_an_entry_at_another_origin(
    cli: RunCli, serve_catalog: Callable[..., str]
):
    asked: list[web.BaseRequest] = []
    agent = serve_catalog(seen=asked)
    cli("card", "get", f"{serve_catalog({'name': 'a', 'url': agent})}#a", "--bearer", "T0ken", "--auth-card")
    assert asked
    assert not [request for request in asked if "T0ken" in str(request.headers)]
