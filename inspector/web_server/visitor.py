"""The process of a visitor: the app with Textual's driver for the web, which exchanges packets on stdin and stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from inspector.agents_file import NamedAgent
from inspector.options import Options
from inspector.text.sanitise import clean

PROGRAM = "inspector.tui.web_process"
ARGUMENTS = b"A"
"""The type of the first packet on stdin: `LaunchArguments`, pickled. On a command line, other users could read them."""
LaunchArguments = tuple[Options, Callable[[NamedAgent], Options]]
"""The options of the app, and a function that returns those of an agent of `agents.toml`; both can be pickled."""
_READY = b"__GANGLION__\n"
"""The line with which Textual's driver begins."""
_LARGEST = {"width": 1_000, "height": 500}
"""The largest screen, in cells."""
_MOST_ERRORS = 4_000
"""The number of bytes of stderr that are kept."""
_QUIT_SECONDS = 5.0
_TERMINATE_SECONDS = 2.0
_ENDED = "\x1b[?1049l\x1b[?25h\r\na2a-inspect ended with exit code {}.\r\n"


class Visitor(AppService):
    """Runs the app for the visitor behind a web socket; `stop` ends the process in any case."""

    def __init__(self, arguments: LaunchArguments, socket: web.WebSocketResponse, downloads: DownloadManager) -> None:
        super().__init__(
            PROGRAM,
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=self._wait_for_end,
            download_manager=downloads,
        )
        self._arguments = arguments
        self._socket = socket

    async def _wait_for_end(self) -> None:
        """Do nothing when the app exits: `run` closes the web socket when the process has ended."""

    @property
    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process is not None and self._process.returncode is not None

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start the process without a shell, and send it the arguments."""
        environment = self._build_environment(width, height) | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        # -P: do not import a folder in the working directory that has the name of a package. A session of its own:
        # ctrl+c in the terminal of the server is for the server, which ends its visitors.
        command = [sys.executable, "-P", "-m", PROGRAM]
        self._process = process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=os.name != "nt"
        )
        if process.stdin is None:
            raise RuntimeError("the process has no stdin")
        self._stdin = process.stdin
        arguments = pickle.dumps(self._arguments)
        self._stdin.write(ARGUMENTS + len(arguments).to_bytes(4, "big") + arguments)
        return process

    async def run(self) -> None:
        """Pass the packets of the process to the browser until the process ends, and then close the web socket."""
        process = self._process
        if process is None or process.stdout is None or process.stderr is None:
            raise RuntimeError("the process was not started")
        errors = asyncio.create_task(_last_bytes(process.stderr))
        began = await process.stdout.readline() == _READY
        with contextlib.suppress(asyncio.IncompleteReadError):
            while began:
                kind, size = await process.stdout.readexactly(1), await process.stdout.readexactly(4)
                await self._pass_on(kind, await process.stdout.readexactly(int.from_bytes(size, "big")))
        code, printed = await process.wait(), await errors
        with contextlib.suppress(ConnectionError, RuntimeError):  # the visitor has left
            if code:
                text = clean(printed.decode("utf-8", "replace"), newlines=True).replace("\n", "\r\n")
                await self._socket.send_bytes((_ENDED.format(code) + text).encode())
            await self._socket.close()

    async def _pass_on(self, kind: bytes, payload: bytes) -> None:
        """Handle a packet; after the visitor has left, read on, so that the process can end."""
        with contextlib.suppress(ConnectionError, RuntimeError):
            match kind:
                case b"D":
                    await self.on_data(payload)
                case b"M":
                    await self.on_meta(payload)
                case _:
                    await self.on_packed(payload)

    async def receive(self, message: object) -> None:
        """Handle a message of the page: a list with its type and its content; any other is ignored."""
        match message:
            case ["stdin", str(text)]:
                await self.send_bytes(text.encode("utf-8", "replace"))
            case ["resize", {"width": int(width), "height": int(height)}]:
                await self.set_terminal_size(bounded(width, "width"), bounded(height, "height"))
            case ["blur"]:
                await self.blur()
            case ["focus"]:
                await self.focus()
            case ["ping", str(sent)]:
                await self._socket.send_json(["pong", sent[:40]])

    async def stop(self) -> None:
        """End the process and wait for its end: ask it to quit, then terminate it, then kill it."""
        process, task = self._process, self._task
        if process is None or task is None:
            return
        await self._download_manager.cancel_app_downloads(self.app_service_id)
        await self.send_meta({"type": "quit"})
        self.stdin.close()
        for seconds, end in ((_QUIT_SECONDS, process.terminate), (_TERMINATE_SECONDS, process.kill)):
            await asyncio.wait({task}, timeout=seconds)
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    end()
        await task
        self._task = None


def bounded(size: int, dimension: str) -> int:
    """Return a width or height within limits."""
    return max(1, min(size, _LARGEST[dimension]))


async def _last_bytes(stream: asyncio.StreamReader) -> bytes:
    """Read a stream to its end and return its last bytes."""
    last = b""
    while data := await stream.read(_MOST_ERRORS):
        last = (last + data)[-_MOST_ERRORS:]
    return last
