"""`config show`: print the effective options."""

from __future__ import annotations

from inspector.cli.arguments import Deferred, Handler, Parser
from inspector.cli.commands.screen import add_appearance

_NOTES = """\
The order, highest first: an option, an environment variable, the .env file of the folder (or of --config), the agent in
agents.toml, the .env file of the user, the settings file of the user, the default. Secrets are masked.

This command changes nothing: edit the files, or set the variables."""

_EXAMPLES = """\
# Print the options that a command would use, and where they come from
a2a-inspect config show -a http://localhost:9000
# Print them as JSON
A2ACLI_TIMEOUT=30s a2a-inspect config show -o json
# Print the options of another file
echo 'A2ACLI_TIMEOUT=1m' > staging.env
a2a-inspect config show --config staging.env"""


def add_arguments(parser: Parser) -> None:
    """Add the options that are printed: those of commands that connect to an agent."""
    parser.add_agent()
    parser.add_waiting()
    parser.add_output()
    parser.add_connection()
    parser.add_receiver()
    add_appearance(parser)


HANDLER = Handler(add_arguments, Deferred("inspector.cli.config:show"), _EXAMPLES, _NOTES)
