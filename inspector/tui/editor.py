"""Edit a text in the user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from inspector.tui.notify import notify


def edit(app: App[Any], text: str, suffix: str = ".txt") -> str | None:
    """Edit a text with `$VISUAL` or `$EDITOR`, and return the saved text.

    The text is in a temporary file that only the user can read. On failure, show a notification and return None.
    """
    if app.is_web:
        notify(app, "$EDITOR cannot be used in a browser: it needs a terminal.", "warning")
        return None
    default = "notepad" if os.name == "nt" else "vi"
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or default)
    with tempfile.TemporaryDirectory(prefix="a2a-inspect-") as folder:
        path = Path(folder, f"message{suffix}")
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        try:
            with app.suspend():
                code = subprocess.run([*command, str(path)], check=False).returncode  # noqa: S603 - the user's own editor
        except SuspendNotSupported:
            problem = "This terminal cannot run an editor while a2a-inspect is running."
        except OSError as error:
            problem = f"{command[0]} could not be started: {error.strerror or error}. Set $EDITOR to another editor."
        else:
            if code == 0:
                saved = path.read_bytes().decode("utf-8", "surrogateescape")
                # Editors add a newline at the end of the file.
                return saved if text.endswith("\n") else saved.removesuffix("\n")
            problem = f"{command[0]} exited with code {code}. The text is unchanged."
    notify(app, problem, "warning")
    return None
