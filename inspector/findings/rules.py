"""The rules: what each one demands, on what ground, and what to do about a breach."""

from __future__ import annotations

from inspector.findings import push, result_rules, transport_rules
from inspector.findings.card import document
from inspector.findings.finding import Finding, Severity
from inspector.findings.lint import CARD_RULES
from inspector.findings.payload.judge import ERROR_RULES, OBJECT_RULES
from inspector.findings.rule import V1, Rule
from inspector.findings.stream import rules as stream_rules

_CARD = (
    Rule(
        "CARD-005",
        Severity.HINT,
        "No interface that this inspector speaks",
        "1.0 §8.3.2",
        "Clients MUST select the first supported transport of supportedInterfaces.",
        "Nothing to mend if this is meant; else check protocolBinding and protocolVersion.",
        passing={},
        failing={
            "supportedInterfaces": [
                {"url": "https://a.example/", "protocolBinding": "https://a.example/own/v1", "protocolVersion": "1.0"}
            ]
        },
        generations=V1,
    ),
    *document.RULES,
    *(one.rule for one in CARD_RULES),
)

_OBJECT = (*(one.rule for one in OBJECT_RULES), *(one.rule for one in ERROR_RULES))

RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        *_CARD,
        *stream_rules.RULES,
        *_OBJECT,
        *transport_rules.RULES,
        *result_rules.RULES,
        *push.RULES,
    )
}
"""Every rule by its id."""


def broken(rule: str, seen: str, pointer: str = "") -> Finding:
    """Make the finding that says that a rule is broken, with the rule's own severity."""
    return Finding(rule, RULES[rule].severity, pointer, seen)
