"""How often views are woken: at once when little happens, and when the loop is busy only after a rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from inspector.tui import refresh_throttle
from inspector.tui.refresh_throttle import FRAME, PAUSE_FACTOR, RefreshThrottle
from inspector.wire.receiver.loop_budget import PAUSE


class Loop:
    """A clock, and what a widget is asked to call: `wait` lets time pass of which a part is worked."""

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
        """Wake the views, and take some seconds until the screen is drawn."""
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
def test_a_key_goes_before_a_drawing_where_the_loop_is_busy(loop: Loop, load: float, held: bool):
    woken: list[float] = []
    paced = RefreshThrottle(loop, lambda: woken.append(loop.now))  # type: ignore[arg-type]
    loop.wait(1.0, load)
    paced.request()
    loop.draw(0.01)
    loop.wait(1.0, load)
    paced.request()
    loop.draw(0.01)  # from here on it is known how busy the loop is
    loop.wait(1.0, load)
    paced.request()
    paced.yield_to_input()
    _, wake = loop.asked.pop()
    wake()
    assert len(woken) == (2 if held else 3)
    if held:
        [(wait, wake)] = loop.asked
        assert wait == pytest.approx(PAUSE)
        loop.wait(wait, load)
        paced.yield_to_input()  # the next of a held key's many
        wake()
        assert len(woken) == 3


def after(loop: Loop, load: float, drawing: float) -> float:
    """Return how long views wait that are poked right after a drawing, before which the loop worked so much."""
    paced = RefreshThrottle(loop, lambda: None)  # type: ignore[arg-type]
    paced.request()
    loop.draw(0.01)
    loop.wait(10.0, load)
    paced.request()
    loop.draw(drawing)
    paced.request()
    [(delay, _)] = loop.asked
    return delay


@pytest.mark.parametrize(("load", "rest"), [(1.0, PAUSE_FACTOR * 0.02), (0.5, PAUSE_FACTOR * 0.01)])
def test_the_more_the_loop_works_the_longer_it_rests_from_drawing(loop: Loop, load: float, rest: float):
    assert after(loop, load, 0.02) == pytest.approx(rest)


def test_a_loop_with_time_draws_once_a_frame(loop: Loop):
    assert after(loop, 0.0, 0.02) == pytest.approx(FRAME - 0.02)


def test_what_is_poked_about_while_the_screen_is_drawn_is_drawn_next(loop: Loop):
    woken: list[int] = []
    paced = RefreshThrottle(loop, lambda: woken.append(1))  # type: ignore[arg-type]
    paced.request()
    paced.request()
    [(delay, wake)] = loop.asked
    assert delay == 0.0
    loop.asked.clear()
    wake()
    paced.request()
    assert not paced.idle
    loop.asked.clear()  # the one for a drawing of which nobody ever hears
    loop.drawn.pop()()
    [(_, again)] = loop.asked
    again()
    assert len(woken) == 2
