"""`doctor`: check whether an agent works as its card declares."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser

_HELP = """\
Without --message it asks only what changes nothing: the card, and a task that does not exist.

With -o json one document: {"reference", "sound", "steps": [{"name", "good", "seen", "seconds", "remedy", "exchange"}],
"proposals": [{"url", "protocolVersion", "binding", "why", "command"}],
"observed": [{"thing", "declared", "observed", "agree"}]}; good and agree are null where nothing can be told.

It exits with 0 where all is sound, 1 where something is wrong, 3 where there is no agent or no card, 4 where the card
is not shown without credentials."""


def _add_arguments(parser: Parser) -> None:
    agent = parser.add_mutually_exclusive_group()
    agent.add_argument("reference", nargs="?", metavar="REF", help="the agent, as with -a")
    parser.add_agent(agent)
    parser.value("--message TEXT", "send this too, to see how streams and pushes come")
    parser.value("--push TASK", "say why the pushes of this task do not come", values.identifier)
    parser.epilog = _HELP
    parser.add_receiver()
    parser.add_output()
    parser.add_connection()


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.doctor:doctor"))
