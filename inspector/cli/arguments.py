"""The command line, read: every option once, with its environment variable (section 7.2) and its default."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

from inspector.cli import values
from inspector.cli.errors import usage
from inspector.options import Options

PROGRAM = "a2a-inspect"
_PREFIX = "A2ACLI_"


@dataclass(frozen=True, slots=True)
class PartSpec:
    """One part of a message as typed: `kind` is text, file, url or data, `value` what was given for it."""

    kind: str
    value: str
    media_type: str = ""
    filename: str = ""
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command as typed: what both faces share in `options`, what is the command's own in `given`."""

    options: Options
    given: argparse.Namespace
    json: bool = False
    verbose: bool = False
    debug: bool = False


class Parser(argparse.ArgumentParser):
    """Reads the options of one command, and those that may stand in the environment."""

    def __init__(self, words: str, purpose: str, **more: Any) -> None:
        super().__init__(
            prog=f"{PROGRAM} {words}".strip(),
            description=purpose,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **more,
        )
        self.color = False  # since 3.14 help is coloured; ours has no control sequences
        self._lists: dict[str, Callable[[str], list[str]]] = {}
        self._variables: dict[str, argparse.Action] = {}
        self._defaults: dict[str, Any] = {}

    def value(
        self,
        *flags: str,
        group: argparse._ActionsContainer | None = None,
        split: Callable[[str], list[str]] | None = None,
        default: Any = None,
        **more: Any,
    ) -> None:
        """Add an option with a value, which the environment may give too; with `split`, one that is repeated."""
        action = (group or self).add_argument(*flags, action="append" if split else "store", **more)
        self._defaults[action.dest] = default
        variable = _PREFIX + flags[-1].removeprefix("--").upper().replace("-", "_")
        self._variables[variable] = action
        if split is not None:
            self._lists[variable] = split

    def switch(self, *flags: str, **more: Any) -> None:
        """Add an option without a value."""
        self.add_argument(*flags, action="store_true", **more)

    def read(self, words: Sequence[str], environment: Mapping[str, str]) -> argparse.Namespace:
        """Read a command line, and from the environment what is not on it; raises `FaultError` where it is no good."""
        given, left = self.parse_known_args(words)
        if left:
            self.error(f"unrecognized: {' '.join(_names(left))}")
        for variable, action in self._variables.items():
            text = environment.get(variable, "")
            if text and getattr(given, action.dest) is None:
                split = self._lists.get(variable)
                read = [self._read(variable, action, one) for one in (split(text) if split else [text])]
                setattr(given, action.dest, read if split else read[0])
        for name, default in self._defaults.items():
            if getattr(given, name) is None:
                setattr(given, name, default)
        return given

    def _read(self, variable: str, action: argparse.Action, text: str) -> Any:
        try:
            value = action.type(text) if callable(action.type) else text
        except argparse.ArgumentTypeError as error:
            self.error(f"{variable}: {error}")
        if action.choices is not None and value not in action.choices:
            self.error(f"{variable}: choose from {', '.join(action.choices)}")
        return value

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise usage(f"{message[:1].upper()}{message[1:]}.", f"{self.prog} --help lists the options.")


_ABOUT_PART = ("media_type", "filename", "metadata")
"""What can be said of the part before."""


class _Part(argparse.Action):
    """Collects the parts of a message in the order in which they stand."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        parts: list[PartSpec] = [*(getattr(namespace, "parts", None) or ())]
        if self.const not in _ABOUT_PART:
            parts.append(PartSpec(str(self.const), values))
        elif not parts or getattr(parts[-1], self.const):
            parser.error(f"{option_string} follows the part that it is about")
        else:
            parts[-1] = replace(parts[-1], **{self.const: values})
        namespace.parts = parts


def _names(left: Sequence[str]) -> list[str]:
    """Return what was not understood without the values of options, which may be secrets."""
    if not left[0].startswith("-"):
        return [left[0]]
    return [one.partition("=")[0] for one in left if one.startswith("-")]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def add_agent(parser: Parser, group: argparse._ActionsContainer | None = None) -> None:
    """Add the option that says which agent."""
    words = "the agent: its url, the url of its card, or the path of a card file"
    parser.value("-a", "--agent-card", group=group, metavar="REF", help=words)


def add_connection(parser: Parser) -> None:
    """Add what both faces ask about connecting."""
    group = parser.add_argument_group(
        "connection",
        "Credentials go to the origin that you typed, and to no other. As options they show in the list of processes\n"
        "and in the shell's history; in the environment (A2ACLI_BEARER, A2ACLI_API_KEY) they do not.",
    )
    add = partial(parser.value, group=group)
    add("--bearer", type=values.secret, metavar="TOKEN", help="send Authorization: Bearer TOKEN")
    add("--api-key", type=values.secret, metavar="KEY", help="send an API key where the card wants it")
    add("--header", type=values.header, split=_lines, metavar="'NAME: VALUE'", help="send a header; repeatable")
    add(
        "--svc-param",
        type=values.header,
        split=_lines,
        metavar="K:V",
        help="send a service parameter; repeatable",
    )
    add("--trust", split=_words, metavar="ORIGIN", help="let credentials go to this origin too; repeatable")
    add(
        "--transport",
        type=values.binding,
        split=_words,
        metavar="BINDING",
        help="prefer this binding; repeatable, best first (default: the first on the card that we speak)",
    )
    add("--a2a-version", metavar="VERSION", help="speak this generation (default: that of the interface in use)")
    add("--timeout", type=values.duration, metavar="DURATION", help="give up after 30s, 5m ... (default: never)")
    add("--capture", type=values.file, metavar="FILE", help="record what crosses the wire in this new file")
    group.add_argument("--insecure", action="store_true", help="do not check TLS certificates; for development only")


def add_receiver(parser: Parser, prefix: str = "receiver-") -> None:
    """Add where the webhook receiver listens."""
    parser.value(f"--{prefix}host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (default: 127.0.0.1)")
    parser.value(
        f"--{prefix}port",
        type=values.port,
        default=0,
        metavar="PORT",
        help="at which port (default: 0, a free one)",
    )
    parser.value("--public-url", metavar="URL", help="what agents are told instead, for a tunnel or a container")
    parser.value(
        f"--{prefix}cert",
        type=values.file,
        metavar="FILE",
        help="speak https there, with this certificate (PEM)",
    )
    parser.value(f"--{prefix}key", type=values.file, metavar="FILE", help="the certificate's key, in a file of its own")


def add_signatures(parser: Parser) -> None:
    """Add whether the signatures of a card are verified, and with which keys."""
    group = parser.add_argument_group(
        "signatures",
        "Keys that are fetched prove that the card and they come from one place; keys of a file, whose card it is.",
    )
    group.add_argument(
        "--verify", action="store_true", help="verify the card's signatures; the command fails where none is valid"
    )
    parser.value(
        "--keys",
        group=group,
        type=values.file,
        metavar="FILE",
        help="... with the keys of this JWK Set, JWK or PEM file",
    )
    group.add_argument(
        "--fetch-keys", action="store_true", help="... with those that they name by jku, on the card's own origin alone"
    )


def add_format(parser: Parser, *formats: str) -> None:
    """Add the choice of a format, the first of which is the usual one."""
    *others, last = formats
    words = f"the format: {', '.join(others)} or {last} (default: {formats[0]})"
    parser.value("-o", "--output", choices=formats, default=formats[0], help=words)


def add_output(parser: Parser) -> None:
    """Add how a headless command prints."""
    add_format(parser, "text", "json")
    parser.switch("--verbose", help="show every part and member of what was sent and received")
    parser.switch("--debug", help="show on stderr what crosses the wire, without secrets")


def add_findings(parser: Parser) -> None:
    """Add that what is wrong with the answers is printed too."""
    parser.switch("--findings", help="print what is wrong with the answer, event by event (with -o json: JSON Lines)")


def add_waiting(parser: Parser) -> None:
    """Add how to wait for a task."""
    parser.value(
        "--poll-interval",
        type=values.duration,
        default=2.0,
        metavar="DURATION",
        help="ask for the task this often, and less often when nothing changes (default: 2s)",
    )
    add_history(parser)


def add_history(parser: Parser) -> None:
    """Add how much of a task's history is asked for."""
    parser.value("--history", type=values.natural, metavar="N", help="ask for so many messages of history")


def add_parts(parser: Parser) -> None:
    """Add the parts of a message, which keep their order."""
    group = parser.add_argument_group("parts", "In the order in which they stand; what is about a part follows it.")
    for flag, kind, metavar, words in (
        ("text", "text", "TEXT", "a text part"),
        ("file", "file", "PATH|URL", "a file part: the content of a file, or a url that the agent fetches"),
        ("file-url", "url", "URL", "a file part: a url that the agent fetches"),
        ("data", "data", "PATH|-", "a data part: JSON from a file or from stdin"),
        ("media-type", "media_type", "TYPE", "the media type of the part before"),
        ("filename", "filename", "NAME", "the file name of the part before"),
        ("part-metadata", "metadata", "JSON", "the metadata of the part before"),
    ):
        group.add_argument(f"--{flag}", action=_Part, const=kind, metavar=metavar, help=words)
    parser.value("--snippet", group=group, type=values.file, metavar="FILE", help="begin with this *.a2a.toml")
    parser.value(
        "--var",
        group=group,
        type=values.variable,
        split=_lines,
        metavar="NAME=VALUE",
        help="put this for {{NAME}} in the snippet (default: the environment's); repeatable",
    )


def add_message(parser: Parser) -> None:
    """Add what a message has besides its parts."""
    group = parser.add_argument_group("message")
    add = partial(parser.value, group=group)
    add("--task-id", type=values.identifier, metavar="ID", help="continue this task")
    add("--context-id", type=values.identifier, metavar="ID", help="start a new task in this context")
    add(
        "--reference-task",
        type=values.identifier,
        split=_words,
        metavar="ID",
        help="refer to this task; repeatable",
    )
    add(
        "--extension",
        type=values.identifier,
        split=_words,
        metavar="URI",
        help="use this extension; repeatable",
    )
    add("--message-id", type=values.identifier, metavar="ID", help="the message's id (default: a new one)")
    add("--message-metadata", type=values.json_text, metavar="JSON", help="the message's metadata, an object")
    add("--metadata", type=values.json_text, metavar="JSON", help="the request's metadata, an object")
    add("--tenant", metavar="NAME", help="the tenant (default: that of the interface)")
    add(
        "--accept",
        type=values.identifier,
        split=_words,
        metavar="TYPE",
        help="accept this media type; repeatable",
    )
    add(
        "--request",
        type=values.file,
        metavar="FILE",
        help="send the request in this file, right or wrong, in place of all that: its first line, headers, "
        "an empty line, the body (--preview http writes one)",
    )
    add(
        "--preview",
        choices=("http", "json", "curl", "httpx"),
        metavar="FORM",
        help="print what would be sent and send nothing: http, json, curl or httpx",
    )


def invocation(given: argparse.Namespace) -> Invocation:
    """Sort what was typed into what both faces share and what is the command's own."""
    typed = vars(given)
    receiver = {name: typed.get(f"receiver_{name}", typed.get(name)) for name in ("host", "port", "cert", "key")}
    options = Options(
        reference=typed.get("reference") or typed.get("agent_card"),
        bearer=typed.get("bearer") or "",
        api_key=typed.get("api_key") or "",
        headers=tuple(typed.get("header") or ()),
        svc_params=tuple(typed.get("svc_param") or ()),
        trust=tuple(typed.get("trust") or ()),
        transports=tuple(typed.get("transport") or ()),
        a2a_version=typed.get("a2a_version") or "",
        insecure=bool(typed.get("insecure")),
        receiver_host=receiver["host"] or "127.0.0.1",
        receiver_port=receiver["port"] or 0,
        receiver_cert=receiver["cert"],
        receiver_key=receiver["key"],
        public_url=typed.get("public_url"),
        timeout=typed.get("timeout"),
        capture=typed.get("capture"),
        tour=not typed.get("no_tour"),
        recording=typed.get("recording"),
        resubscribe=bool(typed.get("resubscribe")),
        ascii=bool(typed.get("ascii")),
        theme=typed.get("theme"),
    )
    return Invocation(
        options,
        given,
        json=typed.get("output") == "json",
        verbose=bool(typed.get("verbose")),
        debug=bool(typed.get("debug")),
    )
