"""`mock`: run the built-in mock agent in the foreground."""

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
from inspector.cli.mock_recording import opened_recording
from inspector.cli.output import Output
from inspector.cli.styles import Role, Styled
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable
from inspector.text.limited_file import read_limited
from inspector.text.sanitise import clean

_PACKAGE = "inspector.sample_agents"
"""Loaded by `import_module`, because type checkers do not find this package: its source is in another folder."""
_TLS_HINT = "Check the files of --cert, --key and --client-ca: each must be a PEM file, the key without a password."
_SUBJECT_WIDTH = len("task 3f2a9c1e")
_COUNTS = ("tasks", "running", "streams")


class _Warnings(logging.Handler):
    """Prints the warnings of the agent on stderr."""

    def __init__(self, out: Output) -> None:
        super().__init__(logging.WARNING)
        self._out = out

    def emit(self, record: logging.LogRecord) -> None:
        """Print a warning."""
        self._out.warn(record.getMessage())


def run(invocation: Invocation, out: Output) -> int:
    """Serve until SIGINT or SIGTERM, or list the faults of the agent."""
    given = invocation.given
    if given.list_faults:
        return _list_faults(out)
    console = Console(out, terminal=sys.stdout.isatty(), verbose=invocation.verbose)
    if given.capture is None:
        return _serve(given, out, console, _mock_agent(given, console))
    with opened_recording(given, out) as recording:
        agent = _load("replay.agent").ReplayAgent(recording, pace=given.pace, log=console.log, tls=_tls(given))
        return _serve(given, out, console, agent)


def _mock_agent(given: Namespace, console: Console) -> Any:
    """Return the agent with the scenarios and faults of the options."""
    faults = _faults(given)
    return _load("server").MockAgent(
        _profile(given),
        pace=given.pace,
        log=console.log,
        behaviours=_scenarios(given.scenario),
        state=given.state,
        faults=faults,
        authenticator=_load("authentication").Authenticator(given.auth, given.secret, faults) if given.auth else None,
        signer=_load("signing").Signer(given.sign) if given.sign else None,
        tls=_tls(given),
    )


def _serve(given: Namespace, out: Output, console: Console, agent: Any) -> int:
    """Serve an agent until SIGINT or SIGTERM; raises `FaultError` if it cannot be started."""
    server = _load("server")
    logging.getLogger(_PACKAGE).addHandler(_Warnings(out))
    try:
        server.run(server.ListenAddress(given.host, given.port, given.grpc_port), agent, on_ready=console.ready)
    except _load("task_file").StateFileError as error:
        raise usage(f"{error}.", "Choose another file with --state.") from error
    except OSError as error:
        hint = "Choose another port with --port or --grpc-port; 0 is any free port."
        raise usage(_listen_error(error, given.host, given.port), hint) from error
    return OK


def _load(module: str) -> Any:
    return import_module(f"{_PACKAGE}.{module}")


def _tls(given: Namespace) -> Any:
    """Return the TLS settings, None without TLS; raises `FaultError` for missing options and unusable files."""
    if bool(given.cert) != bool(given.key) or (given.client_ca and not given.cert):
        raise usage("TLS needs both --cert and --key.", "Add the missing option; --client-ca needs both, too.")
    if not given.cert:
        return None
    for file in filter(None, (given.cert, given.key, given.client_ca)):
        try:
            file.open("rb").close()  # the error of `ssl` does not contain the path
        except OSError as error:
            raise usage(f"The TLS file {file} could not be read: {error.strerror}.", _TLS_HINT) from error
    tls = _load("tls").Tls(given.cert, given.key, given.client_ca)
    try:
        tls.context()  # read before listening, so that an error about a file is not taken for one about the port
    except ssl.SSLError as error:
        raise usage(f"TLS could not be set up: {error.reason or error}.", _TLS_HINT) from error
    except OSError as error:
        raise usage(f"A TLS file could not be read: {error.strerror or error}.", _TLS_HINT) from error
    return tls


def _profile(given: Namespace) -> Any:
    """Return the profile of the agent; raises `FaultError` for an unknown name or a card that is not JSON."""
    profile = _load("profile")
    versions = _require_known(given.protocol_versions, profile.VERSIONS, "protocol version")
    if not versions:
        raise usage("No protocol version was given.", f"Known versions: {', '.join(profile.VERSIONS)}.")
    shorthand = {("all",): tuple(profile.Capability), ("none",): ()}
    capabilities = _require_known(
        shorthand.get(given.capabilities, given.capabilities), tuple(profile.Capability), "capability"
    )
    return profile.Profile(
        versions=versions,
        release=given.spec,
        capabilities=frozenset(map(profile.Capability, capabilities)),
        required=given.require_extension,
        card=None if given.card is None else _card(given.card),
    )


def _scenarios(paths: Iterable[Path]) -> Any:
    """Load the built-in scenarios and those at some paths; raises `FaultError` for an invalid scenario."""
    scenarios = _load("scenario.catalog").Scenarios(tuple(paths))
    try:
        scenarios.load()
    except _load("scenario.toml_table").ScenarioError as error:
        raise usage(str(error), "docs/mock.md describes scenarios.") from error
    return scenarios


def _faults(given: Namespace) -> tuple[Any, ...]:
    """Return the faults of the agent; raises `FaultError` for an unknown fault, and for one that needs --auth."""
    names = _load("faults.names")
    try:
        faults = tuple(names.parse_fault(name) for name in given.fault)
    except names.UnknownFaultError as error:
        raise usage(str(error), "--list-faults lists the faults.") from error
    for active in faults:
        if active.fault.level.needs_authorization_server and given.auth not in ("oauth2", "oidc"):
            raise usage(f"The fault {active.fault.name} is about OAuth 2.0.", "Add --auth oauth2 or --auth oidc.")
        if active.fault.level.needs_authentication and not given.auth:
            raise usage(f"The fault {active.fault.name} is about authentication.", "Add --auth.")
    return faults


def _list_faults(out: Output) -> int:
    """Print each fault with the rule that finds it."""
    faults = _load("faults.names").FAULTS.values()
    calls = {fault.name: f"{fault.name}[:N]" if fault.number else fault.name for fault in faults}
    width, finding = max(map(len, calls.values())), max(len(fault.finding) for fault in faults)
    for fault in faults:
        number = f" (N: {fault.number}, default {fault.default:g})" if fault.number else ""
        out.write(f"{calls[fault.name]:<{width}}  {fault.finding or '-':<{finding}}  {fault.description}{number}\n")
    return OK


def _require_known(words: Iterable[str], known: Iterable[str], kind: str) -> tuple[str, ...]:
    """Return the words without duplicates; raises `FaultError` for an unknown word."""
    for word in words:
        if word not in known:
            raise usage(f"{word!r} is not a {kind} of the mock agent.", f"Known values: {', '.join(known)}.")
    return tuple(dict.fromkeys(words))


def _card(path: Path) -> bytes:
    try:
        raw = read_limited(path)
    except OSError as error:
        raise usage(
            f"The card file {path} could not be read: {error.strerror}.", "Check the path of --card."
        ) from error
    value = parse(raw)
    if isinstance(value, Unreadable):
        raise usage(f"The card file {path} could not be read: {value.why}.", "A card is a JSON object in UTF-8.")
    return raw


def _listen_error(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is already in use."
    if error.errno == errno.EACCES:
        return f"Permission to listen at {host} port {port} was denied."
    return f"Listening at {host} failed: {error.strerror or error}."


class Console:
    """Prints the log of an agent; on a terminal in columns: time, counts (`_COUNTS`), subject and text.

    Without a terminal the log is printed on stderr if `verbose`, else not at all.
    """

    def __init__(self, out: Output, *, terminal: bool, verbose: bool) -> None:
        self._out = out
        self._terminal = terminal
        self._verbose = verbose
        self._agent: Any = None

    def ready(self, agent: Any) -> None:
        """Print the url of the agent, and on the second line its gRPC target if there is one."""
        self._agent = agent
        self._out.write(f"{agent.url}\n")
        if agent.grpc_target:
            self._out.write(f"gRPC: {agent.grpc_target}\n")
        if self._terminal:
            self._out.write("\n")
            self._out.line(Styled(f"{'time':<8}  {'  '.join(_COUNTS)}", Role.SOFT))
        self._out.flush()

    def log(self, line: str) -> None:
        """Print a log line; its subject ends at the first colon."""
        if not self._terminal:
            if self._verbose:
                self._out.line_to_stderr("mock", line)
            return
        subject, colon, text = line.partition(": ")
        if not colon:
            subject, _, text = line.partition(" ")
        clock = f"{datetime.now().astimezone():%H:%M:%S}"
        load = self._out.render(Styled(f"{clock}  {self._counts()}", Role.SOFT))
        self._out.write(f"{load}  {clean(subject):<{_SUBJECT_WIDTH}}  {clean(text)}".rstrip() + "\n")
        self._out.flush()

    def _counts(self) -> str:
        counts = self._agent.counts if self._agent is not None else (0, 0, 0)
        return "  ".join(f"{count:>{len(name)}}" for name, count in zip(_COUNTS, counts, strict=True))
