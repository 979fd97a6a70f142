"""The commands that open the screen: `demo`, `open`, and a command line without a command."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module

from inspector.cli import values
from inspector.cli.arguments import PROGRAM, Handler, Invocation, Parser
from inspector.cli.errors import usage
from inspector.cli.output import Output


def add_screen(parser: Parser) -> None:
    """Add the options of the screen on an agent."""
    parser.add_connection()
    parser.add_receiver()
    parser.switch("--resubscribe", "listen again by itself to a task whose stream is lost (R in Chat)")
    _add_looks(parser)


def _add_looks(parser: Parser) -> None:
    parser.switch("--ascii", "draw the signs (arrows, states, marks) with ASCII characters")
    parser.value("--theme NAME", "the theme to start with")


def _add_demo(parser: Parser) -> None:
    add_screen(parser)
    parser.add_argument(
        "--no-tour", dest="tour", action="store_false", help="begin without the guided tour; F2 begins it any time"
    )


def _add_open(parser: Parser) -> None:
    parser.add_argument("recording", type=values.file, metavar="FILE", help="the capture (*.a2a)")
    _add_looks(parser)


def open_screen(invocation: Invocation, _: Output, *, demo: bool = False) -> int:
    """Open the TUI; raises `FaultError` without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise usage(
            "The inspector's screen needs a terminal, and this is none.",
            f"Without one there are card get, send, task get and the others: {PROGRAM} --help lists them.",
        )
    # By name, because the CLI never imports the TUI.
    code: int = import_module("inspector.tui.launch").run(replace(invocation.options, demo=demo))
    return code


def _open_demo(invocation: Invocation, out: Output) -> int:
    return open_screen(invocation, out, demo=True)


DEMO = Handler(_add_demo, _open_demo)
OPEN = Handler(_add_open, open_screen)
