"""The registry of export formats: a line for each, with the module whose `write` writes it.

Modules are imported when a format is used, because command lines read the names without loading a session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector.capture.records import Record
    from inspector.protocol.bindings.base import WireRequest
    from inspector.session.exchange import CallContext


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, what it is in a few words, how its files end, its media type, and its module."""

    name: str
    purpose: str
    suffix: str
    media_type: str
    module: str
    title: str = ""
    """The name as people write it, where that differs."""

    def _write(self) -> Callable[..., Any]:
        write: Callable[..., Any] = import_module(f"{__name__}.{self.module}").write
        return write


@dataclass(frozen=True, slots=True)
class RequestFormat(Format):
    """A format of one request; `is_program` says that it sends the request rather than shows it."""

    is_program: bool = False

    def write(self, wire: WireRequest, call: CallContext) -> str:
        """Write a request with what it was made from; raises `FaultError` where the format cannot express it."""
        text: str = self._write()(wire, call)
        return text


@dataclass(frozen=True, slots=True)
class RecordFormat(Format):
    """A format of the records of a capture."""

    def write(self, records: Iterable[tuple[Record, bytes]]) -> Iterator[str]:
        """Write records, each with its payload as JSON text where it can be read, piece by piece."""
        pieces: Iterator[str] = self._write()(records)
        return pieces


REQUEST_FORMATS = [
    RequestFormat("curl", "a command that sends the same bytes", ".sh", "text/x-shellscript", "curl", is_program=True),
    RequestFormat("httpx", "a Python program that does", ".py", "text/x-python", "httpx_program", is_program=True),
    RequestFormat("http", "the request as text, which send --request takes", ".http", "text/plain", "http_text"),
    RequestFormat("json", "the body alone", ".json", "application/json", "json_body", "JSON"),
]
"""How one request can be copied and previewed."""

RECORD_FORMATS = [
    RecordFormat("json", "a record a line", ".jsonl", "application/jsonl", "json_lines"),
]
"""How the records of a capture can be written."""
