"""The exception for a call that fails with an A2A error, and how it is encoded."""

from __future__ import annotations

from typing import Any

from inspector.protocol.bindings import grpc, rest
from inspector.protocol.errors import BY_NAME, ProtocolError
from inspector.protocol.model import Json

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


def encode_http_error(error: CallError, version: Version) -> tuple[int, Json]:
    """Return the status and the body of an error over HTTP+JSON, as in AIP-193.

    Before 1.0 no body is defined: SDKs read a code and a message.
    """
    status, word = error.kind.statuses(version.release)
    status = error.status or status
    if version.traits.details_errors:
        return status, rest.encode_error(error.kind, error.message, status, word)
    return status, {"code": error.kind.code, "message": error.message}


async def abort_grpc(library: Any, context: Any, error: CallError, version: Version) -> None:
    """End a gRPC call with the status of an error; before 1.0, its message starts with the name of the error."""
    code, details = grpc.encode_error(error.kind, error.message, error.kind.statuses(version.release)[1])
    status = next(item for item in library.StatusCode if item.value[0] == code)
    if version.traits.details_errors:
        await context.abort(status, error.message, ((grpc.DETAILS, details),))
    await context.abort(status, f"{error.kind.name}: {error.message}")


def encode_error(error: CallError, version: Version) -> ProtocolError:
    """Encode an error for JSON-RPC; 1.0 adds an ErrorInfo (section 9.5)."""
    details = [error.kind.info()] if version.traits.details_errors else None
    return ProtocolError(error.kind.code, error.message, details)
