"""Base classes of the views that list records: bookmarks, notes, and the detail of the selected record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Record
from inspector.session.session import Session
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.views.base import View
from inspector.tui.widgets.detail_pane import DetailPane

_LONGEST = 200
"""The maximum length of a note in characters, the same as for the label of a record."""


class BookmarkView(View):
    """A view with a detail pane for the selected record, and keys for bookmarks and notes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("bookmark", "bookmark", show=False),
        bind("note", "note", show=False),
        bind("next-bookmark", "mark(1)", "next mark", show=False),
    ]

    lists: Callable[[Record], bool] | None = None
    """A function that returns whether the view lists a record; None for a view that lists all records."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(session, glyphs, id=id)
        self.detail = DetailPane(session, glyphs, id=f"{id}-detail")

    def action_next_view(self) -> None:
        """Show the selected record in the next format."""
        self.detail.action_next_view()

    def open_detail(self) -> None:
        """Focus the detail pane, which is a second page on a narrow screen."""
        self.add_class("-second")
        self.detail.focus_body()

    def selected_record(self) -> Record | None:
        """Return the record in the detail pane."""
        return self.detail.record

    def selected_text(self) -> str:
        """Return the payload of the selected record, or the value under the cursor."""
        return self.detail.selected_text()

    def action_bookmark(self) -> None:
        """Add a bookmark to the selected record, or remove it."""
        record = self.selected_record()
        if record is not None:
            self.session.bookmarks.toggle(record.seq)

    def action_note(self) -> None:
        """Write a note on the selected record."""
        record = self.selected_record()
        if record is None:
            return
        marks, seq = self.session.bookmarks, record.seq
        field = Field("text", "note", "text; leave empty to remove the note", value=marks.remark_on(seq))
        form = FormScreen(f"Note on #{seq}", (field,), check=_too_long)
        ask(self, form, lambda values: marks.remark(seq, values["text"]))

    def action_mark(self, step: int) -> None:
        """Go to the next (1) or previous (-1) record with a bookmark or a note."""
        selected, capture, lists = self.selected_record(), self.session.journal.capture, self.lists
        here = selected.seq if selected is not None else 0
        marked = self.session.bookmarks.within(1, len(capture))
        there = [seq for seq in marked if (seq > here if step > 0 else seq < here)]
        there = [seq for seq in there if lists is None or lists(capture.get(seq))]
        if there:
            self.show_seq(there[0 if step > 0 else -1])
        else:
            where = "below" if step > 0 else "above"
            notify(
                self,
                f"There is no bookmark or note {where}. Press {key_of('bookmark')} to bookmark a row, "
                f"{key_of('note')} to write a note.",
            )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable bookmarks and notes if no record is selected, and in a capture, which is read-only."""
        if action in ("bookmark", "note"):
            return True if not self.session.recorded and self.selected_record() is not None else None
        return super().check_action(action, parameters)


def _too_long(values: Mapping[str, str]) -> str:
    length = len(values["text"])
    return f"The note has {length:,} characters; the maximum is {_LONGEST}." if length > _LONGEST else ""


class RecordsView(BookmarkView):
    """A view of records with a title over its list."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(session, glyphs, id=id)
        self.title = Static(id="list-title", classes="pane-title")

    def action_back(self) -> None:
        """Go back to the list."""
        self.remove_class("-second")
        self.focus_first()

    def set_title(self, title: Content) -> None:
        """Show a title over the list, without a new layout of the screen: a layout is as slow as drawing the screen."""
        self.title.update(title, layout=False)
