"""The examples of docs/extending.md: each is added to the running program as described, and works."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.faults import events as fault_events
from inspector.sample_agents.faults.names import FAULTS, parse_fault
from inspector.sample_agents.scenario.catalog import Scenarios
from inspector.sample_agents.server import MockAgent

from inspector.cli.main import main
from inspector.findings import lint, rules
from inspector.findings.stream import ending
from inspector.options import Options
from inspector.protocol.dialects import registry, traits
from inspector.tui.app import InspectorApp
from inspector.tui.themes import load_themes
from inspector.wire.receiver import verdict
from inspector.wire.receiver.delivery import Delivery
from inspector.wire.receiver.server import Receiver

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
EXAMPLES: dict[str, str] = {
    title: text for text, title in re.findall(r"^```\w+\n(# (.*?)\n.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
}
"""The examples of the page by their first line."""


class Extending:
    """Adds examples to the running program, and removes them again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._monkeypatch = monkeypatch
        self._folder = folder
        self._added: list[list[Any]] = []

    def file(self, path: str) -> Path:
        """Write the example of a file."""
        file = self._folder / Path(path).name
        file.write_text(EXAMPLES[path], encoding="utf-8")
        return file

    def module(self, path: str) -> ModuleType:
        """Import the example of a module under its own name."""
        name = path.removesuffix(".py").replace("/", ".")
        spec = util.spec_from_file_location(name, self.file(path))
        assert spec is not None and spec.loader is not None
        module = util.module_from_spec(spec)
        self._monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    def line(self, registry: str, path: str, **names: Any) -> None:
        """Add the line of an example to a registry."""
        home = import_module(path.removesuffix("/__init__.py").removesuffix(".py").replace("/", "."))
        [entry] = eval(f"[{EXAMPLES[f'{registry} in {path}']}]", {**vars(home), **names})
        entries: list[Any] = getattr(home, registry)
        entries.append(entry)  # in place: other modules hold the same list
        self._added.append(entries)

    def undo(self) -> None:
        """Remove the lines from their registries."""
        for entries in self._added:
            entries.pop()

    def append(self, path: str, home: ModuleType) -> None:
        """Run an example as if it were at the end of a module."""
        exec(EXAMPLES[f"appended to {path}"], dict(vars(home)))


@pytest.fixture
def extending(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Extending]:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))
    added = Extending(monkeypatch, tmp_path)
    yield added
    added.undo()


@asynccontextmanager
async def serving(**options: Any) -> AsyncIterator[str]:
    """Serve the mock agent, without pauses."""
    agent = MockAgent(pace=0, **options)
    await agent.start()
    try:
        yield agent.url
    finally:
        await agent.stop()


async def run(*words: str) -> int:
    """Run the program, with the event loop free for an agent."""
    return await asyncio.to_thread(main, [*words])


CARD = {
    "name": "Test",
    "description": "An agent",
    "version": "1",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "a", "name": "A", "description": "Does a", "tags": ["a"]}],
    "supportedInterfaces": [{"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
}


@pytest.mark.parametrize("path", [title for title in EXAMPLES if title.endswith(".py") and " " not in title])
def test_lint_accepts_a_new_file(path: str):
    for words in (("check",), ("format", "--check")):
        command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(ROOT / path), "-"]
        ran = subprocess.run(command, input=EXAMPLES[path], capture_output=True, text=True, cwd=ROOT, check=False)
        assert ran.returncode == 0, ran.stdout


def test_a_rule_about_cards(extending: Extending, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path):
    [added] = extending.module("inspector/findings/card/contact.py").RULE_SET.rules
    monkeypatch.setattr(lint, "CARD_RULES", (*lint.CARD_RULES, added))
    monkeypatch.setitem(rules.RULES, added.rule.id, added.rule)
    for provider, expected in ((added.rule.failing, True), (added.rule.passing, False)):
        (tmp_path / "card.json").write_text(json.dumps(CARD | provider), encoding="utf-8")
        main(["lint", str(tmp_path / "card.json")])
        assert ("hint CARD-900 /provider/organization" in capsys.readouterr().out) is expected


async def test_a_command(extending: Extending, capsys: Any):
    extending.module("inspector/cli/commands/ping.py")
    extending.line("COMMANDS", "inspector/cli/commands/__init__.py")
    async with serving() as url:
        assert await run("ping", "-a", url, "--label", "Found") == 0
    assert capsys.readouterr().out.startswith("Found: ")
    main(["--help"])
    assert "  ping " in capsys.readouterr().out
    main(["ping", "--help"])
    assert "--label TEXT" in capsys.readouterr().out


async def test_a_format_of_records(extending: Extending, capsys: Any, tmp_path: Path):
    extending.module("inspector/session/exporters/markdown.py")
    extending.line("RECORD_FORMATS", "inspector/session/exporters/__init__.py")
    async with serving() as url:
        await run("card", "get", "-a", url, "--capture", str(tmp_path / "card.a2a"))
    capsys.readouterr()
    assert main(["show", str(tmp_path / "card.a2a"), "-o", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("- 1. request ")


async def test_a_format_of_requests(extending: Extending, capsys: Any):
    extending.module("inspector/session/exporters/wget.py")
    extending.line("REQUEST_FORMATS", "inspector/session/exporters/__init__.py")
    async with serving() as url:
        assert await run("send", "-a", url, "--text", "hi", "--preview", "wget") == 0
    assert capsys.readouterr().out.startswith("wget --output-document=- ")


async def test_a_mock_fault(extending: Extending, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    extending.append("sample_agents/faults/events.py", fault_events)
    added = fault_events.EVENTS.faults.pop()
    monkeypatch.setitem(FAULTS, added.name, added)
    async with serving(faults=(parse_fault(added.name),)) as url:
        await run("send", "-a", url, "--text", "report 3", "--stream", "--findings")
    assert f"error {added.finding} " in capsys.readouterr().out


async def test_a_mock_scenario(extending: Extending, capsys: Any):
    path = extending.file("sample_agents/scenarios/countdown.toml")
    async with serving(behaviours=Scenarios((path,))) as url:
        assert await run("send", "-a", url, "--text", "countdown") == 0
    said = capsys.readouterr().out
    assert "State: completed" in said
    assert "Artifact: count" in said


def test_a_theme(extending: Extending):
    path = extending.file("themes/slate.toml")
    themes, problems = load_themes(path.parent)
    assert problems == []
    assert "slate" in {theme.name for theme in themes}


async def test_a_rule_about_streams(extending: Extending, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    for name in ("rules", "_declared", "_of_version"):  # what is declared is taken away again
        monkeypatch.setattr(ending.END, name, type(getattr(ending.END, name))(getattr(ending.END, name)))
    extending.module("inspector/findings/stream/silence.py")
    added = ending.END.rules[-1].rule
    monkeypatch.setitem(rules.RULES, added.id, added)
    async with serving() as url:
        for words, expected in (("echo hi", True), ("report 3", False)):
            await run("send", "-a", url, "--text", words, "--stream", "--findings")
            assert ("hint STREAM-900 " in capsys.readouterr().out) is expected


async def test_a_webhook_check(extending: Extending):
    came: list[Delivery] = []
    receiver = Receiver(came.append)
    await receiver.start()
    extending.append("inspector/wire/receiver/verdict.py", verdict)
    try:
        hook = receiver.register()
        async with aiohttp.ClientSession(headers={"X-A2A-Notification-Token": hook.token}) as client:
            await client.post(hook.url, json={}, headers={"User-Agent": "tester"})
    finally:
        verdict.REQUEST.checks = verdict.REQUEST.checks[:-1]
        await receiver.stop()
    assert [check.text for check in came[0].checks if check.name == "user agent"] == ["tester"]


async def test_a_view(extending: Extending):
    extending.module("inspector/tui/views/counts.py")
    extending.line("VIEWS", "inspector/tui/views/registry.py")
    async with serving() as url:
        app = InspectorApp(Options(reference=url))
        async with app.run_test() as pilot:
            await seen(pilot, lambda: app.session is not None and app.session.connection is not None)
            await app.screen.run_action("go('counts')")
            await seen(pilot, lambda: any("request" in str(it.render()) for it in app.screen.query("#record-counts")))


async def seen(pilot: Any, there: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(20):
        while not there():
            await pilot.pause(0.05)


def test_a_protocol_version(extending: Extending, monkeypatch: pytest.MonkeyPatch):
    names: dict[str, Any] = dict(vars(traits))
    exec(EXAMPLES["traits in inspector/protocol/dialects/traits.py"], names)
    monkeypatch.setattr(traits, "V1_9", names["V1_9"], raising=False)
    monkeypatch.setitem(traits.VERSIONS, "1.9", names["V1_9"])
    added = extending.module("inspector/protocol/dialects/v1_9.py")
    monkeypatch.setattr(registry, "EXPERIMENTAL", (*registry.EXPERIMENTAL, added.DIALECT))
    assert registry.for_request("1.9", "JSONRPC") is added.DIALECT
    assert registry.for_version("1.9") is not added.DIALECT
