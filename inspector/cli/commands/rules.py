"""`rules`: list the rules."""

from __future__ import annotations

from inspector.cli.arguments import Deferred, Handler, Parser


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("ids", nargs="*", metavar="RULE", help="a rule (CARD-004) or a family of them (CARD)")
    parser.add_format("text", "json", "markdown")


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.rules:rules"))
