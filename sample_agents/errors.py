"""How a call is refused: one exception that names an error of the protocol's taxonomy."""

from __future__ import annotations

from inspector.protocol.errors import BY_NAME, ProtocolError

from .versions import Version


class CallError(Exception):
    """Raised where a call cannot be answered, with the protocol's name for why (`TaskNotFoundError`) and a sentence.

    `status` is the HTTP status where it is not the one that goes with the error.
    """

    def __init__(self, name: str, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.kind = BY_NAME[name]
        self.message = message
        self.status = status


def bad_params(message: str) -> CallError:
    """Return the refusal of parameters that make no sense."""
    return CallError("InvalidParamsError", message)


def task_not_found(task_id: str) -> CallError:
    """Return the refusal of a task id that names nothing here."""
    return CallError("TaskNotFoundError", f"There is no task {task_id[:80]!r}.")


def failed() -> CallError:
    """Return the refusal of a call that the agent itself failed to answer."""
    return CallError("InternalError", "The agent failed inside.")


def encode_error(error: CallError, version: Version) -> ProtocolError:
    """Write a refusal as JSON-RPC of a version spells it; 1.0 adds an ErrorInfo (section 9.5)."""
    details = [error.kind.info()] if version.traits.details_errors else None
    return ProtocolError(error.kind.code, error.message, details)
