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
    add_findings,
    add_format,
    add_history,
    add_message,
    add_output,
    add_parts,
    add_receiver,
    add_signatures,
    add_waiting,
)
from inspector.protocol.dialects.traits import STABLE


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
    parser.switch("--resubscribe", help="listen again by itself to a task whose stream is lost (R in Talk)")
    parser.switch("--ascii", help="draw the signs (arrows, states, marks) with ASCII characters")
    parser.value("--theme", metavar="NAME", help="the theme to start with")


def _demo(parser: Parser) -> None:
    _screen(parser)
    parser.switch("--no-tour", help="begin without the guided tour; F2 begins it any time")


def _open(parser: Parser) -> None:
    parser.add_argument("recording", type=values.file, metavar="FILE", help="the capture (*.a2a)")
    parser.switch("--ascii", help="draw the signs (arrows, states, marks) with ASCII characters")
    parser.value("--theme", metavar="NAME", help="the theme to start with")


def _show(parser: Parser) -> None:
    parser.add_argument("file", type=values.file, metavar="FILE", help="the capture (*.a2a)")
    parser.add_argument(
        "filter", nargs="*", metavar="FILTER", help="only the records that a filter leaves: kind:status 'gap>2s' ..."
    )
    parser.epilog = _SHOW_HELP
    add_format(parser, "text", "json")
    parser.switch("--verbose", help="show headers and payloads too")


_SHOW_HELP = """\
The words of a filter are those of the filter in Traffic (/); one that begins with - goes after --:
a2a-inspect show FILE -- -kind:keepalive. With -o json every record is a line with all that it holds, its payload as
JSON where it is JSON, else its bytes in Base64 (raw)."""


def _card_get(parser: Parser) -> None:
    add_agent(parser)
    parser.switch("--extended", help="ask the agent for the card that it shows to those it knows")
    parser.switch("--validate", help="list what is wrong with the card; an error makes the command fail")
    add_signatures(parser)
    add_output(parser)
    add_connection(parser)


def _lint(parser: Parser) -> None:
    parser.add_argument("reference", metavar="URL | PATH | -", help="the card: its url, its agent's, a file, or stdin")
    parser.value(
        "--generation",
        choices=STABLE,
        metavar="VERSION",
        help="judge it as a card of this generation (default: the one whose shape it has)",
    )
    parser.switch("--strict", help="let warnings make the command fail as well")
    add_format(parser, "text", "json", "sarif", "junit")
    add_connection(parser)


def _rules(parser: Parser) -> None:
    parser.add_argument("ids", nargs="*", metavar="RULE", help="a rule (CARD-004) or a family of them (CARD)")
    add_format(parser, "text", "json", "markdown")


def _send(parser: Parser) -> None:
    add_agent(parser)
    add_parts(parser)
    parser.switch("--stream", help="follow the events live (with -o json: JSON Lines)")
    add_findings(parser)
    parser.add_argument(
        "--async",
        "--return-immediately",
        "--no-wait",
        dest="no_wait",
        action="store_true",
        help="do not wait for the task to end (default: wait)",
    )
    parser.switch("--wait", help="wait for the task to end, which is what happens anyway")
    add_message(parser)
    _saving(parser)
    add_waiting(parser)
    add_output(parser)
    add_connection(parser)


def _saving(parser: Parser) -> None:
    parser.value("--save", type=values.file, metavar="DIR", help="save the artifacts in this folder, under clean names")


def _task_get(parser: Parser) -> None:
    parser.add_argument("id", type=values.identifier, metavar="ID", help="the task")
    add_agent(parser)
    parser.switch("--wait", "--watch", help="ask again until the task ends or waits for you")
    _saving(parser)
    add_waiting(parser)
    add_findings(parser)
    add_output(parser)
    add_connection(parser)


def _task_cancel(parser: Parser) -> None:
    parser.add_argument("id", type=values.identifier, metavar="ID", help="the task")
    add_agent(parser)
    add_findings(parser)
    add_output(parser)
    add_connection(parser)


def _task_list(parser: Parser) -> None:
    add_agent(parser)
    parser.value("--context-id", type=values.identifier, metavar="ID", help="only tasks of this context")
    parser.value("--status", type=values.state, metavar="STATE", help="only tasks in this state: working ...")
    parser.value(
        "--after",
        type=values.moment,
        metavar="TIME",
        help="only tasks whose status is from then or later (ISO 8601)",
    )
    parser.value("--page-size", type=values.positive, metavar="N", help="ask for so many tasks at once")
    parser.value("--page-token", type=values.identifier, metavar="TOKEN", help="begin at the page that this names")
    add_history(parser)
    parser.switch("--include-artifacts", help="ask for the artifacts too")
    parser.switch("--all", help="follow the pages to the last one")
    parser.switch("--stream", help="print tasks page by page as they come (with -o json: JSON Lines, a task a line)")
    add_findings(parser)
    add_output(parser)
    add_connection(parser)


def _task_subscribe(parser: Parser) -> None:
    parser.add_argument("id", type=values.identifier, metavar="ID", help="the task")
    add_agent(parser)
    parser.switch("--stream", help="show the events live (with -o json: JSON Lines); else the task when it has ended")
    add_waiting(parser)
    add_findings(parser)
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
        "--auth",
        type=values.authentication,
        metavar="SCHEME:CREDENTIALS",
        help="what it is to send as Authorization",
    )
    parser.value("--id", dest="config_id", type=values.identifier, metavar="ID", help="name the configuration")
    add_findings(parser)
    add_output(parser)
    add_connection(parser)


def _push_list(parser: Parser) -> None:
    _push_config(parser)
    add_findings(parser)
    add_output(parser)
    add_connection(parser)


def _push_one(parser: Parser) -> None:
    _push_config(parser)
    parser.value("--id", dest="config_id", type=values.identifier, metavar="ID", help="the configuration")
    add_findings(parser)
    add_output(parser)
    add_connection(parser)


def _doctor(parser: Parser) -> None:
    agent = parser.add_mutually_exclusive_group()
    agent.add_argument("reference", nargs="?", metavar="REF", help="the agent, as with -a")
    add_agent(parser, agent)
    parser.value("--message", metavar="TEXT", help="send this too, to see how streams and pushes come")
    parser.value("--push", type=values.identifier, metavar="TASK", help="say why the pushes of this task do not come")
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
    parser.value("--token", type=values.secret, metavar="TOKEN", help="the token to ask for (default: a new one)")
    parser.value(
        "--auth",
        type=values.authentication,
        metavar="SCHEME:CREDENTIALS",
        help="ask for this: Bearer:…, Basic:user:password, ApiKey:…, HMAC:secret (default: Bearer with the token)",
    )
    parser.value("--jwks", metavar="FILE|URL", help="ask for a JWT, signed by a key of this JWK Set")
    parser.value("--issuer", metavar="ISS", help="... and issued by this issuer")
    parser.value("--audience", metavar="AUD", help="... and made for this audience")
    parser.value(
        "--fail",
        split=str.split,
        metavar="ANSWER[:TIMES]",
        help="answer good deliveries so: 500:2, 429/30 (Retry-After), 204@5s, never, reset, truncated; repeatable",
    )
    parser.value(
        "--forward",
        type=values.web_url,
        metavar="URL",
        help="hand accepted deliveries on, bytes and headers kept",
    )
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
    parser.value(
        "--grpc-port",
        type=values.port,
        default=0,
        metavar="PORT",
        help="at which port for gRPC (default: 0, a free one)",
    )
    parser.value(
        "--generations",
        type=values.words,
        default=("1.0",),
        metavar="LIST",
        help="which to serve of 1.0, 0.3, 0.2, 0.1 and opvs, the main one first; "
        "the others each have a path of their own, like /v0.3 (default: 1.0)",
    )
    parser.value(
        "--spec",
        choices=("1.0.0", "1.0.1"),
        default="1.0.1",
        help="the release of 1.0 whose statuses errors have (default: 1.0.1)",
    )
    parser.value(
        "--capabilities",
        type=values.words,
        default=("streaming", "push"),
        metavar="LIST",
        help="what it can do of streaming, push and extended-card; all, none (default: streaming,push)",
    )
    parser.value("--require-extension", default="", metavar="URI", help="demand this extension of every call")
    parser.value("--card", type=values.file, metavar="FILE", help="serve this card in place of its own")
    parser.value("--state", type=values.file, metavar="FILE", help="keep its tasks in this file, made where it is not")
    parser.value(
        "--scenario",
        split=str.splitlines,
        type=values.file,
        default=(),
        metavar="PATH",
        help="act by this scenario too, or by those in this folder; read again when they change; repeatable",
    )
    parser.value(
        "--fault", split=str.split, default=(), metavar="NAME[:N]", help="do this wrong with every call; repeatable"
    )
    parser.switch("--list-faults", help="list what it can do wrong, and the finding that gives it away")
    parser.value(
        "--auth",
        choices=("bearer", "basic", "api-key:header", "api-key:query", "api-key:cookie", "oauth2"),
        metavar="KIND",
        help="demand credentials: bearer, basic (user mock), api-key:header, api-key:query, api-key:cookie, "
        "or oauth2 (of the client mock: its credentials, a code with PKCE, or a device's)",
    )
    parser.value(
        "--secret",
        type=values.secret,
        default="open-sesame",
        metavar="TEXT",
        help="... and this (default: open-sesame)",
    )
    parser.value("--cert", type=values.file, metavar="FILE", help="serve over TLS with this certificate (PEM)")
    parser.value("--key", type=values.file, metavar="FILE", help="... and its key")
    parser.value(
        "--client-ca",
        type=values.file,
        metavar="FILE",
        help="mutual TLS: admit those alone whose certificate this authority has signed",
    )
    parser.value("--sign", choices=("es256", "rs256"), help="sign the cards, and pushes that ask for nothing else")
    parser.value("--pace", type=values.pace, default=1.0, metavar="N", help="stretch its pauses (default: 1; 0: none)")
    parser.switch("--verbose", help="say on stderr what happens")
    parser.epilog = _MOCK_HELP


_MOCK_HELP = """\
The first line that it prints is its url, the second where it speaks gRPC; in a terminal, what happens follows. 0.1 has
JSON-RPC alone. With --generations 0.3,1.0 the card has both shapes in one, and only that of the version which a request
names (A2A-Version). A generation beside the main one has its card below its path too, for clients that know no other
way to it."""


_PUSH = "inspector.cli.push_config"

_COMMANDS = (
    Command(("demo",), "open the inspector on the built-in mock agent, with a tour", _demo, ""),
    Command(("open",), "open the inspector on a recording of an earlier session", _open, ""),
    Command(("show",), "show the records of a recording", _show, "inspector.cli.show:show"),
    Command(("mock",), "run the built-in mock agent", _mock, "inspector.cli.mock:run"),
    Command(("card", "get"), "show an agent's card", _card_get, "inspector.cli.card:get"),
    Command(("lint",), "say what is wrong with a card", _lint, "inspector.cli.lint:lint"),
    Command(("rules",), "list the rules that findings come from", _rules, "inspector.cli.rules:rules"),
    Command(("send",), "send a message and wait for what comes of it", _send, "inspector.cli.send:send"),
    Command(("task", "get"), "show a task", _task_get, "inspector.cli.task:get"),
    Command(("task", "cancel"), "cancel a task", _task_cancel, "inspector.cli.task:cancel"),
    Command(("task", "list"), "list tasks", _task_list, "inspector.cli.task_list:list_tasks"),
    Command(("task", "subscribe"), "listen to a task again", _task_subscribe, "inspector.cli.subscribe:subscribe"),
    Command(("task", "push-config", "set"), "have a task pushed to a url", _push_set, f"{_PUSH}:set_config"),
    Command(("task", "push-config", "get"), "show where a task is pushed to", _push_one, f"{_PUSH}:get_config"),
    Command(("task", "push-config", "list"), "list where a task is pushed to", _push_list, f"{_PUSH}:list_configs"),
    Command(("task", "push-config", "delete"), "end such pushes", _push_one, f"{_PUSH}:delete_config"),
    Command(("push", "set"), "the same as task push-config set", _push_set, f"{_PUSH}:set_config"),
    Command(("push", "get"), "the same as task push-config get", _push_one, f"{_PUSH}:get_config"),
    Command(("push", "list"), "the same as task push-config list", _push_list, f"{_PUSH}:list_configs"),
    Command(("push", "delete"), "the same as task push-config delete", _push_one, f"{_PUSH}:delete_config"),
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
