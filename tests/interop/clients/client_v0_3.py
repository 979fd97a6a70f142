"""Use the mock agent with the official client of SDK 0.3: `client_v0_3.py URL BINDING` prints the results as JSON."""

from __future__ import annotations

import asyncio
import json
import sys

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    GetTaskPushNotificationConfigParams,
    Message,
    PushNotificationConfig,
    Task,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskStatusUpdateEvent,
)
from a2a.utils.message import get_message_text


def event_name(event: object) -> str:
    if isinstance(event, Message):
        return "message"
    task, update = event
    if update is None or isinstance(update, TaskStatusUpdateEvent):
        return (update or task).status.state.value
    return "artifact"


def send_request(text: str, task_id: str | None = None) -> Message:
    parts = [{"kind": "text", "text": text}]
    return Message(message_id=f"m {text}", role="user", parts=parts, task_id=task_id)


async def main(url: str, binding: str) -> dict[str, object]:
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        card = await A2ACardResolver(http, url).get_agent_card()

        def channel(target: str) -> grpc.aio.Channel:
            return grpc.aio.insecure_channel(target.removeprefix("http://"))

        config = {"httpx_client": http, "supported_transports": [binding], "grpc_channel_factory": channel}
        config |= {"use_client_preference": True}
        waiting = ClientFactory(ClientConfig(streaming=False, **config)).create(card)
        polling = ClientFactory(ClientConfig(streaming=False, polling=True, **config)).create(card)
        streaming = ClientFactory(ClientConfig(streaming=True, **config)).create(card)

        async def send(client: object, text: str, task_id: str | None = None) -> object:
            return [event async for event in client.send_message(send_request(text, task_id))][-1]

        asked, _ = await send(waiting, "ask")
        again, _ = await send(waiting, "18:00", asked.id)
        long, _ = await send(polling, "long 60")
        hook = PushNotificationConfig(id="hook", url="http://127.0.0.1:9/", token="t")
        created = await waiting.set_task_callback(
            TaskPushNotificationConfig(task_id=long.id, push_notification_config=hook)
        )
        params = GetTaskPushNotificationConfigParams(id=long.id, push_notification_config_id="hook")
        got = await waiting.get_task_callback(params)
        subscription = streaming.resubscribe(TaskIdParams(id=long.id))
        first = event_name(await anext(subscription))
        canceled = await waiting.cancel_task(TaskIdParams(id=long.id))
        rest = [event async for event in subscription]
        shown: Task = await waiting.get_task(TaskQueryParams(id=again.id))
        return {
            "message": get_message_text(await send(waiting, "echo hello")),
            "stream": [event_name(event) async for event in streaming.send_message(send_request("report 3"))],
            "asked": asked.status.state.value,
            "same context": again.context_id == asked.context_id,
            "answered": again.status.state.value,
            "got": shown.status.state.value,
            "push": [created.push_notification_config.id, got.push_notification_config.token],
            "subscribed": [first, event_name(rest[-1])],
            "canceled": canceled.status.state.value,
            "extended card": len((await waiting.get_card()).skills) > len(card.skills),
            "unknown task": await error_name(waiting.get_task(TaskQueryParams(id="nope"))),
        }


async def error_name(call: object) -> str:
    try:
        await call
    except Exception as error:  # noqa: BLE001 - every exception is reported by name
        return type(error).__name__
    return "no error"


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
