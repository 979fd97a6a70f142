"""Warn of environment variables, and variables of `.env` files, that set no option."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

from inspector.cli.commands import COMMANDS
from inspector.cli.nearest import nearest
from inspector.env_files import PREFIX, EnvFiles


def misspelt_variables(known: Container[str], files: EnvFiles) -> Iterator[str]:
    """Yield a warning for each variable that is probably misspelt; `known` are the variables of the command.

    Variables without a similar one may belong to another program that follows the a2a-cli specification.
    """
    # The parsers of all commands take 20 ms: they are made only if the command does not have a variable.
    if any(name not in known for name, _ in _variables(files)):
        yield from (f"{warning}{reason}" for warning, reason in _unknown(files) if reason)


def foreign_variables(files: EnvFiles) -> Iterator[str]:
    """Yield a warning for each other variable that sets no option of any command."""
    yield from (warning for warning, reason in _unknown(files) if not reason)


def _variables(files: EnvFiles) -> Iterator[tuple[str, Path | None]]:
    """Yield the names of the variables with our prefix, and the file of each, None for the environment."""
    places = ((os.environ, None), (files.local.values, files.local.path), (files.user.values, files.user.path))
    for names, place in places:
        yield from ((name, place) for name in names if name.startswith(PREFIX))


def _unknown(files: EnvFiles) -> Iterator[tuple[str, str]]:
    """Yield a warning for each variable that sets no option, and what to write instead, `""` if that is unknown."""
    known, options = _all_options()
    for variable, place in _variables(files):
        name = variable.removeprefix(PREFIX)
        if name in known:
            continue
        option = "--" + name.lower().replace("_", "-")
        # Names are compared without the prefix, which makes all of them similar.
        reason = "".join(f"; did you mean {PREFIX}{found}?" for found in nearest(name, known))
        reason = f"; write {option} on the command line" if option in options else reason
        yield f"{f'{place}: ' if place else ''}{variable} does not set an option", reason


@cache
def _all_options() -> tuple[frozenset[str], frozenset[str]]:
    """Return the variables of all commands, without the prefix, and the spellings of all options."""
    parsers = [command.parser() for command in COMMANDS]
    return (
        frozenset(variable.removeprefix(PREFIX) for parser in parsers for variable in parser.variables),
        frozenset(option for parser in parsers for option in parser.spellings),
    )
