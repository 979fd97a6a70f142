"""`listen`: receive push notifications."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser


def _add_arguments(parser: Parser) -> None:
    parser.add_receiver("")
    parser.value("--token TOKEN", "the token to ask for (default: a new one)", values.secret)
    parser.value(
        "--auth SCHEME:CREDENTIALS",
        "ask for this: Bearer:…, Basic:user:password, ApiKey:…, HMAC:secret (default: Bearer with the token)",
        values.authentication,
    )
    parser.value("--jwks FILE|URL", "ask for a JWT, signed by a key of this JWK Set")
    parser.value("--issuer ISS", "... and issued by this issuer")
    parser.value("--audience AUD", "... and made for this audience")
    parser.value(
        "--fail ANSWER[:TIMES]",
        "answer good deliveries so: 500:2, 429/30 (Retry-After), 204@5s, never, reset, truncated; repeatable",
        split=str.split,
    )
    parser.value("--forward URL", "hand accepted deliveries on, bytes and headers kept", values.web_url)
    parser.value("--count N", "end after so many deliveries, refused ones too (default: never)", values.positive)
    parser.value(
        "--timeout DURATION",
        "end after 30s, 5m ...; a failure where --count deliveries have not come by then (default: never)",
        values.duration,
    )
    parser.value("--capture FILE", "record what comes in this new file", values.file)
    parser.add_output()


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.listen:listen"))
