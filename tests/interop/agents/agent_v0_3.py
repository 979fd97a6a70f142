"""An A2A 0.3 agent over JSON-RPC, HTTP+JSON and gRPC, made with the official SDK 0.3.x."""

from __future__ import annotations

from collections.abc import Callable

import grpc
from a2a.grpc.a2a_pb2_grpc import add_A2AServiceServicer_to_server
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.types import AgentCard, AgentInterface
from legacy import cards, request_handler
from serving import serve
from starlette.applications import Starlette


def unchanged(_: AgentCard) -> None:
    """Leave the card as it is."""


def application(
    url: str, target: str, server: grpc.aio.Server, change: Callable[[AgentCard], None] = unchanged
) -> Starlette:
    """Create the agent for this URL and this gRPC address; `change` adapts its cards."""
    others = [
        AgentInterface(url=f"{url}/rest", transport="HTTP+JSON"),
        AgentInterface(url=target, transport="GRPC"),
    ]
    card, extended = cards("interop agent 0.3.x", f"{url}/", others)
    change(card)
    change(extended)
    handler = request_handler()
    add_A2AServiceServicer_to_server(GrpcHandler(card, handler), server)
    agent = A2AStarletteApplication(card, handler, extended_agent_card=extended).build()
    agent.mount("/rest", A2ARESTFastAPIApplication(card, handler, extended_agent_card=extended).build())
    return agent


if __name__ == "__main__":
    serve(application)
