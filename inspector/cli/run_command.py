"""Run a headless command with its session, its capture and its timeout, and handle signals."""

from __future__ import annotations

import asyncio
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import cast

from inspector import PROGRAM
from inspector.capture.private_files import CaptureError
from inspector.capture.store import Capture
from inspector.cli import lazy_loading
from inspector.cli.arguments import Invocation
from inspector.cli.errors import INTERRUPTED, OK, TERMINATED, usage
from inspector.cli.output import Output
from inspector.cli.running_command import RunningCommand
from inspector.cli.signals import on_signal
from inspector.options import Options
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.lifecycle import is_terminal
from inspector.session.card_fetch import GET_CARD
from inspector.session.hints import STREAM_LEFT_OPEN
from inspector.session.session import Session
from inspector.session.settings import Settings, settings_from
from inspector.wire.client.client_certificate import PassphraseError

_DRAWING_INTERVAL = 0.2
"""Seconds between two updates of the progress."""


def run(
    invocation: Invocation,
    out: Output,
    work: Callable[[RunningCommand], Awaitable[None]],
    *,
    check: bool | None = None,
    outdated: bool = False,
) -> int:
    """Run a command in an event loop and return the exit code; raises `FaultError`.

    With `--stream` or `--request`, JSON is printed as JSON Lines. `check` is whether the rules are checked; by default,
    they are if the options print or record findings. With `outdated`, protocol versions before 1.0 are used without
    `--a2a-version`, too (a2a-cli 0.2 section 13.2 does not allow this to other commands).
    """
    if check is None:
        check = _needs_findings(invocation)
    given = invocation.given
    out.lines |= out.json and bool(getattr(given, "stream", False) or getattr(given, "request", None))
    try:
        settings = replace(_settings(invocation.options), check=check, outdated=outdated)
        asyncio.run(_work(invocation, out, work, settings))
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return TERMINATED
    return OK


def command(work: Callable[[RunningCommand], Awaitable[None]]) -> Callable[[Invocation, Output], int]:
    """Decorate the coroutine function with the work of a command: return the function that runs the command."""

    @wraps(work)
    def run_work(invocation: Invocation, out: Output) -> int:
        return run(invocation, out, work)

    return run_work


def command_for_any_version(work: Callable[[RunningCommand], Awaitable[None]]) -> Callable[[Invocation, Output], int]:
    """Decorate like `command`, for a command that also accepts protocol versions before 1.0 without a request."""

    @wraps(work)
    def run_work(invocation: Invocation, out: Output) -> int:
        return run(invocation, out, work, outdated=True)

    return run_work


def _needs_findings(invocation: Invocation) -> bool:
    """Return whether findings are printed, or recorded in a capture that is kept."""
    given = vars(invocation.given)
    printed = invocation.debug or given.get("findings") or given.get("validate")
    return bool(printed or invocation.options.capture)


def _settings(options: Options) -> Settings:
    """Return the settings; ask for the passphrase of the client certificate before the event loop runs."""
    try:
        return settings_from(options)
    except PassphraseError as error:
        return settings_from(options, lazy_loading.ask_passphrase(error))


async def _work(
    invocation: Invocation, out: Output, work: Callable[[RunningCommand], Awaitable[None]], settings: Settings
) -> None:
    # SIGTERM cancels the command like SIGINT, which asyncio handles.
    task = cast("asyncio.Task[None]", asyncio.current_task())
    with on_signal(lambda _: task.cancel(), signal.SIGTERM), _capture_file(invocation.options.capture) as path:
        async with _session(path, invocation, out, settings) as session, _drawing(out):
            seconds = invocation.options.timeout
            ends_at = None if seconds is None else asyncio.get_running_loop().time() + seconds
            current = RunningCommand(invocation, out, session, ends_at)
            with _printers(current):
                try:
                    async with asyncio.timeout_at(ends_at) as deadline:
                        await work(current)
                except TimeoutError as error:
                    if not deadline.expired():
                        raise
                    raise FaultError(_timed_out(current, str(error.__context__ or ""))) from None
                except (asyncio.CancelledError, KeyboardInterrupt) as stop:
                    done = str(stop)
                    out.line_to_stderr("Interrupted", done or current.progress_summary())
                    label, command = current.follow_up()
                    if command and invocation.options.reference and not done:
                        out.line_to_stderr(label, command)
                    raise


def _printers(current: RunningCommand) -> ExitStack:
    """Print the output of `--debug` and `--findings`; with `-o json` each finding is a line."""
    stack, journal = ExitStack(), current.session.journal
    if current.invocation.debug:
        stack.enter_context(lazy_loading.trace(journal, current.out))
    if getattr(current.invocation.given, "findings", False):
        current.out.lines = current.out.json
        stack.enter_context(lazy_loading.findings_printer(journal, current.out, skip=frozenset({GET_CARD})))
    return stack


def _timed_out(current: RunningCommand, done: str) -> Fault:
    """Return the fault of a command that reached `--timeout`; `done` is what it did, `""` to describe its task."""
    state, connection = done or current.task_summary(), current.session.connection
    seen = f"Timed out after {current.invocation.options.timeout:g} s{f': {state}' if state else ''}."
    if done:
        return Fault(Whose.AGENT, FaultCode.TIMEOUT, seen, "Set a longer time with --timeout.")
    latest = next(iter(current.session.tasks.all()), None)
    ended = latest is not None and is_terminal(latest.now.state)
    hint = STREAM_LEFT_OPEN if ended else current.follow_up()[1] or "Set a longer time with --timeout."
    if connection is None and current.invocation.options.reference:
        seen = f"{seen[:-1]}: the agent has not sent its card."
        doctor = current.shell_command("doctor")
        hint = f"Check that this is the URL of the agent ({doctor}), or set a longer time with --timeout."
    return Fault(Whose.AGENT, FaultCode.TIMEOUT, seen, hint)


@asynccontextmanager
async def _session(path: Path, invocation: Invocation, out: Output, settings: Settings) -> AsyncIterator[Session]:
    try:
        create = partial(Capture.create, temporary=invocation.options.capture is None)
        session = Session(path, settings, capture=create)
    except CaptureError as error:
        raise usage(str(error), "Choose another file with --capture.") from error
    out.redact = session.journal.redactor.text
    try:
        yield session
    finally:
        await session.close()
        if session.journal.capture.failure:
            out.warn(session.journal.capture.failure)


@asynccontextmanager
async def _drawing(out: Output) -> AsyncIterator[None]:
    """Draw the progress of a command in the background, if stderr is a terminal."""
    if not out.progress.shown:
        yield
        return

    async def keep_drawing() -> None:
        while True:
            await asyncio.sleep(_DRAWING_INTERVAL)
            out.progress.draw()

    drawing = asyncio.create_task(keep_drawing())
    try:
        yield
    finally:
        drawing.cancel()
        out.progress.clear()


@contextmanager
def _capture_file(chosen: Path | None) -> Iterator[Path]:
    """Yield the path of the capture, a temporary path if none was chosen."""
    if chosen is not None:
        yield chosen
    else:
        with tempfile.TemporaryDirectory(prefix=f"{PROGRAM}-") as folder:
            yield Path(folder, "capture")
