"""Send push notifications: one POST for each event, in order for each webhook, without blocking the task."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import aiohttp

from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Event, TaskArtifactUpdateEvent

from .faults.fault import Post
from .faults.fault_plan import FaultPlan
from .task_store import PushTarget, TaskRecord

if TYPE_CHECKING:
    from .signing import Signer

_ATTEMPTS = 3
_TIMEOUT = aiohttp.ClientTimeout(total=5)
_MAX_QUEUED = 100_000

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class PushCounts:
    """Counts of deliveries: accepted, retried, given up, and dropped because too many were queued."""

    delivered: int = 0
    retried: int = 0
    given_up: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class _Delivery:
    target: PushTarget
    event: Callable[[], Event]
    fault_plan: FaultPlan
    replaceable: bool
    """Whether a later delivery of the same kind contains all content of this delivery."""


@dataclass(slots=True)
class _Queue:
    waiting: deque[_Delivery] = field(default_factory=deque)
    worker: asyncio.Task[None] | None = None


class PushSender:
    """Send events to the webhooks of their tasks; `pause` is the time between two attempts in seconds.

    With a `signer`, deliveries carry a JWT if the push configuration has no credentials.
    """

    def __init__(self, log: Callable[[str], None], pause: float = 0.2, signer: Signer | None = None) -> None:
        self.counts = PushCounts()
        self._log = log
        self._pause = pause
        self._signer = signer
        self._queues: dict[tuple[str, str], _Queue] = {}
        self._waiting = 0
        self._session: aiohttp.ClientSession | None = None

    @property
    def waiting(self) -> int:
        """Return how many deliveries are queued."""
        return self._waiting

    def enqueue(self, record: TaskRecord, event: Event) -> None:
        """Queue an event of a task for each of its webhooks."""
        for name, target in record.webhooks.items():
            self._enqueue((record.task_id, name), self._delivery(record, target, event))

    def drop_queued(self, task_id: str, name: str) -> None:
        """Drop the queued deliveries of a deleted webhook."""
        queue = self._queues.get((task_id, name))
        if queue is not None:
            self._waiting -= len(queue.waiting)
            queue.waiting.clear()

    async def close(self) -> None:
        """Stop sending immediately."""
        workers = [queue.worker for queue in self._queues.values() if queue.worker is not None]
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        self._queues.clear()
        self._waiting = 0
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _delivery(self, record: TaskRecord, target: PushTarget, event: Event) -> _Delivery:
        if target.version.traits.pushes_events:
            pushed = target.version.add_revision(event, record.changes)
            return _Delivery(target, lambda: pushed, FaultPlan(record.faults), replaceable=False)
        snapshot = record.snapshot()
        # Each body is the whole task: with a delivery for every chunk, the sent data would be quadratic in the chunks.
        return _Delivery(
            target, snapshot.task, FaultPlan(record.faults), replaceable=isinstance(event, TaskArtifactUpdateEvent)
        )

    def _enqueue(self, key: tuple[str, str], delivery: _Delivery) -> None:
        queue = self._queues.setdefault(key, _Queue())
        if delivery.replaceable and queue.waiting and queue.waiting[-1].replaceable:
            queue.waiting[-1] = delivery
            return
        if self._waiting >= _MAX_QUEUED:
            self.counts.dropped += 1
            return
        queue.waiting.append(delivery)
        self._waiting += 1
        if queue.worker is None:
            queue.worker = asyncio.create_task(self._send_queued(key, queue))

    async def _send_queued(self, key: tuple[str, str], queue: _Queue) -> None:
        while queue.waiting:
            delivery = queue.waiting.popleft()
            self._waiting -= 1
            try:
                await self._deliver(key[0], delivery)
            except Exception:
                _logger.exception("a push notification for task %s failed", key[0])
                self.counts.given_up += 1
        del self._queues[key]

    async def _deliver(self, task_id: str, delivery: _Delivery) -> None:
        version, config = delivery.target.version, delivery.target.config
        body = dump(version.dialect.encode_push(delivery.event()))
        headers = {"Content-Type": "application/json"}
        if config.token:
            headers[version.token_header] = config.token
        authentication = config.authentication
        if authentication is not None and authentication.credentials:
            headers["Authorization"] = f"{authentication.scheme} {authentication.credentials}"
        elif self._signer is not None:
            headers["Authorization"] = f"Bearer {self._signer.token(config.url, task_id, body)}"
        for post in delivery.fault_plan.posts(Post(headers, body)):
            await self._send(task_id, config.url, post)

    async def _send(self, task_id: str, url: str, post: Post) -> None:
        """Send a POST until it is accepted, at most `_ATTEMPTS` times."""
        await asyncio.sleep(post.after)
        failure = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                self.counts.retried += 1
                await asyncio.sleep(self._pause)
            failure = await self._post(url, post.body, post.headers)
            if not failure:
                self.counts.delivered += 1
                return
        self.counts.given_up += 1
        self._log(f"push for task {task_id} failed after {_ATTEMPTS} attempts: {failure}")

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> str:
        """Send a POST once and return the reason of its failure, `""` on success."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=_TIMEOUT, cookie_jar=aiohttp.DummyCookieJar())
        try:
            async with self._session.post(url, data=body, headers=headers, allow_redirects=False) as response:
                return "" if 200 <= response.status < 300 else f"HTTP {response.status}"
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return type(error).__name__
