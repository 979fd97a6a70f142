"""Open the URL of a login in a browser, when the user asks for it."""

from __future__ import annotations

import asyncio
import os
import sys

_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def browser_problem() -> str:
    """Return why no browser can be opened, `""` if one can; a text browser would take over the terminal."""
    if sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in _VARIABLES):
        return ""
    return "There is no graphical browser here: DISPLAY and BROWSER are not set."


async def open_in_browser(url: str) -> bool:
    """Open a URL; return whether that worked."""
    import webbrowser  # noqa: PLC0415 - only logins need it

    return not browser_problem() and await asyncio.to_thread(webbrowser.open, url)
