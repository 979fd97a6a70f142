"""The second line of the screen: the six places, each one key or one click away."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

PLACES = (
    ("agent", "Agent"),
    ("talk", "Talk"),
    ("tasks", "Tasks"),
    ("webhooks", "Webhooks"),
    ("traffic", "Traffic"),
    ("findings", "Findings"),
)
"""The places in the order of their number keys: id and name."""


class PlaceTabs(Static):
    """Shows the places with their numbers and asks for the one that is clicked."""

    class Chosen(Message):
        """Somebody clicked on a place."""

        def __init__(self, place: str) -> None:
            super().__init__()
            self.place = place

    current: reactive[str] = reactive("agent")

    def render(self) -> Content:
        """Draw the names, the current one marked."""
        return Content("   ").join([self._tab(number, *place) for number, place in enumerate(PLACES, 1)])

    def _tab(self, number: int, place: str, name: str) -> Content:
        if place == self.current:
            return Content.assemble((f"{number} ", "$bar"), (name, "bold $bar"))
        return Content.assemble((f"{number} ", "$wire-quiet"), (name, "$text-soft"))

    def on_click(self, event: events.Click) -> None:
        """Ask for the place under the pointer."""
        at = event.get_content_offset(self)
        if at is None:
            return
        end = 0
        for place, name in PLACES:
            end += len(name) + 5
            if at.x < end:
                self.post_message(self.Chosen(place))
                return
