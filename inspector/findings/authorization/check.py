"""Check the rules about authorization for one step of a login."""

from __future__ import annotations

from inspector.findings.authorization.facts import LoginFacts
from inspector.findings.finding import Finding


def check(facts: LoginFacts) -> tuple[Finding, ...]:  # noqa: ARG001 - there are no rules yet
    """Return the findings about a step."""
    return ()
