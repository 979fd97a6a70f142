"""Recognise chunks for which the rules about the order of events need not be checked again.

Most events of a long stream are chunks of artifacts that are already started. If such a chunk violated no rule and
changed nothing in the state of the stream, the next chunk with the same facts does not, either.
"""

from __future__ import annotations

from collections.abc import Hashable

from inspector.findings.rule_set import Checks
from inspector.findings.stream.facts import EventFacts, StreamState
from inspector.protocol.model import Event, TaskArtifactUpdateEvent

_MOST = 1_000
"""How many different facts are remembered."""

_COVERED_RULES = frozenset(
    {
        *("STREAM-002", "STREAM-003", "STREAM-004", "STREAM-005", "STREAM-006", "STREAM-010", "STREAM-011"),
        *("STREAM-013", "STREAM-014", "STREAM-017", "STREAM-020", "STREAM-023", "STREAM-024", "STREAM-030"),
    }
)
"""The rules that look only at the facts in `facts_of`.

While a rule about chunks is missing here, every chunk is checked, so that a new rule is never skipped.
"""


class Routine:
    """Remembers the facts about chunks that violate no rule and change nothing; `checks` are the rules about chunks."""

    def __init__(self, checks: Checks[EventFacts[TaskArtifactUpdateEvent]]) -> None:
        self._known: set[Hashable] = set()
        self._covered = all(rule.id in _COVERED_RULES for rule, _ in checks)

    def __contains__(self, facts: Hashable) -> bool:
        return facts in self._known

    def learn(self, before: Hashable, after: Hashable) -> None:
        """Add a chunk without findings, given the facts before and after it was added to the state."""
        if self._covered and before is not None and before == after:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known.add(after)


def facts_of(event: Event, state: StreamState, task_id: str) -> Hashable:
    """Return all facts about a chunk and the state that the rules look at; None for events that are always checked.

    `task_id` is the task of the exchange.
    """
    order = state.order
    if not isinstance(event, TaskArtifactUpdateEvent) or not event.append or order is None or event.model_extra:
        return None  # among the unknown members may be a revision, which differs in every event
    artifact = event.artifact
    artifact_id, name = artifact.artifact_id, artifact.name
    return (
        *(event.task_id, task_id, event.context_id, order.context_id, order.state, order.blind, state.final),
        *(artifact_id, name, event.last_chunk, order.closed.get(artifact_id), state.message_count),
        *(state.started, state.failed, state.blind, state.lacks_context, state.left_context, state.event_count > 1),
        not state.unfinished.get(name or ""),
    )
