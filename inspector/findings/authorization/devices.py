"""Rules about the response to a request for a device code (RFC 8628 section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.authorization.examples import device
from inspector.findings.authorization.facts import LoginFacts, is_number
from inspector.findings.rule_set import ERROR, WARNING, Rule, RuleSet, Violation
from inspector.findings.url import insecure
from inspector.protocol.jsonvalue import brief_or_missing

_SHORTEST = 60
"""The number of seconds that a user needs at least to open the page and to enter the code."""
_TEXTS = ("device_code", "user_code", "verification_uri")

RULES: list[Rule] = []
DEVICE = RuleSet[LoginFacts](RULES, passing=device())


@DEVICE.rule(
    "AUTH-040",
    ERROR,
    "The response with a device code lacks a required member",
    section="RFC 8628 §3.2, §6.1",
    requirement="device_code, user_code, verification_uri and expires_in are required, and the user can type them.",
    remedy="Send all required members; use only characters that can be printed.",
    failing=device(user_code=None),
)
def incomplete(facts: LoginFacts) -> Iterator[Violation]:
    for name in _TEXTS:
        value = facts.members.get(name)
        if not isinstance(value, str) or not value:
            yield Violation("" if value is None else f"/{name}", f"{name} is {_quote(value)}")
        elif not value.isprintable():
            yield Violation(f"/{name}", f"{name} contains control characters")
    seconds = facts.members.get("expires_in")
    if not is_number(seconds):
        yield Violation("" if seconds is None else "/expires_in", f"expires_in is {_quote(seconds)}")


@DEVICE.rule(
    "AUTH-041",
    WARNING,
    "A device code expires before it can be entered",
    section="RFC 8628 §3.2, §5.2",
    requirement="The code is valid long enough to open the page and to enter the code.",
    remedy="Let device codes be valid for some minutes.",
    failing=device(expires_in=0),
)
def expires_at_once(facts: LoginFacts) -> Iterator[Violation]:
    seconds = facts.members.get("expires_in")
    if is_number(seconds) and seconds < _SHORTEST:
        yield Violation("/expires_in", f"expires_in is {seconds}")


@DEVICE.add_check("AUTH-040")
def unusable_page(facts: LoginFacts) -> Iterator[Violation]:
    for name in ("verification_uri", "verification_uri_complete"):
        url = facts.members.get(name)
        if isinstance(url, str) and url and url.isprintable() and (why := insecure(url)):
            yield Violation(f"/{name}", f"{name} is {url[:200]!r}: {why}")


def _quote(value: object) -> str:
    return "empty" if value == "" else brief_or_missing(value)
