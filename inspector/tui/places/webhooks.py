"""Webhooks: what the receiver listens on, what was registered, and every delivery with its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Kind
from inspector.tui.places.base import CallWanted
from inspector.tui.places.records import RecordsPlace
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.sources import DeliveryRows
from inspector.tui.widgets.detailpane import DetailPane
from inspector.tui.widgets.feed import Column, Feed

if TYPE_CHECKING:
    from inspector.session.push import Hook
    from inspector.session.session import Session

COLUMNS = (
    Column("time", 8),
    Column("from", 15, min_total_width=80),
    Column("task", 8),
    Column("what"),
    Column("verdict", 14),
    Column("answer", 4, "right"),
    Column("mark", 1),
)
_MOST_HOOKS = 3
"""How many registrations are listed above the deliveries."""


class WebhooksPlace(RecordsPlace):
    """The receiver's state over its deliveries."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "next_view", "view", id="webhooks.view", tooltip="The selected record decoded, raw, as hex ..."),
        Binding("escape", "back", "back", id="webhooks.back", tooltip="Back to the list", show=False),
        Binding("s", "register", "register", id="webhooks.register", tooltip="Register a webhook for the task in Talk"),
        Binding("l", "list_push", "list", id="webhooks.list", tooltip="Ask which webhooks the task has"),
        Binding("D", "delete_push", "delete", id="webhooks.delete", tooltip="Delete the webhooks of the task"),
    ]
    CALLS: ClassVar[dict[str, str]] = {
        "register": "CreateTaskPushNotificationConfig",
        "list_push": "ListTaskPushNotificationConfigs",
        "delete_push": "DeleteTaskPushNotificationConfig",
    }

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("webhooks", glyphs)
        self._rows: DeliveryRows | None = None

    def compose(self) -> ComposeResult:
        """Make the head, the table and the detail."""
        yield Static(id="receiver")
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield Static(id="list-title", classes="pane-title")
                yield Feed(
                    COLUMNS, enter_hint="detail", empty="No delivery yet. Press p to turn push on, then send a message."
                )
            yield DetailPane(self.glyphs, id="delivery-detail")

    def attach(self, session: Session) -> None:
        """Show another session."""
        from inspector.session.lists import RecordList  # noqa: PLC0415 - loaded with the session, after first paint

        super().attach(session)
        deliveries = RecordList(lambda record: record.kind is Kind.DELIVERY)
        session.journal.follow(deliveries)
        self._rows = DeliveryRows(session.journal, deliveries, self.glyphs)
        self.query_one(Feed).show_rows(self._rows)
        self.show_record(None)

    def refresh_view(self) -> None:
        """Show the receiver as it is now, and new deliveries."""
        if self.session is None:
            return
        self.query_one(Feed).refresh_rows()
        count = len(self._rows) if self._rows else 0
        self.set_title(Content.assemble(("DELIVERIES", "bold"), (f"   {count:,}", "$text-soft")))
        self.query_one("#receiver", Static).update(self._receiver())

    def _receiver(self) -> Content:
        if self.session is None:
            return Content("")
        desk = self.session.push
        if not desk.receiver.running:
            return Content.assemble(
                ("RECEIVER", "bold"),
                ("   not listening. p turns push on: it starts on this machine alone.", "$text-soft"),
            )
        host, port = desk.receiver.address
        state = ("   push on: every message registers a webhook", "$wire-pushed")
        off = ("   push off: new messages register nothing", "$text-soft")
        lines = [
            Content.assemble(("RECEIVER", "bold"), state if desk.on else off),
            Content.assemble(
                ("bound       ", "$wire-quiet"),
                plain(f"{host}:{port}"),
                ("   advertised  ", "$wire-quiet"),
                plain(desk.receiver.base_url),
            ),
        ]
        return Content("\n").join([*lines, *map(_hook, desk.hooks[-_MOST_HOOKS:])])

    def focus_first(self) -> None:
        """Go to the deliveries."""
        self.screen.set_focus(self.query_one(Feed))

    def action_register(self) -> None:
        """Register a webhook for the task that is shown in Talk."""
        self.post_message(CallWanted(self.CALLS["register"]))

    def action_list_push(self) -> None:
        """Ask the agent which webhooks the task has."""
        self.post_message(CallWanted(self.CALLS["list_push"], self._task_id))

    def action_delete_push(self) -> None:
        """Delete the webhooks of the task that the agent has told of."""
        self.post_message(CallWanted(self.CALLS["delete_push"], self._task_id))

    @property
    def _task_id(self) -> str:
        """Return the task of the selected delivery."""
        record = self.selected_record()
        return record.task if record else ""

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected delivery."""
        if self._rows is not None and 0 <= event.index < len(self._rows):
            self.show_record(self._rows.record(event.index))

    def on_feed_opened(self) -> None:
        """Go to the detail."""
        self.open_detail()


def _hook(hook: Hook) -> Content:
    return Content.assemble(
        (f"hook {hook.registration.number:<7}", "$wire-quiet"),
        (f"{hook.accepted:,} accepted", "$state-good" if hook.accepted else "$text-soft"),
        (f"   {hook.refused:,} refused", "$state-bad" if hook.refused else "$text-soft"),
        ("   for task " if hook.task_id else "   not heard of yet", "$text-soft"),
        plain(hook.task_id[:SHORT_ID]),
    )
