"""An agent that sends the bytes of `inspector/findings/hazards.py`, for tests with real clients."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from inspector.findings.hazards import Hazard

EVENT_STREAM = "text/event-stream"
TEXTS = ["one", "two", "three"]
"""The texts of a stream, as a client that reads all events reports them; the second event has the hazard."""

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


def event(version: str, binding: str, text: str, **part: Any) -> dict[str, Any]:
    """Return a status update with a text; `part` adds a part of data to its message."""
    wrapped = binding == "HTTP+JSON" and version != "1.0"
    kind = (lambda name: {"kind": name}) if version != "1.0" and not wrapped else lambda _: {}
    parts = [{**kind("text"), "text": text}, *([{**kind("data"), **part}] if part else [])]
    role = "ROLE_AGENT" if version == "1.0" or wrapped else "agent"
    content = {"content": parts} if wrapped else {"parts": parts}
    message = {**kind("message"), "messageId": f"m-{text[:9]}", "role": role, **content, **_IDS}
    state = "TASK_STATE_WORKING" if version == "1.0" or wrapped else "working"
    status = {"state": state, "update" if wrapped else "message": message}
    if version == "1.0" or wrapped:
        return {"statusUpdate": _IDS | {"status": status} | ({} if version == "1.0" else {"final": False})}
    return _IDS | {"kind": "status-update", "status": status, "final": False}


def payload(version: str, binding: str, request_id: Any, text: str, **part: Any) -> bytes:
    """Return the data of an event, in the envelope of the binding."""
    result = event(version, binding, text, **part)
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


STREAMS: Mapping[str, Callable[[Write], bytes]] = {
    "plain": _all,
    Hazard.SEPARATOR: _text_with("\u2028"),
    "paragraph separator": _text_with("\u2029"),
    "next line": _text_with("\u0085"),
    Hazard.CR: lambda data: _all(data).replace(b"\n", b"\r"),
    Hazard.DATA_LINES: _second(_two_lines),
    Hazard.ERROR_EVENT: _second(lambda data: b"event: error\n" + _frame(data("two"))),
    Hazard.WITHOUT_DATA: _second(lambda data: b"id: 7\n\n" + _frame(data("two"))),
    Hazard.BOM: lambda data: b"\xef\xbb\xbf" + _all(data),
    Hazard.MEDIA_TYPE: _all,
    Hazard.DEPTH: _second(lambda data: _frame(data("two", data=nested(120)))),
    Hazard.JSON_ERROR: lambda data: data("error"),
    "64 KiB": _sized(65_536 + 1),
    "1 MiB": _sized(1024 * 1024 + 1),
    "4 MiB": _sized(4 * 1024 * 1024 + 1),
    "10 MiB": _sized(10 * 1024 * 1024),
}


class _Handler(BaseHTTPRequestHandler):
    """Serves the card and the stream of the hazard, version and binding that are the first words of the path."""

    def do_GET(self) -> None:
        version, binding, hazard = self._words()
        if ".well-known" not in self.path:
            self._stream(version, binding, hazard, None)
            return
        host, port = self.server.server_address[:2]
        url = f"http://{host}:{port}{self.path.partition('/.well-known')[0]}"
        self._send("application/json", json.dumps(card(version, binding, url)).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._stream(*self._words(), json.loads(body).get("id"))

    def _words(self) -> list[str]:
        version, binding, hazard, *_ = self.path.strip("/").split("/")
        return [version, binding.replace("HTTP", "HTTP+JSON"), hazard.replace("_", " ")]

    def _stream(self, version: str, binding: str, hazard: str, request_id: Any) -> None:
        if hazard == Hazard.JSON_ERROR:
            error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32602, "message": "The agent refuses."}}
            self._send("application/json", json.dumps(error).encode())
            return
        body = STREAMS[hazard](lambda text, **part: payload(version, binding, request_id, text, **part))
        self._send(EVENT_STREAM.title() if hazard == Hazard.MEDIA_TYPE else EVENT_STREAM, body)

    def _send(self, media_type: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
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
    return f"{base}/{version}/{binding.replace('+JSON', '')}/{hazard.replace(' ', '_')}"
