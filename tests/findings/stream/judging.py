"""A judge of one exchange over JSON-RPC that gets its events from tests."""

from __future__ import annotations

from typing import Any

from inspector.findings.finding import Finding
from inspector.findings.stream.judge import StreamJudge
from inspector.findings.stream.observer import CallFacts, StreamEnding
from inspector.protocol.bindings import jsonrpc
from inspector.protocol.content import Content
from inspector.protocol.dialects.registry import for_request
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Unreadable
from inspector.protocol.operations import STREAMING, Operation
from inspector.protocol.sse import Frame

ENVELOPE = {"jsonrpc": "2.0", "id": "the-id"}


class Judging:
    """Judges one exchange; `members` are members of `CallFacts`."""

    def __init__(self, version: str = "1.0", operation: Operation = Operation.STREAM, **members: Any) -> None:
        dialect = for_request(version, "JSONRPC")
        assert dialect is not None
        self.dialect = dialect
        call = CallFacts(operation, self.dialect, jsonrpc.BINDING, "the-id", **members)
        self.judge = StreamJudge(call, lambda _: None, lambda _: "label")
        self.framed = operation in STREAMING
        self.judge.head(200, {"content-type": "text/event-stream" if self.framed else "application/json"}, reached=True)
        self.last: Any = None
        self.events = 0

    def event(self, value: dict[str, Any], at: float = 1.0) -> tuple[Finding, ...]:
        """Judge an event."""
        self.last = event = self.dialect.decode_event(value)
        assert not isinstance(event, Unreadable), event
        return self._feed(ENVELOPE | {"result": value}, at)

    def error(self) -> tuple[Finding, ...]:
        """Judge an error."""
        self.last = ProtocolError(-32603, "x", None)
        return self._feed(ENVELOPE | {"error": {"code": -32603, "message": "x"}}, 1.0)

    def end(self, at: float = 1.0, how: StreamEnding = StreamEnding.COMPLETE) -> list[str]:
        """Return the rules that the end of the stream violates."""
        found = self.judge.close(at, how, events=self.events, why="", last=self.last, rest=0)
        return [finding.rule for finding in found]

    def _feed(self, value: dict[str, Any], at: float) -> tuple[Finding, ...]:
        self.events += 1
        data = dump(value)
        return self.judge.feed(Content(data, self.last, parse), at, Frame(data, data) if self.framed else None)
