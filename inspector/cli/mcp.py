"""`mcp`: serve coding agents over stdio or HTTP, with the options of this command for its agent only."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from inspector.cli.agent_options import options_of_agent
from inspector.cli.arguments import Invocation
from inspector.cli.errors import INTERRUPTED, OK, TERMINATED, usage
from inspector.cli.output import Output
from inspector.cli.signals import on_signal
from inspector.options import Options
from inspector.text.reference import local_path, with_scheme
from inspector.wire.client.credentials import origin

if TYPE_CHECKING:
    from inspector.mcp_server.agents import Agents

EXTRA = "a2a-inspect[mcp]"


def mcp(invocation: Invocation, out: Output) -> int:
    """Run the MCP server until its client ends the connection, or until a signal; raises `FaultError`."""
    try:
        from inspector.mcp_server.agents import Agents  # noqa: PLC0415 - needs an optional library
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "starlette", "uvicorn"):
            raise
        seen = f"The MCP server cannot be started: the library {error.name} is not installed."
        raise usage(seen, f"Install it with pip install '{EXTRA}'.") from error
    agents = Agents(options_for(invocation.options), may_send=invocation.given.allow_send)
    try:
        asyncio.run(_serve_http(agents, invocation, out) if invocation.given.http else _serve_stdio(agents))
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return TERMINATED
    return OK


async def _serve_stdio(agents: Agents) -> None:
    from inspector.mcp_server.server import serve_stdio  # noqa: PLC0415 - needs an optional library

    ending: set[asyncio.Task[None]] = set()

    def end(number: signal.Signals) -> None:
        ending.add(asyncio.create_task(_close_and_exit(agents, 128 + number)))

    with on_signal(end, signal.SIGINT), on_signal(end, signal.SIGTERM):
        await serve_stdio(agents)


async def _close_and_exit(agents: Agents, code: int) -> None:
    """Complete the captures and exit at once: the SDK reads stdin in a thread that cannot be interrupted."""
    await agents.close()
    os._exit(code)


async def _serve_http(agents: Agents, invocation: Invocation, out: Output) -> None:
    from inspector.mcp_server.server import serve_http  # noqa: PLC0415 - needs an optional library

    given = invocation.given
    token = given.http_token or secrets.token_urlsafe(32)

    def announce(url: str) -> None:
        out.field("URL", url)
        if not given.http_token:
            out.secret_field("Token", token)
        out.flush()

    task = cast("asyncio.Task[None]", asyncio.current_task())
    with on_signal(lambda _: task.cancel(), signal.SIGTERM):
        try:
            await serve_http(agents, given.port, token, announce)
        except OSError as error:
            seen = f"Port {given.port} cannot be used: {error.strerror or error}."
            raise usage(seen, "Choose another port with --port.") from error


def options_for(own: Options) -> Callable[[str], Options]:
    """Return a function that returns the options for an agent that a tool names.

    The options of the command line are for its own agent and for the origins of `--trust`. Any other agent is one that
    a model chose: it gets no credentials, except those that `agents.toml` has for it.
    """
    origins = {_origin(place) for place in (own.reference, *own.trust) if place} - {""}

    def options_of(agent: str) -> Options:
        if not agent or agent in (own.reference, own.agent_name):
            return own
        named = options_of_agent(agent)
        if named.named_by:
            named = options_of_agent(agent, own.trust)
        if named.reference == agent and _origin(agent) in origins:
            return replace(own, reference=agent)
        return named

    return options_of


def _origin(place: str) -> str:
    """Return the origin of a URL or a host, `""` for a file."""
    return "" if local_path(place) is not None else origin(with_scheme(place))
