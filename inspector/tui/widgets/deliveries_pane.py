"""The pane of the deliveries: their columns for each width, a simulated error, and whether it follows the newest."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult

from inspector.tui.keys import key_of
from inspector.tui.render.delivery_rows import CHECKS_WIDTH
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.widgets.feed import Column, Feed, Headings
from inspector.tui.widgets.pane import Chip, Pane

_NEVER = 9_999
"""More cells than a screen has."""
COLUMNS = (
    Column("TIME", 8),
    Column("LATENCY", 7, "right", min_total_width=90),
    Column("TASK", 8, min_total_width=90),
    Column("EVENT"),
    Column("", 22, "right", shrinks=True),
    Column("CHECKS", CHECKS_WIDTH, min_total_width=_NEVER),
    Column("TOKEN", 5),
    Column("AUTH", 4),
    Column("SIGNATURE", 9, min_total_width=125),
    Column("ORDER", 5),
    Column("SCHEMA", 6),
    Column("ANSWER", 6, "right"),
    Column("", 1),
)
_CHECKS = ("TOKEN", "AUTH", "SIGNATURE", "ORDER", "SCHEMA")
_APART = 112
"""The width from which each check has a column; below it, one column has the result in words."""


def _columns(width: int) -> Sequence[Column]:
    """Return the columns for a width of the pane."""
    if width >= _APART:
        return COLUMNS
    hidden = {"CHECKS": 0, **dict.fromkeys(_CHECKS, _NEVER)}
    return [column._replace(min_total_width=hidden.get(column.name, column.min_total_width)) for column in COLUMNS]


class DeliveriesPane(Pane):
    """The table of the deliveries, whose border shows a simulated error and whether the table follows its end."""

    def __init__(self, feed: Feed, glyphs: Glyphs) -> None:
        super().__init__("Deliveries", id="deliveries-pane")
        self._feed = feed
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Make the headings and the rows."""
        yield Headings(self._feed)
        yield self._feed

    def on_resize(self) -> None:
        """Show each check in a column, or all of them in one."""
        self._feed.show_columns(_columns(self.size.width))

    def show(self, count: str, overrides: str) -> None:
        """Show how many deliveries there are, and the overrides, if any."""
        simulated = Chip(f"simulated error: {overrides}" if overrides else "", "bold $state-warning")
        if self._feed.unseen:
            follow = Chip(f"{self._feed.unseen:,} new below: {key_of('last')} follows", "$wire-received", "follow")
        else:
            following = self._feed.following and self._feed.line_count
            follow = Chip(f"{self._glyphs.light} following" if following else "", "$wire-quiet")
        self.set_title(Chip(count, "$text-soft"), simulated, note=[follow])

    def chosen(self, target: str) -> None:
        """Follow the newest delivery."""
        if target == "follow":
            self._feed.action_last()
