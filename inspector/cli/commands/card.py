"""`card get`, `card diff`, `lint` and `rules`: print, compare and check agent cards, list the rules."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser
from inspector.protocol.dialects.traits import STABLE

_GET_EXAMPLES = """\
# Print a card, and whether it is valid
a2a-inspect card get http://localhost:9000 --validate
# Print the extended card as JSON
a2a-inspect card get http://localhost:9000 --extended -o json
# Verify the signatures with the keys that the card refers to
a2a-inspect card get http://localhost:9000 --verify --fetch-keys"""

_DIFF_EXAMPLES = """\
# Compare the card of an agent with a file; the exit code is 1 if they differ
a2a-inspect card diff card.json http://localhost:9000
# Compare a file with its version in Git
git show HEAD:card.json | a2a-inspect card diff - card.json"""

_LINT_EXAMPLES = """\
# Check the card of an agent
a2a-inspect lint http://localhost:9000
# Check a card from stdin, and fail for warnings, too
a2a-inspect card get http://localhost:9000 -o json | a2a-inspect lint - --strict
# Check an AI Catalog and every card in it
a2a-inspect lint https://agents.example/.well-known/ai-catalog.json
# Write a JUnit report
a2a-inspect lint http://localhost:9000 -o junit"""

_RULES_EXAMPLES = """\
# Print one rule
a2a-inspect rules CARD-004
# List the rules about agent cards and push notifications as JSON
a2a-inspect rules CARD PUSH -o json"""


def _add_get(parser: Parser) -> None:
    parser.add_agent(as_argument=True)
    parser.switch("--extended", "request the extended card instead of the public card")
    parser.switch("--validate", "print the findings about the card; exit with 1 if it has errors")
    _add_signatures(parser)
    parser.add_output()
    parser.add_connection()


def _add_diff(parser: Parser) -> None:
    parser.add_argument(
        "old", metavar="OLD", help="the earlier card: a URL, a file, the name of an agent, or - for stdin"
    )
    parser.add_argument("reference", metavar="NEW", help="the later card, which gets the credentials")
    parser.accept_names()
    parser.add_output()
    parser.add_connection()


def _add_signatures(parser: Parser) -> None:
    group = parser.add_argument_group(
        "signatures",
        "Keys from a file prove who signed the card. Fetched keys prove only that card and keys have the same origin.",
    )
    parser.switch("--verify", "verify the signatures of the card; exit with 1 if none of them is valid", group=group)
    parser.switch("--require-signature", "like --verify, and exit with 1 if the card has no signature", group=group)
    parser.value("--keys FILE", "verify with the keys in this JWK Set, JWK or PEM file", values.file, group=group)
    parser.switch(
        "--fetch-keys",
        "verify with the keys at the jku URLs of the signatures; only URLs at the origin of the card are fetched",
        group=group,
    )


def _add_lint(parser: Parser) -> None:
    parser.add_argument(
        "reference",
        metavar="URL | PATH | -",
        help="the card or AI Catalog: its URL, the URL of its agent, a file, the name of an agent, or - for stdin",
    )
    parser.accept_names()
    parser.value(
        "--protocol-version VERSION",
        f"check the card against this version: {', '.join(STABLE)} (1.0 by another name); default: detected",
        choices=STABLE,
    )
    parser.switch("--strict", "exit with 1 for warnings, and for cards of a catalog that were not checked")
    parser.value(
        "--max-cards N",
        "of a catalog, fetch at most this many cards and catalogs in it; default: 100",
        values.positive,
        default=100,
    )
    parser.add_format("text", "json", "sarif", "junit")
    parser.add_connection()


def _add_rules(parser: Parser) -> None:
    parser.add_argument("ids", nargs="*", metavar="RULE", help="the id of a rule (CARD-004) or of a family (CARD)")
    parser.add_format("text", "json", "markdown")


GET = Handler(_add_get, Deferred("inspector.cli.card:get"), _GET_EXAMPLES)
DIFF = Handler(_add_diff, Deferred("inspector.cli.card_diff:diff"), _DIFF_EXAMPLES)
LINT = Handler(_add_lint, Deferred("inspector.cli.lint:lint"), _LINT_EXAMPLES)
RULES = Handler(_add_rules, Deferred("inspector.cli.rules:rules"), _RULES_EXAMPLES)
