"""What the person sees who runs the mock agent in a terminal: a line for whatever happens, in columns."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from inspector.cli.output import Output
from inspector.text.sanitise import clean

_SUBJECT = len("task 3f2a9c1e")
_COUNTS = ("tasks", "at work", "readers")


class Console:
    """Prints a line for whatever an agent tells: when, how busy the agent is by then, about what, and what.

    Without a terminal there are no columns, and nothing is printed unless `verbose`: then on stderr.
    """

    def __init__(self, out: Output, *, terminal: bool, verbose: bool) -> None:
        self._out = out
        self._terminal = terminal
        self._verbose = verbose
        self._agent: Any = None

    def ready(self, agent: Any) -> None:
        """Say where the agent is: its url on the first line, where it speaks gRPC on the second, if it does."""
        self._agent = agent
        self._out.write(f"{agent.url}\n")
        if agent.grpc_target:
            self._out.write(f"gRPC: {agent.grpc_target}\n")
        if self._terminal:
            self._out.write(f"\n{'time':<8}  {'  '.join(_COUNTS)}\n")
        self._out.flush()

    def log(self, line: str) -> None:
        """Tell one thing that happened; the subject stands before the first colon."""
        if not self._terminal:
            if self._verbose:
                self._out.tell("mock", line)
            return
        subject, colon, said = line.partition(": ")
        if not colon:
            subject, _, said = line.partition(" ")
        clock = f"{datetime.now().astimezone():%H:%M:%S}"
        self._out.write(f"{clock}  {self._load()}  {clean(subject):<{_SUBJECT}}  {clean(said)}".rstrip() + "\n")
        self._out.flush()

    def _load(self) -> str:
        agent = self._agent
        counts = (len(agent.store), agent.running, agent.readers) if agent is not None else (0, 0, 0)
        return "  ".join(f"{count:>{len(name)}}" for name, count in zip(_COUNTS, counts, strict=True))
