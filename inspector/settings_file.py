"""The settings file of the user, `settings.toml`: defaults of options, and keys; the command line takes precedence.

The file is in the configuration folder of the platform, or in `A2A_INSPECT_HOME` if that is set. Each mistake in it is
reported with its line and with what is allowed.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from inspector.options import HOME_VARIABLE
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose

KEYS = "keys"
"""The table with the keys of commands."""
_APPLICATION = "a2a-inspect"
_HEADER = re.compile(r"\s*\[\s*([\w-]+)\s*\]\s*(?:#.*)?")
_MEMBER = re.compile(r"""\s*["']?([\w-]+)["']?\s*=""")
_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")

Value = str | int | float | bool | list[str]
"""A value in the file."""


class Setting(NamedTuple):
    """One setting: its table and name in the file, the option that it sets, its type, its default and its meaning.

    `allowed` lists the values of a text, if only some are allowed; `least` and `most` limit a number.
    """

    table: str
    name: str
    option: str
    kind: type[Any]
    default: Value
    meaning: str
    allowed: tuple[str, ...] = ()
    least: int = 0
    most: int = 2**53

    @property
    def id(self) -> str:
        """The table and the name, as in `screen.theme`."""
        return f"{self.table}.{self.name}"


SETTINGS = (
    Setting("screen", "theme", "theme", str, "dusk", "The colours: dusk, paper, or a theme of Textual"),
    Setting("screen", "ascii", "ascii", bool, False, "Draw symbols with ASCII characters"),
    Setting("connection", "timeout", "timeout", str, "", "Stop waiting for a response after this time: 30s, 5m"),
    Setting("connection", "transports", "transports", list, [], "The preferred bindings: JSONRPC, HTTP+JSON, GRPC"),
    Setting("connection", "trust", "trust", list, [], "Other origins that may get the credentials"),
    Setting("connection", "reconnect", "resubscribe", bool, False, "Subscribe again when a stream is disconnected"),
    Setting("receiver", "host", "receiver_host", str, "127.0.0.1", "The address at which webhooks are received"),
    Setting("receiver", "port", "receiver_port", int, 0, "The port for webhooks; 0 is any free port", most=65535),
    Setting("receiver", "public-url", "public_url", str, "", "The URL that is registered instead of the address"),
    Setting("receiver", "certificate", "receiver_cert", str, "", "Receive webhooks over HTTPS with this file (PEM)"),
    Setting("receiver", "key", "receiver_key", str, "", "The private key of the certificate (PEM)"),
    Setting("capture", "keep", "keep_captures", int, 50, "How many captures are kept in the captures folder", least=1),
    Setting("capture", "size", "keep_megabytes", int, 1024, "How many megabytes these captures may need", least=1),
)
"""All settings, in the order of the settings screen."""

_TABLES = tuple(dict.fromkeys(setting.table for setting in SETTINGS))


@dataclass(frozen=True, slots=True)
class Stored:
    """The content of the file: the values by the option that they set, and the keys of commands by command."""

    path: Path
    values: Mapping[str, Value] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line of each option and of each command."""

    def problem(self, name: str, seen: str, allowed: str) -> FaultError:
        """Return the error for an option or a command of the file."""
        return _error(self.path, self.lines.get(name, 0), seen, allowed)


def meaning_of(option: str) -> str:
    """Return the meaning of the setting of an option."""
    return next(setting.meaning for setting in SETTINGS if setting.option == option)


def settings_path() -> Path:
    """Return the path of the file, which may not exist."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home).expanduser().absolute() / "settings.toml"
    return platformdirs.user_config_path(_APPLICATION, appauthor=False) / "settings.toml"


def load(path: Path | None = None) -> Stored:
    """Read the file; raises `FaultError` with the line of the first mistake."""
    path = settings_path() if path is None else path
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return Stored(path)
    except (OSError, UnicodeDecodeError) as error:
        raise _error(path, 0, f"The file cannot be read: {error}", "UTF-8 text") from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        raise _error(path, line, _LINE.sub("", str(error)), "TOML (https://toml.io)") from error
    places = _places(text)
    error_at = partial(_error_at, path, places)
    for table, members in document.items():
        if table not in (*_TABLES, KEYS) or not isinstance(members, dict):
            raise error_at((table, ""), f"[{table}] is unknown", f"the tables {', '.join((*_TABLES, KEYS))}")
        for name in members:
            if table != KEYS and not any((table, name) == setting[:2] for setting in SETTINGS):
                names = ", ".join(setting.name for setting in SETTINGS if setting.table == table)
                raise error_at((table, name), f"{name!r} is unknown in [{table}]", names)
    found_values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for setting in SETTINGS:
        value = document.get(setting.table, {}).get(setting.name)
        if value is not None:
            _check(setting, value, error_at)
            found_values[setting.option] = value
            lines[setting.option] = places.get(setting[:2], 0)
    keys = document.get(KEYS, {})
    for command, key in keys.items():
        if not isinstance(key, str):
            raise error_at((KEYS, command), f"the key of {command!r} is not a text", 'keys such as "x" or "ctrl+x,f7"')
        lines[command] = places.get((KEYS, command), 0)
    return Stored(path, found_values, keys, lines)


def _check(setting: Setting, value: object, error_at: Callable[[tuple[str, str], str, str], FaultError]) -> None:
    """Check the type and the range of a value."""
    where, seen = (setting.table, setting.name), f"{setting.id} = {json.dumps(value, default=str)} is not valid"
    if setting.kind is list:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise error_at(where, seen, 'a list of texts, as in ["a", "b"]')
    elif setting.kind is bool:
        if not isinstance(value, bool):
            raise error_at(where, seen, "true or false")
    elif setting.kind is int:
        if isinstance(value, bool) or not isinstance(value, int) or not setting.least <= value <= setting.most:
            raise error_at(where, seen, f"a whole number from {setting.least} to {setting.most}")
    elif not isinstance(value, str) or (setting.allowed and value not in setting.allowed):
        raise error_at(where, seen, ", ".join(setting.allowed) or "a text in quotes")


def _places(text: str) -> dict[tuple[str, str], int]:
    """Return the line of each table and of each member of a table; members in other notations have no line."""
    places: dict[tuple[str, str], int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _HEADER.fullmatch(line):
            table = found[1]
            places.setdefault((table, ""), number)
        elif found := _MEMBER.match(line):
            places.setdefault((table, found[1]), number)
    return places


def _error_at(
    path: Path, places: Mapping[tuple[str, str], int], where: tuple[str, str], seen: str, allowed: str
) -> FaultError:
    line = places.get(where) or places.get(("", where[0])) or places.get((where[0], "")) or 0
    return _error(path, line, seen, allowed)


def _error(path: Path, line: int, seen: str, allowed: str) -> FaultError:
    where = f"{path}:{line}" if line else str(path)
    return FaultError(Fault(Whose.YOURS, FaultCode.USAGE, f"{where}: {seen}.", f"Allowed: {allowed}."))
