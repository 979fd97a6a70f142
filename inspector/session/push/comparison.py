"""Compare a task as its streams, its pushes and the responses of the agent (GetTask) report it.

`matching` finds when each source reported each update; this module finds what is missing, repeated, reordered or
different.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import AssembledArtifact, AssembledTask
from inspector.protocol.errors import Fault, FaultError
from inspector.protocol.lifecycle import short
from inspector.session.push.matching import Reconciliation, Source, TaskMatcher, content_of, match
from inspector.session.replay.task_diff import DiffLine, line_difference
from inspector.text.units import counted, size

SOURCE_NAMES: Mapping[Source, str] = {Source.STREAM: "stream", Source.PUSH: "push", Source.RESPONSE: "GetTask"}


class Verdict(StrEnum):
    """Whether the sources agree about one aspect of the task."""

    SAME = "same"
    DIFFERS = "differs"
    MISSING = "missing"
    """A source does not report the aspect, although it should."""
    LATE = "not yet"
    """The response came before the last update by another source."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One aspect of the task (state, context or an artifact) with its value by source, `""` if it is not reported.

    If the texts of an artifact differ, `compared` names the two sources and `lines` is the difference between them.
    """

    name: str
    values: Mapping[Source, str]
    verdict: Verdict
    lines: tuple[DiffLine, ...] = ()
    compared: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result: the aspects by source, sentences about the differences, and the matched updates.

    `sources` are those that reported anything, in the order of `Source`.
    """

    sources: tuple[Source, ...]
    aspects: tuple[Aspect, ...]
    words: tuple[str, ...]
    updates: Reconciliation

    @property
    def agree(self) -> bool:
        """Return whether all sources agree."""
        return all(aspect.verdict in (Verdict.SAME, Verdict.LATE) for aspect in self.aspects)


def compare(matcher: TaskMatcher) -> Comparison:
    """Compare what the sources reported so far."""
    accounts = {source: matcher.accounts[source] for source in Source if source in matcher.accounts}
    if matcher.response is not None:
        accounts[Source.RESPONSE] = matcher.response
    updates = matcher.result()
    aspects = [_state(accounts), _context(accounts), *_artifacts(accounts)]
    words = (*_missing(aspects), *_reordered(matcher.orders), *updates.words)
    return Comparison(tuple(accounts), tuple(aspects), words, updates)


async def ask_and_compare(
    capture: Capture, task_id: str, reason: str, ask: Callable[[], Awaitable[Fault | None]]
) -> tuple[Comparison, str]:
    """Ask the agent for a task, then compare the recorded reports about it.

    `reason` is why the agent should not be asked, `""` if it should. The second value is why there is no response, `""`
    if there is one.
    """
    failure = reason
    if not failure:
        try:
            fault = await ask()
        except FaultError as error:
            fault = error.fault
        failure = fault.sentence() if fault else ""
    return compare(await match(capture, task_id)), failure


def _reordered(orders: Mapping[Source, Sequence[tuple[str, str]]]) -> Iterable[str]:
    """Name the first update that came in another order by push than by stream."""
    stream, push = orders.get(Source.STREAM, ()), orders.get(Source.PUSH, ())
    both = set(stream) & set(push)
    by_stream = [key for key in dict.fromkeys(stream) if key in both]
    by_push = [key for key in dict.fromkeys(push) if key in both]
    for streamed, pushed in zip(by_stream, by_push, strict=True):
        if streamed != pushed:
            yield f"{_named(pushed)} came by push before {_named(streamed)}, by stream after it"
            return


def _missing(aspects: Iterable[Aspect]) -> Iterable[str]:
    """Name the aspects that some sources do not report, and those that changed after the response."""
    for aspect in aspects:
        without = " and ".join(SOURCE_NAMES[source] for source, value in aspect.values.items() if not value)
        if aspect.verdict is Verdict.MISSING:
            yield f"{aspect.name} is not reported by {without}"
        elif aspect.verdict is Verdict.LATE:
            yield f"{aspect.name} changed after the response to GetTask"


def _named(key: tuple[str, str]) -> str:
    state, text = key
    return f'{short(state)} "{text}"' if text else short(state)


def _state(accounts: Mapping[Source, AssembledTask]) -> Aspect:
    values = {source: short(account.state) for source, account in accounts.items()}
    return Aspect("state", values, _verdict(values, accounts))


def _context(accounts: Mapping[Source, AssembledTask]) -> Aspect:
    values = {source: account.context_id for source, account in accounts.items()}
    known = {context_id for context_id in values.values() if context_id}
    return Aspect("context", values, Verdict.DIFFERS if len(known) > 1 else Verdict.SAME)


def _artifacts(accounts: Mapping[Source, AssembledTask]) -> Iterable[Aspect]:
    artifact_ids = dict.fromkeys(artifact_id for account in accounts.values() for artifact_id in account.artifacts)
    # Pushes need not contain artifacts: if the agent pushes no artifact at all, none is reported as missing.
    expected = [source for source, account in accounts.items() if account.artifacts or source is not Source.PUSH]
    for artifact_id in artifact_ids:
        artifacts = {source: accounts[source].artifacts.get(artifact_id) for source in expected}
        values = {source: _brief(artifact) if artifact else "" for source, artifact in artifacts.items()}
        contents = {source: content_of(artifact) if artifact else "" for source, artifact in artifacts.items()}
        verdict = _verdict(contents, accounts)
        name = next(artifact.name or artifact_id for artifact in artifacts.values() if artifact is not None)
        lines, compared = _difference(contents) if verdict is Verdict.DIFFERS else ((), ())
        yield Aspect(f"artifact {name}", values, verdict, lines, compared)


def _verdict(values: Mapping[Source, str], accounts: Mapping[Source, AssembledTask]) -> Verdict:
    """Compare the sources; a response that is older than the last update of another source is `LATE`, not wrong."""
    if len(set(values.values())) <= 1:
        return Verdict.SAME
    last = max(accounts[source].updated for source in values)
    response = accounts.get(Source.RESPONSE)
    others = {value for source, value in values.items() if source is not Source.RESPONSE}
    if response is not None and response.updated < last and len(others) == 1:
        return Verdict.LATE
    return Verdict.DIFFERS if all(values.values()) else Verdict.MISSING


def _difference(contents: Mapping[Source, str]) -> tuple[tuple[DiffLine, ...], tuple[Source, ...]]:
    """Return the difference between two sources: stream and response or, if these are equal, stream and pushes."""
    first, *others = [source for source in (Source.STREAM, Source.PUSH, Source.RESPONSE) if source in contents]
    other = next((source for source in reversed(others) if contents[source] != contents[first]), first)
    return tuple(line_difference(contents[first], contents[other])), (first, other)


def _brief(artifact: AssembledArtifact) -> str:
    parts = len(artifact.parts)
    return f"{size(artifact.size)}, {counted(parts, 'part')}"
