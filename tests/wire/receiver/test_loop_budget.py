"""The receiver leaves time for other work in every iteration of the event loop."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from inspector.wire.receiver import loop_budget
from inspector.wire.receiver.loop_budget import PAUSE, SLICE, YIELD, LoopBudget


class Clock:
    """A clock that only work and sleep advance: on a busy machine, other programs run between two turns of the loop."""

    get_running_loop = staticmethod(asyncio.get_running_loop)

    def __init__(self) -> None:
        self._now = 1000.0

    def perf_counter(self) -> float:
        return self._now

    def work(self, seconds: float) -> None:
        self._now += seconds

    async def sleep(self, seconds: float) -> None:
        self._now += seconds
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(loop_budget, "time", clock)
    monkeypatch.setattr(loop_budget, "asyncio", clock)
    return clock


async def iterations_of(clock: Clock, seconds: float, workers: int, budget: LoopBudget | None = None) -> Counter[int]:
    """Let workers work at the same time, and count how many of them got into each turn of the loop."""
    budget, got, turn = budget or LoopBudget(), Counter[int](), 0

    async def worker() -> None:
        await budget.wait()
        with budget:
            clock.work(seconds)
            got[turn] += 1

    async def count() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    counter = asyncio.create_task(count())
    await asyncio.gather(*(worker() for _ in range(workers)))
    counter.cancel()
    return got


async def test_an_iteration_does_not_exceed_its_budget_and_all_work_is_done(clock: Clock):
    got = await iterations_of(clock, SLICE / 2, 30)
    assert got.total() == 30
    assert max(got.values()) <= 3


async def test_a_long_piece_of_work_has_its_own_iteration(clock: Clock):
    assert set((await iterations_of(clock, SLICE * 1.5, 5)).values()) == {1}


async def test_work_within_the_budget_is_done_in_one_iteration(clock: Clock):
    assert len(await iterations_of(clock, 0.0, 20)) == 1


async def test_after_a_key_press_one_piece_of_work_per_iteration_is_done(clock: Clock):
    budget = LoopBudget()
    budget.yield_to_input()
    assert set((await iterations_of(clock, 0.0001, 20, budget)).values()) == {1}
    await clock.sleep(YIELD * 1.01)
    assert max((await iterations_of(clock, 0.0001, 20, budget)).values()) > 1


async def test_after_a_key_press_work_pauses_and_a_held_key_does_not_extend_the_pause(clock: Clock):
    budget = LoopBudget()
    began = clock.perf_counter()
    budget.yield_to_input()
    await budget.wait()
    assert clock.perf_counter() - began == pytest.approx(PAUSE)
    budget.yield_to_input()  # the next of a held key's many
    began = clock.perf_counter()
    await budget.wait()
    assert clock.perf_counter() == began


async def test_failing_work_is_measured(clock: Clock):
    budget = LoopBudget()
    with pytest.raises(ValueError, match="oops"), budget:
        clock.work(SLICE)
        raise ValueError("oops")
    waiting = asyncio.create_task(budget.wait())
    await asyncio.wait_for(waiting, 1)
