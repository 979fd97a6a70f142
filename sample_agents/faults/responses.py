"""Faults of whole calls: refused calls, and responses that are not A2A."""

from __future__ import annotations

from dataclasses import replace

from ..errors import CallError
from .fault import FaultRegistry, Head, Level

_PLAIN = "text/plain"
_PAGE = b"""<!doctype html>
<html><head><title>502 Bad Gateway</title></head>
<body><h1>502 Bad Gateway</h1><p>The proxy received an invalid response.</p></body></html>
"""

CALLS = FaultRegistry(Level.CALL)
HEADS = FaultRegistry(Level.HEAD)
REGISTRIES = (CALLS, HEADS)


@CALLS.fault("error-before", "rejects every message with an internal error, before a stream begins", "InternalError")
def error_before(_: None) -> CallError:
    return CallError("InternalError", "Fault error-before: the agent rejects every message.")


def _instead(status: int, body: bytes, **headers: str) -> Head:
    return Head(_PLAIN, status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


@HEADS.fault("unauthorized", "responds with 401 and WWW-Authenticate", "A2ACLI_ERR_CREDENTIALS_MISSING")
def unauthorized(_: Head) -> Head:
    return _instead(401, b"Authentication required.", WWW_Authenticate='Bearer realm="mock"')


@HEADS.fault("forbidden", "responds with 403", "A2ACLI_ERR_AUTH_FAILED")
def forbidden(_: Head) -> Head:
    return _instead(403, b"Access denied.")


@HEADS.fault(
    "too-many",
    "responds with 429 and Retry-After",
    "InvalidAgentResponseError",
    number="seconds in Retry-After",
    default=5,
)
def too_many(_: Head, seconds: float) -> Head:
    return _instead(429, b"Too many requests.", Retry_After=f"{seconds:.0f}")


@HEADS.fault(
    "unavailable",
    "responds with 503 and Retry-After",
    "A2ACLI_ERR_UNREACHABLE",
    number="seconds in Retry-After",
    default=5,
)
def unavailable(_: Head, seconds: float) -> Head:
    return _instead(503, b"Down for maintenance.", Retry_After=f"{seconds:.0f}")


@HEADS.fault("html", "responds with 200 and an HTML page, as a proxy does", "InvalidAgentResponseError")
def html(_: Head) -> Head:
    return Head("text/html", body=_PAGE)


@HEADS.fault("content-type", "sends JSON as text/plain, and a stream as application/json", "RPC-005")
def content_type(head: Head) -> Head:
    return replace(head, content_type="application/json" if head.content_type == "text/event-stream" else _PLAIN)
