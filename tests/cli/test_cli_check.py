"""`check`: exit codes, selection, output, and what is left after Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from aiohttp import web
from forking import Program
from inspector.sample_agents.authentication import Authenticator
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import serve_in_thread
from puppets import RPC_PATH, SECONDS, Call, CliResult, MakeAgent, RunCli, silence
from time_limit import TimeLimit
from written_checks import CARD, FAILS, GONE, SEND, case, check_report, line_of, writer


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Return a function that writes a check file with these tests and returns its path."""
    return writer(tmp_path)


def asking(url: str) -> dict[str, Any]:
    """Return a step with a request to a server that does not answer."""
    return {"id": "ask", "raw": {"method": "POST", "path": url, "body": {"id": 1}}, "expect": {"status": 200}}


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
    assert fields(result)["MUST"] == "1 error"
    assert "Error: 1 of 1 test had an error. The first: A: " in result.err


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
        (("--report", "json=/dev/null/x/report.json"), "Cannot write /dev/null/x/report.json: Not a directory."),
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


def test_checks_see_the_mistakes_of_a_card_that_is_used_in_spite_of_them(cli: RunCli, make_agent: MakeAgent, file: Any):
    agent = make_agent(card={"skills": ["many"], "version": 5})
    path = file(
        case("A", {**CARD, "expect": {"body": {"version": {"type": "string"}, "skills": {"items": {"id": "x"}}}}})
    )
    result = cli("check", path, "-a", agent.url)
    assert result.code == 1
    assert "Actual: 5" in result.out
    assert 'Actual: "many"' in result.out


def test_a_binding_that_the_card_does_not_declare_is_an_error_without_a_warning(
    cli: RunCli, make_agent: Any, file: Any
):
    ran = cli("check", file(case("A")), "-a", make_agent().url, "--transport", "GRPC")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "Error: The card declares no interface over GRPC.\nHint: It declares: JSONRPC.\n"


def test_the_missing_folders_of_a_report_are_created(cli: RunCli, mock: str, file: Any, tmp_path: Path):
    path = tmp_path / "no" / "such" / "folder" / "report.xml"
    assert cli("check", file(case("A")), "-a", mock, "--report", f"junit={path}").code == 0
    assert path.read_text().startswith("<?xml")


def test_a_capture_instead_of_the_other_agent_has_exit_code_2_before_anything_is_sent(
    cli: RunCli, mock: str, file: Any, tmp_path: Path
):
    capture = tmp_path / "the first.a2a"
    assert cli("send", "-a", mock, "--text", "hi", "--capture", str(capture)).code == 0
    result = cli("check", file(case("A")), "-a", "http://127.0.0.1:9", "--against", str(capture))
    assert (result.code, result.out) == (2, "")
    assert f"{capture} is a capture, not an agent." in result.err
    assert f"a2a-inspect mock --capture '{capture}'." in result.err
    assert cli("send", "-a", str(capture), "--text", "hi").code == 2


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
        "line": line_of(path, "LONG-NAME"),
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


def test_ctrl_c_leaves_a_report_of_what_ran(mock: str, file: Any, tmp_path: Path):
    report, capture = tmp_path / "r.json", tmp_path / "c.a2acap"
    reports = ["--report", f"json={report}", "--report", f"junit={report}.xml"]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(SECONDS)
        path = file(case("A", SEND), case("B", asking(f"http://127.0.0.1:{silent.getsockname()[1]}/")), case("C"))
        words = ["check", path, "-a", mock, "--verbose", *reports, "--capture", str(capture)]
        with Program(*words, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as process:
            assert "+ A (must" in process.stdout.readline()
            with silent.accept()[0]:  # the test B has begun
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
    assert "MUST: 1 passed, 1 interrupted\n" in out
    assert err == "Interrupted: 1 of 3 tests have a result\n"
    assert capture.exists()


def test_a_run_that_takes_too_long_reports_what_ran(
    cli: RunCli, mock: str, make_agent: MakeAgent, file: Any, tmp_path: Path, time_limit: TimeLimit
):
    async def answer(call: Call) -> web.StreamResponse:
        time_limit.end()
        return await silence(call)

    path = file(case("A"), case("B", asking(f"{make_agent(answer).url}{RPC_PATH}")), case("C"))
    report = tmp_path / "r.json"
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


@pytest.mark.parametrize(("version", "warns"), [("1.0", False), ("opvs", False), ("0.3", True)])
def test_conformance_warns_about_an_agent_of_a_version_before_1_0(cli: RunCli, version: str, warns: bool):
    with serve_in_thread(pace=0, profile=Profile(versions=(version,))) as url:
        ran = cli("conformance", url, "-k", "SMOKE-CARD-1")
    assert ran.code == 0, ran.err
    assert (f"the tests are about A2A 1.0; the agent is tested over {version}" in ran.err) is warns


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


def test_the_hint_about_a_file_that_cannot_be_read_is_about_its_path(cli: RunCli, mock: str, tmp_path: Path):
    result = cli("check", str(tmp_path / "missing.yaml"), "-a", mock, "-o", "json")
    assert (result.code, result.error["hint"]) == (2, "Check the path.")
