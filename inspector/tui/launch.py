"""Starting the app."""

from __future__ import annotations

import os
import sys

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
    from inspector.tui.keys import read_alt_with_digits  # noqa: PLC0415 - likewise

    sys.setswitchinterval(SWITCH_SECONDS)
    read_alt_with_digits()
    app = InspectorApp(options)
    result = app.run()
    return result if result is not None else app.return_code or 0
