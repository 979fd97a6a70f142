"""Edit a text in the user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from inspector.protocol.errors import FaultError, usage_error
from inspector.tui.notify import notify


def edit(app: App[Any], text: str, suffix: str = ".txt") -> str | None:
    """Edit a text with `$VISUAL` or `$EDITOR`, and return the saved text.

    The text is in a temporary file that only the user can read. On failure, show a notification and return None.
    """
    if app.is_web:
        notify(app, "$EDITOR cannot be used in a browser: it needs a terminal.", "warning")
        return None
    try:
        raw = text.encode("utf-8", "surrogateescape")
        command = _command()
        with tempfile.TemporaryDirectory(prefix="a2a-inspect-") as folder:
            path = Path(folder, f"message{suffix}")
            path.write_bytes(raw)
            with app.suspend():
                code = _run([*command, str(path)])
            if code == 0:
                saved = path.read_bytes().decode("utf-8", "surrogateescape")
                # Editors add a newline at the end of the file.
                return saved if text.endswith("\n") else saved.removesuffix("\n")
            problem = f"{command[0]} exited with code {code}. The text is unchanged."
    except SuspendNotSupported:
        problem = "This terminal cannot run an editor while a2a-inspect is running."
    except UnicodeEncodeError:
        problem = "The text contains half of a surrogate pair, which cannot be in a file."
    except FaultError as error:
        problem = error.fault.sentence()
    except OSError as error:
        problem = f"The edited text could not be read: {error.strerror or error}. The text is unchanged."
    notify(app, problem, "warning")
    return None


def _command() -> list[str]:
    """Return the words of the command that starts the editor; raises `FaultError`."""
    default = "notepad" if os.name == "nt" else "vi"
    named = (os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()) or default
    try:
        return shlex.split(named)
    except ValueError as error:  # a quote that is not closed
        raise usage_error(f"The command {named} in $EDITOR cannot be read: {error}.", "Correct it.") from error


def _run(command: list[str]) -> int:
    """Run the editor and return its exit code; raises `FaultError` if it cannot be started."""
    try:
        return subprocess.run(command, check=False).returncode  # noqa: S603 - the user's own editor
    except (OSError, ValueError) as error:  # ValueError: a null character
        seen = f"{command[0]} could not be started: {getattr(error, 'strerror', None) or error}."
        raise usage_error(seen, "Set $EDITOR to another editor.") from error
