"""The receiver leaves time for other work in every iteration of the event loop."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import pytest

from inspector.wire.receiver.loop_budget import PAUSE, SLICE, YIELD, LoopBudget


def work(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


async def iterations_of(seconds: float, workers: int, budget: LoopBudget | None = None) -> Counter[int]:
    """Let workers work at the same time, and count how many of them got into each turn of the loop."""
    budget, got, turn = budget or LoopBudget(), Counter[int](), 0

    async def worker() -> None:
        await budget.wait()
        with budget:
            work(seconds)
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


async def test_an_iteration_does_not_exceed_its_budget_and_all_work_is_done():
    got = await iterations_of(SLICE / 2, 30)
    assert got.total() == 30
    assert max(got.values()) <= 3


async def test_a_long_piece_of_work_has_its_own_iteration():
    assert set((await iterations_of(SLICE * 1.5, 5)).values()) == {1}


async def test_work_within_the_budget_is_done_in_one_iteration():
    assert len(await iterations_of(0.0, 20)) == 1


async def test_after_a_key_press_one_piece_of_work_per_iteration_is_done():
    budget = LoopBudget()
    budget.yield_to_input()
    assert set((await iterations_of(0.0001, 20, budget)).values()) == {1}
    await asyncio.sleep(YIELD)
    assert max((await iterations_of(0.0001, 20, budget)).values()) > 1


async def test_after_a_key_press_work_pauses_and_a_held_key_does_not_extend_the_pause():
    budget = LoopBudget()
    began = time.perf_counter()
    budget.yield_to_input()
    await budget.wait()
    assert time.perf_counter() - began >= PAUSE * 0.9
    budget.yield_to_input()  # the next of a held key's many
    began = time.perf_counter()
    await budget.wait()
    assert time.perf_counter() - began < PAUSE * 0.5


async def test_failing_work_is_measured():
    budget = LoopBudget()
    with pytest.raises(ValueError, match="oops"), budget:
        work(SLICE)
        raise ValueError("oops")
    waiting = asyncio.create_task(budget.wait())
    await asyncio.wait_for(waiting, 1)
