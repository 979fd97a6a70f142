"""How the program starts: its names, its imports, its help, and invalid command lines."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from puppets import SECONDS, RunCli

import inspector
from inspector.cli.arguments import Deferred
from inspector.cli.commands import COMMANDS, Command, find, main_parser

NAMES = [command.name for command in COMMANDS]


@pytest.mark.parametrize("module", ["inspector", "inspector.cli", "inspector.cli.main"])
def test_the_program_can_be_run_as_a_module(module: str):
    ran = subprocess.run(
        [sys.executable, "-m", module, "--version"], check=False, capture_output=True, text=True, timeout=SECONDS
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"a2a-inspect {inspector.__version__}\n", "")


def test_help_and_version_import_no_heavy_modules():
    """One process runs all commands, because no module is unloaded: the first command that loads one is named."""
    script = (
        "import json, sys\nfrom inspector.cli.main import main\n"
        "for words in json.loads(sys.argv[1]):\n    main(words)\n"
        "    print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})), file=sys.stderr)"
    )
    lines = [["--version"], ["--help"], *([*name.split(), "--help"] for name in NAMES), ["no such", "--thing"]]
    ran = subprocess.run(
        [sys.executable, "-c", script, json.dumps(lines)], check=True, capture_output=True, text=True, timeout=SECONDS
    )
    printed = [json.loads(line) for line in ran.stderr.splitlines() if line.startswith("[")]
    assert len(printed) == len(lines)
    heavy = {"pydantic", "httpx", "aiohttp", "textual", "sqlite3", "asyncio", "ssl"}
    assert [words for words, loaded in zip(lines, printed, strict=True) if heavy & set(loaded)] == []
    assert "argparse" in printed[0]


def test_short_and_long_version_options_are_equal(cli: RunCli):
    assert cli("-v").out == cli("--version").out == f"a2a-inspect {inspector.__version__}\n"


def test_help_lists_every_command(cli: RunCli):
    for ran in (cli("--help"), cli("-h"), cli("help")):
        assert ran.code == 0
        assert all(f"\n  {name} " in ran.out for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_shows_its_own_help(cli: RunCli, name: str):
    command, option = cli("help", *name.split()), cli(*name.split(), "--help")
    assert command.code == option.code == 0
    assert command.out == option.out
    assert f"usage: a2a-inspect {name}" in command.out
    assert "\x1b" not in command.out


@pytest.mark.parametrize("command", ["check", "conformance"])
def test_the_format_of_a_report_is_not_one_of_the_output(cli: RunCli, command: str):
    ran = cli(command, "x", "-o", "junit")
    assert ran.code == 2
    assert "This is a format of reports: --report junit=FILE." in ran.err
    assert "--report" not in cli(command, "x", "-o", "jsno").err


def test_help_about_a_group_lists_its_commands(cli: RunCli):
    for words in (("task",), ("task", "push-config"), ("card",)):
        ran = cli("help", *words)
        assert ran.out.startswith(f"usage: a2a-inspect {' '.join(words)} COMMAND [options]\n")
        listed = [name for name in NAMES if f"\n  {name} " in ran.out]
        assert listed == [name for name in NAMES if name.startswith(" ".join(words))]
        assert cli(*words, "--help") == ran
    assert cli("help", "help").out == cli("--help").out


def examples(help_text: str) -> list[tuple[str, list[str]]]:
    """Return the comment of each example in a help text, with the arguments of the program after it."""
    found: list[tuple[str, list[str]]] = []
    for line in help_text.partition("\nExamples:\n")[2].splitlines():
        if line.startswith("  # "):
            found.append((line, []))
        else:
            commands = re.findall(r"\ba2a-inspect ([^|)]+)", line.replace("$WEBHOOK_URL", "http://localhost:9100/"))
            found[-1][1].extend(commands)
    return found


@pytest.mark.parametrize("name", ["", *NAMES])
def test_each_help_ends_with_examples_that_can_be_parsed(cli: RunCli, name: str):
    found = examples(cli(*name.split(), "--help").out)
    assert len(found) >= 2
    for comment, command_lines in found:
        assert command_lines, comment
        for command_line in command_lines:
            words = shlex.split(command_line)
            command = find(words)
            parser, arguments = (command.parser(), words[len(command.words) :]) if command else (main_parser(), words)
            assert parser.read(arguments, {}), command_line
            assert command is not None or arguments == ["http://localhost:9000"]


def test_help_shows_the_defaults(cli: RunCli):
    shown = " ".join(cli("help", "send").out.split())
    assert "(default: 2s)" in shown
    assert "(default: never)" in shown
    assert "(default: wait)" in shown


def test_help_about_an_unknown_command_is_a_usage_error(cli: RunCli):
    ran = cli("help", "dance")
    assert ran.code == 2
    assert "dance" in ran.err


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (["config", "show", "--config", "~nosuch/x"], {}),
        (["config", "show"], {"A2ACLI_CONFIG": "~nosuch/x"}),
        (["version"], {"A2A_INSPECT_HOME": "~nosuch"}),
        (["complete", "--", "send", "-a", ""], {"A2A_INSPECT_HOME": "~nosuch"}),
    ],
)
def test_a_path_of_an_unknown_user_is_a_usage_error(cli: RunCli, words: list[str], environment: dict[str, str]):
    ran = cli(*words, **environment)
    assert ran.code == 2
    assert "unknown user" in ran.err


@pytest.mark.parametrize(
    ("words", "code", "printed"),
    [(["rules", "CARD-004"], 0, "CARD-004"), (["config", "show"], 2, "The current folder was deleted.")],
)
def test_a_deleted_folder_is_an_error_only_if_it_is_needed(tmp_path: Path, words: list[str], code: int, printed: str):
    (tmp_path / "gone").mkdir()
    script = "import os, sys\nos.rmdir(os.getcwd())\nfrom inspector.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, *words]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=SECONDS, cwd=tmp_path / "gone")
    assert ran.returncode == code
    assert printed in ran.stdout + ran.stderr


def test_an_unknown_home_folder_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, cli: RunCli):
    for name in ("A2A_INSPECT_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 2)
    ran = cli("version")
    assert ran.code == 2
    assert "Set HOME or A2A_INSPECT_HOME" in ran.err


REFUSED = [
    ["card"],
    ["card", "dance"],
    ["task", "dance", "-a", "x"],
    ["task", "push-config", "-a", "x"],
    ["task", "push-config", "set", "t", "-a", "x"],
    ["task", "push-config", "set", "t", "-a", "x", "--url", "ftp://host/"],
    ["task", "push-config", "set", "t", "-a", "x", "--url", "http:///path"],
    ["task", "push-config", "set", "t", "-a", "x", "--url", "http://host/", "--auth", "Bearer"],
    ["task", "push-config", "set", "t", "-a", "x", "--url", "http://host/", "--auth", ":secret"],
    ["task", "push-config", "delete", "t", "-a", "x"],
    ["task", "push-config", "list", "-a", "x"],
    ["task", "subscribe", "-a", "x"],
    ["task", "list", "-a", "x", "--status", "tired"],
    ["task", "list", "-a", "x", "--after", "yesterday"],
    ["task", "list", "-a", "x", "--after", "2026-01-31T12:00:00"],
    ["task", "list", "-a", "x", "--after", "0001-01-01T00:00:00+23:00"],
    ["task", "list", "-a", "x", "--page-size", "0"],
    ["task", "list", "-a", "x", "surplus"],
    ["task", "list"],
    ["doctor"],
    ["doctor", "http://a", "-a", "http://b"],
    ["doctor", "http://a", "http://b"],
    ["send", "-a", "http://127.0.0.1:1"],
    ["send", "--text", "hi"],
    ["send", "-a", "x", "--text", "hi", "--stream", "--async"],
    ["send", "-a", "x", "--text", "hi", "--wait", "--async"],
    ["send", "-a", "x", "--media-type", "text/plain"],
    ["send", "-a", "x", "--text", "a", "--media-type", "text/plain", "--media-type", "text/html"],
    ["send", "-a", "x", "--text", "a", "--timeout", "soon"],
    ["send", "-a", "x", "--text", "a", "--poll-interval", "0"],
    ["send", "-a", "x", "--text", "a", "--metadata", "[]"],
    ["send", "-a", "x", "--text", "a", "--history", "-1"],
    ["send", "-a", "x", "--text", "a", "--task-id", ""],
    ["send", "-a", "x", "--file", "/no/such/file"],
    ["send", "-a", "x", "--file", "/"],
    ["send", "-a", "x", "--data", "-", "--data", "-"],
    ["send", "-a", "x", "hello"],
    ["task", "get", "-a", "x"],
    ["task", "cancel", "one", "two", "-a", "x"],
    ["card", "get", "-a", "x", "--header", "no-colon"],
    ["card", "get", "-a", "x", "--sneaky"],
    ["listen", "--port", "99999"],
    ["listen", "--count", "0"],
    ["mock", "--pace", "-1"],
    ["--bearer"],
    ["http://a", "http://b"],
]


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_invalid_command_line_is_a_usage_error(cli: RunCli, words: list[str]):
    ran = cli(*words)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("Error: ")
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "words", [words for words in REFUSED if words[0] in ("card", "send", "task", "doctor")], ids=" ".join
)
def test_with_json_a_usage_error_is_one_line_of_json(cli: RunCli, words: list[str]):
    ran = cli(*words, "-o", "json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.error["code"] == "A2ACLI_ERR_USAGE"
    assert ran.error["a2aCode"] is None
    assert ran.error["message"]


@pytest.mark.parametrize("spelled", [["-ojson"], ["--output=json"], ["--output", "json"], ["-o", "json"]])
def test_json_output_option_is_recognised_on_an_invalid_command_line(cli: RunCli, spelled: list[str]):
    assert cli("send", "--nonsense", *spelled).error["code"] == "A2ACLI_ERR_USAGE"


def test_json_output_for_errors_can_be_set_in_the_environment(cli: RunCli):
    assert cli("send", "--nonsense", A2ACLI_OUTPUT="json").error["code"] == "A2ACLI_ERR_USAGE"


def test_invalid_json_data_is_a_usage_error(cli: RunCli):
    ran = cli("send", "-a", "x", "--data", "-", stdin=b"{broken")
    assert ran.code == 2
    assert "stdin" in ran.err


def test_a_value_that_begins_with_a_hyphen_has_a_notation(cli: RunCli):
    ran = cli("send", "-a", "x", "--text", "hi", "--task-id", "-t1")
    assert ran.code == 2
    assert "Write a value that begins with a hyphen as --task-id=VALUE." in ran.err
    assert "as --agent-card=VALUE." in cli("card", "get", "-a", "-x").err


def test_json_instead_of_a_file_is_named_as_such(cli: RunCli):
    ran = cli("send", "-a", "x", "--text", "hi", "--data", "{bad")
    assert ran.code == 2
    assert "--data: '{bad' is not a file, and JSON cannot be given as an argument." in ran.err
    assert "pipe it to --data -" in ran.err
    assert "Check the path" not in ran.err
    assert cli("send", "-a", "x", "--data", json.dumps(["x" * 5000])).code == 2, "too long for the name of a file"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_optional_arguments_are_not_reported_as_required(cli: RunCli, command: Command):
    arguments = [action for action in command.parser()._actions if not action.option_strings]
    required = ", ".join(str(action.metavar) for action in arguments if action.nargs not in ("?", "*"))
    if required:
        ran = cli(*command.words)
        assert (ran.code, f"The following arguments are required: {required}." in ran.err) == (2, True), ran.err


def test_value_of_an_unknown_option_is_not_printed(cli: RunCli):
    ran = cli("card", "get", "-a", "x", "--baerer", "s3cret-token", "--haeder=X: s3cret-token")
    assert ran.code == 2
    assert "--baerer" in ran.err
    assert "s3cret" not in ran.err


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (["tasks", "list", "-a", "x"], "Did you mean `task list`?"),
        (["task", "lst", "x"], "Did you mean `task list`?"),
        (["list", "tasks"], "Did you mean `task list`?"),
        (["Task", "List"], "Did you mean `task list`?"),
        (["get", "card", "-a", "x"], "Did you mean `card get`?"),
        (["task", "push-config", "lsit"], "Did you mean `task push-config list`?"),
        (["sned", "http://127.0.0.1:1", "--text", "hi"], "Did you mean `send`?"),
        (["docter"], "Did you mean `doctor`? To open the app on an agent with this name, write http://docter."),
        (["subscribe"], "Did you mean `task subscribe`?"),
        (["findings", "http://127.0.0.1:1"], "Did you mean `lint`?"),
        (["validate"], "Did you mean `lint`? To open the app on an agent with this name, write http://validate."),
        (["Stream", "http://127.0.0.1:1", "--text", "hi"], "Did you mean `send`?"),
        (["logs", "http://127.0.0.1:1"], "a2a-inspect --help lists the commands."),
        (["help", "lnit"], "Did you mean `lint`?"),
        (["task"], "Choose from task get, task cancel, "),
        (["card", "xyzzy"], "Choose from card get, card diff."),
        (["card", "get", "x", "--validat"], "Did you mean --validate? Run a2a-inspect card get --help"),
        (["send", "x", "--strem", "--text", "hi", "--captrue=f"], "Did you mean --stream or --capture? Run "),
        (["send", "x", "--text", "hi", "--json"], "Run a2a-inspect send --help"),
        (["send", "x", "--text", "hi", "--transport", "grcp"], "Did you mean GRPC? Run "),
        (["task", "list", "x", "--status", "complted"], "Did you mean completed? Run "),
        (["card", "get", "x", "-o", "jsn"], "Did you mean json? Run "),
        (["card", "get", "x", "-o", "yaml"], "Run "),
        (["send", "x", "hello"], "Write the text of the message after --text. Run "),
        (["send", "-a", "x", "hello"], "Write the agent only once: as an argument or after -a. Write the text"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_misspelled_command_or_option_gets_a_suggestion(cli: RunCli, words: list[str], suggestion: str):
    ran = cli(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[1].startswith(f"Hint: {suggestion}")


@pytest.mark.parametrize("reference", ["localhost", "docter.example", "docter:9000", "./docter", "weather"])
def test_agent_is_not_mistaken_for_a_command(cli: RunCli, reference: str):
    assert "The app needs a terminal" in cli(reference).err


def test_file_is_not_mistaken_for_a_command(cli: RunCli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docter").write_text("{}")
    assert "The app needs a terminal" in cli("docter").err


@pytest.mark.parametrize("words", [["card", "get"], ["send", "--text", "hi", "--async"], ["doctor"], ["task", "list"]])
def test_agent_can_be_an_argument(cli: RunCli, mock: str, words: list[str]):
    assert cli(*words, mock).code == 0
    assert cli(*words, mock, "-a", mock).code == 0
    assert cli(*words, mock, A2ACLI_AGENT_CARD="http://127.0.0.1:1").code == 0
    ran = cli(*words, mock, "-a", "http://127.0.0.1:1", "-o", "json")
    assert (ran.code, ran.out, ran.error["message"]) == (2, "", "Two different agents were given.")


def test_options_cannot_be_abbreviated(cli: RunCli):
    assert cli("card", "get", "-a", "x", "--valid").code == 2


def test_app_needs_a_terminal(cli: RunCli):
    for words in ((), ("demo",), ("http://127.0.0.1:1",)):
        ran = cli(*words)
        assert (ran.code, ran.out) == (2, "")
        assert "terminal" in ran.err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_an_existing_function(command: Command):
    run = command.handler().run
    assert callable(run.load() if isinstance(run, Deferred) else run)
