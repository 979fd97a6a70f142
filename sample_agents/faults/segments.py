"""Divide the events of a subscription at the points where its faults change."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from inspector.protocol.model import Event

from ..task_store import Subscription


class Segment:
    """Consecutive events of a subscription to which the same faults apply.

    `remaining` contains the first events of the segment. When `events` is exhausted, it contains the first events of
    the next segment, or nothing if the subscription has ended. `sent_count` counts the events that were yielded.
    """

    def __init__(self, subscription: Subscription, remaining: list[Event]) -> None:
        self._subscription = subscription
        self.fault_plan = subscription.fault_plan
        self.remaining = remaining
        self.sent_count = 0

    def next(self) -> Segment:
        """Return the next segment."""
        return Segment(self._subscription, self.remaining)

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield the events, changed by the faults; raises `CallError` if a fault ends the stream with an error."""
        async with aclosing(self.fault_plan.events(self._original_events())) as events:
            async for event in events:
                self.sent_count += 1
                yield event

    async def _original_events(self) -> AsyncGenerator[Event, None]:
        while self.remaining and self._subscription.fault_plan is self.fault_plan:
            batch, self.remaining = self.remaining, []
            for event in batch:
                yield event
            self.remaining = await self._subscription.next_events()


async def events_of(subscription: Subscription) -> AsyncGenerator[Event, None]:
    """Yield all events of a subscription, changed by its faults."""
    segment = Segment(subscription, await subscription.next_events())
    while segment.remaining:
        async with aclosing(segment.events()) as events:
            async for event in events:
                yield event
        segment = segment.next()
