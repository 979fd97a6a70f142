"""Use the mock agent with the official clients of SDK 0.2: `client_v0_2.py URL BINDING` prints the results as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from uuid import uuid4

import grpc
import httpx
from a2a.client import A2ACardResolver, A2AClient
from a2a.client.grpc_client import A2AGrpcClient
from a2a.grpc.a2a_pb2_grpc import A2AServiceStub
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    GetTaskPushNotificationConfigParams,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    JSONRPCErrorResponse,
    MessageSendConfiguration,
    MessageSendParams,
    PushNotificationConfig,
    SendMessageRequest,
    SendStreamingMessageRequest,
    SetTaskPushNotificationConfigRequest,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
)


class OverJsonRpc:
    """The JSON-RPC client; its methods return the results instead of the envelopes."""

    def __init__(self, http: httpx.AsyncClient, card: AgentCard) -> None:
        self.client = A2AClient(http, card)

    async def result_of(self, call: object) -> object:
        answer = (await call).root
        if isinstance(answer, JSONRPCErrorResponse):
            raise RuntimeError(answer.error.code)  # noqa: TRY004 - an error of the agent
        return answer.result

    async def send_message(self, params: MessageSendParams) -> object:
        return await self.result_of(self.client.send_message(SendMessageRequest(id=str(uuid4()), params=params)))

    async def send_message_streaming(self, params: MessageSendParams) -> object:
        async for answer in self.client.send_message_streaming(SendStreamingMessageRequest(id="s", params=params)):
            yield answer.root.result

    async def get_task(self, params: TaskQueryParams) -> object:
        return await self.result_of(self.client.get_task(GetTaskRequest(id="g", params=params)))

    async def cancel_task(self, params: TaskIdParams) -> object:
        return await self.result_of(self.client.cancel_task(CancelTaskRequest(id="c", params=params)))

    async def set_task_callback(self, config: TaskPushNotificationConfig) -> object:
        request = SetTaskPushNotificationConfigRequest(id="p", params=config)
        return await self.result_of(self.client.set_task_callback(request))

    async def get_task_callback(self, params: GetTaskPushNotificationConfigParams) -> object:
        request = GetTaskPushNotificationConfigRequest(id="q", params=params)
        return await self.result_of(self.client.get_task_callback(request))


def send_request(text: str, task_id: str | None = None, *, blocking: bool = True) -> MessageSendParams:
    message = {
        "messageId": f"m {text}",
        "role": "user",
        "parts": [{"kind": "text", "text": text}],
        "taskId": task_id,
    }
    configuration = MessageSendConfiguration(blocking=blocking, accepted_output_modes=[])
    return MessageSendParams(message=message, configuration=configuration)


def event_name(event: object) -> str:
    return "artifact" if isinstance(event, TaskArtifactUpdateEvent) else event.status.state.value


async def main(url: str, binding: str) -> dict[str, object]:
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        over_jsonrpc = OverJsonRpc(http, card)
        client = over_jsonrpc
        if binding == "GRPC":
            target = next(item.url for item in card.additional_interfaces if item.transport == "GRPC")
            channel = grpc.aio.insecure_channel(target.removeprefix("http://"))
            client = A2AGrpcClient(A2AServiceStub(channel), card)
        asked = await client.send_message(send_request("ask"))
        again = await client.send_message(send_request("18:00", asked.id))
        long = await client.send_message(send_request("long 60", blocking=False))
        hook = PushNotificationConfig(id="hook", url="http://127.0.0.1:9/", token="t")
        # Over gRPC this client fails for push configurations and reads a message as a task without id.
        config = TaskPushNotificationConfig(task_id=long.id, push_notification_config=hook)
        created = await over_jsonrpc.set_task_callback(config)
        params = GetTaskPushNotificationConfigParams(id=long.id, push_notification_config_id="hook")
        got = await over_jsonrpc.get_task_callback(params)
        canceled = await client.cancel_task(TaskIdParams(id=long.id))
        message = await over_jsonrpc.send_message(send_request("echo hello"))
        return {
            "message": message.parts[0].root.text,
            "stream": [event_name(event) async for event in client.send_message_streaming(send_request("report 3"))],
            "asked": asked.status.state.value,
            "same context": again.context_id == asked.context_id,
            "answered": again.status.state.value,
            "got": (await client.get_task(TaskQueryParams(id=again.id))).status.state.value,
            "push": [created.push_notification_config.id, got.push_notification_config.token],
            "canceled": canceled.status.state.value,
            "unknown task": await error_name(client.get_task(TaskQueryParams(id="nope"))),
        }


async def error_name(call: object) -> str:
    try:
        await call
    except Exception as error:  # noqa: BLE001 - every exception is reported by name
        return type(error).__name__
    return "no error"


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
