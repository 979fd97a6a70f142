"""What every exchange has in common: the request, the response head and the end, as records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Finding
from inspector.protocol.errors import Fault
from inspector.protocol.model import Json
from inspector.session.journal import Journal
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Sent, Trailers


@dataclass(slots=True)
class Recorder:
    """Folds the observations of one exchange into records; who reads the payload extends it.

    `number` is the exchange's, once the request is out; `head` is the response's and `content_type` its media type,
    without parameters and in lower case; `ending` says how it ended, None while it has not, and `fault` what broke it,
    secrets masked.
    """

    journal: Journal
    operation: str
    number: int = field(default=0, init=False)
    head: Head | None = field(default=None, init=False)
    content_type: str = field(default="", init=False)
    ending: Ending | None = field(default=None, init=False)
    fault: Fault | None = field(default=None, init=False)

    def take(self, seen: Observation) -> list[Record]:
        """Append the records for an observation and return them; none once the exchange has ended."""
        if self.ending is not None:
            return []
        match seen:
            case Frames():
                return self.take_frames(seen)
            case Sent():
                return self._sent(seen)
            case Head():
                self.head = seen
                self.content_type = seen.header("content-type").partition(";")[0].strip().lower()
                return self._head(seen)
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
        """Append the body of a response that is no stream."""
        raise NotImplementedError

    def take_trailers(self, seen: Trailers, **members: Any) -> list[Record]:
        """Append the status that ended a gRPC call; `members` are more of its record's."""
        text = self.journal.redactor.text
        return self.journal.append(
            Kind.TRAILERS,
            seen.at,
            exchange=self.number,
            operation=self.operation,
            **{"label": f"{seen.name} {seen.message}".strip()} | members,
            meta={
                "code": seen.code,
                "name": seen.name,
                "message": text(seen.message),
                "headers": self.journal.redactor.headers(seen.headers),
            },
        )

    def request_members(self) -> dict[str, Json]:
        """Return what is known of the request besides its bytes, as members of its record."""
        return {}

    def request_meta(self) -> dict[str, Json]:
        """Return what is known of the request besides its bytes, for its `meta`."""
        return {}

    def mask(self, raw: bytes, *, asked: bool = False) -> bytes:  # noqa: ARG002 - for those who extend this
        """Mask the secrets in a body of this exchange; `asked` says that it is the request's."""
        return self.journal.redactor.body(raw)

    def judge_head(self, head: Head) -> tuple[Finding, ...]:  # noqa: ARG002 - for those who extend this
        """Judge the head of the response."""
        return ()

    def judge_end(self, ended: Ended) -> tuple[Finding, ...]:  # noqa: ARG002 - for those who extend this
        """Judge how the exchange ended."""
        return ()

    def end_words(self, ended: Ended) -> str:
        """Say how the exchange ended, where nothing went wrong."""
        return ended.how.value

    def payload_members(self) -> dict[str, Json]:
        """Return what the end of the exchange says of its payload, as members of its record."""
        return {}

    def stop(self, at: float) -> None:
        """Record that we stopped listening before the exchange was over; an exchange that is over stays as it is."""
        so_far = self.journal.exchanges.get(self.number)
        if so_far is not None and self.ending is None:
            seconds = max(0.0, at - so_far.at)
            self.take_end(Ended(at, Ending.STOPPED, seconds, so_far.events, so_far.received))

    def _sent(self, sent: Sent) -> list[Record]:
        redactor = self.journal.redactor
        records = self.journal.append(
            Kind.REQUEST,
            sent.at,
            operation=self.operation,
            payloads=[(len(sent.body), self.mask(sent.body, asked=True))],
            meta={
                "method": sent.method,
                "url": redactor.url(sent.url),
                "headers": redactor.headers(sent.headers),
                **self.request_meta(),
            },
            **self.request_members(),
        )
        self.number = records[0].seq
        self.journal.running[self.number] = self.stop
        return records

    def _head(self, head: Head) -> list[Record]:
        return self.journal.append(
            Kind.RESPONSE,
            head.at,
            exchange=self.number,
            operation=self.operation,
            label=f"{head.status} {head.reason}".strip(),
            meta={
                "status": head.status,
                "reason": self.journal.redactor.text(head.reason),
                "http": head.http_version,
                "headers": self.journal.redactor.headers(head.headers),
                "streamed": head.streamed,
            },
            findings=self.judge_head(head),
        )

    def take_end(self, ended: Ended) -> list[Record]:
        """Append how the exchange ended."""
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
            meta |= {"whose": fault.whose.value, "seen": fault.seen, "hint": fault.hint}
        findings = self.judge_end(ended)
        return self.journal.append(
            Kind.END,
            ended.at,
            exchange=self.number,
            operation=self.operation,
            label=self.fault.seen if self.fault else self.end_words(ended),
            payloads=[(len(ended.rest), self.mask(ended.rest))],
            meta=meta,
            findings=findings,
            **self.payload_members(),
        )
