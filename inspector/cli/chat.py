"""`chat` by lines: each line of stdin is a message in the same context (a2a-cli 0.2 section 8.1)."""

from __future__ import annotations

import sys
from dataclasses import replace

from inspector.cli.arguments import Invocation
from inspector.cli.output import Output
from inspector.cli.run_command import run
from inspector.cli.running_command import RunningCommand
from inspector.cli.send import Sending
from inspector.cli.stdin import read_lines
from inspector.protocol.errors import FaultError
from inspector.protocol.lifecycle import State, is_interrupted
from inspector.protocol.model import Message
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft

_PROMPT = "> "


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
        self._is_asked = False
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
        self._print_command()

    def _print_command(self) -> None:
        """Print the command that answers the last question, because no line has answered it."""
        out, (label, command) = self._run.out, self._run.follow_up()
        if self._is_asked and out.json:
            out.line_to_stderr(label, command)
        elif self._is_asked:
            out.field(label, out.redact(command))

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
            await Sending(self._run, reads_lines=True).deliver(call, stream=stream)
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
            self._is_asked = tracked.now.state == State.INPUT_REQUIRED
        elif isinstance(answer, Message):
            self._context_id = answer.context_id or self._context_id
            self._task_id, self._is_asked = "", False
