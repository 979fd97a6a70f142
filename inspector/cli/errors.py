"""Failures as the a2a-cli specification 0.2 wants them: the envelope (appendix B) and the exit codes (section 11.6)."""

from __future__ import annotations

from typing import Any

from inspector.protocol.errors import BY_NAME, Fault, FaultCode, FaultError, Whose

OK = 0
FAILURE = 1
USAGE = 2
INTERRUPTED = 130
"""What shells call a program that SIGINT ended."""
TERMINATED = 143
BROKEN_PIPE = 141

_EXITS: dict[str, int] = {
    FaultCode.USAGE: USAGE,
    FaultCode.CARD_NOT_FOUND: 3,
    FaultCode.UNREACHABLE: 3,
    FaultCode.CREDENTIALS_MISSING: 4,
    FaultCode.AUTH_FAILED: 4,
    FaultCode.TIMEOUT: 5,
}


def usage(seen: str, hint: str = "") -> FaultError:
    """Make the error for a command line that cannot be carried out."""
    return FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, hint))


def code_of(fault: Fault) -> str:
    """Return a fault's code; an error of the agent's that no specification names has none better than INTERNAL."""
    return fault.code if fault.code in BY_NAME or fault.code in list(FaultCode) else FaultCode.INTERNAL.value


def exit_code(fault: Fault) -> int:
    """Return the exit code that agrees with a fault."""
    return _EXITS.get(fault.code, FAILURE)


def envelope(fault: Fault) -> dict[str, Any]:
    """Return the one shape of error that the specification defines."""
    return {
        "error": {
            "code": str(code_of(fault)),
            "message": fault.seen,
            "hint": fault.hint or None,
            "a2aCode": fault.error.code if fault.error else None,
        }
    }
