"""An A2A 1.0 agent over JSON-RPC, HTTP+JSON and gRPC, made with the official SDK 1.x.

With the argument `no-capabilities`, its card declares no capability.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import acts
import grpc
import httpx
from a2a.helpers import get_message_text, new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from a2a.types.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from behaviours import EXTENDED, SKILL, Turn, perform
from serving import serve
from starlette.applications import Starlette


class Executor(AgentExecutor):
    """Run the behaviour that a message selects."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)

        async def begin() -> None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))

        async def reply(text: str) -> None:
            await event_queue.enqueue_event(new_text_message(text, context_id=context.context_id))

        turn = Turn(
            text=context.get_user_input(),
            answering=context.current_task is not None,
            updater=updater,
            part=new_text_part,
            begin=begin,
            ask=updater.requires_input,
            reply=reply,
        )
        first = get_message_text(context.current_task.history[0]) if turn.answering else turn.text
        await (acts.perform(turn, first) if first.startswith(acts.PREFIX) else perform(turn))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def unchanged(_: AgentCard) -> None:
    """Leave the card as it is."""


def without_capabilities(card: AgentCard) -> None:
    """Remove the capabilities of the card."""
    card.capabilities.CopyFrom(AgentCapabilities())


def application(
    url: str, target: str, server: grpc.aio.Server, change: Callable[[AgentCard], None] = unchanged
) -> Starlette:
    """Create the agent for this URL and this gRPC address; `change` adapts its card. It accepts every webhook."""
    card = AgentCard(
        name="interop agent 1.x",
        description="Runs the behaviour that the first word selects",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0"),
            AgentInterface(url=f"{url}/rest", protocol_binding="HTTP+JSON", protocol_version="1.0"),
            AgentInterface(url=target, protocol_binding="GRPC", protocol_version="1.0"),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True, extended_agent_card=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(**SKILL)],
    )
    change(card)
    extended = AgentCard()
    extended.CopyFrom(card)
    extended.skills.append(AgentSkill(**EXTENDED))
    webhooks = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        extended_agent_card=extended,
        push_config_store=webhooks,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(trust_env=False), webhooks, push_url_validator=None),
        push_url_validator=None,
    )
    add_A2AServiceServicer_to_server(GrpcHandler(handler), server)
    calls = [*create_jsonrpc_routes(handler, rpc_url="/"), *create_rest_routes(handler, path_prefix="/rest")]
    return Starlette(routes=[*create_agent_card_routes(card), *calls])


if __name__ == "__main__":
    change = without_capabilities if "no-capabilities" in sys.argv else unchanged
    serve(partial(application, change=change))
