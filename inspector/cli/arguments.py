"""Parse the command line: options with their environment variables (section 7.2) and defaults."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from inspector.cli import values
from inspector.cli.errors import usage
from inspector.cli.output import Output
from inspector.options import Options

PROGRAM = "a2a-inspect"
_PREFIX = "A2ACLI_"
_SPELLING = re.compile(r"(-\S+(?: -\S+)*)(?: (.+))?")


@dataclass(frozen=True, slots=True)
class Invocation:
    """A parsed command line: `options` are those of the TUI and of commands, `given` is everything that was typed."""

    options: Options
    given: argparse.Namespace
    json: bool = False
    verbose: bool = False
    debug: bool = False


class Parser(argparse.ArgumentParser):
    """Parses the options of one command, from the command line and from the environment."""

    def __init__(self, words: str, purpose: str, **more: Any) -> None:
        super().__init__(
            prog=f"{PROGRAM} {words}".strip(),
            description=purpose,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **more,
        )
        self.color = False  # Python 3.14 colours the help by default
        self._lists: dict[str, Callable[[str], Sequence[str]]] = {}
        self._variables: dict[str, argparse.Action] = {}
        self._defaults: dict[str, Any] = {}

    def value(
        self,
        spelling: str,
        words: str,
        read: Callable[[str], Any] | None = None,
        *,
        group: argparse._ActionsContainer | None = None,
        split: Callable[[str], Sequence[str]] | None = None,
        default: Any = None,
        **more: Any,
    ) -> None:
        """Add an option with a value, which can be set in the environment too.

        `spelling` is `-n --name METAVAR`, `words` is the help text, `read` parses the value. With `split` the option
        can be repeated, and `split` splits the environment variable into values.
        """
        found = _SPELLING.fullmatch(spelling)
        if found is None:
            raise ValueError(f"not an option and a metavar: {spelling}")
        flags, metavar = found[1].split(), found[2] or None
        kind = "append" if split else "store"
        action = (group or self).add_argument(
            *flags, action=kind, metavar=metavar, help=words, type=read or str, **more
        )
        self._defaults[action.dest] = default
        variable = _PREFIX + flags[-1].removeprefix("--").upper().replace("-", "_")
        self._variables[variable] = action
        if split is not None:
            self._lists[variable] = split

    def switch(self, flags: str, words: str, *, group: argparse._ActionsContainer | None = None, **more: Any) -> None:
        """Add an option without a value."""
        (group or self).add_argument(*flags.split(), action="store_true", help=words, **more)

    def read(self, words: Sequence[str], environment: Mapping[str, str]) -> argparse.Namespace:
        """Parse a command line, and take other values from the environment; raises `FaultError`."""
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
        """Raise the error for an invalid command line."""
        raise usage(f"{message[:1].upper()}{message[1:]}.", f"{self.prog} --help lists the options.")

    def add_agent(self, group: argparse._ActionsContainer | None = None) -> None:
        """Add the option that selects the agent."""
        words = "the agent: its url, the url of its card, or the path of a card file"
        self.value("-a --agent-card REF", words, group=group)

    def add_connection(self) -> None:
        """Add the options of the connection and of the capture."""
        group = self.add_argument_group(
            "connection",
            "Credentials go to the origin that you typed, and to no other. As options they show in the list of "
            "processes\nand in the shell's history; in the environment (A2ACLI_BEARER, A2ACLI_API_KEY) they do not.",
        )
        add = partial(self.value, group=group)
        pairs = partial(add, read=values.header, split=split_lines)
        add("--bearer TOKEN", "send Authorization: Bearer TOKEN", values.secret)
        add("--api-key KEY", "send an API key where the card wants it", values.secret)
        pairs("--header 'NAME: VALUE'", "send a header; repeatable", dest="headers")
        pairs("--svc-param K:V", "send a service parameter; repeatable", dest="svc_params")
        add("--trust ORIGIN", "let credentials go to this origin too; repeatable", split=values.words)
        words = "prefer this binding; repeatable, best first (default: the first on the card that we speak)"
        add("--transport BINDING", words, values.binding, dest="transports", split=values.words)
        add("--a2a-version VERSION", "speak this protocol version (default: that of the interface in use)")
        add("--timeout DURATION", "give up after 30s, 5m ... (default: never)", values.duration)
        add("--capture FILE", "record what crosses the wire in this new file", values.file)
        self.switch("--insecure", "do not check TLS certificates; for development only", group=group)

    def add_receiver(self, prefix: str = "receiver-") -> None:
        """Add the options of the webhook receiver."""
        where = "where to listen (default: 127.0.0.1)"
        self.value(f"--{prefix}host ADDRESS", where, default="127.0.0.1", dest="receiver_host")
        which = "at which port (default: 0, a free one)"
        self.value(f"--{prefix}port PORT", which, values.port, default=0, dest="receiver_port")
        self.value("--public-url URL", "what agents are told instead, for a tunnel or a container")
        https = "speak https there, with this certificate (PEM)"
        self.value(f"--{prefix}cert FILE", https, values.file, dest="receiver_cert")
        key = "the certificate's key, in a file of its own"
        self.value(f"--{prefix}key FILE", key, values.file, dest="receiver_key")

    def add_format(self, *formats: str) -> None:
        """Add the option that selects the output format; the first format is the default."""
        *others, last = formats
        words = f"the format: {', '.join(others)} or {last} (default: {formats[0]})"
        self.value("-o --output", words, choices=formats, default=formats[0])

    def add_request(self) -> None:
        """Add the options of a command that sends a request."""
        self.add_findings()
        self.add_output()
        self.add_connection()

    def add_output(self) -> None:
        """Add the options of the output."""
        self.add_format("text", "json")
        self.switch("--verbose", "show every part and member of what was sent and received")
        self.switch("--debug", "show on stderr what crosses the wire, without secrets")

    def add_findings(self) -> None:
        """Add the option that prints findings."""
        self.switch("--findings", "print what is wrong with the answer, event by event (with -o json: JSON Lines)")

    def add_save(self) -> None:
        """Add the option that saves artifacts."""
        self.value("--save DIR", "save the artifacts in this folder, under clean names", values.file)

    def add_waiting(self) -> None:
        """Add the options of waiting for a task."""
        words = "ask for the task this often, and less often when nothing changes (default: 2s)"
        self.value("--poll-interval DURATION", words, values.duration, default=2.0)
        self.add_history()

    def add_history(self) -> None:
        """Add the option that limits the history of a task."""
        self.value("--history N", "ask for so many messages of history", values.natural)


class Handler(NamedTuple):
    """A command: the function that declares its options, and the function that runs it and returns the exit code."""

    add_arguments: Callable[[Parser], None]
    run: Callable[[Invocation, Output], int]


@dataclass(frozen=True, slots=True)
class Deferred:
    """A function `module:name` that is imported when it is called, so that `--help` does not load the session."""

    place: str

    def load(self) -> Callable[[Invocation, Output], int]:
        """Import the function."""
        module, _, name = self.place.partition(":")
        function: Callable[[Invocation, Output], int] = getattr(import_module(module), name)
        return function

    def __call__(self, invocation: Invocation, out: Output) -> int:
        """Import the function and call it."""
        return self.load()(invocation, out)


def _names(left: Sequence[str]) -> list[str]:
    """Return the unknown words, without the values of options, which may be secrets."""
    if not left[0].startswith("-"):
        return [left[0]]
    return [one.partition("=")[0] for one in left if one.startswith("-")]


def split_lines(text: str) -> list[str]:
    """Split the value of an environment variable into lines."""
    return [line for line in text.splitlines() if line.strip()]


def invocation(given: argparse.Namespace) -> Invocation:
    """Return the parsed command line with its shared options."""
    typed = vars(given)
    shared = {field.name: typed[field.name] for field in fields(Options) if typed.get(field.name)}
    shared |= {name: tuple(value) for name, value in shared.items() if isinstance(value, list)}
    shared |= {"reference": typed.get("reference") or typed.get("agent_card"), "tour": typed.get("tour", True)}
    verbose, debug = bool(typed.get("verbose")), bool(typed.get("debug"))
    return Invocation(Options(**shared), given, json=typed.get("output") == "json", verbose=verbose, debug=debug)
