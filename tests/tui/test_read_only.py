"""`--read-only`: no key, in no view, sends something that changes the agent or writes a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import Driver, Open
from inspector.sample_agents.server import MockAgent

from inspector.capture.records import Kind
from inspector.protocol.errors import FaultError
from inspector.protocol.operations import CHANGING, Operation
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.settings import Settings
from inspector.tui.keys import COMMANDS, READ_ONLY, Group
from inspector.tui.views.registry import VIEWS

SIZE = (140, 40)
LEAVES = {"quit", "quit-always", "close-connection", "connect", "doctor"}
"""The commands that leave the views, or that have tests of their own."""
CHECKS = """
acts_version: "1.0"
spec_version: "1.0"
suites:
  - id: s
    name: s
    tests:
      - id: T
        name: T
        level: must
        steps:
          - id: send
            operation: send_message
            params: {message: {messageId: m, role: ROLE_USER, parts: [{text: echo hi}]}}
"""


async def an_ended_task_and_a_running_task(url: str, tmp_path: Path) -> None:
    session = Session(tmp_path / "other.a2a")
    await session.connect(url)
    await session.send(text_draft("file"), stream=False).finish()
    await session.send(text_draft("ask"), stream=False).finish()
    await session.close()


@pytest.fixture
def checks(tmp_path: Path) -> Path:
    path = tmp_path / "checks.yaml"
    path.write_text(CHECKS)
    return path


async def dismiss(driver: Driver) -> None:
    """Confirm what a key asks, and close every dialog."""
    for _ in range(4):
        if len(driver.app.screen_stack) <= 2:
            break
        await driver.press("enter")
        await driver.press("escape")


@pytest.mark.slow
@pytest.mark.parametrize("view", range(1, len(VIEWS) + 1), ids=[view.id for view in VIEWS])
async def test_no_key_changes_the_agent(open_app: Open, tmp_path: Path, checks: Path, home: Path, view: int):
    agent = MockAgent(pace=0)
    url = await agent.start()
    await an_ended_task_and_a_running_task(url, tmp_path)
    files = set(tmp_path.iterdir())
    async with open_app(url, SIZE, read_only=True, check_file=checks) as driver:
        await driver.connected()
        assert "read-only" in driver.lines[0]
        await driver.go(3)
        await driver.press("l")  # the tasks of the agent
        await driver.until("input-required")
        await driver.go(view)
        for name, command in COMMANDS.items():
            if name in LEAVES or command.group is Group.MOVE or not command.keys:
                continue
            for key in command.keys.split(","):
                await driver.press(key)
                await dismiss(driver)
                await driver.go(view)
        requests = [record.operation for record in driver.records(Kind.REQUEST)]
        assert {"ListTasks"} <= set(requests)
        assert CHANGING & set(requests) == set()
        assert driver.session.push.on is False
    await agent.stop()
    assert {path for path in tmp_path.iterdir() if path != home} == {path for path in files if path != home}


async def test_a_disabled_key_says_why(open_app: Open, mock: str):
    async with open_app(mock, SIZE, read_only=True) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("i")
        [notice] = driver.app._notifications
        assert notice.message == "i (write) is not available: a2a-inspect was started with --read-only."
        await driver.press("a")
        await driver.until("Write a message")
        assert "read-only" in driver.line("Write a message")


@pytest.mark.parametrize("operation", [Operation.SEND, Operation.CANCEL, Operation.SET_PUSH, Operation.DELETE_PUSH])
async def test_a_read_only_session_refuses_calls_that_change_the_agent(tmp_path: Path, mock: str, operation: Operation):
    session = Session(tmp_path / "capture.a2a", Settings(read_only=True))
    await session.connect(mock)
    before = len(session.journal.capture)
    make = {
        Operation.SEND: lambda: session.send(text_draft("hi"), stream=True),
        Operation.CANCEL: lambda: session.cancel("1"),
        Operation.SET_PUSH: lambda: session.call(Operation.SET_PUSH, push_config()),
        Operation.DELETE_PUSH: lambda: session.delete_push("1", "2"),
    }[operation]
    with pytest.raises(FaultError, match=r"Read-only: .* is not sent\."):
        make()
    assert len(session.journal.capture) == before
    assert await session.list_tasks().finish() is None
    await session.close()


def push_config():
    from inspector.protocol.model import PushConfig

    return PushConfig(task_id="1", url="http://127.0.0.1:9/")


def test_the_disabled_commands_exist():
    assert COMMANDS.keys() >= READ_ONLY
    assert len(CHANGING) == 5
