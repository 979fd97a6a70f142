"""Starting the app."""

from __future__ import annotations

import os
import sys
from typing import cast

from inspector.options import Options
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose

SWITCH_SECONDS = 0.001
"""How long a thread waits for the interpreter: the one that reads keys asks for it several times a key."""


def run(options: Options) -> int:
    """Run the inspector in this terminal until the user leaves it, and return its exit code.

    Raises `FaultError` where the terminal cannot draw a screen.
    """
    if os.environ.get("TERM") == "dumb":
        seen = "This terminal says that it cannot draw a screen (TERM=dumb)."
        hint = "Set TERM to what it is, or use card get, send, task get and the others, which need no screen."
        raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, hint))
    from inspector.tui.app import InspectorApp  # noqa: PLC0415 - Textual is loaded when a screen is wanted

    sys.setswitchinterval(SWITCH_SECONDS)
    _read_alt_with_digits()
    app = InspectorApp(options)
    result = app.run()
    return result if result is not None else app.return_code or 0


def _read_alt_with_digits() -> None:
    """Let alt with a digit be just that, so that it can be bound while a text is written.

    Most terminals send it as escape and the digit, which Textual takes for the sign that some Macs type with the two.
    """
    from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # noqa: PLC0415 - Textual is loaded when a screen is wanted

    sequences = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for digit in range(10):
        sequences.pop(f"\x1b{digit}", None)
