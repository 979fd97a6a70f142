"""Rules about how a card is served: its media type, its path and its caching headers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.rule_set import HINT, NEWEST_FIRST, V1, WARNING, RuleSet, Violation
from inspector.findings.url import split
from inspector.protocol.http_fields import without_parameters

RULE_SET = RuleSet[Facts](versions=V1)
"""The examples of these rules are merge patches on the response headers."""

VALID_HEADERS = {
    "content-type": "application/json",
    "cache-control": "public, max-age=3600",
    "etag": '"5f2a"',
}
"""Response headers that violate no rule."""


@RULE_SET.rule(
    "CARD-003",
    WARNING,
    "The card is not served as JSON",
    section="1.0 §8.2, §14.3",
    requirement="The card is served as application/json.",
    remedy="Set Content-Type to application/json.",
    versions=NEWEST_FIRST,
    failing={"content-type": "text/html"},
    passing={"content-type": "application/a2a+json"},
)
def not_as_json(card: Facts) -> Iterator[Violation]:
    content_type = card.served.headers.get("content-type", "")
    kind = without_parameters(content_type)
    if card.served.url and kind != "application/json" and not kind.endswith("+json"):
        yield Violation("", f"Content-Type is {content_type}" if content_type else "Content-Type is missing")


@RULE_SET.rule(
    "CARD-110",
    HINT,
    "The card is served without a max-age",
    section="1.0 §8.6.1",
    requirement="Agent Card endpoints SHOULD include a Cache-Control header with a max-age directive.",
    remedy="Set Cache-Control with a max-age: how long clients may cache the card.",
    failing={"cache-control": None},
    passing={"cache-control": "no-store"},
)
def no_max_age(card: Facts) -> Iterator[Violation]:
    cache_control = card.served.headers.get("cache-control", "")
    if card.served.url and not re.search(r"(?i)\b(s-)?max-?age\s*=\s*\d|\bno-(store|cache)\b", cache_control):
        yield Violation("", f"Cache-Control is {cache_control!r}" if cache_control else "Cache-Control is missing")


@RULE_SET.rule(
    "CARD-111",
    HINT,
    "The card is served without an ETag",
    section="1.0 §8.6.1",
    requirement="Agent Card endpoints SHOULD include an ETag header.",
    remedy="Set an ETag from the card's version or its bytes, and answer If-None-Match with 304.",
    failing={"etag": None},
)
def no_etag(card: Facts) -> Iterator[Violation]:
    if card.served.url and not card.served.headers.get("etag"):
        yield Violation("", "ETag is missing")


@RULE_SET.rule(
    "CARD-112",
    WARNING,
    "The card is at the path of older protocol versions",
    section="1.0 §8.2, §14.3; 0.3 §5.3",
    requirement="The well-known path of the card is /.well-known/agent-card.json.",
    remedy="Also serve the card at /.well-known/agent-card.json: clients of this version do not request agent.json.",
    versions=(*V1, "0.3"),
    failing={"$url": "https://agent.example.com/.well-known/agent.json"},
)
def old_path(card: Facts) -> Iterator[Violation]:
    parts = split(card.served.url)
    if parts and parts.path.endswith("/.well-known/agent.json"):
        yield Violation("", f"the card was served at {card.served.url}")
