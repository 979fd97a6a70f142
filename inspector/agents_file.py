"""The agents of a project and of the user: names with their URL and options, in files called `agents.toml`.

    default = "staging"

    [agents.staging]
    url = "https://staging.example"
    transports = ["JSONRPC"]
    bearer = "env:A2A_STAGING_TOKEN"

The file of a project is in the current folder or in a folder above it, up to the root of the repository; it is meant
to be committed. The file of the user is beside the settings file. An agent of the user has priority over one of the
project with the same name, so that a foreign project cannot replace it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultError, usage_error
from inspector.settings_file import (
    DURATION,
    LARGEST_FILE,
    Lines,
    Setting,
    Value,
    change_file,
    file_error,
    nearest_file,
    not_allowed,
    settings_path,
    unreadable,
)
from inspector.text import safe_toml
from inspector.text.limited_file import read_limited
from inspector.text.safe_toml import TomlError
from inspector.text.toml_positions import line_of, lines_of
from inspector.text.typed_path import looks_like_path, typed_path

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

FILE_NAME = "agents.toml"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
"""What a name looks like: it cannot be a URL, a host with a dot or a port, or a path with a slash."""
_HOSTS = frozenset({"localhost"})
"""Names that are hosts, so that a foreign project cannot take them."""
REFERENCE = "env:"
"""The beginning of a reference to an environment variable."""
_FORM = 'the name of an environment variable, as in "env:A2A_TOKEN"'
_PROJECT_VARIABLE = re.compile(r"env:A2A[A-Z0-9_]*")
"""The variables that the file of a project may name: a foreign project must not get the other secrets of a user."""
_SECRET_HEADER = re.compile(r"auth(?!or(?!i))|cookie|key|token|secret|password|passwd|credential", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[ -~]*")

SETTINGS = (
    Setting("agent", "url", "reference", str, "", "The URL of the agent or of its card, or a card file"),
    Setting("agent", "a2a-version", "a2a_version", str, "", "The protocol version"),
    Setting(
        "agent", "transports", "transports", list, [], "Preferred bindings", allowed=("JSONRPC", "HTTP+JSON", "GRPC")
    ),
    Setting("agent", "trust", "trust", list, [], "Other origins that may get the credentials"),
    Setting("agent", "timeout", "timeout", str, "", "Stop waiting after this time", form=DURATION),
    Setting("agent", "bearer", "bearer", str, "", "The bearer token", form=_FORM),
    Setting("agent", "basic", "basic", str, "", "The user name and the password", form=_FORM),
    Setting("agent", "api-key", "api_key", str, "", "The API key", form=_FORM),
    Setting("agent", "client-cert", "client_cert", str, "", "The client certificate"),
    Setting("agent", "client-key", "client_key", str, "", "The private key of the client certificate"),
    Setting("agent", "client-passphrase", "client_passphrase", str, "", "The passphrase of the key", form=_FORM),
    Setting("agent", "receiver-host", "receiver_host", str, "", "The address of the webhook receiver"),
    Setting("agent", "receiver-port", "receiver_port", int, 0, "The port of the webhook receiver", most=65535),
    Setting("agent", "public-url", "public_url", str, "", "The URL that is registered for webhooks"),
)
"""The members of an agent, with the options that they set; `headers` is a table of texts."""

_BY_NAME = {setting.name: setting for setting in SETTINGS}
_FILES = frozenset({"client_cert", "client_key"})


@dataclass(frozen=True, slots=True)
class NamedAgent:
    """An agent of a file: its name, the values of options (`reference` is its URL), and where it is defined.

    `lines` has the line of each option, `line` that of the agent.
    """

    name: str
    values: Mapping[str, Value]
    headers: Mapping[str, str]
    path: Path
    line: int
    is_project: bool
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def url(self) -> str:
        """Return the URL, or the path of the card file."""
        return str(self.values["reference"])

    def refers(self, option: str) -> bool:
        """Return whether an option has the value of an environment variable."""
        written = self.headers.values() if option == "headers" else [self.values.get(option)]
        return any(str(value).startswith(REFERENCE) for value in written)

    def place(self, option: str) -> str:
        """Return where an option is set, as `path:line`."""
        return f"{self.path}:{self.lines.get(option, self.line)}"

    def problem(self, option: str, seen: str, allowed: str) -> FaultError:
        """Return the error for the value of an option."""
        return file_error(self.path, self.lines.get(option, self.line), seen, allowed)


@dataclass(frozen=True, slots=True)
class NamedAgents:
    """The agents of all files by name; `default` is the name of the agent that is used without another, or `""`."""

    agents: Mapping[str, NamedAgent] = field(default_factory=dict)
    default: str = ""


def user_path() -> Path:
    """Return the path of the user's file, which may not exist."""
    return settings_path().with_name(FILE_NAME)


def project_path(folder: Path | None = None) -> Path | None:
    """Return the path of the project's file: the nearest one up to the root of the repository, None without one."""
    return nearest_file(FILE_NAME, folder)


def load_agents() -> NamedAgents:
    """Read both files; raises `FaultError` with the file and the line of the first mistake."""
    project = project_path()
    before = _reader(project, is_project=True) if project else None
    own = _reader(user_path(), is_project=False)
    readers = [reader for reader in (before, own) if reader is not None]
    agents: dict[str, NamedAgent] = {}
    default = ""
    for reader in readers:
        found, chosen = reader.read()
        agents, default = {**agents, **found}, chosen or default
    for reader in readers:
        reader.check_default(agents)
    return NamedAgents(agents, default)


def read_agents(path: Path, *, is_project: bool) -> tuple[dict[str, NamedAgent], str]:
    """Return the agents of a file and the name of its default agent; raises `FaultError` for a mistake."""
    reader = _reader(path, is_project=is_project)
    return reader.read() if reader is not None else ({}, "")


def _reader(path: Path, *, is_project: bool) -> _Reader | None:
    """Return the reader of a file, None if the file does not exist; raises `FaultError` if it cannot be read."""
    try:
        text = read_limited(path, LARGEST_FILE).decode("utf-8-sig")  # editors on Windows write a byte order mark
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    return _reader_of(path, text, is_project=is_project)


def _reader_of(path: Path, text: str, *, is_project: bool) -> _Reader:
    """Return the reader of a text, which is or becomes the content of a file."""
    try:
        document = safe_toml.read(text)
    except TomlError as error:
        raise file_error(path, error.line, error.why, "TOML (https://toml.io)") from error
    return _Reader(path, document, lines_of(text), is_project)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the document of a file."""

    path: Path
    document: Mapping[str, Any]
    lines: Lines
    is_project: bool

    def read(self) -> tuple[dict[str, NamedAgent], str]:
        """Return the agents and the name of the default agent."""
        for key in self.document:
            if key not in ("agents", "default"):
                raise self._error((key,), f"{key!r} is unknown", 'default = "NAME" and [agents.NAME]')
        default, tables = self.document.get("default", ""), self.document.get("agents", {})
        for key, value, kind in (("default", default, str), ("agents", tables, dict)):
            if not isinstance(value, kind):
                raise self._error((key,), f"{key} has the wrong type", 'default = "NAME" and [agents.NAME]')
        return {name: self._agent(name, members) for name, members in tables.items()}, default

    def check_default(self, agents: Mapping[str, NamedAgent]) -> None:
        """Raise `FaultError` if the default agent of the file is not an agent of any file."""
        default = self.document.get("default")
        if default and default not in agents:
            raise self._error(
                ("default",), f"the default agent {default!r} is not defined", ", ".join(agents) or "none"
            )

    def _agent(self, name: str, members: Any) -> NamedAgent:
        where = ("agents", name)
        if not isinstance(members, dict):
            raise self._error(where, f"{name} is not an agent", f"a table [agents.{name}]")
        if NAME.fullmatch(name) is None or name.lower() in _HOSTS:
            allowed = "a name that begins with a letter, of letters, digits, - and _, but not localhost"
            raise self._error(where, f"{name!r} cannot be the name of an agent", allowed)
        if not members.get("url"):
            raise self._error(where, f"[agents.{name}] has no url", 'url = "https://agent.example"')
        found: dict[str, Value] = {}
        for key, value in members.items():
            if key == "headers":
                continue
            if key not in _BY_NAME:
                raise self._error((*where, key), f"{key!r} is unknown in an agent", ", ".join((*_BY_NAME, "headers")))
            found[_BY_NAME[key].option] = self._value(name, _BY_NAME[key], value)
        headers = self._headers(name, members.get("headers", {}))
        lines = {setting.option: line_of(self.lines, *where, setting.name) for setting in SETTINGS}
        lines["headers"] = line_of(self.lines, *where, "headers")
        return NamedAgent(name, found, headers, self.path, line_of(self.lines, *where), self.is_project, lines)

    def _value(self, name: str, setting: Setting, value: Any) -> Value:
        where = ("agents", name, setting.name)
        if self.is_project and setting.option == "trust":
            allowed = (
                "--trust, A2ACLI_TRUST, or trust in the file of the user, because a foreign project can name any host"
            )
            raise self._error(where, "trust is not allowed in the file of a project", allowed)
        if setting.form == _FORM:
            self._check_secret(where, setting.name, value)
        elif allowed := not_allowed(setting, value):
            raise self._error(where, f"{setting.name} is not valid", allowed)
        if setting.option == "reference":
            return self._reference(where, value)
        result: Value = str(self._file(where, value)) if setting.option in _FILES else value
        return result

    def _reference(self, where: tuple[str, ...], value: str) -> str:
        """Return a URL, or the path of a card or a catalog beside the file of the agents, with the entry after `#`."""
        for path, rest in paths_in(value):
            file = self._file(where, path)
            if file.is_file() or (looks_like_path(path) and "#" not in path):
                return f"{file}{rest}"
        if _has_userinfo(value):
            allowed = 'a URL without a user name and a password; basic = "env:NAME" names the variable that has them'
            raise self._error(where, "url has a user name or a password", allowed)  # which is not repeated
        return value

    def _file(self, where: tuple[str, ...], value: str) -> Path:
        """Return a path relative to the file of the agents; raises `FaultError` for a path that cannot exist."""
        try:
            found = self.path.parent / typed_path(value)
            found.lstat()
        except FileNotFoundError:  # reported when the file is used
            pass
        except OSError as error:
            raise self._error(where, f"{where[-1]} is not a path: {error.strerror}", "a URL or a path") from error
        return found

    def _check_secret(self, where: tuple[str, ...], key: str, value: Any) -> None:
        """Raise `FaultError` for a secret in the file, or for a variable that a project may not name."""
        if not isinstance(value, str) or not value.startswith(REFERENCE) or not value[4:].isidentifier():
            raise self._error(where, f"{key} is not a reference", _FORM)  # a secret is not repeated
        if self.is_project and _PROJECT_VARIABLE.fullmatch(value) is None:
            allowed = "variables whose names begin with A2A, in the file of a project"
            raise self._error(where, f"{key} names the variable {value[4:]}", allowed)

    def _headers(self, name: str, headers: Any) -> dict[str, str]:
        where: tuple[str, ...] = ("agents", name, "headers")
        if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
            raise self._error(where, "headers is not a table of texts", 'headers = { X-Team = "search" }')
        for header, value in headers.items():
            where = ("agents", name, "headers", header)
            if _HEADER_NAME.fullmatch(header) is None or _HEADER_VALUE.fullmatch(value) is None:
                raise self._error(where, "a header has characters that HTTP does not allow", "printable ASCII")
            if _SECRET_HEADER.search(header) or value.startswith(REFERENCE):
                self._check_secret(where, f"the header {header}", value)
        return dict(headers)

    def _error(self, where: tuple[str, ...], seen: str, allowed: str) -> FaultError:
        return file_error(self.path, line_of(self.lines, *where), seen, allowed)


def paths_in(reference: str) -> Iterator[tuple[str, str]]:
    """Yield the paths that a reference can be, with the rest of it: a file, or a catalog before `#` and its entry."""
    catalog, mark, entry = reference.partition("#")
    for path, rest in ((reference, ""), (catalog, f"{mark}{entry}")):
        if path and "://" not in path:
            yield path, rest


def _has_userinfo(url: str) -> bool:
    try:
        return "@" in urlsplit(url if "://" in url else f"//{url}").netloc
    except ValueError:  # the client reports an invalid address
        return False


def resolved(agent: NamedAgent, but: Collection[str] = ()) -> Iterator[tuple[str, Value]]:
    """Yield the options of an agent without its URL and those in `but`.

    References to variables that are not set raise `FaultError`.
    """
    secrets = {setting.option for setting in SETTINGS if setting.form == _FORM} - {"client_passphrase", "basic"}
    for option, value in agent.values.items():
        if option != "reference" and option not in but:
            yield option, _variable(agent, str(value)) if option in secrets else value
    if agent.headers and "headers" not in but:
        yield "headers", [f"{name}: {_variable(agent, value)}" for name, value in agent.headers.items()]


def _variable(agent: NamedAgent, value: str) -> str:
    if not value.startswith(REFERENCE):
        return value
    found = os.environ.get(value[4:])
    if not found:
        seen = f"The environment variable {value[4:]} is {'not set' if found is None else 'empty'}."
        raise usage_error(seen, f"Set it: {agent.path}:{agent.line} refers to it for the agent {agent.name!r}.")
    return found


def store_agent(
    path: Path, name: str, members: Mapping[str, Value | Mapping[str, str]] | None, *, is_project: bool
) -> None:
    """Write an agent to a file, or remove it (None); comments and other agents stay.

    Raises `FaultError` before anything is written, if the file would not be valid.
    """

    def change(document: TOMLDocument) -> None:
        from tomlkit import table  # noqa: PLC0415 - only a change of the file needs it

        agents = document.setdefault("agents", table(is_super_table=True))
        if members is not None:
            agents[name] = table()
            agents[name].update(members)
            return
        agents.pop(name, None)
        if document.get("default") == name:
            document.pop("default")

    change_file(path, change, check=lambda text: _reader_of(path, text, is_project=is_project).read())
