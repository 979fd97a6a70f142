"""Apply the faults of one call; faults at the same level are applied in the order in which they were requested."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import cached_property
from typing import TypeVar

from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Event, Json

from .fault import ActiveFault, Head, Level, Post

ValueT = TypeVar("ValueT")


class FaultPlan:
    """The faults of one call, applied to its response, its stream and its pushes."""

    def __init__(self, active: tuple[ActiveFault, ...] = ()) -> None:
        self._active = active

    def __bool__(self) -> bool:
        return bool(self._active)

    def with_fault(self, *active: ActiveFault) -> FaultPlan:
        """Return a plan with more faults."""
        return FaultPlan((*self._active, *active))

    def at(self, level: Level) -> tuple[ActiveFault, ...]:
        """Return the faults of a level."""
        return tuple(active for active in self._active if active.fault.level is level)

    def raise_error(self) -> None:
        """Raise the `CallError` of the first fault that rejects the call, if any."""
        for active in self.at(Level.CALL):
            raise active(None)

    def apply(self, level: Level, value: ValueT) -> ValueT:
        """Return a value changed by the faults of a level."""
        for active in self.at(level):
            value = active(value)
        return value

    def head(self, head: Head) -> Head:
        """Return the changed head of an HTTP response."""
        return self.apply(Level.HEAD, head)

    def events(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Return the changed events of a stream; the iterator may raise `CallError`."""
        return self.apply(Level.EVENTS, events)

    def encode(self, value: Json) -> bytes:
        """Serialise a response or an event with its envelope."""
        for active in self._json_faults:
            value = active(value)
        raw = dump(value)
        for active in self._byte_faults:
            raw = active(raw)
        return raw

    def frames(self, frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        """Return the changed frames of a body; the iterator may raise `AbortConnectionError`."""
        return self.apply(Level.FRAMES, frames)

    def posts(self, post: Post) -> list[Post]:
        """Return the POSTs that replace one POST to a webhook."""
        sent = [post]
        for active in self.at(Level.PUSH):
            sent = [changed for original in sent for changed in active(original)]
        return sent

    @cached_property
    def _json_faults(self) -> tuple[ActiveFault, ...]:
        return self.at(Level.JSON)

    @cached_property
    def _byte_faults(self) -> tuple[ActiveFault, ...]:
        return self.at(Level.BYTES)


NO_FAULTS = FaultPlan()
