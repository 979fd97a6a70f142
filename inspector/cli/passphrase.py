"""Ask for a passphrase in the terminal."""

from __future__ import annotations

import os
import sys
from getpass import getpass

from inspector.text.sanitise import clean_line
from inspector.wire.client.client_certificate import PassphraseError

_LONGEST = 200


def ask_passphrase(needed: PassphraseError) -> str:
    """Return the passphrase that the user types; raises the error if there is no terminal."""
    if needed.wrong or not _has_terminal():
        raise needed
    return getpass(f"Passphrase for {clean_line(str(needed.file), _LONGEST)}: ")


def _has_terminal() -> bool:
    """Return whether there is a terminal; the input of the command may be a pipe."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except (OSError, AttributeError):  # AttributeError: Windows has no O_NOCTTY
        return sys.stdin.isatty()
    return True
