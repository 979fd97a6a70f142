"""Complete a command line for a shell: commands, options, the values of options, agents and tasks.

The scripts of `completion` call `a2a-inspect complete -- WORD...`, where the last word is the one to complete. Each
line of the output is a value, a tab and a description; the line `:files` asks the shell to add file names.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from inspector.agents_file import NAME, load_agents
from inspector.cli import values
from inspector.cli.commands import HELP_PURPOSE, Command, beginning_with, find, main_parser
from inspector.options import BINDING_NAMES
from inspector.protocol.dialects.traits import VERSIONS
from inspector.protocol.errors import FaultError
from inspector.text.sanitise import clean

FILES = ":files"
"""The line that asks for file names."""
_AGENT = frozenset({"reference", "agent_card", "against"})
DEMO = "demo"
"""An agent that the argument of some commands can be, as its metavar shows."""
_NAME = frozenset({"name", "names"})
_TASK = frozenset({"task_id", "task", "id", "reference_task", "push"})
"""The options and arguments whose value is the id of a task."""
_TASKS = 20
"""The most task ids that are proposed."""


class Candidate(NamedTuple):
    """A value that completes a word, and what it means."""

    value: str
    description: str = ""


def complete(words: Sequence[str]) -> list[str]:
    """Return the lines for the last word of a command line, which is without the name of the program."""
    *before, last = words or [""]
    found = list(_candidates(list(before), last))
    lines = [
        f"{candidate.value}\t{clean(candidate.description)}".rstrip("\t")
        for candidate in dict.fromkeys(found)
        if candidate.value.startswith(last) and candidate.value != FILES
    ]
    return [*lines, FILES] if any(candidate.value == FILES for candidate in found) else lines


def _candidates(before: list[str], last: str) -> Iterator[Candidate]:
    helping = before[:1] == ["help"]
    names = before[1:] if helping else before
    command = find(names)
    longer = [each for each in beginning_with(names) if len(each.words) > len(names)]
    if not last.startswith("-"):
        yield from _next_words(longer, len(names))
        if not before:
            yield Candidate("help", HELP_PURPOSE)
    if helping:
        if last.startswith("-"):
            yield Candidate("--json", "print the commands, options, types and exit codes as JSON")
            yield Candidate("--skill", "print SKILL.md, which explains the command line to coding agents")
        return
    parser = command.parser() if command else main_parser()
    arguments = names[len(command.words) :] if command else names
    if command or not longer or not names:
        yield from _of_parser(parser, arguments, last)


def _next_words(commands: Iterable[Command], count: int) -> Iterator[Candidate]:
    """Yield the next word of each command; a word with which several commands begin has no description."""
    purposes: dict[str, list[str]] = {}
    for command in commands:
        purposes.setdefault(command.words[count], []).append(command.purpose)
    for word, found in purposes.items():
        yield Candidate(word, found[0] if len(found) == 1 else "")


def _of_parser(parser: argparse.ArgumentParser, arguments: list[str], last: str) -> Iterator[Candidate]:
    """Yield options, the values of the option before the word, or the values of arguments."""
    actions = parser._actions
    options = {option: action for action in actions for option in action.option_strings}
    name, equals, _ = last.partition("=")
    if equals and name in options:
        for candidate in _values(options[name]):
            yield candidate if candidate.value == FILES else candidate._replace(value=f"{name}={candidate.value}")
        return
    previous = options.get(arguments[-1]) if arguments else None
    if previous is not None and previous.nargs != 0:
        yield from _values(previous)
        return
    if last.startswith("-"):
        for action in actions:
            long = [option for option in action.option_strings if option.startswith("--")] or action.option_strings
            if long and action.help != argparse.SUPPRESS:
                yield Candidate(long[0], action.help or "")
        return
    for action in actions:
        if not action.option_strings:
            yield from _values(action)


_VALUES: Mapping[Any, Iterable[str]] = {
    values.file: (FILES,),
    values.binding: BINDING_NAMES,
    values.version: VERSIONS,
    values.state: values.state_names(),
    values.level: values.LEVELS,
    values.report: values.REPORTS,
}
"""The values of options and arguments, by the function that reads them."""


def _values(action: argparse.Action) -> Iterator[Candidate]:
    """Yield the values that an option or an argument can have, as far as they are known."""
    if action.choices:
        yield from map(Candidate, action.choices)
    elif action.dest in _AGENT:
        if str(action.metavar).endswith(DEMO):
            yield Candidate(DEMO, "the built-in mock agent")
        yield from _agents()
        yield Candidate(FILES)
    elif action.dest in _NAME:
        yield from (candidate for candidate in _agents() if NAME.fullmatch(candidate.value))
    elif action.dest in _TASK:
        yield from _tasks()
    elif action.dest == "fault":
        yield from _faults()
    else:
        yield from map(Candidate, _VALUES.get(action.type, ()))


def _faults() -> Iterator[Candidate]:
    from inspector.sample_agents.faults.names import FAULTS  # noqa: PLC0415 - only the value of a fault needs it

    for fault in FAULTS.values():
        yield Candidate(fault.name, fault.description)


def _agents() -> Iterator[Candidate]:
    """Yield the agents that have a name, then the recent agents, the newest first."""
    with suppress(FaultError):  # a mistake in a file is reported by the commands
        for named in load_agents().agents.values():
            yield Candidate(named.name, named.url)
    from inspector.capture.recent_agents import load  # noqa: PLC0415 - only the value of an agent needs it

    for agent in load().agents:
        yield Candidate(agent.url, agent.name)


def _tasks() -> Iterator[Candidate]:
    """Yield the tasks in the newest capture, the newest first."""
    from inspector.capture.recent_tasks import recent_tasks  # noqa: PLC0415 - only the value of a task needs it

    for task in recent_tasks(_TASKS):
        yield Candidate(task.id, task.description)
