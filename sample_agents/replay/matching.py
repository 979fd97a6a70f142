"""Match requests with the exchanges of a recording by their content, not by their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .call_content import CallContent
from .differences import Difference, differences, has_masks
from .exchange import Assignments, Exchange, content_key
from .identities import Identities

_NEAREST = 3
"""How many recorded requests an error names."""
_MOST_COMPARED = 2_000
"""How many recorded requests are compared to find the nearest."""
_OTHER_CALL = 100.0
"""The distance of a request with another operation, which is named after those with the same operation."""


class Match(NamedTuple):
    """A recorded exchange whose request is that of the client or similar to it, and how both requests differ."""

    exchange: Exchange
    differences: tuple[Difference, ...]


class Matcher:
    """Finds the exchange for a request.

    Of several exchanges with the same content, the most similar is used, then the first that was not served yet. When
    all were served, messages that open a task start again with the first; for other requests the last is repeated.
    When a task is opened again, its other exchanges are served from the first on, too. Exchanges after a request that
    changed the task are served once that request was served: a client may poll more often than the recorded client.
    """

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._exchanges = exchanges
        self.ids = Identities(_ids(exchanges))
        self._by_content: dict[str, list[Exchange]] = {}
        self._masked: list[Exchange] = []
        self._by_subject: dict[tuple[str, bool], list[Exchange]] = {}
        self._phases: dict[tuple[str, bool], int] = {}
        for exchange in exchanges:
            if has_masks(exchange.call.content):
                self._masked.append(exchange)
            else:
                self._by_content.setdefault(exchange.key, []).append(exchange)
            before = self._by_subject.setdefault(exchange.subject, [])
            exchange.phase = sum(other.changes_subject for other in before[-1:]) + (before[-1].phase if before else 0)
            before.append(exchange)

    def match(self, call: CallContent) -> Match | None:
        """Return the exchange for a request and mark it as served, None if there is none."""
        call = self.ids.translate(call)
        fitting: list[tuple[Exchange, Assignments]] = []
        for exchange in self._with_content(call):
            found, chosen = self.ids.compare(exchange, call)
            if not found:
                fitting.append((exchange, chosen))
        if not fitting:
            return None
        preferences = {exchange.number: _preferences(exchange, call) for exchange, _ in fitting}
        least = min(map(len, preferences.values()))
        exchange, chosen = self._next([pair for pair in fitting if len(preferences[pair[0].number]) == least])
        self.ids.assign(exchange, call, chosen)
        self._serve(exchange)
        return Match(exchange, preferences[exchange.number])

    def nearest(self, call: CallContent) -> list[Match]:
        """Return the recorded requests that are most similar to a request, the most similar first."""
        call = self.ids.translate(call)
        ranked: list[tuple[float, int, Match]] = []
        for exchange in self._exchanges[-_MOST_COMPARED:]:
            found = tuple(self._differences(exchange, call))
            same = exchange.call.operation == call.operation
            distance = sum(item.distance for item in found) + (0.0 if same else _OTHER_CALL)
            ranked.append((distance, exchange.number, Match(exchange, found)))
        nearest: list[Match] = []
        for _, _, near in sorted(ranked, key=lambda item: item[:2]):
            if near.differences not in [other.differences for other in nearest]:  # not the same request again
                nearest.append(near)
            if len(nearest) == _NEAREST:
                break
        return nearest

    def _with_content(self, call: CallContent) -> Iterator[Exchange]:
        """Yield the exchanges with the content of a call, in the order of the recording."""
        exact = self._by_content.get(content_key(call), [])
        masked = (exchange for exchange in self._masked if not any(_content_differences(exchange, call)))
        yield from sorted((*exact, *masked), key=lambda exchange: exchange.number)

    def _next(self, fitting: Sequence[tuple[Exchange, Assignments]]) -> tuple[Exchange, Assignments]:
        """Return the exchange that is served next."""
        first = fitting[0][0]
        if first.opens_task:
            return min(fitting, key=lambda pair: pair[0].served)
        phase = self._phases.get(first.subject)
        if phase is not None:
            # Without an exchange in this phase, the next later phase is used if there is no earlier phase.
            earlier = [pair[0].phase for pair in fitting if pair[0].phase <= phase]
            nearest = max(earlier) if earlier else min(pair[0].phase for pair in fitting)
            fitting = [pair for pair in fitting if pair[0].phase == nearest]
        return next((pair for pair in fitting if not pair[0].served), fitting[-1])

    def _serve(self, exchange: Exchange) -> None:
        if exchange.opens_task and exchange.task:
            for about_pushes in (False, True):
                self._phases.pop((exchange.task, about_pushes), None)
                for other in self._by_subject.get((exchange.task, about_pushes), ()):
                    if not other.opens_task:
                        other.served = 0
            self._phases[exchange.task, True] = 0
        if exchange.changes_subject and exchange.subject[0]:
            self._phases[exchange.subject] = exchange.phase + 1
        exchange.served += 1

    def _differences(self, exchange: Exchange, call: CallContent) -> Iterator[Difference]:
        yield from _content_differences(exchange, call)
        yield from self.ids.compare(exchange, call)[0]


def _content_differences(exchange: Exchange, call: CallContent) -> Iterator[Difference]:
    recorded = exchange.call
    pairs = {
        "operation": (recorded.operation, call.operation),
        "binding": (recorded.binding, call.binding),
        "protocol version": (recorded.version.name, call.version.name),
        "path": (recorded.endpoint or "/", call.endpoint or "/"),
    }
    for name, (ours, sent) in pairs.items():
        if ours != sent and not (name == "path" and recorded.binding != call.binding):
            yield Difference(name, ours, sent)
    yield from differences(recorded.content, call.content)


def _preferences(exchange: Exchange, call: CallContent) -> tuple[Difference, ...]:
    return tuple(differences(dict(exchange.call.preferences), dict(call.preferences)))


def _ids(exchanges: Iterable[Exchange]) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of every id in a recording."""
    for exchange in exchanges:
        call = exchange.call
        pairs = [("task", exchange.task), ("context", exchange.context)]
        pairs += [("task", call.task), ("context", call.context), ("config", call.config)]
        pairs += [("task", task) for task in call.references]
        yield from (pair for pair in pairs if pair[1])
