"""`show`: print the records of a capture."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser
from inspector.session.exporters import RECORD_FORMATS

_HELP = """\
The words of a filter are those of the filter in Traffic (/); one that begins with - goes after --:
a2a-inspect show FILE -- -kind:keepalive. With -o json every record is a line with all that it holds, its payload as
JSON where it is JSON, else its bytes in Base64 (raw)."""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("file", type=values.file, metavar="FILE", help="the capture (*.a2a)")
    parser.add_argument(
        "filter", nargs="*", metavar="FILTER", help="only the records that a filter leaves: kind:status 'gap>2s' ..."
    )
    parser.epilog = _HELP
    parser.add_format("text", *(form.name for form in RECORD_FORMATS))
    parser.switch("--verbose", "show headers and payloads too")


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.show:show"))
