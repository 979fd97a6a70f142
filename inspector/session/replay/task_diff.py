"""What came about between two moments of a task: its states, what was said, and its artifacts line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from inspector.protocol.assemble import MESSAGES, AssembledArtifact, AssembledTask, Move
from inspector.protocol.jsonvalue import dump
from inspector.protocol.lifecycle import short
from inspector.protocol.model import Part
from inspector.session.tasks import text_of
from inspector.text.units import size

MOST_LINES = 400
"""How many lines of one artifact are listed."""

_LONGEST = 300
"""How many characters of a line are listed."""
_LEAD = 24
"""How many characters before the first that differs are listed with it."""
_LINES_COMPARED = 3_000
"""Of more lines on either side, the cost of matching grows too far: they count as replaced."""
_CONTEXT = 1


class Sign(StrEnum):
    """What happened to a line."""

    SAME = " "
    ADDED = "+"
    REMOVED = "-"
    LONGER = ">"
    """It goes on: what was added stands behind the end of what there was."""
    MORE = ":"
    """Not a line: how many are left out here."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference, cut to a length that can be shown; `lead` is what stands before it unchanged."""

    sign: Sign
    text: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class ArtifactChange:
    """What became of one artifact; the numbers say by how much there is more of it, or less.

    `how` is a word for people: new, longer, replaced, changed, gone.
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
    """What differs between two moments, the later seen from the earlier.

    `moves` are the states that were taken on meanwhile, `said` the texts of the agent's new messages; `before` and
    `after` are the states at either end, `""` for none.
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
        """Say whether the task was the same at both."""
        return not (self.moves or self.said or self.artifacts or self.history or self.before != self.after)

    @property
    def words(self) -> str:
        """Say in one line what came about."""
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
    """Compare a task with itself at a later moment; None stands for before anything was heard of it."""
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
    """Return what was said since; where so much was said that the oldest is gone, what has an id of its own."""
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
        change = _artifact(earlier or AssembledArtifact(artifact_id), artifact, new=earlier is None)
        if change is not None:
            yield change
    for artifact_id, artifact in before.artifacts.items():
        if artifact_id not in after.artifacts:
            gone = _artifact(artifact, AssembledArtifact(artifact_id, artifact.name), new=False)
            if gone is not None:
                yield gone


def _artifact(before: AssembledArtifact, after: AssembledArtifact, *, new: bool) -> ArtifactChange | None:
    old, text = str(before.text), str(after.text)
    parts, others = _spelled(before), _spelled(after)
    if not new and (old, parts, before.closed, before.name) == (text, others, after.closed, after.name):
        return None
    grown = text.startswith(old) and others[: len(parts)] == parts
    how = "new" if new else "longer" if grown else "replaced" if after.revision != before.revision else "changed"
    if not after.parts and before.parts:
        how = "gone"
    return ArtifactChange(
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


def _spelled(artifact: AssembledArtifact) -> list[str]:
    """Return the parts that are no text, each as a line that says what it is and what identifies its content."""
    return [_part(part) for part in artifact.other_parts]


def _part(part: Part) -> str:
    return dump(part.to_json()).decode("utf-8", "replace")


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
    """Compare two texts line by line: what is the same at both ends is left out but for its nearest line."""
    return list(_lines(before.splitlines(), after.splitlines()))


def _lines(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    first = _common(before, after)
    last = _common(before[first:][::-1], after[first:][::-1])
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    if not old and not new:
        return
    yield from _around(before[:first], first, len(before[:first]) - _CONTEXT)
    for listed, line in enumerate(_changes(old, new)):
        if listed == MOST_LINES:
            left = max(len(old), len(new)) - MOST_LINES
            yield DiffLine(Sign.MORE, f"{left:,} lines more" if left > 0 else "and more")
            break
        yield line
    tail = after[len(after) - last :][:_CONTEXT]
    yield from (DiffLine(Sign.SAME, line[:_LONGEST]) for line in tail)


def _around(same: list[str], count: int, from_line: int) -> Iterator[DiffLine]:
    start = max(0, from_line)
    if start:
        yield DiffLine(Sign.MORE, f"{start:,} line{'' if start == 1 else 's'} as before")
    yield from (DiffLine(Sign.SAME, line[:_LONGEST]) for line in same[start:count])


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many items, or letters, two sequences begin with both."""
    return next(
        (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other),
        min(len(before), len(after)),
    )


def _changes(old: list[str], new: list[str]) -> Iterator[DiffLine]:
    if max(len(old), len(new)) > _LINES_COMPARED:
        yield from _replaced(old, new)
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, from_old, to_old, from_new, to_new in matcher.get_opcodes():
        if tag == "equal":
            yield from _equal(old[from_old:to_old])
        else:
            yield from _replaced(old[from_old:to_old], new[from_new:to_new])


def _equal(same: list[str]) -> Iterator[DiffLine]:
    if len(same) > 2 * _CONTEXT + 1:
        yield from (DiffLine(Sign.SAME, line[:_LONGEST]) for line in same[:_CONTEXT])
        yield DiffLine(Sign.MORE, f"{len(same) - 2 * _CONTEXT:,} lines as before")
        same = same[-_CONTEXT:]
    yield from (DiffLine(Sign.SAME, line[:_LONGEST]) for line in same)


def _replaced(old: list[str], new: list[str]) -> Iterator[DiffLine]:
    """Pair the lines that differ: one that only goes on is one line and not two."""
    if old and new and new[0].startswith(old[0]):
        yield DiffLine(Sign.LONGER, new[0][len(old[0]) :][:_LONGEST], old[0][-_LEAD:])
        old, new = old[1:], new[1:]
    if len(old) == len(new) == 1:
        start = max(0, _common(old[0], new[0]) - _LEAD)
        old, new = [_from(old[0], start)], [_from(new[0], start)]
    yield from (DiffLine(Sign.REMOVED, line[:_LONGEST]) for line in old)
    yield from (DiffLine(Sign.ADDED, line[:_LONGEST]) for line in new)


def _from(line: str, start: int) -> str:
    return f"…{line[start:]}" if start else line
