"""`version`: the version of the program, and with `--verbose` the facts that a bug report needs."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, requires
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from inspector import PROGRAM, __version__
from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK
from inspector.cli.output import Output
from inspector.protocol.dialects.traits import VERSIONS
from inspector.settings_file import settings_path

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)[^;]*(?:;.*extra == [\"']([^\"']+)[\"'].*)?")
_VARIABLES = re.compile(
    r"A2ACLI_\w+|A2A_INSPECT_\w+|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|GRPC_\w+|NO_COLOR", re.IGNORECASE
)
_TERMINAL = ("TERM", "COLORTERM", "TERM_PROGRAM", "LANG", "LC_ALL", "TMUX")
_DEVELOPMENT = frozenset({"dev", "bench"})
"""The extras that are for developers of the program only."""


def version(invocation: Invocation, out: Output) -> int:
    """Print the version, and with `--verbose` the environment of the program."""
    facts: dict[str, Any] = {"version": __version__, **(_facts() if invocation.verbose else {})}
    if out.json:
        out.document(facts)
        return OK
    out.write(f"{PROGRAM} {__version__}\n")
    del facts["version"]
    for label, value in facts.items():
        out.field(label.capitalize(), _in_words(value) or "none")
    return OK


def _in_words(value: str | list[str] | dict[str, str]) -> str:
    """Return the value of a fact in one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {text}" for name, text in value.items())
    return value if isinstance(value, str) else ", ".join(value)


def _facts() -> dict[str, Any]:
    from inspector.capture.paths import captures_folder, without_home  # noqa: PLC0415 - loads SQLite

    libraries, extras = _requirements()
    return {
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": platform.platform(),
        "program": without_home(Path(__file__).parents[1]),
        "protocols": list(VERSIONS),
        "libraries": libraries,
        "extras": extras,
        "captures": without_home(captures_folder()),
        "settings": without_home(settings_path()) + ("" if settings_path().exists() else " (does not exist)"),
        "terminal": _terminal(os.environ),
        "variables": sorted(name for name in os.environ if _VARIABLES.fullmatch(name)),
    }


def _requirements() -> tuple[dict[str, str], dict[str, str]]:
    """Return the versions of the required libraries, and for each extra whether its libraries are installed."""
    libraries: dict[str, str] = {}
    extras: dict[str, list[str]] = {}
    try:
        requirements = requires(PROGRAM) or []
    except PackageNotFoundError:  # the folder of the sources, without an installation
        return {}, {}
    for requirement in requirements:
        found = _REQUIREMENT.match(requirement)
        if found is None or found[2] in _DEVELOPMENT:
            continue
        if found[2]:
            extras.setdefault(found[2], []).append(found[1])
        else:
            libraries[found[1]] = _version_of(found[1]) or "missing"
    return libraries, {extra: _state(names) for extra, names in extras.items()}


def _state(names: list[str]) -> str:
    """Return the versions of the libraries of an extra, or that it is not installed."""
    versions = {name: _version_of(name) for name in names}
    if all(versions.values()):
        return f"({', '.join(f'{name} {number}' for name, number in versions.items())})"
    return "not installed"


def _version_of(name: str) -> str:
    try:
        return version_of(name)
    except PackageNotFoundError:
        return ""


def _terminal(environment: Mapping[str, str]) -> str:
    known = [f"{name}={environment[name]}" for name in _TERMINAL if environment.get(name)]
    known.append(f"encoding={sys.stdout.encoding}")
    if sys.stdout.isatty():
        size = os.get_terminal_size(sys.stdout.fileno())
        known.append(f"size={size.columns}x{size.lines}")
    return " ".join(known)
