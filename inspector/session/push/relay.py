"""Forward deliveries to urls that the user gave: all of them, or single ones again."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from inspector.capture.records import Kind
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.journal import Journal
from inspector.wire.receiver.delivery import Delivery
from inspector.wire.receiver.forward import ForwardedRequest, Forwarder, ForwardResult

_KEPT = 200
_KEPT_BYTES = 32 * 1024 * 1024
"""How many deliveries are kept unmasked to be sent again, and how many bytes of them."""
_MOST_WAITING = 1000


class Relay:
    """Forwards every accepted delivery to `url`, unless it is `""`, and sends single ones again.

    The result is recorded as a note on the task of the delivery. The unmasked bytes are kept in memory only.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._forwarder = Forwarder()
        self._kept: OrderedDict[int, ForwardedRequest] = OrderedDict()
        self._size = 0
        self._waiting: asyncio.Queue[tuple[int, ForwardedRequest]] = asyncio.Queue(_MOST_WAITING)
        self._worker: asyncio.Task[None] | None = None
        self.url = ""
        self._sending = False
        self.dropped = 0

    def offer(self, seq: int, delivery: Delivery) -> None:
        """Keep a delivery, and forward it if a url is set."""
        self._kept[seq] = parcel = ForwardedRequest(delivery.method, delivery.headers, delivery.body)
        self._size += len(delivery.body)
        while len(self._kept) > _KEPT or self._size > _KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
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
        """Send a delivery again, to another url; raises `FaultError` if it is no longer kept."""
        parcel = self._kept.get(seq)
        if parcel is None:
            seen = f"The bytes of #{seq} are not kept any more, or it is no delivery."
            hint = f"The last {_KEPT} deliveries can be sent again."
            raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, hint))
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
            if self.url:
                self._sending = True
                await self._send(seq, parcel, self.url, "forwarded")
                self._sending = False
            self._waiting.task_done()

    async def _send(self, seq: int, parcel: ForwardedRequest, url: str, did: str) -> ForwardResult:
        done = await self._forwarder.send(parcel, url)
        shown = self._journal.redactor.url(url)
        said = self._journal.redactor.text(done.words)
        self._journal.append(
            Kind.NOTE,
            time.time(),
            event="forward",
            task=self._journal.capture.get(seq).task,
            label=f"#{seq} {did} to {shown}: {said}",
            meta={"delivery": seq, "to": shown, "status": done.status, "seconds": round(done.seconds, 6)},
        )
        self._journal.notify()
        return done
