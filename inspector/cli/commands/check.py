"""`check`: run check files against an agent."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser, split_lines

_NOTES = """\
A check file has tests in the format of ACTS, the A2A Conformance Test Specification, as YAML or JSON; docs/checks.md
describes it. --transport selects the interfaces: with several, every test runs over each of them.

Every run is recorded: without --capture in a new file, whose name is printed. The numbers of failures are those of
its records: a2a-inspect open FILE shows them.

Exit codes: 0 if no test failed, 1 if a test failed, 2 for an error in a file or an option, 3 if there is no agent.

Output with -o json: the JSON report of ACTS; with several transports, an array of these."""

_EXAMPLES = """\
# Run a file, and write a report for CI
a2a-inspect check suite.acts.yaml -a http://localhost:9000 --report junit=report.xml
# Run the tests of one level over two transports
a2a-inspect check suite.acts.yaml -a http://localhost:9000 --level must --transport JSONRPC --transport HTTP+JSON
# List the tests, and run none
a2a-inspect check suite.acts.yaml --list
# Compare two deployments
a2a-inspect check suite.acts.yaml -a https://agent.example --against https://staging.agent.example
# Run each test 20 times, four at a time
a2a-inspect check suite.acts.yaml -a http://localhost:9000 --trials 20 --jobs 4"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("files", nargs="+", type=values.file, metavar="FILE", help="a check file (YAML or JSON)")
    parser.add_agent(hint="Name the agent after -a.")
    _add_run(parser)


def _add_conformance(parser: Parser) -> None:
    parser.add_agent(as_argument=True)
    _add_run(parser)


def _add_run(parser: Parser) -> None:
    """Add the options of a run."""
    group = parser.add_argument_group("tests")
    value = parser.value
    value(
        "-k --keyword WORD",
        "run tests whose id, name or suite contains this; repeatable",
        group=group,
        split=values.words,
        dest="keywords",
    )
    value("--tag TAG", "run tests with this tag; repeatable", group=group, split=values.words, dest="tags")
    levels = "run tests of this level (must, should, may); repeatable"
    value("--level LEVEL", levels, values.level, group=group, split=values.words, dest="levels")
    parser.switch("--list", "list the tests, and run none", group=group)
    parser.switch("--fail-fast", "start no further test after a failure", group=group)
    value("--jobs N", "run N tests at the same time (default: 1)", values.positive, group=group, default=1)
    trials = "run each test N times, and print the share of passes (default: 1)"
    value("--trials N", trials, values.positive, group=group, default=1)
    limit = "stop a test after this time (default: 60s)"
    value("--test-timeout DURATION", limit, values.duration, group=group, default=60.0)
    against = "run the tests against this agent (URL, card file or name), too, and print what differs"
    value("--against AGENT", against, group=group)
    variable = "the value of {{NAME}} in the files; repeatable"
    value("--var NAME=VALUE", variable, values.variable, group=group, split=split_lines, dest="variables")
    report = "write a report: json, junit, tap or html, to a file or to stdout; repeatable"
    value("--report FORMAT[=FILE]", report, values.report, group=group, split=values.words, dest="reports")
    parser.add_receiver()
    parser.add_output()
    parser.add_connection()


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.check:check"), _EXAMPLES, _NOTES)

_CONFORMANCE_NOTES = """\
The built-in suite has tests that every agent of A2A 1.0 has to pass, whatever its skills are; a test for a capability
is skipped if the card does not declare it. It is a smoke test and not the official TCK: run the files of another suite
with `a2a-inspect check`. --var message=TEXT replaces the message that is sent (hello).

Exit codes and reports are those of `a2a-inspect check`."""

_CONFORMANCE_EXAMPLES = """\
# Run the built-in tests
a2a-inspect conformance http://localhost:9000
# Run only the required tests, and write a report for CI
a2a-inspect conformance http://localhost:9000 --level must --report junit=report.xml
# List the tests
a2a-inspect conformance --list"""

CONFORMANCE = Handler(
    _add_conformance, Deferred("inspector.cli.check:conformance"), _CONFORMANCE_EXAMPLES, _CONFORMANCE_NOTES
)

_MAKE_NOTES = """\
Each conversation of the capture becomes a test; docs/filter.md describes filters, which select exchanges by their
records. Ids are captured, values that vary become matchers, and findings of the recording are allowed. What is left
out is reported on stderr."""

_MAKE_EXAMPLES = """\
# Record an exchange, and make a check of it
a2a-inspect send http://localhost:9000 --text 'report 3' --stream --capture first.a2a
a2a-inspect check make first.a2a > report.acts.yaml
# Compare it with a second recording, to find the values that vary
a2a-inspect check make first.a2a --compare second.a2a > report.acts.yaml
# Only the exchanges of one task
a2a-inspect check make first.a2a "task:$TASK_ID" > report.acts.yaml"""


def _add_make_arguments(parser: Parser) -> None:
    parser.add_argument("file", type=values.file, metavar="CAPTURE", help="the capture (*.a2a)")
    parser.add_argument(
        "filter", nargs="*", default=[], metavar="FILTER", help="use exchanges with a matching record only"
    )
    second = "another recording of the same requests, to find the values that vary; repeatable"
    parser.value("--compare CAPTURE", second, values.file, split=values.words, dest="others")
    parser.add_format("yaml", "json")


MAKE = Handler(_add_make_arguments, Deferred("inspector.cli.check_make:make"), _MAKE_EXAMPLES, _MAKE_NOTES)
