"""`chat`: send several messages in one context, from lines of stdin or in the app."""

from __future__ import annotations

import sys

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Invocation, Parser
from inspector.cli.commands.screen import add_screen, open_screen
from inspector.cli.errors import usage
from inspector.cli.output import Output

_NOTES = """\
In a terminal, the app opens on the agent. In a pipe, or with one of --lines, --context-id, --task-id, --stream and
-o json, each line of stdin is a message: the next message is sent in the same context, and to the same task while that
needs input. The chat ends with stdin. With -o json, each response is a line."""

_EXAMPLES = """\
# Chat in the app
a2a-inspect chat http://localhost:9000
# Send two messages in one context
printf 'echo one\\necho two\\n' | a2a-inspect chat http://localhost:9000
# Chat in the terminal, without the app
a2a-inspect chat http://localhost:9000 --lines"""

_LINES = Deferred("inspector.cli.chat:chat")


def _add_arguments(parser: Parser) -> None:
    parser.add_agent(as_argument=True, hint="The messages are read from stdin.")
    parser.switch("--lines", "read messages line by line, in a terminal, too")
    parser.value("--context-id ID", "send the first message in this context", values.identifier)
    parser.value("--task-id ID", "send the first message to this task", values.identifier)
    parser.switch("--stream", "print events when they arrive (with -o json: JSON Lines of events)")
    parser.set_defaults(no_wait=False)
    parser.add_save()
    parser.add_waiting()
    parser.add_output()
    add_screen(parser)


def _run(invocation: Invocation, out: Output) -> int:
    """Choose between the app and lines; raises `FaultError` if it would wait for input of a user who sees no output."""
    given = invocation.given
    wants_lines = given.lines or given.context_id or given.task_id or given.stream or out.json
    if not sys.stdin.isatty() or (wants_lines and out.is_terminal):
        return _LINES(invocation, out)
    if not out.is_terminal:
        raise usage("stdin is a terminal, but stdout is not.", "Write the messages to stdin, one per line.")
    return open_screen(invocation, out)


HANDLER = Handler(_add_arguments, _run, _EXAMPLES, _NOTES)
