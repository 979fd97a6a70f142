"""A place whose records can be given bookmarks and remarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.capture.records import Record
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.views.base import Place

_LONGEST = 200
"""How many characters a remark may have: as many as a record's label."""


class MarkingPlace(Place):
    """What the places have in common that list records: bookmarks, remarks, and the way from one to the next."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("B", "bookmark", "bookmark", id="mark.bookmark", tooltip="Bookmark the record, or not", show=False),
        Binding("A", "remark", "note", id="mark.remark", tooltip="Write a note on the selected record", show=False),
        Binding("full_stop", "mark(1)", "next mark", id="mark.next", tooltip="The next bookmark or note", show=False),
        Binding("comma", "mark(-1)", "mark before", id="mark.previous", tooltip="The mark before", show=False),
    ]

    def lists(self, record: Record) -> bool:  # noqa: ARG002 - for places that list some of them
        """Tell whether the place lists a record."""
        return True

    def action_bookmark(self) -> None:
        """Give the selected record a bookmark, or take it away."""
        record = self.selected_record()
        if record is not None and self.session is not None:
            self.session.marks.toggle(record.seq)

    def action_remark(self) -> None:
        """Write down something about the selected record."""
        record = self.selected_record()
        if record is None or self.session is None:
            return
        marks, seq = self.session.marks, record.seq
        field = Field("text", "note", "what about it? nothing takes the note back", value=marks.remark_on(seq))

        def take(values: Mapping[str, str] | None) -> None:
            if values is not None:
                marks.remark(seq, values["text"])

        self.app.push_screen(FormScreen(f"NOTE ON #{seq}", (field,), check=_too_long), take)

    def action_mark(self, step: int) -> None:
        """Go to the next record with a bookmark or a note (1), or to the one before (-1)."""
        if self.session is None:
            return
        selected, capture = self.selected_record(), self.session.journal.capture
        here = selected.seq if selected is not None else 0
        marked = self.session.marks.within(1, len(capture))
        there = [seq for seq in marked if (seq > here if step > 0 else seq < here) and self.lists(capture.get(seq))]
        if there:
            self.show_seq(there[0 if step > 0 else -1])
        else:
            where = "further down" if step > 0 else "further up"
            self.app.notify(f"No bookmark and no note {where}. B bookmarks a row, A writes a note on it.", markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what cannot be marked: nothing is selected, or it is a recording, to which nothing is added."""
        if action in ("bookmark", "remark"):
            markable = self.session is not None and not self.session.recorded and self.selected_record() is not None
            return True if markable else None
        return super().check_action(action, parameters)


def _too_long(values: Mapping[str, str]) -> str:
    length = len(values["text"])
    return f"That is {length:,} characters; {_LONGEST} have room." if length > _LONGEST else ""
