"""`web`: serve the app to browsers on this machine, with the options of the command line for each visitor."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from inspector.capture.paths import SUFFIX
from inspector.cli.agent_options import options_of_selected
from inspector.cli.arguments import Invocation
from inspector.cli.errors import INTERRUPTED, OK, TERMINATED, usage
from inspector.cli.output import Output
from inspector.cli.signals import on_signal
from inspector.options import Options
from inspector.text.typed_path import typed_path

if TYPE_CHECKING:
    from inspector.web_server.server import WebServer

EXTRA = "a2a-inspect[web]"
_DEMO = "demo"
_PATH_HINT = "Check the path of the capture."


def web(invocation: Invocation, out: Output) -> int:
    """Serve visitors until a signal; raises `FaultError`."""
    try:
        from inspector.web_server.server import WebServer  # noqa: PLC0415 - needs an optional library
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("textual_serve", "jinja2", "aiohttp_jinja2"):
            raise
        seen = f"The web server cannot be started: the library {error.name} is not installed."
        raise usage(seen, f"Install it with pip install '{EXTRA}'.") from error
    if os.name == "nt":
        raise usage("a2a-inspect web does not run on Windows.", "Use a terminal: a2a-inspect.")
    token = secrets.token_urlsafe(32)
    options = options_for_visitors(invocation.options)
    options_of_agent = partial(options_of_selected, options, invocation.given.prior)
    server = WebServer((options, options_of_agent), token, invocation.given.visitors)
    try:
        asyncio.run(_serve(server, token, invocation.given.port, out))
    except KeyboardInterrupt:
        return INTERRUPTED
    except asyncio.CancelledError:
        return TERMINATED
    return OK


def options_for_visitors(options: Options) -> Options:
    """Return the options with the demo or a capture, if the argument names one; raises `FaultError`."""
    named = options.reference or ""
    if named == _DEMO and not Path(named).exists():
        return replace(options, reference=None, demo=True)
    if named.endswith(SUFFIX) and "://" not in named:
        try:
            recording = typed_path(named)
            is_there = recording.is_file()
        except OSError as error:
            raise usage(f"The capture {named} cannot be opened: {error.strerror}.", _PATH_HINT) from error
        if not is_there:
            raise usage(f"The capture {named} does not exist.", _PATH_HINT)
        return replace(options, reference=None, recording=recording, tour=False)
    return replace(options, tour=False)


async def _serve(server: WebServer, token: str, port: int, out: Output) -> None:
    from inspector.web_server.server import serve  # noqa: PLC0415 - needs an optional library

    def announce(origin: str) -> None:
        out.secret_field("URL", f"{origin}/?token={token}")
        out.flush()

    task = cast("asyncio.Task[None]", asyncio.current_task())
    with on_signal(lambda _: task.cancel(), signal.SIGTERM):
        try:
            await serve(server, port, announce)
        except OSError as error:
            seen = f"Port {port} cannot be used: {error.strerror or error}."
            raise usage(seen, "Choose another port with --port.") from error
