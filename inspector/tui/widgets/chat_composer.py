"""The composer of a session: it checks the message, saves the draft, and prepares the calls that send it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer

from inspector.capture.private_files import CaptureError, reason
from inspector.findings.url import host_of
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultError
from inspector.session.call import Call
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.session.compose.history import MessageHistory, SavedDraft
from inspector.session.session import Session
from inspector.text.host import is_local
from inspector.tui import lazy_loading
from inspector.tui.compose.schema_form import Unfinished, forms_of, open_form
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify, notify_fault
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.message_history import MessageHistoryScreen
from inspector.tui.undo import UndoStack
from inspector.tui.widgets.composer import Composer, Destination

if TYPE_CHECKING:
    from inspector.tui.compose.preview import RawRequest
    from inspector.tui.screens.compose import Outcome  # loaded when it is first wanted

_PAUSE = 0.5
"""The seconds after the last key until the draft is saved and its warning is shown."""


class ChatComposer(Composer):
    """A composer whose messages go to the agent of a session."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("send", "send", show=False, priority=True),
        bind("compose", "open", "compose", "All parts and options of the message"),
        bind("streaming", "toggle_stream"),
        bind("back", "leave", "timeline", "Go to the timeline"),
        bind("form", "form"),
        bind("history", "recall"),
        bind("new-task", "new_task"),
        bind("send-once", "send(False)", "send without streaming", "Send without streaming", show=False),
        bind("send-once", "send(True)", "send with streaming", "Send with streaming", show=False),
        bind("editor", "editor"),
    ]

    @dataclass
    class CallPrepared(Message):
        """Send a message by this call; `elsewhere` means that it was written on the compose screen."""

        call: Call
        draft: Draft
        elsewhere: bool = False

    class InterfaceChosen(Message):
        """The user chose an interface on the compose screen."""

    def __init__(self, session: Session, *, id: str) -> None:
        super().__init__(id=id)
        self._session = session
        self._history = MessageHistory(session.journal.redactor)
        self._saved_draft: SavedDraft | None = None
        self._unsent: Draft | None = None
        self._undo = UndoStack()  # removed messages and snippets
        self._raw: tuple[str, RawRequest] | None = None  # an edited request and the id of its message
        self._timer: Timer | None = None
        self._last_sent = ""
        self._unfinished: Unfinished = {}
        if not session.may_send:
            self.display = False

    # Saved drafts

    def offer_draft(self, draft: Draft | None) -> None:
        """Offer an unsent message of an earlier session, and add it to the history."""
        if draft is None or draft.is_blank:
            return
        draft = replace(draft, task_id="", context_id="")  # its task may have ended
        self.run_worker(self._remember(draft), group="history")
        if self.is_blank:
            self._unsent, self.offer = draft, draft.label

    async def restore_draft(self) -> None:
        """Offer the message to the connected agent that an earlier session did not send."""
        connection = self._session.connection
        if connection is None or self._saved_draft is not None:
            return
        host = self._session.host
        # A local agent may have another port at every start.
        here = is_local(host_of(host)) or not host
        saved = SavedDraft(self._session.journal.redactor, connection.card.name or host if here else host)
        draft = await asyncio.to_thread(saved.load)
        if self._unsent is None:
            self.offer_draft(draft)
        self._saved_draft = saved  # not before loading: saving would replace the saved draft

    async def keep_draft(self) -> None:
        """Save the draft now, or remove that of a message that was sent, because the session ends."""
        has_changed = self._timer is not None
        if self._timer is not None:
            self._timer.stop()
        # An offered message stays saved, and so does a message in another tab with the same agent.
        if self._saved_draft is not None and self._unsent is None and (has_changed or not self.is_blank):
            await self._save(self._saved_draft, self.draft)

    def on_composer_changed(self) -> None:
        """Save the draft and show its warning after a pause; a new message hides the offer of an earlier message."""
        if not self.is_blank:
            self.offer, self._unsent = "", None
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_PAUSE, self._after_pause)

    def _after_pause(self) -> None:
        self._timer = None
        draft = self.draft
        self.note = self._note(draft)
        self.has_form = bool(forms_of(self._session, self.destination.task_id))
        if self._saved_draft is not None and self._unsent is None:  # an offered message stays saved
            self._save_meanwhile(self._saved_draft, draft)

    @work(group="draft", exclusive=True)  # the coroutine is only made if the worker starts
    async def _save_meanwhile(self, saved: SavedDraft, draft: Draft) -> None:
        await self._save(saved, draft)

    async def _save(self, saved: SavedDraft, draft: Draft) -> None:
        try:
            await asyncio.to_thread(saved.keep, draft)
        except (OSError, CaptureError) as error:
            self._saved_draft = None  # report it only once
            notify(self, f"The draft could not be saved: {reason(error)}.", "warning")

    def _note(self, draft: Draft) -> str:
        """Return the first warning about the message, or why it cannot be sent."""
        if draft.is_blank or self._session.connection is None:
            return ""
        try:
            notes = self._session.send(draft, stream=self.stream).warnings
            return notes[0].words if notes else ""
        except FaultError as error:
            return error.fault.sentence()

    # Sending

    def prepare(self, draft: Draft, *, stream: bool) -> Call | None:
        """Return the call that sends a message; if it cannot be sent, notify the user and return None."""
        try:
            call = self._session.send(draft, stream=stream, keep_warnings=True)
        except FaultError as error:
            notify_fault(self, error.fault)
            return None
        self.run_worker(self._remember(draft), group="history")
        return call

    def _send_draft(self, draft: Draft, *, stream: bool) -> bool:
        call = self.prepare(draft, stream=stream)
        if call is not None:
            self.post_message(self.CallPrepared(call, draft))
        return call is not None

    def on_composer_send_requested(self, event: Composer.SendRequested) -> None:
        """Send the message, once if the key was pressed twice."""
        is_again = self.is_blank and event.draft.message_id == self._last_sent
        if not is_again and self._send_draft(event.draft, stream=event.stream):
            self._last_sent = event.draft.message_id
            self.take(None)

    async def _remember(self, draft: Draft) -> None:
        problem = await asyncio.to_thread(self._history.add, draft, self._session.host, time.time())
        if problem:
            notify(self, problem, "warning")

    # Other ways to write a message

    def action_form(self) -> None:
        """Fill in a form made from a schema of the agent, and add its data as a part."""
        found = forms_of(self._session, self.destination.task_id)
        open_form(self, found, self._unfinished, lambda text: self.add_part(DraftPart(PartKind.DATA, text)))

    def action_open(self) -> None:
        """Show all parts and options of the message."""
        draft = self.draft
        raw = self._raw[1] if self._raw is not None and self._raw[0] == draft.message_id else None
        screen = lazy_loading.compose_screen(self._session, draft, stream=self.stream, raw=raw)
        screen.interface_chosen = lambda: self.post_message(self.InterfaceChosen())
        ask(self, screen, self._take_in)

    def _take_in(self, outcome: Outcome) -> None:
        self.stream = outcome.stream
        self._raw = (outcome.draft.message_id, outcome.raw) if outcome.raw is not None else None
        if outcome.call is not None:
            self.post_message(self.CallPrepared(outcome.call, outcome.draft, elsewhere=True))
            if outcome.raw is None:
                self.run_worker(self._remember(outcome.draft), group="history")
            self.take(None)
        else:
            if outcome.raw is not None:
                notify(
                    self, f"The edited request is kept: {key_of('compose')} shows it. The message is without the edits."
                )
            self.take(outcome.draft)
            self.destination = self.destination.at(outcome.draft.task_id, outcome.draft.context_id)

    def on_message_area_earlier_wanted(self) -> None:
        """Show the earlier messages."""
        self.action_recall()

    def action_recall(self) -> None:
        """Restore the unsent message that is offered, else show the sent messages and the snippets."""
        if self._unsent is not None and self.is_blank:
            self.take(self._unsent)
            self.focus_text()
            return
        ask(self, MessageHistoryScreen(self._history, self._undo), self._recalled)

    def _recalled(self, found: tuple[Draft, bool]) -> None:
        draft, at_once = found
        destination, written = self.destination, self.draft
        if not draft.task_id and not draft.context_id:
            draft = replace(draft, task_id=destination.task_id, context_id=destination.context_id)
        if at_once and self._send_draft(draft, stream=self.stream):
            self.destination = Destination("", destination.context_id)
            return
        if not written.is_blank:
            self.run_worker(self._remember(written), group="history")
            notify(self, f"Your text was saved to the history: {key_of('history')}.")
        self.take(draft)
