"""Send the webhook deliveries of a recording again, to the webhooks of the client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import aiohttp

from inspector.capture.records import Record
from inspector.capture.secret_locations import MASK
from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import PushConfig
from inspector.protocol.operations import Operation

from .call_content import CallContent
from .exchange import Exchange, RecordedPush
from .http_headers import sendable
from .identities import Replacements
from .substitution import replace_members

if TYPE_CHECKING:
    from inspector.capture.store import Capture

_TIMEOUT = aiohttp.ClientTimeout(total=5)
_logger = logging.getLogger(__name__)


class _Webhook(NamedTuple):
    """The webhook of the client, and the webhook of the recording that it replaces."""

    sent: PushConfig
    recorded: PushConfig | None


@dataclass(slots=True)
class _Series:
    """The deliveries that follow an exchange; if `hurry` is set, they are sent without further pauses."""

    hurry: asyncio.Event = field(default_factory=asyncio.Event)
    worker: asyncio.Task[None] | None = None


class PushReplay:
    """Sends recorded deliveries at their times after the exchange that caused them, multiplied by `pace`.

    A recorded retry is sent only if the attempts before it were not accepted. The deliveries of a task keep their
    order: if the client is faster than the recorded client, those for its earlier request are sent without pauses.
    """

    def __init__(self, capture: Capture, pace: float, log: Callable[[str], None]) -> None:
        self._capture = capture
        self._pace = pace
        self._log = log
        self._webhooks: dict[str, list[_Webhook]] = {}
        self._series: dict[str, list[_Series]] = {}
        self._session: aiohttp.ClientSession | None = None

    @property
    def running(self) -> int:
        """Return how many exchanges have deliveries that are not sent yet."""
        return sum(map(len, self._series.values()))

    def webhook_of(self, task: str) -> PushConfig | None:
        """Return the newest webhook that the client has registered for a task."""
        return self._webhooks[task][-1].sent if self._webhooks.get(task) else None

    def recorded_webhook_of(self, task: str) -> PushConfig | None:
        """Return the recorded webhook that the newest webhook of a task replaces."""
        return self._webhooks[task][-1].recorded if self._webhooks.get(task) else None

    def serve(self, exchange: Exchange, call: CallContent, replacements: Replacements) -> None:
        """Register the webhook of a call, and send the deliveries that followed the exchange."""
        task = exchange.task or exchange.call.task
        if exchange.opens_task:
            self._webhooks.pop(task, None)
            self._cancel(self._series.get(task, []))
        if exchange.call.operation == Operation.DELETE_PUSH:
            self._webhooks.pop(task, None)
        elif call.webhook is not None and call.webhook.url:
            self._webhooks.setdefault(task, []).append(_Webhook(call.webhook, exchange.call.webhook))
        if exchange.pushes:
            self._start(task, exchange.pushes, replacements)

    async def close(self) -> None:
        """Stop sending immediately."""
        running = [series for waiting in self._series.values() for series in waiting]
        self._cancel(running)
        await asyncio.gather(*(series.worker for series in running if series.worker), return_exceptions=True)
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _start(self, task: str, pushes: Iterable[RecordedPush], replacements: Replacements) -> None:
        waiting, series = self._series.setdefault(task, []), _Series()
        earlier = [*waiting]
        for other in earlier:
            other.hurry.set()
        series.worker = asyncio.create_task(self._send_all(task, pushes, replacements, series, earlier))
        waiting.append(series)

        def forget(worker: asyncio.Task[None]) -> None:
            waiting.remove(series)
            if not worker.cancelled() and (error := worker.exception()) is not None:
                _logger.error("pushes for task %s failed", task, exc_info=error)

        series.worker.add_done_callback(forget)

    @staticmethod
    def _cancel(running: Iterable[_Series]) -> None:
        for series in running:
            if series.worker is not None:
                series.worker.cancel()

    async def _send_all(
        self,
        task: str,
        pushes: Iterable[RecordedPush],
        replacements: Replacements,
        series: _Series,
        earlier: Iterable[_Series],
    ) -> None:
        loop = asyncio.get_running_loop()
        started, accepted, unsent = loop.time(), set[int](), False
        if workers := [other.worker for other in earlier if other.worker is not None]:
            await asyncio.wait(workers)
        for push in pushes:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(started + push.after * self._pace):
                    await series.hurry.wait()
            delivery = self._capture.get(push.number)
            first = int(delivery.meta["first"]) or delivery.seq
            webhook = self._webhook_for(task, str(delivery.meta["target"]))
            if webhook is None:
                if not unsent:
                    self._log(f"push #{push.number}: not sent, because the client has no webhook for task {task[:8]}")
                unsent = True
            elif first not in accepted and await self._send(delivery, webhook, replacements):
                accepted.add(first)

    def _webhook_for(self, task: str, target: str) -> PushConfig | None:
        """Return the webhook that replaces the recorded webhook with this path, or else the newest of the task."""
        webhooks = self._webhooks.get(task, [])
        same = [item.sent for item in webhooks if item.recorded and urlsplit(item.recorded.url).path == _path(target)]
        return next(iter(same), None) or self.webhook_of(task)

    async def _send(self, delivery: Record, webhook: PushConfig, replacements: Replacements) -> bool:
        """Send a delivery and return whether it was accepted."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=_TIMEOUT, cookie_jar=aiohttp.DummyCookieJar())
        body, headers = replace_members(delivery.raw, replacements), _headers(delivery, webhook)
        method = str(delivery.meta["method"])
        try:
            async with self._session.request(
                method, webhook.url, data=body, headers=headers, allow_redirects=False
            ) as response:
                accepted = 200 <= response.status < 300
                outcome = f"HTTP {response.status}"
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            accepted, outcome = False, type(error).__name__
        self._log(f"push #{delivery.seq}: {outcome}")
        return accepted


def _path(target: str) -> str:
    return target.partition("?")[0]


def _headers(delivery: Record, webhook: PushConfig) -> list[tuple[str, str]]:
    """Return the recorded headers, with the secrets of the client's webhook in place of masked secrets."""
    headers: list[tuple[str, str]] = []
    for name, value in sendable(delivery.meta["headers"]):
        secret: str | None = value
        if MASK in value:
            secret = _authorization(webhook) if name.lower() == "authorization" else webhook.token
        if secret:
            headers.append((name, secret))
    return headers


def _authorization(webhook: PushConfig) -> str | None:
    authentication = webhook.authentication
    if authentication is None or not authentication.credentials:
        return None
    return f"{authentication.scheme} {authentication.credentials}"
