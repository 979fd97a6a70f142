"""`lint`: check an agent card."""

from __future__ import annotations

from inspector.cli.arguments import Deferred, Handler, Parser
from inspector.protocol.dialects.traits import STABLE


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("reference", metavar="URL | PATH | -", help="the card: its url, its agent's, a file, or stdin")
    parser.value(
        "--generation VERSION",
        "judge it as a card of this generation (default: the one whose shape it has)",
        choices=STABLE,
    )
    parser.switch("--strict", "let warnings make the command fail as well")
    parser.add_format("text", "json", "sarif", "junit")
    parser.add_connection()


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.lint:lint"))
