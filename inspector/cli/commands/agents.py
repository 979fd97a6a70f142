"""The subcommands of `agents`: `list`, `add`, `remove` and `check`."""

from __future__ import annotations

from functools import partial

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser

_NOTES = """\
docs/command-line.md describes the file. --project uses the file agents.toml of the project (in the current folder or in
a folder above it), otherwise that of the user is used. Secrets are written as env:NAME only."""

_LIST_EXAMPLES = """\
# List all named agents, and where they are defined
a2a-inspect agents list
# The same as JSON
a2a-inspect agents list -o json"""

_ADD_EXAMPLES = """\
# Name an agent, and use it by its name
a2a-inspect agents add staging https://staging.example --bearer env:A2A_STAGING_TOKEN
a2a-inspect send staging --text hello
# Name an agent for everybody who works on the project
a2a-inspect agents add local http://localhost:9000 --transport GRPC --project"""

_REMOVE_EXAMPLES = """\
# Remove the name of an agent
a2a-inspect agents remove staging
# Remove it from the file of the project
a2a-inspect agents remove local --project"""

_CHECK_EXAMPLES = """\
# Fetch the cards of all named agents
a2a-inspect agents check
# Only these
a2a-inspect agents check staging local"""


def _add_list(parser: Parser) -> None:
    parser.add_format("text", "json")


def _add_add(parser: Parser) -> None:
    parser.add_argument("name", type=values.agent_name, metavar="NAME", help="the name: letters, digits, - and _")
    parser.add_argument("url", metavar="URL | PATH", help="the URL of the agent or of its card, or a card file")
    _add_project(parser)
    # No environment variables: they, and the settings, are for the commands that use an agent.
    add = partial(parser.value, has_variable=False)
    add("--a2a-version VERSION", "use this protocol version", values.version)
    add("--transport BINDING", "prefer this binding; repeatable", values.binding, split=values.words, dest="transports")
    add("--trust ORIGIN", "also send credentials to this origin; repeatable", split=values.words)
    add("--timeout DURATION", "stop waiting after this time", values.duration_text)
    add("--bearer env:NAME", "the environment variable with the bearer token", values.secret_reference)
    add("--basic env:NAME", "the environment variable with USER:PASSWORD", values.secret_reference)
    add("--api-key env:NAME", "the environment variable with the API key", values.secret_reference)
    add("--header 'NAME: VALUE'", "send a header; repeatable", values.header, split=str.splitlines, dest="headers")
    add("--receiver-port PORT", "receive webhooks at this port", values.port)
    add("--public-url URL", "register this URL for webhooks")


def _add_project(parser: Parser) -> None:
    parser.switch("--project", "use the file of the project: agents.toml")


def _add_remove(parser: Parser) -> None:
    parser.add_argument("name", type=values.agent_name, metavar="NAME", help="the name of the agent")
    _add_project(parser)


def _add_check(parser: Parser) -> None:
    parser.add_argument("names", nargs="*", type=values.agent_name, metavar="NAME", help="the agents (default: all)")
    parser.add_format("text", "json")


LIST = Handler(_add_list, Deferred("inspector.cli.agents:list_agents"), _LIST_EXAMPLES, _NOTES)
ADD = Handler(_add_add, Deferred("inspector.cli.agents:add"), _ADD_EXAMPLES, _NOTES)
REMOVE = Handler(_add_remove, Deferred("inspector.cli.agents:remove"), _REMOVE_EXAMPLES, _NOTES)
CHECK = Handler(_add_check, Deferred("inspector.cli.agents:check"), _CHECK_EXAMPLES, _NOTES)
