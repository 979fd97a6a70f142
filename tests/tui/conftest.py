"""Fixtures of the app tests: a temporary state folder, agents, and snapshots."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent.parent / "cli"))  # for puppets.py: scripted agents

import idle
from driving import SIZE, TIMEOUT, Driver, Open, driving
from inspector.sample_agents.server import serve_in_thread
from snapshots import Snapshots, constant_duration, with_constant_times
from textual._styles_cache import StylesCache
from textual.strip import Strip

from inspector.options import Options
from inspector.text import units
from inspector.tui import key_order
from inspector.tui.screens.session_screen import SessionScreen
from inspector.tui.widgets import task_lines

_MANY_OBJECTS = 200_000
"""The new objects after which a test begins with a collection: several apps leave as many."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-snapshots", action="store_true", help="replace the stored pictures by the current screens"
    )


@pytest.fixture
def snapshots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Snapshots:
    monkeypatch.setattr(task_lines, "health", with_constant_times(task_lines.health))
    monkeypatch.setattr(
        units.duration, "__code__", constant_duration.__code__
    )  # many modules import the function by its name
    monkeypatch.setattr(time, "strftime", lambda *_: "13:35:50")  # a dialog may cover any part of a time of day
    return Snapshots(update=request.config.getoption("update_snapshots", default=False))


@pytest.fixture(autouse=True)
def swept() -> Iterator[None]:
    """Collect the garbage of the previous apps now and then: the garbage collector runs too seldom for that.

    What remains is kept by caches and fixtures, so it is not searched again. Two caches of Textual are keyed by an
    object of the app; they would keep the lines of a thousand widgets.
    """
    StylesCache.get_inner_outer.cache_clear()
    Strip.blank.cache_clear()
    if gc.get_count()[0] > _MANY_OBJECTS:
        gc.collect()
        gc.freeze()
    yield


@pytest.fixture(autouse=True)
def fast_textual(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save the time that Textual needs in tests only: to wait after each key, and to parse the same style sheets."""
    idle.install(monkeypatch)


@pytest.fixture(autouse=True)
def unhurried_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a key wait for the effect of the key before, however long a busy machine needs for it."""
    monkeypatch.setattr(key_order, "_LONGEST_WAIT", TIMEOUT)


@pytest.fixture(autouse=True)
def views_on_demand(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Mount a view when a test goes to it, not before: to mount all of them needs half of the time of a short test."""
    if "all_views" not in request.fixturenames:
        monkeypatch.setattr(SessionScreen, "mount_other_views", lambda _: None)


@pytest.fixture
def all_views() -> None:
    """Mount all views after the card is shown, as without these tests."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a temporary state folder instead of the folder of the user."""
    folder = tmp_path / "home"
    monkeypatch.setenv("A2A_INSPECT_HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def all_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw all colours, whatever the terminal of the test run can draw."""
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture(scope="session")
def mock() -> Iterator[str]:
    """The built-in mock agent without pauses."""
    with serve_in_thread(pace=0) as url:
        yield url


@pytest.fixture(scope="session")
def slow_mock() -> Iterator[str]:
    """The built-in mock agent with its pauses, for tests of running tasks."""
    with serve_in_thread() as url:
        yield url


@pytest.fixture
def open_app() -> Open:
    """Open the app with a reference; `None` opens the connect screen."""

    def opening(
        reference: str | None, size: tuple[int, int] = SIZE, *, run: dict[str, Any] | None = None, **options: Any
    ) -> AbstractAsyncContextManager[Driver]:
        return driving(Options(reference=reference, **options), size, **(run or {}))

    return opening
