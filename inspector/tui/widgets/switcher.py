"""A container that shows one of its children."""

from __future__ import annotations

from textual.widgets import ContentSwitcher


class Switcher(ContentSwitcher):
    """Shows the child that is chosen, unless the children are gone: messages still arrive while the app ends."""

    def watch_current(self, old: str | None, new: str | None) -> None:
        """Show the child with the new id instead of the one before."""
        if {old, new} <= {None, *(child.id for child in self.children)}:
            super().watch_current(old, new)
