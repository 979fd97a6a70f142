"""`config show`: the effective options with their sources, and the files that are read."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from inspector import agents_file, env_files, settings_file
from inspector.capture.paths import stored_tokens_path
from inspector.capture.redaction import MASK, Redactor
from inspector.cli.arguments import Invocation, Parser
from inspector.cli.commands.config import add_arguments
from inspector.cli.errors import OK
from inspector.cli.option_reader import FLAG
from inspector.cli.output import Output
from inspector.cli.styles import Role, Styled
from inspector.cli.unknown_variables import foreign_variables

_DEFAULT = "default"
_SECRET = frozenset({"bearer", "basic", "api_key"})
_PAIRS = frozenset({"headers", "svc_params", "check_variables"})
_DURATIONS = frozenset({"timeout", "poll_interval", "wait_timeout"})
_URLS = frozenset({"agent_card", "public_url", "trust"})
_WITHOUT_VALUE: Mapping[str, str] = {
    "agent_card": "none",
    "transports": "the order of the card",
    "a2a_version": "the highest version on the card that is supported, at least 1.0",
    "timeout": "never",
    "history": "the agent's choice",
    "theme": "dusk",
    "public_url": "the address of the receiver",
}
"""What happens without a value, by the destination of options that have no default value; for others: none."""


class Entry(NamedTuple):
    """An option: its name, its destination, its effective value (masked), and where the value comes from."""

    name: str
    dest: str
    value: Any
    source: str


def show(invocation: Invocation, out: Output) -> int:
    """Print each option with its source, and the files; warn of unknown variables."""
    given = invocation.given
    entries = list(_entries(given))
    files = list(_files(given))
    if out.json:
        settings = {entry.name: {"value": entry.value, "source": entry.source} for entry in entries}
        out.document({"settings": settings, "files": [{"path": str(path), "exists": there} for path, there in files]})
    else:
        for entry in entries:
            out.field(entry.name, _words(entry), Styled(f" ({entry.source})", Role.SOFT))
        for path, there in files:
            out.field("File", str(path), Styled("" if there else " (does not exist)", Role.SOFT))
    for warning in foreign_variables(env_files.load_env_files(str(given.config or ""))):
        out.warn(warning)
    return OK


def _entries(given: argparse.Namespace) -> Iterator[Entry]:
    """Yield the options of commands that connect to an agent, and the settings without an option."""
    named: dict[str, str] = {}
    parser = Parser("config show", "")
    add_arguments(parser)
    for action in parser._actions:
        long = [option for option in action.option_strings if option.startswith("--")]
        if long and action.dest != "help":
            named[action.dest] = long[0].removeprefix("--")
    others = {setting.option: setting.id for setting in settings_file.SETTINGS if setting.option not in named}
    defaults = {setting.option: setting.default for setting in settings_file.SETTINGS}
    for dest, name in {**named, **others}.items():
        value = getattr(given, dest, None)
        value = defaults.get(dest) if value is None else value
        yield Entry(name, dest, _shown(dest, value), _source(name, given.sources.get(dest, _DEFAULT)))


def _source(name: str, place: str) -> str:
    """Return where a value comes from, in words."""
    if place == FLAG:
        return f"option --{name}"
    return f"environment variable {place}" if place.startswith(env_files.PREFIX) else place


def _shown(dest: str, value: Any) -> Any:
    """Return a value for people and for JSON, without secrets."""
    if value in (None, "", [], ()):
        return None
    if dest in _SECRET:
        return MASK
    if dest in _PAIRS:
        return [f"{name}: {MASK}" for name, _ in value]
    if dest in _DURATIONS and isinstance(value, float):
        return f"{value:g}s"
    if dest in _URLS:
        hide = Redactor().url
        return hide(str(value)) if isinstance(value, str) else [hide(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _words(entry: Entry) -> str:
    if entry.value is None:
        return _WITHOUT_VALUE.get(entry.dest, "none")
    if isinstance(entry.value, bool):
        return "yes" if entry.value else "no"
    return ", ".join(map(str, entry.value)) if isinstance(entry.value, list | tuple) else str(entry.value)


def _files(given: argparse.Namespace) -> Iterator[tuple[Path, bool]]:
    """Yield the files that are read, in the order of their priority, and whether each exists."""
    local = given.config or env_files.local_path() or Path.cwd() / env_files.FILE_NAME
    project = agents_file.project_path() or Path.cwd() / agents_file.FILE_NAME
    own = (agents_file.user_path(), env_files.user_path(), settings_file.settings_path(), stored_tokens_path())
    for path in (local, project, *own):
        yield path, path.is_file()
