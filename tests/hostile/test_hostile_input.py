"""Hostile input from the terminal itself, in a pseudo-terminal: the app continues, and the terminal is restored."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from programs import Run
from terminal import Terminal

HEADING = "Connect to an agent"
MOMENTS = {
    "drawing": "self._begin_update()",
    "writing": "self._driver._writer_thread._queue.mutex.acquire()",
    "stopping": "self._driver.disable_input = quit_now; self._driver.stop_application_mode()",
}
"""What the app does when the signal arrives."""
APP = """
import os, signal
from functools import partial
from inspector.options import Options
from inspector.tui.app import InspectorApp

def quit_now():
    del InspectorApp.quitting._driver.disable_input
    os.kill(os.getpid(), signal.SIGQUIT)

def fail(*arguments):
    raise OSError(5, "the terminal is closed")

def quit_at_a_moment(self):
    InspectorApp.quitting = self
    if self._sync_available:
        {moment}
        os.kill(os.getpid(), signal.SIGQUIT)

mount = InspectorApp.on_mount

async def on_mount(self):
    await mount(self)
    self.set_interval(0.02, partial(quit_at_a_moment, self))

InspectorApp.on_mount = on_mount
InspectorApp(Options()).run()
"""

STOPPED_APP = """
import os, signal
from functools import partial
from inspector.options import Options
from inspector.tui.app import InspectorApp

def stop_during_a_write(self):
    if not os.path.exists({wanted!r}):  # not yet, or on a busy machine, several calls were waiting
        return
    if self.stopped:
        os.remove({wanted!r})  # the terminal is switched to the app again
    else:
        self.stopped = True
        with self._driver._writer_thread._queue.mutex:
            for number in {numbers}:
                os.kill(os.getpid(), number)

mount = InspectorApp.on_mount

async def on_mount(self):
    await mount(self)
    self.stopped = False
    self.set_interval(0.02, partial(stop_during_a_write, self))

InspectorApp.on_mount = on_mount
InspectorApp(Options()).run()
"""


def test_input_that_is_not_utf8_or_was_not_requested_does_not_end_the_app(inspect: Run):
    terminal = inspect(cols=100, rows=30)
    terminal.wait_for(HEADING)
    terminal.send(b"\xff\x1b[1114112u\x1b]0;title\x07")
    terminal.paste("http://127.0.0.1:1/pasted")
    terminal.wait_for("/pasted")
    terminal.press("ctrl+q")
    assert (ending := terminal.wait_exit()).restored
    assert ending.status == 0


def test_reply_of_the_terminal_does_not_start_an_editor(inspect: Run, tmp_path: Path):
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    editor.chmod(0o700)
    terminal = inspect("demo", "--no-tour", env={"EDITOR": str(editor), "VISUAL": str(editor)})
    terminal.wait_for("2 Chat")
    terminal.press("2")
    terminal.wait_for(" i write")
    terminal.press("i")
    terminal.wait_for("^g $EDITOR")
    terminal.send(b"\x1b]0;title\x07after the reply")
    terminal.wait_for("│▌ after the reply ")
    assert not (tmp_path / "started").exists()


def test_sigquit_restores_the_terminal(inspect: Run):
    terminal = inspect(cols=100, rows=30)
    terminal.wait_for(HEADING)
    terminal.signal(signal.SIGQUIT)
    ending = terminal.wait_exit()
    assert (ending.status, ending.left) == (-signal.SIGQUIT, frozenset())


@pytest.mark.parametrize("moment", MOMENTS)
def test_sigquit_restores_the_terminal_at_every_moment(moment: str, home: Path):
    source = APP.format(moment=MOMENTS[moment])
    with Terminal([sys.executable, "-c", source], env={"A2A_INSPECT_HOME": str(home)}) as terminal:
        ending = terminal.wait_exit()
    assert (ending.status, ending.left) == (-signal.SIGQUIT, frozenset())


def test_sigquit_ends_the_app_if_the_terminal_cannot_be_restored(home: Path):
    source = APP.format(moment="os.write = fail")
    with Terminal([sys.executable, "-c", source], env={"A2A_INSPECT_HOME": str(home)}) as terminal:
        assert terminal.wait_exit().status == -signal.SIGQUIT


@pytest.mark.parametrize("numbers", [(signal.SIGTSTP,), (signal.SIGCONT,), (signal.SIGTSTP, signal.SIGCONT)])
def test_a_process_that_is_stopped_or_continued_during_a_write_goes_on(numbers: tuple[int, ...], home: Path):
    wanted = home.with_name("stop now")
    source = STOPPED_APP.format(numbers=(*map(int, numbers),), wanted=str(wanted))
    with Terminal([sys.executable, "-c", source], env={"A2A_INSPECT_HOME": str(home)}) as terminal:
        terminal.wait_for(HEADING)
        wanted.touch()
        if numbers == (signal.SIGTSTP,):
            terminal.wait_for(lambda terminal: terminal.is_stopped() and HEADING not in terminal.screen_text())
            terminal.signal(signal.SIGCONT)
            terminal.wait_for(HEADING)
        terminal.wait_for(lambda _: not wanted.exists())
        terminal.send("http://typed")
        terminal.wait_for("http://typed")
        terminal.press("ctrl+q")
        ending = terminal.wait_exit()
    assert (ending.status, ending.restored) == (0, True)
