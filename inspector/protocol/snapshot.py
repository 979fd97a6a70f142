"""Snapshots of a task, which stay cheap while the task continues to change.

Lists and texts of a task only grow or are replaced as a whole, so a snapshot keeps their lengths. A text is copied only
when its snapshot is read.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from inspector.protocol.assemble import AssembledArtifact, AssembledTask, TextRun
from inspector.protocol.text_buffer import TextBuffer

T = TypeVar("T", AssembledTask, AssembledArtifact)


@dataclass(frozen=True, slots=True)
class _Extent:
    """A copy that shares its lists with the original, and the length of each list at that time."""

    shell: Any
    lengths: Mapping[str, int]
    letters: int = 0

    def restore(self) -> Any:
        """Return the object with its own lists, of the length at that time."""
        whole = copy.copy(self.shell)
        for name, length in self.lengths.items():
            setattr(whole, name, getattr(self.shell, name)[:length])
        return whole


@dataclass(frozen=True, slots=True)
class TaskSnapshot:
    """The snapshot of a task."""

    _task: _Extent
    _artifacts: tuple[_Extent, ...]

    def restore(self) -> AssembledTask:
        """Return the task at that time, as an independent copy; the cost is that of its texts."""
        task: AssembledTask = self._task.restore()
        task.artifacts = {}
        for extent in self._artifacts:
            artifact: AssembledArtifact = extent.restore()
            artifact.text = TextBuffer()
            artifact.text.append(str(extent.shell.text)[: extent.letters])
            last = artifact.parts[-1] if artifact.parts else None
            if isinstance(last, TextRun):
                artifact.parts[-1] = replace(last, end=extent.letters)
            task.artifacts[artifact.artifact_id] = artifact
        task.messages = task.messages.copy()
        return task


def take_snapshot(task: AssembledTask) -> TaskSnapshot:
    """Take a snapshot of a task."""
    artifacts = tuple(_extent(one, len(one.text)) for one in task.artifacts.values())
    kept = _extent(task)
    kept.shell.artifacts = {}
    kept.shell.messages = task.messages.copy()
    return TaskSnapshot(kept, artifacts)


def _extent(whole: T, letters: int = 0) -> _Extent:
    lists = ((one.name, getattr(whole, one.name)) for one in fields(whole))
    lengths = {name: len(value) for name, value in lists if isinstance(value, list | array)}
    return _Extent(copy.copy(whole), lengths, letters)
