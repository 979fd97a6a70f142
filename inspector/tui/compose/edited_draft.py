"""A draft that is being edited: the changes of its parts and options, which can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.tui.undo import UndoStack


class EditedDraft:
    """The present draft; `undo` has its earlier drafts."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.undo = UndoStack()

    @property
    def parts(self) -> tuple[DraftPart, ...]:
        """The parts of the draft."""
        return self.draft.parts

    def change(self, draft: Draft, name: str) -> None:
        """Replace the draft; `name` is the name of the change for the user."""
        before = self.draft
        if draft != before:
            self.undo.add(name, lambda: self._restore(before))
            self.draft = draft

    def _restore(self, draft: Draft) -> bool:
        changed = draft != self.draft
        self.draft = draft
        return changed

    def set_part(self, index: int, part: DraftPart) -> None:
        """Replace a part; several edits of one part are undone together."""
        if index >= len(self.parts) or self.parts[index] == part:
            return
        draft = replace(self.draft, parts=(*self.parts[:index], part, *self.parts[index + 1 :]))
        name = f"edit part {index + 1}"
        if self.undo.name == name:
            self.draft = draft
        else:
            self.change(draft, name)

    def _change_parts(self, parts: Sequence[DraftPart], name: str) -> None:
        self.change(replace(self.draft, parts=tuple(parts)), name)

    def insert(self, index: int, part: DraftPart, name: str = "") -> None:
        """Insert a part at an index."""
        self._change_parts([*self.parts[:index], part, *self.parts[index:]], name or f"add part {index + 1}")

    def remove(self, index: int) -> None:
        """Remove a part."""
        self._change_parts([*self.parts[:index], *self.parts[index + 1 :]], f"remove part {index + 1}")

    def fill_data(self, index: int | None, text: str) -> int:
        """Write a JSON text to the data part at an index, or to a new part; return the index of the part."""
        parts = [*self.parts]
        if index is None or parts[index].kind is not PartKind.DATA:
            index = len(parts)
            parts.append(DraftPart(PartKind.DATA))
        parts[index] = replace(parts[index], value=text)
        self._change_parts(parts, "fill in the form")
        return index

    def move(self, index: int, step: int) -> bool:
        """Move a part up or down; return False at the first or last place."""
        if not 0 <= index + step < len(self.parts):
            return False
        parts = [*self.parts]
        parts.insert(index + step, parts.pop(index))
        self._change_parts(parts, f"move part {index + 1}")
        return True


def first_difference(before: Sequence[DraftPart], after: Sequence[DraftPart]) -> int | None:
    """Return the index of the first part that differs, None if the parts are equal."""
    for index in range(max(len(before), len(after))):
        if before[index : index + 1] != after[index : index + 1]:
            return min(index, max(0, len(after) - 1))
    return None
