"""The error taxonomy: A2A's errors in their spellings (1.0 section 5.4), and whose fault a failure is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a program that only says what went wrong starts without pydantic
    from inspector.protocol.model import Json


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """An error that A2A or JSON-RPC defines, with its codes in A2A 1.0.1 (section 5.4).

    `code` is the code of JSON-RPC, `http` and `grpc` are statuses; `before` has those of 1.0.0 if they differ.
    """

    name: str
    code: int
    http: int
    grpc: str
    meaning: str
    before: tuple[int, str] | None = None

    @property
    def reason(self) -> str:
        """Return the reason in the ErrorInfo: `TASK_NOT_FOUND` for `TaskNotFoundError`."""
        return _REASONS.get(self.name) or re.sub(r"\B[A-Z]", r"_\g<0>", self.name.removesuffix("Error")).upper()

    @property
    def http_statuses(self) -> frozenset[int]:
        """Return the HTTP statuses that the error has in any release of 1.0."""
        return frozenset({self.http, self.before[0] if self.before else self.http})

    @property
    def grpc_statuses(self) -> frozenset[str]:
        """Return the gRPC statuses that the error has in any release of 1.0."""
        return frozenset({self.grpc, self.before[1] if self.before else self.grpc})

    def statuses(self, release: str) -> tuple[int, str]:
        """Return the HTTP and the gRPC status that the error has in a release of 1.0."""
        return self.before if self.before is not None and release == "1.0.0" else (self.http, self.grpc)

    def info(self) -> dict[str, Json]:
        """Return the ErrorInfo that says which error it is (1.0 sections 9.5, 10.6 and 11.6)."""
        return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": self.reason, "domain": DOMAIN}


DOMAIN = "a2a-protocol.org"
"""The domain of the reasons that an ErrorInfo of A2A's gives."""

_REASONS = {"JSONParseError": "PARSE_ERROR", "InternalError": "INTERNAL_ERROR"}
_ARGUMENT, _PRECONDITION, _UNIMPLEMENTED = "INVALID_ARGUMENT", "FAILED_PRECONDITION", "UNIMPLEMENTED"

_JSONRPC = (
    ErrorKind("JSONParseError", -32700, 400, _ARGUMENT, "the request was not JSON"),
    ErrorKind("InvalidRequestError", -32600, 400, _ARGUMENT, "the agent could not read the request"),
    ErrorKind("MethodNotFoundError", -32601, 404, "NOT_FOUND", "the agent knows no such method"),
    ErrorKind("InvalidParamsError", -32602, 400, _ARGUMENT, "the agent did not accept the parameters"),
    ErrorKind("InternalError", -32603, 500, "INTERNAL", "the agent failed inside"),
)
_A2A = (
    ErrorKind("TaskNotFoundError", -32001, 404, "NOT_FOUND", "the agent knows no such task"),
    ErrorKind(
        "TaskNotCancelableError",
        -32002,
        400,
        _PRECONDITION,
        "the task cannot be canceled any more",
        (409, _PRECONDITION),
    ),
    ErrorKind(
        "PushNotificationNotSupportedError",
        -32003,
        400,
        _PRECONDITION,
        "the agent sends no push notifications",
        (400, _UNIMPLEMENTED),
    ),
    ErrorKind(
        "UnsupportedOperationError", -32004, 400, _PRECONDITION, "the agent does not do this", (400, _UNIMPLEMENTED)
    ),
    ErrorKind(
        "ContentTypeNotSupportedError", -32005, 400, _ARGUMENT, "the agent takes no such content", (415, _ARGUMENT)
    ),
    ErrorKind(
        "InvalidAgentResponseError",
        -32006,
        500,
        "INTERNAL",
        "the agent answered against the protocol",
        (502, "INTERNAL"),
    ),
    ErrorKind("ExtendedAgentCardNotConfiguredError", -32007, 400, _PRECONDITION, "the agent has no extended card"),
    ErrorKind(
        "ExtensionSupportRequiredError",
        -32008,
        400,
        _PRECONDITION,
        "the agent demands an extension that the request did not activate",
    ),
    ErrorKind(
        "VersionNotSupportedError",
        -32009,
        400,
        _PRECONDITION,
        "the agent does not speak this protocol version",
        (400, _UNIMPLEMENTED),
    ),
    ErrorKind(
        "TaskGenerationMismatchError",
        -32010,
        409,
        "ABORTED",
        "the task has changed since the revision that the message requires",
    ),
)

BY_CODE: dict[int, ErrorKind] = {kind.code: kind for kind in _JSONRPC + _A2A}
"""The errors of 0.2 to the draft of 1.1 by JSON-RPC code; the dialect of 0.1 has its own names for some."""

BY_NAME: dict[str, ErrorKind] = {kind.name: kind for kind in _JSONRPC + _A2A}
"""The same by name."""

BY_REASON: dict[str, ErrorKind] = {kind.reason: kind for kind in _JSONRPC + _A2A}
"""The same by the reason of their ErrorInfo (1.0 section 11.6)."""

_FORMER_NAMES = {"AuthenticatedExtendedCardNotConfiguredError": "ExtendedAgentCardNotConfiguredError"}


def named_in(text: str) -> ErrorKind | None:
    """Return the error whose name a text begins with (`TaskNotFoundError: no such task`), or None."""
    name = text.partition(":")[0].strip()
    return BY_NAME.get(_FORMER_NAMES.get(name, name))


@dataclass(frozen=True, slots=True)
class ProtocolError:
    """An error that the agent answered with, as it came: the code, the words, the data.

    `code` is JSON-RPC's, over another transport that of the error which the answer names, None where it names none;
    `status` is the HTTP status that goes with it, 0 where none does. `called` is the name of the error where the code
    does not tell it: the word of a status, or what the version calls the code.
    """

    code: int | None
    message: str
    data: Json = None
    status: int = 0
    called: str = ""

    @property
    def name(self) -> str:
        """Return A2A's name for the error, or `Error` where nobody names it."""
        kind = BY_CODE.get(self.code) if self.code is not None else None
        return self.called or (kind.name if kind else "Error")

    @property
    def words(self) -> str:
        """Return name and message in one, the name once: 0.3 puts it at the head of the message over gRPC."""
        said = self.message.removeprefix(f"{self.name}:").strip()
        return f"{self.name}: {said}" if said else self.name


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
    error: ProtocolError | None = None

    def sentence(self) -> str:
        """Return what was seen and what to do, as prose for one line."""
        return f"{self.seen} {self.hint}".strip()


class FaultError(Exception):
    """Raised where a call cannot return a value, carrying the `Fault`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.sentence())
        self.fault = fault
