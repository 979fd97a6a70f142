"""Parse the command line: options with their environment variables (a2a-cli 0.2 section 7.2) and defaults."""

from __future__ import annotations

import argparse
import gc
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from inspector.agents_file import NAME, REFERENCE, NamedAgent, NamedAgents, load_agents, resolved
from inspector.cli import values
from inspector.cli.errors import usage
from inspector.cli.nearest import nearest
from inspector.cli.output import Output
from inspector.cli.styles import WHEN
from inspector.env_files import PREFIX, EnvFiles
from inspector.garbage_collection import freeze_loaded_modules
from inspector.options import Options
from inspector.protocol.errors import FaultError
from inspector.settings_file import Stored, meaning_of

PROGRAM = "a2a-inspect"
FLAG = "option"
"""The source of an option on the command line; other sources are named by their place."""
_CHOICES = re.compile(r"'(?P<value>[^']*)'.*?(?:choose from|is not one of) (?P<known>.+)")
"""What errors about a value contain, both ours and those of argparse."""
_SPELLING = re.compile(r"(-\S+(?: -\S+)*)(?: (.+))?")


@dataclass(frozen=True, slots=True)
class Invocation:
    """A parsed command line: `options` has the options that all commands share, `given` all options of the command."""

    options: Options
    given: argparse.Namespace
    json: bool = False
    verbose: bool = False
    debug: bool = False


class Parser(argparse.ArgumentParser):
    """Parses the options of one command, from the command line and from the environment."""

    def __init__(self, command: str, description: str, **more: Any) -> None:
        super().__init__(
            prog=f"{PROGRAM} {command}".strip(),
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **more,
        )
        self.color = False  # Python 3.14 colours the help by default
        self._lists: dict[str, Callable[[str], Sequence[str]]] = {}
        self._variables: dict[str, argparse.Action] = {}
        self._defaults: dict[str, Any] = {}
        self._argument_hint = ""
        self._agents: Callable[[], NamedAgents] | None = None
        self._uses_default = False

    @property
    def variables(self) -> Mapping[str, argparse.Action]:
        """Return the environment variables, and the options that they set."""
        return self._variables

    def value(
        self,
        spelling: str,
        description: str,
        read: Callable[[str], Any] | None = None,
        *,
        group: argparse._ActionsContainer | None = None,
        split: Callable[[str], Sequence[str]] | None = None,
        default: Any = None,
        **more: Any,
    ) -> None:
        """Add an option with a value, which an environment variable can set, too.

        `spelling` is `-n --name METAVAR`, `description` the help text, `read` parses the value. An option with `split`
        can be repeated; `split` splits the environment variable into values.
        """
        found = _SPELLING.fullmatch(spelling)
        if found is None:
            raise ValueError(f"not an option with a metavar: {spelling}")
        flags, metavar = found[1].split(), found[2] or None
        kind = "append" if split else "store"
        action = (group or self).add_argument(
            *flags, action=kind, metavar=metavar, help=description, type=read or str, **more
        )
        self._defaults[action.dest] = default
        for flag in flags:
            if flag.startswith("--"):
                variable = PREFIX + flag.removeprefix("--").upper().replace("-", "_")
                self._variables[variable] = action
                if split is not None:
                    self._lists[variable] = split

    def switch(
        self, flags: str, description: str, *, group: argparse._ActionsContainer | None = None, **more: Any
    ) -> None:
        """Add an option without a value."""
        (group or self).add_argument(*flags.split(), action="store_true", help=description, **more)

    def read(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        stored: Callable[[], Stored] = lambda: Stored(Path()),
        files: EnvFiles | None = None,
        agent: NamedAgent | None = None,
    ) -> argparse.Namespace:
        """Parse arguments, and read missing values from the environment and from files.

        The order is: the environment, the local `.env`, the agent (`agents.toml`), the `.env` of the user, the settings
        file. `agent` is used instead of a name in the arguments. In the result, `sources` has the place of each option
        that is set, `prior` the names of those that have priority over the agent, and `chosen` the names of the options
        with a value that is not the default of the command. Raises `FaultError` for a mistake in any of them.
        """
        files = files or EnvFiles()
        given, unknown = self.parse_known_intermixed_args(arguments)
        if unknown:
            raise self._unknown(_names(unknown))
        typed = {value for value in (vars(given).get("reference"), vars(given).get("agent_card")) if value}
        if len(typed) > 1:
            hint = "Write the agent only once: as an argument or after -a."
            raise usage("Two different agents were given.", f"{hint} {self._argument_hint}".strip())
        if files.problem is not None:
            raise files.problem
        given.sources = {name: FLAG for name, value in vars(given).items() if _is_given(value)}
        given.of_project, given.agent_name, given.named_by, given.withheld = {}, "", "", False
        self._read_variables(given, environment, lambda name: name)
        self._read_variables(given, files.local.values, files.local.place, is_project=files.local.is_found)
        given.prior = frozenset(given.sources)
        self._read_agent(given, agent)
        before = vars(given).get("agent_card")
        self._read_variables(given, files.user.values, files.user.place)
        if before is None:
            self._read_agent(given)
        self._read_stored(given, stored())
        if place := given.of_project.get("reference") or given.of_project.get("agent_card"):
            from inspector.cli.project_agent import restrict  # noqa: PLC0415 - few commands need it

            restrict(given, place, given.of_project)
        given.chosen = frozenset(name for name in self._defaults if getattr(given, name) is not None)
        for name, default in self._defaults.items():
            if getattr(given, name) is None:
                setattr(given, name, default)
        return given

    def default_of(self, action: argparse.Action) -> Any:
        """Return the value of an option that is not given."""
        return self._defaults.get(action.dest, action.default)

    def variables_of(self, action: argparse.Action) -> list[str]:
        """Return the names of the environment variables that set an option."""
        return [variable for variable, known in self._variables.items() if known is action]

    def _read_variables(
        self,
        given: argparse.Namespace,
        variables: Mapping[str, str],
        place: Callable[[str], str],
        *,
        is_project: bool = False,
    ) -> None:
        """Read missing values from variables; `place` returns where a variable is set.

        If `is_project`, they are from a file of the project; its references to the environment are not.
        """
        for variable, action in self._variables.items():
            text = variables.get(variable, "")
            if text and getattr(given, action.dest) is None:
                split = self._lists.get(variable)
                where = place(variable)
                shown = variable if where == variable else f"{where}: {variable}"
                values_read = [self._read(shown, action, item) for item in (split(text) if split else [text])]
                setattr(given, action.dest, values_read if split else values_read[0])
                given.sources[action.dest] = where
                if is_project and not text.startswith(REFERENCE):
                    given.of_project[action.dest] = where

    def _read_agent(self, given: argparse.Namespace, agent: NamedAgent | None = None) -> None:
        """Replace the name of an agent by its URL, and read missing values from its definition (`agents.toml`)."""
        members = vars(given)
        place = next((name for name in ("reference", "agent_card") if members.get(name)), "")
        # NAME#entry is an entry of a catalog that has a name.
        named, _, entry = (members.get(place) or "").partition("#")
        agent = agent or self._agent_named(named)
        if agent is None or (entry and "#" in agent.url):
            return
        setattr(given, place or "agent_card", f"{agent.url}#{entry}" if entry else agent.url)
        given.agent_name = f"{agent.name}#{entry}" if entry else agent.name
        definition = agent.place("reference")
        given.sources[place or "agent_card"] = definition
        given.of_project.pop(place or "agent_card", None)
        if agent.is_project:
            given.of_project[place or "agent_card"] = definition
        for name, value in resolved(agent):
            action = self._action(name)
            if not _is_given(members.get(name)) and action is not None:
                items = value if isinstance(value, list) else [value]
                try:
                    read = [_parsed(action, item) for item in items]
                except argparse.ArgumentTypeError as error:
                    raise agent.problem(name, str(error), f"what {action.option_strings[-1]} accepts") from error
                setattr(given, name, read if isinstance(value, list) else read[0])
                given.sources[name] = agent.place(name)
                if agent.is_project and not agent.refers(name):
                    given.of_project[name] = agent.place(name)

    def _agent_named(self, name: str) -> NamedAgent | None:
        """Return the agent with a name, or the default agent; None for what is a URL, a host or a path."""
        is_name = self._uses_default if not name else NAME.fullmatch(name) is not None and not Path(name).exists()
        if self._agents is None or not is_name:
            return None
        agents = self._agents()
        return agents.agents.get(name or agents.default)

    def _action(self, name: str) -> argparse.Action | None:
        return next((action for action in self._actions if action.dest == name), None)

    def _read_stored(self, given: argparse.Namespace, stored: Stored) -> None:
        """Read missing values from the settings file; options of other commands are left out."""
        actions = {action.dest: action for action in self._variables.values()}
        for name, value in stored.values.items():
            action = actions.get(name)
            present = getattr(given, name, None)
            if action is None:
                if not present:
                    setattr(given, name, value)
                    given.sources[name] = stored.place(name)
            elif present is None and value != "":
                try:
                    values_read = [_parsed(action, item) for item in (value if isinstance(value, list) else [value])]
                except argparse.ArgumentTypeError as error:
                    raise stored.problem(name, str(error), meaning_of(name)) from error
                given.sources[name] = stored.place(name)
                setattr(given, name, values_read if isinstance(value, list) else values_read[0])
        given.changed_keys = tuple(stored.keys.items())

    def _read(self, variable: str, action: argparse.Action, text: str) -> Any:
        try:
            value = action.type(text) if callable(action.type) else text
        except argparse.ArgumentTypeError as error:
            self.error(f"{variable}: {error}")
        if action.choices is not None and value not in action.choices:
            self.error(f"{variable}: {value!r} is not one of {', '.join(action.choices)}")
        return value

    def error(self, message: str) -> NoReturn:
        """Raise the error for an invalid command line."""
        hint = f"Run {self.prog} --help for the options."
        if found := _CHOICES.search(message):
            known = [name.strip(" '()").partition(" ")[0] for name in found["known"].split(",")]
            cased = {name.lower(): name for name in known}
            hint = "".join(f"Did you mean {cased[name]}? " for name in nearest(found["value"].lower(), cased)) + hint
        raise usage(f"{message[:1].upper()}{message[1:]}.", hint)

    def _unknown(self, names: Sequence[str]) -> FaultError:
        """Return the error for unknown arguments, with similar options."""
        options = [option for option in self._option_string_actions if option.startswith("--")]
        similar = [match for name in names if name.startswith("-") for match in nearest(name, options)]
        hint = f"Did you mean {' or '.join(dict.fromkeys(similar))}? " if similar else ""
        if not names[0].startswith("-"):
            hint = f"{self._argument_hint} ".lstrip()
        return usage(f"Unknown argument: {' '.join(names)}.", f"{hint}Run {self.prog} --help for the options.")

    def accept_names(self, *, default: bool = False) -> None:
        """Accept the name of an agent of `agents.toml`; with `default`, use its default agent if none is given."""
        self._agents, self._uses_default = load_agents, default

    def add_agent(self, *, as_argument: bool = False, hint: str = "", default: bool = True) -> None:
        """Add the option that selects the agent, and an argument that does the same if `as_argument`.

        `hint` is the advice about further arguments. Without `default`, the default agent of `agents.toml` is not used.
        """
        description = "the agent: its URL, the URL of its card, a card file, or its name (agents list)"
        self._argument_hint = hint
        self.accept_names(default=default)
        if as_argument:
            self.add_argument("reference", nargs="?", metavar="URL | PATH", help=description)
            description = "the same as the argument"
        self.value("-a --agent-card URL|PATH", description)

    def add_connection(self, *, capture: bool = True) -> None:
        """Add the options of the connection; with `capture`, also the option that chooses the file of the capture."""
        group = self.add_argument_group(
            "connection",
            "Credentials are sent only to the origin of the URL that you type, and to the origins of --trust.\n"
            "Other users can see options in the list of processes, and the shell stores them in its history, but not\n"
            "A2ACLI_BEARER, A2ACLI_BASIC and A2ACLI_API_KEY.",
        )
        add = partial(self.value, group=group)
        pairs = partial(add, read=values.header, split=split_lines)
        add("--bearer TOKEN", "send Authorization: Bearer TOKEN; TOKEN can be env:NAME", values.bearer)
        basic = "send a user name and a password (Authorization: Basic), or env:NAME"
        add("--basic USER:PASSWORD", basic, values.user_and_password)
        add("--api-key KEY", "send an API key, or env:NAME, where the card requires it", values.token)
        pairs("--header 'NAME: VALUE'", "send a header; repeatable", dest="headers")
        pairs("--svc-param 'NAME: VALUE'", "send a service parameter; repeatable", dest="svc_params")
        certificate = "use this client certificate for TLS (PEM or PKCS#12); asks for a passphrase if it needs one"
        add("--client-cert FILE", certificate, values.file)
        add("--client-key FILE", "the private key of the certificate, unless it is in the same file", values.file)
        variable = "the environment variable with the passphrase of the key"
        add("--client-passphrase env:NAME", variable, values.secret_reference)
        add("--trust ORIGIN", "also send credentials to this origin; repeatable", split=values.words)
        stored_only = "use stored tokens only (auth login); exit with 4 if the agent requires credentials without one"
        self.switch("--stored-auth-only", stored_only, group=group)
        auth_card = "send the credentials with the first request for the card, too (default: after a 401)"
        self.switch("--auth-card", auth_card, group=group)
        order = "repeatable, the preferred first (default: the order of the card)"
        description = f"prefer this binding (JSONRPC, HTTP+JSON, GRPC); {order}"
        add("--transport BINDING", description, values.binding, dest="transports", split=values.words)
        description = "use this protocol version, such as 0.3 or 1.0 (default: the highest on the card, at least 1.0)"
        add("--a2a-version VERSION", description, values.version)
        description = "read options from this .env file instead of the .env file of the folder"
        add("--config FILE", description, values.file)
        add("--timeout DURATION", "stop after this time, such as 30s or 5m (default: never)", values.duration)
        if capture:
            add("--capture FILE", "record all requests and responses in this new file", values.file)
        description = "trust these public keys (JWK Set, JWK or PEM) for signatures of mandates (AP2) and catalogs"
        add("--trusted-keys FILE", description, values.file)
        self.switch("--insecure", "do not verify TLS certificates (default: verify); for development only", group=group)

    def add_receiver(self, *, short: bool = False) -> None:
        """Add the options of the webhook receiver; if `short`, also with names such as `--port`."""
        add = partial(self.value, group=self.add_argument_group("webhook receiver"))
        host, port, certificate, key = (
            f"--{name} --receiver-{name}" if short else f"--receiver-{name}" for name in ("host", "port", "cert", "key")
        )
        description = "listen at this address (default: 127.0.0.1)"
        add(f"{host} ADDRESS", description, default="127.0.0.1", dest="receiver_host")
        description = "listen at this port (default: 0, any free port)"
        add(f"{port} PORT", description, values.port, default=0, dest="receiver_port")
        add("--public-url URL", "register this URL instead of the address above, for a tunnel or a container")
        description = "serve HTTPS with this certificate (PEM)"
        add(f"{certificate} FILE", description, values.file, dest="receiver_cert")
        add(f"{key} FILE", "the private key of the certificate (PEM)", values.file, dest="receiver_key")

    def add_format(self, *formats: str) -> None:
        """Add the option that selects the output format; the first format is the default."""
        *others, last = formats
        description = f"output format: {', '.join(others)} or {last} (default: {formats[0]})"
        self.value("-o --output FORMAT", description, choices=formats, default=formats[0])
        self.add_color()

    def add_color(self) -> None:
        """Add the option that selects whether text is styled; `main` reads it before the command line is parsed."""
        description = "style text: auto, always or never (default: auto: on a terminal, unless NO_COLOR is set)"
        self.value("--color WHEN", description, choices=WHEN, default=WHEN[0])

    def add_request(self) -> None:
        """Add the options of a command that sends a request."""
        self.add_findings()
        self.add_output()
        self.add_connection()

    def add_output(self) -> None:
        """Add the options of the output."""
        self.add_format("text", "json")
        self.switch("--verbose", "print all members of messages, tasks and events (default: only the most important)")
        self.switch("--debug", "print requests and responses on stderr, without secrets")

    def add_findings(self) -> None:
        """Add the option that prints findings."""
        self.switch("--findings", "print the findings about each response and event (with -o json: JSON Lines)")

    def add_save(self) -> None:
        """Add the option that saves artifacts."""
        self.value("--save DIR", "save the artifacts in this folder, under safe file names", values.file)

    def add_waiting(self) -> None:
        """Add the options of waiting for a task."""
        description = "time between two requests for the task (default: 2s); increases while the task does not change"
        self.value("--poll-interval DURATION", description, values.duration, default=2.0)
        description = "stop polling when the task has not changed for this time (default: 10m)"
        self.value("--wait-timeout DURATION", description, values.duration, default=600.0)
        self.add_history()

    def add_history(self) -> None:
        """Add the option that limits the history of a task."""
        self.value("--history N", "request at most this many messages of history", values.natural)


class Handler(NamedTuple):
    """A command: how its options are declared, how it runs, and texts for the end of its help.

    `run` returns the exit code. `examples` are command lines, each after a comment (`# ...`) about what it does.
    """

    add_arguments: Callable[[Parser], None]
    run: Callable[[Invocation, Output], int]
    examples: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Deferred:
    """A function that is imported when it is called, so that `--help` does not load the session.

    `path` is `module:name`.
    """

    path: str

    def load(self) -> Callable[[Invocation, Output], int]:
        """Import the function without garbage collection, which would need a tenth of the time of the import."""
        module, _, name = self.path.partition(":")
        gc.disable()
        function: Callable[[Invocation, Output], int] = getattr(import_module(module), name)
        freeze_loaded_modules()
        return function

    def __call__(self, invocation: Invocation, out: Output) -> int:
        """Import the function and call it."""
        return self.load()(invocation, out)


def _is_given(value: object) -> bool:
    """Return whether argparse stored a value that is not the default; 0 is a value."""
    return value is not None and value is not False and value != []


def _parsed(action: argparse.Action, item: object) -> object:
    return action.type(str(item)) if callable(action.type) else item


def _names(unknown: Sequence[str]) -> list[str]:
    """Return the unknown arguments, without the values of options, which may be secrets."""
    if not unknown[0].startswith("-"):
        return [unknown[0]]
    return [argument.partition("=")[0] for argument in unknown if argument.startswith("-")]


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
