"""The mock agent as a server: in a running event loop, in a thread of its own, or as a program."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress

from aiohttp import web

from .behaviours.registry import BUILT_IN, Behaviours
from .card import CARD_PATH, OLD_CARD_PATH, CardServer
from .engine import Engine
from .generations import GENERATIONS
from .jsonrpc import JsonRpc
from .push import PushCounts, PushSender
from .service import Service
from .state import MAX_TASKS, Store, now

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
    """An agent on one port, JSON-RPC of 1.0 and 0.3.

    `pace` stretches the pauses of its behaviours (0 is none), and `log` gets a line for whatever happens. In seconds:
    `keep_alive` is how long a stream may be silent, `patience` how long a reader may take for one write before its
    stream is cut, and `push_pause` the time before a webhook is tried again.
    """

    def __init__(
        self,
        *,
        pace: float = 1.0,
        log: Callable[[str], None] = _ignore,
        behaviours: Behaviours = BUILT_IN,
        max_tasks: int = MAX_TASKS,
        keep_alive: float = KEEP_ALIVE,
        patience: float = PATIENCE,
        push_pause: float = 0.2,
    ) -> None:
        self.url = ""
        self.store = Store(max_tasks)
        self._log = log
        self._behaviours = behaviours
        self._pushes = PushSender(log, push_pause)
        self._engine = Engine(self.store, self._pushes, behaviours, pace)
        self._rpc = JsonRpc(Service(self.store, self._engine, self._pushes), log, keep_alive, patience)
        self._runner: web.AppRunner | None = None

    @property
    def push_counts(self) -> PushCounts:
        """Return what became of the pushes so far."""
        return self._pushes.counts

    @property
    def running(self) -> int:
        """Return how many turns are at work."""
        return self._engine.running

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen, and return the base url; port 0 takes a free one. Raises OSError where the port is taken."""
        runner = web.AppRunner(
            self._application(), access_log=None, logger=_logger, handler_cancellation=True, shutdown_timeout=_SHUTDOWN
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port, backlog=_BACKLOG).start()
        except BaseException:
            await runner.cleanup()
            raise
        self._runner = runner
        shown = _WILDCARDS.get(host, host)
        self.url = f"http://{f'[{shown}]' if ':' in shown else shown}:{runner.addresses[0][1]}"
        return self.url

    async def stop(self) -> None:
        """Stop listening, end every stream, task and delivery, and close every socket."""
        if self._runner is None:
            return
        runner, self._runner = self._runner, None
        for site in tuple(runner.sites):
            await site.stop()
        await self._engine.close()
        await runner.cleanup()
        await self._pushes.close()

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=MAX_BODY)
        cards = CardServer(self._base, self._behaviours.skills, now(), self._log)
        application.router.add_get(CARD_PATH, cards.current)
        application.router.add_get(OLD_CARD_PATH, cards.old)
        for path in sorted({path for one in GENERATIONS for path in (one.path, one.path.rstrip("/") + "/")}):
            application.router.add_post(path, self._rpc.handle)
        return application

    def _base(self, request: web.Request) -> str:
        """Return the address under which the client reached the agent, which is the one that works for it."""
        try:
            return str(request.url.origin()) if request.headers.get("Host") else self.url
        except ValueError:
            return self.url


async def _serve(
    agent: MockAgent, host: str, port: int, on_ready: Callable[[str], None], stopped: asyncio.Event
) -> None:
    url = await agent.start(host, port)
    try:
        on_ready(url)
        await stopped.wait()
    finally:
        await agent.stop()


def run(
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    on_ready: Callable[[str], None] = _ignore,
    log: Callable[[str], None] = _ignore,
    pace: float = 1.0,
) -> None:
    """Serve until SIGINT or SIGTERM; `on_ready` gets the base url. Raises OSError where the port is taken."""

    async def main() -> None:
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            # Windows has no signal handlers in the loop: there, KeyboardInterrupt ends `asyncio.run`.
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, stopped.set)
        await _serve(MockAgent(pace=pace, log=log), host, port, on_ready, stopped)

    with suppress(KeyboardInterrupt):
        asyncio.run(main())


@contextmanager
def serve_in_thread(
    host: str = "127.0.0.1", port: int = 0, *, pace: float = 1.0, log: Callable[[str], None] = _ignore
) -> Iterator[str]:
    """Serve from an event loop in a daemon thread while the context lasts, and give the base url.

    `log` is called in that thread. Raises OSError where the port is taken.
    """
    ready: Future[tuple[str, Callable[[], None]]] = Future()

    async def main() -> None:
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()

        def stop() -> None:
            loop.call_soon_threadsafe(stopped.set)

        await _serve(MockAgent(pace=pace, log=log), host, port, lambda url: ready.set_result((url, stop)), stopped)

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
