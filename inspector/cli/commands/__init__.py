"""The registry of commands. The module of a command is imported only when the command is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from inspector.cli.arguments import PROGRAM, Handler, Parser
from inspector.cli.commands.screen import add_screen


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, its purpose for the help, and its handler (`module` or `module:NAME`)."""

    name: str
    purpose: str
    place: str

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words of the name."""
        return tuple(self.name.split())

    def handler(self) -> Handler:
        """Import the module of the command and return its handler."""
        module, _, name = self.place.partition(":")
        handler: Handler = getattr(import_module(f"{__name__}.{module}"), name or "HANDLER")
        return handler

    def parser(self) -> Parser:
        """Make the parser of the command's options."""
        parser = Parser(self.name, self.purpose)
        self.handler().add_arguments(parser)
        return parser


COMMANDS = [
    Command("demo", "open the inspector on the built-in mock agent, with a tour", "screen:DEMO"),
    Command("open", "open the inspector on a recording of an earlier session", "screen:OPEN"),
    Command("show", "show the records of a recording", "show"),
    Command("mock", "run the built-in mock agent", "mock"),
    Command("card get", "show an agent's card", "card:GET"),
    Command("lint", "say what is wrong with a card", "card:LINT"),
    Command("rules", "list the rules that findings come from", "card:RULES"),
    Command("send", "send a message and wait for what comes of it", "send"),
    Command("task get", "show a task", "task:GET"),
    Command("task cancel", "cancel a task", "task:CANCEL"),
    Command("task list", "list tasks", "task:LIST"),
    Command("task subscribe", "listen to a task again", "task:SUBSCRIBE"),
    Command("task push-config set", "have a task pushed to a url", "task:SET_PUSH"),
    Command("task push-config get", "show where a task is pushed to", "task:GET_PUSH"),
    Command("task push-config list", "list where a task is pushed to", "task:LIST_PUSH"),
    Command("task push-config delete", "end such pushes", "task:DELETE_PUSH"),
    Command("push set", "the same as task push-config set", "task:SET_PUSH"),
    Command("push get", "the same as task push-config get", "task:GET_PUSH"),
    Command("push list", "the same as task push-config list", "task:LIST_PUSH"),
    Command("push delete", "the same as task push-config delete", "task:DELETE_PUSH"),
    Command("doctor", "say whether an agent is sound, and what to do", "doctor"),
    Command("listen", "receive push notifications and show them", "listen"),
]


def find(words: Sequence[str]) -> Command | None:
    """Return the command that a command line begins with."""
    return next((command for command in COMMANDS if tuple(words[: len(command.words)]) == command.words), None)


def beginning_with(words: Sequence[str]) -> list[Command]:
    """Return the commands whose names begin with these words."""
    return [command for command in COMMANDS if command.words[: len(words)] == tuple(words)]


def main_parser() -> Parser:
    """Make the parser for a command line without a command: the screen, on the agent that is named."""
    width = max(len(command.name) for command in COMMANDS)
    listed = "\n".join(f"  {command.name:<{width}} {command.purpose}" for command in COMMANDS)
    parser = Parser(
        "",
        "An inspector for A2A agents. Without a command it opens on the agent that is named, or asks for one.",
        usage=f"{PROGRAM} [URL | PATH] [options]\n       {PROGRAM} COMMAND [options]",
        epilog=f"commands:\n{listed}\n  {'help':<{width}} show the options of a command\n\n"
        "Any option with a value can stand in the environment too: --agent-card is A2ACLI_AGENT_CARD.",
    )
    parser.add_argument(
        "reference", nargs="?", metavar="URL | PATH", help="the agent: its url, the url of its card, or a card file"
    )
    parser.switch("-v --version", "print the version")
    add_screen(parser)
    return parser
