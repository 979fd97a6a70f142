"""Convert recorded payloads to JSON text, and describe them for a row."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import NamedTuple

from inspector.capture.records import HTTP_ERROR, Kind, Record
from inspector.protocol.assemble import TextAppended
from inspector.protocol.bindings.base import Answer, Binding
from inspector.protocol.bindings.grpc import DETAILS, OK, decode_error
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import for_request
from inspector.protocol.dialects.v1_1 import revision_of
from inspector.protocol.errors import ProtocolError
from inspector.protocol.http_fields import header
from inspector.protocol.jsonvalue import WEB_PAGE, dump
from inspector.protocol.model import (
    Artifact,
    Event,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import Operation
from inspector.protocol.sse import Decoder
from inspector.session.message_label import label_of
from inspector.session.tasks import task_of

_MOST_QUOTED = 120
"""The most characters of an error that are quoted."""
_MOST_OF_PAGE = 10_000
"""The most characters of a web page that are searched for its title."""
_TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,100})", re.IGNORECASE)
_PAYLOADS = frozenset({Kind.REQUEST, Kind.BODY, Kind.FRAME})
OPERATIONS = frozenset(Operation)


def payload_json(record: Record, request: Record) -> bytes:
    """Return the payload of a record as JSON text, or its bytes where it is not JSON.

    An SSE frame becomes its data, a gRPC message its JSON. `request` is the record that began the exchange.
    """
    if record.kind is Kind.TRAILERS:
        return _status(record)
    binding, dialect = interface_of(request)
    if record.kind is Kind.FRAME and (binding is None or binding.uses_sse):
        frames = Decoder(len(record.raw) + 1).feed(record.raw)
        return frames[0].data or b"" if frames else record.raw
    if binding is None or dialect is None or record.kind not in _PAYLOADS or record.operation not in OPERATIONS:
        return record.raw
    return binding.show(dialect, Operation(record.operation), record.raw, record.kind is Kind.REQUEST)


def interface_of(request: Record) -> tuple[Binding | None, Dialect | None]:
    """Return the binding and the dialect of an exchange from its request record; None where they are unknown."""
    binding = BINDINGS.get(str(request.meta.get("binding", "")))
    return binding, for_request(str(request.meta.get("dialect", "")), binding.name) if binding else None


def _status(record: Record) -> bytes:
    """Return the status of a gRPC call that failed, with its details, as JSON."""
    code, message = record.meta["code"], record.meta["message"]
    if code == OK:
        return b""
    details = error_of(record).data
    status = {"code": code, "status": record.meta["name"], "message": message}
    return dump(status if details is None else status | {"details": details})


def error_of(trailers: Record, dialect: Dialect | None = None, operation: Operation | None = None) -> ProtocolError:
    """Return the error in the status of a gRPC call, without details that cannot be read (masked details)."""
    meta = trailers.meta
    details = header(meta["headers"], DETAILS)
    return decode_error(meta["code"], meta["message"], details.encode("utf-8", "surrogatepass"), dialect, operation)


def name_of(artifact: Artifact) -> str:
    """Return the name of an artifact, or else its id."""
    return artifact.name or artifact.artifact_id


class Description(NamedTuple):
    """What the record of a payload contains about it: the kind of event, the ids and the state of its task, a label."""

    event: str
    task: str = ""
    context: str = ""
    state: str = ""
    label: str = ""


def describe(
    answer: Answer | TextAppended, called: Callable[[Artifact], str] = name_of, *, with_code: bool = True
) -> Description:
    """Return the description of a payload; `called` returns the name of an artifact.

    The label of an error begins with its code if it is `with_code`: only the errors of JSON-RPC contain one.
    """
    match answer:
        case TaskArtifactUpdateEvent():
            label = with_revision(answer, called(answer.artifact))
            return Description("artifact", answer.task_id, answer.context_id or "", label=label)
        case TextAppended():
            return describe(answer.like, called)
        case TaskStatusUpdateEvent() | Task():
            event = "task" if isinstance(answer, Task) else "status"
            label = with_revision(answer, label_of(answer.status.message))
            return Description(event, task_of(answer), answer.context_id or "", answer.status.state, label)
        case Message():
            return Description("message", task_of(answer), answer.context_id or "", label=label_of(answer))
        case ProtocolError():
            code = f"{answer.code} " if with_code and answer.code is not None else ""
            return Description("error", label=f"{code}{answer.words}")
        case Unreadable():
            return Description("unreadable", label=answer.why)
        case _:
            return Description("result", label=type(answer).__name__)


def with_revision(event: Event, label: str) -> str:
    """Add the revision of the task to a label, if the event has one."""
    revision = revision_of(event) if event.model_extra else 0
    return f"{label} · revision {revision}".removeprefix(" · ") if revision else label


def describe_http_error(body: Unreadable) -> Description:
    """Return the description of the body of an HTTP error."""
    return Description(HTTP_ERROR, label=error_text(body) or "no body")


def error_text(body: Unreadable) -> str:
    """Return the beginning of the body of an error that is not an A2A error, `""` if there is none."""
    text = body.value if isinstance(body.value, str) else "" if body.value is None else dump(body.value).decode()
    if body.why == WEB_PAGE:
        title = _TITLE.search(text[:_MOST_OF_PAGE])
        return f"a web page, {' '.join(unescape(title[1]).split())!r}" if title else "a web page or XML"
    words = " ".join(text[: 2 * _MOST_QUOTED].split())
    return words[:_MOST_QUOTED] + ("…" if len(words) > _MOST_QUOTED else "")
