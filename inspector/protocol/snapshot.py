"""Take cheap snapshots of a task while it continues to change.

The lists and texts of a task only grow, or are replaced as a whole. Therefore a snapshot refers to them and stores
their lengths; the lists and texts are copied only when the snapshot is restored.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import AssembledArtifact, AssembledTask, TextRun
from inspector.protocol.text_buffer import TextBuffer

T = TypeVar("T", AssembledTask, AssembledArtifact)


@dataclass(frozen=True, slots=True)
class _Extent:
    """A shallow copy that shares its lists with the original, and their lengths at the time of the snapshot."""

    shallow_copy: Any
    lengths: Mapping[str, int]
    letters: int = 0

    def restore(self) -> Any:
        """Return the object with copies of its lists, which have their length at the time of the snapshot."""
        whole = copy.copy(self.shallow_copy)
        for name, length in self.lengths.items():
            setattr(whole, name, getattr(self.shallow_copy, name)[:length])
        return whole


@dataclass(frozen=True, slots=True)
class TaskSnapshot:
    """The snapshot of a task."""

    _task: _Extent
    _artifacts: tuple[_Extent, ...]

    def restore(self) -> AssembledTask:
        """Return the task at the time of the snapshot, as an independent copy."""
        task: AssembledTask = self._task.restore()
        task.artifacts = {}
        for extent in self._artifacts:
            artifact: AssembledArtifact = extent.restore()
            artifact.text = TextBuffer()
            artifact.text.append(str(extent.shallow_copy.text)[: extent.letters])
            last = artifact.parts[-1] if artifact.parts else None
            if isinstance(last, TextRun):
                artifact.parts[-1] = replace(last, end=extent.letters)
            task.artifacts[artifact.artifact_id] = artifact
        task.messages = task.messages.copy()
        return task


def take_snapshot(task: AssembledTask) -> TaskSnapshot:
    """Take a snapshot of a task."""
    artifacts = tuple(_extent(artifact, len(artifact.text)) for artifact in task.artifacts.values())
    extent = _extent(task)
    extent.shallow_copy.artifacts = {}
    extent.shallow_copy.messages = task.messages.copy()
    return TaskSnapshot(extent, artifacts)


def _extent(whole: T, letters: int = 0) -> _Extent:
    lists = ((field.name, getattr(whole, field.name)) for field in fields(whole))
    lengths = {name: len(value) for name, value in lists if isinstance(value, list | array)}
    return _Extent(copy.copy(whole), lengths, letters)
