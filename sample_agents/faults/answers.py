"""What goes wrong with an answer as a whole: it is refused, or it is none of A2A."""

from __future__ import annotations

from dataclasses import replace

from ..errors import CallError
from .fault import Book, Head, Level

_PLAIN = "text/plain"
_PAGE = b"""<!doctype html>
<html><head><title>502 Bad Gateway</title></head>
<body><h1>502 Bad Gateway</h1><p>The proxy received an invalid response.</p></body></html>
"""

CALLS = Book(Level.CALL)
HEADS = Book(Level.HEAD)
BOOKS = (CALLS, HEADS)


@CALLS.fault("error-before", "refuses every message with an internal error, before a stream begins", "InternalError")
def error_before(_: None) -> CallError:
    return CallError("InternalError", "The agent is out of order.")


def _instead(status: int, body: bytes, **headers: str) -> Head:
    return Head(_PLAIN, status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


@HEADS.fault("unauthorized", "answers 401, and says how to come back", "A2ACLI_ERR_CREDENTIALS_MISSING")
def unauthorized(_: Head) -> Head:
    return _instead(401, b"Who are you?", WWW_Authenticate='Bearer realm="mock"')


@HEADS.fault("forbidden", "answers 403", "A2ACLI_ERR_AUTH_FAILED")
def forbidden(_: Head) -> Head:
    return _instead(403, b"Not you.")


@HEADS.fault("too-many", "answers 429 with Retry-After", "A2ACLI_ERR_INTERNAL", number="seconds to stay away", usual=5)
def too_many(_: Head, seconds: float) -> Head:
    return _instead(429, b"Too many requests.", Retry_After=f"{seconds:.0f}")


@HEADS.fault(
    "unavailable", "answers 503 with Retry-After", "A2ACLI_ERR_UNREACHABLE", number="seconds to stay away", usual=5
)
def unavailable(_: Head, seconds: float) -> Head:
    return _instead(503, b"Down for maintenance.", Retry_After=f"{seconds:.0f}")


@HEADS.fault("html", "answers 200 with the page of a proxy", "InvalidAgentResponseError")
def html(_: Head) -> Head:
    return Head("text/html", body=_PAGE)


@HEADS.fault("content-type", "calls JSON text/plain, and a stream JSON", "RPC-005")
def content_type(head: Head) -> Head:
    return replace(head, content_type="application/json" if head.content_type == "text/event-stream" else _PLAIN)
