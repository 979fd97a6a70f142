"""`mock`: run the built-in mock agent."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser

_HELP = """\
The first line that it prints is its url, the second where it speaks gRPC; in a terminal, what happens follows. 0.1 has
JSON-RPC alone. With --protocol-versions 0.3,1.0 the card has both shapes in one, and only that of the version that a
request names (A2A-Version). Each further version also has its card below its path, for clients that know no other way
to it."""


def _add_arguments(parser: Parser) -> None:
    parser.value("--host ADDRESS", "where to listen (default: 127.0.0.1)", default="127.0.0.1")
    parser.value("--port PORT", "at which port (default: 0, a free one)", values.port, default=0)
    parser.value("--grpc-port PORT", "at which port for gRPC (default: 0, a free one)", values.port, default=0)
    parser.value(
        "--protocol-versions LIST",
        "which to serve of 1.0, 0.3, 0.2, 0.1 and opvs, the main one first; "
        "the others each have a path of their own, like /v0.3 (default: 1.0)",
        values.words,
        default=("1.0",),
    )
    parser.value(
        "--spec",
        "the release of 1.0 whose statuses errors have (default: 1.0.1)",
        choices=("1.0.0", "1.0.1"),
        default="1.0.1",
    )
    parser.value(
        "--capabilities LIST",
        "what it can do of streaming, push and extended-card; all, none (default: streaming,push)",
        values.words,
        default=("streaming", "push"),
    )
    _add_behaviour(parser)
    _add_security(parser)
    parser.switch("--verbose", "say on stderr what happens")
    parser.epilog = _HELP


def _add_behaviour(parser: Parser) -> None:
    parser.value("--require-extension URI", "demand this extension of every call", default="")
    parser.value("--card FILE", "serve this card in place of its own", values.file)
    parser.value("--state FILE", "keep its tasks in this file, made where it is not", values.file)
    parser.value(
        "--scenario PATH",
        "act by this scenario too, or by those in this folder; read again when they change; repeatable",
        values.file,
        split=str.splitlines,
        default=(),
    )
    parser.value("--fault NAME[:N]", "do this wrong with every call; repeatable", split=str.split, default=())
    parser.switch("--list-faults", "list what it can do wrong, and the finding that gives it away")


def _add_security(parser: Parser) -> None:
    parser.value(
        "--auth KIND",
        "demand credentials: bearer, basic (user mock), api-key:header, api-key:query, api-key:cookie, "
        "or oauth2 (of the client mock: its credentials, a code with PKCE, or a device's)",
        choices=("bearer", "basic", "api-key:header", "api-key:query", "api-key:cookie", "oauth2"),
    )
    parser.value("--secret TEXT", "... and this (default: open-sesame)", values.secret, default="open-sesame")
    parser.value("--cert FILE", "serve over TLS with this certificate (PEM)", values.file)
    parser.value("--key FILE", "... and its key", values.file)
    parser.value(
        "--client-ca FILE", "mutual TLS: admit those alone whose certificate this authority has signed", values.file
    )
    parser.value("--sign", "sign the cards, and pushes that ask for nothing else", choices=("es256", "rs256"))
    parser.value("--pace N", "stretch its pauses (default: 1; 0: none)", values.pace, default=1.0)


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.mock:run"))
