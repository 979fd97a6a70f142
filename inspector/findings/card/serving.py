"""Rules about how a card is served: its media type, its path and its caching headers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.rule_set import HINT, NEWEST_FIRST, V1, WARNING, RuleSet, Violation
from inspector.findings.url import split

RULE_SET = RuleSet[Facts](versions=V1)
"""The examples of these rules change the headers of the response, not the card."""

VALID_HEADERS = {
    "content-type": "application/json",
    "cache-control": "public, max-age=3600",
    "etag": '"5f2a"',
}
"""The headers of a response that breaks no rule."""


@RULE_SET.rule(
    "CARD-003",
    WARNING,
    "The card is not served as JSON",
    section="1.0 §8.2, §14.3",
    requirement="The card is served as application/json.",
    remedy="Set Content-Type: application/json.",
    versions=NEWEST_FIRST,
    failing={"content-type": "text/html"},
    passing={"content-type": "application/a2a+json"},
)
def not_as_json(card: Facts) -> Iterator[Violation]:
    said = card.served.headers.get("content-type", "")
    kind = said.partition(";")[0].strip().lower()
    if card.served.url and kind != "application/json" and not kind.endswith("+json"):
        yield Violation("", f"served as {said or 'nothing in particular'}")


@RULE_SET.rule(
    "CARD-110",
    HINT,
    "The card does not say how long it may be kept",
    section="1.0 §8.6.1",
    requirement="Agent Card HTTP endpoints SHOULD include a Cache-Control response header with a max-age directive.",
    remedy="Set Cache-Control: max-age to how often the card changes.",
    failing={"cache-control": None},
    passing={"cache-control": "no-store"},
)
def no_max_age(card: Facts) -> Iterator[Violation]:
    said = card.served.headers.get("cache-control", "")
    if card.served.url and not re.search(r"(?i)\b(s-)?max-?age\s*=\s*\d|\bno-(store|cache)\b", said):
        yield Violation("", f"Cache-Control is {said!r}" if said else "no Cache-Control")


@RULE_SET.rule(
    "CARD-111",
    HINT,
    "The card cannot be asked for again cheaply",
    section="1.0 §8.6.1",
    requirement="Agent Card HTTP endpoints SHOULD include an ETag response header.",
    remedy="Set an ETag, derived from the card's version or its bytes, and answer If-None-Match with 304.",
    failing={"etag": None},
)
def no_etag(card: Facts) -> Iterator[Violation]:
    if card.served.url and not card.served.headers.get("etag"):
        yield Violation("", "no ETag")


@RULE_SET.rule(
    "CARD-112",
    WARNING,
    "The card is at the place of older protocol versions",
    section="1.0 §8.2, §14.3; 0.3 §5.3",
    requirement="The well-known place of the card is /.well-known/agent-card.json.",
    remedy="Serve it there as well: clients of this protocol version do not look at agent.json.",
    versions=(*V1, "0.3"),
    failing={"$url": "https://agent.example.com/.well-known/agent.json"},
)
def old_place(card: Facts) -> Iterator[Violation]:
    parts = split(card.served.url)
    if parts and parts.path.endswith("/.well-known/agent.json"):
        yield Violation("", card.served.url)
