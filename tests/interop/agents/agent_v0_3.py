"""An A2A 0.3 agent over JSON-RPC, made with the official SDK 0.3.x."""

from __future__ import annotations

from functools import partial

import httpx
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_agent_text_message, new_task
from behaviours import Turn, perform
from serving import serve
from starlette.applications import Starlette


def text_part(text: str) -> Part:
    """Make a text part."""
    return Part(root=TextPart(text=text))


class Executor(AgentExecutor):
    """Answers every message with the behaviour that it names."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)

        async def begin() -> None:
            await event_queue.enqueue_event(new_task(context.message))

        async def reply(text: str) -> None:
            await event_queue.enqueue_event(new_agent_text_message(text, context_id=context.context_id))

        await perform(
            Turn(
                text=context.get_user_input(),
                answering=context.current_task is not None,
                updater=updater,
                part=text_part,
                begin=begin,
                ask=partial(updater.requires_input, final=True),
                reply=reply,
            )
        )

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def application(url: str) -> Starlette:
    """Make the agent that lives at this url; this SDK screens no webhook addresses."""
    card = AgentCard(
        name="interop agent 0.3.x",
        description="Does what the first word says",
        version="1.0.0",
        url=f"{url}/",
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
        push_config_store=webhooks,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(trust_env=False), webhooks),
    )
    return A2AStarletteApplication(card, handler).build()


if __name__ == "__main__":
    serve(application)
