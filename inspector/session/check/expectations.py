"""Check a response against the expectations of its step, and a test against our additions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Severity
from inspector.protocol.assemble import AssembledArtifact
from inspector.protocol.model import Json, Part
from inspector.protocol.operations import PUSH
from inspector.session.check.calls import Response
from inspector.session.check.document.expected import Expect, ExpectError, ExpectStream
from inspector.session.check.document.extension import ArtifactExpectation, FindingsExpectation, StepExtension
from inspector.session.check.matching import Budget, Mismatch, is_match, mismatches, quote, time_mismatches
from inspector.session.check.paths import MISSING, Missing
from inspector.session.check.stream_order import order_mismatch
from inspector.session.replay.saving import files_of
from inspector.session.session import Session

_ANY_ERROR = "error"
"""A status in the official suite: any error."""
_FORMER_NAMES = {
    "StreamingNotSupportedError": "UnsupportedOperationError",
    "ExtendedCardNotSupportedError": "ExtendedAgentCardNotConfiguredError",
}
"""Names in ACTS for errors that A2A 1.0 names differently."""
_EVENTS: Mapping[str, str] = {
    "status_update": "a status update",
    "artifact_update": "an artifact update",
    "task": "a task",
    "message": "a message",
    "error": "an error",
}
"""The kinds of events, by the member that names the kind in the root of assertions."""
_MORE_SEVERE: Mapping[str, frozenset[Severity]] = {
    "error": frozenset(),
    "warning": frozenset({Severity.ERROR}),
    "hint": frozenset({Severity.ERROR, Severity.WARNING}),
    "none": frozenset(Severity),
}
"""The severities above each `max`."""


def expect_mismatches(expected: Expect, response: Response, *, raw: bool) -> list[Mismatch]:
    """Return how a response differs from `expect`; without `raw`, an error must be expected explicitly."""
    found: list[Mismatch] = []
    if expected.status == _ANY_ERROR:
        if response.error is None:
            found.append(Mismatch("", "an error", quote(response.body)))
    elif expected.status is not None:
        found += mismatches(expected.status, response.status, "status")
    if not raw and response.fault is not None and not _mentions_error(expected.body):
        is_expected = expected.status == _ANY_ERROR or (expected.status is not None and response.status >= 300)
        if found or not is_expected:
            return [*found, _failed(response)]
    if expected.body is not None:
        found += mismatches(expected.body, MISSING if response.body is None else response.body)
    if expected.headers:
        found += header_mismatches(expected.headers, response)
    return found


def header_mismatches(expected: Mapping[str, Json], response: Response) -> list[Mismatch]:
    """Return how the headers of a response differ; names are compared without case."""
    return [
        mismatch
        for name, value in expected.items()
        for mismatch in mismatches(value, response.headers.get(name.lower(), MISSING), f"header {name}")
    ]


def success_mismatches(response: Response) -> list[Mismatch]:
    """Return the failure of a response of which nothing is expected but success."""
    return [_failed(response)] if response.fault is not None else []


def _failed(response: Response) -> Mismatch:
    return Mismatch("", "a result", response.fault.seen if response.fault else "nothing")


def _mentions_error(body: Json) -> bool:
    if isinstance(body, dict):
        return "error" in body or any(_mentions_error(value) for name, value in body.items() if name.endswith("_of"))
    return isinstance(body, list) and any(_mentions_error(item) for item in body)


def error_mismatches(expected: ExpectError, response: Response) -> list[Mismatch]:
    """Return how the error of a response differs from `expect_error`."""
    error = response.error
    if error is None:
        actual = response.fault.seen if response.fault else f"a result: {quote(response.body)}"
        return [Mismatch("error", _error_words(expected), actual)]
    found: list[Mismatch] = []
    if expected.error_type is not None:
        found += mismatches(_current_names(expected.error_type), error.name, "error")
        if found and not mismatches(expected.error_type, error.code):
            found = []
    if expected.message is not None:
        found += mismatches(expected.message, error.message, "error.message")
    if expected.details is not None:
        found += mismatches(expected.details, MISSING if error.data is None else error.data, "error.data")
    return found


def _error_words(expected: ExpectError) -> str:
    return "an error" if expected.error_type is None else f"the error {quote(expected.error_type)}"


def _current_names(value: Json) -> Json:
    """Return an assertion about the name of an error with the names of A2A 1.0."""
    if isinstance(value, str):
        return _FORMER_NAMES.get(value, value)
    if isinstance(value, dict):
        return {name: _current_names(item) for name, item in value.items()}
    return [_current_names(item) for item in value] if isinstance(value, list) else value


def stream_mismatches(expected: ExpectStream, response: Response) -> list[Mismatch]:
    """Return how the events of a stream differ from `expect_stream`."""
    events, found = response.events, list[Mismatch]()
    if response.fault is not None:
        found.append(_failed(response))
    if expected.min_count is not None and len(events) < expected.min_count:
        found.append(Mismatch("events", f"at least {expected.min_count}", str(len(events))))
    if expected.max_count is not None and len(events) > expected.max_count:
        found.append(Mismatch("events", f"at most {expected.max_count}", str(len(events))))
    if expected.ordering is not None and (order := order_mismatch(response.states)) is not None:
        found.append(order)
    budget = Budget()
    for position, event in enumerate(expected.events):
        found += _event_mismatches(event, position, events, budget)
    if expected.final_event is not None:
        last = events[-1] if events else MISSING
        found += [_with_kind(item, last) for item in mismatches(expected.final_event, last, "final_event", budget)]
    if expected.each_event is not None:
        for number, item in enumerate(events):
            if differs := mismatches(expected.each_event, item, f"events[{number}]", budget):
                found += differs
                break
    if response.left_open:
        found.append(Mismatch("events", "the end of the stream after the final state", "a stream that stays open"))
    return found


def _with_kind(mismatch: Mismatch, last: Json | Missing) -> Mismatch:
    """Add the kind of the last event to a mismatch about a member that it does not have."""
    if mismatch.actual != quote(MISSING):
        return mismatch
    kind = next((words for name, words in _EVENTS.items() if isinstance(last, dict) and name in last), "")
    about = f"the last event is {kind}" if kind else "no event was received" if last is MISSING else ""
    return mismatch._replace(actual=f"{mismatch.actual}: {about}") if about else mismatch


def _event_mismatches(event: Mapping[str, Json], position: int, events: list[Json], budget: Budget) -> list[Mismatch]:
    """Compare one event assertion with the event at its position, or with all events."""
    assertion = {name: value for name, value in event.items() if name not in ("description", "match", "index")}
    if event.get("match") == "any_position":
        if any(is_match(assertion, item, budget) for item in events):
            return []
        words = event.get("description") or quote(assertion)
        return [Mismatch("events", f"an event: {words}", f"none of {len(events)} events")]
    index = event.get("index", position)
    actual = events[index] if isinstance(index, int) and index < len(events) else MISSING
    return mismatches(assertion, actual, f"events[{index}]", budget)


def response_time_mismatches(expected: StepExtension, response: Response) -> list[Mismatch]:
    """Return which limits of time a response exceeds."""
    times = response.times or [response.seconds]
    gaps = [after - before for before, after in pairwise(times)]
    return time_mismatches(
        ("first event", expected.first_event_ms, times[0]),
        ("longest gap", expected.gap_ms, max(gaps, default=0.0)),
        ("total time", expected.total_ms, response.seconds),
    )


def artifact_mismatches(expected: ArtifactExpectation, response: Response, session: Session) -> list[Mismatch]:
    """Return how the assembled artifact of a response's task differs."""
    task_id = response.task_id or _task_in(response.body)
    tracked = session.tasks.get(task_id)
    artifacts = list(tracked.now.artifacts.values()) if tracked else []
    chosen = [item for item in artifacts if expected.name in ("", item.name, item.artifact_id)]
    where = f"artifact {expected.name}" if expected.name else "the first artifact"
    if not chosen:
        names = ", ".join(item.name or item.artifact_id for item in artifacts) or "none"
        return [Mismatch(where, "an artifact", f"the artifacts of the task: {names}")]
    return list(_artifact_differences(expected, chosen[0], where))


def _artifact_differences(expected: ArtifactExpectation, artifact: AssembledArtifact, where: str) -> Iterable[Mismatch]:
    if expected.text is not None:
        yield from mismatches(expected.text, str(artifact.text), f"{where}: text")
    if expected.data is not None:
        data = next((part.data for part in artifact.other_parts if part.content == "data"), MISSING)
        yield from mismatches(expected.data, data, f"{where}: data")
    if expected.media_type is not None:
        kind = next((part.media_type for part in artifact.parts if part.media_type), MISSING)
        yield from mismatches(expected.media_type, kind, f"{where}: media type")
    if expected.sha256:
        yield from mismatches(expected.sha256, digest_of(artifact), f"{where}: sha256")


def digest_of(artifact: AssembledArtifact) -> str:
    """Return the SHA-256 of the files of an artifact, one after another, as they would be saved.

    The members of data are sorted by their names, because gRPC does not keep their order.
    """
    parts = [
        part.model_copy(update={"data": json.loads(json.dumps(part.data, sort_keys=True))})
        if isinstance(part, Part) and part.content == "data"
        else part
        for part in artifact.parts
    ]
    ordered = replace(artifact, parts=parts)
    return hashlib.sha256(b"".join(file.content for file in files_of([ordered]))).hexdigest()


def _task_in(body: Json) -> str:
    inner: Any = body.get("task", body) if isinstance(body, dict) else {}
    return str(inner.get("id", "")) if isinstance(inner, dict) else ""


def severe_rules(records: Iterable[Record]) -> set[str]:
    """Return the rules of the findings above hints."""
    return {finding.rule for record in records for finding in record.findings if finding.severity is not Severity.HINT}


def finding_mismatches(expected: FindingsExpectation, records: Iterable[Record]) -> list[Mismatch]:
    """Return the findings about records that are more severe than allowed, each rule once."""
    severe, seen = _MORE_SEVERE[expected.max], dict[str, Mismatch]()
    for record in records:
        for finding in record.findings:
            if finding.severity in severe and finding.rule not in expected.allow:
                words = f"{finding.severity} {finding.rule} at #{record.seq}: {finding.seen}"
                limit = "no finding" if expected.max == "none" else f"no finding above {expected.max}"
                seen.setdefault(finding.rule, Mismatch("findings", limit, words))
    return list(seen.values())


def secret_mismatches(records: Iterable[Record], masked: Container[int]) -> list[Mismatch]:
    """Return the answers of the agent that contain a secret; push configurations may contain their own.

    `masked` has the hashes of the payloads in which a secret was masked: the agent may send the text of the mask.
    """
    return [
        Mismatch(f"record {record.seq}", "no secret", "a secret, which is masked in the capture")
        for record in records
        if record.kind in (Kind.BODY, Kind.FRAME) and record.operation not in PUSH and hash(record.raw) in masked
    ]
