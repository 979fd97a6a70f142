"""The only writer of a capture: appends records and passes them to subscribers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeAlias

from inspector.capture.records import EMPTY, EXTENSIONS, NOTHING, REQUEST, VERIFIED, Common, Kind, Payload, Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.findings.finding import Finding, Severity, worst_of
from inspector.protocol.operations import SENDS, Operation
from inspector.session.checker import Checker
from inspector.session.exchanges import Exchanges
from inspector.wire.client.credentials import origin

_PAGE = 1000
_SENDS_OR_SUBSCRIBES = SENDS | {Operation.SUBSCRIBE}
_SENDS_BACK = 100
"""How many earlier send requests are examined to find the last one about the task of a record."""

LABEL_LENGTH = 200
"""The largest length of labels, and of quotations in findings."""

_MOST_VERIFIED = 1_000
"""For how many mandates the results of their verification are kept in memory."""

_DOCUMENTS = frozenset({"card", "catalog"})
"""The events of documents that are fetched again and again."""
_MASKED_COUNT = 1_000
"""For how many different records the masked texts are cached: the events of a stream repeat the same texts."""

Subscriber: TypeAlias = Callable[[Sequence[Record]], None]
"""A function that is called with the next records, which are alike: they differ only in number, time, size and bytes.

If something else has changed, it is called without records. It has to be fast.
"""


class Journal:
    """A capture with its subscribers; masks the texts and findings of records, but not the payloads: callers mask them.

    `found` has the numbers of the records with findings, by rule; a card or a catalog that is fetched again and has the
    same findings as before does not count. `worst` is the most severe severity of them. `running` has the functions
    that end running exchanges; `sends` the number and the time of each request that sends or subscribes; `last_seq` is
    the number of the last record that the subscribers received; `extensions` counts the records with data of each known
    extension, by its name; `verified` has what was verified in the data of extensions, by its id;
    `masked` has the hashes of the payloads from the agent in which a secret was masked;
    `checker` returns the findings about the records.
    """

    def __init__(self, capture: Capture, redactor: Redactor, checker: Checker | None = None) -> None:
        self.capture = capture
        self.redactor = redactor
        self.checker = checker or Checker()
        self.extensions: Counter[str] = Counter()
        self.verified: dict[str, Sequence[Sequence[str]]] = {}
        self.found: dict[str, list[int]] = {}
        self.worst: Severity | None = None
        self._of_document: dict[tuple[str, str, str], tuple[Finding, ...]] = {}
        self.exchanges = Exchanges()
        self.running: dict[int, Callable[[float], None]] = {}
        self.sends: list[tuple[int, float]] = []
        self.last_seq = 0
        self.masked: set[int] = set()
        self._subscribers: list[Subscriber] = []
        self._masked: dict[Common, Common] = {}
        self._masked_secrets = 0

    def append(
        self,
        kind: Kind,
        at: float,
        *,
        payloads: Sequence[Payload] = EMPTY,
        meta: Mapping[str, Any] = NOTHING,
        findings: Sequence[Finding] = (),
        **common: Any,
    ) -> list[Record]:
        """Append a record for each payload, as `add` does; `common` are members of `Common`."""
        return self.add(Common(kind, **common), at, payloads, meta, findings)

    def add(
        self,
        common: Common,
        at: float,
        payloads: Sequence[Payload] = EMPTY,
        meta: Mapping[str, Any] = NOTHING,
        findings: Sequence[Finding] = (),
    ) -> list[Record]:
        """Mask the texts and findings of records, append them like `Capture.add`, and pass them to subscribers."""
        masked = self._masked.get(common) if self._masked_secrets == self.redactor.known else None
        if masked is None:
            masked = self._mask(common)
        records = self.capture.add(masked, at, payloads, meta, self._mask_findings(findings) if findings else ())
        self._offer(records)
        return records

    def keep_masked(self, raw: bytes, masked: bytes) -> bytes:
        """Remember that a payload from the agent contained a secret, if it did; return the masked payload."""
        if masked != raw:
            self.masked.add(hash(masked))
        return masked

    def replay(self, records: Iterable[Record]) -> None:
        """Pass the next records of an opened capture to the subscribers."""
        for _, group in groupby(records, _alike):
            self._offer(list(group))

    def _offer(self, records: Sequence[Record]) -> None:
        first = records[0]
        if first.kind is REQUEST and first.operation in _SENDS_OR_SUBSCRIBES:
            self.sends += [(record.seq, record.at) for record in records]
        is_known = first.event in _DOCUMENTS and self._is_same_document(first)
        if first.findings and not is_known:
            self.worst = worst_of([self.worst, *(finding.severity for finding in first.findings)])
            for finding in first.findings:
                self.found.setdefault(finding.rule, []).extend(record.seq for record in records)
        if names := first.meta.get(EXTENSIONS):
            self.extensions.update(names)
            self._keep_verified(first)
        self.exchanges.offer(records)
        for subscriber in self._subscribers:
            subscriber(records)
        self.last_seq = records[-1].seq

    def _keep_verified(self, record: Record) -> None:
        self.verified |= record.meta.get(VERIFIED) or {}
        while len(self.verified) > _MOST_VERIFIED:
            del self.verified[next(iter(self.verified))]

    def _is_same_document(self, record: Record) -> bool:
        """Return whether a card or a catalog has the findings that it had when it was fetched the last time.

        A host may have the same card at several paths.
        """
        exchange = self.exchanges.get(record.exchange)
        document = record.event, record.operation, origin(exchange.url) if exchange is not None else ""
        before = self._of_document.get(document)
        self._of_document[document] = record.findings
        return before == record.findings

    def _mask(self, common: Common) -> Common:
        text = self.redactor.text  # caches short texts, so that equal texts in several records are one object
        masked = common._replace(
            task=text(common.task),
            context=text(common.context),
            state=text(common.state),
            label=text(common.label)[:LABEL_LENGTH],  # mask first: a cut through a secret would leave a part of it
        )
        if self._masked_secrets != self.redactor.known or len(self._masked) >= _MASKED_COUNT:
            self._masked.clear()
            self._masked_secrets = self.redactor.known
        if len(common.label) <= LABEL_LENGTH:  # limits the use of memory
            self._masked[common] = masked
        return masked

    def _mask_findings(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        text = self.redactor.text  # an agent can use a secret as the name of a member, which is in the pointer
        return tuple(
            replace(finding, seen=text(finding.seen)[:LABEL_LENGTH], pointer=text(finding.pointer))
            for finding in findings
        )

    def send_of(self, record: Record) -> float | None:
        """Return the time of the send request to which a record belongs, None if there was none.

        This is the request of the record's exchange if that is a send, or else the last send about the same task, or
        else the last send.
        """
        own = self.exchanges.get(record.exchange)
        if own is not None and own.operation in _SENDS_OR_SUBSCRIBES:
            return own.at
        last = bisect_right(self.sends, record.seq, key=lambda send: send[0])
        for number, at in reversed(self.sends[max(0, last - _SENDS_BACK) : last] if record.task else ()):
            send = self.exchanges.get(number)
            if send is not None and send.task == record.task:
                return at
        return self.sends[last - 1][1] if last else None

    def subscribe(self, subscriber: Subscriber, *, replay: bool = False) -> Callable[[], None]:
        """Pass new records, or with `replay` all records, to a subscriber; return a function that unsubscribes it."""
        if replay:
            for first in range(1, self.last_seq + 1, _PAGE):  # limits the use of memory
                page = self.capture.slice(first, min(first + _PAGE - 1, self.last_seq))
                for _, group in groupby(page, _alike):
                    subscriber(list(group))
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def notify(self) -> None:
        """Call the subscribers without a record, because something else may have changed."""
        for subscriber in self._subscribers:
            subscriber(())


def _alike(record: Record) -> Hashable:
    """Return a key that is equal for frames that are passed to the subscribers together."""
    return (record[2:10], record.findings) if record.kind is Kind.FRAME and not record.meta else record.seq
