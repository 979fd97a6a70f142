"""The interval of refreshes, depending on the load of the event loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App
from textual.widgets import Static

from inspector.tui import refresh_throttle
from inspector.tui.refresh_throttle import FRAME, PAUSE_FACTOR, RefreshThrottle
from inspector.wire.receiver.loop_budget import PAUSE


class Loop:
    """A fake clock, event loop and widget; `wait` advances the time, a part of which is CPU time."""

    def __init__(self) -> None:
        self.now = self.worked = 1000.0
        self.asked: list[tuple[float, Callable[[], Any]]] = []
        self.drawn: list[Callable[[], Any]] = []

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.worked

    def set_timer(self, delay: float, callback: Callable[[], Any]) -> None:
        self.asked.append((delay, callback))

    def call_later(self, callback: Callable[[], Any]) -> None:
        self.set_timer(0.0, callback)

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any) -> None:
        self.drawn.append(lambda: callback(*args))

    def wait(self, seconds: float, load: float) -> None:
        self.now += seconds
        self.worked += seconds * load

    def draw(self, seconds: float) -> None:
        """Run the refresh; drawing the screen lasts some seconds."""
        _, wake = self.asked.pop()
        wake()
        self.wait(seconds, 1.0)
        self.drawn.pop()()


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    loop = Loop()
    monkeypatch.setattr(refresh_throttle, "time", loop)
    return loop


@pytest.mark.parametrize(("load", "held"), [(1.0, True), (0.1, False)], ids=["busy", "at leisure"])
def test_a_key_is_handled_before_a_refresh_in_a_busy_loop(loop: Loop, load: float, held: bool):
    refreshed: list[float] = []
    throttle = RefreshThrottle(loop, lambda: refreshed.append(loop.now))  # type: ignore[arg-type]
    loop.wait(1.0, load)
    throttle.request()
    loop.draw(0.01)
    loop.wait(1.0, load)
    throttle.request()
    loop.draw(0.01)  # from here on the load is known
    loop.wait(1.0, load)
    throttle.request()
    throttle.yield_to_input()
    _, wake = loop.asked.pop()
    wake()
    assert len(refreshed) == (2 if held else 3)
    if held:
        [(wait, wake)] = loop.asked
        assert wait == pytest.approx(PAUSE)
        loop.wait(wait, load)
        throttle.yield_to_input()  # the next of a held key's many
        wake()
        assert len(refreshed) == 3


def after(loop: Loop, load: float, drawing: float) -> float:
    """Return the delay of a refresh that is requested directly after a refresh, at a load before it."""
    throttle = RefreshThrottle(loop, lambda: None)  # type: ignore[arg-type]
    throttle.request()
    loop.draw(0.01)
    loop.wait(10.0, load)
    throttle.request()
    loop.draw(drawing)
    throttle.request()
    [(delay, _)] = loop.asked
    return delay


@pytest.mark.parametrize(("load", "pause"), [(1.0, PAUSE_FACTOR * 0.02), (0.5, PAUSE_FACTOR * 0.01)])
def test_the_pause_between_refreshes_is_proportional_to_the_load(loop: Loop, load: float, pause: float):
    assert after(loop, load, 0.02) == pytest.approx(pause)


def test_an_idle_loop_refreshes_once_per_frame(loop: Loop):
    assert after(loop, 0.0, 0.02) == pytest.approx(FRAME - 0.02)


def test_a_refresh_requested_during_a_refresh_follows_it(loop: Loop):
    refreshed: list[int] = []
    throttle = RefreshThrottle(loop, lambda: refreshed.append(1))  # type: ignore[arg-type]
    throttle.request()
    throttle.request()
    [(delay, wake)] = loop.asked
    assert delay == 0.0
    loop.asked.clear()
    wake()
    throttle.request()
    assert not throttle.idle
    loop.asked.clear()  # the timeout for a refresh whose end is not reported
    loop.drawn.pop()()
    [(_, again)] = loop.asked
    again()
    assert len(refreshed) == 2


async def test_a_refresh_that_is_nearly_due_is_not_lost():
    """Textual never calls back a timer of a microsecond, so the screen would never be refreshed again."""
    refreshed: list[float] = []
    app = App[None]()
    async with app.run_test() as pilot:
        widget = Static("text")
        await app.mount(widget)
        throttle = RefreshThrottle(widget, lambda: refreshed.append(time.monotonic()))
        for number in range(60):
            throttle._next = time.monotonic() + number * 1e-7
            throttle.request()
            await pilot.pause(0.002)
            widget.update(f"{number}")
            await pilot.pause(0.002)
            assert throttle.idle
    assert len(refreshed) == 60
