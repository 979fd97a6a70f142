"""The built-in mock agent of the demo, in a process of its own that starts before Textual is loaded."""

from __future__ import annotations

import subprocess
import sys

from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose

_STOP_SECONDS = 5.0


class DemoAgent:
    """Starts the process of the agent, which ends when its standard input is closed or when this process ends."""

    def __init__(self) -> None:
        # -P: do not import a folder in the working directory that has the name of a package.
        command = [sys.executable, "-P", "-m", "inspector.sample_agents.demo"]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, text=True)  # noqa: S603
        self._url = ""

    def url(self) -> str:
        """Wait until the agent listens and return its URL; raises `FaultError` if it did not start."""
        if not self._url and self._process.stdout is not None:
            self._url = self._process.stdout.readline().strip()
        if not self._url:
            seen = f"The built-in agent ended with exit code {self._process.wait()}."
            hint = "Run a2a-inspect mock to see its error."
            raise FaultError(Fault(Whose.OURS, FaultCode.INTERNAL, seen, hint))
        return self._url

    def stop(self) -> None:
        """Stop the agent and wait for its end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
