"""An A2A 0.2 agent over JSON-RPC and gRPC, made with the official SDK 0.2.x."""

from __future__ import annotations

import uuid
from typing import Any

import grpc
from a2a.grpc.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.types import AgentInterface
from legacy import cards, request_handler
from serving import serve
from starlette.applications import Starlette


class Contexts(SimpleRequestContextBuilder):
    """Create task ids without hyphens: over gRPC this SDK reads an id up to its first hyphen (`tasks/(\\w+)`)."""

    async def build(self, params: Any = None, task_id: str | None = None, *more: Any, **others: Any) -> RequestContext:
        """Return the context of a message, with an id for a new task."""
        return await super().build(params, task_id or uuid.uuid4().hex, *more, **others)


def application(url: str, target: str, server: grpc.aio.Server) -> Starlette:
    """Create the agent for this URL and this gRPC address."""
    card, extended = cards("interop agent 0.2.x", f"{url}/", [AgentInterface(url=target, transport="GRPC")])
    handler = request_handler(Contexts())
    add_A2AServiceServicer_to_server(GrpcHandler(card, handler), server)
    return A2AStarletteApplication(card, handler, extended_agent_card=extended).build()


if __name__ == "__main__":
    serve(application)
