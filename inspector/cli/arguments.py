"""Parse the command line: options with their environment variables (a2a-cli 0.2 section 7.2) and defaults."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from importlib import import_module
from typing import NamedTuple

from inspector.cli import values
from inspector.cli.option_reader import OptionReader
from inspector.cli.output import Output
from inspector.cli.styles import WHEN
from inspector.garbage_collection import freeze_loaded_modules
from inspector.lazy_dataclass import dataclass
from inspector.options import Options


@dataclass(frozen=True, slots=True)
class Invocation:
    """A parsed command line: `options` has the options that all commands share, `given` all options of the command."""

    options: Options
    given: argparse.Namespace
    json: bool = False
    verbose: bool = False
    debug: bool = False


class Parser(OptionReader):
    """Reads the options of one command; each method adds options that several commands share."""

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
        self.value("--save DIR", "save the artifacts in this folder, under safe file names", values.folder)

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
