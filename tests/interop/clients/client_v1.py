"""Use the mock agent with the official client of SDK 1.x: `client_v1.py URL BINDING` prints the results as JSON."""

from __future__ import annotations

import asyncio
import json
import sys

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_text_message
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)


def state(number: int) -> str:
    return TaskState.Name(number).removeprefix("TASK_STATE_").lower()


def event_name(event: object) -> str:
    kind = event.WhichOneof("payload")
    status = {"task": lambda: event.task.status, "status_update": lambda: event.status_update.status}.get(kind)
    return state(status().state) if status else kind.partition("_")[0]


async def main(url: str, binding: str) -> dict[str, object]:
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        config = {"httpx_client": http, "supported_protocol_bindings": [binding]}
        channels = {"grpc_channel_factory": grpc.aio.insecure_channel}
        waiting = ClientFactory(ClientConfig(streaming=False, **config, **channels)).create(card)
        streaming = ClientFactory(ClientConfig(streaming=True, **config, **channels)).create(card)

        def send_request(text: str, **configuration: object) -> SendMessageRequest:
            ids = {name: configuration.pop(name) for name in ("task_id",) if name in configuration}
            message = new_text_message(text, role=Role.ROLE_USER, **ids)
            return SendMessageRequest(message=message, configuration=SendMessageConfiguration(**configuration))

        async def send(text: str, **configuration: object) -> object:
            return [event async for event in waiting.send_message(send_request(text, **configuration))][-1]

        asked = (await send("ask")).task
        again = (await send("18:00", task_id=asked.id)).task
        long = (await send("long 60", return_immediately=True)).task
        hook = TaskPushNotificationConfig(task_id=long.id, id="hook", url="http://127.0.0.1:9/", token="t")
        created = await waiting.create_task_push_notification_config(hook)
        params = GetTaskPushNotificationConfigRequest(task_id=long.id, id="hook")
        got = await waiting.get_task_push_notification_config(params)
        list_params = ListTaskPushNotificationConfigsRequest(task_id=long.id)
        listed = await waiting.list_task_push_notification_configs(list_params)
        delete_params = DeleteTaskPushNotificationConfigRequest(task_id=long.id, id="hook")
        await waiting.delete_task_push_notification_config(delete_params)
        remaining = await waiting.list_task_push_notification_configs(list_params)
        subscription = streaming.subscribe(SubscribeToTaskRequest(id=long.id))
        first = event_name(await anext(subscription))
        canceled = await waiting.cancel_task(CancelTaskRequest(id=long.id))
        rest = [event async for event in subscription]
        return {
            "message": (await send("echo hello")).message.parts[0].text,
            "stream": [event_name(event) async for event in streaming.send_message(send_request("report 3"))],
            "asked": state(asked.status.state),
            "same context": again.context_id == asked.context_id,
            "answered": state(again.status.state),
            "got": state((await waiting.get_task(GetTaskRequest(id=again.id))).status.state),
            "listed tasks": (await waiting.list_tasks(ListTasksRequest(context_id=asked.context_id))).total_size,
            "push": [created.id, got.token, len(listed.configs), len(remaining.configs)],
            "subscribed": [first, event_name(rest[-1])],
            "canceled": state(canceled.status.state),
            "extended card": len((await waiting.get_extended_agent_card(GetExtendedAgentCardRequest())).skills)
            > len(card.skills),
            "unknown task": await error_name(waiting.get_task(GetTaskRequest(id="nope"))),
        }


async def error_name(call: object) -> str:
    try:
        await call
    except Exception as error:  # noqa: BLE001 - every exception is reported by name
        return type(error).__name__
    return "no error"


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
