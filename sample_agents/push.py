"""The webhook sender: one POST an event, in order for each webhook of a task, and never in the task's way."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiohttp

from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Event, TaskArtifactUpdateEvent

from .faults.fault import Post
from .faults.fault_plan import Spoiled
from .task_store import PushTarget, TaskRecord

if TYPE_CHECKING:
    from .signing import Signer

_ATTEMPTS = 3
_TIMEOUT = aiohttp.ClientTimeout(total=5)
_MOST_WAITING = 100_000

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class PushCounts:
    """What became of the deliveries: accepted, tried again, given up, and dropped because too many were waiting."""

    delivered: int = 0
    retried: int = 0
    given_up: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class _Delivery:
    target: PushTarget
    event: Callable[[], Event]
    spoiled: Spoiled
    repeats: bool
    """Whether a later delivery of the same kind says all that this one does."""


@dataclass(slots=True)
class _Line:
    waiting: deque[_Delivery] = field(default_factory=deque)
    worker: asyncio.Task[None] | None = None


class PushSender:
    """Sends events to the webhooks of their tasks; `pause` is the time between two attempts, in seconds.

    Where the configuration names no credentials of its own, a `signer` signs a JWT for each delivery.
    """

    def __init__(self, log: Callable[[str], None], pause: float = 0.2, signer: Signer | None = None) -> None:
        self.counts = PushCounts()
        self._log = log
        self._pause = pause
        self._signer = signer
        self._lines: dict[tuple[str, str], _Line] = {}
        self._waiting = 0
        self._session: aiohttp.ClientSession | None = None

    @property
    def waiting(self) -> int:
        """Return how many deliveries have not been tried yet."""
        return self._waiting

    def offer(self, record: TaskRecord, event: Event) -> None:
        """Queue an event of a task for each of its webhooks."""
        for name, target in record.webhooks.items():
            self._queue((record.task_id, name), self._delivery(record, target, event))

    def forget(self, task_id: str, name: str) -> None:
        """Drop what still waits for a webhook that was deleted."""
        line = self._lines.get((task_id, name))
        if line is not None:
            self._waiting -= len(line.waiting)
            line.waiting.clear()

    async def close(self) -> None:
        """Stop sending, at once."""
        workers = [line.worker for line in self._lines.values() if line.worker is not None]
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        self._lines.clear()
        self._waiting = 0
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _delivery(self, record: TaskRecord, target: PushTarget, event: Event) -> _Delivery:
        if target.version.traits.pushes_events:
            numbered = target.version.numbered(event, record.changes)
            return _Delivery(target, lambda: numbered, Spoiled(record.faults), repeats=False)
        snapshot = record.snapshot()
        # Each of these bodies is the whole task, so that a firehose of chunks would grow with the square of its length.
        return _Delivery(
            target, snapshot.task, Spoiled(record.faults), repeats=isinstance(event, TaskArtifactUpdateEvent)
        )

    def _queue(self, key: tuple[str, str], delivery: _Delivery) -> None:
        line = self._lines.setdefault(key, _Line())
        if delivery.repeats and line.waiting and line.waiting[-1].repeats:
            line.waiting[-1] = delivery
            return
        if self._waiting >= _MOST_WAITING:
            self.counts.dropped += 1
            return
        line.waiting.append(delivery)
        self._waiting += 1
        if line.worker is None:
            line.worker = asyncio.create_task(self._work(key, line))

    async def _work(self, key: tuple[str, str], line: _Line) -> None:
        while line.waiting:
            delivery = line.waiting.popleft()
            self._waiting -= 1
            try:
                await self._deliver(key[0], delivery)
            except Exception:
                _logger.exception("a delivery for task %s could not be made", key[0])
                self.counts.given_up += 1
        del self._lines[key]

    async def _deliver(self, task_id: str, delivery: _Delivery) -> None:
        version, config = delivery.target.version, delivery.target.config
        body = dump(version.dialect.encode_push(delivery.event()))
        headers = {"Content-Type": "application/json"}
        if config.token:
            headers[version.token_header] = config.token
        asked = config.authentication
        if asked is not None and asked.credentials:
            headers["Authorization"] = f"{asked.scheme} {asked.credentials}"
        elif self._signer is not None:
            headers["Authorization"] = f"Bearer {self._signer.token(config.url, task_id, body)}"
        for post in delivery.spoiled.posts(Post(headers, body)):
            await self._send(task_id, config.url, post)

    async def _send(self, task_id: str, url: str, post: Post) -> None:
        """Send until it is taken, or was tried often enough."""
        await asyncio.sleep(post.after)
        seen = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                self.counts.retried += 1
                await asyncio.sleep(self._pause)
            seen = await self._post(url, post.body, post.headers)
            if not seen:
                self.counts.delivered += 1
                return
        self.counts.given_up += 1
        self._log(f"push for task {task_id} given up after {_ATTEMPTS} attempts: {seen}")

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> str:
        """Send once and return what went wrong, or nothing."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=_TIMEOUT, cookie_jar=aiohttp.DummyCookieJar())
        try:
            async with self._session.post(url, data=body, headers=headers, allow_redirects=False) as response:
                return "" if 200 <= response.status < 300 else f"HTTP {response.status}"
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return type(error).__name__
