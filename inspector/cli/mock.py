"""`mock`: the built-in mock agent in the foreground."""

from __future__ import annotations

import errno
import logging
import ssl
import sys
from argparse import Namespace
from collections.abc import Iterable
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK, usage
from inspector.cli.output import Output
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable
from inspector.text.sanitise import clean

_ROOM = "inspector.sample_agents"
"""Loaded by name: it lies elsewhere in the tree than in the package, where type checkers do not look."""


_TLS_HINT = "--cert, --key and --client-ca name PEM files."


class _Warnings(logging.Handler):
    """Prints what the agent cannot tell its callers: a scenario that makes no sense any more, a failure of its own."""

    def __init__(self, out: Output) -> None:
        super().__init__(logging.WARNING)
        self._out = out

    def emit(self, record: logging.LogRecord) -> None:
        """Print a warning on stderr."""
        self._out.warn(record.getMessage())


def run(invocation: Invocation, out: Output) -> int:
    """Serve until SIGINT or SIGTERM, or list the faults that the agent can have."""
    given = invocation.given
    if given.list_faults:
        return _list_faults(out)
    server = import_module(f"{_ROOM}.server")
    console = Console(out, terminal=sys.stdout.isatty(), verbose=invocation.verbose)
    agent = server.MockAgent(
        _profile(given),
        pace=given.pace,
        log=console.log,
        behaviours=_scenarios(given.scenario),
        state=given.state,
        faults=_faults(given.fault),
        guard=import_module(f"{_ROOM}.authentication").Guard(given.auth, given.secret) if given.auth else None,
        signer=import_module(f"{_ROOM}.signing").Signer(given.sign) if given.sign else None,
        tls=_tls(given),
    )
    logging.getLogger(_ROOM).addHandler(_Warnings(out))
    try:
        server.run(server.Listening(given.host, given.port, given.grpc_port), agent, on_ready=console.ready)
    except import_module(f"{_ROOM}.task_file").StateFileError as error:
        raise usage(f"{error}.", "Choose another file with --state.") from error
    except ssl.SSLError as error:
        raise usage(f"TLS cannot be set up: {error.reason or error}.", _TLS_HINT) from error
    except FileNotFoundError as error:
        raise usage(f"A file of TLS cannot be read: {error.strerror}.", _TLS_HINT) from error
    except OSError as error:
        hint = "Choose another with --port and --grpc-port; 0 takes a free one."
        raise usage(_why(error, given.host, given.port), hint) from error
    return OK


def _tls(given: Namespace) -> Any:
    """Read with what the agent shows itself; refused is one half of it, and clients' certificates without it."""
    if bool(given.cert) != bool(given.key) or (given.client_ca and not given.cert):
        raise usage("TLS takes both --cert and --key.", "--client-ca comes on top of them.")
    if not given.cert:
        return None
    return import_module(f"{_ROOM}.tls").Tls(given.cert, given.key, given.client_ca)


def _profile(given: Namespace) -> Any:
    """Read what the agent is to be; refused are names of nothing, and a card that is not JSON."""
    room = import_module(f"{_ROOM}.profile")
    generations = _known(given.generations, room.GENERATIONS, "generation")
    if not generations:
        raise usage("An agent speaks at least one generation.", f"There is {', '.join(room.GENERATIONS)}.")
    shorthand = {("all",): tuple(room.Capability), ("none",): ()}
    capabilities = shorthand.get(given.capabilities, given.capabilities)
    return room.Profile(
        generations=generations,
        release=given.spec,
        capabilities=frozenset(map(room.Capability, _known(capabilities, tuple(room.Capability), "capability"))),
        required=given.require_extension,
        card=None if given.card is None else _card(given.card),
    )


def _scenarios(paths: Iterable[Path]) -> Any:
    """Read the scenarios that ship and those at some paths; refused is what makes no sense, with its line."""
    choosing, table = import_module(f"{_ROOM}.scenario.catalog"), import_module(f"{_ROOM}.scenario.toml_table")
    scenarios = choosing.Scenarios(tuple(paths))
    try:
        scenarios.load()
    except table.ScenarioError as error:
        raise usage(str(error), "docs/mock.md tells what a scenario holds.") from error
    return scenarios


def _faults(names: Iterable[str]) -> tuple[Any, ...]:
    room = import_module(f"{_ROOM}.faults.names")
    try:
        return tuple(room.named(name) for name in names)
    except room.UnknownFaultError as error:
        raise usage(str(error), "--list-faults lists them.") from error


def _list_faults(out: Output) -> int:
    """Print each fault with what it does, and with what the inspector says about it."""
    faults = import_module(f"{_ROOM}.faults.names").FAULTS.values()
    calls = {fault.name: f"{fault.name}[:N]" if fault.number else fault.name for fault in faults}
    width, finding = max(map(len, calls.values())), max(len(fault.finding) for fault in faults)
    for fault in faults:
        number = f" (N: {fault.number}, {fault.usual:g} unless given)" if fault.number else ""
        out.write(f"{calls[fault.name]:<{width}}  {fault.finding or '-':<{finding}}  {fault.says}{number}\n")
    return OK


def _known(words: Iterable[str], known: Iterable[str], kind: str) -> tuple[str, ...]:
    """Return words, each once, or refuse the first that is not known."""
    for word in words:
        if word not in known:
            raise usage(f"{word!r} is no {kind} of the mock agent.", f"There is {', '.join(known)}.")
    return tuple(dict.fromkeys(words))


def _card(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise usage(f"The card {path} cannot be read: {error.strerror}.") from error
    value = parse(raw)
    if isinstance(value, Unreadable):
        raise usage(f"The card {path} is not JSON: {value.why}.")
    return raw


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use."
    if error.errno == errno.EACCES:
        return f"Listening at port {port} of {host} is not permitted."
    return f"Listening at {host} failed: {error.strerror or error}."


_SUBJECT = len("task 3f2a9c1e")
_COUNTS = ("tasks", "at work", "readers")


class Console:
    """Prints a line for whatever an agent tells: when, how busy the agent is by then, about what, and what.

    Without a terminal there are no columns, and nothing is printed unless `verbose`: then on stderr.
    """

    def __init__(self, out: Output, *, terminal: bool, verbose: bool) -> None:
        self._out = out
        self._terminal = terminal
        self._verbose = verbose
        self._agent: Any = None

    def ready(self, agent: Any) -> None:
        """Say where the agent is: its url on the first line, where it speaks gRPC on the second, if it does."""
        self._agent = agent
        self._out.write(f"{agent.url}\n")
        if agent.grpc_target:
            self._out.write(f"gRPC: {agent.grpc_target}\n")
        if self._terminal:
            self._out.write(f"\n{'time':<8}  {'  '.join(_COUNTS)}\n")
        self._out.flush()

    def log(self, line: str) -> None:
        """Tell one thing that happened; the subject stands before the first colon."""
        if not self._terminal:
            if self._verbose:
                self._out.tell("mock", line)
            return
        subject, colon, said = line.partition(": ")
        if not colon:
            subject, _, said = line.partition(" ")
        clock = f"{datetime.now().astimezone():%H:%M:%S}"
        self._out.write(f"{clock}  {self._load()}  {clean(subject):<{_SUBJECT}}  {clean(said)}".rstrip() + "\n")
        self._out.flush()

    def _load(self) -> str:
        agent = self._agent
        counts = (len(agent.store), agent.running, agent.readers) if agent is not None else (0, 0, 0)
        return "  ".join(f"{count:>{len(name)}}" for name, count in zip(_COUNTS, counts, strict=True))
