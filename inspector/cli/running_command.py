"""A running command: its options, its output and its session, and what the user is advised to do next."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TypeVar

from inspector import PROGRAM
from inspector.agents_file import FILE_NAME, NAME, load_agents
from inspector.cli.arguments import Invocation
from inspector.cli.errors import usage
from inspector.cli.nearest import nearest
from inspector.cli.output import Output
from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import Answer
from inspector.protocol.dialects.registry import for_version
from inspector.protocol.errors import INVALID_RESPONSE, Fault, FaultCode, FaultError, FaultKind, Whose
from inspector.protocol.jsonvalue import has_lone_surrogates
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal, short
from inspector.protocol.operations import PUSH, STREAMING, Operation
from inspector.protocol.security import offers_login, requirements
from inspector.protocol.selection import options
from inspector.session.call import Call
from inspector.session.connection import Connection
from inspector.session.credential_options import credential_options
from inspector.session.hints import CHECK_LOG
from inspector.session.login.secret_reference import is_reference
from inspector.session.session import Session
from inspector.text.short_id import short_id
from inspector.text.units import size
from inspector.wire.client.credentials import origin

UNSUPPORTED = "UnsupportedOperationError"
_MOST_NAMES = 3
"""How many names of agents a hint has."""

_CHECK_OPTIONS = "Check --bearer, --basic, --api-key or --header."
"""What to do about rejected credentials if it is not known which the agent requires."""

_Expected = TypeVar("_Expected", bound=Answer)


@dataclass(frozen=True, slots=True)
class RunningCommand:
    """The context of a running command: its options, its output and its session.

    `ends_at` is the time of the event loop at which `--timeout` ends the command, None without the option.
    """

    invocation: Invocation
    out: Output
    session: Session
    ends_at: float | None = None

    def reference(self) -> str:
        """Return the agent as typed; warn if certificates are not verified; raises `FaultError` without an agent."""
        options = self.invocation.options
        if not options.reference:
            hint = (
                f"Add -a URL, or set A2ACLI_AGENT_CARD, or define names in {FILE_NAME}: {PROGRAM} agents add NAME URL."
            )
            raise usage("No agent was given.", hint)
        if options.stored_auth_only and (options.bearer or options.basic or options.api_key):
            raise usage("--stored-auth-only excludes --bearer, --basic and --api-key.", "Leave out one of them.")
        if options.insecure:
            secrets = ", including the credentials" if options.bearer or options.basic or options.api_key else ""
            self.out.warn(f"TLS certificates are not verified: others can read and change the traffic{secrets}")
        return options.reference

    async def connect(self) -> Connection:
        """Fetch the agent's card; raises `FaultError`."""
        try:
            with self.out.progress.waiting(lambda: "waiting for the agent card"):
                connection = await self.session.connect(self.reference())
        except FaultError as error:
            if error.fault.denied and self.session.credentials.current and not self.session.settings.withheld:
                raise FaultError(_credentials_rejected(error.fault)) from error
            raise self.with_names(error) from error.__cause__
        if connection.elsewhere:
            self.out.warn(connection.elsewhere)
        if mistake := connection.found.mistake:
            self.out.warn(f"a part of the card cannot be read and is left out ({mistake}); lint reports the mistakes")
        if has_lone_surrogates(connection.found.raw):
            self.out.warn("the card has half of a surrogate pair in a string, shown as U+FFFD; lint names the string")
        return connection

    def with_names(self, error: FaultError) -> FaultError:
        """Return an error of the network with the names in `agents.toml`, if the agent may be a misspelled name."""
        fault, options, reference = error.fault, self.invocation.options, self.invocation.options.reference or ""
        if fault.whose is not Whose.NETWORK or options.agent_name or NAME.fullmatch(reference) is None:
            return error
        known = list(load_agents().agents)
        names = nearest(reference, known, _MOST_NAMES) or known[:_MOST_NAMES]
        hint = f"{fault.hint} Names in {FILE_NAME}: {', '.join(names)}."
        return FaultError(replace(fault, hint=hint)) if names else error

    async def connect_for(self, *operations: Operation) -> None:
        """Fetch the agent's card, check the interface in use, and check that it offers these operations."""
        await self.connect()
        self.check_interface()
        for operation in operations:
            self.allow(operation)

    def _require_token(self) -> None:
        """Raise `FaultError` if the agent requires credentials and no token is stored for it."""
        connection = self.session.connection
        if connection is not None and requirements(connection.card) and not self.session.credentials.token:
            seen = f"No token is stored for {self.invocation.options.reference}."
            hint = self.login_hint()
            if not offers_login(connection.card):
                hint = f"The agent offers no login: leave out --stored-auth-only. {hint}"
            raise FaultError(Fault(Whose.YOURS, FaultCode.CREDENTIALS_MISSING, seen, hint))

    def login_hint(self) -> str:
        """Return how to get the credentials that the agent requires: the command to log in, or the options."""
        connection = self.session.connection
        if connection is None:
            return ""
        if offers_login(connection.card):
            token, scopes = self.session.credentials.token, self.session.credentials.logins.missing_scopes()
            asked = ["--scope", " ".join(scopes)] if scopes else []
            if token is not None and is_reference(token.client_secret):
                asked += ["--client-secret", token.client_secret]
            return f"Log in: {self.login_command(*asked)}"
        options = credential_options(connection.card)
        return f"Add {options}." if options else ""

    def login_command(self, *options: str) -> str:
        """Return the command that logs in, and stores the token where that of the agent is stored.

        Without a stored token of the agent, it asks for the id of a client.
        """
        known = self.session.credentials.logins.stored.entries(origin(self.session.agent_url))
        client = () if known else ("--client-id", "CLIENT")
        place = ("--store", "file") if known and known[-1].is_in_file else ()
        return self.shell_command("auth", "login", *client, *options, *place)

    def check_interface(self) -> None:
        """Warn about another interface than the requested one, a draft version, and credentials that are not sent.

        Raises `FaultError` if `--stored-auth-only` is given and the required token is not stored.
        """
        choice, credentials, warn = self.session.choice, self.session.credentials.current, self.out.warn
        if self.invocation.options.stored_auth_only:
            self._require_token()
        version, traits, url = choice.dialect.version, choice.dialect.traits, self.session.agent_url
        if traits.experimental:
            warn(f"A2A {version} is a draft; it is used because of --a2a-version")
        requested = [name.upper() for name in self.invocation.options.transports]
        if requested and choice.binding.name not in requested:
            warn(f"{choice.reason}: {choice.binding.name} {version} is used")
        declared = for_version(choice.interface.protocol_version)
        if declared is not None and declared.version not in (version, traits.extends):
            warn(f"the card declares {declared.version} for this interface; {version} is used because of --a2a-version")
        if credentials and not credentials.are_for(url):
            hint = f"log in for it: {self.login_command()}"
            hint = hint if self.session.credentials.only_tokens else f"--trust {origin(url)} allows it"
            warn(f"the credentials are not sent to {origin(url)}: {self.session.credentials.why_withheld}; {hint}")

    def allow(self, operation: Operation) -> None:
        """Warn if the card does not declare an operation; raises `FaultError` if the interface does not have it."""
        session, choice = self.session, self.session.choice
        reason = session.unavailable_reason(operation)
        if not choice.binding.offers(choice.dialect, operation):
            seen = f"The interface in use does not support this: {reason}."
            raise FaultError(Fault(Whose.AGENT, UNSUPPORTED, seen, self._other_interface(operation)))
        if reason := reason or self._undeclared(operation):
            self.out.warn(f"{reason}; the request is sent anyway")

    def _undeclared(self, operation: Operation) -> str:
        """Return a warning if the card does not mention the capability for an operation, else `""`."""
        capabilities = self.session.connection.card.capabilities if self.session.connection else None
        if capabilities is None:
            return ""
        if operation in STREAMING and capabilities.streaming is None:
            return "the card does not declare streaming"
        if operation in PUSH and capabilities.push_notifications is None:
            return "the card does not declare push notifications"
        return ""

    def _other_interface(self, operation: Operation) -> str:
        """Return how to choose the first interface on the card that has an operation, or that there is none."""
        connection = self.session.connection
        for option in options(connection.card) if connection else ():
            if option.dialect and option.binding and option.binding.offers(option.dialect, operation):
                return (
                    f"Use another interface: --transport {option.binding.name} --a2a-version {option.dialect.version}."
                )
        return "No interface on the card has this operation."

    def waiting(self, call: Call) -> AbstractContextManager[None]:
        """Show on stderr what a call waits for, if stderr is a terminal."""
        return self.out.progress.waiting(lambda: self._progress(call))

    def _progress(self, call: Call) -> str:
        upload, task = call.upload, self.session.tasks.get(call.exchange.task_id)
        if 0 < upload.done < upload.total:
            return f"sending the message: {upload.done * 100 // upload.total} % of {size(upload.total)}"
        if task is not None and call.exchange.answer is not None:
            return task_progress(task.id, task.now.state)
        return f"waiting for the response to {call.exchange.context.operation}"

    async def request_state(self, task_id: str) -> None:
        """If findings are printed, send GetTask before an operation: some rules need the state of the task.

        A failure is not an error: the response to the operation itself shows the cause.
        """
        outdated = self.session.choice.dialect.traits.outdated  # these rules apply since 1.0
        if getattr(self.invocation.given, "findings", False) and task_id and not outdated:
            call = self.session.get(task_id, 0)
            with self.waiting(call):
                await call.finish()

    async def call(self, call: Call, *, unsupported_hint: str = "") -> Answer:
        """Complete a call and return the answer; raises `FaultError` if it fails.

        `unsupported_hint` replaces the hint if the agent does not support the operation.
        """
        with self.waiting(call):
            fault = await call.finish()
        if fault is not None:
            hint = unsupported_hint if fault.code == UNSUPPORTED and unsupported_hint else fault.hint
            raise FaultError(self.explain(replace(fault, hint=hint)))
        answer = call.exchange.answer
        if answer is None:
            raise ValueError("a call without a fault has an answer")
        return answer

    async def ask(self, call: Call, expected: type[_Expected], *, unsupported_hint: str = "") -> _Expected:
        """Complete a call and return its answer; raises `FaultError` also for an answer of another type."""
        answer = await self.call(call, unsupported_hint=unsupported_hint)
        if not isinstance(answer, expected):
            raise self.unexpected(call.exchange.context.operation, answer)
        return answer

    def unexpected(self, operation: str, answer: Answer) -> FaultError:
        """Return the error for a readable answer of the wrong type."""
        seen = f"The response to {operation} is a {type(answer).__name__}."
        return FaultError(self.explain(Fault(Whose.AGENT, INVALID_RESPONSE, seen, CHECK_LOG)))

    def explain(self, fault: Fault) -> Fault:
        """Return a fault with a hint for this command line: about rejected or unsent credentials, or `--debug`."""
        credentials = self.session.credentials.current
        login = self.login_hint()
        if fault.code == FaultCode.CREDENTIALS_MISSING and not credentials and login:
            more = "" if login.endswith(".") else ". Or add --bearer or --header."
            return replace(fault, hint=f"{login}{more}")
        if fault.denied and credentials:
            return self._rejected(fault, login) if credentials.are_for(self.session.agent_url) else self._unsent(fault)
        if (fault.error is not None or fault.code == INVALID_RESPONSE) and not self.invocation.debug:
            return replace(fault, hint=f"{fault.hint} Add --debug to see the response.".strip())
        return fault

    def _unsent(self, fault: Fault) -> Fault:
        """Return the fault of a call whose credentials were not sent."""
        return replace(fault, hint=self.session.credentials.unsent_hint(self.session.agent_url, self.login_hint()))

    def _rejected(self, fault: Fault, login: str) -> Fault:
        """Return the fault of a call whose credentials were rejected; a known cause keeps its remedy."""
        rejected = _credentials_rejected(fault)
        if fault.kind is FaultKind.UNEXPLAINED_REJECTION:
            return replace(rejected, hint=self.rejected_hint(fault.hint))
        if fault.kind is not FaultKind.UNEXPLAINED_DENIAL:
            return replace(rejected, hint=f"{fault.hint} {login}".strip())
        return rejected

    def rejected_hint(self, hint: str) -> str:
        """Return the hint about rejected credentials with the options, or the command, for what the card requires."""
        login, connection = self.login_hint(), self.session.connection
        if self.session.credentials.token:
            return f"The agent rejected the token. {login}"
        if connection is None or not login:
            return f"{hint} {_CHECK_OPTIONS}"
        if offers_login(connection.card):
            return f"{hint} {login}"
        return f"{hint.removesuffix('.')}: {credential_options(connection.card)}."

    def shell_command(self, *words: str) -> str:
        """Return a shell command for the same agent, with the connection options of this command.

        An agent of `agents.toml` is named, because its definition has further options, such as its credentials.
        """
        options = self.invocation.options
        connection = [
            *(("--a2a-version", options.a2a_version) if options.a2a_version else ()),
            *(word for name in options.transports for word in ("--transport", name)),
            *(word for origin in options.trust for word in ("--trust", origin)),
            *(("--auth-card",) if options.auth_card else ()),
            *(("--client-cert", str(options.client_cert)) if options.client_cert else ()),
            *(("--client-key", str(options.client_key)) if options.client_key else ()),
            *(("--client-passphrase", options.client_passphrase) if options.client_passphrase else ()),
            *(("--insecure",) if options.insecure else ()),
        ]
        return shlex.join([PROGRAM, *words, "-a", options.agent_name or options.reference or "", *connection])

    def task_command(self, task_id: str, *options: str) -> str:
        """Return a shell command that gets a task, whose id may begin with a hyphen."""
        if task_id.startswith("-"):
            return f"{self.shell_command('task', 'get', *options)} -- {shlex.quote(task_id)}"
        return self.shell_command("task", "get", task_id, *options)

    def task_summary(self) -> str:
        """Return the latest task and its state as text, `""` without a task."""
        for task in self.session.tasks.all()[:1]:
            context = f", context {task.now.context_id}" if task.now.context_id else ""
            return f"task {task.id}{context}, {short(task.now.state) or 'unknown state'}"
        return ""

    def progress_summary(self) -> str:
        """Return what an interrupted command received, as text."""
        if self.session.connection is None and self.invocation.options.reference:
            return "the card of the agent was not received"
        return self.task_summary() or "no task was received"

    def follow_up(self) -> tuple[str, str]:
        """Return a label and the command that continues the latest task; empty if there is nothing to continue."""
        for task in self.session.tasks.all()[:1]:
            if task.now.state == State.AUTH_REQUIRED:
                return "Authorize as the agent describes, then", self.task_command(task.id, "--wait")
            if is_interrupted(task.now.state):
                return "Resume", self.shell_command("send", *option("--task-id", task.id), "--text", "your answer")
            if not is_terminal(task.now.state):
                return "Follow", self.task_command(task.id, "--wait")
        return "", ""


def task_progress(task_id: str, state: str) -> str:
    """Return what a command waits for while a task is running."""
    return f"waiting for task {short_id(task_id)}: {short(state) or 'unknown state'}"


def _credentials_rejected(fault: Fault) -> Fault:
    return replace(
        fault,
        code=FaultCode.AUTH_FAILED.value,
        hint=f"The agent rejected the credentials. {_CHECK_OPTIONS}",
    )


def option(name: str, value: str) -> tuple[str, ...]:
    """Return the words of an option with a value; a value that begins with a hyphen is joined to its option."""
    return (f"{name}={value}",) if value.startswith("-") else (name, value)
