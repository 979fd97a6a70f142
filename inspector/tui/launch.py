"""Start the app."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import cast

from inspector.agents_file import NamedAgent
from inspector.options import Options
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.settings_file import load
from inspector.tui.demo_agent import DemoAgent

SWITCH_SECONDS = 0.001
"""The thread switch interval in seconds; short, as each key needs several switches to the thread that reads keys."""


def run(options: Options, options_of_agent: Callable[[NamedAgent], Options]) -> int:
    """Run the app and return its exit code.

    Raises `FaultError` if the terminal cannot draw a screen, or if what the user named cannot be opened.
    `options_of_agent` returns the options for an agent of `agents.toml` that the user selects.
    """
    if os.environ.get("TERM") == "dumb":
        seen = "The terminal does not support full-screen apps (TERM=dumb)."
        hint = "Set TERM to the type of the terminal, or use a subcommand such as send, card get or task get."
        raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, hint))
    demo_agent = DemoAgent() if options.demo else None
    gc.disable()  # until the modules are loaded: garbage collection would take a tenth of the start-up time
    from inspector.tui.app import InspectorApp  # noqa: PLC0415 - loads Textual

    if options.changed_keys:
        _check_keys(dict(options.changed_keys))

    sys.setswitchinterval(SWITCH_SECONDS)
    _read_alt_with_digits()
    app = InspectorApp(options, demo_agent, options_of_agent)
    result = app.run()
    if isinstance(result, Fault):
        raise FaultError(result)
    return result if result is not None else app.return_code or 0


def _check_keys(changed: dict[str, str]) -> None:
    """Raise `FaultError` if the settings file has an unknown command, an unknown key, or a key of another command."""
    from inspector.tui.keys import problem_of  # noqa: PLC0415 - loads Textual

    problem = problem_of(changed)
    if problem is not None:
        raise load().problem(*problem)


def _read_alt_with_digits() -> None:
    """Make Textual read escape and a digit as Alt+digit, not as the character that some Macs type with these keys."""
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # noqa: PLC0415 - loads Textual

    sequences = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for digit in range(10):
        sequences.pop(f"\x1b{digit}", None)
