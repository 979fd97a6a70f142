"""Agents in an AI Catalog: `-a CATALOG#entry` wherever an agent is accepted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import rfc8785
from aiohttp import web
from joserfc.jwk import ECKey
from mandate_tokens import sign
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


def entry(name: str, **members: Any) -> dict[str, Any]:
    return {"identifier": f"urn:air:a.example:agent:{name}", "type": "application/a2a-agent-card+json", **members}


CARD_PATH = "/.well-known/agent-card.json"


def test_lint_of_a_catalog_checks_it_and_every_card_in_one_table(
    cli: RunCli, mock: str, serve_catalog: Callable[..., str]
):
    card = cli("card", "get", mock, "-o", "json").json
    bad = {name: value for name, value in card.items() if name != "version"}
    catalog = serve_catalog(
        entry("good", url=f"{mock}{CARD_PATH}"),
        entry("bad", data=bad),
        entry("gone", url=f"{mock}/nothing.json"),
        {"identifier": "urn:air:a.example:mcp:tool", "type": "application/mcp-server-card+json", "url": "https://x/"},
    )
    ran = cli("lint", catalog)
    assert ran.code == 1
    rows = [line.split() for line in ran.out.splitlines() if line.split()[:1] in (["ok"], ["error"], ["skipped"])]
    assert [row[:2] for row in rows] == [["ok", "good"], ["error", "bad"], ["error", "gone"], ["skipped", "tool"]]
    assert "warning CATALOG-009" in ran.out, "served as application/json"
    assert ran.out.count("Remedy: Correct url or data") == 1
    result = cli("lint", catalog, "-o", "json").json
    assert (result["specVersion"], [finding["id"] for finding in result["findings"]]) == ("1.0", ["CATALOG-009"])
    found = {each["entry"]: each for each in result["entries"]}
    assert found["good"]["result"] == "ok"
    assert (found["good"]["url"], found["good"]["protocolVersion"]) == (f"{mock}{CARD_PATH}", "1.0")
    assert [finding["pointer"] for finding in found["bad"]["findings"]] == ["/version"]
    assert [finding["id"] for finding in found["gone"]["findings"]] == ["CATALOG-011"]
    assert found["tool"]["result"] == "skipped"


def test_lint_of_a_catalog_writes_reports(cli: RunCli, mock: str, serve_catalog: Callable[..., str]):
    catalog = serve_catalog(entry("good", url=f"{mock}{CARD_PATH}"), entry("gone", url=f"{mock}/nothing.json"))
    suites = ElementTree.fromstring(cli("lint", catalog, "-o", "junit").out)
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [
        (f"{catalog}{WELL_KNOWN}", "1"),
        (f"{catalog}#good", "0"),
    ]
    [run] = cli("lint", catalog, "-o", "sarif").json["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["CATALOG-009", "CATALOG-011"]


@pytest.mark.parametrize(("strict", "code"), [((), 0), (("--strict",), 1)])
def test_warnings_and_unchecked_cards_fail_only_with_strict(
    cli: RunCli, mock: str, tmp_path: Path, strict: tuple[str, ...], code: int
):
    file = tmp_path / "catalog.json"
    cards = [entry(name, url=f"{mock}{CARD_PATH}") for name in ("a", "b")]
    file.write_text(json.dumps({"specVersion": "0.9", "entries": cards}), "utf-8")
    ran = cli("lint", str(file), "--max-cards", "1", *strict)
    assert ran.code == code
    assert "not fetched: more than 1 cards and catalogs" in ran.out
    assert "not checked: 1 of 2 entries" in ran.err
    assert cli("lint", str(file), *strict).code == 0


def test_lint_reads_a_catalog_from_stdin(cli: RunCli, mock: str):
    document = {"specVersion": "0.9", "entries": [entry("a", url=f"{mock}{CARD_PATH}")]}
    ran = cli("lint", "-", stdin=json.dumps(document).encode())
    assert ran.code == 0
    assert "Mock Agent" in ran.out


def test_lint_reads_nested_catalogs_to_a_limit_and_each_of_them_once(
    cli: RunCli, mock: str, serve_catalog: Callable[..., str]
):
    inner: dict[str, Any] = {"specVersion": "0.9", "entries": [entry("deepest", url=f"{mock}{CARD_PATH}")]}
    for level in range(5):
        inner = {
            "specVersion": "0.9",
            "entries": [
                {"identifier": f"urn:c:{level}", "type": "application/ai-catalog+json", "data": inner},
                entry(f"agent{level}", url=f"{mock}{CARD_PATH}"),
            ],
        }
    loop = {"identifier": "urn:c:loop", "type": "application/ai-catalog+json", "url": WELL_KNOWN}
    catalog = serve_catalog(loop, *inner["entries"])
    entries = cli("lint", catalog, "-o", "json").json["entries"]
    reasons = [each["reason"] for each in entries if each["reason"]]
    assert reasons == ["the catalog was read before", "not read: more than 4 catalogs in each other"]
    names = [each["identifier"].rpartition(":")[2] for each in entries if each["result"] == "ok"]
    assert names == ["4", "3", "2", "agent1", "agent2", "agent3", "agent4"]


def test_an_entry_of_a_nested_catalog_is_an_agent(cli: RunCli, mock: str, serve_catalog: Callable[..., str]):
    nested = {"name": "sub", "type": "application/ai-catalog+json", "data": {"entries": [entry("a", url=mock)]}}
    catalog = serve_catalog(nested)
    ran = cli("card", "get", f"{catalog}#sub")
    assert ran.code == 2
    assert f"{catalog}#/entries/0/data/entries/0" in ran.err
    reference = f"{catalog}#/entries/0/data/entries/0"
    assert cli("card", "get", reference, "-o", "json").json["name"] == "Mock Agent"


@pytest.mark.parametrize("path", ["", WELL_KNOWN, "#", f"{WELL_KNOWN}#"])
def test_a_catalog_without_an_entry_names_its_entries(
    cli: RunCli, mock: str, serve_catalog: Callable[..., str], path: str
):
    catalog = serve_catalog(*(entry(f"a{number}", url=mock) for number in range(12)))
    ran = cli("send", f"{catalog}{path}", "--text", "hi", "-o", "json")
    assert ran.code == 2
    assert "an AI Catalog with 12 agents" in ran.error["message"]
    assert "a8, a9 and 2 more" in ran.error["hint"]


def test_the_card_of_a_host_is_used_before_its_catalog(cli: RunCli, mock: str):
    assert cli("card", "get", mock, "-o", "json").json["name"] == "Mock Agent"
    assert cli("lint", mock).code == 0
    ran = cli("card", "get", f"{mock}#")
    assert ran.code == 2
    assert "with 3 agents" in ran.err, "the mock has a catalog, too"
    assert cli("card", "get", f"{mock}#mock", "-o", "json").json["name"] == "Mock Agent"
    assert cli("lint", f"{mock}{WELL_KNOWN}").code == 0


def test_the_doctor_explains_an_entry_that_cannot_be_used(cli: RunCli, serve_catalog: Callable[..., str]):
    catalog = serve_catalog(entry("dead", url="http://127.0.0.1:1/card.json"), entry("none"))
    steps = cli("doctor", f"{catalog}#dead", "-o", "json").json["steps"]
    assert [(step["name"], step["passed"]) for step in steps] == [
        ("name", True),
        ("tcp", True),
        ("catalog", True),
        ("name", True),
        ("tcp", False),
    ]
    steps = cli("doctor", f"{catalog}#none", "-o", "json").json["steps"]
    assert (steps[-1]["name"], steps[-1]["passed"]) == ("catalog", False)
    assert "neither a url nor data" in steps[-1]["message"]


def test_credentials_for_the_catalog_are_not_sent_to_its_agents_by_the_doctor_and_lint(
    cli: RunCli, mock: str, serve_catalog: Callable[..., str]
):
    asked: list[web.BaseRequest] = []
    agent = serve_catalog(seen=asked)
    catalog = serve_catalog(entry("a", url=f"{agent}/card.json"))
    for command in ("doctor", "lint"):
        cli(command, f"{catalog}#a", "--bearer", "T0ken", "--auth-card")
    cli("lint", f"{catalog}{WELL_KNOWN}", "--bearer", "T0ken", "--auth-card")
    assert len(asked) >= 3
    assert not [request for request in asked if "T0ken" in str(request.headers)]


def test_an_entry_gets_a_name_of_its_own(cli: RunCli, mock: str, serve_catalog: Callable[..., str]):
    catalog = serve_catalog(entry("a", data=cli("card", "get", mock, "-o", "json").json))
    assert cli("agents", "add", "listed", f"{catalog}#a").code == 0
    assert cli("agents", "check", "-o", "json").json[0]["card"] == "Mock Agent"
    assert cli("send", "listed", "--text", "echo hi", "-o", "json").json["message"]["parts"] == [{"text": "hi"}]
    assert f"{catalog}#a" in cli("agents", "list").out


def test_a_private_address_in_a_catalog_is_fetched_only_if_it_is_trusted(
    cli: RunCli, serve_catalog: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    asked: list[web.BaseRequest] = []
    agent = serve_catalog(seen=asked)

    async def is_private(url: str, _: str) -> str:
        return "10.0.0.1" if url.startswith(agent) else ""

    monkeypatch.setattr("inspector.session.catalog.private_address", is_private)
    catalog = serve_catalog(entry("a", url=f"{agent}/card.json"))
    ran = cli("lint", catalog, "-o", "json")
    assert (ran.code, asked) == (0, [])
    [result] = ran.json["entries"]
    assert result["result"] == "not checked"
    assert f"--trust {agent}" in result["reason"]
    assert cli("lint", catalog, "--trust", agent).code == 1
    assert asked


def test_text_in_a_catalog_cannot_control_the_terminal(cli: RunCli, tmp_path: Path):
    nasty = "\x1b[31mred\u202e\n"
    hostile = {"identifier": f"urn:{nasty}", "type": nasty, "displayName": nasty, "url": nasty, "version": nasty}
    document = {"specVersion": nasty, "host": {"displayName": nasty}, "entries": [hostile, hostile | {"type": ""}]}
    file = tmp_path / "catalog.json"
    file.write_text(json.dumps(document), "utf-8")
    for command in (("lint", str(file)), ("card", "get", str(file)), ("lint", str(file), "-o", "junit")):
        ran = cli(*command, width=80)
        assert "\x1b" not in ran.out + ran.err
        assert "\u202e" not in ran.out + ran.err


def test_lint_prints_whether_the_signatures_of_trust_manifests_are_valid(cli: RunCli, tmp_path: Path):
    key = ECKey.generate_key("P-256", {"kid": "did:web:a.example#key-1"})
    card = {"name": "A"}
    entry = {"identifier": "urn:air:a.example:agent:a", "type": "application/a2a-agent-card+json"}
    signature = {"signer": "did:web:a.example", "profile": "did-web-v1", "issuedAt": "2026-01-31T12:00:00Z"}
    digest = f"sha256:{hashlib.sha256(rfc8785.dumps(card)).hexdigest()}"
    manifest = {"contributor": "did:web:a.example", "subject": {**entry, "digest": digest}, "signature": signature}
    header = {"typ": "ai-catalog-trust-manifest+jws"}
    protected, _, signed = sign(rfc8785.dumps(manifest), key, **header).split(".")
    manifest["signature"] = {**signature, "jws": f"{protected}..{signed}"}
    path, keys = tmp_path / "catalog.json", tmp_path / "keys.json"
    path.write_text(
        json.dumps({"specVersion": "0.9", "entries": [{**entry, "data": card, "trustManifests": [manifest]}]})
    )
    keys.write_text(json.dumps(key.as_dict(private=False)))
    known = "Trust manifest: a, did:web:a.example: valid: signed with key 'did:web:a.example#key-1', which is trusted"
    assert known in cli("lint", str(path), "--trusted-keys", str(keys)).out
    assert "not verified: the key 'did:web:a.example#key-1' is not known" in cli("lint", str(path)).out
    [found] = cli("lint", str(path), "--trusted-keys", str(keys), "-o", "json").json["entries"][0]["trustManifests"]
    assert (found["contributor"], found["signature"]) == ("did:web:a.example", "valid")
    manifest["subject"]["digest"] = "sha256:00"
    path.write_text(
        json.dumps({"specVersion": "0.9", "entries": [{**entry, "data": card, "trustManifests": [manifest]}]})
    )
    ran = cli("lint", str(path), "--trusted-keys", str(keys))
    assert "CATALOG-014" in ran.out
    assert "not valid: the signature does not fit key" in ran.out
