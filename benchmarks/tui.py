"""The screen under measurement: first paint, a stream to its last row, keys while it runs."""

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
"""Seconds from one key to the next; nobody types faster for long."""

_CALM = 10
"""How often the help is opened where nothing else happens."""
_CHOOSING = 2.0
"""Seconds that somebody looks at the first screen before choosing from it."""
_TAIL = 8
"""So much of the end of what was typed is seen whole."""
_LINE = 60
"""How many letters are typed into one line."""


def first_paint_of_one_widget() -> float:
    """Return the seconds until the smallest Textual app has drawn itself."""
    with _home() as home, opened([PYTHON, "-m", "benchmarks.hello"], environment(home), ROOT) as screen:
        return screen.wait_for(b"hello, world") - screen.started


def first_paint_of_demo() -> float:
    """Return the seconds until `a2a-inspect demo` has drawn its frame: the status line, and the places below it."""
    with _home() as home, opened([*INSPECTOR, "demo"], environment(home), ROOT) as screen:
        return screen.wait_for(b"a2a-inspect", b"Findings") - screen.started


def card_of_demo() -> float:
    """Return the seconds until `a2a-inspect demo` shows the card of its agent."""
    with _home() as home, opened([*INSPECTOR, "demo"], environment(home), ROOT) as screen:
        return screen.wait_for(b"Mock Agent") - screen.started


@dataclass(frozen=True)
class Shown:
    """A stream on the screen: seconds from enter to its last row, and by how many bytes the program grew at most."""

    seconds: float
    growth: int


def stream(url: str, events: int) -> Shown:
    """Send a message and wait until the last row is on the screen, which says that the task is completed."""
    with _talking(url) as screen:
        mark = _write(screen, events)
        screen.most = before = screen.memory
        at = screen.press(b"\r")
        seconds = screen.wait_for(b"completed", since=mark) - at
        return Shown(seconds, screen.most - before)


@dataclass(frozen=True)
class Opened:
    """A recording on the screen: seconds from the start to its first row and to its last, bytes that reading added."""

    painted: float
    read: float
    growth: int


def recording(path: Path) -> Opened:
    """Open a capture and wait until all of it is read, down to its last record, which says that something failed."""
    with _home() as home, opened([*INSPECTOR, "open", str(path)], environment(home), ROOT) as screen:
        painted = screen.wait_for(b"TIMELINE", b"stream") - screen.started
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
        return screen.wait_for(b"TIMELINE", b"stream", since=mark) - at


def keys(url: str, events: int) -> tuple[list[float], list[float]]:
    """Press keys while a stream runs, and after it; returns the seconds from each key to its letter."""
    with _talking(url) as screen:
        mark = _write(screen, events)
        screen.press(b"\r")
        screen.wait_for(b"working", since=mark)
        busy = _type(screen, lambda: screen.written.find(b"completed", mark) >= 0)
        presses = iter(range(_LINE))
        return busy, _type(screen, lambda: next(presses, None) is None)


@dataclass(frozen=True)
class Posted:
    """Deliveries on the screen: seconds from the first post to the last row, and from each key to the help.

    `busy` are those that were pressed meanwhile, `idle` those that were pressed behind it.
    """

    seconds: float
    busy: list[float]
    idle: list[float]


def deliveries(url: str, count: int, *, helping: bool) -> Posted:
    """Post deliveries while the place that lists them is seen, and open the help now and then where that is wanted."""
    with _talking(url) as screen:
        screen.press(b"\x1b4")
        screen.wait_for(b"not listening")
        mark = len(screen.written)
        screen.press(b"p")
        screen.wait_for(b"push on", since=mark)
        mark = len(screen.written)
        screen.press(b"2")
        screen.wait_for(b"TIMELINE", since=mark)
        screen.rest(time.perf_counter() + 0.5)
        mark = _write(screen, 1)
        screen.press(b"\r")
        screen.wait_for(b"completed", since=mark)
        screen.press(b"\x1b4")
        screen.wait_for(b"DELIVERIES", since=mark)
        hook = httpx.get(f"{url}hook", trust_env=False).json()
        mark = len(screen.written)
        sender = [PYTHON, "-m", "benchmarks.sender", hook["url"], hook["token"], str(count)]
        with subprocess.Popen(sender, cwd=ROOT, stdout=subprocess.PIPE) as posting:
            busy = _help(screen, lambda: posting.poll() is not None) if helping else []
            screen.wait_for(f"{count:,}".encode(), since=mark)
            shown = time.time()
            seconds = shown - json.loads(posting.communicate()[0])["began"]
        presses = iter(range(_CALM if helping else 0))
        return Posted(seconds, busy, _help(screen, lambda: next(presses, None) is None))


def _help(screen: Screen, over: Callable[[], bool]) -> list[float]:
    """Open the help and close it until it is over, and time each until it is drawn."""
    taken: list[float] = []
    while not over():
        mark = len(screen.written)
        at = screen.press(b"?")
        taken.append(screen.wait_for(b"KEYS", since=mark) - at)
        mark = len(screen.written)
        screen.press(b"q")
        screen.wait_for(b"DELIVERIES", since=mark)
        screen.rest(time.perf_counter() + 4 * BETWEEN_KEYS)
    return taken


def _type(screen: Screen, over: Callable[[], bool]) -> list[float]:
    """Type one letter after the other until it is over, and time each until it is drawn behind those before it."""
    taken: list[float] = []
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
        taken.append(screen.wait_for(line, since=mark) - at)
        screen.rest(at + BETWEEN_KEYS)
    return taken


def _write(screen: Screen, events: int) -> int:
    """Write the message that asks for a stream; returns how much was drawn before it is sent."""
    text = b"firehose %d" % events
    mark = len(screen.written)
    screen.press(text)
    screen.wait_for(text, since=mark)
    return len(screen.written)


@contextmanager
def _talking(url: str) -> Iterator[Screen]:
    """Open the inspector on an agent, at the place where messages are written, and let it come to rest."""
    with _home() as home, opened([*INSPECTOR, url], environment(home), ROOT) as screen:
        screen.wait_for(b"Firehose", b"connected")
        mark = len(screen.written)
        screen.press(b"2")
        screen.wait_for(b"TIMELINE", since=mark)
        screen.rest(time.perf_counter() + 0.5)
        yield screen


@contextmanager
def _home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        yield Path(folder)
