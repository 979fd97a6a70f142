"""`export`, `import` and `redact`: share captures."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser, split_lines
from inspector.session.exporters import CAPTURE_FORMATS

_NOTES = f"""\
Formats:
{chr(10).join(f"  {form.name:<10} {form.purpose}" for form in CAPTURE_FORMATS)}

A filter chooses exchanges by their records: if one record matches, the whole exchange is written. docs/filter.md
describes filters. An existing file is not overwritten. What a format cannot express is reported on stderr."""

_EXAMPLES = """\
# Record a session, and write its exchanges as curl commands
a2a-inspect send http://localhost:9000 --text 'report 3' --stream --capture session.a2a
a2a-inspect export session.a2a --format curl
# Write the exchanges with a finding to a file
a2a-inspect export session.a2a finding:any --out findings.jsonl
# Send spans to an OpenTelemetry collector on this machine
a2a-inspect export session.a2a --otlp-endpoint http://localhost:4318"""


def _add_capture(parser: Parser) -> None:
    parser.add_argument("file", type=values.file, metavar="CAPTURE", help="the capture (*.a2a)")
    parser.add_argument("filter", nargs="*", default=[], metavar="FILTER", help="only exchanges with a matching record")


def _add_arguments(parser: Parser) -> None:
    _add_capture(parser)
    names = [form.name for form in CAPTURE_FORMATS]
    described = f"the format: {', '.join(names)} (default: by the suffix of --out, or {names[0]})"
    parser.value("-f --format FORMAT", described, choices=names)
    parser.value("--out FILE", "write to this new file instead of stdout", values.file)
    endpoint = "send the spans of otlp-json to this endpoint instead, such as http://localhost:4318"
    parser.value("--otlp-endpoint URL", endpoint)
    header = "send this header to the endpoint, such as an API key; repeatable"
    parser.value("--otlp-header NAME:VALUE", header, values.header, split=split_lines, dest="otlp_headers")
    parser.add_color()


EXPORT = Handler(_add_arguments, Deferred("inspector.cli.export:export"), _EXAMPLES, _NOTES)

_IMPORT_NOTES = """\
A file that `export --format har` wrote becomes the same records again. From files of other programs (browsers,
mitmproxy, Charles), the requests of A2A over JSON-RPC and HTTP+JSON are read, and their secrets are masked.

Without --capture, the capture is created in your captures folder, and its path is printed."""

_IMPORT_EXAMPLES = """\
# Read what a browser exported, and show it
a2a-inspect import traffic.har --capture traffic.a2a
a2a-inspect show traffic.a2a
# Also read the exchanges that are not A2A
a2a-inspect import traffic.har --capture everything.a2a --all"""


def _add_import_arguments(parser: Parser) -> None:
    parser.add_argument("file", type=values.file, metavar="FILE", help="the HAR file")
    parser.value("--capture --out FILE", "write this new capture", values.file)
    parser.switch("--all", "also import exchanges that are not A2A")
    parser.add_format("text", "json")


IMPORT = Handler(
    _add_import_arguments, Deferred("inspector.cli.import_har:import_file"), _IMPORT_EXAMPLES, _IMPORT_NOTES
)

_REDACT_NOTES = """\
The capture is not changed: the copy has its records, without the masked values. Always masked are secrets that are
recognised by their location (headers, parameters of URLs and members of JSON, such as token), and keys and tokens that
are recognised by their form (sk-..., ghp_..., AKIA..., JSON Web Tokens, private keys). Other secrets in texts, such as
passwords, names and data, remain: use --pattern. What it matches, or its first group if it has groups, is masked
everywhere.

With --pseudonyms, ids that look random, hosts and e-mail addresses get other names, such as task-1 and host-1.example.
The same value has the same name everywhere. Names of this machine (localhost, 127.0.0.1) stay. Files in
Base64 are not searched: leave their exchanges out with a filter.

Afterwards the copy is searched for every masked value; if any remains, the copy is deleted."""

_REDACT_EXAMPLES = """\
# Show what would be masked
a2a-inspect redact session.a2a --pseudonyms --pattern 'CUST-[0-9]+' --preview
# Make a copy to share
a2a-inspect redact session.a2a --pseudonyms --pattern 'CUST-[0-9]+' --out shared.a2a"""


def _add_redact_arguments(parser: Parser) -> None:
    _add_capture(parser)
    parser.value("--out FILE", "write the copy to this new capture", values.file)
    parser.switch("--preview", "show what would be masked, and write nothing")
    pattern = "mask what this regular expression matches; repeatable"
    parser.value("--pattern REGEX", pattern, values.pattern, split=split_lines, dest="patterns")
    secret = "mask the value of this environment variable; repeatable"  # noqa: S105 - a description
    parser.value("--secret-env NAME", secret, values.environment_secret, split=values.words, dest="secrets")
    parser.switch("--pseudonyms", "replace ids, hosts and e-mail addresses, the same value always by the same name")
    parser.add_format("text", "json")


REDACT = Handler(_add_redact_arguments, Deferred("inspector.cli.redact:redact"), _REDACT_EXAMPLES, _REDACT_NOTES)
