"""Configuration files in the format of dotenv: lines such as `A2ACLI_TIMEOUT=30s` (a2a-cli 0.2 section 8.3).

The local file is `.env` in the current folder or in a folder above it, up to the root of the repository, or the file
of `--config`. The file of the user is `a2a-cli/.env` in the configuration folder, which other programs that follow the
a2a-cli specification use, too. Variables with other names are ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from inspector.lazy_dataclass import dataclass
from inspector.options import HOME_VARIABLE, home_folder
from inspector.protocol.errors import FaultError, usage_error
from inspector.settings_file import file_error, nearest_file, unreadable
from inspector.text.typed_path import typed_path

PREFIX = "A2ACLI_"
FILE_NAME = ".env"
_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.*)")
_WITHOUT_SIGN = re.compile(rf"(?:export\s+)?(?P<name>{PREFIX}\w+)")
_QUOTED = re.compile(r"""(?:"(?P<double>[^"\\]*+(?:\\.[^"\\]*+)*)"|'(?P<single>[^']*+)')\s*+(?:#.*)?""")
_COMMENT = re.compile(r"(?<!\s)\s++#.*")
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\\": "\\"}
_ESCAPE = re.compile(r'\\[nt"\\]')
_OTHERS = 0o077
"""The permissions of the group and of others."""
_SECRETS = frozenset(f"{PREFIX}{name}" for name in ("BEARER", "BASIC", "API_KEY", "HEADER", "SVC_PARAM", "TOKEN"))
_SENDING = ("TRUST", "KEYS", "TRUSTED_KEYS", "SNIPPET", "OTLP_ENDPOINT", "FORWARD")
"""Where credentials, captures and deliveries are sent, and which files are sent: a snippet can name any file."""
_WRITING = ("CAPTURE", "OUT", "SAVE", "REPORT", "STATE")
"""Which files are written."""
_NOT_IN_FOUND_FILES = frozenset(f"{PREFIX}{name}" for name in (*_SENDING, *_WRITING, "CONFIG"))
"""Variables that a foreign folder must not set."""
_FOREIGN_REFERENCE = re.compile(r"env:(?!A2A)")


@dataclass(frozen=True, slots=True)
class EnvFile:
    """A file: its path (None without a file), the values of its variables, and the line of each variable.

    `is_found` is true if the file was found in a folder, so that it may be that of a foreign project.
    """

    path: Path | None = None
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    lines: Mapping[str, int] = field(default_factory=dict)
    is_found: bool = False

    def place(self, variable: str) -> str:
        """Return where a variable is, as `path:line`."""
        return f"{self.path}:{self.lines[variable]}"

    @property
    def exposed(self) -> bool:
        """Return whether the file contains a secret, and other users can read it."""
        if self.path is None or not _SECRETS & self.values.keys() or os.name == "nt":
            return False
        return bool(self.path.stat().st_mode & _OTHERS)


@dataclass(frozen=True, slots=True)
class EnvFiles:
    """The local file and the file of the user; `problem` is the mistake in one of them, which no command ignores."""

    local: EnvFile = field(default_factory=EnvFile)
    user: EnvFile = field(default_factory=EnvFile)
    problem: FaultError | None = None

    def get(self, variable: str) -> str:
        """Return the value of a variable, `""` if no file sets it."""
        return self.local.values.get(variable) or self.user.values.get(variable, "")


def user_path() -> Path:
    """Return the path of the user's file, which may not exist; raises `FaultError` if the home folder is unknown."""
    if home := home_folder():
        return home / FILE_NAME
    folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    try:
        return (folder if folder.is_absolute() else Path.home() / ".config") / "a2a-cli" / FILE_NAME
    except RuntimeError as error:  # a user without an entry in the list of users, as in some containers
        raise usage_error("The home folder of the user is unknown.", f"Set HOME or {HOME_VARIABLE}.") from error


def local_path(folder: Path | None = None) -> Path | None:
    """Return the path of the nearest `.env` up to the root of the repository, None without one."""
    return nearest_file(FILE_NAME, folder)


def load_env_files(chosen: str = "") -> EnvFiles:
    """Read both files; `chosen` replaces the local file. A mistake is in the result, because `--help` ignores it."""
    try:
        found = typed_path(chosen) if chosen else local_path()
        local = read_env_file(found, is_found=not chosen) if found else EnvFile()
        path = user_path()
        return EnvFiles(local, read_env_file(path) if path.is_file() else EnvFile())
    except FaultError as error:
        return EnvFiles(problem=error)
    except OSError as error:
        seen = f"The file {error.filename} cannot be read: {error.strerror}."
        return EnvFiles(problem=usage_error(seen, "Choose another file with --config, or check its permissions."))


def read_env_file(path: Path, *, is_found: bool = False) -> EnvFile:
    """Read a file; raises `FaultError` with the line of a mistake.

    `is_found`: the user did not choose the file, so that it must not send secrets elsewhere or write files.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")  # editors on Windows write a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.fullmatch(line.strip())
        if found is None and (misspelt := _WITHOUT_SIGN.match(line.strip())):
            seen = f"{misspelt['name']} is not followed by an equals sign"
            raise file_error(path, number, seen, f"{misspelt['name']}=value")
        if found is None or not found["name"].startswith(PREFIX):
            continue
        name = found["name"]
        value = _value(found["value"])
        if value is None:
            raise file_error(path, number, f"{name} has a quote without an end", f'{name}="value"')
        if is_found and (name in _NOT_IN_FOUND_FILES or _FOREIGN_REFERENCE.match(value)):
            seen = f"{name} cannot have this value in a .env file of a folder"
            allowed = f"environment variables, options, or --config {path}"
            raise file_error(path, number, seen, allowed)
        values[name], lines[name] = value, number
    return EnvFile(path, values, lines, is_found)


def _value(text: str) -> str | None:
    """Return a value without quotes, escapes and comment; None if its quote has no end."""
    if not text.startswith(('"', "'")):
        return _COMMENT.sub("", f" {text}").strip()
    found = _QUOTED.fullmatch(text)
    if found is None:
        return None
    if found["double"] is None:
        return str(found["single"])
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], found["double"])
