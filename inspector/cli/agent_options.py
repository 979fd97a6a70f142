"""The options of an agent that is chosen while a program runs: by a tool of the MCP server, or in the app."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inspector import agents_file
from inspector.cli.arguments import Parser, invocation
from inspector.options import Options
from inspector.settings_file import load

_CREDENTIALS = ("bearer", "basic", "api_key", "client_cert", "client_key", "client_passphrase", "headers", "svc_params")


def options_of_agent(agent: str, trust: Sequence[str] = ()) -> Options:
    """Return the options for a URL or a name of `agents.toml`: those of its definition and of the settings file.

    `trust` are origins that the user trusts. Raises `FaultError`.
    """
    parser = Parser("agent", "")
    parser.add_agent(default=False)
    parser.add_connection()
    parser.add_receiver()
    words = [f"--agent-card={agent}", *(f"--trust={each}" for each in trust)]
    return invocation(parser.read(words, {}, load)).options


def options_of_name(own: Options, name: str) -> Options:
    """Return the options of a program for another agent, by its name in `agents.toml`; raises `FaultError`.

    The agent gets no credentials but its own. Of the other options, its definition has priority.
    """
    named, unset = options_of_agent(name, own.trust), Options()
    options = {setting.option: getattr(named, setting.option) for setting in agents_file.SETTINGS}
    defined = {option: value for option, value in options.items() if value != getattr(unset, option)}
    credentials = {option: getattr(named, option) for option in _CREDENTIALS}
    return replace(own, **defined | credentials, named_by=named.named_by, withheld=named.withheld)
