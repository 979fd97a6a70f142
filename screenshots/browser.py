"""Make the picture of the app in a browser, with the script and the environment of the interop tests."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from inspector.sample_agents.server import MockAgent

from inspector.cli.agent_options import options_of_selected
from inspector.options import Options
from inspector.web_server.server import WebServer, serve
from screenshots.stage import STAGED

_INTEROP = Path(__file__).parents[1] / "tests" / "interop"
_PYTHON = Path(__file__).parents[1] / ".interop" / "browser" / "bin" / "python"
_SECONDS = 120


async def take_picture(path: Path) -> None:
    """Write the picture; without the environment, print what is missing."""
    if not _PYTHON.exists() or not (shutil.which("chromium") or shutil.which("google-chrome")):
        print(
            f"{path.name} was not made: it needs Chromium (apt-get install chromium) and make interop", file=sys.stderr
        )
        return
    agent, token = MockAgent(behaviours=STAGED), secrets.token_urlsafe(32)
    options = Options(reference=await agent.start(), theme="dusk")
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    arguments = options, partial(options_of_selected, options, ())
    serving = asyncio.create_task(serve(WebServer(arguments, token, 1), 0, started.set_result))
    try:
        url = f"{await started}/?token={token}"
        command = [_PYTHON, _INTEROP / "browser" / "visit.py", "picture", url, path]
        visiting = partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL, timeout=_SECONDS)
        await asyncio.to_thread(visiting)
        print(f"wrote {path.name}")
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        await agent.stop()
