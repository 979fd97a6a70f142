"""The table of all rules."""

from __future__ import annotations

from itertools import chain

from inspector.findings import catalog, error_cause, extensions, push, result
from inspector.findings.authorization import check as authorization
from inspector.findings.authorization import denials
from inspector.findings.card import document
from inspector.findings.finding import Finding, Severity
from inspector.findings.lint import CARD_RULES
from inspector.findings.payload.judge import ERROR_RULES, OBJECT_RULES
from inspector.findings.rule_set import V1, Rule
from inspector.findings.stream.rule_modules import ending, frames, ids, order
from inspector.findings.transport import clients, http, jsonrpc, payload

_NO_INTERFACE = Rule(
    "CARD-005",
    Severity.HINT,
    "The card has no interface that this inspector supports",
    "1.0 §8.3.2",
    "Clients MUST select the first entry of supportedInterfaces that they support.",
    "Check protocolBinding and protocolVersion. If they are intended, no change is needed.",
    passing={},
    failing={
        "supportedInterfaces": [
            {"url": "https://a.example/", "protocolBinding": "https://a.example/own/v1", "protocolVersion": "1.0"}
        ]
    },
    versions=V1,
)

EXCHANGE_RULES = (
    *sorted(chain(order.RULES, ids.RULES, frames.RULES, ending.RULES, payload.STREAM_RULES), key=lambda rule: rule.id),
    *payload.RULES,
    *jsonrpc.RULES,
    *http.RULES,
    *clients.RULES,
    *denials.RULES,
    *sorted((*error_cause.RULES, *result.RULES, *extensions.RULES), key=lambda rule: rule.id),
)
"""The rules that a `StreamJudge` checks. Their examples are requests with their responses."""
_OF_STREAMS = tuple(rule for rule in EXCHANGE_RULES if rule.id.startswith("STREAM-"))
_OF_ANSWERS = tuple(rule for rule in EXCHANGE_RULES if rule not in _OF_STREAMS)

DEFINED_RULES = (
    _NO_INTERFACE,
    *document.RULES,
    *(checked.rule for checked in CARD_RULES),
    *catalog.RULES,
    *_OF_STREAMS,
    *(checked.rule for checked in OBJECT_RULES),
    *(checked.rule for checked in ERROR_RULES),
    *_OF_ANSWERS,
    *authorization.RULES,
    *push.RULES,
)
"""All rules in the order of the documentation; each id is used once."""
RULES: dict[str, Rule] = {rule.id: rule for rule in DEFINED_RULES}
"""Every rule by its id."""


def finding(rule: str, seen: str, pointer: str = "") -> Finding:
    """Return a finding about a violated rule, with the severity of the rule."""
    return Finding(rule, RULES[rule].severity, pointer, seen)
