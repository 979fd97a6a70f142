"""An agent that sends the bytes of `inspector/findings/hazards.py`, for tests with real clients."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from inspector.findings.hazards import FAILURES, Failure, Unit

EVENT_STREAM = "text/event-stream"
TEXTS = ["one", "two", "three"]
"""The texts of a stream, as a client that reads all events reports them; the second event has the hazard."""

REFUSAL = "The agent refuses."
"""The message of the agent's error."""

_IDS = {"taskId": "t", "contextId": "c"}
_CARD: dict[str, Any] = {
    "name": "Hazards",
    "description": "Sends unusual bytes.",
    "version": "1.0.0",
    "capabilities": {"streaming": True, "pushNotifications": False},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "s", "name": "Stream", "description": "Streams.", "tags": ["stream"]}],
}


def card(version: str, binding: str, url: str) -> dict[str, Any]:
    """Return the card of the agent in a protocol version."""
    if version == "1.0":
        return _CARD | {"supportedInterfaces": [{"url": url, "protocolBinding": binding, "protocolVersion": "1.0"}]}
    return _CARD | {"protocolVersion": f"{version}.0", "url": url, "preferredTransport": binding}


def event(version: str, binding: str, text: str, data: Any = None) -> dict[str, Any]:
    """Return a status update with a text; `data` adds a part of data to its message."""
    wrapped = binding == "HTTP+JSON" and version != "1.0"
    kind = (lambda name: {"kind": name}) if version != "1.0" and not wrapped else lambda _: {}
    parts = [
        {**kind("text"), "text": text},
        *([{**kind("data"), "data": {"data": data} if wrapped else data}] if data else []),
    ]
    role = "ROLE_AGENT" if version == "1.0" or wrapped else "agent"
    content = {"content": parts} if wrapped else {"parts": parts}
    message = {**kind("message"), "messageId": f"m-{text[:3]}", "role": role, **content, **_IDS}
    state = "TASK_STATE_WORKING" if version == "1.0" or wrapped else "working"
    status = {"state": state, "update" if wrapped else "message": message}
    if version == "1.0" or wrapped:
        return {"statusUpdate": _IDS | {"status": status} | ({} if version == "1.0" else {"final": False})}
    return _IDS | {"kind": "status-update", "status": status, "final": False}


def payload(version: str, binding: str, request_id: Any, text: str, data: Any = None) -> bytes:
    """Return the data of an event, in the envelope of the binding."""
    result = event(version, binding, text, data)
    whole = {"jsonrpc": "2.0", "id": request_id, "result": result} if binding == "JSONRPC" else result
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def nested(levels: int) -> Any:
    """Return objects that are nested in each other."""
    value: Any = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


Write = Callable[..., bytes]
"""Returns the data of an event with a text, and with a part of data."""


def _frame(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"


def _second(change: Callable[[Write], bytes]) -> Callable[[Write], bytes]:
    """Return the stream of three events whose second event is written by `change`."""

    def write(data: Write) -> bytes:
        return _frame(data("one")) + change(data) + _frame(data("three"))

    return write


def _text_with(separator: str) -> Callable[[Write], bytes]:
    return _second(lambda data: _frame(data(f"two{separator}")))


def _all(data: Write) -> bytes:
    return b"".join(_frame(data(text)) for text in TEXTS)


def _two_lines(data: Write) -> bytes:
    first, comma, rest = data("two").partition(b",")
    return b"data: " + first + comma + b"\n" + _frame(rest)


def _sized(size: int) -> Callable[[Write], bytes]:
    """Return a stream whose second event has a line of `size` bytes."""

    def change(data: Write) -> bytes:
        missing = size - len(b"data: ") - len(data("two"))
        return _frame(data("two" + " " * missing))

    return _second(change)


PLAIN = "plain"
STREAMS: Mapping[str, Callable[[Write], bytes]] = {
    PLAIN: _all,
    "BYTE_ORDER_MARK": lambda data: b"\xef\xbb\xbf" + _all(data),
    "WITHOUT_DATA": _second(lambda data: b"id: 7\n\n" + _frame(data("two"))),
    "SEPARATOR": _text_with("\u2028"),
    "SEPARATOR-2029": _text_with("\u2029"),
    "SEPARATOR-0085": _text_with("\u0085"),
    "CR": lambda data: _all(data).replace(b"\n", b"\r"),
    "DATA_LINES": _second(_two_lines),
    "ERROR_EVENT": _second(lambda data: b"event: error\n" + _frame(data("two"))),
    **{f"SIZE-{size}": _sized(size) for size in (65_537, 4 * 1024 * 1024, 4 * 1024 * 1024 + 1, 10 * 1024 * 1024)},
    "MEDIA_TYPE": _all,
    "DEPTH-47": _second(lambda data: _frame(data("two", data=nested(47)))),
    "DEPTH-48": _second(lambda data: _frame(data("two", data=nested(48)))),
    "JSON_ERROR": _all,
}
"""The bytes of each stream, by the name of its hazard; some hazards have several streams."""


def stream_of(name: str, version: str, binding: str, request_id: Any) -> bytes:
    """Return the bytes of a stream for a protocol version and a binding."""
    return STREAMS[name](lambda text, data=None: payload(version, binding, request_id, text, data))


def streams_over(binding: str) -> list[str]:
    """Return the names of the streams of a binding."""
    return [name for name in STREAMS if name != "JSON_ERROR" or binding == "JSONRPC"]


def rows_for(name: str, binding: str) -> list[Failure]:
    """Return the rows of the table about the bytes of a stream, for the clients of every version."""
    hazard, _, variant = name.partition("-")
    rows = [failure for failure in FAILURES if failure.hazard.name == hazard and binding in failure.bindings]
    return [failure for failure in rows if not failure.limit or _units(int(variant), failure) > failure.limit]


def _units(variant: int, failure: Failure) -> int:
    """Return the size of the second event of `SIZE` and `DEPTH`, as the client counts it."""
    # The data is in a part of the message of the status of an update, in the result of an envelope.
    return {Unit.PROTOBUF: 5 + 2 * variant, Unit.LEVELS: 7 + variant}.get(failure.unit, variant)


class _Handler(BaseHTTPRequestHandler):
    """Serves the card and the stream of the hazard, version and binding that are the first words of the path."""

    def do_GET(self) -> None:
        version, binding, _ = self._words()
        host, port = self.server.server_address[:2]
        url = f"http://{host}:{port}{self.path.partition('/.well-known')[0]}"
        self._send("application/json", json.dumps(card(version, binding, url)).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._stream(*self._words(), json.loads(body).get("id"))

    def _words(self) -> list[str]:
        version, binding, hazard, *_ = self.path.strip("/").split("/")
        return [version, binding.replace("HTTP", "HTTP+JSON"), hazard]

    def _stream(self, version: str, binding: str, hazard: str, request_id: Any) -> None:
        if hazard == "JSON_ERROR":
            error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32602, "message": REFUSAL}}
            self._send("application/json", json.dumps(error).encode())
            return
        body = stream_of(hazard, version, binding, request_id)
        self._send(EVENT_STREAM.title() if hazard == "MEDIA_TYPE" else EVENT_STREAM, body)

    def _send(self, media_type: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):  # a client that fails does not read the rest
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextmanager
def serving() -> Iterator[str]:
    """Run the agent; yields its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def url_of(base: str, version: str, binding: str, hazard: str) -> str:
    """Return the URL of the agent that has one hazard."""
    return f"{base}/{version}/{binding.replace('+JSON', '')}/{hazard}"
