"""Rules that compare an error with its request, with the card, and with the state of the task (1.0 section 3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from inspector.findings.examples import response
from inspector.findings.finding import Finding
from inspector.findings.rule_set import ERROR, SINCE_0_2, V1, WARNING, Rule, RuleSet, Violation
from inspector.protocol.circumstances import UNKNOWN, Circumstances, says_ended
from inspector.protocol.dialects.registry import version_of
from inspector.protocol.errors import BY_CODE, BY_NAME, ProtocolError
from inspector.protocol.lifecycle import short
from inspector.protocol.model import Json, Request, SendRequest
from inspector.protocol.operations import PUSH, Operation

_INVALID = frozenset({"InvalidParamsError", "InvalidRequestError", "INVALID_ARGUMENT"})
"""The errors for a request that is not valid: their names, and the gRPC status of an error without details."""

_UNSUPPORTED = "UnsupportedOperationError"
ERROR_OF_ENDED_TASK = {
    Operation.SEND: _UNSUPPORTED,
    Operation.STREAM: _UNSUPPORTED,
    Operation.SUBSCRIBE: _UNSUPPORTED,
    Operation.CANCEL: "TaskNotCancelableError",
}
"""The required errors of operations on a task that has ended."""
_ERROR_OF_CAPABILITY = {
    "streaming": _UNSUPPORTED,
    "pushNotifications": "PushNotificationNotSupportedError",
    "extendedAgentCard": _UNSUPPORTED,
}
"""The required errors of operations that need a capability which the card does not declare."""


class ErrorFacts(NamedTuple):
    """An error, its request with its circumstances, and the JSON pointer to the error in the payload (`place`)."""

    version: str
    operation: Operation
    request: Request
    error: ProtocolError
    place: str
    circumstances: Circumstances


def judge_error(
    version: str,
    operation: Operation,
    request: Request,
    error: ProtocolError,
    place: str,
    circumstances: Circumstances = UNKNOWN,
) -> tuple[Finding, ...]:
    """Check an error against its request; `place` is the JSON pointer to the error in the payload."""
    return tuple(ERRORS.judge(ErrorFacts(version, operation, request, error, place, circumstances)))


RULES: list[Rule] = []
ERRORS = RuleSet[ErrorFacts](RULES, SINCE_0_2)
"""Rules about errors do not apply to 0.1, where clients choose the task ids and the error codes differ."""


def _refusal(name: str, operation: str = "SendMessage", **more: Json) -> Json:
    kind = BY_NAME[name]
    error = {"code": kind.code, "message": kind.meaning, "data": [kind.info()]}
    return response({"jsonrpc": "2.0", "id": "the-id", "error": error}, operation=operation, **more)


_INTERFACE: Json = {"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
_CARD: Json = {"supportedInterfaces": [_INTERFACE]}
_HEADERS: Json = {"A2A-Version": "1.0"}
_TO_TASK: Json = {"message": {"messageId": "m-1", "role": "ROLE_USER", "taskId": "t-1", "parts": [{"text": "hi"}]}}


@ERRORS.rule(
    "RESULT-008",
    WARNING,
    "The error does not match the request",
    section="1.0 §3.3.2, §3.1.1; 0.3 §8.2",
    requirement="Each error has a specific cause.",
    remedy="Respond with the error that describes the problem of this request; clients act on its code.",
    passing=_refusal("UnsupportedOperationError"),
    failing=_refusal("TaskNotCancelableError"),
)
def unrelated_error(facts: ErrorFacts) -> Iterator[Violation]:
    kind = BY_CODE.get(facts.error.code) if facts.error.code is not None else None
    if kind is not None and (why := _why_impossible(kind.name, facts.operation, facts.request)):
        yield Violation(facts.place, f"the error is {facts.error.name}, but {why}")


def _why_impossible(name: str, operation: Operation, request: Request) -> str:
    """Return why the request cannot cause the error, `""` if it can."""
    sent = request if isinstance(request, SendRequest) else None
    match name:
        case "TaskNotFoundError" if sent and not (sent.message.task_id or sent.message.reference_task_ids):
            return "the request names no task"
        case "TaskNotCancelableError" if operation is not Operation.CANCEL:
            return "the request does not cancel a task"
        case "PushNotificationNotSupportedError" if operation not in PUSH:
            configuration = sent.configuration if sent else None
            sets_push = configuration and configuration.task_push_notification_config
            return "" if sets_push else "the request does not configure push notifications"
        case "ExtendedAgentCardNotConfiguredError" if operation is not Operation.EXTENDED_CARD:
            return "the request does not ask for a card"
        case _:
            return ""


@ERRORS.rule(
    "RESULT-009",
    ERROR,
    "The error contradicts the card",
    section="1.0 §3.3.2, §3.3.4, §3.6.2",
    requirement="The agent supports the protocol versions and the capabilities that its card declares.",
    remedy="Support what the card declares, or correct the card. For an error about the version or an extension, also "
    "check whether a proxy removes the header.",
    versions=V1,
    passing=_refusal("VersionNotSupportedError", card=_CARD, headers={"A2A-Version": "9.9"}),
    failing=_refusal("VersionNotSupportedError", card=_CARD, headers=_HEADERS),
)
def contradicts_card(facts: ErrorFacts) -> Iterator[Violation]:
    if facts.circumstances.card is not None and (why := _contradiction(facts)):
        yield Violation(facts.place, f"the error is {facts.error.name}, but {why}")


def _contradiction(facts: ErrorFacts) -> str:
    """Return which declaration of the card an error contradicts, `""` if there is none."""
    known = facts.circumstances
    card, interface = known.card, known.interface
    match facts.error.name:
        case "VersionNotSupportedError" if interface is not None:
            declared = known.declared_version
            is_declared = facts.version in (declared, version_of(declared)) and declared == known.version
            return f"the card declares {declared} for this interface, and the request has {declared}" * is_declared
        case "ExtensionSupportRequiredError" if not known.required_extensions:
            return "the card requires no extension"
        case "ExtensionSupportRequiredError" if not known.missing_extensions:
            return "the request activates every extension that the card requires"
        case "PushNotificationNotSupportedError" if card is not None and card.capabilities.push_notifications:
            return "the card declares pushNotifications: true"
        case _:
            return ""


@ERRORS.rule(
    "RESULT-010",
    WARNING,
    "An undeclared capability is rejected with another error than the required one",
    section="1.0 §3.3.4",
    requirement="An operation that needs an undeclared capability MUST be rejected with a specific error: "
    "PushNotificationNotSupportedError for push notifications, UnsupportedOperationError for the others.",
    remedy="Respond with the required error; clients recognize a missing capability by its code.",
    versions=V1,
    passing=_refusal("PushNotificationNotSupportedError", "ListTaskPushNotificationConfigs", card=_CARD),
    failing=_refusal("MethodNotFoundError", "ListTaskPushNotificationConfigs", card=_CARD),
)
def other_error_for_capability(facts: ErrorFacts) -> Iterator[Violation]:
    lacking = facts.circumstances.undeclared_capability(facts.operation)
    required = _ERROR_OF_CAPABILITY.get(lacking, "")
    if required and facts.error.name != required and facts.error.name in ("MethodNotFoundError", _UNSUPPORTED):
        yield Violation(
            facts.place,
            f"the error is {facts.error.name}, expected {required}, because the card does not declare {lacking}",
        )


@ERRORS.rule(
    "RESULT-011",
    ERROR,
    "An operation on a task that has ended is not rejected with the required error",
    section="1.0 §3.1.1, §3.1.2, §3.1.5, §3.1.6, §3.3.2",
    requirement="Messages and subscriptions to a task in a terminal state are rejected with UnsupportedOperationError, "
    "its cancellation with TaskNotCancelableError.",
    remedy="Check the state of the task before anything else, and respond with the required error.",
    versions=V1,
    passing=_refusal("UnsupportedOperationError", asked=_TO_TASK, before="TASK_STATE_COMPLETED"),
    failing=_refusal("InvalidParamsError", asked=_TO_TASK, before="TASK_STATE_COMPLETED"),
)
def other_error_for_ended_task(facts: ErrorFacts) -> Iterator[Violation]:
    required = ERROR_OF_ENDED_TASK.get(facts.operation, "")
    if not required or facts.error.name not in _INVALID or not _is_valid(facts.request, facts.circumstances.context_id):
        return
    known = facts.circumstances
    if known.ended:
        yield Violation(facts.place, _wrong_error(facts, required, f"the task is {short(known.state)}"))
    elif says_ended(facts.error.message):
        yield Violation(facts.place, _wrong_error(facts, required, f"the message is {facts.error.message[:120]!r}"))


def _wrong_error(facts: ErrorFacts, required: str, why: str) -> str:
    return f"the error is {facts.error.name}, expected {required}: {why}"


def _is_valid(request: Request, context_id: str) -> bool:
    """Return whether an agent has no other reason to reject a request: a missing member, or another context's id."""
    if not isinstance(request, SendRequest):
        return True
    sent = request.message
    other_context = context_id and sent.context_id and sent.context_id != context_id
    return bool(sent.message_id and sent.parts and sent.task_id and not other_context)
