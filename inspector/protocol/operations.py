"""The eleven operations of A2A (1.0 section 3.1); the dialects have their names in each protocol version."""

from __future__ import annotations

from enum import StrEnum

from inspector.protocol.model import (
    ExtendedCardRequest,
    ListTasksRequest,
    PushConfig,
    PushConfigRequest,
    Request,
    SendRequest,
    TaskRequest,
)


class Operation(StrEnum):
    """An operation, with its name in A2A 1.0."""

    SEND = "SendMessage"
    STREAM = "SendStreamingMessage"
    GET = "GetTask"
    LIST = "ListTasks"
    CANCEL = "CancelTask"
    SUBSCRIBE = "SubscribeToTask"
    SET_PUSH = "CreateTaskPushNotificationConfig"
    GET_PUSH = "GetTaskPushNotificationConfig"
    LIST_PUSH = "ListTaskPushNotificationConfigs"
    DELETE_PUSH = "DeleteTaskPushNotificationConfig"
    EXTENDED_CARD = "GetExtendedAgentCard"


SENDS = frozenset({Operation.SEND, Operation.STREAM})
"""The operations that send a message."""

STREAMING = frozenset({Operation.STREAM, Operation.SUBSCRIBE})
"""The operations whose response is a stream of events."""

PUSH = frozenset({Operation.SET_PUSH, Operation.GET_PUSH, Operation.LIST_PUSH, Operation.DELETE_PUSH})
"""The operations on push configurations; their bodies contain credentials for webhooks."""

CHANGING = frozenset({Operation.SEND, Operation.STREAM, Operation.CANCEL, Operation.SET_PUSH, Operation.DELETE_PUSH})
"""The operations that change something at the agent; the others only read."""

REQUESTS: dict[Operation, type[Request]] = {
    Operation.SEND: SendRequest,
    Operation.STREAM: SendRequest,
    Operation.GET: TaskRequest,
    Operation.LIST: ListTasksRequest,
    Operation.CANCEL: TaskRequest,
    Operation.SUBSCRIBE: TaskRequest,
    Operation.SET_PUSH: PushConfig,
    Operation.GET_PUSH: PushConfigRequest,
    Operation.LIST_PUSH: PushConfigRequest,
    Operation.DELETE_PUSH: PushConfigRequest,
    Operation.EXTENDED_CARD: ExtendedCardRequest,
}
"""The class of the parameters of each operation."""
