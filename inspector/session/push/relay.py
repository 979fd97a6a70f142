"""Forward webhook deliveries to other URLs: accepted deliveries as they arrive, or a recorded delivery again."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind
from inspector.protocol.errors import usage_error
from inspector.session.journal import Journal
from inspector.wire.receiver.forward import ForwardedRequest, Forwarder, ForwardResult

if TYPE_CHECKING:
    from inspector.wire.receiver.delivery import Delivery

_MOST_STORED = 200
_MOST_STORED_BYTES = 32 * 1024 * 1024
"""The largest number of deliveries, and of their bytes, that are kept in memory, unmasked, to be sent again."""
_MOST_WAITING = 1000
"""How many deliveries may wait to be forwarded; more are dropped."""


class Relay:
    """Forwards every accepted delivery to `url`, unless it is `""`, and sends a recent delivery again.

    The result is recorded as a note on the task of the delivery. The unmasked bytes are kept in memory only. `dropped`
    counts deliveries that were not forwarded because too many were waiting.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._forwarder = Forwarder()
        self._stored: OrderedDict[int, ForwardedRequest] = OrderedDict()
        self._size = 0
        self._waiting: asyncio.Queue[tuple[int, ForwardedRequest]] = asyncio.Queue(_MOST_WAITING)
        self._worker: asyncio.Task[None] | None = None
        self.url = ""
        self._sending = False
        self.dropped = 0

    def offer(self, seq: int, delivery: Delivery) -> None:
        """Store a delivery for `resend`, and queue it for forwarding if `url` is set and the delivery was accepted."""
        self._stored[seq] = parcel = ForwardedRequest(delivery.method, delivery.headers, delivery.body)
        self._size += len(delivery.body)
        while len(self._stored) > _MOST_STORED or self._size > _MOST_STORED_BYTES:
            _, oldest = self._stored.popitem(last=False)
            self._size -= len(oldest.body)
        if not self.url or not delivery.accepted or delivery.challenge:
            return
        if self._waiting.full():
            self.dropped += 1
            return
        self._waiting.put_nowait((seq, parcel))
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())

    async def resend(self, seq: int, url: str) -> ForwardResult:
        """Send a delivery again, to another URL; raises `FaultError` if it is no longer in memory."""
        parcel = self._stored.get(seq)
        if parcel is None:
            seen = f"Record #{seq} is not a delivery, or its bytes are no longer in memory."
            hint = f"Select one of the last {_MOST_STORED} deliveries of this session."
            raise usage_error(seen, hint)
        return await self._send(seq, parcel, url, "sent again")

    @property
    def waiting(self) -> int:
        """Return how many deliveries still have to be forwarded."""
        return self._waiting.qsize() + self._sending

    async def drain(self) -> None:
        """Wait until all deliveries so far are forwarded."""
        await self._waiting.join()

    async def close(self) -> None:
        """Stop forwarding and close every connection."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        await self._forwarder.close()

    async def _work(self) -> None:
        while True:
            seq, parcel = await self._waiting.get()
            try:
                if self.url:
                    self._sending = True
                    with suppress(CaptureError):  # the result cannot be recorded, but further deliveries can be sent
                        await self._send(seq, parcel, self.url, "forwarded")
            finally:
                self._sending = False
                self._waiting.task_done()

    async def _send(self, seq: int, parcel: ForwardedRequest, url: str, action: str) -> ForwardResult:
        done = await self._forwarder.send(parcel, url)
        shown = self._journal.redactor.url(url)
        result = self._journal.redactor.text(done.words)
        self._journal.append(
            Kind.NOTE,
            time.time(),
            event="forward",
            task=self._journal.capture.get(seq).task,
            label=f"#{seq} {action} to {shown}: {result}",
            meta={
                "delivery": seq,
                "to": shown,
                "status": done.status,
                "seconds": round(done.seconds, 6),
                "problem": self._journal.redactor.text(done.problem),
            },
        )
        self._journal.notify()
        return done
