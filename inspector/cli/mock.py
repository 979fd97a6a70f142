"""`mock`: the built-in mock agent in the foreground."""

from __future__ import annotations

import errno
from importlib import import_module

from inspector.cli.arguments import Invocation
from inspector.cli.failure import OK, usage
from inspector.cli.output import Output

_SERVER = "inspector.sample_agents.server"
"""Loaded by name: it lies elsewhere in the tree than in the package, where type checkers do not look."""


def run(invocation: Invocation, out: Output) -> int:
    """Serve until SIGINT or SIGTERM; the first line is the agent's url."""
    given = invocation.given

    def ready(url: str) -> None:
        out.write(f"{url}\n")
        out.flush()

    def log(line: str) -> None:
        if invocation.verbose:
            out.tell("mock", line)

    try:
        import_module(_SERVER).run(given.host, given.port, on_ready=ready, log=log, pace=given.pace)
    except OSError as error:
        raise usage(_why(error, given.host, given.port), "Choose another with --port; 0 takes a free one.") from error
    return OK


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use."
    if error.errno == errno.EACCES:
        return f"Listening at port {port} of {host} is not permitted."
    return f"Listening at port {port} of {host} failed: {error.strerror or error}."
