"""The record, the immutable unit of a capture: something that was sent or received, or a note about the session."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from inspector.findings.finding import Finding

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""The empty `meta`, for records without it."""

PROBE = "probe"
"""The member of `meta` that marks the records of the exchanges that the doctor makes to check an agent."""

EXTENSIONS = "extensions"
"""The member of `meta` with the names of the known extensions whose data is in the payload."""

VERIFIED = "verified"
"""The member of `meta` with what was verified in the data of extensions: mandates and passports have signatures."""

END_OF_TIME = 253_402_300_800.0
"""The year 10000, in seconds since 1970: later times cannot be shown."""

HTTP_ERROR = "http-error"
"""The event of the body of an HTTP error that is not an A2A error, such as a web page of a proxy."""

LOGIN = "login"
"""The member of `meta` with the step of a login, in the records of logins."""

Payload: TypeAlias = tuple[int, bytes]
"""The size of a payload on the wire, which masking does not change, and the masked bytes that are recorded."""

EMPTY: tuple[Payload, ...] = ((0, b""),)
"""One empty payload, for a single record without bytes."""


class Kind(StrEnum):
    """The kind of a record."""

    REQUEST = "request"
    """A request to the agent: head in `meta`, body in `raw`."""
    RESPONSE = "response"
    """The head of a response: status and headers in `meta`."""
    BODY = "body"
    """The whole body of a response that is not a stream."""
    FRAME = "frame"
    """An event of a stream, an SSE block with data or a gRPC message: its bytes in `raw`."""
    KEEPALIVE = "keepalive"
    """One SSE block without data."""
    TRAILERS = "trailers"
    """The status at the end of a gRPC call: `meta` has `code`, `name`, `message` and the trailing `headers`."""
    END = "end"
    """The end of an exchange: `meta` has `how`, `events`, `bytes`, `seconds`; on failure `whose`, `seen`, `hint`."""
    DELIVERY = "delivery"
    """One request to the webhook receiver: its body is in `raw`, the other members are in `meta`.

    - Request: `method`, `target`, `headers`, `peer`; `challenge` (an ownership challenge of 0.1), `registration` (its
      number, 0 for an unknown path), `asked` (the authentication that it requires).
    - Result: `checks` (name, whether it passed, what was found); `taken` (accepted), `refused` (why not, or `""`).
    - Response: `status`, `dialled` (the override that decided it, or `""`), `delay` and `seconds` until it.
    - Attempts with the same bytes: `attempt` (from 1), `first` (the record of the first one), `gap` (seconds since the
      one before), `again` (the record that was accepted before). `latency`: seconds since the time in the event.
    """
    NOTE = "note"
    """An action of the user or the session, or a failure outside of an exchange."""


DELIVERY, END, FRAME, REQUEST = Kind.DELIVERY, Kind.END, Kind.FRAME, Kind.REQUEST
"""Constants for code that runs for every event: in Python 3.11, `Kind.FRAME` needs as long as a call."""


class Common(NamedTuple):
    """The members that are the same in consecutive records of similar frames, in the order of `Record`."""

    kind: Kind
    exchange: int = 0
    operation: str = ""
    event: str = ""
    task: str = ""
    context: str = ""
    state: str = ""
    label: str = ""


class Record(NamedTuple):
    """One record. It is a named tuple for speed: a busy stream creates tens of thousands of records per second.

    - `seq`: counts the records of a capture from 1 without gaps.
    - `at`: the time in seconds since 1970, which never decreases within a capture.
    - `exchange`: the `seq` of the request that began the exchange, 0 outside of an exchange.
    - `operation`: the operation of the exchange (its 1.0 name).
    - `event`: the type of the payload (`task`, `message`, `status`, `artifact`, `error`, `card`, `unreadable` or `""`);
      `http-error` is `HTTP_ERROR`.
    - `task`, `context`, `state`: the ids and the state (with its 1.0 name) in the payload.
    - `label`: a summary in one line; like `raw` and `meta`, it may contain untrusted text.
    - `size`: the number of bytes on the wire; `raw`: these bytes with masked secrets.
    """

    seq: int
    at: float
    kind: Kind
    exchange: int = 0
    operation: str = ""
    event: str = ""
    task: str = ""
    context: str = ""
    state: str = ""
    label: str = ""
    size: int = 0
    raw: bytes = b""
    meta: Mapping[str, Any] = NOTHING
    findings: tuple[Finding, ...] = ()


def is_probe(record: Record) -> bool:
    """Return whether a record is of an exchange that the doctor made to check the agent, not of a call of the user."""
    return bool(record.meta.get(PROBE))


def arrival(record: Record) -> float:
    """Return when the content of a record arrived: a delivery that was recorded later has the difference in `lag`."""
    lag: float = record.meta.get("lag") or 0.0
    return record.at - lag


def is_login(record: Record) -> bool:
    """Return whether a record is of a step of a login, not of a call to the agent."""
    return LOGIN in record.meta
