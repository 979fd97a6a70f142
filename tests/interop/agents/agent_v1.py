"""An A2A 1.0 agent over JSON-RPC, made with the official SDK 1.x."""

from __future__ import annotations

import httpx
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from behaviours import Turn, perform
from serving import serve
from starlette.applications import Starlette


class Executor(AgentExecutor):
    """Answers every message with the behaviour that it names."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)

        async def begin() -> None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))

        async def reply(text: str) -> None:
            await event_queue.enqueue_event(new_text_message(text, context_id=context.context_id))

        await perform(
            Turn(
                text=context.get_user_input(),
                answering=context.current_task is not None,
                updater=updater,
                part=new_text_part,
                begin=begin,
                ask=updater.requires_input,
                reply=reply,
            )
        )

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def application(url: str) -> Starlette:
    """Make the agent that lives at this url; webhooks on this machine are allowed, because nothing screens them."""
    card = AgentCard(
        name="interop agent 1.x",
        description="Does what the first word says",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[
            AgentSkill(id="words", name="Words", description="echo, stream, input, long, fail, push", tags=["test"])
        ],
    )
    webhooks = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=webhooks,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(trust_env=False), webhooks, push_url_validator=None),
        push_url_validator=None,
    )
    return Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, rpc_url="/")])


if __name__ == "__main__":
    serve(application)
