"""Compare a task at two moments: its states, its messages, and its artifacts line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from enum import StrEnum

from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import MESSAGES, AssembledArtifact, AssembledTask, Move
from inspector.protocol.jsonvalue import dump
from inspector.protocol.lifecycle import short
from inspector.session.message_label import text_of
from inspector.text.units import counted, size

MOST_LINES = 400
"""The largest number of lines listed for an artifact."""

_LONGEST = 300
"""The largest number of characters listed for a line."""
_LEAD = 24
"""The number of unchanged characters listed before a difference."""
_LINES_COMPARED = 3_000
"""The largest number of lines that are matched; if there are more, all of them count as replaced."""


class Sign(StrEnum):
    """What happened to a line."""

    SAME = " "
    ADDED = "+"
    REMOVED = "-"
    LONGER = ">"
    """Text was appended to the line."""
    MORE = ":"
    """Not a line: the number of omitted lines."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference, cut to a length that can be shown; `lead` is the unchanged text before `text`."""

    sign: Sign
    text: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class ArtifactChange:
    """The changes of one artifact; `chunks`, `size` (in bytes) and `parts` are differences, which can be negative.

    `how` is `new`, `longer`, `replaced`, `changed` or `removed`. `lines` is the difference of the text, `others` the
    difference of the other parts as JSON. `closed` is whether the artifact was completed between the moments.
    """

    artifact_id: str
    name: str
    how: str
    chunks: int
    size: int
    parts: int
    closed: bool
    lines: tuple[DiffLine, ...]
    others: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class TaskDiff:
    """The differences between two moments of a task.

    `before` and `after` are the states, `""` for none, `moves` the changes of state between them. `messages` has the
    texts of new messages of the agent. `events` and `history` are differences of counts; `seconds` is the time between
    the moments.
    """

    before: str
    after: str
    moves: tuple[Move, ...]
    messages: tuple[str, ...]
    artifacts: tuple[ArtifactChange, ...]
    events: int
    history: int
    seconds: float

    @property
    def history_in_words(self) -> str:
        """Return the difference of the history: `+1 message`."""
        return f"{'+' if self.history > 0 else '-'}{counted(abs(self.history), 'message')}"

    @property
    def is_empty(self) -> bool:
        """Return whether the task did not change."""
        return not (self.moves or self.messages or self.artifacts or self.history or self.before != self.after)

    @property
    def words(self) -> str:
        """Return the differences in one line."""
        changes = []
        if self.before != self.after:
            changes.append(f"state changed from {short(self.before) or 'unknown'} to {short(self.after) or 'unknown'}")
        changes += [_sentence(artifact) for artifact in self.artifacts]
        if self.messages:
            changes.append(counted(len(self.messages), "more message"))
        if self.history and not changes:
            changes.append(f"history {self.history_in_words}")
        return ", ".join(changes) or "nothing changed"


def compare_tasks(before: AssembledTask | None, after: AssembledTask) -> TaskDiff:
    """Compare a task with itself at a later moment; `before` is None for the time before its first event."""
    earlier = before or AssembledTask(after.id)
    began = earlier.updated or (after.moves[0].at if after.moves else after.updated)
    return TaskDiff(
        earlier.state,
        after.state,
        tuple(after.moves[len(earlier.moves) :]),
        tuple(_new_messages(earlier, after)),
        tuple(_artifacts(earlier, after)),
        after.events - earlier.events,
        len(after.history) - len(earlier.history),
        after.updated - began,
    )


def _new_messages(before: AssembledTask, after: AssembledTask) -> Iterator[str]:
    """Return the texts of new messages; if the oldest were dropped, messages are compared by id."""
    messages = list(after.messages)
    if len(messages) < MESSAGES:
        messages = messages[len(before.messages) :]
    else:
        known = {message.message_id for message in before.messages}
        messages = [message for message in messages if message.message_id not in known]
    return map(text_of, messages)


def _artifacts(before: AssembledTask, after: AssembledTask) -> Iterator[ArtifactChange]:
    for artifact_id, artifact in after.artifacts.items():
        earlier = before.artifacts.get(artifact_id)
        yield from _artifact(earlier or AssembledArtifact(artifact_id), artifact, new=earlier is None)
    for artifact_id, artifact in before.artifacts.items():
        if artifact_id not in after.artifacts:
            yield from _artifact(artifact, AssembledArtifact(artifact_id, artifact.name), new=False)


def _artifact(before: AssembledArtifact, after: AssembledArtifact, *, new: bool) -> Iterator[ArtifactChange]:
    old, text = str(before.text), str(after.text)
    parts, others = part_lines(before), part_lines(after)
    completed = after.closed and not before.closed
    if not new and not completed and (old, parts, before.name) == (text, others, after.name):
        return
    grown = text.startswith(old) and others[: len(parts)] == parts
    how = "new" if new else "longer" if grown else "replaced" if after.revision != before.revision else "changed"
    if not after.parts and before.parts:
        how = "removed"
    yield ArtifactChange(
        after.artifact_id,
        after.name or before.name or after.artifact_id,
        how,
        after.chunks - before.chunks,
        after.size - before.size,
        len(after.parts) - len(before.parts),
        completed,
        tuple(line_difference(old, text)),
        tuple(_lines("\n".join(parts).splitlines(), "\n".join(others).splitlines())),
    )


def part_lines(artifact: AssembledArtifact) -> list[str]:
    """Return each part that is not a text as a line of JSON."""
    return [dump(part.to_json()).decode("utf-8", "replace") for part in artifact.other_parts]


def _sentence(change: ArtifactChange) -> str:
    if change.how == "new":
        return f"artifact {change.name} is new"
    if change.how != "longer":
        return f"artifact {change.name} was {change.how}"
    if not change.size and not change.parts:
        return f"artifact {change.name} {'is complete' if change.closed else 'was renamed'}"
    if change.parts > 0 and change.parts >= change.chunks:
        return f"artifact {change.name} has {counted(change.parts, 'more part')}"
    if change.chunks > 0:
        return f"artifact {change.name} has {counted(change.chunks, 'more chunk')}"
    return f"artifact {change.name} has {size(change.size)} more"


def line_difference(before: str, after: str) -> list[DiffLine]:
    """Compare two texts line by line; of the equal lines at either end, include only the line next to a difference."""
    return list(_lines(before.splitlines(), after.splitlines()))


def _lines(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    first = _common(before, after)
    last = _common(before[first:][::-1], after[first:][::-1])
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    if not old and not new:
        return
    if first > 1:
        yield DiffLine(Sign.MORE, counted(first - 1, "unchanged line"))
    yield from _signed(Sign.SAME, before[:first][-1:])
    for listed, line in enumerate(_changes(old, new)):
        if listed == MOST_LINES:
            left = max(len(old), len(new)) - MOST_LINES
            yield DiffLine(Sign.MORE, f"{left:,} more lines" if left > 0 else "more lines")
            break
        yield line
    yield from _signed(Sign.SAME, after[len(after) - last :][:1])


def _signed(sign: Sign, lines: list[str]) -> Iterator[DiffLine]:
    return (DiffLine(sign, line[:_LONGEST]) for line in lines)


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the length of the common beginning of two sequences."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((at for at, (old, new) in pairs if old != new), min(len(before), len(after)))


def _changes(old: list[str], new: list[str]) -> Iterator[DiffLine]:
    if max(len(old), len(new)) > _LINES_COMPARED:
        yield from _replaced(old, new)
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, from_old, to_old, from_new, to_new in matcher.get_opcodes():
        same = old[from_old:to_old]
        if tag != "equal":
            yield from _replaced(same, new[from_new:to_new])
        elif len(same) > 3:
            yield from _signed(Sign.SAME, same[:1])
            yield DiffLine(Sign.MORE, f"{len(same) - 2:,} unchanged lines")
            yield from _signed(Sign.SAME, same[-1:])
        else:
            yield from _signed(Sign.SAME, same)


def _replaced(old: list[str], new: list[str]) -> Iterator[DiffLine]:
    """Return lines that differ; a line with appended text is one entry, not a removed and an added line."""
    if old and new and new[0].startswith(old[0]):
        yield DiffLine(Sign.LONGER, new[0][len(old[0]) :][:_LONGEST], old[0][-_LEAD:])
        old, new = old[1:], new[1:]
    if len(old) == len(new) == 1:
        start = max(0, _common(old[0], new[0]) - _LEAD)
        old, new = ([f"…{line[start:]}" if start else line for line in lines] for lines in (old, new))
    yield from _signed(Sign.REMOVED, old)
    yield from _signed(Sign.ADDED, new)
