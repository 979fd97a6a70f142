"""The modules that each command loads: a command loads only what it uses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from signal import SIGINT
from typing import Any

import pytest
from puppets import SECONDS

GROUPS = {
    "session": {"inspector.session.session"},
    "pydantic": {"pydantic"},
    "httpx": {"httpx"},
    "sqlite": {"sqlite3"},
    "rules": {"inspector.findings.rule_set"},
    "signatures": {"inspector.session.card.signing"},
    "cryptography": {"joserfc", "cryptography"},
    "compose": {"inspector.session.compose.build"},
    "push": {"inspector.session.push.service", "inspector.session.push.webhook_registration"},
    "receiver": {"inspector.wire.receiver.server"},
    "aiohttp": {"aiohttp"},
    "grpc": {"grpc"},
    "protobuf": {"google.protobuf"},
    "rich": {"rich"},
    "textual": {"textual"},
    "mock": {"inspector.sample_agents"},
    "login": {"inspector.session.login.logins"},
    "keyring": {"keyring"},
    "checks": {"inspector.session.check", "yaml"},
    "mcp": {"mcp", "uvicorn"},
    "web": {"textual_serve"},
}
"""The groups of modules that are slow to load, each with the modules that show that it was loaded."""

CALL = "session pydantic httpx sqlite"
"""The groups that every call to an agent needs."""

TABLE = {
    "--version": "",
    "--help": "",
    "card get --help": "",
    "help --json": "",
    "version --verbose": "sqlite",
    "rules": "pydantic rules rich",
    "card get -a URL": CALL,
    "card get -a URL -o json": CALL,
    "card get -a URL --validate": f"{CALL} rules",
    "card get -a URL --debug": f"{CALL} rules rich",
    "card get -a URL --capture NEW": f"{CALL} rules",
    "card get -a URL --verify": f"{CALL} signatures",
    "card get -a SIGNED --keys KEYS": f"{CALL} signatures cryptography protobuf",
    "lint URL": f"{CALL} rules",
    "show CAPTURE": "pydantic sqlite rules",
    "show CAPTURE -o json": "pydantic sqlite rules",
    "export CAPTURE": "pydantic sqlite rules",
    "export CAPTURE -f har": "pydantic sqlite rules",
    "export CAPTURE -f curl": "pydantic httpx sqlite rules",
    "export CAPTURE -f acts": f"{CALL} checks",
    "export CAPTURE -f otlp-json": "pydantic sqlite",
    "redact CAPTURE --pseudonyms --out NEW": "pydantic httpx sqlite",
    "import HAR --capture NEW": "pydantic httpx sqlite",
    "chat -a URL": f"{CALL} compose",
    "task get TASK -a URL": CALL,
    "task get TASK -a URL -o json --save NEW": CALL,
    "task get TASK -a URL --findings": f"{CALL} rules",
    "task get TASK -a URL --transport GRPC": f"{CALL} grpc protobuf",
    "task download TASK -a URL --out NEW": CALL,
    "task cancel TASK -a URL": CALL,
    "task list -a URL": CALL,
    "task subscribe TASK -a URL": CALL,
    "task push-config create OTHER -a URL --url http://127.0.0.1:9/": CALL,
    "push list TASK -a URL": CALL,
    "push get TASK -a URL --id 1": CALL,
    "push delete TASK -a URL --id 1": CALL,
    "send -a URL --text hi": f"{CALL} compose",
    "send -a URL --text hi -o json": f"{CALL} compose",
    "send -a URL --text hi --stream": f"{CALL} compose",
    "send -a URL --text hi --stream --findings": f"{CALL} compose rules",
    "send -a URL --text hi --preview curl": f"{CALL} compose",
    "doctor -a JSONRPC": f"{CALL} rules",
    "doctor -a JSONRPC --message hi": f"{CALL} rules compose push receiver aiohttp",
    "doctor -a URL --push TASK": f"{CALL} push",
    "auth login --help": "",
    "auth status": f"{CALL} login",
    "auth status -a URL": CALL,
    "auth logout --all": f"{CALL} login",
    "check CHECKS --list": "pydantic checks",
    "check CHECKS --list -o json": "pydantic checks",
    "check CHECKS -a URL --capture NEW": f"{CALL} rules checks",
    "conformance --list": "pydantic checks",
    "config show": "sqlite",
    "listen": f"{CALL} rules signatures push receiver aiohttp",
    "mock": "pydantic aiohttp grpc mock",
    "mock --list-faults": "pydantic mock",
    "mcp --http": f"{CALL} rules rich cryptography push checks mcp",
    "web": "sqlite aiohttp web",
}
"""The groups that each command loads. Add a group only if the command uses it; remove it when it is not loaded."""

SERVERS = ("listen", "mock", "mcp --http", "web")
"""The commands that run until they are interrupted."""

ALIKE = sorted({TABLE[command] for command in TABLE if command not in SERVERS})
"""The sets of groups. Commands that load the same groups share a process, because each process loads them again."""

SCRIPT = """
import json, sys
from inspector.cli.main import main
for words in json.loads(sys.argv[1]):
    code = main(words)
    print(json.dumps([code, *sys.modules]), file=sys.stderr)
"""
RECORDINGS = Path(__file__).parent.parent / "findings" / "recordings"


def groups_in(modules: set[str]) -> set[str]:
    return {group for group, signs in GROUPS.items() if modules & signs}


def loaded_by(commands: list[str], words: dict[str, str], folder: Path) -> dict[str, set[str]]:
    """Run commands in a new process, one after the other, and return the groups that were loaded after each."""
    lines = [
        [str(folder / f"new-{number}") if word == "NEW" else words.get(word, word) for word in command.split()]
        for number, command in enumerate(commands)
    ]
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, json.dumps(lines)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        if commands[0] in SERVERS:
            assert process.stdout is not None
            assert process.stdout.readline(), "the server did not print its URL"
            process.send_signal(SIGINT)
        _, printed = process.communicate(timeout=SECONDS)
    reports = [json.loads(line) for line in printed.splitlines() if line.startswith("[")]
    assert len(reports) == len(commands), printed
    assert {code for code, *_ in reports} <= {0, 1, 130}, printed  # 1: refused; 130: interrupted
    return {command: groups_in(set(modules)) for command, (_, *modules) in zip(commands, reports, strict=True)}


def run(*words: str) -> Any:
    """Run a command in a new process and return its output, which is JSON."""
    ran = subprocess.run(
        [sys.executable, "-m", "inspector", *words, "-o", "json"], check=True, capture_output=True, timeout=SECONDS
    )
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def words(mock: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the words in capitals in the table stand for."""
    folder = tmp_path_factory.mktemp("loading")
    capture, signed, jsonrpc = (str(folder / name) for name in ("capture.a2a", "signed.json", "jsonrpc.json"))
    sent = run("send", "-a", mock, "--text", "report 3", "--capture", capture)
    other = run("send", "-a", mock, "--text", "report 3")["task"]["id"]  # a configuration changes what the doctor does
    _, _, card = (RECORDINGS / "card_10.txt").read_text("utf-8").partition("\n\n")
    Path(signed).write_text(card, "utf-8")
    served = run("card", "get", "-a", mock)
    served["supportedInterfaces"] = served["supportedInterfaces"][:1]
    assert served["supportedInterfaces"][0]["protocolBinding"] == "JSONRPC"
    Path(jsonrpc).write_text(json.dumps(served), "utf-8")
    har = str(folder / "session.har")
    subprocess.run([sys.executable, "-m", "inspector", "export", capture, "--out", har], check=True, timeout=SECONDS)
    checks = folder / "checks.json"
    test = {"id": "T", "name": "T", "level": "must", "steps": [{"id": "card", "operation": "get_agent_card"}]}
    suites = [{"id": "s", "name": "s", "tests": [test]}]
    checks.write_text(json.dumps({"acts_version": "1.0", "spec_version": "1.0", "suites": suites}), "utf-8")
    keys = str(RECORDINGS / "jwks_10.json")
    values = {"URL": mock, "TASK": sent["task"]["id"], "CAPTURE": capture, "SIGNED": signed, "KEYS": keys}
    return {**values, "CHECKS": str(checks), "HAR": har, "OTHER": other, "JSONRPC": jsonrpc}


@pytest.mark.parametrize("groups", ALIKE)
def test_each_command_loads_the_groups_that_it_uses_and_no_others(groups: str, words: dict[str, str], tmp_path: Path):
    commands = [command for command in TABLE if TABLE[command] == groups and command not in SERVERS]
    assert loaded_by(commands, words, tmp_path) == {command: set(groups.split()) for command in commands}


@pytest.mark.parametrize("command", SERVERS)
def test_each_server_loads_the_groups_that_it_uses_and_no_others(command: str, words: dict[str, str], tmp_path: Path):
    assert loaded_by([command], words, tmp_path) == {command: set(TABLE[command].split())}


def test_each_group_is_loaded_by_a_command_except_for_textual():
    assert set(" ".join(TABLE.values()).split()) == GROUPS.keys() - {"textual", "keyring"}


def test_each_group_has_the_names_of_modules():
    """A module that was renamed would never be seen."""
    script = "import importlib, json, sys\nfor name in json.loads(sys.argv[1]): importlib.import_module(name)"
    names = sorted(set().union(*GROUPS.values()))
    subprocess.run([sys.executable, "-c", script, json.dumps(names)], check=True, timeout=SECONDS)
