"""Read the options of a command: from the command line, the environment (a2a-cli 0.2 section 7.2) and files."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from inspector import PROGRAM
from inspector.agents_file import NAME, REFERENCE, NamedAgent, NamedAgents, load_agents, resolved
from inspector.cli.errors import usage
from inspector.cli.nearest import nearest
from inspector.cli.values import REPORTS
from inspector.env_files import PREFIX, EnvFiles
from inspector.protocol.errors import FaultError
from inspector.settings_file import Stored, meaning_of

FLAG = "option"
"""The source of an option on the command line; other sources are named by their place."""
_CHOICES = re.compile(r"'(?P<value>[^']*)'.*?(?:choose from|is not one of) (?P<known>.+)")
"""What errors about a value contain, both ours and those of argparse."""
_WITHOUT_VALUE = re.compile(r"argument (?:\S+/)?(-\S+): expected one argument")
_SINGLE_HYPHEN = re.compile(r"-[^-]")
_SPELLING = re.compile(r"(-\S+(?: -\S+)*)(?: (.+))?")


class HelpRequested(Exception):  # noqa: N818 - not an error
    """Raised by the option `--help`; the text is the help of the command."""


class OptionReader(argparse.ArgumentParser):
    """Reads the options of one command; `Parser` adds the options that several commands share."""

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
        self._literal: frozenset[str] = frozenset()
        self._agents: Callable[[], NamedAgents] | None = None
        self._uses_default = False

    @property
    def variables(self) -> Mapping[str, argparse.Action]:
        """Return the environment variables, and the options that they set."""
        return self._variables

    @property
    def spellings(self) -> Iterable[str]:
        """Return the names of the options, also of those that no variable sets."""
        return self._option_string_actions

    def value(
        self,
        spelling: str,
        description: str,
        read: Callable[[str], Any] | None = None,
        *,
        group: argparse._ActionsContainer | None = None,
        split: Callable[[str], Sequence[str]] | None = None,
        default: Any = None,
        has_variable: bool = True,
        **more: Any,
    ) -> None:
        """Add an option with a value. If it `has_variable`, an environment variable can set it, too.

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
            if has_variable and flag.startswith("--"):
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
        after = arguments.index("--") + 1 if "--" in arguments else len(arguments)
        # A text cannot be both: what is an option elsewhere in the arguments stays an option.
        self._literal = frozenset(arguments[after:]) - self._option_string_actions.keys()
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

    def _parse_optional(self, arg_string: str) -> Any:
        """Return None for an argument after `--`, which argparse reads again without the `--` before it."""
        return None if arg_string in self._literal else super()._parse_optional(arg_string)

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
        given_already = [name for name, value in members.items() if _is_given(value)]
        for name, value in resolved(agent, given_already):
            action = self._action(name)
            if action is not None:
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

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 - of the library, which would ignore a full disk
        """Raise `HelpRequested` for the option `--help`."""
        raise HelpRequested(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise the error for an invalid command line."""
        hint = f"Run {self.prog} --help for the options."
        if found := _CHOICES.search(message):
            known = [name.strip(" '()").partition(" ")[0] for name in found["known"].split(",")]
            cased = {name.lower(): name for name in known}
            hint = "".join(f"Did you mean {cased[name]}? " for name in nearest(found["value"].lower(), cased)) + hint
            is_report = found["value"] in REPORTS and "--report" in self._option_string_actions
            if is_report and message.startswith("argument -o"):
                hint = f"This is a format of reports: --report {found['value']}=FILE. {hint}"
        if found := _WITHOUT_VALUE.search(message):
            hint = f"Write a value that begins with a hyphen as {found[1]}=VALUE. {hint}"
        raise usage(f"{message[:1].upper()}{message[1:]}.", hint)

    def _unknown(self, names: Sequence[str]) -> FaultError:
        """Return the error for unknown arguments, with similar options."""
        options = [option for option in self._option_string_actions if option.startswith("--")]
        similar = [match for name in names if name.startswith("-") for match in nearest(name, options)]
        hint = f"Did you mean {' or '.join(dict.fromkeys(similar))}? " if similar else ""
        has_filter = any(action.nargs == "*" for action in self._get_positional_actions())
        if has_filter and any(_SINGLE_HYPHEN.match(name) for name in names):
            hint += "Write -- before an argument that begins with a hyphen, after the options. "
        if not names[0].startswith("-"):
            hint = f"{self._argument_hint} ".lstrip()
        return usage(f"Unknown argument: {' '.join(names)}.", f"{hint}Run {self.prog} --help for the options.")

    def accept_names(self, *, default: bool = False) -> None:
        """Accept the name of an agent of `agents.toml`; with `default`, use its default agent if none is given."""
        self._agents, self._uses_default = load_agents, default


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
