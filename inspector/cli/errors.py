"""Errors: JSON envelope and exit codes (a2a-cli specification 0.2, appendix B and section 11.6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.protocol.errors import BY_NAME, Fault, FaultCode, FaultError, ProtocolError, usage_error

OK = 0
FAILURE = 1
USAGE = 2
# 128 plus the number of the signal, as in shells
HUNG_UP = 129
INTERRUPTED = 130
TERMINATED = 143
BROKEN_PIPE = 141

EXIT_CODES = {
    OK: "success; also if the task failed: its state is in the output",
    FAILURE: "failure: the agent returned an error (also a 404 from an interface on the card); "
    "for `doctor` and `lint`: a check failed, or the card has errors; for `card diff`: the cards differ",
    USAGE: "invalid command line",
    3: "agent or card not found: no connection, no TLS, no card, or a proxy that did not reach the agent (502 to 504)",
    4: "credentials are missing or were rejected; for `doctor`: and no other check failed",
    5: "timeout",
    HUNG_UP: "the terminal of the app was closed",
    INTERRUPTED: "interrupted (ctrl+c)",
    TERMINATED: "terminated",
    BROKEN_PIPE: "the reader of the output closed the pipe",
}
"""The meaning of each exit code."""

_EXITS: dict[str, int] = {
    FaultCode.USAGE: USAGE,
    FaultCode.CARD_NOT_FOUND: 3,
    FaultCode.UNREACHABLE: 3,
    FaultCode.CREDENTIALS_MISSING: 4,
    FaultCode.AUTH_FAILED: 4,
    FaultCode.TIMEOUT: 5,
}


def usage(seen: str, hint: str = "") -> FaultError:
    """Return the error for an invalid command line."""
    return usage_error(seen, hint)


def refuse_url(path: Path, expected: str, hint: str) -> None:
    """Raise `FaultError` if a URL was entered in the place of a file; `expected` is what the file has to be."""
    scheme, slash, rest = str(path).partition(":/")  # `Path` keeps one of two slashes
    if slash and scheme in ("http", "https"):
        raise usage(f"{scheme}://{rest} is a URL, not {expected}.", hint)


def exit_code(fault: Fault) -> int:
    """Return the exit code of a fault."""
    return _EXITS.get(fault.code, FAILURE)


def envelope(fault: Fault) -> dict[str, Any]:
    """Return a fault as a JSON object; an error code that no specification defines becomes INTERNAL."""
    is_known = fault.code in BY_NAME or fault.code in list(FaultCode)
    return {
        "error": {
            "code": str(fault.code if is_known else FaultCode.INTERNAL.value),
            "message": fault.seen,
            "hint": fault.hint or None,
            "a2aCode": _transport_code(fault.error) if fault.error else None,
        }
    }


def _transport_code(error: ProtocolError) -> int | str | None:
    """Return the code of an error in its binding: that of JSON-RPC, else its gRPC status or its HTTP status."""
    return error.code if error.code is not None else error.called or error.status or None
