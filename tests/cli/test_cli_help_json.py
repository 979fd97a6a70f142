"""`help --json` and `help --skill`: what programs and coding agents read about the command line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from puppets import RunCli

from inspector.cli.commands import COMMANDS, find, main_parser
from inspector.cli.errors import EXIT_CODES

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["../README.md", *sorted(path.name for path in DOCS.glob("*.md"))]
TYPES = {
    "switch", "text", "path", "integer", "number", "duration", "json", "time", "url", "header", "assignment",
    "regular expression",
}  # fmt: skip


def test_every_command_and_option_is_described(cli: RunCli):
    table = cli("help", "--json").json
    assert [command["name"] for command in table["commands"]] == ["", *(command.name for command in COMMANDS)]
    for command in table["commands"]:
        words = command["name"].split()
        parser = find(words).parser() if words else main_parser()
        described = {flag for option in command.get("options", ()) for flag in option["flags"]}
        assert described == set(parser._option_string_actions) - {"-h", "--help"}
        assert {option["type"] for option in command.get("options", ())} <= TYPES
        assert all(option["description"] for option in command.get("options", ()))
        assert all(example["command"].strip() for example in command.get("examples", ()))


def test_an_option_has_its_type_default_and_environment_variable(cli: RunCli):
    [send] = cli("help", "--json", "send").json["commands"]
    options = {option["flags"][-1]: option for option in send["options"]}
    assert options["--poll-interval"] == {
        "flags": ["--poll-interval"],
        "metavar": "DURATION",
        "type": "duration",
        "default": 2.0,
        "environment": ["A2ACLI_POLL_INTERVAL"],
        "description": "time between two requests for the task (default: 2s); increases while the task does not change",
    }
    assert options["--output"]["choices"] == ["text", "json"]
    assert options["--header"]["repeatable"] is True
    assert options["--text"]["repeatable"] is True
    assert options["--stream"]["type"] == "switch"
    assert options["--bearer"]["group"] == "connection"
    [show] = cli("help", "--json", "show").json["commands"]
    assert [(each["name"], each.get("required", False)) for each in show["arguments"]] == [
        ("file", True),
        ("filter", False),
    ]


def test_a_group_of_commands_can_be_described(cli: RunCli):
    names = [command["name"] for command in cli("help", "--json", "task", "push-config").json["commands"]]
    assert names == [command.name for command in COMMANDS if command.name.startswith("task push-config ")]


def test_an_unknown_command_is_a_usage_error(cli: RunCli):
    assert cli("help", "--json", "dance").code == 2


def test_no_secret_of_the_environment_is_a_default(cli: RunCli):
    assert "canary-11" not in cli("help", "--json", A2ACLI_BEARER="canary-11", A2ACLI_HTTP_TOKEN="canary-11").out


def test_the_documentation_lists_the_exit_codes(cli: RunCli):
    table = (DOCS / "command-line.md").read_text(encoding="utf-8").partition("### Exit codes")[2]
    listed = {int(code) for codes in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) for code in codes.split(",")}
    assert listed == set(EXIT_CODES) == {int(code) for code in cli("help", "--json").json["exitCodes"]}
    for code in range(6):
        assert f"| {code} | {EXIT_CODES[code]} |" in table


def command_lines(text: str) -> list[str]:
    """Return the command lines in the indented lines of a page, without redirections and variables before them.

    Synopses, which contain optional words in brackets or end with an ellipsis, are left out.
    """
    lines = re.findall(r"^    (?:\w+=\S+ )?(a2a-inspect .*)$", text.replace("\\\n", " "), re.MULTILINE)
    return [re.split(" [|>&]", line)[0] for line in lines if " [" not in line and not line.endswith("...")]


def test_the_documentation_has_command_lines(cli: RunCli):
    found = {page: len(command_lines((DOCS / page).read_text(encoding="utf-8"))) for page in PAGES}
    assert sum(found.values()) > 100, found
    assert min(found["coding-agents.md"], len(command_lines(cli("help", "--skill").out))) >= 5


@pytest.mark.parametrize("page", ["skill", *PAGES])
def test_the_command_lines_of_the_documentation_can_be_parsed(cli: RunCli, page: str):
    text = cli("help", "--skill").out if page == "skill" else (DOCS / page).read_text(encoding="utf-8")
    for line in command_lines(text):
        words = shlex.split(re.sub(r"--url \S+", "--url http://127.0.0.1/hook", line), comments=True)[1:]
        command = find(words)
        if words[:1] == ["help"]:
            assert cli(*words).code == 0, line
        elif command is None:
            assert main_parser().read(words, {}), line
        else:
            assert command.parser().read(words[len(command.words) :], {}), line


def test_the_skill_has_a_name_and_a_description(cli: RunCli):
    header = cli("help", "--skill").out.split("---\n")[1]
    assert header.startswith("name: a2a-inspect\ndescription: ")
    assert len(header) < 1_024
