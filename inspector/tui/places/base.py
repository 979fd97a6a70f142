"""What the six places have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container

from inspector.tui.render.glyphs import Glyphs

if TYPE_CHECKING:
    from inspector.capture.records import Record
    from inspector.session.session import Session


class Place(Container):
    """One of the six places; it shows the session that it is given and posts what the user wants.

    `attach` comes once a session; `refresh_view` whenever something may have changed while the place is seen, and
    once when it comes into sight.
    """

    def __init__(self, place: str, glyphs: Glyphs) -> None:
        super().__init__(id=place, classes="place")
        self.glyphs = glyphs
        self.session: Session | None = None

    def attach(self, session: Session) -> None:
        """Show another session."""
        self.session = session

    def refresh_view(self) -> None:
        """Show what is new."""

    def focus_first(self) -> None:
        """Give the keys to whatever is most likely wanted here."""
        for widget in self.query("*"):
            if widget.focusable:
                self.screen.set_focus(widget)
                return

    def selected_record(self) -> Record | None:
        """Return the record that is selected, None where none is."""
        return None

    def selected_text(self) -> str:
        """Return what copy should copy, `""` where nothing is selected."""
        return ""
