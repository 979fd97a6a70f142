"""Open a browser for a login, when the user asks for it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping

_OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""The variables of which a graphical session on Linux has one; WSL has BROWSER."""


def browser_problem(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str:
    """Return why no browser can be opened on this machine, `""` if one can."""
    if "SSH_CONNECTION" in environment or "SSH_TTY" in environment:
        return "No browser is opened in an SSH session: it would run on this machine."
    if platform in ("darwin", "win32") or any(environment.get(name) for name in _DISPLAYS):
        return ""
    return "There is no graphical browser here: DISPLAY and BROWSER are not set."


async def open_in_browser(url: str) -> bool:
    """Open a URL in the browser of the user; return whether that worked.

    Another process opens it, because the programs that it starts may write to the terminal.
    """
    if browser_problem():
        return False
    silent = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _OPEN, url, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
    )
    return await process.wait() == 0
