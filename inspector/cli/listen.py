"""`listen`: the webhook receiver by itself; prints where it listens, then every delivery."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.cli.arguments import Invocation
from inspector.cli.output import Output, dump
from inspector.cli.running import Run, on_signal, run
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import parse
from inspector.protocol.lifecycle import short
from inspector.protocol.model import Unreadable

_MARKS = {True: "+", False: "-", None: "?"}
"""How a check came out: good, bad, nothing to compare."""


def listen(invocation: Invocation, out: Output) -> int:
    """Receive push notifications until a signal, `--count` deliveries or `--timeout`."""
    out.lines = out.json
    endless = replace(invocation, options=replace(invocation.options, timeout=None))
    return run(endless, out, lambda current: _listen(current, invocation.options.timeout))


async def _listen(current: Run, seconds: float | None) -> None:
    deliveries = _Deliveries(current)
    push = current.session.push
    await push.receiver.start()
    with on_signal(deliveries.enough.set, signal.SIGINT, signal.SIGTERM):
        registration = push.register().registration
        _announce(current.out, registration.url, registration.token)
        try:
            async with asyncio.timeout(seconds):
                await deliveries.enough.wait()
        except TimeoutError:
            count = current.invocation.given.count
            if count is not None:
                seen = f"The time was up after {seconds:g} s with {deliveries.came} of {count} deliveries."
                hint = "Can the agent reach this address? --host, --port and --public-url say what it is told."
                raise FaultError(Fault(Whose.AGENT, FaultCode.TIMEOUT, seen, hint)) from None


def _announce(out: Output, url: str, token: str) -> None:
    """Print what an agent has to be told."""
    if out.json:
        out.document({"listening": {"url": url, "token": token}})
        return
    out.field("Url", url)
    out.field("Token", token)
    out.flush()


class _Deliveries:
    """Prints deliveries as they are recorded and says when there were enough."""

    def __init__(self, current: Run) -> None:
        self._out = current.out
        self._verbose = current.invocation.verbose
        self._count: int | None = current.invocation.given.count
        self._journal = current.session.journal
        self._last = 0
        self.came = 0
        self.enough = asyncio.Event()
        self._journal.listen(self._take)

    def _take(self) -> None:
        for record in self._journal.capture.select(kinds={Kind.DELIVERY}, after=self._last):
            self._last = record.seq
            self.came += 1
            if self._out.json:
                self._out.document(_as_json(record))
            else:
                _print(self._out, record, verbose=self._verbose)
        if self._count is not None and self.came >= self._count:
            self.enough.set()


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _body(record: Record) -> Any:
    value = parse(record.raw)
    return record.raw.decode("utf-8", "replace") if isinstance(value, Unreadable) else value


def _as_json(record: Record) -> dict[str, Any]:
    meta = record.meta
    return {
        "delivery": {
            "at": _time(record.at),
            "peer": meta["peer"],
            "method": meta["method"],
            "target": meta["target"],
            "headers": [list(pair) for pair in meta["headers"]],
            "status": meta["status"],
            "refused": meta["refused"],
            "checks": [{"name": name, "good": good, "said": said} for name, good, said in meta["checks"]],
            "findings": [{"rule": one.rule, "severity": one.severity, "seen": one.seen} for one in record.findings],
            "event": record.event,
            "taskId": record.task,
            "state": record.state,
            "body": _body(record),
        }
    }


def _print(out: Output, record: Record, *, verbose: bool) -> None:
    meta = record.meta
    verdict = f"refused with {meta['status']}" if meta["refused"] else "accepted"
    out.field("Delivery", f"{_time(record.at)} {meta['method']} from {meta['peer']}, {verdict}")
    out.field("Checks", " ".join(f"{_MARKS[good]}{name}" for name, good, _ in meta["checks"]))
    for name, good, said in meta["checks"]:
        if good is False:
            out.field("Wrong", f"{name}: {said}")
    if record.task:
        out.field("Task", record.task)
    if record.state:
        out.field("State", short(record.state))
    if record.label:
        out.field("Says", record.label)
    out.field("Size", f"{record.size:,} bytes")
    if verbose:
        out.block("Headers", "\n".join(f"{name}: {value}" for name, value in meta["headers"]))
        body = _body(record)
        out.block("Body", body if isinstance(body, str) else dump(body, 2))
    out.flush()
