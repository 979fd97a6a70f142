"""The sessions that tests of exports record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

WAYS = [("1.0", "JSONRPC"), ("1.0", "HTTP+JSON"), ("1.0", "GRPC"), ("0.3", "JSONRPC"), ("0.3", "GRPC")]

Record = Callable[[str, str], Awaitable[Path]]
"""Records a session in a protocol version over a binding, and returns its capture."""
