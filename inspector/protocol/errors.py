"""The errors of A2A with their codes in each binding (1.0 section 5.4), and faults: failures as users see them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import TYPE_CHECKING

from inspector.lazy_dataclass import dataclass

if TYPE_CHECKING:  # so that a command that only reports an error does not load pydantic
    from inspector.protocol.model import Json


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """An error that A2A or JSON-RPC defines, with its codes in A2A 1.0.1 (section 5.4).

    `code` is the JSON-RPC code, `http` and `grpc` are statuses. `before` has the statuses of 1.0.0 if they differ.
    """

    name: str
    code: int
    http: int
    grpc: str
    meaning: str
    before: tuple[int, str] | None = None

    @property
    def reason(self) -> str:
        """Return the `reason` in an ErrorInfo: `TASK_NOT_FOUND` for `TaskNotFoundError`."""
        return _REASONS.get(self.name) or re.sub(r"\B[A-Z]", r"_\g<0>", self.name.removesuffix("Error")).upper()

    @property
    def http_statuses(self) -> frozenset[int]:
        """Return the HTTP statuses of the error in all releases of 1.0."""
        return frozenset({self.http, self.before[0] if self.before else self.http})

    @property
    def grpc_statuses(self) -> frozenset[str]:
        """Return the gRPC statuses of the error in all releases of 1.0."""
        return frozenset({self.grpc, self.before[1] if self.before else self.grpc})

    def statuses(self, release: str) -> tuple[int, str]:
        """Return the HTTP and the gRPC status of the error in a release of 1.0."""
        return self.before if self.before is not None and release == "1.0.0" else (self.http, self.grpc)

    def info(self) -> dict[str, Json]:
        """Return the ErrorInfo that identifies the error (1.0 sections 9.5, 10.6 and 11.6)."""
        return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": self.reason, "domain": DOMAIN}


DOMAIN = "a2a-protocol.org"
"""The `domain` in an ErrorInfo of A2A."""

_REASONS = {"JSONParseError": "PARSE_ERROR", "InternalError": "INTERNAL_ERROR"}
_ARGUMENT, _PRECONDITION, _UNIMPLEMENTED = "INVALID_ARGUMENT", "FAILED_PRECONDITION", "UNIMPLEMENTED"

_JSONRPC = (
    ErrorKind("JSONParseError", -32700, 400, _ARGUMENT, "the request is not valid JSON"),
    ErrorKind("InvalidRequestError", -32600, 400, _ARGUMENT, "the agent could not read the request"),
    ErrorKind("MethodNotFoundError", -32601, 404, "NOT_FOUND", "the agent does not know this method"),
    ErrorKind("InvalidParamsError", -32602, 400, _ARGUMENT, "the agent did not accept the parameters"),
    ErrorKind("InternalError", -32603, 500, "INTERNAL", "an internal error occurred in the agent"),
)
_A2A = (
    ErrorKind("TaskNotFoundError", -32001, 404, "NOT_FOUND", "the agent does not know this task"),
    ErrorKind(
        "TaskNotCancelableError",
        -32002,
        400,
        _PRECONDITION,
        "the task cannot be canceled",
        (409, _PRECONDITION),
    ),
    ErrorKind(
        "PushNotificationNotSupportedError",
        -32003,
        400,
        _PRECONDITION,
        "the agent does not support push notifications",
        (400, _UNIMPLEMENTED),
    ),
    ErrorKind(
        "UnsupportedOperationError",
        -32004,
        400,
        _PRECONDITION,
        "the agent does not support this operation",
        (400, _UNIMPLEMENTED),
    ),
    ErrorKind(
        "ContentTypeNotSupportedError",
        -32005,
        400,
        _ARGUMENT,
        "the agent does not support this content type",
        (415, _ARGUMENT),
    ),
    ErrorKind(
        "InvalidAgentResponseError",
        -32006,
        500,
        "INTERNAL",
        "the response of the agent violates the protocol",
        (502, "INTERNAL"),
    ),
    ErrorKind("ExtendedAgentCardNotConfiguredError", -32007, 400, _PRECONDITION, "the agent has no extended card"),
    ErrorKind(
        "ExtensionSupportRequiredError",
        -32008,
        400,
        _PRECONDITION,
        "the agent requires an extension that the request does not activate",
    ),
    ErrorKind(
        "VersionNotSupportedError",
        -32009,
        400,
        _PRECONDITION,
        "the agent does not support this protocol version",
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
"""The errors of A2A 0.2 to the draft of 1.1, by JSON-RPC code; the dialect of 0.1 has other names for some codes."""

BY_NAME: dict[str, ErrorKind] = {kind.name: kind for kind in _JSONRPC + _A2A}
"""The same errors by name."""

BY_REASON: dict[str, ErrorKind] = {kind.reason: kind for kind in _JSONRPC + _A2A}
"""The same errors by the `reason` of their ErrorInfo (1.0 section 11.6)."""


def kind_identified_by(info: Mapping[str, object]) -> ErrorKind | None:
    """Return the error that an ErrorInfo identifies, None if it does not.

    The reasons of JSON-RPC errors are general words, which mean these errors only in the domain of A2A.
    """
    reason = info.get("reason")
    kind = BY_REASON.get(reason) if isinstance(reason, str) else None
    return None if kind in _JSONRPC and info.get("domain", DOMAIN) != DOMAIN else kind


_FORMER_NAMES = {"AuthenticatedExtendedCardNotConfiguredError": "ExtendedAgentCardNotConfiguredError"}


def named_in(text: str) -> ErrorKind | None:
    """Return the error that is named at the beginning of a text (`TaskNotFoundError: no such task`), or None."""
    name = text.partition(":")[0].strip()
    return BY_NAME.get(_FORMER_NAMES.get(name, name))


@dataclass(frozen=True, slots=True)
class ProtocolError:
    """An error in a response of the agent: code, message and data.

    - `code`: the JSON-RPC code; over other bindings the code of the error that the response identifies, None if the
      response does not identify an error.
    - `status`: the HTTP status of the response, 0 for none.
    - `called`: the name of the error if it does not follow from the code: the name of a status, or the name in an older
      protocol version.
    """

    code: int | None
    message: str
    data: Json = None
    status: int = 0
    called: str = ""

    @property
    def name(self) -> str:
        """Return the name of the error, `Error` if it is unknown."""
        kind = BY_CODE.get(self.code) if self.code is not None else None
        return self.called or (kind.name if kind else "Error")

    @property
    def words(self) -> str:
        """Return `name: message`; the name is not repeated if the message starts with it, as in 0.3 over gRPC."""
        message = self.message.removeprefix(f"{self.name}:").strip()
        return f"{self.name}: {message}" if message else self.name


class Whose(StrEnum):
    """Who has to act to correct a failure."""

    OURS = "the inspector"
    YOURS = "the command"
    AGENT = "the agent"
    NETWORK = "the network"


class FaultCode(StrEnum):
    """The codes of failures that are not errors of A2A, from the a2a-cli specification 0.2 (appendix D).

    The specification requires another prefix for codes that it does not define.
    """

    USAGE = "A2ACLI_ERR_USAGE"
    CARD_NOT_FOUND = "A2ACLI_ERR_CARD_NOT_FOUND"
    CARD_INVALID = "A2ACLI_ERR_CARD_INVALID"
    UNREACHABLE = "A2ACLI_ERR_UNREACHABLE"
    CREDENTIALS_MISSING = "A2ACLI_ERR_CREDENTIALS_MISSING"
    AUTH_FAILED = "A2ACLI_ERR_AUTH_FAILED"
    TIMEOUT = "A2ACLI_ERR_TIMEOUT"
    INTERNAL = "A2ACLI_ERR_INTERNAL"
    CHECK_FAILED = "A2A_INSPECT_ERR_CHECK_FAILED"


VERSION_NOT_SUPPORTED = "VersionNotSupportedError"
"""The code if agent and inspector have no protocol version in common: the name of the error of A2A."""

INVALID_RESPONSE = "InvalidAgentResponseError"
"""The code of failures whose cause is the response of an agent that was reached: the name of the error of A2A."""


OTHER_REASONS = (
    "A refusal can have other reasons than credentials: see the log of the agent, and of a gateway before it."
)
"""The first hint about a fault that is `refused`."""


class FaultKind(Enum):
    """A kind of failure whose hint depends on more than the failure, such as the options of a command."""

    UNEXPLAINED_DENIAL = auto()
    """Credentials may be required, and nothing is known about the reason."""
    UNEXPLAINED_REJECTION = auto()
    """The credentials were rejected, and nothing is known about the reason."""
    NOT_HTTP = auto()
    """The response is not HTTP: the port may be that of another server, or of gRPC."""
    OTHER_PROTOCOL = auto()
    """The server uses another protocol than the URL names: with or without TLS, or not HTTP/2."""
    LOGIN_PAGE = auto()
    """The URL of the card redirects to a login page."""
    CLIENT_CERTIFICATE = auto()
    """No client certificate was sent, and the server requires one, or may require one."""
    INVALID_URL = auto()
    """The URL of the request is not valid."""
    UNFRAMED_EVENTS = auto()
    """The response to a streaming call has events, but its Content-Type is not that of a stream."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure as it is shown to the user.

    - `whose`: who has to act.
    - `code`: a `FaultCode`, or the name of the A2A error in the response of the agent.
    - `seen`: what failed and why, as a sentence; `hint`: what to do next.
    - `error`: the error in the response of the agent.
    - `kind`: the kind of failure, None if no hint depends on it.
    - `cause`: the sentence in `seen` about why credentials were not accepted, `""` if that is not known.
    """

    whose: Whose
    code: str
    seen: str
    hint: str = ""
    error: ProtocolError | None = None
    kind: FaultKind | None = None
    cause: str = ""

    @property
    def denied(self) -> bool:
        """Return whether credentials are missing or were not accepted."""
        return self.code in (FaultCode.CREDENTIALS_MISSING, FaultCode.AUTH_FAILED)

    @property
    def refused(self) -> bool:
        """Return whether a request without credentials was refused (403), which can have other reasons than these."""
        return self.code == FaultCode.AUTH_FAILED and self.kind is FaultKind.UNEXPLAINED_DENIAL

    def sentence(self) -> str:
        """Return the failure and the hint in one line."""
        return f"{self.seen} {self.hint}".strip()


class FaultError(Exception):
    """An exception with a `Fault`, for functions that cannot return one."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.sentence())
        self.fault = fault


def usage_error(seen: str, hint: str = "") -> FaultError:
    """Return an error that the user can correct."""
    return FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, hint))
