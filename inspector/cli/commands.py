"""The commands: what each is called, what it takes and where its code is, which is loaded when it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.cli import values
from inspector.cli.arguments import (
    PROGRAM,
    Parser,
    add_agent,
    add_connection,
    add_history,
    add_output,
    add_parts,
    add_receiver,
    add_waiting,
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its words, a line about it, its options and its code (`module:function`)."""

    words: tuple[str, ...]
    purpose: str
    add_options: Callable[[Parser], None]
    code: str

    @property
    def name(self) -> str:
        """Return the words as they are typed."""
        return " ".join(self.words)

    def parser(self) -> Parser:
        """Make the parser of the command's options."""
        parser = Parser(self.name, self.purpose)
        self.add_options(parser)
        return parser


def _screen(parser: Parser) -> None:
    add_connection(parser)
    add_receiver(parser)
    parser.switch("--ascii", help="draw the signs (arrows, states, marks) with ASCII characters")
    parser.value("--theme", metavar="NAME", help="the theme to start with")


def _card_get(parser: Parser) -> None:
    add_agent(parser)
    parser.switch("--extended", help="ask the agent for the card that it shows to those it knows")
    parser.switch("--validate", help="list what is wrong with the card; an error makes the command fail")
    add_output(parser)
    add_connection(parser)


def _send(parser: Parser) -> None:
    add_agent(parser)
    add_parts(parser)
    parser.switch("--stream", help="follow the events live (with -o json: JSON Lines)")
    parser.add_argument(
        "--async",
        "--return-immediately",
        "--no-wait",
        dest="no_wait",
        action="store_true",
        help="do not wait for the task to end (default: wait)",
    )
    parser.switch("--wait", help="wait for the task to end, which is what happens anyway")
    parser.value("--task-id", type=values.identifier, metavar="ID", help="continue this task")
    parser.value("--context-id", type=values.identifier, metavar="ID", help="start a new task in this context")
    parser.value("--metadata", type=values.json_object, metavar="JSON", help="an object to send with the message")
    add_waiting(parser)
    add_output(parser)
    add_connection(parser)


def _task_get(parser: Parser) -> None:
    parser.add_argument("id", type=values.identifier, metavar="ID", help="the task")
    add_agent(parser)
    parser.switch("--wait", "--watch", help="ask again until the task ends or waits for you")
    add_waiting(parser)
    add_output(parser)
    add_connection(parser)


def _task_cancel(parser: Parser) -> None:
    parser.add_argument("id", type=values.identifier, metavar="ID", help="the task")
    add_agent(parser)
    add_output(parser)
    add_connection(parser)


def _task_list(parser: Parser) -> None:
    add_agent(parser)
    parser.value("--context-id", type=values.identifier, metavar="ID", help="only tasks of this context")
    parser.value("--status", type=values.state, metavar="STATE", help="only tasks in this state: working ...")
    parser.value(
        "--after", type=values.moment, metavar="TIME", help="only tasks whose status is from then or later (ISO 8601)"
    )
    parser.value("--page-size", type=values.positive, metavar="N", help="ask for so many tasks at once")
    parser.value("--page-token", type=values.identifier, metavar="TOKEN", help="begin at the page that this names")
    add_history(parser)
    parser.switch("--include-artifacts", help="ask for the artifacts too")
    parser.switch("--all", help="follow the pages to the last one")
    parser.switch("--stream", help="print tasks page by page as they come (with -o json: JSON Lines, a task a line)")
    add_output(parser)
    add_connection(parser)


def _task_subscribe(parser: Parser) -> None:
    parser.add_argument("id", type=values.identifier, metavar="ID", help="the task")
    add_agent(parser)
    parser.switch("--stream", help="show the events live (with -o json: JSON Lines); else the task when it has ended")
    add_waiting(parser)
    add_output(parser)
    add_connection(parser)


def _push_config(parser: Parser) -> None:
    parser.add_argument("id", type=values.identifier, metavar="TASK", help="the task")
    add_agent(parser)


def _push_set(parser: Parser) -> None:
    _push_config(parser)
    parser.value("--url", type=values.web_url, metavar="URL", help="where the agent is to push to")
    parser.value("--token", type=values.secret, metavar="TOKEN", help="what it is to send in the notification header")
    parser.value(
        "--auth", type=values.authentication, metavar="SCHEME:CREDENTIALS", help="what it is to send as Authorization"
    )
    parser.value("--id", dest="config_id", type=values.identifier, metavar="ID", help="name the configuration")
    add_output(parser)
    add_connection(parser)


def _push_list(parser: Parser) -> None:
    _push_config(parser)
    add_output(parser)
    add_connection(parser)


def _push_one(parser: Parser) -> None:
    _push_config(parser)
    parser.value("--id", dest="config_id", type=values.identifier, metavar="ID", help="the configuration")
    add_output(parser)
    add_connection(parser)


def _doctor(parser: Parser) -> None:
    agent = parser.add_mutually_exclusive_group()
    agent.add_argument("reference", nargs="?", metavar="REF", help="the agent, as with -a")
    add_agent(parser, agent)
    parser.value("--message", metavar="TEXT", help="send this too, to see how streams and pushes come")
    parser.epilog = _DOCTOR_HELP
    add_receiver(parser)
    add_output(parser)
    add_connection(parser)


_DOCTOR_HELP = """\
Without --message it asks only what changes nothing: the card, and a task that does not exist.

With -o json one document: {"reference", "sound", "steps": [{"name", "good", "seen", "seconds", "remedy", "exchange"}],
"proposals": [{"url", "generation", "binding", "why", "command"}],
"observed": [{"thing", "declared", "observed", "agree"}]}; good and agree are null where nothing can be told.

It exits with 0 where all is sound, 1 where something is wrong, 3 where there is no agent or no card, 4 where the card
is not shown without credentials."""


def _listen(parser: Parser) -> None:
    add_receiver(parser, "")
    parser.value(
        "--count",
        type=values.positive,
        metavar="N",
        help="end after so many deliveries, refused ones too (default: never)",
    )
    parser.value(
        "--timeout",
        type=values.duration,
        metavar="DURATION",
        help="end after 30s, 5m ...; a failure where --count deliveries have not come by then (default: never)",
    )
    parser.value("--capture", type=values.file, metavar="FILE", help="record what comes in this new file")
    add_output(parser)


def _mock(parser: Parser) -> None:
    parser.value("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (default: 127.0.0.1)")
    parser.value("--port", type=values.port, default=0, metavar="PORT", help="at which port (default: 0, a free one)")
    parser.value("--pace", type=values.pace, default=1.0, metavar="N", help="stretch its pauses (default: 1; 0: none)")
    parser.switch("--verbose", help="say on stderr what happens")


_PUSH = "inspector.cli.pushconfig"

_COMMANDS = (
    Command(("demo",), "open the inspector on the built-in mock agent", _screen, ""),
    Command(("mock",), "run the built-in mock agent", _mock, "inspector.cli.mock:run"),
    Command(("card", "get"), "show an agent's card", _card_get, "inspector.cli.card:get"),
    Command(("send",), "send a message and wait for what comes of it", _send, "inspector.cli.send:send"),
    Command(("task", "get"), "show a task", _task_get, "inspector.cli.task:get"),
    Command(("task", "cancel"), "cancel a task", _task_cancel, "inspector.cli.task:cancel"),
    Command(("task", "list"), "list tasks", _task_list, "inspector.cli.tasklist:list_tasks"),
    Command(("task", "subscribe"), "listen to a task again", _task_subscribe, "inspector.cli.subscribe:subscribe"),
    Command(("task", "push-config", "set"), "have a task pushed to a url", _push_set, f"{_PUSH}:set_config"),
    Command(("task", "push-config", "get"), "show where a task is pushed to", _push_one, f"{_PUSH}:get_config"),
    Command(("task", "push-config", "list"), "list where a task is pushed to", _push_list, f"{_PUSH}:list_configs"),
    Command(("task", "push-config", "delete"), "end such pushes", _push_one, f"{_PUSH}:delete_config"),
    Command(("doctor",), "say whether an agent is sound, and what to do", _doctor, "inspector.cli.doctor:doctor"),
    Command(("listen",), "receive push notifications and show them", _listen, "inspector.cli.listen:listen"),
)
COMMANDS = {command.words: command for command in _COMMANDS}
"""Every command by its words."""

FIRST_WORDS = frozenset(command.words[0] for command in _COMMANDS) | {"help"}
"""What the first word of a command line is, where it is no agent."""


def find(words: Sequence[str]) -> Command | None:
    """Return the command that a command line begins with."""
    return next((command for command in _COMMANDS if tuple(words[: len(command.words)]) == command.words), None)


def main_parser() -> Parser:
    """Make the parser for a command line without a command: the screen, on the agent that is named."""
    width = max(len(command.name) for command in _COMMANDS)
    listed = "\n".join(f"  {command.name:<{width}} {command.purpose}" for command in _COMMANDS)
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
    parser.add_argument("-v", "--version", action="store_true", help="print the version")
    _screen(parser)
    return parser
