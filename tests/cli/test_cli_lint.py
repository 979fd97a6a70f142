"""`lint` and `rules`: cards from files, URLs and stdin, in every format."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from aiohttp import web
from puppets import MakeAgent, RunCli

from inspector.findings.card.valid_examples import VALID_CARDS, patched
from inspector.findings.rules import RULES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def card(tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes a valid card, changed by a merge patch, to a file."""

    def write(shape: str = "1.0", **patch: object) -> str:
        path = tmp_path / "card.json"
        path.write_text(json.dumps(patched(VALID_CARDS[shape], patch)))
        return str(path)

    return write


def test_valid_file_has_no_findings(cli: RunCli, card: Callable[..., str]):
    ran = cli("lint", card())
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Protocol version: 1.0\nFindings: none\n"
    assert cli("lint", card("0.1"), "-o", "json").json == []


def test_error_has_exit_code_1_and_a_remedy(cli: RunCli, card: Callable[..., str]):
    path = card(name=None, version=None)
    ran = cli("lint", path)
    assert ran.code == 1
    assert "Finding: error CARD-001 /name: " in ran.out
    assert RULES["CARD-001"].remedy in ran.out
    assert RULES["CARD-001"].section in ran.out
    listed = cli("lint", path, "-o", "json").json
    assert [finding["pointer"] for finding in listed] == ["/name", "/version"]
    assert set(listed[0]) == {"id", "severity", "pointer", "section", "message", "remedy"}


def test_warning_has_exit_code_1_with_strict_only(cli: RunCli, card: Callable[..., str]):
    path = card(documentationUrl="docs")
    assert cli("lint", path).code == 0
    assert cli("lint", path, "--strict").code == 1


def test_sarif_has_rule_level_and_location(cli: RunCli, card: Callable[..., str]):
    path = card(name=None, documentationUrl="docs")
    ran = cli("lint", path, "-o", "sarif")
    assert ran.code == 1
    [log] = ran.json["runs"]
    assert [finding["level"] for finding in log["results"]] == ["error", "warning"]
    rules = log["tool"]["driver"]["rules"]
    for finding in log["results"]:
        assert rules[finding["ruleIndex"]]["id"] == finding["ruleId"]
        assert finding["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == path
    assert log["results"][0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "/name"


def test_junit_fails_for_errors_only(cli: RunCli, card: Callable[..., str]):
    suite = ElementTree.fromstring(cli("lint", card(name=None, documentationUrl="docs"), "-o", "junit").out)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert suite.find("testcase/failure") is not None
    passed = ElementTree.fromstring(cli("lint", card(), "-o", "junit").out)
    assert (passed.get("tests"), passed.get("failures")) == ("1", "0")


def test_junit_is_valid_xml_for_a_hostile_card(cli: RunCli, card: Callable[..., str]):
    ran = cli("lint", card(documentationUrl="\x00\x1b]0;evil\x07 <&> ]]> \ufffe"), "-o", "junit")
    assert "evil" in (ElementTree.fromstring(ran.out).findtext("testcase/system-out") or "")
    named = cli("lint", card(**{"na\x00me\x1b": 1}), "-o", "junit", "--strict")
    assert "/na␀me␛: " in "".join(ElementTree.fromstring(named.out).itertext())


def test_unreadable_card_is_linted(cli: RunCli, tmp_path: Path):
    path = tmp_path / "card.json"
    for raw, rule in (
        (b"", "CARD-006"),
        (b"<html>", "CARD-006"),
        (b"[]", "CARD-097"),
        (b'\xef\xbb\xbf{"name": "x"}', "CARD-008"),
        ('{"name": "x"}'.encode("utf-16"), "CARD-007"),
        (b'{"name": "x", "name": "y"}', "CARD-009"),
        (b"[" * 200_000, "CARD-006"),
        (b'{"version": ' + b"9" * 5000 + b"}", "CARD-098"),
        (b"null", "CARD-097"),
        (b'{"result": {"skills": [], "capabilities": {}}}', "CARD-099"),
    ):
        path.write_bytes(raw)
        ran = cli("lint", str(path), "-o", "json")
        assert ran.code == 1, raw[:20]
        assert rule in {finding["id"] for finding in ran.json}, raw[:20]


def test_missing_file_is_an_error(cli: RunCli, tmp_path: Path):
    ran = cli("lint", str(tmp_path / "none.json"))
    assert (ran.code, ran.out) == (3, "")
    assert "could not be read" in ran.err
    assert cli("lint", str(tmp_path)).code == 3


def test_card_is_linted_as_the_given_version(cli: RunCli, card: Callable[..., str]):
    found = cli("lint", card("0.1"), "--protocol-version", "0.3", "-o", "json").json
    assert "/protocolVersion" in {finding["pointer"] for finding in found}
    assert cli("lint", card(), "--protocol-version", "7").code == 2


def test_card_of_an_agent_is_linted_with_its_headers(cli: RunCli, make_agent):  # type: ignore[no-untyped-def]
    agent = make_agent(card=web.Response(body=json.dumps(VALID_CARDS["1.0"]).encode(), content_type="text/html"))
    found = cli("lint", agent.url, "-o", "json").json
    assert {"CARD-003", "CARD-110", "CARD-111"} <= {finding["id"] for finding in found}
    broken = make_agent(card=web.Response(body=b'{"name": 5', content_type="application/json"))
    assert [finding["id"] for finding in cli("lint", broken.url, "-o", "json").json] == ["CARD-006"]


def test_agent_without_a_card_is_an_error(cli: RunCli, make_agent):  # type: ignore[no-untyped-def]
    ran = cli("lint", make_agent(card=web.Response(status=404)).url)
    assert (ran.code, ran.out) == (3, "")


def test_card_of_the_host_is_not_linted_instead_of_the_card_of_a_path(cli: RunCli, make_agent):  # type: ignore[no-untyped-def]
    agent = make_agent()
    ran = cli("lint", f"{agent.url}/agents/other", "-o", "json")
    assert (ran.code, ran.out, ran.error["code"]) == (3, "", "A2ACLI_ERR_CARD_NOT_FOUND")
    assert ran.error["hint"].endswith(f"{agent.url}/.well-known/agent-card.json has no interface below this path.")


def test_card_is_read_from_stdin():
    command = [sys.executable, "-m", "inspector.cli.main", "lint", "-", "-o", "json"]
    ended = subprocess.run(command, input=b'{"name": 5}', capture_output=True, timeout=30, check=False)
    assert ended.returncode == 1
    assert "/name" in {finding["pointer"] for finding in json.loads(ended.stdout)}


def test_every_rule_is_listed(cli: RunCli):
    listed = cli("rules", "-o", "json").json
    assert [finding["id"] for finding in listed] == list(RULES)
    assert cli("rules", "card-004").out.startswith("CARD-004: warning: ")
    assert {finding["id"].partition("-")[0] for finding in cli("rules", "push", "-o", "json").json} == {"PUSH"}
    unknown = cli("rules", "NO-1", "card-004", "CARDS", "push")
    assert (unknown.code, unknown.out) == (2, "")
    assert "No rule matches NO-1, CARDS." in unknown.err


def test_the_page_of_the_rules_is_up_to_date(cli: RunCli):
    assert (DOCS / "rules.md").read_text() == cli("rules", "-o", "markdown").out
    assert f"lists the {len(RULES)} rules" in (DOCS.parent / "README.md").read_text()


@pytest.mark.parametrize("form", ["text", "sarif", "junit"])
def test_a_secret_that_is_the_name_of_a_member_is_masked(cli: RunCli, make_agent: MakeAgent, form: str):
    agent = make_agent(card={"canary-5511-token": 1, "skills": 5})
    ran = cli("lint", agent.url, "--bearer", "canary-5511-token", "-o", form)
    assert "****" in ran.out
    assert "canary-5511" not in ran.out
