"""The scenarios together: which one a message chooses, read anew when their files change."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from inspector.protocol.card import AgentSkill
from inspector.protocol.model import Message, Part

from ..behaviours.base import Behaviour, Replying, Working
from ..task_context import Work, first_word
from .model import Reply, Scenario, Step
from .reading import read_scenario
from .running import play, reply
from .toml_table import ScenarioError

SHIPPED = Path(__file__).resolve().parent.parent / "scenarios"
_SUFFIX = ".toml"
_LOOKED = 0.5
"""How many seconds a look at the files is good for."""
_FIRST = ("echo", "report", "file", "ask", "fail", "long", "push")
"""The scenarios that stand first on the card: those to begin with."""

_logger = logging.getLogger(__name__)
_Stamp = tuple[int, int]


def files_of(paths: Iterable[Path]) -> list[Path]:
    """Return scenario files, a folder standing for those in it; raises ScenarioError for what is neither."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(path.glob(f"*{_SUFFIX}"))
        elif path.is_file():
            files.append(path)
        else:
            raise ScenarioError(path, 0, "There is no such file or folder.")
    return files


@dataclass(frozen=True, slots=True)
class _Signs:
    """The behaviours by the signs that choose them; where two scenarios have the same sign, the later one has it."""

    by_id: Mapping[str, Behaviour]
    by_word: Mapping[str, Behaviour]
    by_message_id: tuple[tuple[str, Behaviour], ...]
    default: Behaviour | None

    def choose(self, message: Message) -> Behaviour | None:
        """Return what a message asks for: by the skill in its metadata, its id, its first word, or by nothing."""
        asked = (message.metadata or {}).get("skillId")
        if isinstance(asked, str) and asked in self.by_id:
            return self.by_id[asked]
        for sign, behaviour in self.by_message_id:
            if message.message_id.startswith(sign):
                return behaviour
        return self.by_word.get(first_word(message), self.default)


@dataclass(slots=True)
class _File:
    """A file as it was read last; one that makes no sense any more stays as it was."""

    path: Path
    stamp: _Stamp
    scenario: Scenario


@dataclass(slots=True)
class Scenarios:
    """What an agent can do, as the scenarios in some files and folders say; those that ship come first.

    A scenario replaces an earlier one with the same id. Files are looked at again while they are used; a change that
    makes no sense is logged, and changes nothing.
    """

    paths: tuple[Path, ...] = ()
    _files: dict[Path, _File] = field(default_factory=dict, init=False)
    _broken: dict[Path, _Stamp] = field(default_factory=dict, init=False)
    _signs: _Signs | None = field(default=None, init=False)
    _looked: float = field(default=0.0, init=False)

    def load(self) -> None:
        """Read every file; raises ScenarioError for the first that makes no sense."""
        for path in files_of((SHIPPED, *self.paths)):
            self._files[path] = _File(path, _stamp(path), read_scenario(path))
        self._signs, self._looked = _signs(one.scenario for one in self._files.values()), time.monotonic()

    @property
    def skills(self) -> list[AgentSkill]:
        """Return the skills for the card."""
        return [behaviour.skill for behaviour in self._now().by_id.values()]

    def named(self, skill_id: str) -> Behaviour:
        """Return the behaviour of a skill; KeyError where there is none."""
        return self._now().by_id[skill_id]

    def choose(self, message: Message) -> Behaviour:
        """Return the behaviour that begins with a message."""
        signs = self._now()
        chosen = signs.choose(message)
        return chosen if chosen is not None else next(iter(signs.by_id.values()))

    def working(self, skill_id: str) -> Working:
        """Return the behaviour that works on the tasks of a skill; KeyError where none does."""
        behaviour = self.named(skill_id)
        if not isinstance(behaviour, Working):
            raise KeyError(skill_id)
        return behaviour

    def _now(self) -> _Signs:
        """Return the signs, after a look at the files unless there was one just now."""
        if self._signs is None:
            self.load()
        elif time.monotonic() - self._looked > _LOOKED:
            self._look()
        if self._signs is None:
            raise RuntimeError("no scenario was read")
        return self._signs

    def _look(self) -> None:
        there = files_of(path for path in (SHIPPED, *self.paths) if path.exists())
        gone = self._files.keys() - set(there)
        for path in gone:
            del self._files[path]
        changed = [path for path in there if self._look_at(path)]
        if gone or changed:
            self._signs = _signs(one.scenario for one in self._files.values())
        self._looked = time.monotonic()

    def _look_at(self, path: Path) -> bool:
        """Read a file anew if it has changed, and say whether that changed anything."""
        try:
            stamp, known = _stamp(path), self._files.get(path)
            if (known is not None and known.stamp == stamp) or self._broken.get(path) == stamp:
                return False
            self._broken[path] = stamp
            self._files[path] = _File(path, stamp, read_scenario(path))
        except (ScenarioError, OSError) as error:
            _logger.warning("%s", error)
            return False
        del self._broken[path]
        return True


def _stamp(path: Path) -> _Stamp:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _signs(scenarios: Iterable[Scenario]) -> _Signs:
    by_id = {scenario.skill.id: scenario for scenario in scenarios}
    made = {identity: _behaviour(by_id[identity]) for identity in _ordered(by_id)}
    beginnings = {sign: made[one.skill.id] for one in by_id.values() for sign in one.message_ids}
    return _Signs(
        made,
        {word: made[one.skill.id] for one in by_id.values() for word in one.words},
        tuple(sorted(beginnings.items(), key=lambda item: -len(item[0]))),
        next((made[one.skill.id] for one in reversed(by_id.values()) if one.default), None),
    )


def _ordered(names: Iterable[str]) -> Iterator[str]:
    given = list(names)
    yield from (name for name in _FIRST if name in given)
    yield from (name for name in given if name not in _FIRST)


def _behaviour(scenario: Scenario) -> Behaviour:
    if isinstance(scenario.does, Reply):
        return Replying(scenario.skill, partial(_reply, scenario, scenario.does), scenario.faults)
    return Working(scenario.skill, partial(_run, scenario, scenario.does), scenario.faults)


async def _reply(scenario: Scenario, does: Reply, message: Message) -> list[Part]:
    return reply(scenario, does, message)


async def _run(scenario: Scenario, steps: tuple[Step, ...], work: Work) -> None:
    await play(scenario, steps, work)


BUILT_IN = Scenarios()
"""The scenarios that ship."""
