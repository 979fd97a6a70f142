"""The Webhooks view: the receiver, the registrations, and every delivery with the results of its checks."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from inspector.capture.records import Kind, Record
from inspector.protocol.model import PushConfig, PushConfigList
from inspector.protocol.operations import Operation
from inspector.session.push.attempts import chains, was_stalled
from inspector.session.push.delivery_list import DeliveryList, is_delivery
from inspector.session.push.matching import reconcile
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.session import Session
from inspector.text.short_id import short_id
from inspector.text.units import counted
from inspector.tui import lazy_loading
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import copy, notify, notify_faults
from inspector.tui.render.annotations import Annotations
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import DeliveryRows
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.render.webhook_lines import diagnosed, reconciled
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import CHOICE
from inspector.tui.screens.menu import ask_and_copy, copy_entry
from inspector.tui.screens.text_dialog import TextDialog
from inspector.tui.task_calls import SELECT_TASK
from inspector.tui.views import webhook_forms
from inspector.tui.views.base import CallWanted
from inspector.tui.views.bookmark_view import BookmarkView
from inspector.tui.widgets.deliveries_pane import COLUMNS, DeliveriesPane
from inspector.tui.widgets.feed import Feed
from inspector.tui.widgets.receiver_panes import ReceiverPane, RegistrationsPane


class WebhooksView(BookmarkView):
    """Shows the state of the receiver, the registrations and the deliveries."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("webhook", "screen.push"),  # first: without it nothing is received
        bind("register", "register"),
        bind("diagnose", "diagnose", "", "Diagnose missing deliveries"),
        bind("override", "respond", "override", "Override the response to deliveries"),
        bind("compare", "compare", "", "Compare stream, push and responses", show=False),
        bind("send-again", "resend", "resend", "Send the delivery to another URL", show=False),
        bind("representation", "next_view", "view", "Show decoded, raw, hex, headers or diff", show=False),
        bind("fold", "fold", "", "Fold or unfold runs of chunks and of equal pushes", show=False),
        bind("forward", "forward", "", "Start or stop forwarding"),
        bind("list", "call('LIST_PUSH')", "list", "List the webhooks of the task"),
        bind("get-webhook", "call('GET_PUSH')", "get"),
        bind("delete-webhooks", "delete", "delete"),
        bind("first-attempt", "first", "", "Go to the first attempt"),
        bind("copy-as", "copy_as", "", "Copy the URL or the token of the webhook, or the delivery", show=False),
        bind("copy-webhook-url", "copy_webhook('url')", "", "Copy the webhook URL"),
        bind("copy-webhook-token", "copy_webhook('token')", "", "Copy the webhook token"),
        bind("tunnel", "tunnel", "", "Show how to set up a tunnel"),
        bind("back", "back", "", "Go back to the list", show=False),
    ]
    CALLS: ClassVar[dict[str, Operation]] = {"register": Operation.SET_PUSH, "delete": Operation.DELETE_PUSH}
    NEEDS_AGENT = frozenset({"respond", "diagnose", "resend", "forward", "tunnel", "copy_webhook"})

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(session, glyphs, id=id)
        self.lists = is_delivery
        self._lists = {folded: DeliveryList(folded=folded) for folded in (True, False)}
        for deliveries in self._lists.values():
            session.journal.subscribe(deliveries.offer, replay=True)
        self._folded = True
        self._annotations = Annotations(session)
        self._rows = self._rows_of()
        self._feed = Feed(COLUMNS, self._rows, enter_hint="open", id="deliveries")
        self._receiver = ReceiverPane(session, glyphs)
        self._registrations = RegistrationsPane(session, glyphs)
        self._pane = DeliveriesPane(self._feed, glyphs)
        self._reported = ""
        self.task_in_chat: Callable[[], str] = lambda: ""
        """Returns the id of the task in the Chat view."""

    def compose(self) -> ComposeResult:
        """Make the panes."""
        with Container(id="webhook-head"):
            yield self._receiver
            yield self._registrations
        with Container(id="webhook-body"):
            yield self._pane
            yield self.detail

    def _rows_of(self) -> DeliveryRows:
        return DeliveryRows(self.session.journal, self._deliveries, self.glyphs, self._annotations)

    @property
    def _deliveries(self) -> DeliveryList:
        return self._lists[self._folded]

    def refresh_view(self) -> None:
        """Show the receiver, and new deliveries."""
        self._feed.empty = self._empty
        self._feed.refresh_rows()
        if self._feed.following:
            self._show_row(self._feed.cursor)  # waiting for the message of the feed would draw the screen twice
        self._receiver.show()
        self._registrations.show(self._reported)
        self._pane.show(f"{len(self._lists[False]):,}", self.session.push.overrides.words)

    @property
    def _empty(self) -> str:
        push = self.session.push
        if self.session.recorded:
            return "The capture contains no deliveries."
        if not push.listening:
            return f"No deliveries yet. Press {key_of('webhook')} to start the receiver, then send a message."
        send = "Send a message in Chat." if push.on else f"Press {key_of('register')} to register a webhook for a task."
        return f"No deliveries yet. {send} If none arrive, press {key_of('diagnose')} to find out why."

    def show_seq(self, seq: int) -> None:
        """Select a delivery."""
        index = self._deliveries.index_of(seq)
        if index is not None:
            self._feed.cursor = index

    def focus_first(self) -> None:
        """Focus the deliveries; they are followed again if they were before the detail was opened."""
        self._feed.resume()
        self.screen.set_focus(self._feed)

    def open_detail(self) -> None:
        """Focus the detail pane, which stays on its delivery."""
        self._feed.hold()
        super().open_detail()

    def on_descendant_focus(self) -> None:
        """Keep a detail that was clicked on its delivery."""
        if self.detail.has_focus_within:
            self._feed.hold()

    def action_back(self) -> None:
        """Go back to the list."""
        self.remove_class("-second")
        self.focus_first()

    def action_fold(self) -> None:
        """Fold runs of chunks and of equal pushes into one row, or unfold them; the cursor stays on its delivery."""
        record, following = self.selected_record(), self._feed.following
        self._folded = not self._folded
        self._rows = self._rows_of()
        self._feed.show_rows(self._rows)
        if record is not None and not following:
            self.show_seq(record.seq)

    @property
    def call_task(self) -> str:
        """The id of the task of the selected registration or delivery, else of the last registration, or in Chat."""
        if self._registrations.feed.has_focus and self._registrations.selected_task:
            return self._registrations.selected_task
        record = self.selected_record()
        if record is not None and record.task:
            return record.task
        registered = (each.task_id for each in reversed(self.session.push.registrations) if each.task_id)
        return next(registered, "") or self.task_in_chat()

    # Registrations

    def show_configs(self, answer: PushConfig | PushConfigList, task_id: str) -> None:
        """Show what the agent returned about the webhooks of a task: their rows are among the registrations."""
        count = len(answer.configs) if isinstance(answer, PushConfigList) else 1
        webhooks = counted(count, "webhook")
        self._reported = f"the agent returned {webhooks} of task {short_id(task_id)}"
        self.refresh_view()

    def action_delete(self) -> None:
        """Ask whether to delete the webhooks of the task, and delete them."""
        task_id = self.call_task
        if task_id:
            question = f"Delete all webhooks of task {short_id(task_id)} at the agent, also those of other clients?"
            self.confirm_call("Delete webhooks", question, Operation.DELETE_PUSH, task_id)
        else:
            notify(self, "Select a delivery or a registration of the task.")

    def action_register(self) -> None:
        """Ask for the authentication of deliveries, and register a webhook for the task."""
        task_id = self.call_task
        if not task_id:
            notify(self, f"No task is selected. {SELECT_TASK}")
            return
        form = webhook_forms.registration(task_id, self.session.push.auth)
        ask(self, form, lambda values: self._register(task_id, values))

    @work(group="calls")
    async def _register(self, task_id: str, values: Mapping[str, str]) -> None:
        with notify_faults(self):
            self.session.push.auth = await webhook_forms.auth_of(self.session, values)
            self.post_message(CallWanted(Operation.SET_PUSH, task_id))

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
            number = int(values.get("registration") or 0)  # 0: for all
            registration = next(
                (webhook.registration for webhook in webhooks if webhook.registration.number == number), None
            )
            override = webhook_forms.override_of(values, registration)
            overrides.add(override)
            self.session.note(f"accepted deliveries get the response {override.words}")
        self.refresh_view()

    # Dialogs

    def action_diagnose(self) -> None:
        """Diagnose why deliveries of the task are missing."""
        self._show_text("Missing deliveries", self._diagnose, self._why_no_task())

    def _why_no_task(self) -> str:
        """Return why the agent has no task to send notifications about."""
        connection, push = self.session.connection, self.session.push
        if connection is not None and not connection.card.capabilities.push_notifications:
            card = "The card does not declare push notifications: the agent may not send any. "
        else:
            card = ""
        if push.registrations:
            why = (
                "No response to a message with a webhook contained a task. Agents send notifications about tasks only."
            )
            return f"{card}{why}"
        send = "Send" if push.on else f"Press {key_of('webhook')}, then send"
        return f"{card}No webhook has been registered for a task. {send} a message."

    def _show_text(self, title: str, write: Callable[[str, int], Awaitable[list[Paragraph]]], no_task: str) -> None:
        """Show what `write` returns for the task and the width in cells, or the notification `no_task` without one."""
        task_id = self.call_task
        if task_id:
            dialog = TextDialog(f"{title} of task {short_id(task_id)}", lambda: write(task_id, dialog.width))
            self.app.push_screen(dialog)
        else:
            notify(self, no_task)

    async def _diagnose(self, task_id: str, _: int) -> list[Paragraph]:
        return diagnosed(await lazy_loading.diagnose(self.session, task_id), self.glyphs)

    def action_compare(self) -> None:
        """Compare the events of the task by stream, by push and in responses."""
        self._show_text("Stream, push and responses", self._compare, "Select a delivery that belongs to a task.")

    async def _compare(self, task_id: str, width: int) -> list[Paragraph]:
        capture = self.session.journal.capture
        found = chains(capture.select(kinds=(Kind.DELIVERY,), task=task_id))
        delayed = any(attempt.delay for chain in found for attempt in chain.attempts)
        frames = capture.select(kinds=(Kind.FRAME,), task=task_id) if delayed else []
        retries = [(chain, was_stalled(chain, frames)) for chain in found]
        return reconciled(await reconcile(capture, task_id), retries, time.time(), width, self.glyphs)

    def action_tunnel(self) -> None:
        """Show how agents on other machines can reach the receiver."""
        if self.session.push.listening:
            receiver = self.session.push.receiver
            port = receiver.address[1]
            self.app.push_screen(TextDialog("Tunnel", partial(webhook_forms.tunnel_lines, receiver.base_url, port)))
        else:
            notify(self, f"The receiver is not listening. Press {key_of('webhook')} to start it.")

    def action_first(self) -> None:
        """Go to the first attempt of the selected delivery."""
        record = self.selected_record()
        first = record.meta["first"] if record is not None else 0
        if first:
            self.show_seq(first)
        else:
            notify(self, "This delivery is not a retry.")

    @property
    def _webhook(self) -> WebhookRegistration | None:
        """The webhook of the selected registration or delivery, by default the last webhook."""
        webhooks, number = self.session.push.registrations, self._registration_number
        chosen = self._registrations.selected if self._registrations.feed.has_focus else None
        selected = [webhook for webhook in webhooks if webhook.registration.number == number]
        return chosen or next(iter([*selected, *reversed(webhooks)]), None)

    def action_copy_webhook(self, member: str) -> None:
        """Copy the URL or the token of the webhook of the selected delivery, by default of the last webhook."""
        webhook = self._webhook
        if webhook is None:
            notify(self, f"There is no webhook yet. Press {key_of('register')} to register one for a task.")
        else:
            copy(self, getattr(webhook.registration, member))

    def action_copy_as(self) -> None:
        """Ask what to copy: the URL or the token of the webhook, or the selected delivery."""
        webhook, record = self._webhook, self.selected_record()
        entries = [
            copy_entry("URL of the webhook", (lambda: webhook.registration.url) if webhook else None),
            copy_entry("Token of the webhook", (lambda: webhook.registration.token) if webhook else None),
            copy_entry("Body of the delivery", super().selected_text if record else None),
            copy_entry("Head of the delivery", (lambda: head_text(record)) if record else None),
        ]
        ask_and_copy(self, "Copy as", entries)

    def selected_text(self) -> str:
        """Return the URL of the selected registration, or the payload of the selected delivery."""
        webhook = self._webhook if self._registrations.feed.has_focus else None
        return webhook.registration.url if webhook is not None else super().selected_text()

    # Forwarding

    def action_resend(self) -> None:
        """Ask for a URL, and send the selected delivery there again."""
        record = self.selected_record()
        if record is None:
            notify(self, "Select a delivery.")
            return
        seq = record.seq
        ask(self, webhook_forms.url(f"Send delivery #{seq} again"), lambda values: self._resend(seq, values["url"]))

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
        ask(self, webhook_forms.url("Forward deliveries"), self._forward)

    def _forward(self, values: Mapping[str, str]) -> None:
        self.session.push.relay.url = values["url"]
        self.session.note(f"forwarding deliveries to {values['url']}")

    def selected_record(self) -> Record | None:
        """Return the delivery under the cursor: a key can be handled before the message about the last move."""
        if self._feed.has_focus:
            self._show_row(self._feed.cursor)
        return super().selected_record()

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected delivery."""
        if event.feed is self._feed:
            self._show_row(event.index)

    def _show_row(self, index: int) -> None:
        if 0 <= index < len(self._rows):
            self.detail.show(self._rows.record(index))

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Focus the detail, or go to the last delivery of the selected registration."""
        if event.feed is self._feed:
            self.open_detail()
            return
        webhook = self._registrations.selected
        number = webhook.registration.number if webhook is not None else 0
        rows = range(len(self._rows) - 1, -1, -1)
        last = next((row for row in rows if self._rows.record(row).meta["registration"] == number != 0), None)
        if last is None:
            notify(self, "This webhook has received no delivery.")
        else:
            self.focus_first()
            self._feed.cursor = last


def head_text(record: Record) -> str:
    """Return the request line and the headers of a delivery."""
    lines = [f"{record.meta['method']} {record.meta['target']}"]
    return "\n".join([*lines, *(f"{name}: {value}" for name, value in record.meta["headers"])])
