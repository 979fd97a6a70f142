"""`mock`: run the built-in mock agent."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser

_HELP = """\
The first line of the output is the URL of the agent, the second its gRPC address. In a terminal, a log of the calls
and tasks follows. 0.1 has JSON-RPC only. Each version after the first has its card below its path, for example
/v0.3/.well-known/agent-card.json. docs/mock.md describes scenarios and faults."""


def _add_arguments(parser: Parser) -> None:
    parser.value("--host ADDRESS", "the address to listen on (default: 127.0.0.1)", default="127.0.0.1")
    parser.value("--port PORT", "the HTTP port (default: 0, a free port)", values.port, default=0)
    parser.value("--grpc-port PORT", "the gRPC port (default: 0, a free port)", values.port, default=0)
    parser.value(
        "--protocol-versions LIST",
        "the protocol versions to serve, the main version first: 1.0, 0.3, 0.2, 0.1, opvs, 1.1 (draft); "
        "the others are served below paths such as /v0.3 (default: 1.0)",
        values.words,
        default=("1.0",),
    )
    parser.value(
        "--spec",
        "the release of 1.0 that defines the HTTP and gRPC statuses of errors (default: 1.0.1)",
        choices=("1.0.0", "1.0.1"),
        default="1.0.1",
    )
    parser.value(
        "--capabilities LIST",
        "the capabilities on the card: streaming, push, extended-card; all or none (default: streaming,push)",
        values.words,
        default=("streaming", "push"),
    )
    _add_behaviour(parser)
    _add_security(parser)
    parser.switch("--verbose", "print the log on stderr")
    parser.epilog = _HELP


def _add_behaviour(parser: Parser) -> None:
    parser.value("--require-extension URI", "require this extension in every call", default="")
    parser.value("--card FILE", "serve this card instead of the generated card", values.file)
    parser.value("--state FILE", "store the tasks in this file; it is created if missing", values.file)
    parser.value(
        "--scenario PATH",
        "add a scenario file or the scenarios in a folder; changed files are reloaded; repeatable",
        values.file,
        split=str.splitlines,
        default=(),
    )
    parser.value("--fault NAME[:N]", "apply a fault to every call; repeatable", split=str.split, default=())
    parser.switch("--list-faults", "list the faults with the finding or error that each causes")


def _add_security(parser: Parser) -> None:
    parser.value(
        "--auth KIND",
        "require credentials: bearer, basic (user mock), api-key:header, api-key:query, api-key:cookie, "
        "or oauth2 (client mock: client credentials, authorization code with PKCE, or device code)",
        choices=("bearer", "basic", "api-key:header", "api-key:query", "api-key:cookie", "oauth2"),
    )
    parser.value(
        "--secret TEXT",
        "the token, password, API key or client secret for --auth (default: open-sesame)",
        values.secret,
        default="open-sesame",
    )
    parser.value("--cert FILE", "use TLS with this certificate (PEM); needs --key", values.file)
    parser.value("--key FILE", "the private key of the certificate (PEM)", values.file)
    parser.value(
        "--client-ca FILE", "mutual TLS: require client certificates that this authority (PEM) has signed", values.file
    )
    parser.value("--sign", "sign the cards, and pushes without configured credentials", choices=("es256", "rs256"))
    parser.value("--pace N", "multiply the pauses by N (default: 1; 0: no pauses)", values.pace, default=1.0)


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.mock:run"))
