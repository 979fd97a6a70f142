"""`show`: print the records of a capture."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser
from inspector.session.exporters import RECORD_FORMATS

_NOTES = """\
docs/filter.md describes filters. Write -- before a filter that starts with -, after all options.

With -o json, each record is one line. If a payload is not JSON, or has repeated members or numbers that readers
change, its bytes are in the member raw, as Base64."""

_EXAMPLES = """\
# Record a session, and print its records
a2a-inspect send -a http://localhost:9000 --text 'report 3' --stream --capture session.a2a
a2a-inspect show session.a2a
# Print status updates only, with their payloads
a2a-inspect show session.a2a kind:status --verbose
# Print everything except keep-alives as JSON Lines
a2a-inspect show session.a2a -o json -- -kind:keepalive"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("file", type=values.file, metavar="FILE", help="the capture (*.a2a)")
    parser.add_argument(
        "filter",
        nargs="*",
        default=[],
        metavar="FILTER",
        help="print matching records only: kind:status, 'gap>2s' ...",
    )
    parser.add_format("text", *(form.name for form in RECORD_FORMATS))
    parser.switch("--verbose", "also print headers and payloads")


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.show:show"), _EXAMPLES, _NOTES)
