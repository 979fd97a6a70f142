"""Run a headless command: its session and capture, its deadline, the handling of signals."""

from __future__ import annotations

import asyncio
import shlex
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TypeVar, cast

from inspector.capture.private_files import CaptureError
from inspector.cli.arguments import PROGRAM, Invocation
from inspector.cli.debug_log import Trace
from inspector.cli.errors import INTERRUPTED, OK, TERMINATED, usage
from inspector.cli.findings import FindingsPrinter
from inspector.cli.output import Output
from inspector.protocol.bindings.base import Answer
from inspector.protocol.dialects.registry import for_version
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal, short
from inspector.protocol.operations import Operation
from inspector.session.call import Call
from inspector.session.connection import GET_CARD, Connection
from inspector.session.session import Session
from inspector.session.settings import settings_from

UNSUPPORTED = "UnsupportedOperationError"

_Expected = TypeVar("_Expected", bound=Answer)


@dataclass(frozen=True, slots=True)
class Run:
    """The context of a running command: its options, its output and its session."""

    invocation: Invocation
    out: Output
    session: Session

    def reference(self) -> str:
        """Return the agent as typed, and warn if its certificate is not checked; raises `FaultError` without one."""
        options = self.invocation.options
        if not options.reference:
            raise usage("Which agent? None was named.", "Name it with -a URL, or in A2ACLI_AGENT_CARD.")
        if options.insecure:
            secrets = " The credentials are sent all the same." if options.bearer or options.api_key else ""
            self.out.warn(f"TLS certificates are not checked: anybody between may read and change all.{secrets}")
        return options.reference

    async def connect(self) -> Connection:
        """Fetch the agent's card; raises `FaultError`."""
        try:
            return await self.session.connect(self.reference())
        except FaultError as error:
            if error.fault.code == FaultCode.CREDENTIALS_MISSING and self.session.credentials:
                raise FaultError(_refused(error.fault)) from error
            raise

    async def connect_for(self, *operations: Operation) -> None:
        """Fetch the agent's card, check the interface in use, and check that it offers these operations."""
        await self.connect()
        self.check_interface()
        for operation in operations:
            self.allow(operation)

    def check_interface(self) -> None:
        """Warn of a version that is outdated, a draft or not declared, and of credentials that are not sent."""
        choice, credentials, warn = self.session.choice, self.session.credentials, self.out.warn
        version, traits, url = choice.dialect.version, choice.dialect.traits, choice.interface.url
        if traits.outdated and not self.invocation.options.a2a_version:  # section 13.2
            warn(f"this agent speaks the older A2A {version}; --a2a-version {version} says that it is meant")
        if traits.experimental:
            warn(f"A2A {version} is a draft, spoken because --a2a-version asks for it")
        declared = for_version(choice.interface.protocol_version)
        if declared is not None and declared.version not in (version, traits.extends):
            warn(f"the card declares {declared.version} there; {version} is spoken as was asked for")
        if credentials and not credentials.are_for(url):
            why = f"the credentials are not sent to {url}, which is not at the origin that you typed"
            warn(f"{why}; --trust {url} allows it")

    def allow(self, operation: Operation) -> None:
        """Warn if the card does not declare an operation; raises `FaultError` if the interface does not have it."""
        session, choice = self.session, self.session.choice
        why = session.unavailable_reason(operation)
        if not choice.binding.offers(choice.dialect, operation):
            hint = "card get shows the agent's interfaces; --transport and --a2a-version choose another."
            raise FaultError(Fault(Whose.AGENT, UNSUPPORTED, f"The interface lacks it: {why}.", hint))
        if why:
            self.out.warn(f"{why}; the agent is asked all the same")

    async def call(self, call: Call, *, undone: str = "") -> Answer:
        """Complete a call and return the answer; raises `FaultError` if it fails.

        `undone` is the hint for an agent that does not support the operation.
        """
        fault = await call.finish()
        if fault is not None:
            hint = undone if fault.code == UNSUPPORTED and undone else fault.hint
            raise FaultError(self.explain(replace(fault, hint=hint)))
        answer = call.exchange.answer
        if answer is None:
            raise ValueError("a call without a fault has an answer")
        return answer

    async def ask(self, call: Call, expected: type[_Expected], *, undone: str = "") -> _Expected:
        """Complete a call and return its answer; raises `FaultError` too if it is not of the expected type."""
        answer = await self.call(call, undone=undone)
        if not isinstance(answer, expected):
            raise unfit(call.exchange.call.operation, answer)
        return answer

    def explain(self, fault: Fault) -> Fault:
        """Return a fault that distinguishes refused credentials from unsent ones, with a hint how to see more."""
        choice, credentials = self.session.choice, self.session.credentials
        if fault.code == FaultCode.CREDENTIALS_MISSING and credentials:
            if credentials.are_for(choice.interface.url):
                return _refused(fault)
            return replace(fault, hint=f"They were not sent there: --trust {choice.interface.url} allows it.")
        if fault.error is not None and not self.invocation.debug:
            return replace(fault, hint=f"{fault.hint} --debug shows the agent's answer.".strip())
        return fault

    def again(self, *words: str) -> str:
        """Return a shell command about the same agent, with the connection options of this one."""
        options = self.invocation.options
        spelled = [
            *(("--a2a-version", options.a2a_version) if options.a2a_version else ()),
            *(word for one in options.transports for word in ("--transport", one)),
            *(word for one in options.trust for word in ("--trust", one)),
            *(("--insecure",) if options.insecure else ()),
        ]
        return shlex.join([PROGRAM, *words, "-a", options.reference or "", *spelled])

    def known(self) -> str:
        """Return the latest task and its state in words, `""` without a task."""
        for task in self.session.tasks.all()[:1]:
            context = f", context {task.now.context_id}" if task.now.context_id else ""
            return f"task {task.id}{context}, {short(task.now.state) or 'state unknown'}"
        return ""

    def follow_up(self) -> tuple[str, str]:
        """Return a label and the command that continues the latest task; empty if there is nothing to continue."""
        for task in self.session.tasks.all()[:1]:
            if task.now.state == State.AUTH_REQUIRED:
                return "Log in where the agent says, then", self.again("task", "get", task.id, "--wait")
            if is_interrupted(task.now.state):
                return "Resume", self.again("send", "--task-id", task.id, "--text", "your answer")
            if not is_terminal(task.now.state):
                return "Follow", self.again("task", "get", task.id, "--wait")
        return "", ""


def unfit(operation: str, answer: Answer) -> FaultError:
    """Return the error for a readable answer of the wrong type."""
    seen = f"{operation} was answered with a {type(answer).__name__}."
    return FaultError(Fault(Whose.AGENT, "InvalidAgentResponseError", seen, "--debug shows what the agent sent."))


def run(invocation: Invocation, out: Output, work: Callable[[Run], Awaitable[None]]) -> int:
    """Run a command in an event loop and return the exit code; raises `FaultError`.

    With `--stream` or `--request`, JSON is printed as JSON Lines.
    """
    given = invocation.given
    out.lines |= out.json and bool(getattr(given, "stream", False) or getattr(given, "request", None))
    try:
        asyncio.run(_work(invocation, out, work))
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return TERMINATED
    return OK


def command(work: Callable[[Run], Awaitable[None]]) -> Callable[[Invocation, Output], int]:
    """Decorate a coroutine function: make it the function that runs a command."""

    @wraps(work)
    def run_work(invocation: Invocation, out: Output) -> int:
        return run(invocation, out, work)

    return run_work


async def _work(invocation: Invocation, out: Output, work: Callable[[Run], Awaitable[None]]) -> None:
    # SIGTERM cancels the command like SIGINT, which asyncio handles.
    task = cast("asyncio.Task[None]", asyncio.current_task())
    with on_signal(lambda _: task.cancel(), signal.SIGTERM), _capture_file(invocation.options.capture) as path:
        async with _session(path, invocation, out) as session:
            current = Run(invocation, out, session)
            with _printers(current):
                try:
                    async with asyncio.timeout(invocation.options.timeout) as deadline:
                        await work(current)
                except TimeoutError:
                    if not deadline.expired():
                        raise
                    raise FaultError(_too_late(current)) from None
                except (asyncio.CancelledError, KeyboardInterrupt) as stop:
                    out.tell("Interrupted", str(stop) or current.known() or "before any task was heard of")
                    label, command = current.follow_up()
                    if command and invocation.options.reference:
                        out.tell(label, command)
                    raise


def _printers(current: Run) -> ExitStack:
    """Print the output of `--debug` and `--findings`; with `-o json` each finding is a line."""
    stack, journal = ExitStack(), current.session.journal
    if current.invocation.debug:
        stack.enter_context(Trace(journal, current.out))
    if getattr(current.invocation.given, "findings", False):
        current.out.lines = current.out.json
        stack.enter_context(FindingsPrinter(journal, current.out, skip=frozenset({GET_CARD})))
    return stack


def _refused(fault: Fault) -> Fault:
    return replace(fault, code=FaultCode.AUTH_FAILED.value, hint="Credentials were sent, and they were refused.")


def _too_late(current: Run) -> Fault:
    known = current.known()
    seen = f"The time was up after {current.invocation.options.timeout:g} s{f': {known}' if known else ''}."
    hint = current.follow_up()[1] or "Give it more time with --timeout."
    return Fault(Whose.AGENT, FaultCode.TIMEOUT, seen, hint)


@asynccontextmanager
async def _session(path: Path, invocation: Invocation, out: Output) -> AsyncIterator[Session]:
    try:
        session = Session(path, settings_from(invocation.options))
    except CaptureError as error:
        raise usage(str(error), "--capture FILE names another place.") from error
    out.redact = session.journal.redactor.text
    try:
        yield session
    finally:
        await session.close()
        if session.journal.capture.failure:
            out.warn(session.journal.capture.failure)


@contextmanager
def _capture_file(chosen: Path | None) -> Iterator[Path]:
    """Yield the path of the capture: the chosen one, or a temporary one."""
    if chosen is not None:
        yield chosen
    else:
        with tempfile.TemporaryDirectory(prefix=f"{PROGRAM}-") as folder:
            yield Path(folder, "capture")


@contextmanager
def on_signal(reaction: Callable[[signal.Signals], object], number: signal.Signals) -> Iterator[None]:
    """Call `reaction` at a signal; without effect outside the main thread and where asyncio has no signals."""
    loop = asyncio.get_running_loop()
    with ExitStack() as handlers:
        if threading.current_thread() is threading.main_thread():
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, reaction, number)
                handlers.callback(loop.remove_signal_handler, number)
        yield
