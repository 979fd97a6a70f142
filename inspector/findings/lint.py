"""Lint a card: read its bytes, detect its protocol version, and check every rule that applies to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from inspector.findings.card import (
    addresses,
    cross_version,
    interfaces,
    members,
    requirements,
    secrets,
    security,
    serving,
    signing,
    skills,
)
from inspector.findings.card.document import read_document
from inspector.findings.card.facts import Facts, Served, is_old_member
from inspector.findings.finding import Finding, Severity, most_severe_first
from inspector.findings.rule_set import CheckedRule, judge_with
from inspector.protocol.dialects.detect import version_of_card
from inspector.protocol.dialects.registry import DIALECTS
from inspector.protocol.dialects.traits import entry_of
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.selection import options, select

_MODULES = (members, cross_version, addresses, interfaces, security, requirements, secrets, skills, signing, serving)
CARD_RULES: tuple[CheckedRule[Facts], ...] = tuple(rule for module in _MODULES for rule in module.RULE_SET.rules)
"""Every rule about the content of a card, in the order of the documentation."""

_NOWHERE = Served()


class Lint(NamedTuple):
    """The result of linting a card: the protocol version of the applied rules, and the findings, errors first."""

    version: str
    findings: tuple[Finding, ...]

    def count(self, severity: Severity) -> int:
        """Return the number of findings with this severity."""
        return sum(finding.severity is severity for finding in self.findings)


def lint(raw: bytes, served: Served = _NOWHERE, version: str = "") -> Lint:
    """Lint the bytes of a card. Without `version`, the protocol version is detected from the shape of the card."""
    document = read_document(raw)
    if not isinstance(document.value, dict):
        return Lint(version, tuple(document.findings))
    judged = version or version_of_card(document.value)
    found = check(document.value, judged, served, len(raw))
    return Lint(judged, most_severe_first([*document.findings, *found]))


def check(card: Mapping[str, Json], version: str, served: Served = _NOWHERE, size: int = 0) -> tuple[Finding, ...]:
    """Check a card by the rules of one protocol version; `size` is its number of bytes."""
    facts = Facts(card, version, served, size)
    found = _judge(facts)
    if (older := facts.old_view) is not None:
        # Members that only readers of 0.3 use are judged by the rules of 0.3.
        found += [finding for finding in _judge(older) if is_old_member(finding.pointer)]
    return most_severe_first([*found, *_readability(facts, found)])


def _judge(facts: Facts) -> list[Finding]:
    return judge_with((checked for checked in CARD_RULES if facts.version in checked.rule.applies_to), facts)


def _readability(facts: Facts, found: list[Finding]) -> Iterator[Finding]:
    """Report why this inspector cannot read the card or call the agent, unless another finding reports it."""
    dialect, value = entry_of(DIALECTS, facts.version), dict(facts.value)
    has_errors = any(finding.severity is Severity.ERROR for finding in found)
    if not has_errors and (mistake := dialect.mistake_in_card(value)):
        yield Finding("CARD-002", Severity.ERROR, "", mistake)
    card = dialect.decode_card(value)
    if isinstance(card, Unreadable):
        return
    if any(interface.protocol_version for interface in card.supported_interfaces) and select(card) is None:
        why = "; ".join(option.reason for option in options(card))
        yield Finding("CARD-005", Severity.HINT, facts.interfaces_at, why)
