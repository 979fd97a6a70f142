"""Compare a task at two moments: its states, messages, and artifacts line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from inspector.protocol.assemble import MESSAGES, AssembledArtifact, AssembledTask, Move
from inspector.protocol.jsonvalue import dump
from inspector.protocol.lifecycle import short
from inspector.session.tasks import text_of
from inspector.text.units import size

MOST_LINES = 400
"""The largest number of lines listed for an artifact."""

_LONGEST = 300
"""The largest number of characters listed for a line."""
_LEAD = 24
"""The number of unchanged characters listed before a difference."""
_LINES_COMPARED = 3_000
"""The largest number of lines that are matched; more lines count as replaced."""


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
    """One line of a difference, cut to a length that can be shown; `lead` is the unchanged text before it."""

    sign: Sign
    text: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class ArtifactChange:
    """The changes of one artifact; the numbers are differences; `how` is new, longer, replaced, changed or gone."""

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

    `before` and `after` are the states, `""` for none, `moves` the changes of state between them; `said` has the texts
    of new messages of the agent.
    """

    before: str
    after: str
    moves: tuple[Move, ...]
    said: tuple[str, ...]
    artifacts: tuple[ArtifactChange, ...]
    events: int
    history: int
    seconds: float

    @property
    def nothing(self) -> bool:
        """Return whether the task did not change."""
        return not (self.moves or self.said or self.artifacts or self.history or self.before != self.after)

    @property
    def words(self) -> str:
        """Return the differences in one line."""
        told = []
        if self.before != self.after:
            told.append(f"state went from {short(self.before) or 'unknown'} to {short(self.after) or 'unknown'}")
        told += [_sentence(one) for one in self.artifacts]
        if self.said:
            told.append(f"{len(self.said):,} message{'' if len(self.said) == 1 else 's'} more")
        if self.history and not told:
            told.append(f"history has {self.history:+,} messages")
        return ", ".join(told) or "nothing changed"


def compare_tasks(before: AssembledTask | None, after: AssembledTask) -> TaskDiff:
    """Compare a task with itself at a later moment; None is the time before its first event."""
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
    """Return the texts of new messages; if old ones were dropped already, new ones are known by their ids."""
    said = list(after.messages)
    if len(said) < MESSAGES:
        said = said[len(before.messages) :]
    else:
        known = {message.message_id for message in before.messages}
        said = [message for message in said if message.message_id not in known]
    return map(text_of, said)


def _artifacts(before: AssembledTask, after: AssembledTask) -> Iterator[ArtifactChange]:
    for artifact_id, artifact in after.artifacts.items():
        earlier = before.artifacts.get(artifact_id)
        yield from _artifact(earlier or AssembledArtifact(artifact_id), artifact, new=earlier is None)
    for artifact_id, artifact in before.artifacts.items():
        if artifact_id not in after.artifacts:
            yield from _artifact(artifact, AssembledArtifact(artifact_id, artifact.name), new=False)


def _artifact(before: AssembledArtifact, after: AssembledArtifact, *, new: bool) -> Iterator[ArtifactChange]:
    old, text = str(before.text), str(after.text)
    parts, others = _part_lines(before), _part_lines(after)
    if not new and (old, parts, before.closed, before.name) == (text, others, after.closed, after.name):
        return
    grown = text.startswith(old) and others[: len(parts)] == parts
    how = "new" if new else "longer" if grown else "replaced" if after.revision != before.revision else "changed"
    if not after.parts and before.parts:
        how = "gone"
    yield ArtifactChange(
        after.artifact_id,
        after.name or before.name or after.artifact_id,
        how,
        after.chunks - before.chunks,
        after.size - before.size,
        len(after.parts) - len(before.parts),
        after.closed and not before.closed,
        tuple(line_difference(old, text)),
        tuple(_lines("\n".join(parts).splitlines(), "\n".join(others).splitlines())),
    )


def _part_lines(artifact: AssembledArtifact) -> list[str]:
    """Return each part that is not a text as a line of JSON."""
    return [dump(part.to_json()).decode("utf-8", "replace") for part in artifact.other_parts]


def _sentence(change: ArtifactChange) -> str:
    if change.how in ("new", "gone"):
        return f"artifact {change.name} is {change.how}"
    if change.how != "longer":
        return f"artifact {change.name} was {change.how}"
    if not change.size and not change.parts:
        return f"artifact {change.name} is complete"
    if change.parts > 0 and change.parts >= change.chunks:
        more = f"{change.parts:,} part{'' if change.parts == 1 else 's'}"
    elif change.chunks > 0:
        more = f"{change.chunks:,} chunk{'' if change.chunks == 1 else 's'}"
    else:
        more = size(change.size)
    return f"artifact {change.name} has {more} more"


def line_difference(before: str, after: str) -> list[DiffLine]:
    """Compare two texts line by line; of equal lines at both ends, only the nearest is included."""
    return list(_lines(before.splitlines(), after.splitlines()))


def _lines(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    first = _common(before, after)
    last = _common(before[first:][::-1], after[first:][::-1])
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    if not old and not new:
        return
    if first > 1:
        yield DiffLine(Sign.MORE, f"{first - 1:,} line{'' if first == 2 else 's'} as before")
    yield from _signed(Sign.SAME, before[:first][-1:])
    for listed, line in enumerate(_changes(old, new)):
        if listed == MOST_LINES:
            left = max(len(old), len(new)) - MOST_LINES
            yield DiffLine(Sign.MORE, f"{left:,} lines more" if left > 0 else "and more")
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
            yield DiffLine(Sign.MORE, f"{len(same) - 2:,} lines as before")
            yield from _signed(Sign.SAME, same[-1:])
        else:
            yield from _signed(Sign.SAME, same)


def _replaced(old: list[str], new: list[str]) -> Iterator[DiffLine]:
    """Return lines that differ; a line to which text was appended is a single line."""
    if old and new and new[0].startswith(old[0]):
        yield DiffLine(Sign.LONGER, new[0][len(old[0]) :][:_LONGEST], old[0][-_LEAD:])
        old, new = old[1:], new[1:]
    if len(old) == len(new) == 1:
        start = max(0, _common(old[0], new[0]) - _LEAD)
        old, new = ([f"…{line[start:]}" if start else line for line in lines] for lines in (old, new))
    yield from _signed(Sign.REMOVED, old)
    yield from _signed(Sign.ADDED, new)
