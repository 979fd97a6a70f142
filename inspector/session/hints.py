"""Hints about errors in responses: what to do next, depending on what is known about the call.

`HINTS` is the only list. Each hint is true in every situation in which it is shown; `tests/session/test_hints.py` has a
situation for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.circumstances import Circumstances, says_ended, version_header
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import DIALECTS, for_request
from inspector.protocol.errors import ProtocolError
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import Request, SendRequest
from inspector.protocol.operations import PUSH, SENDS, Operation

CHECK_LOG = "Check the log of the agent."
CHECK_RESPONSE = "Look at the bytes of the response."
SEND_EVENT_STREAM = "Send Content-Type: text/event-stream."
STREAM_LEFT_OPEN = "The result is complete; the agent should close the stream when the task has ended."
CHECK_GATEWAY = (
    "Check that the agent is running. A proxy sends this status if it does not reach the agent: see its log, too."
)
_ERROR_INFO = frozenset({"@type", "reason", "domain"})
"""The members of an ErrorInfo that only identify the error."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known about a call that the agent answered with an error.

    `request` is None for a raw request. `state` is the newest state of the task that the request names, `""` if it is
    unknown or if the request names no task.
    """

    operation: Operation
    dialect: Dialect
    request: Request | None
    error: ProtocolError
    circumstances: Circumstances
    state: str = ""

    @property
    def sends(self) -> bool:
        """Return whether the call sends a message."""
        return self.operation in SENDS

    @property
    def names_task(self) -> bool:
        """Return whether the request names a task that has to exist."""
        if isinstance(self.request, SendRequest):
            return bool(self.request.message.task_id or self.request.message.reference_task_ids)
        return self.operation not in (Operation.LIST, Operation.EXTENDED_CARD)

    @property
    def registers_webhook(self) -> bool:
        """Return whether the call sends a message that registers a webhook; a raw request may do so."""
        if not isinstance(self.request, SendRequest):
            return self.sends
        configuration = self.request.configuration
        return configuration is not None and configuration.task_push_notification_config is not None

    @property
    def has_details(self) -> bool:
        """Return whether the error has data with more than its name and domain."""
        data = self.error.data
        details = data if isinstance(data, list) else [data]
        return any(detail and (not isinstance(detail, dict) or detail.keys() - _ERROR_INFO) for detail in details)

    @property
    def continues_task(self) -> bool:
        """Return whether the call sends a message to an existing task."""
        return isinstance(self.request, SendRequest) and bool(self.request.message.task_id)

    @property
    def has_ended(self) -> bool:
        """Return whether the task has ended, according to its state or to the error."""
        return self.names_task and (is_terminal(self.state) or says_ended(self.error.message))

    @property
    def may_have_ended(self) -> bool:
        """Return whether the call continues or follows a task that is not known to be running."""
        return not self.state and (self.continues_task or self.operation is Operation.SUBSCRIBE)

    @property
    def task_is(self) -> str:
        """Return the beginning of a sentence about a task that has ended."""
        return f"The task has ended ({short(self.state)})" if is_terminal(self.state) else "The task has ended"

    @property
    def lacking(self) -> str:
        """Return the capability that the operation needs and that the card does not declare, `""` for none."""
        return self.circumstances.undeclared_capability(self.operation)

    @property
    def other_version(self) -> str:
        """Return the version that the card declares if the request uses another version, `""` if it does not.

        It is `""`, too, if this version cannot be requested.
        """
        declared, binding = self.circumstances.declared_version, self.circumstances.interface
        used = (self.dialect.version, self.dialect.traits.declared)
        known = binding is not None and for_request(declared, binding.protocol_binding) is not None
        return declared if known and declared not in used else ""


_Words: TypeAlias = str | Callable[[Situation], str]


class Hint(NamedTuple):
    """A hint about errors with one of these names, in the situations in which `applies` returns True."""

    errors: Sequence[str]
    applies: Callable[[Situation], bool]
    words: _Words


def hint_of(situation: Situation) -> str:
    """Return the first hint that applies; without one, the advice to check the log of the agent."""
    name = situation.error.name
    for hint in HINTS:
        if name in hint.errors and hint.applies(situation):
            return hint.words if isinstance(hint.words, str) else hint.words(situation)
    return CHECK_LOG


def _always(_: Situation) -> bool:
    return True


def _ended_task(at: Situation) -> str:
    if at.operation is Operation.SUBSCRIBE:
        return f"{at.task_is}, so that it sends no more events."
    if at.operation is Operation.CANCEL:
        return f"{at.task_is}: only a task that has not ended can be canceled."
    return f"{at.task_is} and accepts no messages: start a new task in the same context."


def _perhaps_ended(at: Situation) -> str:
    if at.operation is Operation.SUBSCRIBE:
        return "If the task has ended, it sends no more events."
    return "If the task has ended, it accepts no messages: start a new task in the same context."


def _undeclared(at: Situation) -> str:
    instead = {
        Operation.STREAM: "send the message without streaming",
        Operation.SUBSCRIBE: "get the task instead",
        Operation.EXTENDED_CARD: "use the public card",
    }.get(at.operation, "get the task to follow it")
    return f"The card does not declare {at.lacking}: {instead}."


def _other_version(at: Situation) -> str:
    return f"The card declares {at.other_version} for this interface: try --a2a-version {at.other_version}."


def _lost_version(at: Situation) -> str:
    name, version = version_header(at.dialect), at.circumstances.version
    return (
        f"The request has {name}: {version}. Check whether a proxy removes the header {name}: "
        "without it, agents assume 0.3."
    )


def _activate(at: Situation) -> str:
    uris = ", ".join(at.circumstances.missing_extensions)
    return f"Activate the extension that the card requires: --svc-param '{at.dialect.extensions_header}: {uris}'."


def _lost_extensions(at: Situation) -> str:
    name = at.dialect.extensions_header
    return f"The request activates every required extension: check whether a proxy removes the header {name}."


def _named_version(at: Situation) -> str:
    """Return the advice to use the protocol version whose header the error names, `""` if it names no other header."""
    own, words = version_header(at.dialect), at.error.message.lower()
    for dialect in DIALECTS.values():
        name = version_header(dialect)
        if name not in ("", own) and name.lower() in words:
            return f"The request has {own}, but not {name}: try --a2a-version {dialect.version}."
    return ""


_VERSION = ("VersionNotSupportedError",)
# The names of gRPC statuses are those of errors that do not identify themselves.
_METHOD = ("MethodNotFoundError", "UNIMPLEMENTED")
_NOT_FOUND = ("TaskNotFoundError", "NOT_FOUND")
_NOT_CANCELABLE = ("TaskNotCancelableError",)
_PUSH = ("PushNotificationNotSupportedError",)
_UNSUPPORTED = ("UnsupportedOperationError",)
_INVALID = ("InvalidParamsError", "InvalidRequestError", "INVALID_ARGUMENT")
_CONTENT = ("ContentTypeNotSupportedError",)
_EXTENSION = ("ExtensionSupportRequiredError",)

HINTS: Sequence[Hint] = (
    Hint(_VERSION, lambda at: bool(at.other_version), _other_version),
    Hint(
        _VERSION,
        lambda at: not version_header(at.dialect),
        lambda at: f"Requests of A2A {at.dialect.version} have no version header: try --a2a-version 1.0.",
    ),
    Hint(
        _VERSION,
        lambda at: not at.circumstances.version,
        lambda at: f"The request has no {version_header(at.dialect)} header, which means 0.3: add the header.",
    ),
    Hint(
        _VERSION,
        lambda at: bool(at.dialect.traits.declared),
        lambda at: (
            f"The request has {version_header(at.dialect)}, but not A2A-Version: if the agent uses A2A, try "
            f"--a2a-version {at.dialect.traits.declared}."
        ),
    ),
    Hint(_VERSION, lambda at: bool(_named_version(at)), _named_version),
    Hint(_VERSION, _always, _lost_version),
    Hint((*_METHOD, *_UNSUPPORTED, *_PUSH), lambda at: bool(at.lacking), _undeclared),
    Hint(_METHOD, lambda at: bool(at.other_version), _other_version),
    Hint(
        _METHOD,
        lambda at: bool(at.state),
        lambda at: f"The agent sent this task before, so it may only lack the operation {at.operation}.",
    ),
    Hint(
        _METHOD,
        _always,
        "The agent may use another protocol version than its card declares: try another with --a2a-version.",
    ),
    Hint(
        _NOT_FOUND,
        lambda at: at.operation in (Operation.GET_PUSH, Operation.DELETE_PUSH),
        "Check the ids of the task and the configuration; task push-config list prints the configurations.",
    ),
    Hint(
        _NOT_FOUND, lambda at: at.names_task, "Check the id of the task; an agent can lose its tasks when it restarts."
    ),
    Hint(
        (*_NOT_CANCELABLE, *_UNSUPPORTED, *_INVALID), lambda at: at.has_ended and at.operation not in PUSH, _ended_task
    ),
    Hint(
        _NOT_CANCELABLE,
        lambda at: at.operation is Operation.CANCEL,
        "Get the task to see its state: a task that has ended cannot be canceled.",
    ),
    Hint(_PUSH, lambda at: at.registers_webhook, "Send the message without push notifications."),
    Hint(
        _PUSH,
        lambda at: at.operation in PUSH and at.circumstances.card is not None,
        "The card declares pushNotifications: correct the card, or the agent.",
    ),
    Hint(_UNSUPPORTED, lambda at: at.may_have_ended, _perhaps_ended),
    Hint(
        _UNSUPPORTED,
        lambda at: at.operation is Operation.STREAM and at.circumstances.card is not None,
        "The card declares streaming, but the agent may not support it: send the message without streaming.",
    ),
    Hint(
        _UNSUPPORTED,
        lambda at: at.operation is Operation.SUBSCRIBE,
        "The task may have ended meanwhile: get the task to see its state.",
    ),
    Hint(_UNSUPPORTED, lambda at: at.operation is Operation.LIST, "Get single tasks by their ids."),
    Hint(_INVALID, lambda at: bool(at.other_version), _other_version),
    Hint(
        _INVALID,
        lambda at: at.has_details,
        "Check the data of the error, which may name the invalid member.",
    ),
    Hint(_INVALID, lambda at: at.may_have_ended, _perhaps_ended),
    Hint(
        _CONTENT,
        lambda at: isinstance(at.request, SendRequest),
        "Compare the media types of the parts, and the accepted output modes, with the modes on the card.",
    ),
    Hint(
        _CONTENT,
        lambda at: at.request is None,
        "Check the Content-Type of the raw request, and the media types of the parts.",
    ),
    Hint(_EXTENSION, lambda at: bool(at.circumstances.missing_extensions and at.dialect.extensions_header), _activate),
    Hint(
        _EXTENSION,
        lambda at: bool(at.circumstances.required_extensions and at.dialect.extensions_header),
        _lost_extensions,
    ),
    Hint(
        _EXTENSION,
        lambda at: at.circumstances.card is not None and not at.circumstances.required_extensions,
        "The card requires no extension: the message of the error may name it.",
    ),
    Hint(
        ("ExtendedAgentCardNotConfiguredError",),
        lambda at: at.operation is Operation.EXTENDED_CARD,
        "Use the public card.",
    ),
    Hint(
        ("TaskGenerationMismatchError",),
        lambda at: at.sends,
        "Get the task, and send the message with its new revision.",
    ),
    Hint(("UNAVAILABLE",), _always, CHECK_GATEWAY),
    Hint(
        ("DEADLINE_EXCEEDED",),
        _always,
        "The agent, or a proxy before it, has a time limit that this call exceeded: check their settings.",
    ),
    Hint(
        ("RESOURCE_EXHAUSTED",),
        _always,
        "The call exceeded a limit of the agent or of a proxy before it: wait, or send less.",
    ),
    Hint(("JSONParseError",), lambda at: at.request is None, "Check the JSON of the raw request."),
)
"""The hints; for each error, those that need a special situation come first."""
