"""The options of an agent that is selected while a program runs: in the app, or by an MCP tool."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from inspector import agents_file
from inspector.agents_file import NamedAgent
from inspector.cli.arguments import Parser, invocation
from inspector.options import Options
from inspector.settings_file import load

_CREDENTIALS = frozenset(
    {"bearer", "basic", "api_key", "client_cert", "client_key", "client_passphrase", "headers", "svc_params"}
)
_OPTIONS = _CREDENTIALS | {setting.option for setting in agents_file.SETTINGS}


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


def options_of_selected(base: Options, prior: Collection[str], agent: NamedAgent) -> Options:
    """Return the options for an agent that was selected in the app; `base` are those of the app. Raises `FaultError`.

    The agent gets the credentials of its definition only. Other options in `prior` have priority over the definition:
    they are from the command line, the environment or the `.env` file of the folder.
    """
    trust = base.trust if "trust" in prior else ()
    own = options_of_agent(agent)
    if own.named_by and trust:
        own = options_of_agent(agent, trust)
    options = {name: getattr(own, name) for name in _OPTIONS if name in _CREDENTIALS or name not in prior}
    options |= {"reference": own.reference, "trust": tuple(dict.fromkeys((*own.trust, *trust)))}
    return replace(base, **options, named_by=own.named_by, withheld=own.withheld)
