"""The executor and the request handler of the agents with SDKs before 1.0."""

from __future__ import annotations

from functools import partial

import httpx
from a2a.server.agent_execution import AgentExecutor, RequestContext, RequestContextBuilder
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, TextPart
from a2a.utils import new_agent_text_message, new_task
from behaviours import EXTENDED, SKILL, Turn, perform


def text_part(text: str) -> Part:
    """Return a text part."""
    return Part(root=TextPart(text=text))


class Executor(AgentExecutor):
    """Run the behaviour that a message selects."""

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


def request_handler(contexts: RequestContextBuilder | None = None) -> DefaultRequestHandler:
    """Return the request handler for every transport; these SDKs accept every webhook address."""
    webhooks = InMemoryPushNotificationConfigStore()
    return DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        push_config_store=webhooks,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(trust_env=False), webhooks),
        request_context_builder=contexts,
    )


def cards(name: str, url: str, others: list[AgentInterface]) -> tuple[AgentCard, AgentCard]:
    """Return the public and the extended card of an agent with JSON-RPC at this URL and other interfaces."""
    card = AgentCard(
        name=name,
        description="Runs the behaviour that the first word selects",
        version="1.0.0",
        url=url,
        preferred_transport="JSONRPC",
        additional_interfaces=others,
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(**SKILL)],
        supports_authenticated_extended_card=True,
    )
    return card, card.model_copy(update={"skills": [*card.skills, AgentSkill(**EXTENDED)]})
