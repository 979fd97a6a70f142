"""Load scenarios, reload changed files, and select the scenario for a message."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path

from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentSkill
from inspector.protocol.model import Message

from ..behaviours.base import Behaviour, MessageBehaviour, TaskBehaviour, scopes_by_skill
from ..task_context import first_word
from .model import MessageResponse, Scenario
from .reading import read_scenario
from .running import respond, run_steps
from .toml_table import ScenarioError

BUILT_IN_FOLDER = Path(__file__).resolve().parent.parent / "scenarios"
_SUFFIX = ".toml"
_RECHECK_SECONDS = 0.5
"""Seconds between two checks for changed files."""
_FIRST_ON_CARD = ("echo", "report", "file", "ask", "fail", "long", "push")
"""The scenarios at the top of the card, as they are the best to start with."""

_logger = logging.getLogger(__name__)
_Stamp = tuple[int, int]


def files_of(paths: Iterable[Path]) -> list[Path]:
    """Return the files at some paths and in some folders; raises `ScenarioError` if a path does not exist."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(path.glob(f"*{_SUFFIX}"))
        elif path.is_file():
            files.append(path)
        else:
            raise ScenarioError(path, 0, "This file or folder does not exist.")
    return files


@dataclass(frozen=True, slots=True)
class _Triggers:
    """The behaviours by trigger: skill id, first word or messageId prefix. The last scenario with a trigger is used."""

    by_id: Mapping[str, Behaviour]
    by_word: Mapping[str, Behaviour]
    by_message_id: tuple[tuple[str, Behaviour], ...]
    default: Behaviour | None

    def choose(self, message: Message) -> Behaviour | None:
        """Return the behaviour for a message: by `metadata.skillId`, messageId, first word, or the default."""
        skill_id = (message.metadata or {}).get("skillId")
        if isinstance(skill_id, str) and skill_id in self.by_id:
            return self.by_id[skill_id]
        for prefix, behaviour in self.by_message_id:
            if message.message_id.startswith(prefix):
                return behaviour
        return self.by_word.get(first_word(message), self.default)


@dataclass(slots=True)
class _File:
    """A file and its last valid scenario."""

    path: Path
    stamp: _Stamp
    scenario: Scenario


@dataclass(slots=True)
class Scenarios:
    """The built-in scenarios and those in some files and folders.

    A scenario replaces an earlier scenario with the same id. Changed files are reloaded. If a file has become invalid,
    a warning is logged and its last valid scenario is used.
    """

    paths: tuple[Path, ...] = ()
    _files: dict[Path, _File] = field(default_factory=dict, init=False)
    _invalid: dict[Path, _Stamp] = field(default_factory=dict, init=False)
    _triggers: _Triggers | None = field(default=None, init=False)
    _checked_at: float = field(default=0.0, init=False)

    def load(self) -> None:
        """Read every file; raises `ScenarioError` for the first invalid file."""
        for path in files_of((BUILT_IN_FOLDER, *self.paths)):
            self._files[path] = _File(path, _stamp(path), read_scenario(path))
        self._triggers, self._checked_at = _triggers(file.scenario for file in self._files.values()), time.monotonic()

    @property
    def skills(self) -> list[AgentSkill]:
        """Return the skills for the card."""
        return [behaviour.skill for behaviour in self._current().by_id.values()]

    @property
    def scopes(self) -> dict[str, tuple[str, ...]]:
        """Return the scopes that skills need, by the id of the skill."""
        return scopes_by_skill(self._current().by_id.values())

    def find(self, skill_id: str) -> Behaviour:
        """Return the behaviour of a skill; raises KeyError if there is none."""
        return self._current().by_id[skill_id]

    def choose(self, message: Message) -> Behaviour:
        """Return the behaviour for a message that starts a task or is answered directly."""
        triggers = self._current()
        chosen = triggers.choose(message)
        return chosen if chosen is not None else next(iter(triggers.by_id.values()))

    def working(self, skill_id: str) -> TaskBehaviour:
        """Return the behaviour that works on the tasks of a skill; raises KeyError if there is none."""
        behaviour = self.find(skill_id)
        if not isinstance(behaviour, TaskBehaviour):
            raise KeyError(skill_id)
        return behaviour

    def _current(self) -> _Triggers:
        """Return the triggers, after reloading changed files at most every `_RECHECK_SECONDS`."""
        if self._triggers is None:
            self.load()
        elif time.monotonic() - self._checked_at > _RECHECK_SECONDS:
            self._reload_changed()
        if self._triggers is None:
            raise RuntimeError("no scenario is loaded")
        return self._triggers

    def _reload_changed(self) -> None:
        found = files_of(path for path in (BUILT_IN_FOLDER, *self.paths) if path.exists())
        removed = self._files.keys() - set(found)
        for path in removed:
            del self._files[path]
        changed = [path for path in found if self._reload_file(path)]
        if removed or changed:
            self._triggers = _triggers(file.scenario for file in self._files.values())
        self._checked_at = time.monotonic()

    def _reload_file(self, path: Path) -> bool:
        """Reload a file if it has changed; return whether its scenario was replaced."""
        try:
            stamp, known = _stamp(path), self._files.get(path)
            if (known is not None and known.stamp == stamp) or self._invalid.get(path) == stamp:
                return False
            self._invalid[path] = stamp
            self._files[path] = _File(path, stamp, read_scenario(path))
        except (ScenarioError, OSError) as error:
            _logger.warning("%s", error)
            return False
        del self._invalid[path]
        return True


def _stamp(path: Path) -> _Stamp:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _triggers(scenarios: Iterable[Scenario]) -> _Triggers:
    by_id = {scenario.skill.id: scenario for scenario in scenarios}
    behaviours = {skill_id: _behaviour(by_id[skill_id]) for skill_id in _ordered(by_id)}
    prefixes = {prefix: behaviours[item.skill.id] for item in by_id.values() for prefix in item.message_ids}
    return _Triggers(
        behaviours,
        {word: behaviours[item.skill.id] for item in by_id.values() for word in item.words},
        tuple(sorted(prefixes.items(), key=lambda item: -len(item[0]))),
        next((behaviours[item.skill.id] for item in reversed(by_id.values()) if item.default), None),
    )


def _ordered(names: Iterable[str]) -> Iterator[str]:
    all_names = list(names)
    yield from (name for name in _FIRST_ON_CARD if name in all_names)
    yield from (name for name in all_names if name not in _FIRST_ON_CARD)


def _behaviour(scenario: Scenario) -> Behaviour:
    if isinstance(scenario.response, MessageResponse):
        reply = partial(respond, scenario, scenario.response)
        return MessageBehaviour(scenario.skill, reply, scenario.faults, scenario.scopes)
    run = partial(run_steps, scenario, scenario.response)
    return TaskBehaviour(scenario.skill, run, scenario.faults, scenario.scopes)


BUILT_IN = Scenarios()
"""The built-in scenarios."""
