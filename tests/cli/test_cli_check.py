"""`check`: exit codes, selection, output, reports, and what is left after Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from aiohttp import web
from forking import Program
from inspector.sample_agents.authentication import Authenticator
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import serve_in_thread
from puppets import SECONDS, Call, CliResult, MakeAgent, RunCli

CARD = {"id": "card", "operation": "get_agent_card"}
SEND = {"id": "send", "operation": "send_message", "params": {"message": {"parts": [{"text": "echo hi"}]}}}
FAILS = {**SEND, "id": "wrong", "expect": {"body": {"message": {"role": "ROLE_USER"}}}}
GONE = {"id": "gone", "operation": "get_task", "params": {"id": "no-such-task"}}


def case(identity: str, /, *steps: Any, **members: Any) -> dict[str, Any]:
    return {"id": identity, "name": f"The test {identity}", "level": "must", "steps": list(steps) or [CARD], **members}


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Return a function that writes a check file with these tests and returns its path."""

    def write(*tests: dict[str, Any], **members: Any) -> str:
        suites = [{"id": "first", "name": "First", "tags": ["all"], "tests": list(tests)}]
        path = tmp_path / "checks.json"
        path.write_text(json.dumps({"acts_version": "1.0", "spec_version": "1.0", "suites": suites, **members}))
        return str(path)

    return write


def fields(result: CliResult) -> dict[str, str]:
    """Return the lines of an output by their labels."""
    found = (line.partition(":") for line in result.out.splitlines())
    return {name.strip(): value.strip() for name, _, value in found}


def test_tests_that_pass_print_the_counts_by_level_and_the_capture(cli: RunCli, mock: str, file: Any):
    tests = [
        case("A"),
        case("B", SEND, level="should"),
        case("C", level="may", preconditions={"skills": [{"id": "x"}]}),
    ]
    result = cli("check", file(*tests), "-a", mock)
    found = fields(result)
    assert result.code == 0, result.err
    assert {name: found[name] for name in ("MUST", "SHOULD", "MAY")} == {
        "MUST": "1 passed",
        "SHOULD": "1 passed",
        "MAY": "1 skipped",
    }
    assert Path(found["Capture"]).exists()


def test_a_failure_has_exit_code_1_and_names_the_request(cli: RunCli, mock: str, file: Any):
    result = cli("check", file(case("A"), case("B", FAILS)), "-a", mock)
    assert result.code == 1
    number = re.search(r"Failed: wrong: message\.role \(request #(\d+)\)", result.out)
    assert number is not None, result.out
    assert 'Expected: "ROLE_USER"' in result.out
    assert 'Actual: "ROLE_AGENT"' in result.out
    assert '1 of 2 tests failed. The first: B: message.role: expected "ROLE_USER", got "ROLE_AGENT".' in result.err
    shown = cli("show", fields(result)["Capture"], "-o", "json")
    [request] = [record for record in shown.lines if record["seq"] == int(number[1])]
    assert "SendMessage" in json.dumps(request)


def test_an_error_of_a_step_has_exit_code_1(cli: RunCli, mock: str, file: Any):
    result = cli("check", file(case("A", {**GONE, "params": {"id": "{{x}}"}})), "-a", mock)
    assert result.code == 1
    assert "the variable {{x}} has no value; set it with --var x=VALUE" in result.out


def test_an_agent_that_is_not_there_has_exit_code_3_and_a_report_with_an_error_for_each_test(
    cli: RunCli, file: Any, tmp_path: Path
):
    path = tmp_path / "r.xml"
    result = cli(
        "check", file(case("A"), case("B")), "-a", "http://127.0.0.1:9", "-o", "json", "--report", f"junit={path}"
    )
    assert (result.code, result.error["code"]) == (3, "A2ACLI_ERR_UNREACHABLE")
    check_report(result.json, "jsonrpc")
    assert result.json["summary"]["errors"] == 2
    root = ET.parse(path).getroot()
    assert (root.attrib["tests"], root.attrib["errors"]) == ("2", "2")
    for element in root.iter("error"):
        assert element.attrib["message"].startswith(result.error["message"])


def test_a_run_that_is_stopped_before_the_card_is_read_has_a_report(cli: RunCli, file: Any, tmp_path: Path):
    path = tmp_path / "r.xml"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        result = cli("check", file(case("A")), "-a", url, "--timeout", "1s", "--report", f"junit={path}")
    assert result.code == 5
    [error] = ET.parse(path).getroot().iter("error")
    assert error.attrib["message"] == "the run was stopped before its end"


def test_credentials_that_are_missing_have_exit_code_4_if_no_test_failed_for_another_reason(cli: RunCli, file: Any):
    open_test, denied, wrong = case("A"), case("B", SEND), case("C", {**CARD, "expect": {"body": {"name": "x"}}})
    with serve_in_thread(pace=0, authenticator=Authenticator("api-key:header")) as url:
        missing = cli("check", file(open_test, denied), "-a", url, "-o", "json")
        mixed = cli("check", file(denied, wrong), "-a", url, "-o", "json")
    assert (missing.code, missing.error["code"]) == (4, "A2ACLI_ERR_CREDENTIALS_MISSING")
    assert "--api-key" in missing.error["hint"]
    assert mixed.code == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-k", "nothing"), "No test was selected."),
        (("--level", "shall"), "shall"),
        (("--report", "pdf"), "'pdf' is not json, junit, tap or html"),
        (("--report", "json", "--report", "tap"), "Two reports are for stdout."),
        (("--report", "json", "-o", "json"), "Two reports are for stdout."),
        (("--var", "x"), "not a variable; write it as NAME=VALUE"),
        (("--jobs", "0"), "the smallest value is 1"),
        (("--report", "json=/nowhere/report.json"), "Cannot write /nowhere/report.json"),
        (("--report", "json=/"), "Cannot write /"),
        (("--report", "json=r", "--report", "tap=./r"), "Cannot write r: it is the file of another report."),
    ],
)
def test_a_mistake_in_an_option_has_exit_code_2_before_anything_is_sent(
    words: tuple[str, ...], message: str, cli: RunCli, file: Any
):
    result = cli("check", file(case("A")), "-a", "http://127.0.0.1:9", *words)
    assert result.code == 2
    assert message in result.err


def test_a_report_does_not_replace_a_check_file(cli: RunCli, file: Any):
    path = file(case("A"))
    before = Path(path).read_text()
    result = cli("check", path, "-a", "http://127.0.0.1:9", "--report", f"json={path}")
    assert (result.code, f"Cannot write {path}: it is a check file." in result.err) == (2, True)
    assert Path(path).read_text() == before


def test_all_mistakes_in_a_file_are_printed(cli: RunCli, file: Any, tmp_path: Path):
    path = file(case("A", level="shall"), case("B", {"id": "x"}))
    result = cli("check", path, "-a", "http://127.0.0.1:9")
    assert result.code == 2
    assert "level: 'shall' is not one of must, should, may (1 more)" in result.err
    assert "Problem: " in result.err
    assert "a step needs one of the keys operation, raw, client_response and assertion" in result.err


def test_all_mistakes_in_a_file_are_in_the_json_error(cli: RunCli, file: Any):
    result = cli("check", file(case("A", level="shall"), case("B", level="x")), "-o", "json")
    assert result.code == 2
    assert "'shall' is not one of" in result.error["message"]
    assert "'x' is not one of" in result.error["message"]


def test_a_file_without_an_end_is_refused(cli: RunCli):
    result = cli("check", "/dev/zero", "-a", "http://127.0.0.1:9")
    assert result.code == 2
    assert "/dev/zero: larger than 4 MB" in result.err


def test_tests_are_listed_without_an_agent(cli: RunCli, file: Any):
    path = file(case("A"), case("LONG-NAME", level="may", transport=["grpc"], tags=["x"]))
    assert cli("check", path, "--list").out.splitlines() == [
        "A          must    The test A",
        "LONG-NAME  may     The test LONG-NAME (only over grpc)",
    ]
    listed = cli("check", path, "--list", "-o", "json").json
    assert listed[1] == {
        "id": "LONG-NAME",
        "name": "The test LONG-NAME",
        "level": "may",
        "suite": "first",
        "tags": ["all", "x"],
        "transport": ["grpc"],
        "file": path,
    }


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (("-k", "a-"), ["A-1", "A-2"]),
        (("-k", "a-1", "-k", "b"), ["A-1", "B-1"]),
        (("--tag", "x"), ["A-2"]),
        (("--level", "may", "--level", "should"), ["A-2", "B-1"]),
        (("--tag", "all", "--level", "must"), ["A-1"]),
    ],
)
def test_tests_are_selected(words: tuple[str, ...], ids: list[str], cli: RunCli, file: Any):
    path = file(case("A-1"), case("A-2", level="may", tags=["x"]), case("B-1", level="should"))
    assert [item["id"] for item in cli("check", path, "--list", "-o", "json", *words).json] == ids


def test_variables_are_given_on_the_command_line(cli: RunCli, mock: str, file: Any):
    step = {**SEND, "params": {"message": {"parts": [{"text": "echo {{word}}"}]}}}
    step["expect"] = {"body": {"message": {"parts": [{"text": "changed"}]}}}
    assert cli("check", file(case("A", step), variables={"word": "x"}), "-a", mock, "--var", "word=changed").code == 0


def test_verbose_prints_every_test(cli: RunCli, mock: str, file: Any):
    result = cli("check", file(case("A"), case("B", preconditions={"skills": [{"id": "x"}]})), "-a", mock, "--verbose")
    assert "+ A (must, jsonrpc, " in result.out
    assert "? B (must, jsonrpc): The test B" in result.out
    assert "Skipped: the card has no skill 'x'" in result.out


def test_trials_print_the_share_of_passes(cli: RunCli, mock: str, file: Any):
    result = cli("check", file(case("A")), "-a", mock, "--trials", "10", "--jobs", "4")
    assert "A (jsonrpc): 10 of 10 passed, at least 72.2% with 95 % confidence; p50 " in fields(result)["Trials"]


MEMBERS = {"total", "passed", "failed", "skipped", "errors"}


def check_report(report: dict[str, Any], transport: str) -> None:
    """Check the members that section 13 of ACTS requires."""
    assert report.keys() >= {"acts_version", "spec_version", "generated_at", "sdk", "transport", "summary", "suites"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", report["generated_at"])
    assert report["sdk"].keys() >= {"name", "version", "language"}
    assert report["transport"] == transport
    assert report["summary"].keys() == MEMBERS | {"duration_ms", "by_level"}
    assert report["summary"]["by_level"].keys() == {"must", "should", "may"}
    for counts in (report["summary"], *report["summary"]["by_level"].values()):
        assert counts.keys() >= MEMBERS
        assert counts["total"] == sum(counts[name] for name in MEMBERS - {"total"})
    tests = [test for suite in report["suites"] for test in suite["tests"]]
    assert len(tests) == report["summary"]["total"]
    for test in tests:
        assert test.keys() >= {"id", "name", "level", "result", "duration_ms"}
        assert test["result"] in {"pass", "fail", "skip", "error"}
        assert isinstance(test["duration_ms"], int)
        for step in test.get("steps", []):
            assert step.keys() >= {"id", "result", "duration_ms"}


MIXED = (
    case("A"),
    case("B", FAILS, level="should"),
    case("C", preconditions={"skills": [{"id": "x"}]}),
    case("D", {**GONE, "params": {"id": "{{x}}"}}, level="may"),
)


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
    assert "Compared: 2 tests, 1 without a difference" in result.out
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
    assert note.text in Page((tmp_path / "html").read_text()).text


def test_if_the_second_agent_is_not_there_each_test_is_an_error_in_the_reports(cli: RunCli, mock: str, file: Any):
    result = cli("check", file(case("A")), "-a", mock, "--against", "http://127.0.0.1:9", "--report", "junit")
    assert result.code == 3
    assert ET.fromstring(result.out).attrib["errors"] == "1"


def test_json_is_the_report_of_acts(cli: RunCli, mock: str, file: Any):
    result = cli("check", file(*MIXED), "-a", mock, "-o", "json")
    report = result.json
    check_report(report, "jsonrpc")
    [suite] = report["suites"]
    assert result.code == 1
    assert result.error["message"].startswith("2 of 4 tests failed.")
    assert {test["id"]: test["result"] for test in suite["tests"]} == {
        "A": "pass",
        "B": "fail",
        "C": "skip",
        "D": "error",
    }
    assert suite["tests"][1]["failure"] == {
        "message": 'message.role: expected "ROLE_USER", got "ROLE_AGENT"',
        "step_id": "wrong",
        "expected": '"ROLE_USER"',
        "actual": '"ROLE_AGENT"',
        "assertion_path": "message.role",
    }
    assert suite["tests"][2]["skip_reason"] == "the card has no skill 'x'"
    assert report["summary"]["by_level"]["should"] == {"total": 1, "passed": 0, "failed": 1, "skipped": 0, "errors": 0}


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


def test_ctrl_c_leaves_a_report_of_what_ran(mock: str, file: Any, tmp_path: Path):
    slow = {**CARD, "delay_ms": 60_000}
    path, report, capture = (
        file(case("A", SEND), case("B", slow), case("C")),
        tmp_path / "r.json",
        tmp_path / "c.a2acap",
    )
    words = ["check", path, "-a", mock, "--verbose", "--report", f"json={report}", "--report", f"junit={report}.xml"]
    with Program(*words, "--capture", str(capture), env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
        assert "+ A (must" in process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, err
    assert "Traceback" not in out + err
    written = json.loads(report.read_text())
    check_report(written, "jsonrpc")
    assert written["x-a2a-inspect"] == {"interrupted": True}
    [suite] = written["suites"]
    assert [(test["id"], test["result"], test.get("skip_reason")) for test in suite["tests"]] == [
        ("A", "pass", None),
        ("B", "skip", "interrupted"),
    ]
    assert ET.parse(f"{report}.xml").getroot().attrib["tests"] == "2"
    assert "1 passed, 1 skipped" in out
    assert err == "Interrupted: 1 of 3 tests have a result\n"
    assert capture.exists()


def test_a_run_that_takes_too_long_reports_what_ran(cli: RunCli, mock: str, file: Any, tmp_path: Path):
    path, report = file(case("A"), case("B", {**CARD, "delay_ms": 60_000}), case("C")), tmp_path / "r.json"
    result = cli("check", path, "-a", mock, "--timeout", "2s", "--report", f"json={report}")
    assert result.code == 5
    assert "Timed out after 2 s: 1 of 3 tests have a result." in result.err
    assert json.loads(report.read_text())["x-a2a-inspect"] == {"interrupted": True}


@pytest.mark.parametrize("capabilities", [frozenset(), ALL], ids=["none", "all"])
def test_conformance_passes_on_the_mock_over_every_transport(cli: RunCli, capabilities: frozenset[Any]):
    transports = [word for name in ("JSONRPC", "HTTP+JSON", "GRPC") for word in ("--transport", name)]
    with serve_in_thread(pace=0, profile=Profile(capabilities=capabilities)) as url:
        ran = cli("conformance", url, *transports, "-o", "json")
    assert ran.code == 0, ran.err
    results = [test for report in ran.json for suite in report["suites"] for test in suite["tests"]]
    assert len(results) == 3 * 14
    assert {result["result"] for result in results} == {"pass", "skip"}
    skipped = {result["id"] for result in results if result["result"] == "skip"}
    undeclared = {"SMOKE-CARD-3", "SMOKE-STREAM-3", "SMOKE-PUSH-2"}
    assert skipped == (
        undeclared if capabilities else {"SMOKE-CARD-2", "SMOKE-STREAM-1", "SMOKE-STREAM-2", "SMOKE-PUSH-1"}
    )


def test_conformance_fails_on_an_agent_that_knows_every_task(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result({})

    ran = cli("conformance", make_agent(answer).url, "--level", "must")
    assert ran.code == 1
    assert "Test: - SMOKE-TASK-1" in ran.out


def test_conformance_lists_its_tests_without_an_agent(cli: RunCli):
    ran = cli("conformance", "--list", "-o", "json")
    ids = [test["id"] for test in ran.json]
    assert len(ids) == len(set(ids)) == 14
