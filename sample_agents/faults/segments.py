"""The events of a subscription, and what becomes of them while something goes wrong."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from inspector.protocol.model import Event

from ..task_store import Subscription


class Segment:
    """The events with which the same things go wrong; `left` are the first of them and, in the end, the next ones.

    `given` counts those that were given. No events are left where the subscription is over.
    """

    def __init__(self, subscription: Subscription, left: list[Event]) -> None:
        self._subscription = subscription
        self.spoiled = subscription.spoiled
        self.left = left
        self.given = 0

    def next(self) -> Segment:
        """Return what follows."""
        return Segment(self._subscription, self.left)

    async def events(self) -> AsyncGenerator[Event, None]:
        """Give the events, and what goes wrong with them; raises CallError where that ends with an error."""
        async with aclosing(self.spoiled.events(self._sound())) as events:
            async for event in events:
                self.given += 1
                yield event

    async def _sound(self) -> AsyncGenerator[Event, None]:
        while self.left and self._subscription.spoiled is self.spoiled:
            here, self.left = self.left, []
            for event in here:
                yield event
            self.left = await self._subscription.take()


async def events_of(subscription: Subscription) -> AsyncGenerator[Event, None]:
    """Give the events of a subscription, and what goes wrong with them."""
    segment = Segment(subscription, await subscription.take())
    while segment.left:
        async with aclosing(segment.events()) as events:
            async for event in events:
                yield event
        segment = segment.next()
