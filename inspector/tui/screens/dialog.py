"""A dialog: a screen on top of another one that returns a result, or None where it is closed without one."""

from __future__ import annotations

from typing import TypeVar

from textual.screen import ModalScreen

Result = TypeVar("Result")


class Dialog(ModalScreen[Result | None]):
    """What all dialogs have in common."""

    def action_leave(self) -> None:
        """Close the dialog and change nothing."""
        self.dismiss(None)
