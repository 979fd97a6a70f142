"""Rules about secrets and deceptive characters in the texts of a card."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

from inspector.findings.card.facts import Facts
from inspector.findings.rule_set import WARNING, RuleSet, Violation
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer
from inspector.text.key_forms import KEY, may_have_key

RULE_SET = RuleSet[Facts]()

_SECRET_NAME = re.compile(
    r"(access|api|auth|bearer|refresh)?token|(client|shared)?secret|(api|private)key|password|passwd|credentials"
)
_PLACEHOLDER = re.compile(r"\s*+(<[^>]*>|\$?\{[^}]*\}|\*+|x+|\.\.\.)?\s*+", re.IGNORECASE)
_SECRET_IN_TEXT = re.compile(
    r"(?i)\b(password|passwd|secret|api[_-]?key)\s*[=:]\s*[\"']?(?=[^\s\"']{0,200}?[0-9])[^\s\"']{8,}"
)
"""A secret within a text: at least eight characters, one of them a digit."""
_MAX_SEARCHED = 20_000
"""The maximum number of characters of a text that are searched for secrets."""


@RULE_SET.rule(
    "CARD-092",
    WARNING,
    "The card contains what looks like a secret",
    section="1.0 §14.3, 0.3 §5.4",
    requirement="The card SHOULD NOT include sensitive credentials.",
    remedy="Remove the secret and revoke it: everyone who can read the card has it.",
    failing={"securitySchemes": {"key": {"apiKeySecurityScheme": {"value": "sk-4f8a6b0c2d1e4f8a6b0c2d1e"}}}},
    passing={"description": "Forwards messages to task-management-and-tracking"},
)
def secret(card: Facts) -> Iterator[Violation]:
    for steps, text in _texts(card):
        if (steps[:1] != ("signatures",)) and (why := _describe_secret(str(steps[-1]), text, steps)):
            yield Violation(pointer(*steps), why)


def _texts(card: Facts) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Return every string in the card, with the steps to it."""
    waiting: list[tuple[tuple[str | int, ...], Json]] = [((), card.value)]
    while waiting:
        steps, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*steps, name), member) for name, member in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [((*steps, number), item) for number, item in reversed([*enumerate(value)])]
        elif isinstance(value, str):
            yield steps, value


def _describe_secret(name: str, text: str, steps: tuple[str | int, ...]) -> str:
    if may_have_key(text) and KEY.search(text[:_MAX_SEARCHED]):
        return "the text looks like a key"
    if steps == ("authentication", "credentials") and isinstance(
        parsed := parse(text.encode("utf-8", "replace")), dict
    ):
        secret_name = next((inner for inner, value in parsed.items() if _is_secret(inner, value)), "")
        return f"{secret_name[:40]} has a value" if secret_name else ""
    found = _SECRET_IN_TEXT.search(text[:_MAX_SEARCHED]) if "=" in text or ":" in text else None
    if found is not None:
        return f"a text contains {found[1]} and a value"
    is_expected = "scopes" in steps or "params" in steps or steps == ("authentication", "credentials")
    if not is_expected and _is_secret(name, text):
        return f"{name} has a value"
    if "://" in text[:12] and "?" in text:
        for key, value in _query_parameters(text):
            if _is_secret(key, value) or _is_secret(f"api{key}", value):  # a query parameter "key" is an API key
                return f"the query of a URL contains {key}"
    return ""


def _is_secret(name: str, value: Json) -> bool:
    plain = re.sub(r"[^a-z]", "", name.lower())
    return bool(_SECRET_NAME.fullmatch(plain)) and isinstance(value, str) and not _PLACEHOLDER.fullmatch(value)


def _query_parameters(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url[:_MAX_SEARCHED]).query, max_num_fields=100)
    except ValueError:
        return []


_DECEPTIVE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Control characters, direction marks and invisible characters, except those that join emoji."""


@RULE_SET.rule(
    "CARD-093",
    WARNING,
    "A string contains control, direction or invisible characters",
    section="1.0 §4.4.1, Unicode TR 36",
    requirement="People read names and descriptions; terminals execute control characters, and direction marks "
    "reorder text.",
    remedy="Remove these characters: they make the displayed text differ from the text in the card.",
    failing={"name": "Trans\u202elator"},
    passing={"name": "Traducteur \u2013 \U0001f468\u200d\U0001f4bb"},
)
def deceptive(card: Facts) -> Iterator[Violation]:
    found = [(steps, match) for steps, text in _texts(card) if (match := _DECEPTIVE.search(text))]
    if found:
        steps, first = found[0]
        others = f", and in {len(found) - 1:,} more texts" if len(found) > 1 else ""
        yield Violation(pointer(*steps), f"U+{ord(first[0]):04X} at character {first.start() + 1:,}{others}")
