"""Run the mock agent: in an event loop, in a thread, or as a program."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from .authentication import Authenticator
from .card import Cards, grpc_target
from .engine import BehaviourProvider, Engine
from .faults.fault import ActiveFault
from .grpc import Grpc
from .http_messages import EventStreams
from .listening import MAX_BODY, WRITE_TIMEOUT, HttpListener, ListenAddress
from .profile import DEFAULT, Profile
from .push import PushCounts, PushSender
from .routing import Router
from .scenario.catalog import BUILT_IN
from .service import Service
from .task_file import TaskFile
from .task_store import MAX_TASKS, Store
from .tck import WithTckBehaviours

if TYPE_CHECKING:
    from .signing import Signer
    from .tls import Tls

KEEP_ALIVE = 15.0

_logger = logging.getLogger(__name__)


def _ignore(_: str) -> None:
    return


class MockAgent:
    """An A2A agent: JSON-RPC and HTTP+JSON on one port, gRPC on another.

    `pace` multiplies the pauses of the behaviours; 0 removes them. `log` receives a line for each event. `state` is a
    file that stores the tasks. `faults` apply to every call, except for those about authentication, which the
    authenticator has. The `authenticator` checks credentials, the `signer` signs cards and pushes. In seconds:
    `keep_alive` is the time between comments in an idle stream, `write_timeout` the time that a client may take to
    read, and `push_pause` the time before a push is sent again.
    """

    def __init__(
        self,
        profile: Profile = DEFAULT,
        *,
        pace: float = 1.0,
        log: Callable[[str], None] = _ignore,
        behaviours: BehaviourProvider = BUILT_IN,
        max_tasks: int = MAX_TASKS,
        keep_alive: float = KEEP_ALIVE,
        write_timeout: float = WRITE_TIMEOUT,
        push_pause: float = 0.2,
        state: Path | None = None,
        faults: tuple[ActiveFault, ...] = (),
        authenticator: Authenticator | None = None,
        signer: Signer | None = None,
        tls: Tls | None = None,
    ) -> None:
        self.url = ""
        self.grpc_port = 0
        self.store = Store(max_tasks)
        self._state = state
        self._tls = tls
        self._storage: TaskFile | None = None
        self._webhooks = {endpoint.name: endpoint.versions[0] for endpoint in profile.endpoints}
        self._pushes = PushSender(log, push_pause, signer)
        provider = WithTckBehaviours(behaviours)
        if authenticator is not None:
            authenticator.skill_scopes = lambda: provider.scopes
        of_calls = tuple(active for active in faults if not active.fault.level.needs_authentication)
        self._engine = Engine(self.store, self._pushes, provider, pace, of_calls, log)
        cards = Cards(profile, lambda: provider.skills, provider.hidden, lambda: self.grpc_port, authenticator, tls)
        scopes = authenticator.required_scopes if authenticator is not None else ()
        service = Service(profile, self.store, self._engine, self._pushes, cards.extended, scopes)
        streams = EventStreams(log, keep_alive, write_timeout)
        self._http = Router(profile, cards, service, streams, lambda: self.url, log, authenticator, signer)
        over_grpc = [version for endpoint in profile.endpoints if (version := endpoint.version_for("GRPC")) is not None]
        self._grpc = Grpc(over_grpc, service, log, write_timeout, MAX_BODY, authenticator, tls) if over_grpc else None
        self._listener: HttpListener | None = None

    @property
    def grpc_target(self) -> str:
        """Return the gRPC address as `host:port`, `""` without gRPC."""
        return grpc_target(self.url, self.grpc_port) if self.grpc_port else ""

    @property
    def push_counts(self) -> PushCounts:
        """Return the counts of the pushes since the start."""
        return self._pushes.counts

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return the numbers of tasks, running behaviours and open streams."""
        return len(self.store), self.running, self.readers

    @property
    def readers(self) -> int:
        """Return the number of open streams."""
        return sum(not subscription.ended for record in self.store for subscription in record.subscriptions)

    @property
    def running(self) -> int:
        """Return the number of running behaviours."""
        return self._engine.running

    async def start(self, host: str = "127.0.0.1", port: int = 0, grpc_port: int | None = 0) -> str:
        """Listen and return the base URL; port 0 selects a free port, `grpc_port=None` disables gRPC.

        Raises OSError if a port is in use and `StateFileError` if the file for tasks cannot be used.
        """
        try:
            if self._state is not None:
                self._storage = TaskFile(self._state, self._webhooks)
                self.store.use_storage(self._storage)
                self._engine.fail_unfinished()
            self._listener = await HttpListener.start(self._http.handle, host, port, self._tls)
            self.url = self._listener.url
            if self._grpc is not None and grpc_port is not None:
                self.grpc_port = await self._grpc.start(host, grpc_port, self.url)
        except BaseException:
            if self._listener is not None:
                await self._listener.close()
                self._listener = None
            self._release()
            raise
        return self.url

    async def stop(self) -> None:
        """Stop listening and end every stream, task, push and connection."""
        if self._listener is None:
            return
        listener, self._listener = self._listener, None
        await listener.refuse_connections()
        await self._engine.close()
        if self._grpc is not None:
            await self._grpc.stop()
        await listener.close()
        await self._pushes.close()
        self._release()

    def _release(self) -> None:
        """Save every task and close the file."""
        if self._storage is None:
            return
        for record in self.store:
            self._storage.save(record)
        self.store.use_storage(None)
        self._storage.close()
        self._storage = None


class Agent(Protocol):
    """An agent that can be run as a program."""

    url: str

    async def start(self, host: str = ..., port: int = ..., grpc_port: int | None = ...) -> str:
        """Listen and return the base URL."""

    async def stop(self) -> None:
        """Stop listening."""


AgentT = TypeVar("AgentT", bound=Agent)


async def _serve(
    agent: AgentT, where: ListenAddress, on_ready: Callable[[AgentT], None], stopped: asyncio.Event
) -> None:
    await agent.start(where.host, where.port, where.grpc_port)
    try:
        on_ready(agent)
        await stopped.wait()
    finally:
        await agent.stop()


def run(where: ListenAddress, agent: AgentT, *, on_ready: Callable[[AgentT], None]) -> None:
    """Run an agent until SIGINT or SIGTERM; raises the exceptions of `start`."""

    async def main() -> None:
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            # Windows has no signal handlers in the loop: there, KeyboardInterrupt ends `asyncio.run`.
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, stopped.set)
        await _serve(agent, where, on_ready, stopped)

    with suppress(KeyboardInterrupt):
        asyncio.run(main())


@contextmanager
def serve_in_thread(
    host: str = "127.0.0.1",
    port: int = 0,
    profile: Profile = DEFAULT,
    *,
    pace: float = 1.0,
    log: Callable[[str], None] = _ignore,
    authenticator: Authenticator | None = None,
    tls: Tls | None = None,
) -> Iterator[str]:
    """Run an agent in a daemon thread for the duration of the context, which returns the base URL.

    `log` is called in that thread. Raises OSError if the port is in use.
    """
    ready: Future[tuple[str, Callable[[], None]]] = Future()

    async def main() -> None:
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()

        def stop() -> None:
            loop.call_soon_threadsafe(stopped.set)

        def on_ready(agent: MockAgent) -> None:
            ready.set_result((agent.url, stop))

        agent = MockAgent(profile, pace=pace, log=log, authenticator=authenticator, tls=tls)
        await _serve(agent, ListenAddress(host, port), on_ready, stopped)

    def target() -> None:
        try:
            asyncio.run(main())
        except Exception as error:
            if ready.done():
                _logger.exception("the mock agent failed")
            else:
                ready.set_exception(error)

    thread = threading.Thread(target=target, name="mock-agent", daemon=True)
    thread.start()
    url, stop = ready.result()
    try:
        yield url
    finally:
        with suppress(RuntimeError):  # the loop is closed: the agent has already stopped
            stop()
        thread.join(timeout=10)
