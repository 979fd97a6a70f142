"""What the checks of the a2a-cli requirements share: agents, a folder, and commands that are remembered for a table."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from inspector.sample_agents.authentication import Authenticator
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import MockAgent, serve_in_thread
from puppets import CliResult, MakeAgent, RunCli, ServerThread

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_URL = re.compile(r"https?://(?:127\.0\.0\.1|localhost):\d+")
_WEBHOOK = re.compile(rf"{_URL.pattern}/push/\S+")
_MOST_COMMANDS = 3
"""How many commands of a requirement are in the table."""


@dataclass
class Bench:
    """Runs the commands of one requirement; `commands` has their command lines without values that vary."""

    cli: RunCli
    make_agent: MakeAgent
    server_thread: ServerThread
    folder: Path
    mock: str
    slow_mock: str
    commands: list[str] = field(default_factory=list)
    _running: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def run(self, *words: str, code: int = 0, stdin: bytes = b"", **environment: str) -> CliResult:
        """Run a command, which has to end with an exit code."""
        self.note(*words, **environment)
        ran = self.cli(*words, stdin=stdin, **environment)
        assert ran.code == code, f"{shlex.join(words)}: exit code {ran.code}: {ran.err or ran.out}"
        return ran

    def note(self, *words: str, **environment: str) -> None:
        """Remember a command line for the table."""
        variables = [f"{name}={value}" for name, value in environment.items() if name.startswith("A2ACLI_")]
        line = shlex.join(self._shown(word) for word in (*variables, *words))
        if line not in self.commands:
            self.commands.append(line)

    def _shown(self, word: str) -> str:
        word = _WEBHOOK.sub("WEBHOOK", word)
        return _UUID.sub("ID", _URL.sub("URL", word).replace(str(self.folder), "DIR"))

    def task(self, text: str, agent: str = "", *words: str) -> dict[str, Any]:
        """Send a message and return the task of the response; the command is not in the table."""
        ran = self.cli("send", agent or self.mock, "--text", text, "-o", "json", *words)
        assert ran.code == 0, ran.err
        task: dict[str, Any] = ran.json["task"]
        return task

    def agent(self, auth: str = "", **options: Any) -> str:
        """Start a mock agent with all capabilities; `auth` is the kind of its credentials."""
        if not auth:
            return self._running.enter_context(
                serve_in_thread(**{"profile": Profile(capabilities=ALL), "pace": 0, **options})
            )
        mock = MockAgent(Profile(capabilities=ALL), pace=0, authenticator=Authenticator(auth, interval=0))
        url = self.server_thread.do(mock.start(grpc_port=None))
        self._running.callback(lambda: self.server_thread.do(mock.stop()))
        assert isinstance(url, str)
        return url

    def serve(self, document: Any, path: str) -> str:
        """Serve a JSON document at a path, and return the base URL."""
        from aiohttp import web

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            return web.json_response(document) if request.path == path else web.Response(status=404)

        return self._running.enter_context(self.server_thread.serve(handle))

    def card(self, **members: Any) -> str:
        """Write the card of the mock with other members to a file, and return its path."""
        card = self.cli("card", "get", self.mock, "-o", "json").json | members
        path = self.folder / "card.json"
        path.write_text(json.dumps(card), "utf-8")
        return str(path)

    def interfaces(self) -> list[dict[str, Any]]:
        """Return the interfaces on the card of the mock."""
        declared: list[dict[str, Any]] = self.cli("card", "get", self.mock, "-o", "json").json["supportedInterfaces"]
        return declared


class Requirement(NamedTuple):
    """A requirement of the a2a-cli specification in our own words, and the function that checks it."""

    id: str
    words: str
    check: Callable[[Bench], None]


class Row(NamedTuple):
    """The result of a requirement: `passed` or `failed: ...`."""

    requirement: Requirement
    commands: list[str]
    result: str

    def line(self) -> str:
        """Return the row of the table."""
        commands = "<br>".join(f"`{command}`" for command in self.commands[:_MOST_COMMANDS]).replace("|", "\\|")
        return f"| {self.requirement.id} | {self.requirement.words} | {commands} | {self.result} |"


def measure(requirement: Requirement, bench: Bench) -> Row:
    """Check a requirement; a failed check is a row, not an exception."""
    try:
        requirement.check(bench)
    except AssertionError as error:
        return Row(requirement, bench.commands, f"failed: {str(error).splitlines()[0] if str(error) else 'assertion'}")
    return Row(requirement, bench.commands, "passed")


def fields(out: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a text output, and check that every other line belongs to a block."""
    in_block = False
    for line in out.splitlines():
        if in_block and (line.startswith("  ") or not line.strip()):
            in_block = bool(line.strip()) or in_block
            continue
        label, colon, value = line.partition(":")
        assert colon and label[:1].isupper(), f"not a field: {line!r}"
        in_block = not value
        yield label, value.strip()
