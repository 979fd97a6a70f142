"""Webhooks: what the receiver listens on, what was registered, and every delivery with its verdict."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Kind, Record
from inspector.tui.render.annotations import Asides
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.paragraphs import Paragraph
from inspector.tui.render.row_sources import DeliveryRows
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.webhook_lines import diagnosed, hook_line, place_lines, reconciled
from inspector.tui.screens.form import CHOICE, FormScreen
from inspector.tui.screens.text_dialog import PaperScreen
from inspector.tui.views import webhook_forms
from inspector.tui.views.base import CallWanted
from inspector.tui.views.records import RecordsPlace
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.feed import Column, Feed

if TYPE_CHECKING:
    from inspector.session.record_list import RecordList
    from inspector.session.session import Session

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


class WebhooksPlace(RecordsPlace):
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

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("webhooks", glyphs)
        self._rows: DeliveryRows | None = None
        self._deliveries: RecordList | None = None
        self._head_lines = 0

    def compose(self) -> ComposeResult:
        """Make the head, the table and the detail."""
        yield Static(id="receiver")
        with Horizontal(classes="split"):
            with Vertical(classes="left"):
                yield Static(id="list-title", classes="pane-title")
                yield Feed(
                    COLUMNS,
                    enter_hint="detail",
                    empty="No delivery yet. Press p to turn push on, then send a message; w says why none comes.",
                )
            yield DetailPane(self.glyphs, id="delivery-detail")

    def attach(self, session: Session) -> None:
        """Show another session."""
        from inspector.session.record_list import RecordList  # noqa: PLC0415 - loaded with the session, after first paint

        super().attach(session)
        self._deliveries = RecordList(lambda record: record.kind is Kind.DELIVERY)
        session.journal.subscribe(self._deliveries.offer, replay=True)
        self._rows = DeliveryRows(session.journal, self._deliveries, self.glyphs, Asides(session))
        self.query_one(Feed).show_rows(self._rows)
        self.show_record(None)

    def refresh_view(self) -> None:
        """Show the receiver as it is now, and new deliveries."""
        if self.session is None:
            return
        feed = self.query_one(Feed)
        feed.refresh_rows()
        if feed.following:
            self._show_row(feed.cursor)  # with the rows: what the feed posts would have it drawn by itself
        count = len(self._rows) if self._rows else 0
        dialled = self.session.push.overrides.words
        self.set_title(
            Content.assemble(
                ("DELIVERIES", "bold"),
                (f"   {count:,}", "$text-soft"),
                (f"   answered {dialled}" if dialled else "", "$state-warning"),
                (f"   {_MARKS}", "$text-soft"),
            )
        )
        head, lines = self._receiver(), self._head_lines
        self._head_lines = head.plain.count("\n") + 1
        self.query_one("#receiver", Static).update(head, layout=self._head_lines != lines)

    def _receiver(self) -> Content:
        from inspector.session.push.reachability import reachable  # noqa: PLC0415 - loaded with the session, after first paint

        if self.session is None:
            return Content("")
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

    def lists(self, record: Record) -> bool:
        """Tell whether a record is a delivery."""
        return record.kind is Kind.DELIVERY

    def show_seq(self, seq: int) -> None:
        """Select a delivery."""
        index = self._deliveries.index_of(seq) if self._deliveries else None
        if index is not None:
            self.query_one(Feed).cursor = index

    def focus_first(self) -> None:
        """Go to the deliveries."""
        self.screen.set_focus(self.query_one(Feed))

    @property
    def _task_id(self) -> str:
        """Return the task of the selected delivery, or that of the last webhook which has one."""
        record = self.selected_record()
        if record is not None and record.task:
            return record.task
        hooks = reversed(self.session.push.hooks) if self.session else ()
        return next((hook.task_id for hook in hooks if hook.task_id), "")

    # Registrations

    def action_register(self) -> None:
        """Choose what deliveries have to prove, and register a webhook for the task."""
        if self.session is None:
            return
        self.app.push_screen(webhook_forms.registration(self._task_id, self.session.push.demand), self._registered)

    def _registered(self, values: Mapping[str, str] | None) -> None:
        if values is not None:
            self._register(values)

    @work(group="turns")
    async def _register(self, values: Mapping[str, str]) -> None:
        from inspector.protocol.errors import FaultError  # noqa: PLC0415 - loaded with the session, after first paint

        if self.session is None:
            return
        try:
            self.session.push.demand = await webhook_forms.demand_of(self.session, values)
        except FaultError as error:
            self.app.tell(error.fault)  # type: ignore[attr-defined]
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
        hooks = self.session.push.hooks if self.session else ()
        numbers = [hook.registration.number for hook in hooks]
        self.app.push_screen(webhook_forms.answers(self._hook_number, numbers), self._dial)

    @property
    def _hook_number(self) -> int:
        record = self.selected_record()
        return int(record.meta["registration"]) if record else 0

    def _dial(self, values: Mapping[str, str] | None) -> None:
        if values is None or self.session is None:
            return
        overrides, hooks = self.session.push.overrides, self.session.push.hooks
        if values[CHOICE] == webhook_forms.WELL:
            overrides.clear()
            self.session.note("good deliveries are accepted again")
        else:
            number = values.get("hook", "")
            wanted = next((hook.registration for hook in hooks if str(hook.registration.number) == number), None)
            dial = webhook_forms.override_of(values, wanted)
            overrides.add(dial)
            self.session.note(f"good deliveries are answered {dial.words}")
        self.refresh_view()

    # Papers

    def action_why(self) -> None:
        """Say why no push of the task comes."""
        task_id = self._task_id
        if task_id:
            self.app.push_screen(PaperScreen(f"PUSH DOCTOR   task {task_id[:SHORT_ID]}", lambda: self._why(task_id)))
        else:
            self.app.notify("No webhook was registered for any task. Press p, then send a message.", markup=False)

    async def _why(self, task_id: str) -> list[Paragraph]:
        from inspector.session.push.diagnose import examine  # noqa: PLC0415 - loaded when asked for

        return diagnosed(await examine(self.session, task_id), self.glyphs) if self.session else []

    def action_compare(self) -> None:
        """Lay stream, pushes and answers of the task side by side."""
        task_id = self._task_id
        if task_id:
            title = f"STREAM, PUSHES, ANSWERS   task {task_id[:SHORT_ID]}"
            self.app.push_screen(PaperScreen(title, lambda: self._compare(task_id)))
        else:
            self.app.notify("Select a delivery that is about a task.", markup=False)

    async def _compare(self, task_id: str) -> list[Paragraph]:
        from inspector.session.push.attempts import chains, held_up  # noqa: PLC0415 - loaded with the session, after first paint
        from inspector.session.push.matching import reconcile  # noqa: PLC0415 - loaded when asked for

        if self.session is None:
            return []
        capture = self.session.journal.capture
        found = chains(capture.select(kinds=(Kind.DELIVERY,), task=task_id))
        late = any(one.delay for chain in found for one in chain.tries)
        heard = capture.select(kinds=(Kind.FRAME,), task=task_id) if late else []
        retries = [(chain, held_up(chain, heard)) for chain in found]
        return reconciled(await reconcile(capture, task_id), retries, time.time(), self.glyphs)

    def action_tunnel(self) -> None:
        """Show how agents elsewhere can reach the receiver."""
        if self.session is not None and self.session.push.listening:
            from inspector.wire.receiver.tunnels import tunnels  # noqa: PLC0415 - loaded with the session, after first paint

            base_url, port = self.session.push.receiver.base_url, self.session.push.receiver.address[1]
            lines = webhook_forms.tunnel_lines(tunnels(base_url), port)
            self.app.push_screen(PaperScreen("TUNNEL", lambda: webhook_forms.written(lines)))
        else:
            self.app.notify("The receiver does not listen yet. Press p.", markup=False)

    def action_first(self) -> None:
        """Go to the first attempt at what the selected delivery brings."""
        record = self.selected_record()
        first = record.meta["first"] if record is not None else 0
        if first:
            self.show_seq(first)
        else:
            self.app.notify("This delivery is no retry.", markup=False)

    def action_copy_hook(self, member: str) -> None:
        """Copy the url or the token of the webhook that the selected delivery came to, else of the last one."""
        hooks = self.session.push.hooks if self.session else ()
        mine = [hook for hook in hooks if hook.registration.number == self._hook_number]
        hook = next(iter([*mine, *reversed(hooks)]), None)
        if hook is None:
            self.app.notify("There is no webhook yet. Press p, or s.", markup=False)
        else:
            self.app.copy(getattr(hook.registration, member))  # type: ignore[attr-defined]

    # Handing on

    def action_resend(self) -> None:
        """Send the selected delivery again, to a url that the user gives."""
        record = self.selected_record()
        if record is None:
            self.app.notify("Select a delivery.", markup=False)
            return
        form = FormScreen(f"SEND #{record.seq} AGAIN", (webhook_forms.URL,), check=webhook_forms.wrong_url)
        seq = record.seq

        def send(values: Mapping[str, str] | None) -> None:
            if values is not None:
                self._resend(seq, values["url"])

        self.app.push_screen(form, send)

    @work(group="turns")
    async def _resend(self, seq: int, url: str) -> None:
        from inspector.protocol.errors import FaultError  # noqa: PLC0415 - loaded with the session, after first paint

        if self.session is None:
            return
        try:
            done = await self.session.push.relay.resend(seq, url)
        except FaultError as error:
            self.app.tell(error.fault)  # type: ignore[attr-defined]
            return
        self.app.notify(plain(f"#{seq} sent again: {done.words}").plain, markup=False)

    def action_forward(self) -> None:
        """Forward every delivery to a url that the user gives, or stop doing so."""
        if self.session is None:
            return
        relay = self.session.push.relay
        if relay.url:
            relay.forward_to("")
            self.session.note("deliveries are not forwarded any more")
            return
        self.app.push_screen(
            FormScreen("FORWARD EVERY DELIVERY", (webhook_forms.URL,), check=webhook_forms.wrong_url), self._forward
        )

    def _forward(self, values: Mapping[str, str] | None) -> None:
        if values is None or self.session is None:
            return
        self.session.push.relay.forward_to(values["url"])
        self.session.note(f"deliveries are forwarded to {values['url']}")

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected delivery."""
        self._show_row(event.index)

    def _show_row(self, index: int) -> None:
        if self._rows is not None and 0 <= index < len(self._rows):
            self.show_record(self._rows.record(index))

    def on_feed_opened(self) -> None:
        """Go to the detail."""
        self.open_detail()
