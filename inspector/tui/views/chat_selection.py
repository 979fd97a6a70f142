"""What the panes of the Chat view show: the task of the selected record, or a message of the agent without a task."""

from __future__ import annotations

from inspector.capture.records import Kind, Record
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.lifecycle import INTERRUPTED, State, short
from inspector.protocol.model import Message
from inspector.protocol.operations import SENDS
from inspector.session.replay.translate import canonical
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask
from inspector.tui.render.rows import is_send
from inspector.tui.widgets.composer import Destination


class ChatSelection:
    """Finds the task of a selected record, and the destination of the next message."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._task_id = ""
        self._seq = 0
        self._seen = ("", "")
        self.reply: Message | None = None
        """The message that is shown instead of a task."""

    @property
    def task(self) -> TrackedTask | None:
        """The task that is shown, if any."""
        return self._session.tasks.get(self._task_id)

    def show_task(self, task_id: str) -> None:
        """Show another task."""
        self._task_id, self.reply = task_id, None

    def select(self, record: Record) -> bool:
        """Show the task of a record, or its message without a task; return whether that is a change."""
        if record.seq == self._seq:
            return False
        self._seq = record.seq
        task, reply = self.task_of(record), None
        if not task:
            reply = self._reply_to(record)
            if reply is None and not self._failed_without_task(record):
                return False
        before = self._task_id, self.reply
        self._task_id, self.reply = task, reply
        return before != (task, reply)

    def task_of(self, record: Record) -> str:
        """Return the task that a record is about, known from its exchange if necessary; `""` if there is none."""
        exchange = self._session.journal.exchanges.get(record.exchange)
        ids = (record.task, exchange.task if exchange is not None else "")
        return next((task_id for task_id in ids if task_id in self._session.tasks), "")

    def _reply_to(self, record: Record) -> Message | None:
        """Return the message outside of any task in a record or in its exchange, None if there is none."""
        journal = self._session.journal
        found = [record] if record.event == "message" else []
        if not found and is_send(record):
            found = journal.capture.select(kinds=(Kind.BODY, Kind.FRAME), exchange=record.exchange, limit=1)
        message = canonical(found[0], journal.capture.request_of(found[0])) if found else None
        return message if isinstance(message, Message) and not message.task_id else None

    def _failed_without_task(self, record: Record) -> bool:
        """Return whether a record belongs to a sent message that has ended without a task."""
        exchange = self._session.journal.exchanges.get(record.exchange)
        return exchange is not None and exchange.operation in SENDS and exchange.seconds is not None

    # The destination of the next message

    def destination(self) -> Destination | None:
        """Return the destination: the task if it requires input or authentication, else its context; None for none."""
        task = self.task
        if task is None:
            return Destination("", self.reply.context_id or "") if self.reply is not None else None
        account = task.now
        if account.state not in INTERRUPTED:
            return Destination("", account.context_id)
        question = _status_text(account) or f"({short(account.state)}, without a message)"
        if account.state == State.AUTH_REQUIRED:
            question = f"authenticate outside a2a-inspect: {question}"
        return Destination(task.id, account.context_id, question, short(account.state))

    def has_new_destination(self, addressed: Destination, *, kept: bool) -> bool:
        """Return whether the task has started or stopped requiring input since the last call, or asks something else.

        `addressed` is the destination of the message now. If it is `kept`, another task or context does not replace it.
        """
        task = self.task
        seen, self._seen = self._seen, (task.now.state, _status_text(task.now)) if task else ("", "")
        if task is None or seen == self._seen:
            return False
        if addressed.task_id == task.id:
            return True
        other = kept and addressed != Destination("", task.now.context_id)
        return self._seen[0] in INTERRUPTED and not other


def _status_text(account: AssembledTask) -> str:
    """Return the texts and the URLs of the status message of a task, such as a page that asks for an authorization."""
    message = account.status.message
    return " ".join(part.text or part.url or "" for part in message.parts).strip() if message else ""
