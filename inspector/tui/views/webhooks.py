"""Webhooks: what the receiver listens on, what was registered, and every delivery with its verdict."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Kind, Record
from inspector.protocol.errors import FaultError
from inspector.session.push.attempts import chains, held_up
from inspector.session.push.matching import reconcile
from inspector.session.record_list import RecordList
from inspector.session.session import Session
from inspector.tui import lazy_loading
from inspector.tui.notify import copy, notify, notify_fault
from inspector.tui.render.annotations import Annotations
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import DeliveryRows
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.render.webhook_lines import diagnosed, hook_line, place_lines, reconciled
from inspector.tui.screens.form import CHOICE, FormScreen
from inspector.tui.screens.text_dialog import TextDialog
from inspector.tui.views import webhook_forms
from inspector.tui.views.base import CallWanted
from inspector.tui.views.records import RecordsView
from inspector.tui.widgets.feed import Column, Feed
from inspector.wire.reach import reachable
from inspector.wire.receiver.listen_address import tunnels

COLUMNS = (
    Column("time", 8),
    Column("latency", 6, "right", min_total_width=56),
    Column("attempt", 2, "right"),
    Column("task", 8, min_total_width=64),
    Column("what"),
    Column("verdict", 5),
    Column("answer", 5, "right"),
    Column("mark", 1),
)
_MARKS = "verdict: token auth signature order shape"
_MOST_HOOKS = 3
"""How many registrations are listed above the deliveries."""


class WebhooksView(RecordsView):
    """The receiver's state over its deliveries."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "register", "register", id="webhooks.register", tooltip="Register a webhook for the task"),
        Binding("f", "fail", "answer", id="webhooks.answer", tooltip="Dial in what deliveries are answered with"),
        Binding("w", "why", "why not", id="webhooks.doctor", tooltip="Why does no push of this task come?"),
        Binding("c", "compare", "compare", id="webhooks.compare", tooltip="Stream, pushes and answers side by side"),
        Binding("t", "resend", "resend", id="webhooks.resend", tooltip="Send the selected delivery to another url"),
        Binding("v", "next_view", "view", id="webhooks.view", tooltip="The selected record decoded, raw, as hex ..."),
        Binding("F", "forward", "forward", id="webhooks.forward", tooltip="Forward what comes, or stop", show=False),
        Binding("l", "list_push", "list", id="webhooks.list", tooltip="Ask which webhooks the task has", show=False),
        Binding("a", "get_push", "ask", id="webhooks.get", tooltip="Ask for the webhook of the task", show=False),
        Binding("D", "delete_push", "delete", id="webhooks.delete", tooltip="Delete the task's webhooks", show=False),
        Binding("o", "first", "first attempt", id="webhooks.first", tooltip="Go to the first attempt", show=False),
        Binding("U", "copy_hook('url')", "copy url", id="webhooks.url", tooltip="Copy a webhook's url", show=False),
        Binding("K", "copy_hook('token')", "copy token", id="webhooks.token", tooltip="Copy its token", show=False),
        Binding("u", "tunnel", "tunnel", id="webhooks.tunnel", tooltip="How agents elsewhere reach us", show=False),
        Binding("escape", "back", "back", id="webhooks.back", tooltip="Back to the list", show=False),
    ]
    CALLS: ClassVar[dict[str, str]] = {
        "register": "CreateTaskPushNotificationConfig",
        "get_push": "GetTaskPushNotificationConfig",
        "list_push": "ListTaskPushNotificationConfigs",
        "delete_push": "DeleteTaskPushNotificationConfig",
    }

    LIVE = frozenset({"fail", "why", "resend", "forward", "tunnel", "copy_hook"})

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(session, glyphs, id=id)
        self.lists = _is_delivery
        self._deliveries = RecordList(_is_delivery)
        session.journal.subscribe(self._deliveries.offer, replay=True)
        self._rows = DeliveryRows(session.journal, self._deliveries, glyphs, Annotations(session))
        self._receiver_text = Static(id="receiver")
        self._feed = Feed(
            COLUMNS,
            self._rows,
            enter_hint="detail",
            empty="No delivery yet. Press p to turn push on, then send a message; w says why none comes.",
        )
        self._head_lines = 0

    def compose(self) -> ComposeResult:
        """Make the head, the table and the detail."""
        yield self._receiver_text
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield self.title
                yield self._feed
            yield self.detail

    def refresh_view(self) -> None:
        """Show the receiver as it is now, and new deliveries."""
        self._feed.refresh_rows()
        if self._feed.following:
            self._show_row(self._feed.cursor)  # with the rows: what the feed posts would have it drawn by itself
        dialled = self.session.push.overrides.words
        self.set_title(
            Content.assemble(
                ("DELIVERIES", "bold"),
                (f"   {len(self._rows):,}", "$text-soft"),
                (f"   answered {dialled}" if dialled else "", "$state-warning"),
                (f"   {_MARKS}", "$text-soft"),
            )
        )
        head, lines = self._receiver(), self._head_lines
        self._head_lines = head.plain.count("\n") + 1
        self._receiver_text.update(head, layout=self._head_lines != lines)

    def _receiver(self) -> Content:
        desk, connection = self.session.push, self.session.connection
        if not desk.listening:
            return Content.assemble(
                ("RECEIVER", "bold"),
                (f"   not listening. p turns push on: it starts on {desk.place}.", "$text-soft"),
            )
        host, port = desk.receiver.address
        state = ("   push on: every message registers a webhook", "$wire-pushed")
        off = ("   push off: new messages register nothing", "$text-soft")
        relay = f"   forwarding to {desk.relay.url}" if desk.relay.url else ""
        agent = connection.choice.interface.url if connection and connection.choice else ""
        came = any(hook.came for hook in desk.hooks)
        more = len(desk.hooks) - _MOST_HOOKS
        reach = reachable(desk.receiver.base_url, agent, came=came)
        return Content("\n").join(
            [
                Content.assemble(("RECEIVER", "bold"), state if desk.on else off, (plain(relay).plain, "$wire-sent")),
                *place_lines(f"{host}:{port}", desk.receiver.base_url, reach),
                *map(hook_line, desk.hooks[-_MOST_HOOKS:]),
                *([Content.styled(f"{'':<10}{more:,} more before", "$text-soft")] if more > 0 else []),
            ]
        )

    def show_seq(self, seq: int) -> None:
        """Select a delivery."""
        index = self._deliveries.index_of(seq)
        if index is not None:
            self._feed.cursor = index

    def focus_first(self) -> None:
        """Go to the deliveries."""
        self.screen.set_focus(self._feed)

    @property
    def _task_id(self) -> str:
        """Return the task of the selected delivery, or that of the last webhook which has one."""
        record = self.selected_record()
        if record is not None and record.task:
            return record.task
        return next((hook.task_id for hook in reversed(self.session.push.hooks) if hook.task_id), "")

    # Registrations

    def action_register(self) -> None:
        """Choose what deliveries have to prove, and register a webhook for the task."""
        self.app.push_screen(webhook_forms.registration(self._task_id, self.session.push.demand), self._registered)

    def _registered(self, values: Mapping[str, str] | None) -> None:
        if values is not None:
            self._register(values)

    @work(group="turns")
    async def _register(self, values: Mapping[str, str]) -> None:
        try:
            self.session.push.demand = await webhook_forms.demand_of(self.session, values)
        except FaultError as error:
            notify_fault(self, error.fault)
            return
        self.post_message(CallWanted(self.CALLS["register"], self._task_id))

    def action_get_push(self) -> None:
        """Ask the agent for one webhook of the task."""
        self.post_message(CallWanted(self.CALLS["get_push"], self._task_id))

    def action_list_push(self) -> None:
        """Ask the agent which webhooks the task has."""
        self.post_message(CallWanted(self.CALLS["list_push"], self._task_id))

    def action_delete_push(self) -> None:
        """Delete the webhooks of the task that the agent has told of."""
        self.post_message(CallWanted(self.CALLS["delete_push"], self._task_id))

    # Answers

    def action_fail(self) -> None:
        """Choose what good deliveries are answered with from now on."""
        hooks = self.session.push.hooks
        numbers = [hook.registration.number for hook in hooks]
        self.app.push_screen(webhook_forms.answers(self._hook_number, numbers), self._dial)

    @property
    def _hook_number(self) -> int:
        record = self.selected_record()
        return int(record.meta["registration"]) if record else 0

    def _dial(self, values: Mapping[str, str] | None) -> None:
        if values is None:
            return
        dials, hooks = self.session.push.overrides, self.session.push.hooks
        if values[CHOICE] == webhook_forms.WELL:
            dials.clear()
            self.session.note("good deliveries are accepted again")
        else:
            number = values.get("hook", "")
            wanted = next((hook.registration for hook in hooks if str(hook.registration.number) == number), None)
            dial = webhook_forms.override_of(values, wanted)
            dials.add(dial)
            self.session.note(f"good deliveries are answered {dial.words}")
        self.refresh_view()

    # Papers

    def action_why(self) -> None:
        """Say why no push of the task comes."""
        task_id = self._task_id
        if task_id:
            self.app.push_screen(TextDialog(f"PUSH DOCTOR   task {task_id[:SHORT_ID]}", lambda: self._why(task_id)))
        else:
            notify(self, "No webhook was registered for any task. Press p, then send a message.")

    async def _why(self, task_id: str) -> list[Paragraph]:
        return diagnosed(await lazy_loading.diagnose(self.session, task_id), self.glyphs)

    def action_compare(self) -> None:
        """Lay stream, pushes and answers of the task side by side."""
        task_id = self._task_id
        if task_id:
            title = f"STREAM, PUSHES, ANSWERS   task {task_id[:SHORT_ID]}"
            self.app.push_screen(TextDialog(title, lambda: self._compare(task_id)))
        else:
            notify(self, "Select a delivery that is about a task.")

    async def _compare(self, task_id: str) -> list[Paragraph]:
        capture = self.session.journal.capture
        found = chains(capture.select(kinds=(Kind.DELIVERY,), task=task_id))
        late = any(one.delay for chain in found for one in chain.tries)
        heard = capture.select(kinds=(Kind.FRAME,), task=task_id) if late else []
        retries = [(chain, held_up(chain, heard)) for chain in found]
        return reconciled(await reconcile(self.session.journal.capture, task_id), retries, time.time(), self.glyphs)

    def action_tunnel(self) -> None:
        """Show how agents elsewhere can reach the receiver."""
        if self.session.push.listening:
            base_url, port = self.session.push.receiver.base_url, self.session.push.receiver.address[1]
            lines = webhook_forms.tunnel_lines(tunnels(base_url), port)
            self.app.push_screen(TextDialog("TUNNEL", lambda: webhook_forms.written(lines)))
        else:
            notify(self, "The receiver does not listen yet. Press p.")

    def action_first(self) -> None:
        """Go to the first attempt at what the selected delivery brings."""
        record = self.selected_record()
        first = record.meta["first"] if record is not None else 0
        if first:
            self.show_seq(first)
        else:
            notify(self, "This delivery is no retry.")

    def action_copy_hook(self, member: str) -> None:
        """Copy the url or the token of the webhook that the selected delivery came to, else of the last one."""
        hooks = self.session.push.hooks
        mine = [hook for hook in hooks if hook.registration.number == self._hook_number]
        hook = next(iter([*mine, *reversed(hooks)]), None)
        if hook is None:
            notify(self, "There is no webhook yet. Press p, or s.")
        else:
            copy(self, getattr(hook.registration, member))

    # Handing on

    def action_resend(self) -> None:
        """Send the selected delivery again, to a url that the user gives."""
        record = self.selected_record()
        if record is None:
            notify(self, "Select a delivery.")
            return
        form = FormScreen(f"SEND #{record.seq} AGAIN", (webhook_forms.URL,), check=webhook_forms.wrong_url)
        seq = record.seq

        def send(values: Mapping[str, str] | None) -> None:
            if values is not None:
                self._resend(seq, values["url"])

        self.app.push_screen(form, send)

    @work(group="turns")
    async def _resend(self, seq: int, url: str) -> None:
        try:
            done = await self.session.push.relay.resend(seq, url)
        except FaultError as error:
            notify_fault(self, error.fault)
            return
        notify(self, f"#{seq} sent again: {done.words}")

    def action_forward(self) -> None:
        """Forward every delivery to a url that the user gives, or stop doing so."""
        relay = self.session.push.relay
        if relay.url:
            relay.url = ""
            self.session.note("deliveries are not forwarded any more")
            return
        self.app.push_screen(
            FormScreen("FORWARD EVERY DELIVERY", (webhook_forms.URL,), check=webhook_forms.wrong_url), self._forward
        )

    def _forward(self, values: Mapping[str, str] | None) -> None:
        if values is None:
            return
        self.session.push.relay.url = values["url"]
        self.session.note(f"deliveries are forwarded to {values['url']}")

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected delivery."""
        self._show_row(event.index)

    def _show_row(self, index: int) -> None:
        if 0 <= index < len(self._rows):
            self.detail.show(self._rows.record(index))

    def on_feed_opened(self) -> None:
        """Go to the detail."""
        self.open_detail()


def _is_delivery(record: Record) -> bool:
    return record.kind is Kind.DELIVERY
