"""Logins in tests: a user who allows the login that a command waits for, and no keyring."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import httpx
import keyring
import pytest
from keyring.backends import fail

from inspector.cli.output import Output


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    """Never use the keyring of the machine, in a module that imports this fixture."""
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    yield
    keyring.set_keyring(before)


@contextmanager
def a_user_who_allows() -> Iterator[None]:
    """Open the URL that the program prints, in another thread."""
    done, lines = threading.Event(), list[str]()
    printed = Output.line_to_stderr

    def line_to_stderr(out: Output, label: str, text: str) -> None:
        lines.append(f"{label}: {text}\n")
        printed(out, label, text)

    def run() -> None:
        while not done.wait(0.01):
            found = re.search(r"Log in at: (\S+)", "".join(lines))
            if found:
                httpx.post(found[1], data={"decision": "allow"}, follow_redirects=True)
                return

    thread = threading.Thread(target=run)
    with patch.object(Output, "line_to_stderr", line_to_stderr):
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
