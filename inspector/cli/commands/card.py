"""`card get`, `lint` and `rules`: print and check an agent card, list the rules."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser
from inspector.protocol.dialects.traits import STABLE


def _add_get(parser: Parser) -> None:
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


def _add_lint(parser: Parser) -> None:
    parser.add_argument("reference", metavar="URL | PATH | -", help="the card: its url, its agent's, a file, or stdin")
    parser.value(
        "--protocol-version VERSION",
        "judge it as a card of this protocol version (default: the one whose shape it has)",
        choices=STABLE,
    )
    parser.switch("--strict", "let warnings make the command fail as well")
    parser.add_format("text", "json", "sarif", "junit")
    parser.add_connection()


def _add_rules(parser: Parser) -> None:
    parser.add_argument("ids", nargs="*", metavar="RULE", help="a rule (CARD-004) or a family of them (CARD)")
    parser.add_format("text", "json", "markdown")


GET = Handler(_add_get, Deferred("inspector.cli.card:get"))
LINT = Handler(_add_lint, Deferred("inspector.cli.lint:lint"))
RULES = Handler(_add_rules, Deferred("inspector.cli.rules:rules"))
