"""Record the request, the response head and the end of an exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from inspector.capture.records import NOTHING, PROBE, Kind, Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import Fault
from inspector.protocol.http_fields import without_parameters
from inspector.protocol.model import Json
from inspector.session.journal import Journal
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Sent, Trailers


@dataclass(slots=True)
class Recorder:
    """Converts the observations of one exchange into records; subclasses read the payload.

    `number` is the number of the request's record, 0 before it is sent. `content_type` is the media type of the
    response in lower case, without parameters. If `probe`, the records are marked as those of the doctor. `ending` is
    None until the end; `fault` is the reason for an irregular end, with secrets masked.
    """

    journal: Journal
    operation: str
    number: int = field(default=0, init=False)
    head: Head | None = field(default=None, init=False)
    content_type: str = field(default="", init=False)
    probe: bool = field(default=False, init=False)
    ending: Ending | None = field(default=None, init=False)
    fault: Fault | None = field(default=None, init=False)

    @property
    def status(self) -> int:
        """Return the HTTP status of the response, 0 without a response."""
        return self.head.status if self.head else 0

    @property
    def mark(self) -> Mapping[str, Json]:
        """Return the member of `meta` that marks the records of a probe or a login, nothing for other exchanges."""
        return {PROBE: True} if self.probe else NOTHING

    def append(self, kind: Kind, at: float, **members: Any) -> list[Record]:
        """Append records of this exchange; `members` are those of `Journal.append`."""
        if self.mark:
            members["meta"] = {**members.get("meta", {}), **self.mark}
        return self.journal.append(kind, at, exchange=self.number, operation=self.operation, **members)

    def take(self, seen: Observation) -> list[Record]:
        """Append the records for an observation and return them; none once the exchange has ended."""
        if self.ending is not None:
            return []
        match seen:
            case Frames():
                return self.take_frames(seen)
            case Sent():
                return self.take_sent(seen)
            case Head():
                return self.take_head(seen)
            case Body():
                return self.take_body(seen)
            case Trailers():
                return self.take_trailers(seen)
            case Ended():
                return self.take_end(seen)

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append the frames of a stream."""
        raise NotImplementedError

    def take_body(self, body: Body) -> list[Record]:
        """Append the body of a response that is not a stream."""
        raise NotImplementedError

    def take_trailers(self, seen: Trailers, **members: Any) -> list[Record]:
        """Append the status of a gRPC call; `members` are added to its record."""
        text = self.journal.redactor.text
        meta = {
            "code": seen.code,
            "name": seen.name,
            "message": text(seen.message),
            "headers": self.journal.redactor.headers(seen.headers),
        }
        return self.append(
            Kind.TRAILERS, seen.at, **{"label": f"{seen.name} {seen.message}".strip()} | members, meta=meta
        )

    def mask(self, raw: bytes, *, asked: bool = False) -> bytes:
        """Mask the secrets in a body of this exchange; `asked` is whether it is the body of the request."""
        masked = self.journal.redactor.body(raw)
        return masked if asked else self.journal.keep_masked(raw, masked)

    def stop(self, at: float) -> None:
        """Record that a2a-inspect stopped the exchange at the time `at`, unless the exchange has ended."""
        so_far = self.journal.exchanges.get(self.number)
        if so_far is not None and self.ending is None:
            seconds = max(0.0, at - so_far.at)
            self.take_end(Ended(at, Ending.STOPPED, seconds, so_far.events, so_far.received))

    def take_sent(self, sent: Sent, meta: dict[str, Json] | None = None, **members: Any) -> list[Record]:
        """Append the request; `members` are added to its record, `meta` to the `meta` of the record."""
        redactor = self.journal.redactor
        redactor.learn(sent.headers)
        records = self.journal.append(
            Kind.REQUEST,
            sent.at,
            operation=self.operation,
            payloads=[(len(sent.body), self.mask(sent.body, asked=True))],
            meta={
                "method": sent.method,
                "url": redactor.url(sent.url),
                "headers": redactor.headers(sent.headers),
                **(meta or {}),
                **self.mark,
            },
            **members,
        )
        self.number = records[0].seq
        self.journal.running[self.number] = self.stop
        return records

    def take_head(self, head: Head, **members: Any) -> list[Record]:
        """Append the response head; `members` are added to its record."""
        self.head = head
        self.content_type = without_parameters(head.header("content-type"))
        return self.append(
            Kind.RESPONSE,
            head.at,
            label=f"{head.status} {head.reason}".strip(),
            meta={
                "status": head.status,
                "reason": self.journal.redactor.text(head.reason),
                "http": head.http_version,
                "headers": self.journal.redactor.headers(head.headers),
                "streamed": head.streamed,
            },
            **members,
        )

    def take_end(self, ended: Ended, label: str = "", **members: Any) -> list[Record]:
        """Append the end of the exchange; `label` describes a regular end, `members` are added to its record."""
        self.ending = ended.how
        self.journal.running.pop(self.number, None)
        meta: dict[str, Json] = {
            "how": ended.how.value,
            "events": ended.events,
            "bytes": ended.size,
            "seconds": round(ended.seconds, 6),
        }
        if ended.fault is not None:
            fault = self.fault = replace(ended.fault, seen=self.journal.redactor.text(ended.fault.seen))
            meta |= {"whose": fault.whose.value, "code": str(fault.code), "seen": fault.seen, "hint": fault.hint}
        return self.append(
            Kind.END,
            ended.at,
            label=self.fault.seen if self.fault else label or ended.how.value,
            payloads=[(len(ended.rest), self.mask(ended.rest))],
            meta=meta,
            **members,
        )
