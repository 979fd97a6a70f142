"""The commands that open the app: `demo`, `open`, and a command line without a command."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from importlib import import_module

from inspector import PROGRAM
from inspector.cli import values
from inspector.cli.agent_options import options_of_selected
from inspector.cli.arguments import Handler, Invocation, Parser, split_lines
from inspector.cli.errors import usage
from inspector.cli.output import Output

_DEMO_EXAMPLES = """\
# Open the demo with the guided tour
a2a-inspect demo
# Open the demo without the tour, in ASCII characters
a2a-inspect demo --no-tour --ascii"""

_OPEN_EXAMPLES = """\
# Record a session, and open it again
a2a-inspect send -a http://localhost:9000 --text 'report 3' --stream --capture session.a2a
a2a-inspect open session.a2a
# Open a capture; an agent to which you connect in the app (key o) gets the token
a2a-inspect open session.a2a --bearer "$TOKEN"
# Open a capture with another theme
a2a-inspect open session.a2a --theme paper"""


def add_screen(parser: Parser, *, capture: bool = True) -> None:
    """Add the options of the app, which can connect to further agents; `capture` as in `Parser.add_connection`."""
    parser.add_connection(capture=capture)
    parser.add_receiver()
    parser.switch("--read-only", "send nothing that changes an agent, and write no files but captures")
    parser.switch("--resubscribe", "reconnect automatically to a task whose stream was disconnected")
    parser.value("--check FILE", "load a check file, and show its tests", values.file, dest="check_file")
    variable = "the value of {{NAME}} in check files; repeatable"
    parser.value("--var NAME=VALUE", variable, values.variable, split=split_lines, dest="check_variables")
    add_appearance(parser)


def add_appearance(parser: Parser) -> None:
    """Add the options of the appearance."""
    group = parser.add_argument_group("appearance")
    parser.switch("--ascii", "draw symbols with ASCII characters", group=group)
    parser.value("--theme NAME", "start with this theme: dusk, paper or one of Textual's", group=group)


def add_tour(parser: Parser) -> None:
    """Add the option of the demo."""
    parser.add_argument(
        "--no-tour", dest="tour", action="store_false", help="start without the guided tour; F2 starts it later"
    )


def _add_demo(parser: Parser) -> None:
    add_screen(parser)
    add_tour(parser)


def _add_open(parser: Parser) -> None:
    parser.add_argument("recording", type=values.file, metavar="FILE", help="the capture (*.a2a)")
    add_screen(parser)


def open_screen(invocation: Invocation, _: Output, *, demo: bool = False) -> int:
    """Open the TUI; raises `FaultError` without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise usage(
            "The app needs a terminal, but stdin or stderr is not a terminal.",
            f"Use a command such as card get or send; {PROGRAM} --help lists them.",
        )
    options = replace(invocation.options, demo=demo)
    options_of_agent = partial(options_of_selected, options, invocation.given.prior)
    # Imported by name, because the modules of the CLI must not depend on the TUI.
    code: int = import_module("inspector.tui.launch").run(options, options_of_agent)
    return code


def _open_demo(invocation: Invocation, out: Output) -> int:
    return open_screen(invocation, out, demo=True)


DEMO = Handler(_add_demo, _open_demo, _DEMO_EXAMPLES)
OPEN = Handler(_add_open, open_screen, _OPEN_EXAMPLES)
