"""`web`: serve the app to browsers on this machine."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser
from inspector.cli.commands.screen import add_screen, add_tour

_NOTES = """\
Prints a URL with a token, which is needed to open the page. The server listens on 127.0.0.1 only; to reach it from
another machine, forward its port: ssh -L 8000:127.0.0.1:8000 HOST. Each visitor has a process, which ends when its page
is closed. docs/web.md describes the differences from a terminal. Needs: pip install 'a2a-inspect[web]'."""

_EXAMPLES = """\
# Choose an agent or a capture in the browser
a2a-inspect web
# Open an agent
a2a-inspect web http://localhost:9000
# Open the demo with the guided tour
a2a-inspect web demo
# Let two people look at an agent, without sending it messages
a2a-inspect web http://localhost:9000 --read-only --visitors 2 --port 8000
# Open a capture
a2a-inspect send -a http://localhost:9000 --text 'report 3' --stream --capture session.a2a
a2a-inspect web session.a2a"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "reference",
        nargs="?",
        metavar="URL | PATH | demo",
        help="the agent: its URL, the URL of its card, a card file, or its name; a capture (*.a2a); or demo",
    )
    parser.accept_names()
    group = parser.add_argument_group("web server")
    parser.value("--port PORT", "listen at this port (default: 0, any free port)", values.port, group=group, default=0)
    visitors = "the number of visitors at the same time (default: 4)"
    parser.value("--visitors N", visitors, values.positive, group=group, default=4)
    add_screen(parser, capture=False)
    add_tour(parser)


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.web:web"), _EXAMPLES, _NOTES)
