"""Whether a test applies to an agent, and whether the runner has what the test needs."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.protocol.card import AgentCard
from inspector.protocol.model import Json
from inspector.protocol.security import requirements
from inspector.protocol.selection import Choice
from inspector.session.check.document.enumerations import Requirement, Transport
from inspector.session.check.document.steps import CARD, OPERATIONS, OperationStep
from inspector.session.check.document.suites import Test
from inspector.session.check.variables import references

_AUTHENTICATION = "authentication"
"""A capability in the official suite that cards do not have: whether the agent requires credentials."""
_RUNNER_SPECIAL = "runner-special"
"""The tag with which the official suite marks tests that need the runner."""
_HEADER_TAGS = frozenset({"content-type", "caching"})
"""The tags of tests about headers in the official suite."""
_TAGS = {
    Requirement.AUTH_CREDENTIALS: "auth",
    Requirement.CONCURRENT_STREAMS: "concurrent",
    Requirement.STREAM_DISCONNECT: "resubscribe",
}
"""The tag that belongs to a requirement in the official suite."""
WEBHOOK_VARIABLE = "webhookUrl"


def skip_reason(test: Test, transport: Transport, choice: Choice, card: AgentCard, known: Mapping[str, Json]) -> str:
    """Return why a test does not apply to an agent over an interface, `""` if it does.

    `known` are the variables that have a value.
    """
    for allowed in (test.transport, test.preconditions.transport):
        if allowed and transport not in allowed:
            return f"only over {', '.join(allowed)}"
    declared = capabilities(card)
    for name, wanted in test.preconditions.capabilities.items():
        if declared.get(name, False) != wanted:
            return f"the card declares {name}: {_word(declared.get(name, False))}, the test needs {_word(wanted)}"
    skills = {skill.id for skill in card.skills}
    for skill in test.preconditions.skills:
        if skill.id not in skills:
            return f"the card has no skill {skill.id!r}"
    extensions = {extension.uri for extension in card.capabilities.extensions or ()}
    for uri in test.preconditions.extensions:
        if uri not in extensions:
            return f"the card does not declare the extension {uri}"
    return _missing_operation(test, choice) or _missing_credentials(test, known)


def capabilities(card: AgentCard) -> dict[str, Json]:
    """Return the capabilities of a card by their names in 1.0, with `authentication` if it requires credentials."""
    return {**card.capabilities.to_json(), _AUTHENTICATION: bool(requirements(card))}


def needs(test: Test, requirement: Requirement) -> bool:
    """Return whether a test needs something from the runner; the official suite declares it by tags."""
    if requirement in test.runner_requirements:
        return True
    if requirement is Requirement.HEADER_INSPECTION:
        return not _HEADER_TAGS.isdisjoint(test.tags)
    if _RUNNER_SPECIAL not in test.tags:
        return False
    if requirement is Requirement.WEBHOOK:
        used = set().union(*(references(step.params) for step in test.steps if isinstance(step, OperationStep)))
        return WEBHOOK_VARIABLE in used
    return _TAGS[requirement] in test.tags


def _missing_operation(test: Test, choice: Choice) -> str:
    for step in test.steps:
        if not isinstance(step, OperationStep) or step.operation == CARD:
            continue
        operation = OPERATIONS[step.operation]
        if not choice.binding.offers(choice.dialect, operation):
            return f"A2A {choice.dialect.version} over {choice.binding.name} does not have {operation.value}"
    return ""


def _missing_credentials(test: Test, known: Mapping[str, Json]) -> str:
    if not needs(test, Requirement.AUTH_CREDENTIALS):
        return ""
    ids = {step.id for step in test.steps}
    used = set().union(*(references(step.model_dump()) for step in test.steps))
    defined = {*known, WEBHOOK_VARIABLE}
    missing = sorted(name for name in used - defined if name.partition(".")[0] not in {*ids, "env"} and name[0] != "$")
    return f"needs credentials: set {', '.join(f'--var {name}=VALUE' for name in missing)}" if missing else ""


def _word(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
