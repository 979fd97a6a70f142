"""An agent of A2A 0.3 over HTTP+JSON that reads one of the two bodies in which SDKs expect a push configuration."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web


def registering(*, whole: bool, bodies: list[Any]) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """Return an agent that expects the whole request, as the Python SDK, or the configuration, as the JS SDK."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith("/.well-known"):
            return web.json_response(_card(str(request.url.origin())))
        body = json.loads(await request.read())
        bodies.append(body)
        config = body.get("config") if whole else body
        if not config or "pushNotificationConfig" not in config:
            return web.json_response({"message": "Internal error: invalid push configuration"}, status=500)
        return web.json_response(config)

    return handle


def _card(url: str) -> dict[str, Any]:
    return {
        "name": "Registrar",
        "description": "d",
        "version": "1",
        "protocolVersion": "0.3.0",
        "url": url,
        "preferredTransport": "HTTP+JSON",
        "capabilities": {"pushNotifications": True},
        "skills": [],
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
    }
