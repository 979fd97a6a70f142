"""The workbench: the main screen of a session, with the views and the calls that they request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType
from textual.events import Key
from textual.notifications import Notification

from inspector.capture.records import Kind, Record
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import Whose
from inspector.protocol.model import Deleted, PushConfig, PushConfigList
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice, alternatives
from inspector.session.connection import Connection
from inspector.session.push_body import push_body_hint
from inspector.tui import lazy_loading
from inspector.tui.keys import (
    COMMANDS,
    NO_AGENT,
    Group,
    bind,
    command_with,
    disabled_reason,
    is_read_only,
    not_available,
)
from inspector.tui.notify import copy, notify, notify_fault, notify_faults, notify_instead
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.frame import LAST_KEYS
from inspector.tui.screens.interfaces import InterfacesScreen
from inspector.tui.screens.menu import confirm, show_actions
from inspector.tui.screens.session_screen import SessionScreen
from inspector.tui.task_calls import calls_for, switch_push
from inspector.tui.trust import send_credentials
from inspector.tui.views.agent import AgentView
from inspector.tui.views.base import CallWanted, CheckMade, RecordWanted
from inspector.tui.views.registry import entry_of, key_of_view
from inspector.tui.widgets.card_view import CardView

if TYPE_CHECKING:  # loaded after the card is shown
    from inspector.session.call import Call
    from inspector.tui.credential_dialogs import CredentialDialogs
    from inspector.tui.tour_steps import Send
    from inspector.tui.views.tasks import TasksView
    from inspector.tui.widgets.tour import Tour

_SILENT = frozenset({"back", *(name for name, command in COMMANDS.items() if command.group is Group.MOVE)})
"""The commands whose keys do nothing without a message where there is nothing to go back to, or no cursor."""
_NEEDS_AGENT = frozenset({"push", "doctor", "send_again", "interfaces", "credentials"})
"""The actions that need an agent, and are disabled in a capture."""


class WorkbenchScreen(SessionScreen):
    """Shows a session in several views, and makes the calls that the views request."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("actions", "actions"),
        bind("webhook", "push"),
        bind("copy", "copy"),
        bind("zoom", "unzoom", "restore", "Restore the pane"),
        bind("zoom", "zoom", show=False),
        bind("interface", "interfaces", show=False),
        bind("credentials", "credentials(True)", "credentials", "Log in to the agent, or enter a secret"),
        bind("credentials", "credentials(False)", show=False),
        bind("translate", "translate", show=False),
        bind("send-again", "send_again", "", "Send the selected message again", show=False),
        bind("doctor", "doctor", show=False),
        bind("connect", "app.connect", show=False),
        # Textual's scrolling widgets use these keys, too.
        bind("next-connection", "app.connection(1)", show=False, priority=True),
        bind("previous-connection", "app.connection(-1)", show=False, priority=True),
        bind("next-pane", "app.focus_next", show=False),
        bind("previous-pane", "app.focus_previous", show=False),
        bind("close-connection", "close_tab(True)", "close tab", "Close this tab: the agent or capture"),
        bind("close-connection", "close_tab(False)", show=False),
        bind("send-once", "send_once(False)", "", "Send the written message without streaming", show=False),
        bind("send-once", "send_once(True)", "", "Send the written message with streaming", show=False),
        bind("tour", "tour", "", "Start the guided tour, or focus it", show=False),
        *LAST_KEYS,
    ]
    _credentials: CredentialDialogs | None = None
    _tour: Tour | None = None
    _has_tour = False
    _reason: Notification | None = None
    """Why the last key did nothing."""

    def refresh_view(self) -> None:
        """Update the current view and the status, and let the tour follow."""
        super().refresh_view()
        if self._tour is not None:
            self._tour.look()

    def on_key(self, event: Key) -> None:
        """Report why a key does nothing here, except the key that goes back and those of the cursor.

        Textual looks for bindings after this.
        """
        command, active = command_with(event.key), self.active_bindings.get(event.key)
        if not command or command in _SILENT or not self.ready.is_set():
            return
        if active is not None and (active.enabled or is_read_only(active)):  # run_action reports --read-only
            return
        reason = disabled_reason(command, active.node if active is not None else None, self.views.view, self)
        places = self.views.names_with(command)
        is_here = active is not None or entry_of(self.view).title in places
        sentence = not_available(event.key, command, reason, None if is_here else places)
        self._reason = notify_instead(self, self._reason, sentence)

    def disabled_reason(self, command: str) -> str:
        """Return why a command of the screen cannot be used now, `""` if the screen has no reason."""
        bound = {binding.action.partition("(")[0] for _, binding in self._bindings if binding.id == command}
        return NO_AGENT if self.session.recorded and bound & _NEEDS_AGENT else ""

    # Actions on the session and the selected record

    def action_copy(self) -> None:
        """Copy the selected text, or the selected item of the view."""
        copy(self, self.get_selected_text() or self.views.view.selected_text())

    def action_actions(self) -> None:
        """Show everything that can be done with the selected item."""
        show_actions(self, self.views.view.selection_title)

    def on_cursor_view_menu_wanted(self) -> None:
        """Show the actions for the line that was clicked with the right button."""
        self.action_actions()

    def action_interfaces(self) -> None:
        """Choose the interface and the protocol version to use."""
        if self.session.connection is not None:
            ask(self, InterfacesScreen(self.session.connection, "Interfaces"), self.use)

    @work(group="credentials", exclusive=True)
    async def action_credentials(self, _needed: bool = True) -> None:
        """Log in to the agent or enter a secret, and fetch the card again if there is none."""
        if self.session.settings.read_only:
            notify(self, "You cannot log in: a2a-inspect was started with --read-only.", "warning")
            return
        if self._credentials is None:
            self._credentials = lazy_loading.credential_dialogs(
                self, self.session, self._glyphs, self.options.redirect_port
            )
        outcome = await self._credentials.ask()
        if outcome.seq:
            await self.show_record(outcome.seq)
        if outcome.changed:
            self._show_new_credentials()

    def _show_new_credentials(self) -> None:
        """Show what the new credentials meet, and fetch the card again if there is none."""
        connection = self.session.connection
        if connection is None:
            self.agent.post_message(AgentView.RefreshWanted())
            return
        self.session.journal.exchanges.forget_denied(self.session.agent_url, connection.url)
        self.agent.show_authentication()
        if self.views.has("chat"):
            self.chat.composer.problem = ""
        self.refresh_view()

    def show_connection(self, connection: Connection) -> None:
        """Show the agent, and ask about an interface at an origin to which the credentials are not sent."""
        super().show_connection(connection)
        if self.session.credentials.withheld_from:
            self._ask_for_trust()

    @work(group="trust", exclusive=True)
    async def _ask_for_trust(self) -> None:
        if await send_credentials(self.app, self.session):
            self._show_new_credentials()

    def on_card_view_credentials_wanted(self) -> None:
        """Log in to the agent or enter a secret."""
        self.action_credentials()

    def on_status_bar_credentials_clicked(self) -> None:
        """Log in to the agent or enter a secret."""
        self.action_credentials()

    def on_status_bar_interface_clicked(self) -> None:
        """Choose the interface."""
        self.action_interfaces()

    def action_translate(self) -> None:
        """Translate the selected record to other protocol versions."""
        record = self.views.view.selected_record()
        if record is not None:
            self._translate(record)

    def _translate(self, record: Record, step: str = "", then: Callable[[None], None] | None = None) -> None:
        screen = lazy_loading.translate_screen(record, self.session.journal.capture.request_of(record), step)
        if screen is not None:
            self.app.push_screen(screen, then)
        else:
            notify(self, "This record contains no A2A object that can be translated.")

    def action_send_again(self) -> None:
        """Send the message of the selected record again, over an interface that the user chooses."""
        record = self.views.view.selected_record()
        if self.session.connection is None:
            return
        if record is None or not record.exchange:
            notify(self, "Select a sent message or its response.")
            return
        exchange = record.exchange
        menu = InterfacesScreen(self.session.connection, "Send again: choose the interface")
        ask(self, menu, lambda choice: self.call_next(self._send_again, exchange, choice))

    async def _send_again(self, exchange: int, choice: Choice) -> None:
        with notify_faults(self):
            call = self.session.send_again(exchange, choice)
            await self.show_view("chat")
            self.chat.drive(call)

    def action_send_once(self, stream: bool) -> None:
        """Send the written message with the other setting of streaming."""
        self.chat.composer.action_send(stream)

    def action_close_tab(self, _several: bool) -> None:
        """Close the agent or the capture; ask first if this stops a call."""
        running = self.session.journal.exchanges.open
        if running:
            calls = "A call is running" if running == 1 else f"{running:,} calls are running"
            question = f"{calls}, and would be stopped. Close {self.name_of_tab.name}?"
            confirm(self, "Close the tab", question, self._close_tab)
        else:
            self._close_tab()

    def _close_tab(self) -> None:
        self.app.call_later(self.app.run_action, "close_connection")

    def on_status_bar_close_clicked(self) -> None:
        """Close the tab whose mark was clicked."""
        self.action_close_tab(True)

    def action_doctor(self) -> None:
        """Run the doctor, also if the connection to the agent failed."""
        ask(self, lazy_loading.doctor_screen(self.session, self.reference, self._glyphs), self.use)

    @work(group="push", exclusive=True)
    async def action_push(self) -> None:
        """Turn push notifications on, which starts the receiver, or off."""
        with notify_faults(self):
            await switch_push(self.session)

    # Messages of the views

    async def on_card_view_tried(self, event: CardView.Tried) -> None:
        """Put an example into the composer."""
        await self.action_go("chat")
        self.chat.composer.fill(event.example)

    def on_chat_composer_interface_chosen(self) -> None:
        """Show the interface that was chosen for a message, and ask about its origin."""
        if self.session.connection is not None:
            self.show_connection(self.session.connection)

    def on_chat_view_show_wanted(self) -> None:
        """Show the Chat view, because a call was started."""
        self.view = "chat"

    async def on_tasks_view_opened(self, event: TasksView.Opened) -> None:
        """Show a task in the Chat view."""
        await self.show_view("chat")
        self.chat.open_task(event.task_id)
        self.chat.focus_timeline()

    async def on_record_wanted(self, event: RecordWanted) -> None:
        """Show a record."""
        await self.show_record(event.seq)

    async def on_check_made(self, event: CheckMade) -> None:
        """Show a new check file in Checks."""
        await self.show_view("checks")
        self.views.checks.load_file(event.path)

    async def show_record(self, seq: int) -> None:
        """Show a record in Traffic, or a note in Chat."""
        await self.show_view("traffic" if self.session.journal.capture.get(seq).exchange else "chat")
        self.views.view.show_seq(seq)

    @work(group="calls")
    async def on_call_wanted(self, event: CallWanted) -> None:
        """Make the calls of an operation in sequence."""
        calls: list[Call] = []
        asked = self.view
        with notify_faults(self):
            await self.mounted("chat")
            calls = await calls_for(self.session, event.operation, event.task_id or self.chat.call_task)
        for call in calls:
            await self.chat.follow(call)
            await self._show_answer(call, asked)
            self._offer_other_push_body(call)

    def _offer_other_push_body(self, call: Call) -> None:
        """Ask whether to send the other form of a refused push configuration, where SDKs read different forms."""
        fault, config = call.fault, call.request
        if fault is None or fault.whose is not Whose.AGENT or not isinstance(config, PushConfig):
            return
        if self.session.has_push_body:
            question = f"{push_body_hint(whole=False)} Send the whole request?"
            confirm(self, "The agent refused the webhook", question, lambda: self._register_with_whole_body(config))

    @work(group="calls")
    async def _register_with_whole_body(self, config: PushConfig) -> None:
        with notify_faults(self):
            asked = self.view
            call = self.session.set_push(config, whole_body=True)
            await self.chat.follow(call)
            await self._show_answer(call, asked)

    async def _show_answer(self, call: Call, asked: str) -> None:
        """Show an error, or a response that no other view shows; a user who left the view `asked` stays elsewhere."""
        answer, number = call.exchange.answer, call.exchange.number
        if call.fault is not None:
            if self.views.view is not self.chat:  # there, the composer shows it
                notify_fault(self, call.fault)
            if call.exchange.context.operation is Operation.EXTENDED_CARD:
                self.agent.show_no_extended(call.fault)
        elif isinstance(answer, AgentCard):
            bodies = self.session.journal.capture.select(kinds=(Kind.BODY,), exchange=number)
            self.agent.show_extended(self.session.payload(bodies[-1]))
        elif isinstance(answer, Deleted):
            notify(self, "The agent deleted a webhook of the task.")
        elif isinstance(answer, PushConfig | PushConfigList):
            if self.view == asked:
                await self.show_view("webhooks")
            else:
                await self.mounted("webhooks")
                notify(self, f"The agent returned webhooks of the task: {key_of_view('webhooks')} shows them.")
            self.views.webhooks.show_configs(answer, call.exchange.context.task_id)

    # The tour

    async def offer_tour(self, *, begin: bool) -> None:
        """Enable the key of the tour, because this is the demo agent, and start the tour if `begin`."""
        self._has_tour = True
        self.refresh_bindings()
        if begin:
            await self.action_tour()

    async def action_tour(self) -> None:
        """Start the tour; if it is running, move the focus between it and the view."""
        if self._tour is None:
            self._tour = lazy_loading.tour(self.session.journal)
            await self.mount(self._tour, before=self._footer)
        elif not self._tour.has_focus:
            self._tour.focus()
        else:
            self.views.view.focus_first()

    async def on_tour_left(self) -> None:
        """End the tour."""
        if self._tour is not None:
            tour, self._tour = self._tour, None
            await tour.remove()
        self.views.view.focus_first()

    async def on_tour_shown(self, event: Tour.Shown) -> None:
        """Show the view and the record of a step of the tour."""
        step = event.step
        await self.show_view(step.view)
        if step.section:
            self.call_next(self.agent.show_section, step.section)
        if event.found:
            self.views.view.show_seq(event.found)
        if event.focused and self._tour is not None:
            self._tour.focus()
        record = self.views.view.selected_record()
        if step.translate and record is not None and (tour := self._tour) is not None:
            self._translate(record, step.text, lambda _: tour.action_move("on"))

    async def on_tour_send_wanted(self, event: Tour.SendWanted) -> None:
        """Send the message of a step, unless a call is running, which may have sent it already."""
        await self.mounted("chat")
        if not self.chat.is_busy and not self.session.journal.exchanges.open:
            self._send_for_tour(event.tour, event.send)

    @work(group="tour", exclusive=True)
    async def _send_for_tour(self, tour: Tour, send: Send) -> None:
        self._use_version(send.version)
        if self.session.push.on != send.push:
            await self.action_push().wait()
        await self.show_view(tour.step.view)
        tour.focus()
        if not self.chat.is_busy:
            self.chat.send_text(send.text, stream=send.stream, answer=send.answer)

    def _use_version(self, version: str) -> None:
        """Use the first interface with a protocol version, unless the current interface has it."""
        connection = self.session.connection
        if connection is not None and self.session.choice.dialect.version != version:
            choices = (choice for choice in alternatives(connection.card) if choice.dialect.version == version)
            if (choice := next(choices, None)) is not None:
                self.use(choice)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the tour unless the agent is the demo, and disable actions that need an agent in a capture."""
        if not self.ready.is_set() and action != "go":
            return None
        if action == "tour":
            return self._has_tour
        if action == "actions":
            return self._tour is None or not self._tour.has_focus
        if action == "credentials" and parameters != (self.status_bar.denied,):
            return False
        if action == "close_tab":
            return parameters == (self.has_other_tabs,)
        if action == "send_once":
            return self._can_send_once(*parameters)
        if action in ("zoom", "unzoom"):
            return (self.maximized is not None) is (action == "unzoom")
        if action in _NEEDS_AGENT and self.session.recorded:
            return None
        return super().check_action(action, parameters)

    def _can_send_once(self, stream: object) -> bool:
        """Return whether a message is written that would be sent with another setting of streaming."""
        if self.view != "chat" or not self.views.has("chat") or not self.session.may_send:
            return False
        composer = self.chat.composer
        return not composer.is_blank and composer.stream is not stream
