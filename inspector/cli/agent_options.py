"""The options of an agent that is selected while a program runs: in the app, or by an MCP tool."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from inspector import agents_file
from inspector.agents_file import NamedAgent
from inspector.cli.arguments import Parser, invocation
from inspector.options import CREDENTIALS, Options
from inspector.settings_file import load

_DEFINED = CREDENTIALS | {setting.option for setting in agents_file.SETTINGS}
"""The options that the definition of an agent can set."""


def options_of_agent(agent: str | NamedAgent, trust: Sequence[str] = ()) -> Options:
    """Return the options for a URL, a name or an agent of `agents.toml`: of its definition and of the settings file.

    `trust` are origins that the user trusts. Raises `FaultError`.
    """
    parser = Parser("agent", "")
    parser.add_agent(default=False)
    parser.add_connection()
    parser.add_receiver()
    words = [f"--trust={origin}" for origin in trust]
    if isinstance(agent, NamedAgent):
        return invocation(parser.read(words, {}, load, agent=agent)).options
    return invocation(parser.read([f"--agent-card={agent}", *words], {}, load)).options


def options_of_selected(base: Options, prior: Collection[str], agent: str | NamedAgent) -> Options:
    """Return the options for an agent that was selected after `base`, which are those of the app or of another agent.

    The agent gets the credentials of its definition only. Other options in `prior` have priority over the definition:
    they are from the command line, the environment or the `.env` file of the folder. Raises `FaultError`.
    """
    trust = base.trust if "trust" in prior else ()
    definition = options_of_agent(agent)
    if definition.named_by and trust:
        definition = options_of_agent(agent, trust)
    options = {name: getattr(definition, name) for name in _DEFINED if name in CREDENTIALS or name not in prior}
    options |= {name: getattr(definition, name) for name in ("reference", "agent_name", "named_by", "withheld")}
    options["trust"] = tuple(dict.fromkeys((*definition.trust, *trust)))
    return replace(base, **options)
