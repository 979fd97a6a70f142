"""What the rules say, for views of findings: the book is loaded with the session, behind the first paint."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.findings.rule import Rule


def rule_of(name: str) -> Rule:
    """Return the rule of this id; one that only another version knows, whose recording is seen, is said to be none."""
    from inspector.findings.finding import Severity  # noqa: PLC0415 - with it comes all that reads the protocol
    from inspector.findings.rule import Rule  # noqa: PLC0415 - likewise
    from inspector.findings.rules import RULES  # noqa: PLC0415 - likewise

    known = RULES.get(name)
    title, remedy = "A rule that this version does not know.", "Update a2a-inspect to read what it is about."
    return known or Rule(name, Severity.HINT, title, "", "", remedy)
