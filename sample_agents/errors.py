"""The exception for a call that fails with an A2A error, and how it is encoded."""

from __future__ import annotations

from inspector.protocol.errors import BY_NAME, ProtocolError

from .versions import Version


class CallError(Exception):
    """Raised if a call fails: the name of the A2A error (`TaskNotFoundError`) and a message for the client.

    `status` replaces the HTTP status that the specification defines for the error, unless it is 0.
    """

    def __init__(self, name: str, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.kind = BY_NAME[name]
        self.message = message
        self.status = status


def bad_params(message: str) -> CallError:
    """Return the error for invalid parameters."""
    return CallError("InvalidParamsError", message)


def task_not_found(task_id: str) -> CallError:
    """Return the error for an unknown task id."""
    return CallError("TaskNotFoundError", f"Task {task_id[:80]!r} does not exist.")


def internal_error() -> CallError:
    """Return the error for a defect of the agent."""
    return CallError("InternalError", "Internal error: the agent failed to process the call.")


def encode_error(error: CallError, version: Version) -> ProtocolError:
    """Encode an error for JSON-RPC; 1.0 adds an ErrorInfo (section 9.5)."""
    details = [error.kind.info()] if version.traits.details_errors else None
    return ProtocolError(error.kind.code, error.message, details)
