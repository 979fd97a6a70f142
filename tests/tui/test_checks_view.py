"""The Checks view: loading files, running tests, filters, and going from a failure to its request."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from checking import asking, check_file, finished, loaded
from driving import TIMEOUT, Driver, Open
from players import playing
from puppets import CARD

from inspector.capture import recent_check_files
from inspector.capture.records import Kind
from inspector.tui import lazy_loading
from inspector.tui.render.check_introduction import EXAMPLE
from inspector.tui.widgets.check_pane import CheckPane
from inspector.tui.widgets.feed import Feed

NORMAL, NARROW = (120, 40), (80, 24)


def states(driver: Driver) -> list[str]:
    """Return the words in the column RESULT."""
    feed = driver.widget("#check-list", Feed)
    return [feed.source.line(index)[0][0].strip() for index in range(feed.line_count)]


def detail(driver: Driver) -> str:
    return driver.widget("#check", CheckPane).text


async def test_without_a_file_the_view_explains_check_files_and_a_dialog_loads_one(
    open_app: Open, mock: str, tmp_path: Path
):
    path = check_file(tmp_path, asking("001"), asking("002", level="should"))
    async with open_app(mock, NORMAL) as driver:
        await driver.connected()
        await driver.go(7)
        assert "No check file is loaded." in driver.screen
        assert "No agent is connected" not in driver.screen
        assert "r run" not in driver.lines[-1]
        await driver.press("enter")
        await driver.until("Load a check file")
        await driver.type("/nowhere/x.yaml")
        await driver.press("enter")
        await driver.until("/nowhere/x.yaml is not a file.")
        await driver.press(*["backspace"] * len("/nowhere/x.yaml"))
        await driver.paste(str(path).removesuffix("cks.yaml"))
        await driver.until("/checks.")  # the rest is suggested
        await driver.press("tab", "enter")
        await driver.until("checks.yaml ─ 2 tests")
        assert driver.line("RESULT").strip("│ ").split() == ["RESULT", "TEST", "LEVEL", "TIME", "NAME"]
        assert driver.line("Reports of the agent").strip("│▌ ").split()[:4] == ["0", "of", "2", "reports"]
        assert states(driver) == ["0 of 2", "· not run", "· not run"]
        assert driver.widget("#check-list", Feed).has_focus
    async with open_app(mock, NORMAL) as driver:
        await driver.connected()
        await driver.go(7)
        assert str(path) in driver.screen
        await driver.press("L")
        await driver.until("another file")
        await driver.press("enter")
        await driver.until("checks.yaml ─ 2 tests")


async def test_results_are_shown_and_a_failure_leads_to_its_request(open_app: Open, mock: str, tmp_path: Path):
    path = check_file(tmp_path, asking("001"), asking("002", "TASK_STATE_FAILED", level="should"))
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        await driver.press("u")
        await finished(driver, view)
        assert states(driver) == ["1 of 2", "✓ pass", "✕ fail"]
        assert "MUST ✓ 1 ─ SHOULD ✕ 1" in driver.screen
        assert "Results      1 passed, 1 failed" in detail(driver)
        assert "open request" not in driver.lines[-1], "a suite has no request"
        await driver.press("G")
        await driver.until(lambda: "enter open request" in driver.lines[-1])
        assert "✕ send: task.status.state" in detail(driver)
        assert "line 8" in detail(driver)
        row = next(line for line in detail(driver).splitlines() if "TASK_STATE_FAILED" in line)
        assert row.split(" │ ") == ['  "TASK_STATE_FAILED"', '"TASK_STATE_COMPLETED"']
        [_, request] = [record for record in driver.records(Kind.REQUEST) if record.operation == "SendMessage"]
        assert f"REPORT-002 ─ ✕ fail ─ request #{request.seq}" in driver.screen
        await driver.press("enter")
        assert driver.workbench.view == "traffic"
        assert driver.workbench.views.view.selected_record() == request
        await driver.press("7")
        assert driver.workbench.view == "checks"
        assert driver.widget("#check-list", Feed).cursor == 2, "the test is still selected"


async def test_a_test_without_requests_did_not_run_over_a_transport(open_app: Open, mock: str, tmp_path: Path):
    path = check_file(tmp_path, asking("001", transport="[grpc]"), asking("002"))
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        await driver.press("u")
        await finished(driver, view)
        await driver.press("down")
        await driver.until("REPORT-001 ─ · skip")
        assert "Transport    grpc" in detail(driver)
        await driver.press("down")
        await driver.until("Transport    ran over jsonrpc")


async def test_a_test_that_could_not_be_completed_has_the_sign_of_an_error_everywhere(
    open_app: Open, mock: str, tmp_path: Path
):
    path = check_file(tmp_path, asking("001").replace("report 2", "'{{no.value}}'"), asking("002", "TASK_STATE_FAILED"))
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        await driver.press("u")
        await finished(driver, view)
        assert states(driver) == ["0 of 2", "! error", "✕ fail"]
        failures = [line[:12] for line in detail(driver).splitlines() if "REPORT-" in line]
        assert failures == ["! REPORT-001", "✕ REPORT-002"]
        await driver.press("down")
        assert "✕" not in detail(driver)
        assert "! send  line 7" in detail(driver)
        assert "open request" not in driver.lines[-1]


async def test_one_test_and_the_failed_tests_run_again(open_app: Open, mock: str, tmp_path: Path):
    path = check_file(tmp_path, asking("001"), asking("002", "TASK_STATE_FAILED"))
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        await driver.press("down", "r")
        await finished(driver, view)
        assert states(driver) == ["1 of 2", "✓ pass", "· not run"], "only the selected test ran"
        assert driver.enabled("U") is False
        await driver.press("up", "r")
        await finished(driver, view)
        assert states(driver) == ["1 of 2", "✓ pass", "✕ fail"], "a suite runs all of its tests"
        before = len(driver.sent("SendMessage"))
        check_file(tmp_path, asking("001"), asking("002"))
        await driver.press("U")
        await driver.until(lambda: states(driver) == ["2 of 2", "✓ pass", "✓ pass"])
        await finished(driver, view)
        assert len(driver.sent("SendMessage")) == before + 1, "the changed file was read, and the failed test ran"
        assert driver.enabled("U") is False


async def test_a_running_test_is_shown_and_a_run_can_be_stopped(open_app: Open, mock: str, tmp_path: Path):
    slow = asking("001", delay_ms="60000", description="after a minute")
    path = check_file(tmp_path, asking("000"), slow, asking("002"))
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        assert driver.enabled("x") is None
        await driver.press("u")
        await driver.until(
            lambda: states(driver)[1:] == ["✓ pass", "◐ running", "○ waiting"] or "running" in states(driver)[2]
        )
        assert states(driver)[3] == "○ waiting"
        await driver.until("running: 1 of 3")
        await driver.press("down", "down")
        await driver.until("after a minute")
        assert driver.enabled("r") is False, "one run at a time"
        view.load_file(path)  # made from a record meanwhile
        await driver.settled()
        assert "running" in driver.screen
        assert view.is_running
        await driver.press("x")
        await finished(driver, view)
        assert states(driver) == ["1 of 3", "✓ pass", "· not run", "· not run"]
        assert not [worker for worker in driver.app.workers if worker.group == "checks" and worker.is_running]
        assert not driver.session.journal.exchanges.open


async def test_a_key_is_not_lost_if_the_results_change_before_its_effect(open_app: Open, mock: str, tmp_path: Path):
    path = check_file(tmp_path, asking("000"), asking("001"))
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        feed = driver.widget("#check-list", Feed)
        feed.action_first()
        await driver.settled()
        for row in (1, 2):
            feed.action_line_step(1)
            view.refresh_view()  # the message about the move was not handled yet
            assert feed.cursor == row
        await driver.settled()
        assert view.selected is not None
        assert view.selected.id == "REPORT-001"


async def test_tests_are_not_run_while_a_file_is_read_and_no_file_is_read_while_tests_begin(
    open_app: Open, mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first, second = check_file(tmp_path, asking("001")), check_file(tmp_path, asking("002"), name="second.yaml")
    read, may_end = lazy_loading.read_checks, threading.Event()

    def read_slowly(*arguments: Any) -> Any:
        may_end.wait(TIMEOUT)
        return read(*arguments)

    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, first)
        monkeypatch.setattr(lazy_loading, "read_checks", read_slowly)
        view.load_file(second)
        await driver.until(lambda: driver.enabled("u") is not True)
        view.action_run_all()
        assert not view.is_running
        may_end.set()
        await driver.until("Checks ─ second.yaml")
        assert driver.enabled("u") is True
        view.action_run_all()
        view.load_file(first)
        await finished(driver, view)
        assert "Checks ─ second.yaml" in driver.screen
        assert states(driver)[1:] == ["✓ pass"]


async def test_the_list_can_be_filtered_by_words_and_by_failures(open_app: Open, mock: str, tmp_path: Path):
    path = check_file(tmp_path, asking("001"), asking("002", "TASK_STATE_FAILED"), asking("003", level="may"))
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        await driver.press("f")
        assert "No test failed. Press esc to show all tests." in driver.screen
        await driver.press("u")
        await finished(driver, view)
        assert states(driver) == ["2 of 3", "✕ fail"]
        assert "1 of 3 tests ─ failed only" in driver.screen
        await driver.press("down")
        failed = view.selected
        await driver.press("U")
        await finished(driver, view)
        assert view.selected is failed, "the test that waits for its run stays in the list, under the cursor"
        await driver.press("escape")
        assert len(states(driver)) == 4
        await driver.press("slash")
        await driver.type("MAY report")
        assert states(driver) == ["2 of 3", "✓ pass"]
        await driver.press("enter", "down")
        assert "Report 003" in detail(driver)
        await driver.press("escape")
        assert len(states(driver)) == 4
        assert driver.widget("#check-list", Feed).cursor == 3, "the cursor stays on its test"


async def test_problems_have_their_line_and_column_and_the_corrected_file_is_read_again(
    open_app: Open, mock: str, tmp_path: Path
):
    path = check_file(tmp_path, asking("001", level="often[bold]"), asking("002").replace("name:", "nam:"))
    async with open_app(mock, NORMAL) as driver:
        await driver.connected()
        await driver.go(7)
        view = driver.workbench.views.checks
        view.load_file(path)
        await driver.until("Checks ─ 3 problems")
        assert [line.strip("│ ") for line in driver.lines if line.strip("│ ").startswith(("7:", "8:"))] == [
            "7:40  level: 'often[bold]' is not one of must, should, may",
            "8:5  name: this key is missing",
            "8:22  nam: unknown key",
        ]
        assert "8:22  nam: unknown key" in view.selected_text(), "the problems can be copied"
        check_file(tmp_path, asking("001"))
        await driver.press("r")
        await driver.until("checks.yaml ─ 1 test ")
        assert states(driver) == ["0 of 1", "· not run"]


async def test_texts_of_files_and_agents_are_untrusted(open_app: Open, tmp_path: Path):
    hostile = "\x1b]52;c;eA==\x07[bold red]x[/bold red]"

    name = json.dumps(hostile)
    path = check_file(
        tmp_path,
        f"id: {name}, name: {name}, level: must, description: {name}, tags: [{name}], steps: [{{id: {name}, "
        f"operation: get_agent_card, expect: {{body: {{name: other, description: {name}}}}}}}]",
    )
    card = {**CARD, "name": hostile}
    async with playing(card=card) as agent, open_app(agent.url, NORMAL) as driver:
        view = await loaded(driver, path)
        await driver.press("u", "down")
        await finished(driver, view)
        assert "✕ fail" in states(driver)
        assert driver.screen.count("[bold red]x[/bold red]") >= 4
        assert "\x1b]52" not in driver.screen


async def test_the_view_works_with_the_mouse_in_a_narrow_terminal(open_app: Open, mock: str, tmp_path: Path):
    path = check_file(tmp_path, asking("001", "TASK_STATE_FAILED"), asking("002"))
    async with open_app(mock, NARROW) as driver:
        view = await loaded(driver, path)
        assert driver.line("RESULT").strip("│ ").split() == ["RESULT", "TEST", "TIME", "NAME"]
        await driver.click("u run all")
        await finished(driver, view)
        await driver.click("REPORT-001")
        assert "Expected            │ Actual" in driver.screen
        [request, _] = [record for record in driver.records(Kind.REQUEST) if record.operation == "SendMessage"]
        await driver.click("send  SendMessage")
        assert driver.workbench.view == "traffic"
        assert driver.workbench.views.view.selected_record() == request


async def test_each_request_of_a_test_is_reached_by_keys(open_app: Open, mock: str, tmp_path: Path):
    message = "{message: {parts: [{text: report 2}]}}"
    steps = ", ".join(f"{{id: s{number}, operation: send_message, params: {message}}}" for number in range(2))
    path = check_file(tmp_path, f"id: TWO, name: Two, level: must, steps: [{steps}]")
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        await driver.press("u", "down")
        await finished(driver, view)
        first, second = [record.seq for record in driver.records(Kind.REQUEST) if record.operation == "SendMessage"]
        assert f"request #{first} (1 of 2)" in driver.screen
        await driver.press("n")
        assert f"request #{second} (2 of 2)" in driver.screen
        await driver.press("n")
        assert f"request #{first} (1 of 2)" in driver.screen
        await driver.press("N", "enter")
        assert driver.workbench.views.view.selected_record().seq == second  # type: ignore[union-attr]


async def test_without_an_agent_the_view_says_so(open_app: Open, tmp_path: Path):
    path = check_file(tmp_path, asking("001"))
    async with open_app("http://127.0.0.1:1", NORMAL, run={"notifications": True}) as driver:
        await driver.until("Next step")
        await driver.go(7)
        await driver.until("No agent is connected. Press o to connect to one")
        driver.workbench.views.checks.load_file(path)
        await driver.until("1 test ─ no agent connected")
        await driver.press("u")
        await driver.until("Connect to an agent")
        assert states(driver) == ["0 of 1", "· not run"]


async def test_without_a_file_the_keys_that_run_tests_report_what_is_missing(open_app: Open, mock: str, tmp_path: Path):
    capture, shown = tmp_path / "x.a2a", {"notifications": True}
    async with open_app(mock, NORMAL, capture=capture, run=shown) as driver:
        await driver.connected()
        await driver.go(7)
        await driver.press("u")
        await driver.until("u (run all) is not available: load a check file")
        await driver.press("r")
        await driver.until("r (refresh) is not available: load a check file")
        assert "but in" not in driver.screen
    async with open_app(None, NORMAL, recording=capture, run=shown) as driver:
        await driver.until("Timeline")
        await driver.go(7)
        await driver.press("u")
        await driver.until("u (run all) is not available: a capture has no agent")


async def test_a_capture_has_no_agent_to_test(open_app: Open, mock: str, tmp_path: Path):
    capture = tmp_path / "x.a2a"
    async with open_app(mock, NORMAL, capture=capture) as driver:
        await driver.connected()
    async with open_app(None, NORMAL, recording=capture, check_file=check_file(tmp_path, asking("001"))) as driver:
        await driver.until("Timeline")
        await driver.go(7)
        await driver.until("1 test ─ no agent")
        await driver.until(lambda: driver.enabled("u") is False)  # when the file is read, its tests get the focus


async def test_a_file_of_the_command_line_is_loaded_and_its_tests_are_shown_first(
    open_app: Open, mock: str, tmp_path: Path
):
    async with open_app(mock, NORMAL, check_file=check_file(tmp_path, asking("001"))) as driver:
        await driver.until("checks.yaml ─ 1 test ")
        assert driver.workbench.view == "checks"


async def test_variables_of_the_command_line_are_used_by_every_file(open_app: Open, mock: str, tmp_path: Path):
    step = "id: send, operation: send_message, params: {message: {parts: [{text: '{{what}}'}]}}"
    expect = "expect: {message: {parts: [{text: Good morning}]}}"
    path = check_file(tmp_path, f"id: A, name: Echo, level: must, steps: [{{{step}, {expect}}}]")
    async with open_app(mock, NORMAL, check_variables=(("what", "echo Good morning"),)) as driver:
        view = await loaded(driver, path)
        await driver.press("u")
        await finished(driver, view)
        assert states(driver)[1:] == ["✓ pass"]


async def test_closing_the_tab_stops_the_run(open_app: Open, mock: str, tmp_path: Path):
    path = check_file(tmp_path, asking("001", delay_ms="60000"))
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        await driver.press("u")
        await driver.until(lambda: view.is_running)
        await driver.press("X")
        await driver.until("Connect to an agent")
        assert not view.is_running
        assert not [worker for worker in driver.app.workers if worker.group == "checks"]


async def test_the_end_of_a_run_is_reported_in_another_view(open_app: Open, mock: str, tmp_path: Path):
    path = check_file(tmp_path, asking("001", delay_ms="300"), asking("002", "TASK_STATE_FAILED"))
    async with open_app(mock, NORMAL, run={"notifications": True}) as driver:
        await loaded(driver, path)
        await driver.press("u", "1")
        await driver.until("The tests have ended: 1 passed, 1 failed.")


async def test_the_example_of_the_introduction_passes(open_app: Open, mock: str, tmp_path: Path):
    path = tmp_path / "example.yaml"
    path.write_text(EXAMPLE)
    async with open_app(mock, NORMAL) as driver:
        view = await loaded(driver, path)
        await driver.press("u")
        await finished(driver, view)
        assert states(driver) == ["1 of 1", "✓ pass"]


def test_the_example_of_the_introduction_has_the_versions_of_the_documented_example():
    documented = Path(__file__).parents[2] / "docs" / "examples" / "report.acts.yaml"
    assert EXAMPLE.splitlines()[:2] == documented.read_text("utf-8").splitlines()[:2]


async def test_a_report_of_the_results_is_saved(open_app: Open, mock: str, tmp_path: Path):
    path = check_file(tmp_path, asking("001"), asking("002", "TASK_STATE_FAILED"), asking("003"))
    report = tmp_path / "report.json"
    async with open_app(mock, NORMAL, run={"notifications": True}) as driver:
        view = await loaded(driver, path)
        assert driver.enabled("S") is False
        await driver.press("u")
        await finished(driver, view)
        for name, problem in ((path, "Choose another name."), (tmp_path / "none/a.json", "The folder"), (report, "")):
            await driver.press("S")
            await driver.until("HTML: a page")
            await driver.press("down", "enter")
            await driver.paste(str(name))
            await driver.press("enter")
            if problem:
                await driver.until(problem)
                await driver.press("escape")
        await driver.until(report.exists)
        await driver.settled()
    document = json.loads(report.read_text())
    assert [test["result"] for suite in document["suites"] for test in suite["tests"]] == ["pass", "fail", "pass"]


_LOADED = """
import asyncio, sys
from inspector.options import Options
from inspector.tui.app import InspectorApp

async def main():
    app = InspectorApp(Options(demo=True))
    async with app.run_test(size=(120, 40)) as pilot, asyncio.timeout(60):
        while app.session is None or app.session.connection is None:
            await asyncio.sleep(0.02)
        await pilot.pause()
        await pilot.press("7")
        await app.workbench.mounted("checks")
    assert "inspector.tui.views.checks" in sys.modules
    print([name for name in ("yaml", "inspector.session.check.document") if name in sys.modules])

asyncio.run(main())
"""


def test_yaml_and_the_models_of_check_files_are_not_loaded_without_a_file(tmp_path: Path):
    environment = {"A2A_INSPECT_HOME": str(tmp_path), "PATH": "", "TERM": "xterm"}
    ran = subprocess.run(
        [sys.executable, "-c", _LOADED], env=environment, check=False, capture_output=True, text=True, timeout=120
    )
    assert ran.stdout.strip() == "[]", ran.stderr


def test_the_list_of_recent_files_is_short_and_leaves_out_files_that_do_not_exist(tmp_path: Path):
    paths = [tmp_path / f"{number}.yaml" for number in range(recent_check_files.MOST + 2)]
    for path in paths:
        path.touch()
        assert recent_check_files.remember(path) == ""
    newest = paths[::-1]
    assert recent_check_files.load() == newest[: recent_check_files.MOST]
    newest[0].unlink()
    assert recent_check_files.load() == newest[1 : recent_check_files.MOST]
    recent_check_files.recent_path().write_text(json.dumps([f"/{'a' * 300}", str(newest[1]), "/\0"]))
    assert recent_check_files.load() == [newest[1]]
    recent_check_files.recent_path().write_text("{")
    assert recent_check_files.load() == []
