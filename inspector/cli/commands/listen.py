"""`listen`: receive push notifications."""

from __future__ import annotations

from inspector.cli import values
from inspector.cli.arguments import Deferred, Handler, Parser

_EXAMPLES = """\
# Receive deliveries until Ctrl+C
a2a-inspect listen --port 9100
# Reject the first two deliveries with 500, to see whether the agent retries
a2a-inspect listen --port 9100 --fail 500:2
# Wait at most 30 seconds for one delivery, and print it as JSON Lines
a2a-inspect listen --port 9100 --token secret --count 1 --timeout 30s -o json"""


def _add_arguments(parser: Parser) -> None:
    parser.add_receiver(short=True)
    group = parser.add_argument_group("authentication")
    parser.value("--token TOKEN", "require this token (default: a random token)", values.secret, group=group)
    parser.value(
        "--auth SCHEME:CREDENTIALS",
        "require Bearer:TOKEN, Basic:USER:PASSWORD, ApiKey:KEY or HMAC:SECRET (default: Bearer with the token)",
        values.authentication,
        group=group,
    )
    parser.value("--jwks FILE|URL", "require a JWT that is signed by a key of this JWK Set", group=group)
    parser.value("--issuer ISS", "require this issuer (iss) in the JWT", group=group)
    parser.value("--audience AUD", "require this audience (aud) in the JWT", group=group)
    parser.value(
        "--fail RESPONSE[:TIMES]",
        "respond to valid deliveries with a status, such as 500:2 (twice), 429/30 (Retry-After) or 204@5s (delayed), "
        "or with never, reset or truncated; repeatable",
        split=str.split,
    )
    parser.value("--forward URL", "forward accepted deliveries to this URL, unchanged", values.web_url)
    parser.value("--count N", "stop after this many deliveries, accepted or rejected (default: never)", values.positive)
    parser.value(
        "--timeout DURATION",
        "stop after this time, such as 30s or 5m; exit with 5 if fewer than --count deliveries arrived "
        "(default: never)",
        values.duration,
    )
    parser.value("--capture FILE", "record the deliveries in this new file", values.file)
    parser.add_output()


HANDLER = Handler(_add_arguments, Deferred("inspector.cli.listen:listen"), _EXAMPLES)
