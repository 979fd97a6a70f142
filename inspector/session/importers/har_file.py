"""Read a HAR file, which may come from any source: every value that is used is checked first."""

from __future__ import annotations

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from inspector.capture.records import END_OF_TIME
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultError, usage_error
from inspector.protocol.http_fields import header, without_parameters
from inspector.protocol.jsonvalue import is_number
from inspector.protocol.model import Json
from inspector.text.limited_file import read_limited
from inspector.wire.client.observations import Headers

LARGEST_FILE = 512 * 2**20
"""The largest HAR file that is read, in bytes."""
RECORDS = "_records"
"""The member with the records that a2a-inspect exported."""
_ERRORS = ("_error", "_failureText")
"""The members of a response with the reason why there is none: of Chrome, and of Playwright."""
_WITHOUT_BODY = (204, 205, 304)
"""The statuses of responses that never have a body."""
_HINT = "Export the traffic again as HAR 1.2, with content."


@dataclass(frozen=True, slots=True)
class Har:
    """A HAR file: its entries, and the exported records without an entry."""

    entries: list[Json]
    loose: list[Json]


@dataclass(frozen=True, slots=True)
class HarEntry:
    """The exchange in an entry; times are in seconds, `at` and those of `messages` since 1970.

    `content` is None if the file does not contain the body of the response. `status` is 0 without a response.
    """

    name: str
    at: float
    wait: float
    receive: float
    method: str
    url: str
    headers: Headers
    body: bytes
    status: int
    reason: str
    version: str
    response_headers: Headers
    media_type: str
    content: bytes | None
    messages: tuple[Mapping[str, Json], ...]
    error: str

    @property
    def lacks_body(self) -> bool:
        """Return whether there is a response, but neither its body nor its events."""
        return bool(self.status) and self.content is None and not self.messages

    def header(self, wanted: str) -> str:
        """Return the first header of the request with this name in lower case, or `""`."""
        return header(self.headers, wanted)


def invalid(place: str, problem: str) -> FaultError:
    """Return the error for a part of a HAR file that cannot be read."""
    return usage_error(f"{place}: {problem}.", _HINT)


def read_har(path: Path) -> Har:
    """Read the entries of a HAR file; raises `FaultError` if it is not one."""
    try:
        value: Json = json.loads(read_limited(path, LARGEST_FILE).decode("utf-8-sig"))
    except OSError as error:
        raise usage_error(f"Cannot read {path}: {error.strerror or error}.", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise invalid(path.name, f"not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise invalid(path.name, "the JSON is nested too deeply") from None
    except ValueError as error:
        raise invalid(path.name, f"not JSON: {error}") from None
    log = value.get("log") if isinstance(value, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(log, dict) or not isinstance(entries, list):
        raise invalid(path.name, "not HAR: log.entries is not an array")
    loose = log.get(RECORDS, [])
    if not isinstance(loose, list):
        raise invalid(path.name, f"log.{RECORDS} is not an array")
    return Har(entries, loose)


def read_entry(name: str, value: Json) -> HarEntry:
    """Read an entry; raises `FaultError` that begins with its name."""
    reader = _Reader(name, value)
    request, response = reader.member(reader.entry, "request", dict), reader.member(reader.entry, "response", dict)
    timings = reader.optional(reader.entry, "timings", dict) or {}
    seconds = reader.duration(reader.entry, "time")
    wait = sum(reader.duration(timings, phase) for phase in ("blocked", "dns", "connect", "send", "wait"))
    headers = reader.headers(response)
    content = reader.optional(response, "content", dict) or {}
    stated = header(headers, "content-type")
    return HarEntry(
        name=name,
        at=reader.started(seconds),
        wait=min(wait, seconds),
        receive=max(seconds - wait, 0.0),
        method=reader.member(request, "method", str),
        url=reader.member(request, "url", str),
        headers=reader.headers(request),
        body=reader.post_data(),
        status=reader.status(response),
        reason=reader.optional(response, "statusText", str) or "",
        version=reader.optional(response, "httpVersion", str) or "",
        response_headers=headers,
        media_type=without_parameters(stated or reader.optional(content, "mimeType", str) or ""),
        content=reader.content(),
        messages=reader.messages(),
        error=next((text for name in _ERRORS if (text := reader.optional(response, name, str))), ""),
    )


class _Reader:
    """Reads the members of an entry, and raises `FaultError` for a member with the wrong type."""

    def __init__(self, name: str, value: Json) -> None:
        self.name = name
        if not isinstance(value, dict):
            self.fail("it is not an object")
        self.entry: dict[str, Json] = value

    def fail(self, problem: str) -> NoReturn:
        raise invalid(self.name, problem)

    def member(self, owner: Mapping[str, Json], name: str, kind: type[Any]) -> Any:
        value = owner.get(name)
        if not isinstance(value, kind):
            self.fail(f"its {name} is {'missing' if value is None else 'of the wrong type'}")
        return value

    def optional(self, owner: Mapping[str, Json], name: str, kind: type[Any]) -> Any:
        return None if owner.get(name) is None else self.member(owner, name, kind)

    def milliseconds(self, owner: Mapping[str, Json], name: str) -> float:
        """Return a time in seconds, 0 if it is missing."""
        value = owner.get(name)
        if value is None:
            return 0.0
        if not is_number(value):
            self.fail(f"its {name} is not a number")
        if not 0 <= value < END_OF_TIME:
            self.fail(f"its {name} is {'negative' if value < 0 else 'too large'}")
        return value / 1000

    def duration(self, owner: Mapping[str, Json], name: str) -> float:
        """Return the time of a phase or a request in seconds, 0 if it is unknown.

        -1 is a phase that does not apply, to which Chrome may add a time. Playwright writes it for a failed request.
        """
        value = owner.get(name)
        return 0.0 if is_number(value) and -1 <= value < 0 else self.milliseconds(owner, name)

    def started(self, seconds: float) -> float:
        """Return the time of the request; it fails if the exchange, which lasts so long, ends after the year 9999."""
        text = self.member(self.entry, "startedDateTime", str)
        try:
            moment = datetime.fromisoformat(text)
            at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            self.fail("its startedDateTime is not a time")
        if at < 0:
            self.fail("its startedDateTime is before 1970")
        if at + seconds >= END_OF_TIME:
            self.fail("it ends after the year 9999")
        return at

    def status(self, response: Mapping[str, Json]) -> int:
        status = response.get("status", 0)
        if type(status) is not int or not -1 <= status < 1000:
            self.fail("the status of its response is not valid")
        return max(status, 0)

    def headers(self, owner: Mapping[str, Json]) -> Headers:
        """Return the headers without the pseudo headers of HTTP/2."""
        pairs: list[tuple[str, str]] = []
        for item in self.optional(owner, "headers", list) or []:
            if not isinstance(item, dict):
                self.fail("a header is not an object")
            pairs.append((self.member(item, "name", str), self.member(item, "value", str)))
        return tuple(pair for pair in pairs if not pair[0].startswith(":"))

    def post_data(self) -> bytes:
        data = self.optional(self.member(self.entry, "request", dict), "postData", dict) or {}
        return self._bytes(data, "_encoding") or b""

    def content(self) -> bytes | None:
        response = self.member(self.entry, "response", dict)
        content = self.optional(response, "content", dict) or {}
        if "text" in content:
            return self._bytes(content, "encoding")
        size = content.get("size")
        # Playwright writes -1, an unknown size, if its user chose to leave out all bodies.
        lacks = isinstance(size, int) and size != 0 and not (size < 0 and response.get("status") in _WITHOUT_BODY)
        return None if lacks else b""

    def _bytes(self, owner: Mapping[str, Json], encoding: str) -> bytes | None:
        text = self.optional(owner, "text", str)
        if text is None:
            return None
        if owner.get(encoding) != "base64":
            return str(text).encode("utf-8", "surrogatepass")
        try:
            return b64decode(text, validate=True)
        except (Base64Error, ValueError):
            self.fail("a body is not base64")

    def messages(self) -> tuple[Mapping[str, Json], ...]:
        found = self.optional(self.entry, "_eventSourceMessages", list) or []
        return tuple(message for message in found if isinstance(message, dict))
