"""Make a check file from recorded exchanges: a test for each conversation, which passes against the same agent.

The ids that the agent generates are captured and used again, values that vary become matchers, chunk boundaries are
left free. If the same requests were recorded several times, the responses are compared: what differs between them
becomes a matcher, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from inspector.capture.query import Query
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import usage_error
from inspector.protocol.model import Json
from inspector.session.check.document.node import EXTENSION
from inspector.session.check.recorded.assertions import BRACES
from inspector.session.check.recorded.conversation import Conversation
from inspector.session.check.recorded.exchanges import RecordedExchange, numbers_of, read_exchanges, read_pushes
from inspector.session.check.recorded.merging import merge_tests
from inspector.session.check.variables import references
from inspector.text.safe_json import dump

ALLOWED = "findings of the recorded agent are allowed"
"""The beginning of the note about findings."""
_DIGITS = 8
"""The number of hexadecimal digits in the id of a test."""


@dataclass(frozen=True, slots=True)
class MadeCheck:
    """A check document as JSON, and notes: which exchanges are left out or do not pass, which findings are allowed."""

    document: dict[str, Json]
    notes: tuple[str, ...]


def make_check(
    capture: Capture,
    query: Query | None = None,
    *,
    numbers: Iterable[int] | None = None,
    others: Sequence[Capture] = (),
) -> MadeCheck:
    """Make a check from the exchanges of a capture that match a filter, or that have these numbers.

    `others` are recordings of the same requests: values that differ between the recordings become matchers. Raises
    `FaultError` if there is no exchange from which a check can be made.
    """
    made, notes = _tests(capture, numbers_of(capture, query) if numbers is None else numbers)
    if not made:
        reason = "; ".join(notes) or f"no request of A2A {'matches the filter' if query else 'was selected'}"
        raise usage_error(f"A check cannot be made: {reason}.", "Choose other exchanges.")
    for other in others:
        recorded, others_notes = _tests(other, numbers_of(other, query))
        notes += others_notes
        common = made.keys() & recorded.keys()
        for requests in common:
            made[requests] = merge_tests(made[requests], recorded[requests])
        if not common:
            notes.append(f"{other.path.name} has other requests, so that its responses were not compared")
    tests = [{**test, "id": _identity(requests)} for requests, test in made.items()]
    allowed = sorted({rule for test in tests for rule in test[EXTENSION]["findings"].get("allow", ())})
    if allowed:
        notes.append(f"{ALLOWED}: {', '.join(allowed)}. Remove from allow what the agent has to correct")
    document: dict[str, Json] = {
        "acts_version": "1.0",
        "spec_version": "1.0",
        **({"variables": {BRACES: "{{"}} if BRACES in references(tests) else {}),
        "suites": [{"id": "recorded", "name": "Recorded exchanges", "tests": tests}],
    }
    return MadeCheck(document, tuple(notes))


def _identity(requests: str) -> str:
    """Return the id of a test: the same in every recording of its requests, but different in other files."""
    return f"RECORDED-{sha256(requests.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS].upper()}"


def _tests(capture: Capture, numbers: Iterable[int]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the test of each conversation by its requests, which two recordings have in common, and the notes."""
    exchanges, notes = read_exchanges(capture, numbers)
    pushes = read_pushes(capture)
    tests: dict[str, dict[str, Any]] = {}
    for exchanges_of_one in _conversations(exchanges):
        test: dict[str, Any] = Conversation(exchanges_of_one, pushes).make()
        requests = dump([[step["operation"], step["params"]] for step in test["steps"]])
        tests[requests] = merge_tests(tests[requests], test) if requests in tests else test
    return tests, notes


def _conversations(exchanges: Iterable[RecordedExchange]) -> list[list[RecordedExchange]]:
    """Group exchanges that share a task or a context, in the order of their first exchanges."""
    groups: list[tuple[set[str], list[RecordedExchange]]] = []
    for exchange in exchanges:
        related = [group for group in groups if group[0] & exchange.ids]
        if not related:
            groups.append((set(exchange.ids), [exchange]))
            continue
        first = related[0]
        first[0].update(exchange.ids, *(ids for ids, _ in related[1:]))
        for group in related[1:]:
            first[1].extend(group[1])
            groups.remove(group)
        first[1].append(exchange)
    return [sorted(members, key=lambda each: each.number) for _, members in groups]
