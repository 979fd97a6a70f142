"""`mock`: run the built-in mock agent, or serve a recording."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser

_NOTES = """\
The first line of the output is the URL of the agent, the second its gRPC address. In a terminal, a log follows.

With several protocol versions, the first is served at the URL, the others at paths such as /v0.3 with their own cards.
If the first is older than 1.0 and 1.0 is served, too, the card at the URL has the members of both versions. With the
header A2A-Version, a request gets the card of that version only.
Version 0.1 is available over JSON-RPC only."""

_EXAMPLES = """\
# Serve at a fixed port
a2a-inspect mock --port 9000
# Serve two protocol versions
a2a-inspect mock --port 9000 --protocol-versions 1.0,0.3
# Close the connection of a stream after 3 frames
a2a-inspect mock --port 9000 --fault break-off:3
# Serve a recording as fast as possible
a2a-inspect mock --port 9000 --capture session.a2a --pace 0
# Require a bearer token, and serve a signed card
a2a-inspect mock --port 9000 --auth bearer --secret s3cret --sign es256"""


def _add_arguments(parser: Parser) -> None:
    parser.value("--host ADDRESS", "listen at this address (default: 127.0.0.1)", default="127.0.0.1")
    parser.value("--port PORT", "listen at this port (default: 0, any free port)", values.port, default=0)
    parser.value("--grpc-port PORT", "listen for gRPC at this port (default: 0, any free port)", values.port, default=0)
    parser.value(
        "--pace FACTOR",
        "multiply all pauses by this, those of a recording, too (default: 1; 0.5: twice as fast; 0: no pauses)",
        values.pace,
        default=1.0,
    )
    parser.switch("--verbose", "print the log on stderr if stdout is not a terminal")
    parser.add_color()
    _add_recording(parser)
    _add_protocol(parser)
    _add_behaviour(parser)
    _add_security(parser)


def _add_recording(parser: Parser) -> None:
    group = parser.add_argument_group("recording")
    # No environment variable: A2ACLI_CAPTURE is the file in which other commands record.
    group.add_argument(
        "--capture",
        metavar="FILE",
        type=values.file,
        help="serve this recording instead of the built-in agent: requests are matched by their content. Only the "
        "options above and those of TLS can be combined with it",
    )


def _add_protocol(parser: Parser) -> None:
    group = parser.add_argument_group("protocol")
    parser.value(
        "--protocol-versions LIST",
        "serve these protocol versions, the main one first: 1.0, 0.3, 0.2, 0.1, opvs (another name of 1.0), 1.1"
        " (default: 1.0)",
        values.words,
        default=("1.0",),
        group=group,
    )
    parser.value(
        "--spec RELEASE",
        "use the error statuses of this release of A2A 1.0: 1.0.0 or 1.0.1 (default: 1.0.1)",
        choices=("1.0.0", "1.0.1"),
        default="1.0.1",
        group=group,
    )
    parser.value(
        "--capabilities LIST",
        "support these capabilities: streaming, push, extended-card; or all, or none (default: streaming,push)",
        values.words,
        default=("streaming", "push"),
        group=group,
    )
    parser.value("--require-extension URI", "require this extension in every request", default="", group=group)
    parser.value("--card FILE", "serve this card instead of the built-in card", values.file, group=group)


def _add_behaviour(parser: Parser) -> None:
    group = parser.add_argument_group("behaviour")
    parser.value("--state FILE", "keep the tasks in this file, created if missing", values.file, group=group)
    parser.value(
        "--scenario PATH",
        "also use this scenario file, or the scenarios in this folder; reloaded when they change; repeatable",
        values.file,
        split=str.splitlines,
        default=(),
        group=group,
    )
    parser.value(
        "--fault NAME[:N]",
        "make this mistake in every call; --list-faults describes N; repeatable",
        split=str.split,
        default=(),
        group=group,
    )
    parser.switch("--list-faults", "list the faults, and the rule that finds each of them", group=group)


def _add_security(parser: Parser) -> None:
    group = parser.add_argument_group("security")
    parser.value(
        "--auth KIND",
        "require credentials: bearer, basic (user mock), api-key:header, api-key:query, api-key:cookie, oauth2 "
        "(client mock; client credentials, authorization code with PKCE, or device code) or oidc (OpenID Connect)",
        choices=("bearer", "basic", "api-key:header", "api-key:query", "api-key:cookie", "oauth2", "oidc"),
        group=group,
    )
    parser.value(
        "--secret TEXT",
        "the token, password, key or client secret that --auth requires (default: open-sesame)",
        values.secret,
        default="open-sesame",
        group=group,
    )
    parser.value("--cert FILE", "serve TLS with this certificate (PEM)", values.file, group=group)
    parser.value("--key FILE", "the private key of the certificate (PEM)", values.file, group=group)
    parser.value(
        "--client-ca FILE",
        "require client certificates from this authority (mutual TLS)",
        values.file,
        group=group,
    )
    parser.value(
        "--sign ALGORITHM",
        "sign the cards, and the push notifications that have no other authentication: es256 or rs256",
        choices=("es256", "rs256"),
        group=group,
    )


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.mock:run"), _EXAMPLES, _NOTES)
