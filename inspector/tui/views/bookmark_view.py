"""The base class of the views that list records: bookmarks, remarks, and the detail of the selected record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType

from inspector.capture.records import Record
from inspector.session.session import Session
from inspector.tui.check_dialogs import ask_for_check
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.undo import UndoStack
from inspector.tui.views.base import View
from inspector.tui.widgets.detail_pane import DetailPane

_LONGEST = 200
"""The maximum length of a remark in characters, the same as for the label of a record."""

_OF_RECORD = frozenset({"bookmark", "remark", "copy-as", "representation"})
"""The commands that need a selected record."""


class BookmarkView(View):
    """A view with a detail pane for the selected record, and keys for bookmarks and remarks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("bookmark", "bookmark", show=False),
        bind("remark", "remark", show=False),
        bind("next-bookmark", "next_mark", "next mark", show=False),
        bind("undo", "undo", "", "Restore the remark that was removed", show=False),
        bind("copy-as", "copy_as", show=False),
        bind("make-check", "make_check", show=False),
    ]

    lists: Callable[[Record], bool] | None = None
    """A function that returns whether the view lists a record; None for a view that lists all records."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(session, glyphs, id=id)
        self.detail = DetailPane(session, glyphs, id=f"{id}-detail")
        self._undo = UndoStack()

    def action_next_view(self) -> None:
        """Show the selected record in the next format."""
        self.detail.action_next_view()

    def action_copy_as(self) -> None:
        """Ask in which form to copy the selected record or its exchange, and copy it."""
        if self.selected_record() is not None:
            self.detail.action_copy_as()

    def action_make_check(self) -> None:
        """Ask for the exchanges of a check file, and write it."""
        record = self.selected_record()
        exchange, task = (record.exchange, record.task) if record is not None else (0, "")
        ask_for_check(self, self.session, exchange, task)

    def open_detail(self) -> None:
        """Focus the detail pane, which is a second page on a narrow screen."""
        self.add_class("-second")
        self.detail.focus_body()

    @on(events.DescendantFocus)
    def _show_focused_detail(self) -> None:
        """Make the focused pane the page that a narrow screen shows, also if the screen becomes narrow later."""
        self.set_class(self.detail.has_focus_within, "-second")

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

    def action_remark(self) -> None:
        """Write a remark on the selected record."""
        record = self.selected_record()
        if record is None:
            return
        marks, seq = self.session.bookmarks, record.seq
        field = Field("text", "remark", "text; leave empty to remove the remark", value=marks.remark_on(seq))
        form = FormScreen(f"Remark on #{seq}", (field,), check=_too_long)
        ask(self, form, lambda values: self._remark(seq, values["text"]))

    def _remark(self, seq: int, text: str) -> None:
        """Set the remark on a record; the earlier remark can be restored."""
        marks = self.session.bookmarks
        before = marks.remark_on(seq)
        if before and text != before:
            name = f"{'change' if text else 'remove'} the remark on #{seq}"
            self._undo.add(name, lambda: self._restore_remark(seq, before))
            notify(self, f"Undo: {name} ({key_of('undo')})")
        marks.remark(seq, text)
        self.refresh_bindings()

    def _restore_remark(self, seq: int, text: str) -> bool:
        marks = self.session.bookmarks
        changed = marks.remark_on(seq) != text
        marks.remark(seq, text)
        return changed

    def action_undo(self) -> None:
        """Restore the remark that was changed or removed last."""
        name = self._undo.undo()
        if name:
            notify(self, f"Undone: {name}.")
        self.refresh_bindings()

    def action_next_mark(self) -> None:
        """Go to the next record with a bookmark or a remark, and from the last to the first."""
        selected, capture, lists = self.selected_record(), self.session.journal.capture, self.lists
        here = selected.seq if selected is not None else 0
        marked = self.session.bookmarks.within(1, len(capture))
        marked = [seq for seq in marked if lists is None or lists(capture.get(seq))]
        if marked:
            self.show_seq(next((seq for seq in marked if seq > here), marked[0]))
        else:
            keys = f"Press {key_of('bookmark')} to bookmark a row, {key_of('remark')} to write a remark."
            notify(self, f"There is no bookmark or remark. {keys}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable bookmarks and remarks if no record is selected, and in a capture, which is read-only."""
        if action == "undo":
            return bool(self._undo.name)
        if action in ("bookmark", "remark"):
            return True if not self.session.recorded and self.selected_record() is not None else None
        return super().check_action(action, parameters)

    def disabled_reason(self, command: str) -> str:
        """Return why there can be no bookmark or remark, or nothing to undo or to copy."""
        if command == "undo":
            return "nothing was changed"
        if command in ("bookmark", "remark") and self.session.recorded:
            return "a capture cannot be changed"
        if command in _OF_RECORD and self.selected_record() is None:
            return "no row is selected"
        return super().disabled_reason(command)


def _too_long(values: Mapping[str, str]) -> str:
    length = len(values["text"])
    return f"The remark has {length:,} characters; the maximum is {_LONGEST}." if length > _LONGEST else ""
