"""An account of a task as it is at one moment, kept at little cost while the account itself goes on.

What a task gathers only grows or is replaced as a whole, so a moment is how far each list and each text had come.
Nothing of a text is copied before somebody looks at that moment.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from inspector.protocol.assemble import AssembledArtifact, AssembledTask, TextRun
from inspector.protocol.text_buffer import GrowingText

T = TypeVar("T", AssembledTask, AssembledArtifact)


@dataclass(frozen=True, slots=True)
class _Extent:
    """An object that shares its lists with the one that goes on, and how long each of them was."""

    shell: Any
    lengths: Mapping[str, int]
    letters: int = 0

    def thaw(self) -> Any:
        """Return the object with lists of its own, as long as they were."""
        whole = copy.copy(self.shell)
        for name, length in self.lengths.items():
            setattr(whole, name, getattr(self.shell, name)[:length])
        return whole


@dataclass(frozen=True, slots=True)
class FrozenTask:
    """One account of a task at one moment."""

    _task: _Extent
    _artifacts: tuple[_Extent, ...]

    def thaw(self) -> AssembledTask:
        """Return the account as it was then, free to go another way; costs as much as its texts are long."""
        task: AssembledTask = self._task.thaw()
        task.artifacts = {}
        for extent in self._artifacts:
            artifact: AssembledArtifact = extent.thaw()
            artifact.text = GrowingText()
            artifact.text.append(str(extent.shell.text)[: extent.letters])
            last = artifact.parts[-1] if artifact.parts else None
            if isinstance(last, TextRun):
                artifact.parts[-1] = replace(last, end=extent.letters)
            task.artifacts[artifact.artifact_id] = artifact
        task.messages = task.messages.copy()
        return task


def freeze(task: AssembledTask) -> FrozenTask:
    """Keep an account as it is now."""
    artifacts = tuple(_extent(one, len(one.text)) for one in task.artifacts.values())
    kept = _extent(task)
    kept.shell.artifacts = {}
    kept.shell.messages = task.messages.copy()
    return FrozenTask(kept, artifacts)


def _extent(whole: T, letters: int = 0) -> _Extent:
    lists = ((one.name, getattr(whole, one.name)) for one in fields(whole))
    lengths = {name: len(value) for name, value in lists if isinstance(value, list | array)}
    return _Extent(copy.copy(whole), lengths, letters)
