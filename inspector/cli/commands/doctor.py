"""`doctor`: check whether an agent works as its card declares."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Invocation, Parser
from inspector.cli.output import Output

_NOTES = """\
Without --message the doctor sends only requests that change nothing: for the card, and for a task that does not exist.

Exit codes: 0 if no check failed, 1 if a check failed, 3 if there is no agent or no card, 4 if credentials are required.

Output with -o json:
  {"reference", "valid",
   "steps": [{"name", "passed", "message", "seconds", "remedy", "exchange", "denied"}],
   "proposals": [{"url", "protocolVersion", "binding", "reason", "command"}],
   "comparisons": [{"feature", "declared", "observed", "matches"}]}
passed and matches are null if the result is unknown. valid is null if --timeout or Ctrl+C ended the checks: steps has
those that were made. exchange is the number of the request in the capture; denied is whether credentials are missing or
were not accepted."""

_EXAMPLES = """\
# Check an agent without sending a message
a2a-inspect doctor http://localhost:9000
# Also check streaming and push notifications
a2a-inspect doctor http://localhost:9000 --message 'report 3'
# Find out why the push notifications of a task are missing
a2a-inspect doctor http://localhost:9000 --push "$TASK_ID\""""


def _add_arguments(parser: Parser) -> None:
    parser.add_agent(as_argument=True)
    parser.value("--message TEXT", "send this message, and check streaming and push notifications")
    parser.value("--push TASK", "diagnose why push notifications of this task are missing", values.identifier)
    parser.add_receiver()
    parser.add_output()
    parser.add_connection()


def _run(invocation: Invocation, out: Output) -> int:
    """Check an agent, or with `--push` the push notifications of a task."""
    name = "push_doctor:push_doctor" if invocation.given.push else "doctor:doctor"
    return Deferred(f"inspector.cli.{name}")(invocation, out)


HANDLER = Handler(_add_arguments, _run, _EXAMPLES, _NOTES)
