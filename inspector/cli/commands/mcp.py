"""`mcp`: run the MCP server."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser

_NOTES = """\
Tools: doctor, card_lint, send, replay, task, push_diagnose, check, captures, records, record, findings, explain_rule.
They return summaries, and the numbers of records in a capture. Files are read below the current folder only.
Each agent is recorded in a new capture in the captures folder. docs/coding-agents.md describes how coding agents are
configured. Needs: pip install 'a2a-inspect[mcp]'."""

_EXAMPLES = """\
# Serve a coding agent that starts this command, without sending messages
a2a-inspect mcp
# Allow it to send messages and to run checks; the default agent is this one
a2a-inspect mcp http://localhost:9000 --allow-send
# Serve clients on this machine over HTTP; prints the URL and the token
a2a-inspect mcp --http --port 9200"""


def _add_arguments(parser: Parser) -> None:
    parser.add_agent(as_argument=True)
    parser.switch("--allow-send", "allow tools to send messages, to cancel tasks and to run checks")
    group = parser.add_argument_group("HTTP", "Without --http, the server serves one client over stdin and stdout.")
    parser.switch("--http", "serve streamable HTTP at http://127.0.0.1:PORT/mcp", group=group)
    parser.value("--port PORT", "listen at this port (default: 0, any free port)", values.port, group=group, default=0)
    token = "the bearer token of clients, or env:NAME (default: a new one, which is printed)"  # noqa: S105 - a text
    parser.value("--http-token TOKEN", token, values.token, group=group)
    parser.add_connection(capture=False)


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.mcp:mcp"), _EXAMPLES, _NOTES)
