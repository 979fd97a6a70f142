"""A place that is a feed of records with the detail of the selected one beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from inspector.capture.records import Record
from inspector.tui.views.bookmarking import MarkingPlace
from inspector.tui.widgets.detail_pane import DetailPane

if TYPE_CHECKING:
    from inspector.session.session import Session


class RecordsPlace(MarkingPlace):
    """What Webhooks and Traffic have in common: a detail pane that is a second page on a narrow screen."""

    def attach(self, session: Session) -> None:
        """Show another session."""
        super().attach(session)
        self.query_one(DetailPane).attach(session)

    def show_record(self, record: Record | None) -> None:
        """Show a record in full."""
        self.query_one(DetailPane).show(record)

    def action_next_view(self) -> None:
        """Look at the selected record in another way."""
        self.query_one(DetailPane).action_next_view()

    def open_detail(self) -> None:
        """Go to the detail."""
        self.add_class("-second")
        self.query_one(DetailPane).focus_body()

    def action_back(self) -> None:
        """Go back to the list."""
        self.remove_class("-second")
        self.focus_first()

    def set_title(self, title: object) -> None:
        """Show a title over the list."""
        # It is one line high: a layout of the whole screen would cost as much as drawing it.
        self.query_one("#list-title", Static).update(title, layout=False)  # type: ignore[arg-type]

    def selected_record(self) -> Record | None:
        """Return the record in the detail."""
        return self.query_one(DetailPane).record

    def selected_text(self) -> str:
        """Return the payload of the selected record, or the value under the cursor."""
        return self.query_one(DetailPane).selected_text()
