"""The error taxonomy: A2A's errors in their spellings (1.0 section 5.4), and whose fault a failure is."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a program that only says what went wrong starts without pydantic
    from inspector.protocol.model import Json


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One error that A2A or JSON-RPC names: its JSON-RPC code, its ErrorInfo reason and its HTTP status in 1.0.1."""

    name: str
    code: int
    reason: str
    http: int
    meaning: str


_JSONRPC = (
    ErrorKind("JSONParseError", -32700, "PARSE_ERROR", 400, "the request was not JSON"),
    ErrorKind("InvalidRequestError", -32600, "INVALID_REQUEST", 400, "the request was not a JSON-RPC request"),
    ErrorKind("MethodNotFoundError", -32601, "METHOD_NOT_FOUND", 404, "the agent knows no such method"),
    ErrorKind("InvalidParamsError", -32602, "INVALID_PARAMS", 400, "the agent did not accept the parameters"),
    ErrorKind("InternalError", -32603, "INTERNAL_ERROR", 500, "the agent failed inside"),
)
_A2A = (
    ErrorKind("TaskNotFoundError", -32001, "TASK_NOT_FOUND", 404, "the agent knows no such task"),
    ErrorKind("TaskNotCancelableError", -32002, "TASK_NOT_CANCELABLE", 400, "the task cannot be canceled any more"),
    ErrorKind(
        "PushNotificationNotSupportedError",
        -32003,
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
        400,
        "the agent sends no push notifications",
    ),
    ErrorKind("UnsupportedOperationError", -32004, "UNSUPPORTED_OPERATION", 400, "the agent does not do this"),
    ErrorKind(
        "ContentTypeNotSupportedError",
        -32005,
        "CONTENT_TYPE_NOT_SUPPORTED",
        400,
        "the agent takes no such content",
    ),
    ErrorKind(
        "InvalidAgentResponseError",
        -32006,
        "INVALID_AGENT_RESPONSE",
        500,
        "the agent answered against the protocol",
    ),
    ErrorKind(
        "ExtendedAgentCardNotConfiguredError",
        -32007,
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
        400,
        "the agent has no extended card",
    ),
    ErrorKind(
        "ExtensionSupportRequiredError",
        -32008,
        "EXTENSION_SUPPORT_REQUIRED",
        400,
        "the agent demands an extension that the request did not activate",
    ),
    ErrorKind(
        "VersionNotSupportedError",
        -32009,
        "VERSION_NOT_SUPPORTED",
        400,
        "the agent does not speak this generation",
    ),
)

BY_CODE: dict[int, ErrorKind] = {kind.code: kind for kind in _JSONRPC + _A2A}
"""The errors of 0.3 and 1.0 by JSON-RPC code; 0.1 numbers some otherwise, in its own dialect."""

BY_NAME: dict[str, ErrorKind] = {kind.name: kind for kind in _JSONRPC + _A2A}
"""The same by name."""


@dataclass(frozen=True, slots=True)
class ProtocolError:
    """An error that the agent answered with, as it came: the code, the words, the data."""

    code: int | None
    message: str
    data: Json = None

    @property
    def name(self) -> str:
        """Return A2A's name for the error, or `Error` where no specification names the code."""
        kind = BY_CODE.get(self.code) if self.code is not None else None
        return kind.name if kind else "Error"


class Whose(StrEnum):
    """Who has to act for a failure to go away."""

    OURS = "the inspector"
    YOURS = "the command"
    AGENT = "the agent"
    NETWORK = "the network"


class FaultCode(StrEnum):
    """What failed before or outside a protocol answer, as the a2a-cli specification 0.2 names it (appendix D)."""

    USAGE = "A2ACLI_ERR_USAGE"
    CARD_NOT_FOUND = "A2ACLI_ERR_CARD_NOT_FOUND"
    CARD_INVALID = "A2ACLI_ERR_CARD_INVALID"
    UNREACHABLE = "A2ACLI_ERR_UNREACHABLE"
    CREDENTIALS_MISSING = "A2ACLI_ERR_CREDENTIALS_MISSING"
    AUTH_FAILED = "A2ACLI_ERR_AUTH_FAILED"
    TIMEOUT = "A2ACLI_ERR_TIMEOUT"
    INTERNAL = "A2ACLI_ERR_INTERNAL"


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure in words: whose it is, what was seen and what to do next.

    `code` is a `FaultCode`, or the name of the protocol's own error where the agent reported one.
    """

    whose: Whose
    code: str
    seen: str
    hint: str = ""
    error: ProtocolError | None = field(default=None)

    def sentence(self) -> str:
        """Return what was seen and what to do, as prose for one line."""
        return f"{self.seen} {self.hint}".strip()


class FaultError(Exception):
    """Raised where a call cannot return a value, carrying the `Fault`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.sentence())
        self.fault = fault
