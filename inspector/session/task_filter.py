"""Filter tasks by context, state and time, in the inspector or with a ListTasks request (1.0 §3.1.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import State, short
from inspector.protocol.model import ListTasksRequest
from inspector.session.tasks import TrackedTask
from inspector.text.short_id import is_part_of_id
from inspector.text.units import timestamp_seconds

_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_AGE = re.compile(r"(\d{1,9}) ?(s|min|h|d)")


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """The conditions for tasks; an empty condition is met by every task.

    `context` is the beginning or the end of a context id, `state` a state with its 1.0 name, `since` a time in seconds
    since 1970.
    """

    context: str = ""
    state: str = ""
    since: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.context or self.state or self.since)

    @property
    def words(self) -> str:
        """Return the conditions in one line."""
        since = datetime.fromtimestamp(self.since).astimezone().isoformat(" ", "seconds")[:19] if self.since else ""
        conditions = (("context", self.context), ("state", short(self.state)), ("since", since))
        return "   ".join(f"{name} {value}" for name, value in conditions if value)

    def matches(self, task: TrackedTask) -> bool:
        """Return whether a task meets the conditions; its time is that of its status, or else of its last event."""
        account = task.now
        if self.context and not is_part_of_id(self.context, account.context_id):
            return False
        if self.state and account.state != self.state:
            return False
        return not self.since or (timestamp_seconds(account.status.timestamp) or account.updated) >= self.since

    def request(self, known: Iterable[TrackedTask], *, page_token: str = "", page_size: int = 0) -> ListTasksRequest:
        """Return the ListTasks request; complete the context id if it is a part of exactly one known context id."""
        contexts = {task.now.context_id for task in known if is_part_of_id(self.context, task.now.context_id)}
        context = contexts.pop() if self.context and len(contexts) == 1 else self.context
        since = datetime.fromtimestamp(self.since, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        members = {
            "context_id": context,
            "status": self.state,
            "status_timestamp_after": since if self.since else "",
            "page_token": page_token,
            "page_size": page_size,
        }
        return ListTasksRequest.model_validate({name: value for name, value in members.items() if value})


def read_filter(context: str, state: str, since: str, now: float) -> TaskFilter:
    """Parse a filter: `state` may be a short name, `since` a time or an age such as `10min`.

    Raises `ValueError` with a sentence for the user.
    """
    return TaskFilter(context.strip(), _state(state.strip()), _since(since.strip(), now))


def _state(typed: str) -> str:
    if not typed:
        return ""
    wanted = f"TASK_STATE_{typed.upper().replace('-', '_').removeprefix('TASK_STATE_')}"
    states = [state for state in State if state is not State.UNSPECIFIED]
    if wanted not in states:
        raise ValueError(f"{typed} is not a task state; the states are {', '.join(map(short, states))}.")
    return wanted


def _since(typed: str, now: float) -> float:
    if not typed:
        return 0.0
    if age := _AGE.fullmatch(typed):
        return max(1.0, now - int(age[1]) * _UNITS[age[2]])
    at = timestamp_seconds(typed)
    if at is None:
        raise ValueError(f"{typed} is not a time; write an age such as 10min, or a time such as 2026-01-31T12:00:00Z.")
    return at
