"""The eleven operations of A2A as data (1.0 section 3.1); how each is spelled is the dialects' business."""

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
    """An operation under its 1.0 name."""

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


STREAMING = frozenset({Operation.STREAM, Operation.SUBSCRIBE})
"""The operations that are answered with a stream of events."""

PUSH = frozenset({Operation.SET_PUSH, Operation.GET_PUSH, Operation.LIST_PUSH, Operation.DELETE_PUSH})
"""The operations on push configurations, whose bodies hold what authenticates a webhook."""

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
"""The canonical parameters of each operation."""
