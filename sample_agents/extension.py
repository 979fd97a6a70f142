"""The extensions of the agent: each is inactive until a request activates it.

The data of A2UI and AP2 is in the scenario `extensions`; the other extensions add metadata to every event.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from inspector.protocol.card import AgentExtension
from inspector.protocol.extensions.known import A2UI, AP2, NUMBERED, PASSPORT, TIMESTAMP, TRACEABILITY
from inspector.protocol.model import (
    Artifact,
    Event,
    Json,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)

from .task_store import new_id, now, timestamp

URI = NUMBERED
TIMESTAMPS = f"https://{TIMESTAMP}"
TRACES = f"https://{TRACEABILITY}"
EXTENSION = AgentExtension(
    uri=URI,
    description="Numbers the events of a stream from 1 on, in the metadata of each, under the extension's URI.",
    required=False,
)
OFFERED = (
    EXTENSION,
    AgentExtension(
        uri=f"{A2UI}v0.9.1",
        description="Sends a user interface: try the skill extensions.",
        required=False,
        params={"supportedCatalogIds": ["https://a2ui.org/specification/v0_9_1/catalogs/basic/catalog.json"]},
    ),
    AgentExtension(
        uri=f"{AP2}v1",
        description="Sells a book, with a cart mandate: try the skill extensions.",
        required=False,
        params={"roles": ["merchant"]},
    ),
    AgentExtension(uri=TIMESTAMPS, description="Adds their time to messages and artifacts.", required=False),
    AgentExtension(uri=TRACES, description="Adds the steps of the agent to artifacts.", required=False),
    AgentExtension(
        uri=PASSPORT,
        description="Accepts the context of the caller in the metadata of a message.",
        required=False,
        params={"supportedStateKeys": ["currency"]},
    ),
)
"""The extensions on the card."""

WireT = TypeVar("WireT", Message, Artifact)
EventT = TypeVar("EventT", bound=Event)


def named_in(headers: Iterable[str]) -> frozenset[str]:
    """Return the extension URIs in the values of the extensions header."""
    return frozenset(name.strip() for header in headers for name in header.split(",")) - {""}


def activated(requested: frozenset[str], *, streams: bool) -> list[str]:
    """Return the offered extensions among those that a request names; events are numbered in streams only."""
    return [extension.uri for extension in OFFERED if extension.uri in requested and (streams or extension.uri != URI)]


def add_number(event: Event, number: int) -> Event:
    """Return an event with its number in the metadata."""
    return event.model_copy(update={"metadata": (event.metadata or {}) | {URI: number}})


def rewriter(requested: frozenset[str]) -> Callable[[Event], Event]:
    """Return a function that adds the data of the requested extensions to the events of one stream."""
    numbers = itertools.count(1)

    def rewrite(event: Event) -> Event:
        event = with_metadata(event, requested)
        return add_number(event, next(numbers)) if URI in requested else event

    return rewrite


def with_metadata(event: EventT, requested: frozenset[str]) -> EventT:
    """Return an event with the requested metadata in its message and its artifacts."""
    changed: Any = event
    if not {TIMESTAMPS, TRACES} & requested:
        return event
    match event:
        case Message():
            changed = _annotated(event, _time(requested))
        case Task() if event.artifacts:
            artifacts = [_annotated(artifact, _time(requested) | _trace(requested)) for artifact in event.artifacts]
            changed = event.model_copy(update={"artifacts": artifacts})
        case TaskStatusUpdateEvent() if event.status.message is not None:
            message = _annotated(event.status.message, _time(requested))
            changed = event.model_copy(update={"status": event.status.model_copy(update={"message": message})})
        case TaskArtifactUpdateEvent():
            artifact = _annotated(event.artifact, _time(requested) | _trace(requested))
            changed = event.model_copy(update={"artifact": artifact})
    return cast("EventT", changed)


def _annotated(value: WireT, added: dict[str, Json]) -> WireT:
    return value.model_copy(update={"metadata": (value.metadata or {}) | added}) if added else value


def _time(requested: frozenset[str]) -> dict[str, Json]:
    return {f"{TIMESTAMP}/timestamp": timestamp(now())} if TIMESTAMPS in requested else {}


def _trace(requested: frozenset[str]) -> dict[str, Json]:
    if TRACES not in requested:
        return {}
    first = {"step_id": "plan", "call_type": "AGENT", "name": "planner", "latency": 320, "total_tokens": 512, "cost": 3}
    second = {
        "step_id": "search",
        "parent_step_id": "plan",
        "call_type": "TOOL",
        "name": "catalogue.search",
        "parameters": {"query": "books about rivers"},
        "latency": 140,
    }
    return {f"{TRACEABILITY}/traceability": {"trace_id": f"trace-{new_id()[:8]}", "steps": [first, second]}}
