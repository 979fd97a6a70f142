"""Call the tools of an MCP server, and read what a model would read."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias

from mcp.client import Client

Connect: TypeAlias = Callable[..., AbstractAsyncContextManager[Client]]
"""Connects to a server with these options; keyword arguments are environment variables."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that succeeds; what a model reads is the same as the structured content."""
    answer = await client.call_tool(tool, arguments)
    [text] = answer.content
    assert not answer.is_error, text.text
    assert json.loads(text.text) == answer.structured_content
    return answer.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that fails, and return what a model reads."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error, answer.content
    return answer.content[0].text
