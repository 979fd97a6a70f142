"""What a call came to: the failure in words, where it failed."""

from __future__ import annotations

from dataclasses import replace

from inspector.protocol.errors import BY_NAME, Fault, FaultCode, ProtocolError, Whose
from inspector.protocol.model import Unreadable
from inspector.protocol.operations import Operation
from inspector.session.exchange import UNANSWERED, Exchange
from inspector.wire.client.observations import Ending
from inspector.wire.discovery import REDIRECTS

_HINTS = {
    "VersionNotSupportedError": "Connect again with another generation: --a2a-version 0.3 or 1.0.",
    "MethodNotFoundError": "The agent may speak another generation than its card says: try --a2a-version.",
    "TaskNotFoundError": "Agents forget tasks when they restart; check the id.",
    "TaskNotCancelableError": "The task has ended; its state tells how.",
    "PushNotificationNotSupportedError": "Send without push; the card should say pushNotifications: false.",
    "InvalidParamsError": "The error's data, where there is any, names the member.",
    "ContentTypeNotSupportedError": "Compare the parts with the input modes on the card.",
    "ExtensionSupportRequiredError": "The card names the extension; activate it with --svc-param.",
}
_ENDED = "A task that has ended takes no more messages: start a new one in the same context."
"""What an UnsupportedOperationError to a message mostly means."""
_LOOK = "The agent's log may tell more."
_DENIED = {"UNAUTHENTICATED": FaultCode.CREDENTIALS_MISSING, "PERMISSION_DENIED": FaultCode.AUTH_FAILED}
"""The statuses with which gRPC says what HTTP says with 401 and 403."""
_GIVE = "Give them with --bearer or --header; they go to the origin that you typed, and to no other."
_SENDABLE = ("http://", "https://", "grpc://", "grpcs://")
_BODY_QUOTE = 120


def fault_of(exchange: Exchange) -> Fault | None:
    """Say what went wrong with a call, or None where the agent answered it or we stopped listening; secrets are masked.

    An error that the agent answered with goes by the protocol's own name; a stream that broke off after events is a
    fault too.
    """
    fault = _fault_of(exchange)
    return replace(fault, seen=exchange.journal.redactor.text(fault.seen)) if fault else None


def _fault_of(exchange: Exchange) -> Fault | None:
    answer, status = exchange.answer, exchange.head.status if exchange.head else 0
    if status in UNANSWERED:
        return _of_status(exchange)
    if isinstance(answer, ProtocolError):
        fault = of_error(answer)
        sending = exchange.call.operation in (Operation.SEND, Operation.STREAM)
        unsupported = fault.code == "UnsupportedOperationError"
        return replace(fault, hint=_ENDED) if unsupported and sending else fault
    if status >= 300:
        return _of_status(exchange)
    if exchange.fault is not None:
        by_card = exchange.call.request is not None  # a request that was written by hand names its url itself
        return _of_url(exchange.fault) if by_card and _is_no_url(exchange) else exchange.fault
    if isinstance(answer, Unreadable):
        return Fault(
            Whose.AGENT,
            "InvalidAgentResponseError",
            f"The answer cannot be read: {answer.why}.",
            "The raw bytes are in the capture; is this the url of the interface?",
        )
    if answer is None and exchange.ending is not Ending.STOPPED:
        return Fault(
            Whose.AGENT,
            "InvalidAgentResponseError",
            "The agent answered with nothing.",
            "A call is answered with a result or an error; look at the agent's log.",
        )
    return None


def _is_no_url(exchange: Exchange) -> bool:
    """Tell whether a call came to nothing because no request can be made for the url of the interface."""
    summary = exchange.journal.exchanges.get(exchange.number)
    sendable = summary is not None and summary.url.startswith(_SENDABLE)
    return exchange.fault is not None and exchange.fault.code == FaultCode.USAGE and not sendable


def _of_url(fault: Fault) -> Fault:
    """Blame the card, which names the url of an interface, for one that no request can be made for."""
    return replace(fault, whose=Whose.AGENT, code=FaultCode.UNREACHABLE, hint="The card has to name another url.")


def of_error(error: ProtocolError) -> Fault:
    """Put an error that the agent answered with into words."""
    kind = BY_NAME.get(error.name)
    meaning = f"{kind.meaning[0].upper()}{kind.meaning[1:]}" if kind else "The agent answered with an error"
    if error.name in _DENIED:
        return Fault(Whose.YOURS, _DENIED[error.name], f"The agent demands credentials ({error.words}).", _GIVE)
    return Fault(Whose.AGENT, error.name, f"{meaning} ({error.words}).", _HINTS.get(error.name, _LOOK), error)


def _of_status(exchange: Exchange) -> Fault:
    head = exchange.head
    if head is None:
        raise ValueError("an exchange without a response has no status")
    if head.status in (401, 403):
        missing = head.status == 401
        asked = head.header("www-authenticate")
        return Fault(
            Whose.YOURS,
            FaultCode.CREDENTIALS_MISSING if missing else FaultCode.AUTH_FAILED,
            f"The agent demands credentials: {head.status} {head.reason}{f', {asked}' if asked else ''}.",
            _GIVE,
        )
    if head.status in REDIRECTS:
        return Fault(
            Whose.AGENT,
            FaultCode.UNREACHABLE,
            f"The interface redirects ({head.status}) to {head.header('location') or 'nowhere'}.",
            "A POST is not sent on unasked: correct the url on the card, often a slash at its end.",
        )
    why = f": {exchange.answer.why}" if isinstance(exchange.answer, Unreadable) else ""
    return Fault(
        Whose.AGENT,
        FaultCode.UNREACHABLE if head.status in (404, 405, 502, 503, 504) else FaultCode.INTERNAL,
        f"The interface answered {head.status} {head.reason}{why[:_BODY_QUOTE]}.",
        "Is the url on the card the one where the agent listens?" if head.status in (404, 405) else _LOOK,
    )
