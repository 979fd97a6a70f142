"""Which operations an agent takes, as far as its interface and its card tell before anything is asked."""

from __future__ import annotations

from inspector.protocol.card import AgentCard
from inspector.protocol.operations import PUSH, STREAMING, Operation
from inspector.protocol.selection import Choice


def why_not(operation: Operation, choice: Choice | None, card: AgentCard) -> str:
    """Say what speaks against an operation, in words, `""` where nothing does.

    A capability that the card leaves out counts as declined for the extended card alone: of streaming and push many
    cards say nothing and mean yes.
    """
    if choice is None:
        return "the card offers no interface that we can use"
    if not choice.binding.offers(choice.dialect, operation):
        return missing(operation, choice)
    capabilities = card.capabilities
    if operation in STREAMING and capabilities.streaming is False:
        return "the card declares streaming: false"
    if operation in PUSH and capabilities.push_notifications is False:
        return "the card declares pushNotifications: false"
    if operation is Operation.EXTENDED_CARD and not capabilities.extended_agent_card:
        return "the card declares no extended card"
    return ""


def missing(operation: Operation, choice: Choice) -> str:
    """Say that the generation spoken on an interface has no such operation there."""
    return f"{choice.dialect.generation} over {choice.binding.name} has no {operation.value}"
