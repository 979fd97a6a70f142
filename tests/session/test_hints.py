"""The hints about errors: each is shown in its situation, and not in situations in which it would be wrong."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.card import AgentCapabilities, AgentCard, AgentExtension, AgentInterface
from inspector.protocol.circumstances import Circumstances, sent_version
from inspector.protocol.dialects.registry import for_request
from inspector.protocol.errors import BY_NAME, ProtocolError
from inspector.protocol.model import Message, PushConfig, SendConfiguration, SendRequest
from inspector.protocol.operations import REQUESTS, Operation
from inspector.session.hints import CHECK_LOG, HINTS, Situation, hint_of

NEW = SendRequest(message=Message(message_id="m"))
TO_TASK = SendRequest(message=Message(message_id="m", task_id="t"))
WITH_PUSH = SendRequest(
    message=Message(message_id="m"),
    configuration=SendConfiguration(task_push_notification_config=PushConfig(url="https://a.example/hook")),
)
ALL = {"streaming": True, "push_notifications": True, "extended_agent_card": True}
EXTENSION = AgentExtension(uri="https://x.example/1", required=True)
COMPLETED, WORKING = "TASK_STATE_COMPLETED", "TASK_STATE_WORKING"


def at(
    name: str,
    operation: Operation = Operation.SEND,
    *,
    version: str = "1.0",
    declared: str | None = None,
    sent: str | None = None,
    raw: bool = False,
    request: Any = None,
    state: str = "",
    words: str = "",
    data: Any = None,
    has: dict[str, Any] | None = None,
    activated: tuple[str, ...] = (),
) -> Situation:
    """Return a situation: by default, a call in the declared version to an agent with a card."""
    dialect = for_request(version, "JSONRPC")
    assert dialect is not None
    interface = AgentInterface(
        url="https://a.example/",
        protocol_binding="JSONRPC",
        protocol_version=dialect.traits.declared or version if declared is None else declared,
    )
    card = AgentCard(supported_interfaces=[interface], capabilities=AgentCapabilities(**(ALL | (has or {}))))
    headers = dialect.headers.items()
    known = Circumstances(
        card, interface, sent_version(dialect, headers) if sent is None else sent, frozenset(activated)
    )
    kind = BY_NAME.get(name)
    error = ProtocolError(kind.code if kind else -31000, words, data, called="" if kind else name)
    default = NEW if operation in (Operation.SEND, Operation.STREAM) else REQUESTS[operation]()
    return Situation(operation, dialect, None if raw else request or default, error, known, state)


VERSION, METHOD, UNSUPPORTED = "VersionNotSupportedError", "MethodNotFoundError", "UnsupportedOperationError"
INVALID, PUSH = "InvalidParamsError", "PushNotificationNotSupportedError"
NO_STREAMING = {"streaming": None}

SITUATIONS: list[tuple[Situation, str]] = [
    # statuses of gRPC that a proxy can send, too
    (at("UNAVAILABLE"), "A proxy sends this status if it does not reach the agent"),
    (at("DEADLINE_EXCEEDED"), "has a time limit that this call exceeded"),
    (at("RESOURCE_EXHAUSTED"), "wait, or send less"),
    # a version is never recommended that was already tried
    (at(VERSION, declared="0.3"), "The card declares 0.3 for this interface: try --a2a-version 0.3."),
    (at(VERSION, version="0.3", declared="1.0"), "The card declares 1.0 for this interface: try --a2a-version 1.0."),
    (at(VERSION, declared="2.0"), "removes the header A2A-Version"),
    (at(VERSION, version="0.3"), "Requests of A2A 0.3 have no version header: try --a2a-version 1.0."),
    (at(VERSION, raw=True, sent=""), "The request has no A2A-Version header, which means 0.3"),
    (at(VERSION, version="opvs"), "but not A2A-Version: if the agent uses A2A, try --a2a-version 1.0."),
    (at(VERSION, version="opvs", declared="opvs"), "The request has OPVS-Version, but not A2A-Version"),
    (at(VERSION), "The request has A2A-Version: 1.0. Check whether a proxy removes the header A2A-Version"),
    (at(VERSION, version="1.1"), "The request has A2A-Version: 1.1."),
    (at(VERSION, words="OPVS-Version is missing"), "has A2A-Version, but not OPVS-Version: try --a2a-version opvs."),
    (at(VERSION, version="1.1", declared="1.0"), "try --a2a-version 1.0."),
    # an operation that the card does not declare
    (at(METHOD, Operation.SET_PUSH, has={"push_notifications": None}), "The card does not declare pushNotifications"),
    (at(PUSH, Operation.LIST_PUSH, has={"push_notifications": False}), "get the task to follow it."),
    (at(METHOD, Operation.STREAM, has=NO_STREAMING), "does not declare streaming: send the message without"),
    (at(UNSUPPORTED, Operation.STREAM, has=NO_STREAMING), "does not declare streaming: send the message without"),
    (at(UNSUPPORTED, Operation.SUBSCRIBE, has=NO_STREAMING), "does not declare streaming: get the task instead."),
    (at(UNSUPPORTED, Operation.EXTENDED_CARD, has={"extended_agent_card": None}), "use the public card."),
    (at(METHOD, declared="0.3"), "try --a2a-version 0.3."),
    (at(METHOD, Operation.CANCEL, state=WORKING), "it may only lack the operation CancelTask."),
    (at(METHOD), "try another with --a2a-version."),
    (at(METHOD, Operation.SET_PUSH), "try another with --a2a-version."),
    (at("UNIMPLEMENTED", Operation.SET_PUSH, has={"push_notifications": None}), "does not declare pushNotifications"),
    (at("UNIMPLEMENTED"), "try another with --a2a-version."),
    # ids
    (at("NOT_FOUND", Operation.GET), "Check the id of the task"),
    (at("TaskNotFoundError", Operation.GET), "Check the id of the task"),
    (at("TaskNotFoundError", request=TO_TASK), "Check the id of the task"),
    (at("TaskNotFoundError", Operation.DELETE_PUSH), "Check the ids of the task and the configuration"),
    (at("TaskNotFoundError"), CHECK_LOG),
    (at("TaskNotFoundError", Operation.LIST), CHECK_LOG),
    # a task that has ended
    (at(INVALID, request=TO_TASK, state=COMPLETED), "The task has ended (completed) and accepts no messages"),
    (at("InvalidRequestError", request=TO_TASK, words="Task t is in a terminal state"), "The task has ended and"),
    (at(UNSUPPORTED, request=TO_TASK, state=COMPLETED), "start a new task in the same context."),
    (at(UNSUPPORTED, Operation.SUBSCRIBE, state=COMPLETED), "(completed), so that it sends no more events."),
    (
        at("TaskNotCancelableError", Operation.CANCEL, state=COMPLETED),
        "The task has ended (completed): only a task that",
    ),
    (at("TaskNotCancelableError", Operation.CANCEL), "Get the task to see its state"),
    (at("TaskNotCancelableError"), CHECK_LOG),
    # the task may have ended, or is running, or the request names no task
    (at(UNSUPPORTED, request=TO_TASK), "If the task has ended, it accepts no messages"),
    (at(UNSUPPORTED, Operation.SUBSCRIBE), "If the task has ended, it sends no more events."),
    (at(UNSUPPORTED, Operation.SUBSCRIBE, state=WORKING), "get the task to see its state."),
    (at(INVALID, request=TO_TASK), "If the task has ended, it accepts no messages"),
    (at(UNSUPPORTED, request=TO_TASK, state=WORKING), CHECK_LOG),
    (at(UNSUPPORTED), CHECK_LOG),
    (at(UNSUPPORTED, words="nothing in a terminal state"), CHECK_LOG),
    (at(UNSUPPORTED, Operation.STREAM), "but the agent may not support it: send the message without streaming."),
    (at(UNSUPPORTED, Operation.LIST), "Get single tasks by their ids."),
    (at(UNSUPPORTED, Operation.GET), CHECK_LOG),
    # parameters
    (at(INVALID, data=[{"field": "x"}]), "Check the data of the error"),
    (at(INVALID, data="field x"), "Check the data of the error"),
    (at(INVALID, data=[BY_NAME[INVALID].info()]), CHECK_LOG),
    (at(INVALID, request=TO_TASK, data=[BY_NAME[INVALID].info()]), "If the task has ended, it accepts no messages"),
    (at(INVALID, declared="0.3"), "try --a2a-version 0.3."),
    (at(INVALID), CHECK_LOG),
    (at("INVALID_ARGUMENT", request=TO_TASK), "If the task has ended, it accepts no messages"),
    # push notifications
    (at(PUSH, request=WITH_PUSH), "Send the message without push notifications."),
    (at(PUSH, raw=True), "Send the message without push notifications."),
    (at(PUSH, request=NEW), CHECK_LOG),
    (at(PUSH, Operation.SET_PUSH), "The card declares pushNotifications: correct the card, or the agent."),
    (at(PUSH, Operation.GET), CHECK_LOG),
    # content, extensions, the rest
    (at("ContentTypeNotSupportedError"), "Compare the media types of the parts"),
    (at("ContentTypeNotSupportedError", raw=True), "Check the Content-Type of the raw request"),
    (at("ContentTypeNotSupportedError", Operation.GET), CHECK_LOG),
    (
        at("ExtensionSupportRequiredError", has={"extensions": [EXTENSION]}),
        "--svc-param 'A2A-Extensions: https://x.example/1'.",
    ),
    (
        at("ExtensionSupportRequiredError", has={"extensions": [EXTENSION]}, activated=(EXTENSION.uri,)),
        "check whether a proxy removes the header A2A-Extensions.",
    ),
    (at("ExtensionSupportRequiredError"), "The card requires no extension"),
    (at("ExtendedAgentCardNotConfiguredError", Operation.EXTENDED_CARD), "Use the public card."),
    (at("TaskGenerationMismatchError", version="1.1", request=TO_TASK), "Get the task, and send the message"),
    (at("JSONParseError", raw=True), "Check the JSON of the raw request."),
    (at("JSONParseError"), CHECK_LOG),
    (at("InternalError"), CHECK_LOG),
    (at("own code"), CHECK_LOG),
]


@pytest.mark.parametrize(("situation", "words"), SITUATIONS)
def test_the_hint_fits_the_situation(situation: Situation, words: str):
    assert words in hint_of(situation)
    assert hint_of(situation).endswith(".")


def test_every_hint_has_a_situation():
    for number, hint in enumerate(HINTS):
        shown = [situation for situation, _ in SITUATIONS if _first(situation) == number]
        assert shown, f"no situation shows the hint {number} about {', '.join(hint.errors)}"


def _first(situation: Situation) -> int:
    fitting = (
        number for number, hint in enumerate(HINTS) if situation.error.name in hint.errors and hint.applies(situation)
    )
    return next(fitting, -1)


def test_a_hint_about_a_version_never_names_the_version_that_was_used():
    for version in ("0.1", "0.2", "0.3", "1.0", "1.1", "opvs"):
        for declared in ("0.2", "0.3", "0.3.0", "1.0", "1.0.1", "1.1", "2.0", "opvs", ""):
            for name in (VERSION, METHOD, INVALID):
                hint = hint_of(at(name, version=version, declared=declared))
                assert f"--a2a-version {version}." not in hint, (version, declared, name)


@pytest.mark.parametrize("operation", Operation)
def test_every_error_has_a_hint_without_a_card(operation: Operation):
    dialect = for_request("1.0", "JSONRPC")
    assert dialect is not None
    for kind in BY_NAME.values():
        for request in (None, REQUESTS[operation]()):
            error = ProtocolError(kind.code, "")
            hint = hint_of(Situation(operation, dialect, request, error, Circumstances()))
            assert hint.endswith(".")
            assert "The card" not in hint
