"""`card get`: print an agent card."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser


def _add_arguments(parser: Parser) -> None:
    parser.add_agent()
    parser.switch("--extended", "ask the agent for the card that it shows to those it knows")
    parser.switch("--validate", "list what is wrong with the card; an error makes the command fail")
    _add_signatures(parser)
    parser.add_output()
    parser.add_connection()


def _add_signatures(parser: Parser) -> None:
    group = parser.add_argument_group(
        "signatures",
        "Keys that are fetched prove that the card and they come from one place; keys of a file, whose card it is.",
    )
    parser.switch("--verify", "verify the card's signatures; the command fails where none is valid", group=group)
    parser.value("--keys FILE", "... with the keys of this JWK Set, JWK or PEM file", values.file, group=group)
    parser.switch("--fetch-keys", "... with those that they name by jku, on the card's own origin alone", group=group)


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.card:get"))
