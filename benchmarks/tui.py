"""Measure the screen: first paint, a stream until its last row, and keys while it runs."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from string import ascii_uppercase

import httpx

from benchmarks.measuring import PYTHON, ROOT, environment
from benchmarks.screen import Screen, opened

INSPECTOR = (PYTHON, "-m", "inspector")
BETWEEN_KEYS = 0.05
"""Seconds from one key to the next, as in fast typing."""

_CALM = 10
"""How many times the help is opened while the program is idle."""
_CHOOSING = 2.0
"""Seconds on the first screen before a capture is chosen."""
_TAIL = 8
"""How many characters at the end of the typed text are visible together."""
_LINE = 60
"""How many letters are typed into a line."""


def first_paint_of_one_widget() -> float:
    """Return the seconds until the smallest Textual app has drawn itself."""
    with _home() as home, opened([PYTHON, "-m", "benchmarks.hello"], environment(home), ROOT) as screen:
        return screen.wait_for(b"hello, world") - screen.started


def first_paint_of_demo() -> float:
    """Return the seconds until `a2a-inspect demo` has drawn its frame: the status line and the views."""
    with _home() as home, opened([*INSPECTOR, "demo"], environment(home), ROOT) as screen:
        return screen.wait_for(b"a2a-inspect", b"Findings") - screen.started


def card_of_demo() -> float:
    """Return the seconds until `a2a-inspect demo` shows the card of its agent."""
    with _home() as home, opened([*INSPECTOR, "demo"], environment(home), ROOT) as screen:
        return screen.wait_for(b"Mock Agent") - screen.started


def card_of_agent(url: str) -> float:
    """Return the seconds until `a2a-inspect URL` shows the card of a mock agent."""
    with _home() as home, opened([*INSPECTOR, url], environment(home), ROOT) as screen:
        return screen.wait_for(b"Mock Agent") - screen.started


@dataclass(frozen=True)
class Shown:
    """A stream on the screen: seconds from Enter to its last row, and the largest growth of the program in bytes."""

    seconds: float
    growth: int


def stream(url: str, events: int) -> Shown:
    """Send a message and wait until the last row is on the screen, which shows that the task is completed."""
    with _chatting(url) as screen:
        mark = _write(screen, events)
        screen.most = before = screen.memory
        at = screen.press(b"\r")
        seconds = screen.wait_for(b"completed", since=mark) - at
        return Shown(seconds, screen.most - before)


@dataclass(frozen=True)
class Opened:
    """A capture on the screen: seconds from the start to its first and to its last row, and growth in bytes."""

    painted: float
    read: float
    growth: int


def recording(path: Path) -> Opened:
    """Open a capture and wait until it is read up to its last record, whose state is failed."""
    with _home() as home, opened([*INSPECTOR, "open", str(path)], environment(home), ROOT) as screen:
        painted = screen.wait_for(b"Timeline", b"stream") - screen.started
        screen.most = before = screen.memory
        mark = len(screen.written)
        read = screen.wait_for(b"failed", since=mark) - screen.started
        return Opened(painted, read, screen.most - before)


def chosen(path: Path) -> float:
    """Choose a capture in a running inspector, and return the seconds until its first rows are on the screen."""
    with _home() as home, opened(INSPECTOR, environment(home), ROOT) as screen:
        screen.wait_for(b"Connect to an agent")
        screen.rest(time.perf_counter() + _CHOOSING)
        screen.press(str(path).encode())
        screen.wait_for(path.name[-_TAIL:].encode())
        mark = len(screen.written)
        at = screen.press(b"\r")
        return screen.wait_for(b"Timeline", b"stream", since=mark) - at


def keys(url: str, events: int) -> tuple[list[float], list[float]]:
    """Press keys while a stream runs, and after it; return the seconds from each key to its letter."""
    with _chatting(url) as screen:
        mark = _write(screen, events)
        screen.press(b"\r")
        screen.wait_for(b"working", since=mark)
        busy = _type(screen, lambda: screen.written.find(b"completed", mark) >= 0)
        presses = iter(range(_LINE))
        return busy, _type(screen, lambda: next(presses, None) is None)


@dataclass(frozen=True)
class Posted:
    """Deliveries on the screen: seconds from the first delivery to the last row, and from each key to the help.

    `busy` has the keys pressed during the deliveries, `idle` those after them.
    """

    seconds: float
    busy: list[float]
    idle: list[float]


def deliveries(url: str, count: int, *, helping: bool) -> Posted:
    """Post deliveries while the view Webhooks is shown; with `helping`, open the help repeatedly."""
    with _chatting(url) as screen:
        screen.press(b"\x1b4")
        screen.wait_for(b"not listening")
        mark = len(screen.written)
        screen.press(b"p")
        screen.wait_for(b"with every message", since=mark)
        mark = len(screen.written)
        screen.press(b"2")
        screen.wait_for(b"Timeline", since=mark)
        screen.rest(time.perf_counter() + 0.5)
        mark = _write(screen, 1)
        screen.press(b"\r")
        screen.wait_for(b"completed", since=mark)
        screen.press(b"\x1b4")
        screen.wait_for(b"Deliveries", since=mark)
        webhook = httpx.get(f"{url}hook", trust_env=False).json()
        mark = len(screen.written)
        sender = [PYTHON, "-m", "benchmarks.sender", webhook["url"], webhook["token"], str(count)]
        with subprocess.Popen(sender, cwd=ROOT, stdout=subprocess.PIPE) as posting:
            busy = _help(screen, lambda: posting.poll() is not None) if helping else []
            screen.wait_for(f"{count:,}".encode(), since=mark)
            shown = time.time()
            seconds = shown - json.loads(posting.communicate()[0])["began"]
        presses = iter(range(_CALM if helping else 0))
        return Posted(seconds, busy, _help(screen, lambda: next(presses, None) is None))


def _help(screen: Screen, over: Callable[[], bool]) -> list[float]:
    """Open and close the help until `over` returns true, and measure the time until it is drawn."""
    times: list[float] = []
    while not over():
        mark = len(screen.written)
        at = screen.press(b"?")
        times.append(screen.wait_for(b"Inspect", since=mark) - at)
        mark = len(screen.written)
        screen.press(b"q")
        screen.wait_for(b"Deliveries", since=mark)
        screen.rest(time.perf_counter() + 4 * BETWEEN_KEYS)
    return times


def _type(screen: Screen, over: Callable[[], bool]) -> list[float]:
    """Type letters until `over` returns true, and measure the time until each is drawn."""
    times: list[float] = []
    line = b""
    for letter in cycle(ascii_uppercase.encode()):
        if over():
            break
        mark = len(screen.written)
        if len(line) % _LINE == 0:
            line = b"keys "
            screen.press(b"\n" + line)
            screen.wait_for(line, since=mark)
            mark = len(screen.written)
        line += bytes([letter])
        at = screen.press(line[-1:])
        times.append(screen.wait_for(line, since=mark) - at)
        screen.rest(at + BETWEEN_KEYS)
    return times


def _write(screen: Screen, events: int) -> int:
    """Write the message that requests a stream; return how much was drawn before it is sent."""
    text = b"firehose %d" % events
    mark = len(screen.written)
    screen.press(b"i")
    screen.wait_for(b"enter", b"send", since=mark)
    screen.press(text)
    screen.wait_for(text, since=mark)
    return len(screen.written)


@contextmanager
def _chatting(url: str) -> Iterator[Screen]:
    """Open the inspector with an agent, at the view where messages are written, and wait until it is idle."""
    with _home() as home, opened([*INSPECTOR, url], environment(home), ROOT) as screen:
        screen.wait_for(b"Firehose", b"connected")
        mark = len(screen.written)
        screen.press(b"2")
        screen.wait_for(b"Timeline", since=mark)
        screen.rest(time.perf_counter() + 0.5)
        yield screen


@contextmanager
def _home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        yield Path(folder)
