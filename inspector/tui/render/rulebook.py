"""What the rules say, for views of findings: the book is loaded with the session, behind the first paint."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.findings.rule import Rule


def rule_of(name: str) -> Rule:
    """Return the rule of this id."""
    from inspector.findings.rules import RULES  # noqa: PLC0415 - with it comes all that reads the protocol

    return RULES[name]
