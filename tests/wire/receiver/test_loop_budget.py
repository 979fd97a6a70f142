"""Who works for many senders leaves every turn of the loop some time for others."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import pytest

from inspector.wire.receiver.loop_budget import HOLD, SLICE, WAY, Turns


def work(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


async def turns_of(seconds: float, workers: int, turns: Turns | None = None) -> Counter[int]:
    """Let workers work at the same time, and count how many of them got into each turn of the loop."""
    turns, got, turn = turns or Turns(), Counter[int](), 0

    async def worker() -> None:
        await turns.mine()
        with turns:
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


async def test_a_turn_has_no_more_work_than_its_slice_and_all_of_it_is_done():
    got = await turns_of(SLICE / 2, 30)
    assert got.total() == 30
    assert max(got.values()) <= 3


async def test_one_that_takes_long_has_a_turn_of_its_own():
    assert set((await turns_of(SLICE * 1.5, 5)).values()) == {1}


async def test_what_fits_is_done_in_one_turn():
    assert len(await turns_of(0.0, 20)) == 1


async def test_who_gives_way_does_one_piece_of_work_a_turn_and_goes_on_as_before_later():
    turns = Turns()
    turns.give_way()
    assert set((await turns_of(0.0001, 20, turns)).values()) == {1}
    await asyncio.sleep(WAY)
    assert max((await turns_of(0.0001, 20, turns)).values()) > 1


async def test_who_gives_way_does_nothing_at_first_and_a_held_key_stops_nothing():
    turns = Turns()
    began = time.perf_counter()
    turns.give_way()
    await turns.mine()
    assert time.perf_counter() - began >= HOLD * 0.9
    turns.give_way()  # the next of a held key's many
    began = time.perf_counter()
    await turns.mine()
    assert time.perf_counter() - began < HOLD * 0.5


async def test_work_that_fails_is_counted_too():
    turns = Turns()
    with pytest.raises(ValueError, match="oops"), turns:
        work(SLICE)
        raise ValueError("oops")
    waiting = asyncio.create_task(turns.mine())
    await asyncio.wait_for(waiting, 1)
