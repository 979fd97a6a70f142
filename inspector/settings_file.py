"""The settings file of the user, `settings.toml`: defaults of options, and keys; options override them.

The file is in the configuration folder of the platform, or in `A2A_INSPECT_HOME` if that is set. Each mistake in it is
reported with its line and with what is allowed.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import platformdirs

from inspector import PROGRAM
from inspector.lazy_dataclass import dataclass
from inspector.options import BINDING_NAMES, home_folder
from inspector.protocol.errors import FaultError, usage_error
from inspector.text import safe_toml
from inspector.text.limited_file import read_limited
from inspector.text.safe_toml import TomlError
from inspector.text.toml_positions import Path as TomlPath
from inspector.text.toml_positions import line_of, lines_of

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

DURATION = 'a duration in quotes, as in "30s" or "5m"'
REFERENCE = 'the name of an environment variable, as in "env:PASSPHRASE"'
KEYS = "keys"
"""The table with the keys of commands."""
LARGEST_FILE = 1024 * 1024
"""The most bytes of a settings file."""
_FORMS = {DURATION: re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h)?)?"), REFERENCE: re.compile(r"(?:env:[^\W\d]\w*)?")}
"""The patterns of texts that must have a form."""

Lines = Mapping[TomlPath, int]
"""The line of each key of a file."""
Value = str | int | float | bool | list[str]
"""A value in the file."""


class Setting(NamedTuple):
    """One setting: its table and name in the file, the option that it sets, its type, its default and its meaning.

    `allowed` lists the values of a text or of the items of a list, if only some are allowed. `form` is the form
    of a text, in words. `least` and `most` limit a number.
    """

    table: str
    name: str
    option: str
    kind: type[Any]
    default: Value
    meaning: str
    allowed: tuple[str, ...] = ()
    form: str = "a text in quotes"
    least: int = 0
    most: int = 2**53

    @property
    def id(self) -> str:
        """The table and the name, as in `screen.theme`."""
        return f"{self.table}.{self.name}"


SETTINGS = (
    Setting("screen", "theme", "theme", str, "dusk", "Colours: dusk, paper, or a theme of Textual"),
    Setting("screen", "ascii", "ascii", bool, False, "Draw symbols with ASCII characters"),
    Setting("connection", "timeout", "timeout", str, "", "Stop waiting for a response after this time", form=DURATION),
    Setting(
        "connection",
        "transports",
        "transports",
        list,
        [],
        "Preferred bindings, the first before the others",
        BINDING_NAMES,
    ),
    Setting("connection", "trust", "trust", list, [], "Other origins that may get the credentials"),
    Setting("connection", "client-cert", "client_cert", str, "", "Client certificate for TLS (PEM or PKCS#12)"),
    Setting("connection", "client-key", "client_key", str, "", "Private key of the client certificate (PEM)"),
    Setting(
        "connection",
        "client-passphrase",
        "client_passphrase",
        str,
        "",
        "Environment variable with the passphrase: env:NAME",
        form=REFERENCE,
    ),
    Setting("connection", "reconnect", "resubscribe", bool, False, "Subscribe again when a stream is disconnected"),
    Setting(
        "login", "redirect-port", "redirect_port", int, 8765, "Port for the redirect of a login", least=1, most=65535
    ),
    Setting("receiver", "host", "receiver_host", str, "127.0.0.1", "Address at which webhooks are received"),
    Setting("receiver", "port", "receiver_port", int, 0, "Port for webhooks; 0 is any free port", most=65535),
    Setting("receiver", "public-url", "public_url", str, "", "URL that is registered instead of the address"),
    Setting("receiver", "certificate", "receiver_cert", str, "", "Receive webhooks over HTTPS with this file (PEM)"),
    Setting("receiver", "key", "receiver_key", str, "", "Private key of the certificate (PEM)"),
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

    def place(self, name: str) -> str:
        """Return where an option is set, as `path:line`."""
        return f"{self.path}:{self.lines.get(name, 0)}"

    def problem(self, name: str, seen: str, allowed: str) -> FaultError:
        """Return the error for an option or a command of the file."""
        return file_error(self.path, self.lines.get(name, 0), seen, allowed)


def meaning_of(option: str) -> str:
    """Return the meaning of the setting of an option."""
    return next(setting.meaning for setting in SETTINGS if setting.option == option)


def nearest_file(name: str, folder: Path | None = None) -> Path | None:
    """Return the nearest file with a name, from a folder up to the root of its repository, None without one.

    The default is the current folder. A folder that was deleted or cannot be read has no file.
    """
    with suppress(OSError):
        start = (folder or Path()).absolute()
        for each in (start, *start.parents):
            if (each / name).is_file():
                return each / name
            if (each / ".git").exists():
                break
    return None


def settings_path() -> Path:
    """Return the path of the file, which may not exist."""
    return (home_folder() or platformdirs.user_config_path(PROGRAM, appauthor=False)) / "settings.toml"


def load(path: Path | None = None) -> Stored:
    """Read the file; raises `FaultError` with the line of the first mistake."""
    path = settings_path() if path is None else path
    try:
        text = read_limited(path, LARGEST_FILE).decode("utf-8-sig")  # editors on Windows write a byte order mark
    except FileNotFoundError:
        return Stored(path)
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    try:
        document = safe_toml.read(text)
    except TomlError as error:
        raise file_error(path, error.line, error.why, "TOML (https://toml.io)") from error
    places = lines_of(text)
    _check_names(document, partial(_error_at, path, places))
    return _stored(document, path, places)


def _check_names(document: Mapping[str, Any], error_at: Callable[[tuple[str, ...], str, str], FaultError]) -> None:
    """Raise `FaultError` for a table or a setting that does not exist."""
    for table, members in document.items():
        if table not in (*_TABLES, KEYS) or not isinstance(members, dict):
            raise error_at((table,), f"[{table}] is unknown", f"the tables {', '.join((*_TABLES, KEYS))}")
        names = [setting.name for setting in SETTINGS if setting.table == table]
        for name, value in members.items():
            if table == KEYS and not isinstance(value, str):
                raise error_at((KEYS, name), f"the key of {name!r} is not a text", 'keys such as "x" or "ctrl+x,f7"')
            if table != KEYS and name not in names:
                raise error_at((table, name), f"{name!r} is unknown in [{table}]", ", ".join(names))


def _stored(document: Mapping[str, Any], path: Path, places: Lines) -> Stored:
    """Return the values of the file; raises `FaultError` for a value that is not allowed."""
    values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for setting in SETTINGS:
        value, where = document.get(setting.table, {}).get(setting.name), (setting.table, setting.name)
        if value is None:
            continue
        if allowed := not_allowed(setting, value):
            shown = setting.id if setting.form == REFERENCE else f"{setting.id} = {json.dumps(value, default=str)}"
            seen = f"{shown} is not valid"  # a passphrase is not repeated
            raise _error_at(path, places, where, seen, allowed)
        values[setting.option], lines[setting.option] = value, line_of(places, *where)
    keys = document.get(KEYS, {})
    return Stored(path, values, keys, lines | {command: line_of(places, KEYS, command) for command in keys})


def read_value(setting: Setting, text: str) -> Value:
    """Read a value that a user typed; a list is separated by commas. Raises `ValueError` with what is allowed."""
    value: object = text
    if setting.kind is list:
        value = [item.strip() for item in text.split(",") if item.strip()]
    elif setting.kind is int:
        value = int(text) if text.isascii() and text.isdigit() else text
    elif setting.kind is bool:
        value = {"true": True, "false": False}.get(text, text)
    allowed = not_allowed(setting, value)
    if allowed:
        raise ValueError(allowed)
    return cast("Value", value)


def not_allowed(setting: Setting, value: object) -> str:
    """Return what is allowed if a value is not, else `""`."""
    if setting.kind is list:
        items = isinstance(value, list) and all(isinstance(item, str) for item in value)
        listed = items and (not setting.allowed or set(cast("list[str]", value)) <= set(setting.allowed))
        return "" if listed else f"a list of {', '.join(setting.allowed) or 'texts'}"
    if setting.kind is bool:
        return "" if isinstance(value, bool) else "true or false"
    if setting.kind is int:
        number = isinstance(value, int) and not isinstance(value, bool) and setting.least <= value <= setting.most
        return "" if number else f"a whole number from {setting.least} to {setting.most}"
    form = _FORMS.get(setting.form)
    return "" if isinstance(value, str) and (form is None or form.fullmatch(value)) else setting.form


def _error_at(path: Path, places: Lines, where: tuple[str, ...], seen: str, allowed: str) -> FaultError:
    return file_error(path, line_of(places, *where), seen, allowed)


def file_error(path: Path, line: int, seen: str, allowed: str) -> FaultError:
    """Return the error for a mistake in a file, with its line (0 if it is unknown) and what is allowed."""
    where = f"{path}:{line}" if line else str(path)
    return usage_error(f"{where}: {seen}.", f"Allowed: {allowed}.")


def unreadable(path: Path, error: OSError | UnicodeDecodeError) -> FaultError:
    """Return the error for a file that cannot be read, or is not UTF-8."""
    if isinstance(error, UnicodeDecodeError):
        return file_error(path, 0, f"Not UTF-8 at byte {error.start}", "UTF-8 text")
    return usage_error(f"The file {path} cannot be read: {error.strerror or error}.", "Check its path and permissions.")


def change_file(path: Path, change: Callable[[TOMLDocument], None], check: Callable[[str], object] = str) -> None:
    """Change a TOML file, which may not exist yet; comments and everything else stay. Raises `FaultError`.

    `check` gets the new text and may raise `FaultError` before anything is written. An error leaves the file unchanged.
    """
    import tomlkit  # noqa: PLC0415 - only a change of a file needs it

    from inspector.capture.private_files import replace_file  # noqa: PLC0415 - likewise

    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        change(document)
        text = tomlkit.dumps(document)
        check(text)
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path.resolve()  # the file can be a link to a file elsewhere
        mode = target.stat().st_mode if target.exists() else None
        replace_file(target, text.encode())
        if mode is not None:
            target.chmod(stat.S_IMODE(mode))
    except (OSError, UnicodeDecodeError, ValueError) as error:  # ValueError: the file is not valid TOML
        raise file_error(path, 0, f"The file cannot be changed: {error}", "a TOML file that you can write") from error


def store(path: Path, table: str, name: str, value: Value | None) -> None:
    """Write one value to the file, or remove it; raises `FaultError`."""

    def change(document: TOMLDocument) -> None:
        members = document.setdefault(table, {})
        if value is None:
            members.pop(name, None)
        else:
            members[name] = value

    change_file(path, change)
