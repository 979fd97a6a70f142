"""The registry of commands. The module of a command is imported only when the command is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from textwrap import indent

from inspector import PROGRAM
from inspector.cli.arguments import Handler, Parser
from inspector.cli.commands.screen import add_screen
from inspector.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, its purpose, and where its handler is (`module` or `module:NAME`)."""

    name: str
    purpose: str
    handler_path: str

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words of the name."""
        return tuple(self.name.split())

    def handler(self) -> Handler:
        """Import the module of the command and return its handler."""
        module, _, name = self.handler_path.partition(":")
        handler: Handler = getattr(import_module(f"{__name__}.{module}"), name or "HANDLER")
        return handler

    def parser(self) -> Parser:
        """Make the parser of the command's options."""
        handler = self.handler()
        parser = Parser(self.name, f"{self.purpose[:1].upper()}{self.purpose[1:]}.")
        handler.add_arguments(parser)
        examples = f"Examples:\n{indent(handler.examples, '  ')}" if handler.examples else ""
        parser.epilog = "\n\n".join(filter(None, (handler.notes, examples)))
        return parser


COMMANDS = [
    Command("demo", "open the app on the built-in mock agent, with a guided tour", "screen:DEMO"),
    Command("open", "open the capture of an earlier session in the app", "screen:OPEN"),
    Command("web", "open the app in a browser on this machine", "web"),
    Command("show", "print the records of a capture", "show"),
    Command("export", "write a capture in another format: HAR, JSON Lines, curl, checks, traces", "export:EXPORT"),
    Command("import", "read a HAR file into a capture", "export:IMPORT"),
    Command("redact", "copy a capture without secrets, to share it", "export:REDACT"),
    Command("mock", "run the built-in mock agent, or serve a recording", "mock"),
    Command("demo-server", "alias of mock", "mock"),
    Command("card get", "print an agent card", "card:GET"),
    Command("card diff", "print the differences between two agent cards", "card:DIFF"),
    Command("lint", "check an agent card", "card:LINT"),
    Command("rules", "list the rules that findings refer to", "card:RULES"),
    Command("send", "send a message and print the response", "send"),
    Command("chat", "send several messages in one context: line by line, or in the app", "chat"),
    Command("task get", "print a task", "task:GET"),
    Command("task cancel", "cancel a task", "task:CANCEL"),
    Command("task list", "list tasks", "task:LIST"),
    Command("task subscribe", "subscribe to the events of a task", "task:SUBSCRIBE"),
    Command("task download", "save the artifacts of a task", "task:DOWNLOAD"),
    Command("task push-config create", "create a push notification configuration for a task", "task:SET_PUSH"),
    Command("task push-config set", "alias of task push-config create", "task:SET_PUSH"),
    Command("task push-config get", "print a push notification configuration of a task", "task:GET_PUSH"),
    Command("task push-config list", "list the push notification configurations of a task", "task:LIST_PUSH"),
    Command("task push-config delete", "delete a push notification configuration of a task", "task:DELETE_PUSH"),
    Command("push create", "alias of task push-config create", "task:SET_PUSH"),
    Command("push set", "alias of task push-config create", "task:SET_PUSH"),
    Command("push get", "alias of task push-config get", "task:GET_PUSH"),
    Command("push list", "alias of task push-config list", "task:LIST_PUSH"),
    Command("push delete", "alias of task push-config delete", "task:DELETE_PUSH"),
    Command("auth login", "log in to an agent with OAuth 2.0 or OpenID Connect, and store the token", "auth:LOGIN"),
    Command("auth status", "list the stored tokens, or check the credentials for an agent", "auth:STATUS"),
    Command("auth logout", "revoke and remove stored tokens", "auth:LOGOUT"),
    Command("auth token", "print the stored token for an agent, for another program", "auth:TOKEN"),
    Command("doctor", "diagnose an agent: connection, card, interfaces, streaming, push notifications", "doctor"),
    Command("check make", "make a check file from a capture", "check:MAKE"),
    Command("check", "run check files: tests of an agent in the format of ACTS", "check"),
    Command("conformance", "run the built-in tests of A2A 1.0 against an agent", "check:CONFORMANCE"),
    Command("listen", "receive push notifications and print them", "listen"),
    Command("agents list", "list the agents that have a name (agents.toml)", "agents:LIST"),
    Command("agents add", "give an agent a name, with its options", "agents:ADD"),
    Command("agents remove", "remove the name of an agent", "agents:REMOVE"),
    Command("agents check", "fetch the card of each agent that has a name", "agents:CHECK"),
    Command("mcp", "serve coding agents over the Model Context Protocol (MCP)", "mcp"),
    Command("version", "print the version; with --verbose what a bug report needs", "version"),
    Command("config show", "print the effective options, and where each value comes from", "config"),
    Command("completion", "print a script that completes command lines in a shell", "completion"),
]

HELP_PURPOSE = "print the help of a command (--json: for programs, --skill: for coding agents)"

_EXAMPLES = """\
# Open the app on the built-in mock agent
a2a-inspect demo
# Run the mock agent, for the other examples
a2a-inspect mock --port 9000
# Open the app on an agent
a2a-inspect http://localhost:9000
# Send a message and print the events of the response
a2a-inspect send http://localhost:9000 --text 'report 3' --stream
# Check the card of an agent
a2a-inspect lint http://localhost:9000"""


def find(words: Sequence[str]) -> Command | None:
    """Return the command at the beginning of a command line, None if it has none."""
    return next((command for command in COMMANDS if tuple(words[: len(command.words)]) == command.words), None)


def beginning_with(words: Sequence[str]) -> list[Command]:
    """Return the commands whose names begin with some words."""
    return [command for command in COMMANDS if command.words[: len(words)] == tuple(words)]


def help_of_group(words: Sequence[str]) -> str:
    """Return the help of the commands that begin with some words: their names and purposes."""
    listed, _ = _listed(beginning_with(words))
    name = " ".join((PROGRAM, *words))
    return f"usage: {name} COMMAND [options]\n\ncommands:\n{listed}\n\n{name} COMMAND --help prints the options.\n"


def _listed(commands: Sequence[Command]) -> tuple[str, int]:
    """Return a line for each command, and the width of the names."""
    width = max(len(command.name) for command in commands) + 1
    return "\n".join(f"  {command.name:<{width}} {command.purpose}" for command in commands), width


def main_parser() -> Parser:
    """Make the parser for a command line without a command, which opens the app."""
    listed, width = _listed(COMMANDS)
    parser = Parser(
        "",
        "Inspect and debug A2A agents. Without a command, open the app. Without an agent, choose one in the app.",
        usage=f"{PROGRAM} [URL | PATH] [options]\n       {PROGRAM} COMMAND [options]",
        epilog=f"commands:\n{listed}\n  {'help':<{width}} {HELP_PURPOSE}\n\n"
        "environment:\n  A variable can set any option that has a value: A2ACLI_AGENT_CARD sets --agent-card.\n"
        "  Variables cannot set the options for the parts of a message.\n\n"
        f"Examples:\n{indent(_EXAMPLES, '  ')}",
    )
    parser.add_argument(
        "reference",
        nargs="?",
        metavar="URL | PATH",
        help="the agent: its URL, the URL of its card, a card file, or its name",
    )
    parser.switch("-v --version", "print the version")
    parser.accept_names()
    add_screen(parser)
    return parser
