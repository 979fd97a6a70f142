"""Check files for the app tests, and runs of their tests."""

from __future__ import annotations

from pathlib import Path

from driving import Driver

from inspector.tui.views.checks import ChecksView


def check_file(folder: Path, *tests: str, name: str = "checks.yaml") -> Path:
    """Write a check file with a suite of tests, each of which is YAML of a mapping."""
    path = folder / name
    head = 'acts_version: "1.0"\nspec_version: "1.0"\nsuites:\n- id: reports\n  name: Reports of the agent\n  tests:\n'
    path.write_text(head + "".join(f"  - {{{test}}}\n" for test in tests), encoding="utf-8")
    return path


def asking(
    number: str,
    state: str = "TASK_STATE_COMPLETED",
    level: str = "must",
    transport: str = "[]",
    name: str = "",
    **members: str,
) -> str:
    """Return a test that sends a message, and expects a task in a state; `members` are those of its step."""
    more = "".join(f", {key}: {value}" for key, value in members.items())
    step = f"id: send, operation: send_message, params: {{message: {{parts: [{{text: report 2}}]}}}}{more}"
    expect = f"expect: {{task: {{status: {{state: {state}}}}}}}"
    head = f"id: REPORT-{number}, name: {name or f'Report {number}'}, level: '{level}', transport: {transport}"
    return f"{head}, steps: [{{{step}, {expect}}}]"


async def loaded(driver: Driver, path: Path) -> ChecksView:
    """Connect, go to Checks and load a file."""
    await driver.connected()
    await driver.go(7)
    view = driver.workbench.views.checks
    view.load_file(path)
    await driver.until(f"Checks ─ {path.name}")
    return view


async def finished(driver: Driver, view: ChecksView) -> None:
    """Wait until a run has ended."""
    await driver.until(lambda: view._checks is not None and view._checks.current and not view.is_running)
    await driver.settled()
