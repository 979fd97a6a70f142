"""Run the app for a long time beside an agent that makes every mistake: `make soak` (not part of the tests).

In rounds, the app connects, sends a message for each fault of the mock agent with a webhook, shows the events and the
pushes, and closes the session. The memory must stay flat, and at the end no task and no socket may be left. Then a
recording process is killed at random moments: its capture must be readable, with the events up to shortly before.
Everything is on the loopback interface, and the processes that were started are stopped by their id.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from textual.pilot import Pilot

from inspector.capture.store import Capture
from inspector.options import HOME_VARIABLE, Options
from inspector.protocol.errors import Fault, FaultError
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.tui.app import InspectorApp
from sample_agents.faults.names import FAULTS

PYTHON = sys.executable
MOST_GROWTH = 1.10
"""The most memory at the end, as a multiple of the memory after the first rounds."""
MOST_LOST = 0.5
"""The seconds before a kill whose records may be missing from the capture."""
KILLS = 10
_WARM_UP = 3
"""The rounds before the memory is compared: caches are filled."""
_CALL_SECONDS = 0.5
"""Slow faults are left after this time."""
_FAULTS = [name for name, fault in FAULTS.items() if not fault.level.needs_authentication]
"""The faults that a scenario can have."""
_VIEWS = "123456"
_EVERY = 5
"""After so many messages, another view is shown."""
_SCENARIO = """\
name = "{fault}"
description = "Makes the mistake {fault} in a stream with pushes."
tags = ["soak"]
examples = ["{word}"]
words = ["{word}"]
fault = "{fault}"
steps = [
  {{ working = "Working" }},
  {{ artifact = "text", chunks = 5, parts = [{{ text = "one two three four five" }}] }},
  {{ completed = "Done" }},
]
"""


class SoakError(AssertionError):
    """Raised if something did not hold for the whole time."""


def check(condition: bool, text: str) -> None:
    """Raise `SoakError` with the text if the condition is false."""
    if not condition:
        raise SoakError(text)


@contextmanager
def mock_agent(folder: Path) -> Iterator[str]:
    """Serve the mock agent, with a scenario for each fault, in a process of its own."""
    for number, fault in enumerate(_FAULTS):
        text = _SCENARIO.format(fault=fault, word=f"soak{number}")
        (folder / f"soak{number}.toml").write_text(text, encoding="utf-8")
    argv = [PYTHON, "-m", "inspector", "mock", "--pace", "0", "--scenario", str(folder)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = next((word for line in process.stdout for word in line.split() if word.startswith("http://")), None)
            if url is None:
                raise SoakError("the mock agent did not start")
            yield url.rstrip("/,.")
        finally:
            process.terminate()


def resident() -> int:
    """Return the memory of this process in kilobytes."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")))


def sockets() -> int:
    """Return the number of open sockets of this process."""
    count = 0
    for entry in os.scandir("/proc/self/fd"):
        with suppress(OSError):
            count += os.readlink(entry.path).startswith("socket:")  # noqa: PTH115 - a link of the kernel, not a path
    return count


async def until(condition: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    """Wait until a condition is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < deadline, f"not within {seconds:g} s: {what}")
        await asyncio.sleep(0.02)


async def send(session: Session, text: str) -> None:
    """Send a message, and read its stream until it ends, or until a slow fault has taken too long."""
    with suppress(TimeoutError, FaultError):
        async with asyncio.timeout(_CALL_SECONDS):
            await session.send(text_draft(text), stream=True).finish()


async def one_round(app: InspectorApp, pilot: Pilot[int | Fault], url: str) -> int:
    """Connect anew, send a message for each fault, and show every view; return the number of records."""
    before = app.session
    app.open(url)
    await until(lambda: app.session not in (before, None), "a new session")
    session = app.session
    assert session is not None
    await until(lambda: session.connection is not None, "the agent is connected")
    if before is not None:
        before.journal.capture.path.unlink()
    await session.push.turn_on()
    busy = asyncio.create_task(send(session, "firehose 300"))
    for number in range(len(_FAULTS)):
        await send(session, f"soak{number}")
        if number % _EVERY == 0:
            await pilot.press(_VIEWS[number // _EVERY % len(_VIEWS)], "end")
    await busy
    return len(session.journal.capture)


async def rounds(url: str, seconds: float) -> None:
    """Run rounds for a time; raise `SoakError` if the memory grows, or if a task or a socket is left."""
    began, memory, total = time.monotonic(), list[int](), 0
    left_tasks, left_sockets = asyncio.all_tasks(), sockets()
    app = InspectorApp(Options(reference=url))
    async with app.run_test(size=(140, 40)) as pilot:
        await until(lambda: app.session and app.session.connection, "the agent is connected")
        while time.monotonic() - began < seconds or len(memory) < 3 * _WARM_UP:
            total += await one_round(app, pilot, url)
            gc.collect()  # the closed session is garbage, which would be measured in some rounds only
            memory.append(resident())
            sys.stdout.write(f"round {len(memory)}: {total:,} records, {memory[-1] // 1024} MB\n")
            sys.stdout.flush()
        await pilot.press("ctrl+q")
    await until(lambda: asyncio.all_tasks() <= left_tasks, "every task has ended")
    await until(lambda: sockets() <= left_sockets, "every socket is closed")
    first, last = statistics.median(memory[_WARM_UP : 2 * _WARM_UP]), statistics.median(memory[-_WARM_UP:])
    grown = last / first
    check(grown <= MOST_GROWTH, f"the memory grew from {first // 1024} to {last // 1024} MB: factor {grown:.2f}")
    sys.stdout.write(f"memory: {first // 1024} MB after {2 * _WARM_UP} rounds, {last // 1024} MB at the end\n")


def kill_recording(url: str, folder: Path, number: int, after: float) -> float:
    """Kill a process that records a stream; return how many seconds before the kill its capture ends."""
    path = folder / f"killed{number}.a2a"
    argv = [PYTHON, "-m", "inspector", "send", url, "--text", "firehose 3000", "--stream", "--capture", str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()  # the stream has begun
            time.sleep(after)
        finally:
            at = time.time()
            os.kill(process.pid, signal.SIGKILL)
    with Capture.open(path) as capture:
        check(len(capture) > 1, f"{path} has no records")
        return at - capture.get(len(capture)).at


def main() -> int:
    """Run the soak test; the exit code is 1 if something did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    generator = random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="a2a-inspect-soak-") as name:
        folder = Path(name)
        os.environ[HOME_VARIABLE] = str(folder / "home")
        scenarios = folder / "scenarios"
        scenarios.mkdir()
        try:
            with mock_agent(scenarios) as url:
                asyncio.run(rounds(url, given.minutes * 60))
            lost = kills(folder, generator)
        except SoakError as error:
            sys.stderr.write(f"soak: {error} (--seed {given.seed})\n")
            return 1
    sys.stdout.write(f"{KILLS} kills: at most {max(lost):.2f} s lost\n")
    return 0


def kills(folder: Path, generator: random.Random) -> list[float]:
    """Kill a recording process at random moments; return how many seconds each capture lost."""
    argv = [PYTHON, "-m", "inspector", "mock"]  # with its pauses
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            words = (word for line in process.stdout for word in line.split())
            url = next(word for word in words if word.startswith("http://")).rstrip("/,.")
            lost = [kill_recording(url, folder, number, generator.uniform(0.1, 3.0)) for number in range(KILLS)]
        finally:
            process.terminate()
    check(max(lost) <= MOST_LOST, f"a killed process lost {max(lost):.2f} s of its capture")
    return lost


if __name__ == "__main__":
    raise SystemExit(main())
