"""The registry of export formats; each module is imported when its format is used, because it loads the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from inspector.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from inspector.capture.records import Record
    from inspector.protocol.bindings.base import WireRequest
    from inspector.session.exchange import CallContext
    from inspector.session.exporters.selection import Selection


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, purpose, file suffix, media type, module, and title if it differs from the name."""

    name: str
    purpose: str
    suffix: str
    media_type: str
    module: str
    title: str = ""

    def _write(self, *arguments: object) -> Any:
        return import_module(f"{__name__}.{self.module}").write(*arguments)


@dataclass(frozen=True, slots=True)
class RequestFormat(Format):
    """A format of one request; `is_program` if it is a program that sends the request."""

    is_program: bool = False

    def write(self, wire: WireRequest, call: CallContext) -> str:
        """Write a request; raises `FaultError` if the format cannot express it."""
        text: str = self._write(wire, call)
        return text


@dataclass(frozen=True, slots=True)
class RecordFormat(Format):
    """A format of the records of a capture."""

    def write(self, records: Iterable[tuple[Record, bytes]]) -> Iterator[str]:
        """Yield the text of the records in pieces; each record comes with its payload, as JSON text if possible."""
        pieces: Iterator[str] = self._write(records)
        return pieces


@dataclass(frozen=True, slots=True)
class CaptureFormat(Format):
    """A format of the chosen records of a capture."""

    def write(self, selection: Selection, warn: Callable[[str], None]) -> Iterator[str]:
        """Yield the text in pieces, and report what the format cannot express; raises `FaultError`."""
        pieces: Iterator[str] = import_module(f"{__name__}.{self.module}").write_capture(selection, warn)
        return pieces


REQUEST_FORMATS = [
    RequestFormat(
        "curl", "a shell command that sends the same bytes", ".sh", "text/x-shellscript", "curl", is_program=True
    ),
    RequestFormat(
        "httpx", "a Python program that sends the same bytes", ".py", "text/x-python", "httpx_program", is_program=True
    ),
    RequestFormat("http", "the request as text, for send --request", ".http", "text/plain", "http_text"),
    RequestFormat("json", "the body only", ".json", "application/json", "json_body", "JSON"),
]
"""The formats in which a request can be copied and previewed."""

RECORD_FORMATS = [
    RecordFormat("json", "one record per line", ".jsonl", "application/jsonl", "json_lines"),
]
"""The formats in which the records of a capture can be written."""

OTLP = "otlp-json"
CAPTURE_FORMATS = [
    CaptureFormat("jsonl", "one record per line, as show -o json", ".jsonl", "application/jsonl", "json_lines"),
    CaptureFormat("har", "HAR 1.2, which import reads without loss", ".har", "application/json", "har"),
    CaptureFormat("curl", "a shell command for each request", ".sh", "text/x-shellscript", "curl_commands"),
    CaptureFormat("acts", "a check file, as check make", ".yaml", "application/yaml", "check_file"),
    CaptureFormat(OTLP, "spans for OpenTelemetry, in OTLP JSON", ".json", "application/json", "otlp"),
]
"""The formats of `export`; the first is the default."""
