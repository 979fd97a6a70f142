"""Start `a2a-inspect web` and visit it like its page: with a web socket, and a terminal that draws what it sends."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
from terminal import Display

SECONDS = 20.0
"""The longest wait."""
SIZE = (120, 36)


class Server:
    """A running server: its process, its origin, and its token."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url
        self.origin, _, self.token = url.partition("/?token=")

    @property
    def host(self) -> str:
        """The host and port of the server."""
        return self.origin.removeprefix("http://")


@contextmanager
def serving(environment: Mapping[str, str], *words: str) -> Iterator[Server]:
    """Run `a2a-inspect web` and yield the server when it listens."""
    command = [sys.executable, "-m", "inspector", "web", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("URL: http://127.0.0.1:"), process.stderr and process.stderr.read()
            yield Server(process, line.removeprefix("URL: ").strip())
        finally:
            process.kill()


class Visit:
    """A visitor: the web socket and the screen that its terminal would show."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.raw = b""
        self.messages: list[Any] = []
        self._display = Display(*SIZE)
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self.socket:
            if message.type is aiohttp.WSMsgType.BINARY:
                self.raw += message.data
                self._display.feed(message.data)
            elif message.type is aiohttp.WSMsgType.TEXT:
                self.messages.append(json.loads(message.data))

    @property
    def screen(self) -> str:
        return self._display.text()

    async def send(self, *message: Any) -> None:
        await self.socket.send_str(json.dumps(message))

    async def type(self, text: str) -> None:
        await self.send("stdin", text)

    async def until(self, what: str | Callable[[], Any]) -> Any:
        """Wait until a text is on the screen, or a condition is true."""
        deadline = time.monotonic() + SECONDS
        while not (found := what in self.screen if isinstance(what, str) else what()):
            assert time.monotonic() < deadline, f"not seen: {what}\n{self.screen}"
            await asyncio.sleep(0.02)
        return found

    async def until_closed(self) -> None:
        await asyncio.wait_for(self._reading, SECONDS)


@asynccontextmanager
async def visiting(server: Server) -> AsyncIterator[Visit]:
    """Open the web socket as the page does; the visitor leaves at the end."""
    async with aiohttp.ClientSession() as client:
        address = f"{server.origin}/ws/{server.token}?width={SIZE[0]}&height={SIZE[1]}"
        async with client.ws_connect(address, origin=server.origin) as socket:
            visit = Visit(socket)
            await visit.send("resize", {"width": SIZE[0], "height": SIZE[1]})
            yield visit


def descendants(process: int) -> set[int]:
    """Return the processes that a process started, and those that they started."""
    found: set[int] = set()
    for line in Path("/proc").glob(f"{process}/task/*/children"):
        with suppress(OSError):  # the process or its thread has just ended
            for child in map(int, line.read_text().split()):
                found |= {child} | descendants(child)
    return found


def is_alive(process: int) -> bool:
    """Return whether a process exists and has not ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def until_ended(processes: set[int]) -> None:
    deadline = time.monotonic() + SECONDS
    while alive := {process for process in processes if is_alive(process)}:
        assert time.monotonic() < deadline, {p: Path(f"/proc/{p}/cmdline").read_bytes() for p in alive}
        await asyncio.sleep(0.05)


def environment_of(process: int) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


def command_of(process: int) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


def clean_environment(home: Path) -> dict[str, str]:
    """Return the environment of a server with a home folder of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("A2ACLI_")}
    return kept | {"A2A_INSPECT_HOME": str(home)}
