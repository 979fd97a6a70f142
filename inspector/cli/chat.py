"""`chat` by lines: each line of stdin is a message in the same context (a2a-cli 0.2 section 8.1)."""

from __future__ import annotations

import asyncio
import codecs
import os
import stat
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TextIO

from inspector.cli.arguments import Invocation
from inspector.cli.output import Output
from inspector.cli.run_command import run
from inspector.cli.running_command import RunningCommand
from inspector.cli.send import Sending
from inspector.protocol.errors import FaultError
from inspector.protocol.lifecycle import is_interrupted
from inspector.protocol.model import Message
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft

_PROMPT = "> "
_BLOCK = 65_536


def chat(invocation: Invocation, out: Output) -> int:
    """Send the lines of stdin; raises `FaultError` if a message is refused."""
    out.lines = out.json
    return run(invocation, out, lambda current: _Chat(current).run())


class _Chat:
    """One conversation: its context, and the task that the next message continues."""

    def __init__(self, current: RunningCommand) -> None:
        given = current.invocation.given
        self._run = current
        self._context_id: str = given.context_id or ""
        self._task_id: str = given.task_id or ""
        self._is_interactive = sys.stdin.isatty()

    async def run(self) -> None:
        """Send each line and print its response, until stdin ends."""
        connection = await self._run.connect()
        self._run.check_interface()
        stream = bool(self._run.invocation.given.stream)
        if stream and not connection.card.capabilities.streaming:
            self._run.out.warn("the card does not declare streaming: messages are sent without streaming")
            stream = False
        self._prompt()
        async for line in read_lines(sys.stdin):
            if text := line.strip():
                await self._say(text, stream=stream)
            self._prompt()

    def _prompt(self) -> None:
        if self._is_interactive:
            self._run.out.flush()
            sys.stderr.write(_PROMPT)
            sys.stderr.flush()

    async def _say(self, text: str, *, stream: bool) -> None:
        """Send a message; an error ends the chat, unless a person can continue it."""
        draft = replace(text_draft(text), context_id=self._context_id, task_id=self._task_id)
        call = self._run.session.send(draft, stream=stream)
        try:
            await Sending(self._run).deliver(call, stream=stream)
        except FaultError as error:
            if not self._is_interactive:
                raise
            self._run.out.fail(error.fault)
        self._continue_from(call)

    def _continue_from(self, call: Call) -> None:
        """Continue in the context of the response, and with its task if that is interrupted."""
        answer, tracked = call.exchange.answer, self._run.session.tasks.get(call.exchange.task_id)
        if tracked is not None:
            self._context_id = tracked.now.context_id or self._context_id
            self._task_id = tracked.id if is_interrupted(tracked.now.state) else ""
        elif isinstance(answer, Message):
            self._context_id = answer.context_id or self._context_id
            self._task_id = ""


async def read_lines(stream: TextIO) -> AsyncIterator[str]:
    """Yield the lines of a stream without blocking the event loop while a pipe or a terminal has no data."""
    try:
        descriptor = stream.fileno()
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    except (OSError, ValueError):  # not a stream of the system
        is_file = True
    if is_file:
        for line in stream:
            yield line
        return
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pending, ended = "", False
    while not ended:
        await _readable(descriptor)
        block = os.read(descriptor, _BLOCK)
        ended = not block
        *lines, pending = (pending + decoder.decode(block, final=ended)).split("\n")
        for line in lines:
            yield line
    if pending:
        yield pending


async def _readable(descriptor: int) -> None:
    """Wait until a descriptor has data; return at once if the event loop cannot wait for it."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except (NotImplementedError, PermissionError):  # Windows; a device such as /dev/null
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
