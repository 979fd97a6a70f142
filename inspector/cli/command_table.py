"""`help --json`: every command with its arguments, options, types, defaults and exit codes, for programs.

Members that are false, null or empty are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspector import PROGRAM, __version__
from inspector.cli import values
from inspector.cli.arguments import Parser
from inspector.cli.commands import COMMANDS, Command, main_parser
from inspector.cli.errors import EXIT_CODES

_TYPES: dict[object, str] = {
    values.duration: "duration",
    values.duration_text: "duration",
    values.natural: "integer",
    values.positive: "integer",
    values.port: "integer",
    values.pace: "number",
    values.file: "path",
    values.json_text: "json",
    values.moment: "time",
    values.web_url: "url",
    values.pattern: "regular expression",
    values.header: "header",
    values.variable: "assignment",
}
"""The names of the types of values; the others are `text`."""


def command_table(commands: Sequence[Command] = ()) -> dict[str, Any]:
    """Return the description of some commands, by default of all and of the command line without a command."""
    described = [_described(command.name, command.purpose, command.parser()) for command in commands or COMMANDS]
    if not commands:
        parser = main_parser()
        described.insert(0, _described("", parser.description or "", parser))
    return {
        "program": PROGRAM,
        "version": __version__,
        "exitCodes": {str(code): meaning for code, meaning in EXIT_CODES.items()},
        "commands": described,
    }


def _described(name: str, purpose: str, parser: Parser) -> dict[str, Any]:
    groups = {action: group.title for group in parser._action_groups for action in group._group_actions}
    actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    handler = next((command.handler() for command in COMMANDS if command.name == name), None)
    members = {
        "purpose": purpose,
        "arguments": [_argument(action) for action in actions if not action.option_strings],
        "options": [_option(parser, action, groups.get(action)) for action in actions if action.option_strings],
        "notes": handler.notes if handler else "",
        "examples": _examples(handler.examples) if handler else [],
    }
    return {"name": name, **_without_blanks(members)}


def _argument(action: argparse.Action) -> dict[str, Any]:
    members = {
        "name": action.dest,
        "metavar": action.metavar,
        "type": _type_of(action),
        "required": action.nargs not in ("?", "*"),
        "repeatable": action.nargs in ("*", "+"),
        "choices": _choices(action),
        "description": action.help,
    }
    return _without_blanks(members)


def _option(parser: Parser, action: argparse.Action, group: str | None) -> dict[str, Any]:
    is_switch = action.nargs == 0
    default = parser.default_of(action)
    members = {
        "flags": list(action.option_strings),
        "metavar": None if is_switch else action.metavar,
        "type": "switch" if is_switch else _type_of(action),
        "required": action.required,
        "repeatable": not isinstance(action, argparse._StoreAction) and not is_switch,
        "choices": _choices(action),
        "default": str(default) if isinstance(default, Path) else default,
        "environment": parser.variables_of(action),
        "group": group if group != "options" else None,
        "description": action.help,
    }
    return _without_blanks(members)


def _without_blanks(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in (None, "", []) and value is not False}


def _type_of(action: argparse.Action) -> str:
    return _TYPES.get(action.type, "text")


def _choices(action: argparse.Action) -> list[str] | None:
    return list(action.choices) if action.choices else None


def _examples(text: str) -> list[dict[str, str]]:
    """Return each example with its purpose, which is the comment before it; it may have several lines."""
    found: list[dict[str, str]] = []
    for line in text.splitlines():
        if line.startswith("# "):
            found.append({"purpose": line.removeprefix("# "), "command": ""})
        elif found:
            found[-1]["command"] = f"{found[-1]['command']}\n{line}".lstrip("\n")
    return found
