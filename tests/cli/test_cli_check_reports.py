"""The reports of `check`: their formats, hostile texts and secrets in them, and the comparison of two agents."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from aiohttp import web
from puppets import Call, MakeAgent, RunCli
from written_checks import CARD, FAILS, GONE, SEND, case, check_report, line_of, writer

MIXED = (
    case("A"),
    case("B", FAILS, level="should"),
    case("C", preconditions={"skills": [{"id": "x"}]}),
    case("D", {**GONE, "params": {"id": "{{x}}"}}, level="may"),
)


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Return a function that writes a check file with these tests and returns its path."""
    return writer(tmp_path)


def test_reports_contain_the_differences_with_another_agent(
    cli: RunCli, make_agent: MakeAgent, file: Any, tmp_path: Path
):
    def answer(role: str, *, valid: bool = True) -> Any:
        members = {"messageId": "m"} if valid else {}

        async def respond(call: Call) -> web.StreamResponse:
            return call.result({"message": {**members, "role": role, "parts": [{"text": "x"}]}})

        return respond

    same, other = make_agent(answer("ROLE_AGENT")).url, make_agent(answer("ROLE_USER")).url
    invalid = make_agent(answer("ROLE_AGENT", valid=False)).url
    path = file(case("A"), case("B", {**SEND, "expect": {"body": {"message": {"role": "ROLE_AGENT"}}}}))
    reports = [f"--report={kind}={tmp_path / kind}" for kind in ("junit", "html")]

    result = cli("check", path, "-a", same, "--against", other, *reports)
    assert result.code == 1
    differing = re.findall(r"^Differs: (.*)", result.out, re.MULTILINE)  # also in time, on a busy machine
    assert [line for line in differing if not line.endswith("time")] == ["B (jsonrpc): result", "B (jsonrpc): findings"]
    assert "Compared: 2 tests, " in result.out
    root = ET.parse(tmp_path / "junit").getroot()
    assert (root.attrib["tests"], root.attrib["failures"]) == ("2", "1")
    [failure] = root.iter("failure")
    seen = f'result: pass; with {other}: fail: message.role: expected "ROLE_AGENT", got "ROLE_USER"'
    assert failure.attrib["message"] == seen
    assert seen in Page((tmp_path / "html").read_text()).text

    result = cli("check", path, "-a", same, "--against", invalid, "-k", "B", *reports)
    assert result.code == 0, result.err
    assert "Compared: 1 test, 0 without a difference" in result.out
    root = ET.parse(tmp_path / "junit").getroot()
    assert root.attrib["failures"] == "0"
    [note] = root.iter("system-out")
    assert note.text is not None
    assert note.text.startswith(f"findings: none; with {invalid}: ")
    page = Page((tmp_path / "html").read_text()).text
    assert all(line in page for line in note.text.splitlines())  # on a busy machine, the times differ, too


def test_if_the_second_agent_is_not_there_each_test_is_an_error_in_the_reports(cli: RunCli, mock: str, file: Any):
    result = cli("check", file(case("A")), "-a", mock, "--against", "http://127.0.0.1:9", "--report", "junit")
    assert result.code == 3
    assert ET.fromstring(result.out).attrib["errors"] == "1"


def test_a_second_capture_that_exists_is_reported_before_the_first_run(
    cli: RunCli, make_agent: MakeAgent, file: Any, tmp_path: Path
):
    agent = make_agent()
    (tmp_path / "run_against.a2a").write_text("of an earlier run")
    capture = f"--capture={tmp_path / 'run.a2a'}"
    result = cli("check", file(case("A")), "-a", agent.url, "--against", agent.url, capture)
    assert result.code == 2
    assert "run_against.a2a exists already" in result.err
    assert "Choose another file with --capture." in result.err
    assert agent.calls == []


def test_without_the_first_agent_there_is_no_second_capture(cli: RunCli, mock: str, file: Any, tmp_path: Path):
    capture = f"--capture={tmp_path / 'run.a2a'}"
    result = cli("check", file(case("A")), "-a", "http://127.0.0.1:9", "--against", mock, capture)
    assert result.code == 3
    assert not list(tmp_path.glob("run_against.a2a*"))


def test_the_second_agent_can_be_a_name_and_gets_the_credentials_of_its_definition(
    cli: RunCli, make_agent: MakeAgent, file: Any, tmp_path: Path
):
    async def respond(call: Call) -> web.StreamResponse:
        return call.result({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}})

    first, second, third = make_agent(respond), make_agent(respond), make_agent(respond)
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "agents.toml").write_text(
        f'[agents.staging]\nurl = "{second.url}"\nbearer = "env:STAGING"\n[agents.open]\nurl = "{third.url}"\n'
    )
    for name in ("staging", "open"):
        words = ("check", file(case("A", SEND)), "-a", first.url, "--bearer", "canary-1", "--against", name)
        result = cli(*words, STAGING="canary-2")
        assert "Compared: 1 test" in result.out, result.err
    sent = [
        {call.request.headers.get("Authorization") for call in agent.calls if call.body}
        for agent in (first, second, third)
    ]
    assert len(list((tmp_path / "home" / "captures").glob("*_against.a2a"))) == 2
    assert sent == [{"Bearer canary-1"}, {"Bearer canary-2"}, {None}]
    result = cli("check", file(case("A")), "-a", first.url, "--against", "stagin")
    assert result.code == 3
    assert "staging" in result.err


def test_json_is_the_report_of_acts(cli: RunCli, mock: str, file: Any):
    path = file(*MIXED)
    result = cli("check", path, "-a", mock, "-o", "json")
    report = result.json
    check_report(report, "jsonrpc")
    [suite] = report["suites"]
    assert result.code == 1
    assert result.error["message"].startswith("1 of 4 tests failed, 1 had an error.")
    assert result.error["code"] == "A2A_INSPECT_ERR_CHECK_FAILED"
    assert {test["id"]: test["result"] for test in suite["tests"]} == {
        "A": "pass",
        "B": "fail",
        "C": "skip",
        "D": "error",
    }
    [exchange] = suite["tests"][1]["steps"][0]["x-a2a-inspect"]["exchanges"]
    assert suite["tests"][1]["failure"] == {
        "message": 'message.role: expected "ROLE_USER", got "ROLE_AGENT"',
        "step_id": "wrong",
        "expected": '"ROLE_USER"',
        "actual": '"ROLE_AGENT"',
        "assertion_path": "message.role",
        "x-a2a-inspect": {"exchange": exchange, "file": path, "line": line_of(path, "wrong")},
    }
    assert suite["tests"][2]["skip_reason"] == "the card has no skill 'x'"
    assert report["summary"]["by_level"]["should"] == {"total": 1, "passed": 0, "failed": 1, "skipped": 0, "errors": 0}


@pytest.mark.parametrize("words", [(), *(("--report", kind) for kind in ("tap", "junit", "html"))])
def test_a_failure_has_its_step_its_request_and_its_line(words: tuple[str, ...], cli: RunCli, mock: str, file: Any):
    path = file(case("A"), case("B", CARD, FAILS))
    printed = cli("check", path, "-a", mock, *words).out
    assert f"{path}:{line_of(path, 'wrong')}" in printed
    assert "wrong" in printed
    assert re.search(r"(request #|request: |Request</th><td><pre>#)\d+", printed)


def test_a_failure_without_a_step_has_the_line_of_its_test(cli: RunCli, mock: str, file: Any):
    wrong = {"source": "send.response", "path": "message.role", "match": "ROLE_USER"}
    path = file(case("A"), case("B", SEND, assertions=[wrong]))
    result = cli("check", path, "-a", mock)
    assert f"File: {path}:{line_of(path, 'B')}" in result.out
    assert (
        ET.fromstring(cli("check", path, "-a", mock, "--report", "junit").out)[0][1].attrib.items()
        >= {
            "file": path,
            "line": str(line_of(path, "B")),
        }.items()
    )


def test_every_report_has_all_failures_of_a_step(cli: RunCli, mock: str, file: Any):
    two = {**SEND, "expect": {"body": {"message": {"role": "ROLE_USER", "messageId": {"matches": "never-1"}}}}}
    path = file(case("A", two))
    for kind in ("json", "tap", "junit", "html"):
        assert "never-1" in cli("check", path, "-a", mock, "--report", kind).out, kind
    report = cli("check", path, "-a", mock, "-o", "json").json
    check_report(report, "jsonrpc")
    [step] = report["suites"][0]["tests"][0]["steps"]
    assert step["failure"]["assertion_path"] == "message.role"
    [more] = step["x-a2a-inspect"]["more_failures"]
    assert more["assertion_path"] == "message.messageId"


def test_several_transports_have_a_report_each(cli: RunCli, mock: str, file: Any, tmp_path: Path):
    transports = ("JSONRPC", "GRPC", "HTTP+JSON")
    words = [word for name in transports for word in ("--transport", name)]
    path = tmp_path / "report.json"
    result = cli("check", file(case("A", SEND)), "-a", mock, *words, "-o", "json", "--report", f"json={path}")
    assert result.code == 0, result.err
    for report, name in zip(result.json, ("jsonrpc", "grpc", "rest"), strict=True):
        check_report(report, name)
        assert json.loads((tmp_path / f"report-{name}.json").read_text()) == report
    assert not path.exists()


HOSTILE = '<script>alert(1)</script> & "]]> \x1b[31m # x \x00'


class Page(HTMLParser):
    """Collects the elements and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def hostile(file: Any) -> str:
    """A file whose names and values have markup and control characters."""
    echo = {**SEND, "params": {"message": {"parts": [{"text": f"echo {HOSTILE}"}]}}}
    echo["expect"] = {"body": {"message": {"parts": [{"text": "x"}]}}}
    return str(file(case("H", echo, name=HOSTILE, spec_ref=HOSTILE), case("A")))


def report_of(kind: str, cli: RunCli, path: str, mock: str, tmp_path: Path) -> str:
    """Return a report from stdout, which is the same in a file."""
    target = tmp_path / f"report.{kind}"
    result = cli("check", path, "-a", mock, "--report", kind)
    assert result.code == 1
    assert cli("check", path, "-a", mock, "--report", f"{kind}={target}").code == 1
    masked = [re.sub(r"\d+(\.\d+)?", "N", text) for text in (target.read_text(), result.out)]
    assert masked[0] == masked[1]
    return result.out


def test_html_has_no_scripts_and_hostile_text_is_escaped(cli: RunCli, hostile: str, mock: str, tmp_path: Path):
    text = report_of("html", cli, hostile, mock, tmp_path)
    page = Page(text)
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert "<script>alert(1)</script>" in page.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)
    assert page.tags.count("details") == 1


def test_junit_is_xml_with_a_case_for_each_test(cli: RunCli, hostile: str, mock: str, tmp_path: Path):
    root = ET.fromstring(report_of("junit", cli, hostile, mock, tmp_path))
    assert root.attrib.items() >= {"tests": "2", "failures": "1", "errors": "0", "skipped": "0"}.items()
    [suite] = root
    assert suite.attrib["name"] == "first (jsonrpc)"
    failed, passed = suite
    assert [len(failed), len(passed)] == [1, 0]
    assert failed[0].tag == "failure"
    assert "<script>alert(1)</script>" in failed[0].attrib["message"]


def test_tap_has_a_line_for_each_test(cli: RunCli, hostile: str, mock: str, tmp_path: Path):
    lines = report_of("tap", cli, hostile, mock, tmp_path).splitlines()
    assert lines[:2] == ["TAP version 14", "1..2"]
    assert [line[:12] for line in lines if re.match("(not )?ok", line)] == ["not ok 1 - H", "ok 2 - A (js"]
    assert "\\#" in lines[2]
    assert not re.search(r"(?<!\\)#", lines[2])
    assert lines[3] == "  ---"
    assert json.loads(lines[4].partition(": ")[2]).startswith("message.parts[0].text: expected")
    assert "  ..." in lines


def test_tap_marks_skipped_tests(cli: RunCli, mock: str, file: Any):
    result = cli("check", file(*MIXED), "-a", mock, "--report", "tap")
    assert "ok 3 - C (jsonrpc) The test C # SKIP the card has no skill 'x'" in result.out.splitlines()
    assert '  severity: "error"' in result.out.splitlines()


def test_a_hostile_failure_is_printed_without_control_characters(cli: RunCli, hostile: str, mock: str):
    result = cli("check", hostile, "-a", mock)
    assert "\x1b" not in result.out + result.err
    assert "<script>" in result.out


@pytest.mark.parametrize("before", [0, 372], ids=["short", "cut"])
@pytest.mark.parametrize("kind", ["json", "junit", "tap", "html"])
def test_secrets_are_not_in_reports(
    kind: str, before: int, cli: RunCli, make_agent: MakeAgent, file: Any, tmp_path: Path
):
    secret = "a-very&<'\"\\>secret-word"  # each format escapes some of these characters

    async def repeat(call: Call) -> web.StreamResponse:
        parts = [{"text": f"{'x' * before}you sent {call.request.headers['Authorization']}"}]
        return call.result({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts}})

    agent = make_agent(repeat)
    step = {**SEND, "expect": {"body": {"message": {"parts": [{"text": "x"}]}}}}
    raw = {"id": "raw", "raw": {"method": "POST", "path": "/", "body": {"id": 1}}, "expect": {"body": {"x": 1}}}
    path = file(case("A", step), case("B", raw))
    target = tmp_path / "report"
    results = [
        cli("check", path, "-a", agent.url, "--bearer", secret, "--report", report)
        for report in (kind, f"{kind}={target}")
    ]
    assert [result.code for result in results] == [1, 1]
    for text in (target.read_text(), *(result.out + result.err for result in results)):
        assert "a-very" not in text
        assert "secret-word" not in text
        assert "you sent" in text or before
