"""A receiver on a real socket, the deliveries that it reports, and a way to send requests to it."""

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path

from inspector.wire.receiver.server import Delivery, Receiver, ReceiverLimits, Registration

DATA = Path(__file__).parent / "data"
BODY = b'{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}'
QUICK = ReceiverLimits(
    body=1000, rejected_body=100, all_bodies=5000, head=2000, headers=20, seconds=0.2, idle=0.2, linger=0.2
)
PATIENT = ReceiverLimits(body=1000, rejected_body=100, head=2000, headers=20, seconds=60, idle=60)


class Inbox:
    """The deliveries that a receiver has reported, with a method to wait for more."""

    def __init__(self) -> None:
        self.all: list[Delivery] = []
        self._news = asyncio.Event()

    def __call__(self, delivery: Delivery) -> None:
        self.all.append(delivery)
        self._news.set()

    async def until(self, count: int) -> list[Delivery]:
        async with asyncio.timeout(10):
            while len(self.all) < count:
                self._news.clear()
                await self._news.wait()
        return self.all

    async def one(self) -> Delivery:
        (delivery,) = await self.until(1)
        return delivery


@dataclass
class RunningReceiver:
    """A running receiver with one registration."""

    receiver: Receiver
    inbox: Inbox
    registration: Registration

    @property
    def host(self) -> str:
        return "{}:{}".format(*self.receiver.address)

    def head(self, *more: str, method: str = "POST", target: str | None = None, **changed: str | None) -> bytes:
        """Return the head of a valid delivery with some headers changed, removed (None) or added."""
        headers: dict[str, str | None] = {
            "Host": self.host,
            "X-A2A-Notification-Token": self.registration.token,
            "Content-Type": "application/json",
        }
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        lines = [f"{method} {target or self.registration.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
        return "\r\n".join([*lines, *more, "", ""]).encode("utf-8")

    def post(self, body: bytes = BODY, **changed: str | None) -> bytes:
        return self.head(f"Content-Length: {len(body)}", **changed) + body

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self.receiver.address)

    async def send(self, *pieces: bytes) -> "Answer":
        """Send raw bytes, each part in a separate segment, and return the first response."""
        reader, writer = await self.connect()
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            return await Answer.read(reader, to_head=pieces[0].startswith(b"HEAD"))
        finally:
            writer.close()


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    async def read(cls, reader: asyncio.StreamReader, *, to_head: bool = False) -> "Answer":
        async with asyncio.timeout(10):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = b"" if to_head else await reader.readexactly(int(headers.get("content-length", 0)))
        return cls(int(first.split()[1]), headers, body)


@contextlib.asynccontextmanager
async def opened(limits: ReceiverLimits = PATIENT, **options):
    inbox = Inbox()
    receiver = Receiver(inbox, limits=limits, **options)
    await receiver.start()
    try:
        yield RunningReceiver(receiver, inbox, receiver.register())
    finally:
        await receiver.stop()


def results(delivery: Delivery) -> dict[str, bool | None]:
    return {check.name: check.good for check in delivery.checks}


def text_of(delivery: Delivery, name: str) -> str:
    return next(check.text for check in delivery.checks if check.name == name)
