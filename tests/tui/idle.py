"""Make the app faster in tests: wait exactly until it is idle, draw only what is looked at, and keep parsed styles.

For each key, the pilot waits three times until the process needs less than 1 ms of CPU time in 20 ms. Here the app is
idle if its event loop has nothing to run, no timer is about to expire, and no other thread (agent, search) can run.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region, Size
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

STEP = 0.003
"""The seconds for which the process must be idle."""
BUSY = STEP / 5
"""If the process needs more CPU time than this in a step, in seconds, it is not idle."""
HORIZON = 0.02
"""Timers that expire within these seconds are waited for."""
MAX_SECONDS = 1.0
"""The longest wait, as in Textual."""
UPDATE_PERIOD = 0.001
"""The seconds between two drawings of a screen, which are waited for: Textual's own period is 16 times as long."""
NEGLIGIBLE = 0.0003
"""If the process needed less CPU time than this since it was idle, in seconds, nothing has changed."""
THREADS = Path("/proc/self/task")
"""The threads of this process, on Linux."""

_draw = Screen._compositor_refresh
_parse = Stylesheet._parse_rules
_change = Stylesheet.set_variables
_PARSED: dict[tuple[tuple[str, str], ...], Any] = {}
_idle_at = 0.0
"""The CPU time of this process when it was idle."""
_DRAWN: WeakKeyDictionary[Screen[Any], tuple[Size, list[Strip]]] = WeakKeyDictionary()


def install(monkeypatch: Any) -> None:
    """Let the pilot wait in this way, where the states of threads can be read."""
    if THREADS.exists():
        monkeypatch.setattr("textual.app.wait_for_idle", wait_for_idle)
        monkeypatch.setattr("textual.pilot.wait_for_idle", wait_for_idle)
        monkeypatch.setattr(Pilot, "_wait_for_screen", _process_messages)
        monkeypatch.setattr("textual.screen.UPDATE_PERIOD", UPDATE_PERIOD)
        monkeypatch.setattr(Screen, "_compositor_refresh", _draw_if_displayed)
        monkeypatch.setattr(Stylesheet, "_parse_rules", _parse_rules)
        monkeypatch.setattr(Stylesheet, "set_variables", _set_variables)
        monkeypatch.setattr(RuleSet, "__hash__", object.__hash__)  # the same hash, but not computed by Python code


async def wait_for_idle(min_sleep: float = 0.0, max_sleep: float = MAX_SECONDS) -> None:
    """Wait until the process is idle, at most `max_sleep` seconds; not at all if nothing happened since it was idle."""
    global _idle_at  # noqa: PLW0603
    loop: Any = asyncio.get_running_loop()
    start = time.monotonic()
    if not min_sleep and time.process_time() - _idle_at < NEGLIGIBLE and _has_nothing_to_run(loop, start + HORIZON):
        return
    waited = 0.0  # without the time in which a busy machine does not run this process
    while waited < max_sleep:
        before = time.process_time()
        await asyncio.sleep(STEP)
        used = time.process_time() - before
        waited += max(STEP, used)
        quiet = used < BUSY and _has_nothing_to_run(loop, time.monotonic() - waited + HORIZON)
        if quiet and time.monotonic() >= start + min_sleep and not _another_thread_runs():
            _idle_at = time.process_time()
            return


async def _process_messages(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
    """Let all widgets process their messages, without a message to each of them as the pilot does it.

    A stream can keep the event loop busy for longer than `MAX_SECONDS`. Returns False if the app has crashed.
    """
    loop: Any = asyncio.get_running_loop()
    end = time.process_time() + MAX_SECONDS  # a busy machine may not run this process for longer
    await asyncio.sleep(0)
    while loop._ready and time.process_time() < end:
        await asyncio.sleep(0)
    return not pilot.app._exception_event.is_set()


def draw(screen: Screen[Any]) -> list[Strip]:
    """Draw what has changed of a screen that is to be looked at, as it is drawn on a terminal, and return its lines."""
    compositor = screen._compositor
    size = compositor.size
    drawn, lines = _DRAWN.get(screen, (None, []))
    changed = compositor._dirty_regions if drawn == size else {size.region}
    rows = {row for region in changed for row in region.line_range if row < size.height}
    compositor._dirty_regions.clear()
    if drawn != size:
        lines = [Strip.blank(size.width)] * size.height
        _DRAWN[screen] = size, lines
    if rows:
        visible_screen_stack.set(screen.app._background_screens)
        crop = Region(0, min(rows), size.width, max(rows) - min(rows) + 1)
        chops = compositor._render_chops(crop, rows.__contains__)
        for row in rows:
            lines[row] = Strip.join(chops[row].values())
    return lines


def _draw_if_displayed(screen: Screen[Any]) -> None:
    """Draw a screen that a terminal displays; draw another one when it is looked at, not after each change of it."""
    if screen.app.is_headless and screen is screen.app.screen:
        screen._dirty_widgets.clear()
        screen.app._update_mouse_over(screen)
    else:
        _draw(screen)


def _parse_rules(sheet: Stylesheet, *arguments: Any, **named: Any) -> list[RuleSet]:
    """Parse a style sheet once for all apps that have the same theme."""
    if not sheet._parse_cache:
        sheet._parse_cache = _PARSED.setdefault(tuple(sheet._variables.items()), sheet._parse_cache)
    return _parse(sheet, *arguments, **named)


def _set_variables(sheet: Stylesheet, variables: dict[str, str]) -> None:
    """Change the theme of one app, and leave what is parsed for the other apps."""
    sheet._parse_cache = type(sheet._parse_cache)(sheet._parse_cache.maxsize)
    _change(sheet, variables)


def _has_nothing_to_run(loop: Any, until: float) -> bool:
    """Return whether no callback is ready, and no timer expires before a time of the clock `time.monotonic`."""
    return not loop._ready and not any(timer.when() <= until and not timer.cancelled() for timer in loop._scheduled)


def _another_thread_runs() -> bool:
    """Return whether another thread of this process is running, could run, or waits for a disk."""
    own = str(threading.get_native_id())
    return any(_state(thread.path) in b"RD" for thread in os.scandir(THREADS) if thread.name != own)


def _state(thread: str) -> bytes:
    """Return the state of a thread, X if it has ended."""
    try:
        file = os.open(f"{thread}/stat", os.O_RDONLY)
        try:
            return os.read(file, 1024).rpartition(b") ")[2][:1]
        finally:
            os.close(file)
    except (FileNotFoundError, ProcessLookupError):
        return b"X"
