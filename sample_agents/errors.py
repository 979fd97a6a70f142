"""How a call is refused: one exception that names an error of the protocol's taxonomy."""

from __future__ import annotations

from inspector.protocol.errors import BY_NAME


class CallError(Exception):
    """Raised where a call cannot be answered, with the protocol's name for why (`TaskNotFoundError`) and a sentence."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.kind = BY_NAME[name]
        self.message = message


def bad_params(message: str) -> CallError:
    """Return the refusal of parameters that make no sense."""
    return CallError("InvalidParamsError", message)


def task_not_found(task_id: str) -> CallError:
    """Return the refusal of a task id that names nothing here."""
    return CallError("TaskNotFoundError", f"There is no task {task_id[:80]!r}.")
