"""The user's own editor, for a text that is being written."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from inspector.tui.notify import notify


def command() -> list[str]:
    """Return the command of the editor: `$VISUAL`, `$EDITOR`, or what every system has."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    return shlex.split(named) if named else ["notepad" if os.name == "nt" else "vi"]


def edit(app: App[Any], text: str, suffix: str = ".txt") -> str | None:
    """Open a text in the editor over the whole terminal and return what was saved, None where that failed.

    The file is only the user's to read, and gone afterwards. What went wrong is notified.
    """
    words = command()
    with tempfile.TemporaryDirectory(prefix="a2a-inspect-") as folder:
        path = Path(folder, f"message{suffix}")
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        try:
            with app.suspend():
                code = subprocess.run([*words, str(path)], check=False).returncode  # noqa: S603 - the user's own editor
        except SuspendNotSupported:
            problem = "This terminal cannot be given to another program."
        except OSError as error:
            problem = f"{words[0]} could not be started: {error.strerror or error}. $EDITOR names another."
        else:
            if code == 0:
                saved = path.read_bytes().decode("utf-8", "surrogateescape")
                # Editors end the last line of a file; what had no such end does not get one from them.
                return saved if text.endswith("\n") else saved.removesuffix("\n")
            problem = f"{words[0]} ended with {code}; the text stays as it was."
    notify(app, problem, "warning")
    return None
