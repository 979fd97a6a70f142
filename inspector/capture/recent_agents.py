"""The list of recently inspected agents, stored between sessions in a JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from inspector.capture.paths import state_folder
from inspector.capture.private_files import CaptureError, private_folder, reason, replace_file
from inspector.capture.redaction import Redactor
from inspector.lazy_dataclass import dataclass
from inspector.text.reference import without_spelling

MOST = 20
"""How many agents are stored."""

_LONGEST_TEXT = 200
_LARGEST_FILE = 2**20


@dataclass(frozen=True, slots=True)
class RecentAgent:
    """An agent as it was at the last connection.

    `url` contains no secrets. `name` is the name on the card (untrusted text). `protocol_version` is, for example,
    `1.0`. `last_seen` is in seconds since 1970.
    """

    url: str
    name: str = ""
    protocol_version: str = ""
    last_seen: float = 0.0


class RecentAgents(NamedTuple):
    """The stored agents, newest first; `problem` is the error message if the file cannot be read, else `""`."""

    agents: list[RecentAgent]
    problem: str = ""


def recent_path() -> Path:
    """Return the path of the file with the list."""
    return state_folder() / "recent.json"


def load() -> RecentAgents:
    """Read the list. Without a file, the list is empty; if the file cannot be read, the list also has a `problem`."""
    path = recent_path()
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_FILE + 1)
        if len(raw) > _LARGEST_FILE:
            return RecentAgents([], f"The list of recent agents, {path}, is larger than 1 MiB and is not read.")
        return RecentAgents([_agent(entry) for entry in json.loads(raw)["agents"]][:MOST])
    except FileNotFoundError:
        return RecentAgents([])
    except OSError as error:
        return RecentAgents([], f"Cannot read the list of recent agents, {path}: {reason(error)}.")
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        return RecentAgents([], f"The list of recent agents, {path}, is not valid: {type(error).__name__}: {error}.")


def remember(agent: RecentAgent, redactor: Redactor | None = None) -> str:
    """Put an agent first in the list, replacing older entries with its URL; return an error message, or `""`.

    Secrets are masked, including the secrets that the redactor knows. An invalid file is renamed:
    `.broken` is appended to its name.
    """
    agents, problem = load()
    redactor = redactor or Redactor()
    agent = replace(
        agent,
        url=redactor.url(agent.url),
        name=redactor.text(agent.name)[:_LONGEST_TEXT],
        protocol_version=agent.protocol_version[:_LONGEST_TEXT],
    )
    return _write([agent, *_without(agent, agents)], problem)


def forget(agent: RecentAgent) -> str:
    """Remove an agent from the list; return an error message, or `""`."""
    agents, problem = load()
    return problem or _write(_without(agent, agents))


def restore(agent: RecentAgent, index: int) -> str:
    """Put an agent that was removed back at its place in the list; return an error message, or `""`."""
    agents, problem = load()
    others = _without(agent, agents)
    return problem or _write([*others[:index], agent, *others[index:]])


def _without(agent: RecentAgent, agents: list[RecentAgent]) -> list[RecentAgent]:
    """Return the other agents: those with another URL, which can be written with or without its scheme."""
    url = without_spelling(agent.url)
    return [other for other in agents if without_spelling(other.url) != url]


def _write(agents: list[RecentAgent], problem: str = "") -> str:
    """Replace the file; with a `problem`, keep the invalid file under another name."""
    path = recent_path()
    try:
        private_folder(path.parent)
        if problem:
            path.replace(path.with_name(f"{path.name}.broken"))
        newest = [asdict(entry) for entry in agents[:MOST]]
        replace_file(path, json.dumps({"agents": newest}, indent=2).encode())
    except CaptureError as error:
        return str(error)
    except OSError as error:
        return f"Cannot write the list of recent agents, {path}: {reason(error)}."
    return ""


def _agent(entry: dict[str, object]) -> RecentAgent:
    url, name, version, last_seen = (entry[key] for key in ("url", "name", "protocol_version", "last_seen"))
    if not (isinstance(url, str) and isinstance(name, str) and isinstance(version, str)):
        raise TypeError("a member of an entry is not a string")
    if not isinstance(last_seen, int | float):
        raise TypeError("a time is not a number")
    return RecentAgent(url, name, version, float(last_seen))
