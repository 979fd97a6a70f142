"""Open a URL in the browser of the user, who has asked for it."""

from __future__ import annotations

import os
import sys

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def has_browser() -> bool:
    """Return whether there is a graphical browser; a text browser would take over the terminal."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in _DISPLAYS)


def open_browser(url: str) -> bool:
    """Open a URL of a login; return whether that worked."""
    import webbrowser  # noqa: PLC0415 - only logins need it

    return has_browser() and webbrowser.open(url)
