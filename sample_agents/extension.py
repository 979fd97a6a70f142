"""The agent's one extension: the events of a stream are numbered, so that a client sees a lost or repeated one."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.protocol.card import AgentExtension
from inspector.protocol.model import Event

URI = "urn:a2a-inspect:extension:numbered-events:1"
EXTENSION = AgentExtension(
    uri=URI,
    description="Numbers the events of a stream from 1 on, in the metadata of each, under the extension's URI.",
    required=False,
)


def named_in(headers: Iterable[str]) -> frozenset[str]:
    """Return the extensions that the values of a request's extensions header name."""
    return frozenset(name.strip() for header in headers for name in header.split(",")) - {""}


def numbered(event: Event, number: int) -> Event:
    """Return an event with its number."""
    return event.model_copy(update={"metadata": (event.metadata or {}) | {URI: number}})
