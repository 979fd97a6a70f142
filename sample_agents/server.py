"""The mock agent as a server: in a running event loop, in a thread of its own, or as a program."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from .authentication import Guard
from .card import Cards, grpc_target
from .engine import Engine, Repertoire
from .exchange import EventStreams
from .faults.fault import Spoiler
from .grpc import Grpc
from .profile import DEFAULT, Profile
from .push import PushCounts, PushSender
from .routing import Router
from .scenario.catalog import BUILT_IN
from .service import Service
from .task_file import Keeper
from .task_store import MAX_TASKS, Store
from .tck import WithKit

if TYPE_CHECKING:
    from .signing import Signer
    from .tls import Tls

MAX_BODY = 10_000_000
KEEP_ALIVE = 15.0
PATIENCE = 30.0
_BACKLOG = 1024
_SHUTDOWN = 1.0
_WILDCARDS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound to

_logger = logging.getLogger(__name__.rpartition(".")[0])
# The agent runs beside a screen that nothing may write on; who wants these lines adds a handler.
_logger.addHandler(logging.NullHandler())


def _ignore(_: str) -> None:
    return


class MockAgent:
    """An agent as its profile says: JSON-RPC and HTTP+JSON on one port, gRPC on another.

    `pace` stretches the pauses of its behaviours (0 is none), `log` gets a line for whatever happens, `state` is a file
    in which tasks outlive it, and `faults` go wrong with every call. The `guard` says who may call, the `signer` signs
    cards and pushes. In seconds: `keep_alive` is how long a stream may be silent, `patience` how long a reader may take
    for one write before its stream is cut, and `push_pause` the time before a webhook is tried again.
    """

    def __init__(
        self,
        profile: Profile = DEFAULT,
        *,
        pace: float = 1.0,
        log: Callable[[str], None] = _ignore,
        behaviours: Repertoire = BUILT_IN,
        max_tasks: int = MAX_TASKS,
        keep_alive: float = KEEP_ALIVE,
        patience: float = PATIENCE,
        push_pause: float = 0.2,
        state: Path | None = None,
        faults: tuple[Spoiler, ...] = (),
        guard: Guard | None = None,
        signer: Signer | None = None,
        tls: Tls | None = None,
    ) -> None:
        self.url = ""
        self.grpc_port = 0
        self.store = Store(max_tasks)
        self._state = state
        self._tls = tls
        self._keeper: Keeper | None = None
        self._webhooks = {place.name: place.versions[0] for place in profile.places}
        self._pushes = PushSender(log, push_pause, signer)
        repertoire = WithKit(behaviours)
        self._engine = Engine(self.store, self._pushes, repertoire, pace, faults, log)
        cards = Cards(profile, lambda: repertoire.skills, repertoire.hidden, lambda: self.grpc_port, guard, tls)
        service = Service(profile, self.store, self._engine, self._pushes, cards.extended)
        streams = EventStreams(log, keep_alive, patience)
        self._http = Router(profile, cards, service, streams, lambda: self.url, log, guard, signer)
        over_grpc = [one for place in profile.places if (one := place.over("GRPC")) is not None]
        self._grpc = Grpc(over_grpc, service, log, patience, MAX_BODY, guard, tls) if over_grpc else None
        self._runner: web.AppRunner | None = None

    @property
    def grpc_target(self) -> str:
        """Return where it speaks gRPC, as `host:port`, or `""` where it does not."""
        return grpc_target(self.url, self.grpc_port) if self.grpc_port else ""

    @property
    def push_counts(self) -> PushCounts:
        """Return what became of the pushes so far."""
        return self._pushes.counts

    @property
    def readers(self) -> int:
        """Return how many streams are open."""
        return sum(len(record.subscriptions) for record in self.store)

    @property
    def running(self) -> int:
        """Return how many turns are at work."""
        return self._engine.running

    async def start(self, host: str = "127.0.0.1", port: int = 0, grpc_port: int | None = 0) -> str:
        """Listen, and return the base url; port 0 takes a free one, and without a port for gRPC there is none.

        Raises OSError where a port is taken, `StateFileError` where the file for tasks is no good.
        """
        if self._state is not None:
            self._keeper = Keeper(self._state, self._webhooks)
            self.store.keep_in(self._keeper)
            self._engine.resume()
        application = web.Application(client_max_size=MAX_BODY)
        application.router.add_route("*", "/{path:.*}", self._http.handle)
        runner = web.AppRunner(
            application, access_log=None, logger=_logger, handler_cancellation=True, shutdown_timeout=_SHUTDOWN
        )
        await runner.setup()
        try:
            context = self._tls.context() if self._tls else None
            await web.TCPSite(runner, host, port, backlog=_BACKLOG, ssl_context=context).start()
            shown = _WILDCARDS.get(host, host)
            scheme, named = "https" if self._tls else "http", f"[{shown}]" if ":" in shown else shown
            self.url = f"{scheme}://{named}:{runner.addresses[0][1]}"
            if self._grpc is not None and grpc_port is not None:
                self.grpc_port = await self._grpc.start(host, grpc_port, self.url)
        except BaseException:
            await runner.cleanup()
            self._let_go()
            raise
        self._runner = runner
        return self.url

    async def stop(self) -> None:
        """Stop listening, end every stream, task and delivery, and close every socket."""
        if self._runner is None:
            return
        runner, self._runner = self._runner, None
        for site in tuple(runner.sites):
            await site.stop()
        await self._engine.close()
        if self._grpc is not None:
            await self._grpc.stop()
        await runner.cleanup()
        await self._pushes.close()
        self._let_go()

    def _let_go(self) -> None:
        """Keep every task as it is now, and close the file."""
        if self._keeper is None:
            return
        for record in self.store:
            self._keeper.save(record)
        self.store.keep_in(None)
        self._keeper.close()
        self._keeper = None


@dataclass(frozen=True, slots=True)
class Listening:
    """Where an agent listens; port 0 takes a free one, and without a port for gRPC there is none."""

    host: str = "127.0.0.1"
    port: int = 0
    grpc_port: int | None = 0


async def _serve(
    agent: MockAgent, where: Listening, on_ready: Callable[[MockAgent], None], stopped: asyncio.Event
) -> None:
    await agent.start(where.host, where.port, where.grpc_port)
    try:
        on_ready(agent)
        await stopped.wait()
    finally:
        await agent.stop()


def run(where: Listening, agent: MockAgent, *, on_ready: Callable[[MockAgent], None]) -> None:
    """Let an agent serve until SIGINT or SIGTERM. Raises what the start of an agent raises."""

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
) -> Iterator[str]:
    """Serve from an event loop in a daemon thread while the context lasts, and give the base url.

    `log` is called in that thread. Raises OSError where a port is taken.
    """
    ready: Future[tuple[str, Callable[[], None]]] = Future()

    async def main() -> None:
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()

        def stop() -> None:
            loop.call_soon_threadsafe(stopped.set)

        def on_ready(agent: MockAgent) -> None:
            ready.set_result((agent.url, stop))

        await _serve(MockAgent(profile, pace=pace, log=log), Listening(host, port), on_ready, stopped)

    def target() -> None:
        try:
            asyncio.run(main())
        except Exception as error:
            if ready.done():
                _logger.exception("the mock agent ended badly")
            else:
                ready.set_exception(error)

    thread = threading.Thread(target=target, name="mock-agent", daemon=True)
    thread.start()
    url, stop = ready.result()
    try:
        yield url
    finally:
        with suppress(RuntimeError):  # the loop is closed: the agent has ended already
            stop()
        thread.join(timeout=10)
