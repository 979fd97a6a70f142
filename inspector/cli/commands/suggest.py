"""Recognise a misspelled command, and suggest similar commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from inspector import PROGRAM
from inspector.agents_file import load_agents
from inspector.cli.commands import COMMANDS, beginning_with
from inspector.cli.errors import usage
from inspector.cli.nearest import nearest
from inspector.protocol.errors import FaultError

_MOST = 3
"""The most commands that are suggested."""
_SYNONYMS: Mapping[str, str] = {
    **dict.fromkeys(("validate", "verify", "findings"), "lint"),
    **dict.fromkeys(("info", "inspect", "describe", "skills"), "card get"),
    **dict.fromkeys(("call", "message", "stream", "ask"), "send"),
    **dict.fromkeys(("run", "test"), "check"),
    **dict.fromkeys(("receive", "webhook", "webhooks"), "listen"),
    "serve": "mock",
    "view": "show",
    "diagnose": "doctor",
}
"""The commands for words with which people begin a command line, and that are not similar to the command."""


def looks_like_command(words: Sequence[str]) -> bool:
    """Return whether a command line begins with an unknown command, and not with an agent or with options.

    Without a command, an agent is the only word, so that the first of several words must be a command.
    """
    names = _names(words)
    if not names or set(names[0]) & set("./:\\[]"):
        return False
    is_command = bool(names[1:] or _suggestions(names))
    return is_command and not Path(names[0]).exists() and names[0] not in load_agents().agents


def unknown_command(words: Sequence[str], *, or_agent: bool = False) -> FaultError:
    """Return the error for words that are not a command, with similar commands.

    `or_agent` is true if a single word could be the name of an agent, too.
    """
    names = _names(words) or tuple(words[:1])
    begun = beginning_with(names)
    suggestions = [] if begun else _suggestions(names)
    if suggestions:
        hint = f"Did you mean {' or '.join(f'`{name}`' for name in suggestions)}?"
        if or_agent and not words[1:]:
            hint += f" To open the app on an agent with this name, write http://{names[0]}."
    elif known := begun or beginning_with(names[:1]):
        hint = f"Choose from {', '.join(command.name for command in known)}."
    else:
        hint = f"{PROGRAM} --help lists the commands."
    return usage(f"{' '.join(_unknown(names))!r} is not a command.", hint)


def _names(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words before the first option, at most as many as a command has."""
    longest = max(len(command.words) for command in COMMANDS)
    return tuple(takewhile(lambda word: not word.startswith("-"), words[:longest]))


def _unknown(names: Sequence[str]) -> Sequence[str]:
    """Return the words up to the first one with which no command begins."""
    for count in range(1, len(names)):
        if not beginning_with(names[:count]):
            return names[:count]
    return names


def _suggestions(names: Sequence[str]) -> list[str]:
    """Return the commands that some words probably mean: a synonym, misspelled, in another order, or the last word."""
    words = [name.lower() for name in names]
    if words[0] in _SYNONYMS:
        return [_SYNONYMS[words[0]]]
    for count in range(len(words), 0, -1):
        known = [command.name for command in COMMANDS if len(command.words) == count]
        for phrase in (words[:count], words[count - 1 :: -1]):
            if found := nearest(" ".join(phrase), known):
                return found
    if beginning_with(words[:1]):
        return []
    subcommands = [command for command in COMMANDS if command.words[1:]]
    group = nearest(words[0], {command.words[0] for command in subcommands})
    found = [command.name for command in subcommands if command.words[0] in group or command.words[-1] == words[0]]
    return found[:_MOST]
