"""When the events of a stream arrived, in constant space."""

from __future__ import annotations

from dataclasses import dataclass, field

SLICES = 32
"""The largest number of time slices."""

_NARROWEST = 0.001
"""The first width of a slice, in seconds."""


@dataclass(slots=True)
class ArrivalHistogram:
    """When the events of one stream arrived: first, last, longest gap, and the number in each slice of time.

    Its size is fixed: the slices are merged in pairs when the stream lasts longer. `began` is the time of the request.
    """

    began: float
    first: float = 0.0
    last: float = 0.0
    gap: float = 0.0
    gap_ended: float = 0.0
    width: float = _NARROWEST
    slices: list[int] = field(default_factory=lambda: [0] * SLICES)

    def add(self, at: float, count: int = 1) -> None:
        """Count events that arrived at the same time."""
        if at != self.last:
            if not self.first:
                self.first = at
            elif at - self.last > self.gap:
                self.gap, self.gap_ended = at - self.last, at
            self.last = at
        place = int((at - self.began) / self.width)
        if place >= SLICES:
            self.slices, self.width = self._wide_enough(at)
            place = int((at - self.began) / self.width)
        self.slices[place] += count

    def _wide_enough(self, at: float) -> tuple[list[int], float]:
        slices, width = self.slices, self.width
        while (at - self.began) / width >= SLICES:
            pairs = zip(slices[::2], slices[1::2], strict=True)
            slices, width = [one + other for one, other in pairs] + [0] * (SLICES // 2), width * 2
        return slices, width

    def until(self, at: float) -> list[int]:
        """Return the slices up to a time, with the empty ones after the last event."""
        if not self.first:
            return []
        slices, width = self._wide_enough(at)
        return slices[: int((at - self.began) / width) + 1]
