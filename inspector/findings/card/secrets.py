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

RULE_SET = RuleSet[Facts]()

_SECRET = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{30,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
"""Keys of well-known services, JSON Web Tokens, private keys."""
_MARKS = ("sk-", "gh", "AKIA", "xox", "AIza", "eyJ", "-----BEGIN ")
"""Every such key contains one of these. Texts without them are not searched."""
_SECRET_NAME = re.compile(
    r"(access|api|auth|bearer|refresh)?token|(client|shared)?secret|(api|private)key|password|passwd|credentials"
)
_HARMLESS = re.compile(r"\s*(<[^>]*>|\$?\{[^}]*\}|\*+|x+|\.\.\.)?\s*", re.IGNORECASE)
_SAID = re.compile(r"(?i)\b(password|passwd|secret|api[_-]?key)\s*[=:]\s*[\"']?(?=[^\s\"']*[0-9])[^\s\"']{8,}")
"""A secret in a sentence: at least eight characters, one of them a digit."""
_MOST_TEXT = 20_000
"""How much of one text is searched for keys."""


@RULE_SET.rule(
    "CARD-092",
    WARNING,
    "The card holds what looks like a secret",
    section="1.0 §14.3, 0.3 §5.4",
    requirement="The card SHOULD NOT include sensitive credentials.",
    remedy="Take it out and replace it where it is valid: whoever can read the card has it now.",
    failing={"securitySchemes": {"key": {"apiKeySecurityScheme": {"value": "sk-4f8a6b0c2d1e4f8a6b0c2d1e"}}}},
)
def secret(card: Facts) -> Iterator[Violation]:
    for steps, text in _texts(card):
        if (steps[:1] != ("signatures",)) and (why := _looks_secret(str(steps[-1]), text, steps)):
            yield Violation(pointer(*steps), why)


def _texts(card: Facts) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Return every text in the card, with the steps to it."""
    waiting: list[tuple[tuple[str | int, ...], Json]] = [((), card.value)]
    while waiting:
        steps, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*steps, name), member) for name, member in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [((*steps, number), item) for number, item in reversed([*enumerate(value)])]
        elif isinstance(value, str):
            yield steps, value


def _looks_secret(name: str, text: str, steps: tuple[str | int, ...]) -> str:
    if any(mark in text for mark in _MARKS) and _SECRET.search(text[:_MOST_TEXT]):
        return "it has the look of a key"
    if steps == ("authentication", "credentials") and isinstance(held := parse(text.encode("utf-8", "replace")), dict):
        kept = next((inner for inner, value in held.items() if _is_secret(inner, value)), "")
        return f"{kept[:40]} with a value" if kept else ""
    said = _SAID.search(text[:_MOST_TEXT]) if "=" in text or ":" in text else None
    if said is not None:
        return f"{said[1]} with a value, in a text"
    given_on_purpose = "scopes" in steps or "params" in steps or steps == ("authentication", "credentials")
    if not given_on_purpose and _is_secret(name, text):
        return f"{name} with a value"
    if "://" in text[:12] and "?" in text:
        for key, value in _query(text):
            if _is_secret(key, value) or _is_secret(f"api{key}", value):  # in a query, "key" is an API key
                return f"{key} in the query of a url"
    return ""


def _is_secret(name: str, value: Json) -> bool:
    plain = re.sub(r"[^a-z]", "", name.lower())
    return bool(_SECRET_NAME.fullmatch(plain)) and isinstance(value, str) and not _HARMLESS.fullmatch(value)


def _query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url[:_MOST_TEXT]).query, max_num_fields=100)
    except ValueError:
        return []


_DECEPTIVE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Control characters, direction marks and invisible characters, except those that join emoji."""


@RULE_SET.rule(
    "CARD-093",
    WARNING,
    "A text holds characters that hide, reorder or command",
    section="1.0 §4.4.1, Unicode TR 36",
    requirement="People read names and descriptions; terminals execute control characters; some marks reverse text.",
    remedy="Take the characters out: whoever shows the card shows something else than what it says.",
    failing={"name": "Trans\u202elator"},
    passing={"name": "Traducteur \u2013 \U0001f468\u200d\U0001f4bb"},
)
def deceptive(card: Facts) -> Iterator[Violation]:
    found = [(steps, one) for steps, text in _texts(card) if (one := _DECEPTIVE.search(text))]
    if found:
        steps, first = found[0]
        others = f", and in {len(found) - 1:,} more texts" if len(found) > 1 else ""
        yield Violation(pointer(*steps), f"U+{ord(first[0]):04X} at character {first.start() + 1:,}{others}")
