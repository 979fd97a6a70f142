"""The Webhooks view: the receiver, the registrations, and every delivery with the results of its checks."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Kind, Record
from inspector.protocol.operations import Operation
from inspector.session.push.attempts import chains, was_stalled
from inspector.session.push.matching import reconcile
from inspector.session.record_list import RecordList
from inspector.session.session import Session
from inspector.tui import lazy_loading
from inspector.tui.keys import bind
from inspector.tui.notify import copy, notify, notify_faults
from inspector.tui.render.annotations import Annotations
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import DeliveryRows
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.render.webhook_lines import diagnosed, receiver_lines, reconciled, registration_line
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import CHOICE
from inspector.tui.screens.text_dialog import TextDialog
from inspector.tui.views import webhook_forms
from inspector.tui.views.records import RecordsView
from inspector.tui.widgets.feed import Column, Feed
from inspector.wire.reach import reachable

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
_CHECKS = "checks: token auth signature order schema"
_MAX_HOOKS = 3
"""The maximum number of registrations that are listed above the deliveries."""


class WebhooksView(RecordsView):
    """Shows the state of the receiver, the registrations and the deliveries."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("register", "register"),
        bind("override", "respond", "respond", "Override the response to deliveries"),
        bind("diagnose", "diagnose", "", "Diagnose missing deliveries"),
        bind("compare", "compare", "", "Compare stream, push and responses"),
        bind("send-again", "resend", "resend", "Send the delivery to another URL"),
        bind("representation", "next_view", "view", "Show decoded, raw, hex, head or diff"),
        bind("forward", "forward", "", "Start or stop forwarding"),
        bind("list", "call('LIST_PUSH')", "", "List the webhooks of the task", show=False),
        bind("get-webhook", "call('GET_PUSH')", "get"),
        bind("delete-webhooks", "call('DELETE_PUSH')", "delete"),
        bind("first-attempt", "first", "", "Go to the first attempt"),
        bind("copy-webhook-url", "copy_webhook('url')", "", "Copy the webhook URL"),
        bind("copy-webhook-token", "copy_webhook('token')", "", "Copy the webhook token"),
        bind("tunnel", "tunnel", "", "Show how to set up a tunnel"),
        bind("back", "back", "", "Go back to the list", show=False),
    ]
    CALLS: ClassVar[dict[str, Operation]] = {"register": Operation.SET_PUSH}
    NEEDS_AGENT = frozenset({"respond", "diagnose", "resend", "forward", "tunnel", "copy_webhook"})

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
            enter_hint="open",
            empty="No deliveries yet. Press p to turn push on, then send a message. w diagnoses missing deliveries.",
        )
        self._head_lines = 0

    def compose(self) -> ComposeResult:
        """Make the state of the receiver, the table and the detail."""
        yield self._receiver_text
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield self.title
                yield self._feed
            yield self.detail

    def refresh_view(self) -> None:
        """Show the receiver, and new deliveries."""
        self._feed.refresh_rows()
        if self._feed.following:
            self._show_row(self._feed.cursor)  # waiting for the message of the feed would draw the screen twice
        overrides = self.session.push.overrides.words
        self.set_title(
            Content.assemble(
                ("DELIVERIES", "bold"),
                (f"   {len(self._rows):,}", "$text-soft"),
                (f"   responses overridden: {overrides}" if overrides else "", "$state-warning"),
                (f"   {_CHECKS}", "$text-soft"),
            )
        )
        head, lines = self._receiver(), self._head_lines
        self._head_lines = head.plain.count("\n") + 1
        self._receiver_text.update(head, layout=self._head_lines != lines)

    def _receiver(self) -> Content:
        push, connection = self.session.push, self.session.connection
        if not push.listening:
            return Content.assemble(
                ("RECEIVER", "bold"),
                (f"   not listening. Press p to turn push on ({push.reachable_from}).", "$text-soft"),
            )
        host, port = push.receiver.address
        state = ("   push on: every message registers a webhook", "$wire-pushed")
        off = ("   push off: new messages do not register a webhook", "$text-soft")
        relay = f"   forwarding to {push.relay.url}" if push.relay.url else ""
        agent = connection.choice.interface.url if connection and connection.choice else ""
        delivered = any(webhook.received for webhook in push.registrations)
        more = len(push.registrations) - _MAX_HOOKS
        reach = reachable(push.receiver.base_url, agent, came=delivered)
        return Content("\n").join(
            [
                Content.assemble(("RECEIVER", "bold"), state if push.on else off, (plain(relay).plain, "$wire-sent")),
                *receiver_lines(f"{host}:{port}", push.receiver.base_url, reach),
                *map(registration_line, push.registrations[-_MAX_HOOKS:]),
                *([Content.styled(f"{'':<10}{more:,} earlier", "$text-soft")] if more > 0 else []),
            ]
        )

    def show_seq(self, seq: int) -> None:
        """Select a delivery."""
        index = self._deliveries.index_of(seq)
        if index is not None:
            self._feed.cursor = index

    def focus_first(self) -> None:
        """Focus the deliveries."""
        self.screen.set_focus(self._feed)

    @property
    def call_task(self) -> str:
        """The id of the task of the selected delivery, by default of the last registration with a task."""
        record = self.selected_record()
        if record is not None and record.task:
            return record.task
        return next((webhook.task_id for webhook in reversed(self.session.push.registrations) if webhook.task_id), "")

    # Registrations

    def action_register(self) -> None:
        """Ask for the authentication of deliveries, and register a webhook for the task."""
        ask(self, webhook_forms.registration(self.call_task, self.session.push.auth), self._register)

    @work(group="calls")
    async def _register(self, values: Mapping[str, str]) -> None:
        with notify_faults(self):
            self.session.push.auth = await webhook_forms.auth_of(self.session, values)
            self.action_call("SET_PUSH")

    # Responses

    def action_respond(self) -> None:
        """Choose the response to accepted deliveries."""
        numbers = [webhook.registration.number for webhook in self.session.push.registrations]
        ask(self, webhook_forms.response(self._registration_number, numbers), self._override)

    @property
    def _registration_number(self) -> int:
        record = self.selected_record()
        return int(record.meta["registration"]) if record else 0

    def _override(self, values: Mapping[str, str]) -> None:
        overrides, webhooks = self.session.push.overrides, self.session.push.registrations
        if values[CHOICE] == webhook_forms.ACCEPT:
            overrides.clear()
            self.session.note("accepted deliveries get the default response again")
        else:
            number = values.get("registration", "")
            registration = next(
                (webhook.registration for webhook in webhooks if str(webhook.registration.number) == number), None
            )
            override = webhook_forms.override_of(values, registration)
            overrides.add(override)
            self.session.note(f"accepted deliveries get the response {override.words}")
        self.refresh_view()

    # Dialogs

    def action_diagnose(self) -> None:
        """Diagnose why deliveries of the task are missing."""
        no_task = "No webhook has been registered for a task. Press p, then send a message."
        self._show_text("MISSING DELIVERIES", self._diagnose, no_task)

    def _show_text(self, title: str, write: Callable[[str], Awaitable[list[Paragraph]]], no_task: str) -> None:
        """Show what `write` returns for the task, or the notification `no_task` if there is none."""
        task_id = self.call_task
        if task_id:
            self.app.push_screen(TextDialog(f"{title}   task {task_id[:SHORT_ID]}", lambda: write(task_id)))
        else:
            notify(self, no_task)

    async def _diagnose(self, task_id: str) -> list[Paragraph]:
        return diagnosed(await lazy_loading.diagnose(self.session, task_id), self.glyphs)

    def action_compare(self) -> None:
        """Compare the events of the task by stream, by push and in responses."""
        self._show_text("STREAM, PUSH AND RESPONSES", self._compare, "Select a delivery that belongs to a task.")

    async def _compare(self, task_id: str) -> list[Paragraph]:
        capture = self.session.journal.capture
        found = chains(capture.select(kinds=(Kind.DELIVERY,), task=task_id))
        delayed = any(attempt.delay for chain in found for attempt in chain.attempts)
        frames = capture.select(kinds=(Kind.FRAME,), task=task_id) if delayed else []
        retries = [(chain, was_stalled(chain, frames)) for chain in found]
        return reconciled(await reconcile(capture, task_id), retries, time.time(), self.glyphs)

    def action_tunnel(self) -> None:
        """Show how agents on other machines can reach the receiver."""
        if self.session.push.listening:
            receiver = self.session.push.receiver
            port = receiver.address[1]
            self.app.push_screen(TextDialog("TUNNEL", partial(webhook_forms.tunnel_lines, receiver.base_url, port)))
        else:
            notify(self, "The receiver is not listening. Press p to start it.")

    def action_first(self) -> None:
        """Go to the first attempt of the selected delivery."""
        record = self.selected_record()
        first = record.meta["first"] if record is not None else 0
        if first:
            self.show_seq(first)
        else:
            notify(self, "This delivery is not a retry.")

    def action_copy_webhook(self, member: str) -> None:
        """Copy the URL or the token of the webhook of the selected delivery, by default of the last webhook."""
        webhooks = self.session.push.registrations
        selected = [webhook for webhook in webhooks if webhook.registration.number == self._registration_number]
        webhook = next(iter([*selected, *reversed(webhooks)]), None)
        if webhook is None:
            notify(self, "There is no webhook yet. Press p or s to register a webhook.")
        else:
            copy(self, getattr(webhook.registration, member))

    # Forwarding

    def action_resend(self) -> None:
        """Ask for a URL, and send the selected delivery there again."""
        record = self.selected_record()
        if record is None:
            notify(self, "Select a delivery.")
            return
        seq = record.seq
        ask(self, webhook_forms.url(f"RESEND DELIVERY #{seq}"), lambda values: self._resend(seq, values["url"]))

    @work(group="calls")
    async def _resend(self, seq: int, url: str) -> None:
        with notify_faults(self):
            done = await self.session.push.relay.resend(seq, url)
            notify(self, f"#{seq} sent again: {done.words}")

    def action_forward(self) -> None:
        """Ask for a URL, and forward every delivery there; if forwarding is on, stop it."""
        relay = self.session.push.relay
        if relay.url:
            relay.url = ""
            self.session.note("forwarding stopped")
            return
        ask(self, webhook_forms.url("FORWARD DELIVERIES"), self._forward)

    def _forward(self, values: Mapping[str, str]) -> None:
        self.session.push.relay.url = values["url"]
        self.session.note(f"forwarding deliveries to {values['url']}")

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected delivery."""
        self._show_row(event.index)

    def _show_row(self, index: int) -> None:
        if 0 <= index < len(self._rows):
            self.detail.show(self._rows.record(index))

    def on_feed_opened(self) -> None:
        """Focus the detail."""
        self.open_detail()


def _is_delivery(record: Record) -> bool:
    return record.kind is Kind.DELIVERY
