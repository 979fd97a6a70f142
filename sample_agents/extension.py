"""The extension of the agent: it numbers the events of a stream, so that clients detect lost and repeated events."""

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
    """Return the extension URIs in the values of the extensions header."""
    return frozenset(name.strip() for header in headers for name in header.split(",")) - {""}


def add_number(event: Event, number: int) -> Event:
    """Return an event with its number in the metadata."""
    return event.model_copy(update={"metadata": (event.metadata or {}) | {URI: number}})
