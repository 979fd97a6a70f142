"""The faults of one call, each at its level, in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import cached_property

from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Event, Json

from .fault import Head, Level, Post, Spoiler


class Spoiled:
    """What becomes of a call on its way: of its refusal, its answer, its stream, and of the pushes that it leads to."""

    def __init__(self, spoilers: tuple[Spoiler, ...] = ()) -> None:
        self._spoilers = spoilers

    def __bool__(self) -> bool:
        return bool(self._spoilers)

    def further(self, *spoilers: Spoiler) -> Spoiled:
        """Return this with more that goes wrong."""
        return Spoiled((*self._spoilers, *spoilers))

    def at(self, level: Level) -> tuple[Spoiler, ...]:
        """Return what goes wrong at a level."""
        return tuple(one for one in self._spoilers if one.fault.level is level)

    def refuse(self) -> None:
        """Raise the CallError that a call is refused with, if it is."""
        for spoiler in self.at(Level.CALL):
            raise spoiler(None)

    def head(self, head: Head) -> Head:
        """Return what becomes of the beginning of an HTTP answer."""
        for spoiler in self.at(Level.HEAD):
            head = spoiler(head)
        return head

    def events(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Return what becomes of the events of a stream; raises CallError where that ends with an error."""
        for spoiler in self.at(Level.EVENTS):
            events = spoiler(events)
        return events

    def written(self, value: Json) -> bytes:
        """Write an answer or an event, with its envelope."""
        for spoiler in self._documents:
            value = spoiler(value)
        raw = dump(value)
        for spoiler in self._writings:
            raw = spoiler(raw)
        return raw

    def frames(self, frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        """Return what becomes of a body and of when it comes; raises BrokenOffError where it breaks off."""
        for spoiler in self.at(Level.FRAMES):
            frames = spoiler(frames)
        return frames

    def posts(self, post: Post) -> list[Post]:
        """Return what is sent to a webhook in place of one POST."""
        sent = [post]
        for spoiler in self.at(Level.PUSH):
            sent = [changed for one in sent for changed in spoiler(one)]
        return sent

    @cached_property
    def _documents(self) -> tuple[Spoiler, ...]:
        return self.at(Level.JSON)

    @cached_property
    def _writings(self) -> tuple[Spoiler, ...]:
        return self.at(Level.BYTES)


SOUND = Spoiled()
"""Nothing goes wrong."""
