"""What becomes of messages on the workbench: written, looked through, sent, remembered."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from inspector.tui.render.content import plain
from inspector.tui.views.chat import Talk
from inspector.tui.widgets.composer import Aim, Composer

if TYPE_CHECKING:
    from textual.timer import Timer

    from inspector.protocol.selection import Choice
    from inspector.session.call import Call
    from inspector.session.compose.draft import Draft
    from inspector.session.compose.history import MessageHistory, SavedDraft
    from inspector.session.session import Session
    from inspector.tui.screens.compose import Outcome
    from inspector.tui.screens.workbench import WorkbenchScreen

_PAUSE = 0.5
"""How long nothing is written before the draft is kept and what speaks against it is said, in seconds."""


class Sender:
    """Sends what is written in the composer of a workbench, for one session."""

    def __init__(self, workbench: WorkbenchScreen, session: Session) -> None:
        from inspector.session.compose.history import MessageHistory  # noqa: PLC0415 - loaded with the session, after first paint

        self._workbench = workbench
        self.session = session
        self._history: MessageHistory = MessageHistory(session.journal.redactor)
        self._kept: SavedDraft | None = None
        self._timer: Timer | None = None
        self._under_way = 0

    @property
    def _composer(self) -> Composer:
        return self._workbench.query_one(Composer)

    # Drafts that survive

    async def take_up(self) -> None:
        """Take up the draft that was left for the agent that is connected, unless something is written already."""
        from inspector.findings.url import is_local  # noqa: PLC0415 - loaded with the session, after first paint
        from inspector.session.compose.history import SavedDraft  # noqa: PLC0415 - likewise

        connection = self.session.connection
        if connection is None:
            return
        host = self.session.host
        # On this machine an agent has another port every day, the demo's at every start.
        here = is_local(host.partition(":")[0]) or not host
        kept = SavedDraft(self.session.journal.redactor, connection.card.name or host if here else host)
        draft = await asyncio.to_thread(kept.load)
        if draft is not None and self._composer.draft.is_blank:
            # Its task may be of another day; the message is what was to survive.
            self._composer.take(replace(draft, task_id="", context_id=""))
            self._workbench.app.notify("Took up the message that was not sent; ctrl+u clears a line.", markup=False)
        self._kept = kept  # not before: what is written now would take the place of what was left

    def stop(self) -> None:
        """Keep nothing any more, because the workbench turns to another session."""
        self._kept = None
        if self._timer is not None:
            self._timer.stop()

    def written(self) -> None:
        """Keep the draft, and say what speaks against it, once nothing more is written."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._workbench.set_timer(_PAUSE, self._look)

    def _look(self) -> None:
        from inspector.tui.compose.schema_form import offers  # noqa: PLC0415 - loaded with the session

        draft = self._composer.draft
        self._note(draft)
        self._composer.has_form = bool(offers(self.session, self._composer.aim.task_id))
        if self._kept is not None:
            self._workbench.run_worker(self._keep(self._kept, draft), group="draft", exclusive=True)

    async def _keep(self, kept: SavedDraft, draft: Draft) -> None:
        from inspector.capture.private_files import CaptureError, reason  # noqa: PLC0415 - beside its only use

        try:
            await asyncio.to_thread(kept.keep, draft)
        except (OSError, CaptureError) as error:
            self._kept = None  # said once, and not at every key
            self._workbench.app.notify(
                plain(f"What is written is not kept for a crash: {reason(error)}.").plain,
                severity="warning",
                markup=False,
            )

    def _note(self, draft: Draft) -> None:
        """Say beside the text what speaks against the message."""
        from inspector.protocol.errors import FaultError  # noqa: PLC0415 - loaded with the session, after first paint

        composer = self._composer
        composer.note = ""
        if draft.is_blank or self.session.connection is None:
            return
        try:
            notes = self.session.send(draft, stream=composer.stream).warnings
            composer.note = notes[0].words if notes else ""
        except FaultError as error:
            composer.note = error.fault.sentence()

    # Sending

    def send(self, draft: Draft, *, stream: bool) -> bool:
        """Send a message; says whether it was sent, for the user is told why it was not."""
        from inspector.protocol.errors import FaultError  # noqa: PLC0415 - loaded with the session, after first paint

        session = self.session
        try:
            turn = session.send(draft, stream=stream, keep_warnings=True)
        except FaultError as error:
            self._workbench.app.tell(error.fault)  # type: ignore[attr-defined]
            return False
        self._start(turn, draft)
        return True

    def _start(self, turn: Call, draft: Draft | None) -> None:
        """Make a call, and remember the message that it is of."""
        self.drive(turn)
        if draft is not None:
            self._workbench.run_worker(self._remember(draft), group="history")

    async def _remember(self, draft: Draft) -> None:
        problem = await asyncio.to_thread(self._history.add, draft, self.session.host, time.time())
        if problem:
            self._workbench.app.notify(plain(problem).plain, severity="warning", markup=False)

    def again(self, exchange: int, choice: Choice | None) -> None:
        """Send the message of an earlier exchange again, over the interface that was chosen, if one was."""
        from inspector.protocol.errors import FaultError  # noqa: PLC0415 - loaded with the session, after first paint

        if choice is None:
            return
        try:
            turn = self.session.send_again(exchange, choice)
        except FaultError as error:
            self._workbench.app.tell(error.fault)  # type: ignore[attr-defined]
            return
        self._workbench.place = "talk"
        self.drive(turn)

    @property
    def is_busy(self) -> bool:
        """Tell whether a call was begun that is not over, be it on the wire yet or not."""
        return self._under_way > 0

    def drive(self, turn: Call) -> None:
        """Drive a call to its end, with the task that it is about in view."""
        self._under_way += 1
        self._workbench.run_worker(self._drive(turn), group="turns")

    async def _drive(self, turn: Call) -> None:
        try:
            await self.follow(turn)
        finally:
            self._under_way -= 1

    async def follow(self, turn: Call) -> None:
        """Drive a call to its end, with the task that it is about in view, and return then."""
        from inspector.protocol.model import Message  # noqa: PLC0415 - loaded with the session, after first paint

        talk, composer = self._workbench.query_one(Talk), self._composer
        talk.show_fault(None)
        composer.show_upload(turn)
        known = ""
        async for _ in turn:
            if turn.exchange.task_id != known:
                known = turn.exchange.task_id
                talk.follow_task(known)
        answer = turn.exchange.answer
        if isinstance(answer, Message) and not answer.task_id:
            talk.show_reply(answer)
        else:
            talk.follow_task(known)
        talk.show_fault(turn.fault)
        self._workbench.refresh_bindings()

    # Looking through a message

    def open(self, what: Literal["message", "recall", "form"]) -> None:
        """Show all of the message, what was sent before, or the form that the agent gave."""
        {"message": self._open_message, "recall": self._recall, "form": self._open_form}[what]()

    def _open_form(self) -> None:
        from inspector.tui.compose.schema_form import offers, open_form  # noqa: PLC0415 - opened rarely

        open_form(self._workbench.app, offers(self.session, self._composer.aim.task_id), self._take_form)

    def _take_form(self, text: str) -> None:
        from inspector.session.compose.draft import DraftPart, PartKind  # noqa: PLC0415 - loaded with the session

        draft = self._composer.draft
        kept = () if draft.is_blank else draft.parts
        self._composer.take(replace(draft, parts=(*kept, DraftPart(PartKind.DATA, text))))

    def _open_message(self) -> None:
        from inspector.tui.screens.compose import ComposeScreen  # noqa: PLC0415 - opened rarely

        composer = self._composer
        screen = ComposeScreen(self.session, composer.draft, stream=composer.stream)
        self._workbench.app.push_screen(screen, self._take_in)

    def _take_in(self, outcome: Outcome | None) -> None:
        if outcome is None:
            return
        self._composer.stream = outcome.stream
        if outcome.turn is not None:
            self._start(outcome.turn, None if outcome.by_hand else outcome.draft)
            self._composer.take(None)
            self._workbench.place = "talk"
        else:
            self._composer.take(outcome.draft)
            self._composer.aim = self._composer.aim.at(outcome.draft.task_id, outcome.draft.context_id)

    def _recall(self) -> None:
        from inspector.tui.screens.message_history import RecallScreen  # noqa: PLC0415 - opened rarely

        self._workbench.app.push_screen(RecallScreen(self._history), self._recalled)

    def _recalled(self, found: tuple[Draft, bool] | None) -> None:
        if found is None:
            return
        draft, at_once = found
        aim, written = self._composer.aim, self._composer.draft
        if not written.is_blank and not at_once:
            self._workbench.run_worker(self._remember(written), group="history")
            self._workbench.app.notify("What you had written is among the messages of ctrl+up.", markup=False)
        if not draft.task_id and not draft.context_id:
            draft = replace(draft, task_id=aim.task_id, context_id=aim.context_id)
        if at_once and self.send(draft, stream=self._composer.stream):
            self._composer.aim = Aim("", aim.context_id)
        else:
            self._composer.take(draft)
