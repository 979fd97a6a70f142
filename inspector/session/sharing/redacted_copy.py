"""Copy a capture without secrets: find what is masked, write the copy, and search the copy for what was masked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from inspector.capture.multi_search import MultiSearch
from inspector.capture.private_files import CaptureError, remove
from inspector.capture.records import Common, Record
from inspector.capture.redaction import MASK, Redactor
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import usage_error
from inspector.session.exporters.har_records import renumbered
from inspector.session.exporters.selection import Selection
from inspector.session.journal import LABEL_LENGTH
from inspector.session.payload import payload_json
from inspector.session.replay.validation import validated
from inspector.session.sharing.pseudonyms import EMAILS, HOSTS, IDS, Pseudonyms
from inspector.session.sharing.stream_texts import StreamTexts
from inspector.session.sharing.texts import Place, Rewriter, all_texts, cached, places
from inspector.text.binary_metadata import BINARY, values_of
from inspector.text.key_forms import KEY, may_have_key

BY_LOCATION = "secrets by their location"
BY_FORM = "keys and tokens by their form"
SEVERAL_EVENTS = "a text that is split over several events"
_SHORTEST = 4
_WAITING = 2_000


@dataclass(frozen=True, slots=True)
class Rules:
    """What is masked besides secrets that are recognised by their location or by their form.

    `secrets` has values by the name of the rule; `patterns` are regular expressions, of which only the first group is
    masked if they have groups; `pseudonyms` is whether ids, hosts and e-mail addresses are replaced.
    """

    secrets: Mapping[str, str] = field(default_factory=dict)
    patterns: Sequence[re.Pattern[str]] = ()
    pseudonyms: bool = False


@dataclass(slots=True)
class Found:
    """What a rule finds: how often, how many different values, and how often in each place."""

    rule: str
    matches: int = 0
    values: set[str] = field(default_factory=set)
    places: Counter[str] = field(default_factory=Counter)

    def add(self, place: str, count: int = 1) -> None:
        """Count matches in a place."""
        self.matches += count
        self.places[place] += count


class RedactedCopy:
    """A copy of the chosen records of a capture, which is made without changing the capture."""

    def __init__(self, selection: Selection, rules: Rules) -> None:
        """Find what is masked; raises `FaultError` if a value is too short to be masked."""
        self._selection = selection
        self._rules = rules
        self._pseudonyms = Pseudonyms()
        self._matches = cached(self._find)
        self._remains = cached(self._remaining)
        self._found: dict[str, Found] = {}
        by_location = Redactor()
        named = (IDS, HOSTS, EMAILS) if rules.pseudonyms else ()
        for name in (BY_LOCATION, BY_FORM, *rules.secrets, *map(pattern_name, rules.patterns), *named):
            self._found[name] = Found(name)
        streams = StreamTexts()
        for record, request in self._records():
            self._scan(record, request, by_location)
            self._scan_streams(streams.add(record, request))
        self._scan_streams(streams.rest())
        self._pseudonyms.assign()
        for value, rule in self._pseudonyms.rules.items():
            self._found[rule].values.add(value)
        self._masked = {*rules.secrets.values(), *self._values_of_patterns()}
        self._replaced = sorted({*self._masked, *self._pseudonyms.rules})
        self._redactor = Redactor(self._masked)
        if self._redactor.known < len(self._masked):
            raise usage_error(
                f"A secret or a match of a pattern has fewer than {_SHORTEST} characters, or is true, false or null.",
                "Such a value cannot be masked everywhere: choose another pattern.",
            )
        self._search = MultiSearch(self._masked)

    @property
    def found(self) -> list[Found]:
        """Return what each rule finds."""
        return list(self._found.values())

    def write(self, path: Path) -> int:
        """Write the copy to a new capture, search it, and return the number of its records.

        Raises `CaptureError` if it cannot be written, and `FaultError` if a masked value remains in it; then the copy
        is deleted.
        """
        with Capture.create(path) as copy:
            try:
                self._write(copy)
                copy.close()
                if copy.failure:
                    raise CaptureError(copy.failure)
                count = self._check(path)
            except BaseException:
                copy.close()
                remove(path)
                raise
        return count

    def _records(self) -> Iterator[tuple[Record, Record]]:
        """Yield the chosen records in order, each with the request of its exchange."""
        capture = self._selection.capture
        for record in self._selection.in_order():
            yield record, capture.request_of(record)

    def _values_of_patterns(self) -> set[str]:
        names = [BY_FORM, *map(pattern_name, self._rules.patterns)]
        return {value for name in names for value in self._found[name].values}

    def _scan(self, record: Record, request: Record, by_location: Redactor) -> None:
        self._scan_locations(record, request, by_location)
        for place in places(record, request):
            self._scan_text(place)
        if self._rules.pseudonyms:
            for rule, where in self._pseudonyms.learn(record, request):
                self._found[rule].add(where)

    def _scan_streams(self, texts: Iterator[str]) -> None:
        for text in texts:
            self._scan_text(Place(SEVERAL_EVENTS, text), only_new=True)

    def _scan_text(self, place: Place, *, only_new: bool = False) -> None:
        """Find secrets and matches of patterns; `only_new` leaves out values that were found before."""
        for rule, values in self._matches(place.text):
            self._add(rule, values, place, only_new=only_new)

    def _find(self, text: str) -> list[tuple[str, list[str]]]:
        """Return the secrets, the keys and the matches of each pattern in a text."""
        found = [(name, [secret] * text.count(secret)) for name, secret in self._rules.secrets.items()]
        if may_have_key(text):
            found.append((BY_FORM, KEY.findall(text)))
        for pattern in self._rules.patterns:
            values = [(match[1] if pattern.groups else match[0]) or "" for match in pattern.finditer(text)]
            found.append((pattern_name(pattern), values))
        return [(rule, values) for rule, values in found if values]

    def _add(self, rule: str, values: Sequence[str], place: Place, *, only_new: bool) -> None:
        found = self._found[rule]
        for value in values:
            if value.strip("*") and not (only_new and value in found.values):
                found.values.add(value)
                found.add(place.name)

    def _scan_locations(self, record: Record, request: Record, redactor: Redactor) -> None:
        """Count the secrets that are recognised by their location, and were not masked yet."""
        found = self._found[BY_LOCATION]
        headers = [(str(name), str(value)) for name, value in record.meta.get("headers") or ()]
        for (name, before), (_, after) in zip(headers, redactor.headers(headers), strict=True):
            if before != after:
                found.add(f"header {name}")
        for name in ("url", "target", "to"):
            before = str(record.meta.get(name, ""))
            if redactor.url(before) != before:
                found.add("URL")
        payload = payload_json(record, request) if record.raw else b""
        if (masked := redactor.body(payload)) != payload:
            added = masked.count(MASK.encode()) - payload.count(MASK.encode())
            found.add(f"{record.kind.value} body", max(added, 1))

    def _write(self, copy: Capture) -> None:
        selection, rewriter = self._selection, self._rewriter()
        for record, request in self._records():
            changed = rewriter.record(record, request)
            common = Common(*changed[2:10])._replace(exchange=selection.number(record.exchange))
            meta = renumbered(record.kind, changed.meta, selection.number)
            copy.add(common, selection.at(record), [(record.size, changed.raw)], meta, changed.findings)
            if copy.backlog > _WAITING:
                copy.flush()

    def _rewriter(self) -> Rewriter:
        redactor, pseudonyms = self._redactor, self._pseudonyms

        def header(name: str, value: str) -> str:
            [(_, masked)] = redactor.headers([(name, value)])
            masked = pseudonyms.header(name, masked)
            return MASK if name.lower().endswith(BINARY) and self._is_in_bytes(value) else masked

        return Rewriter(
            change=lambda text: pseudonyms.replace(redactor.text(self._without_cut_value(text))),
            header=header,
            url=lambda url: pseudonyms.replace(redactor.url(url)),
            body=redactor.body,
        )

    def _without_cut_value(self, text: str) -> str:
        """Mask the beginning of a value at the end of a label, which may have been cut within the value."""
        if len(text) != LABEL_LENGTH:
            return text
        for length in range(LABEL_LENGTH, _SHORTEST - 1, -1):
            end = text[-length:]
            place = bisect_right(self._replaced, end)
            if place < len(self._replaced) and self._replaced[place].startswith(end):
                return f"{text[:-length]}{MASK}"
        return text

    def _is_in_bytes(self, value: str) -> bool:
        """Return whether bytes in base64 contain a value that is masked or replaced."""
        try:
            return any(self._remaining(raw.decode("utf-8", "replace")) for raw in values_of(value))
        except ValueError:
            return False

    def _remaining(self, text: str) -> bool:
        return self._search.any_in(text) or self._pseudonyms.remains_in(text)

    def _check(self, path: Path) -> int:
        """Search every record of the copy for the values that were masked or replaced; raises `FaultError`."""
        streams = StreamTexts()
        with Capture.open(path, validated) as copy:
            for record in Selection(copy).in_order():
                request = copy.request_of(record)
                for place in all_texts(record, request):
                    self._require_absent(place.text, f"in record {record.seq} of the copy ({place.name})")
                for text in streams.add(record, request):
                    self._require_absent(text, f"in the copy, in {SEVERAL_EVENTS}, which record {record.seq} ends")
            for text in streams.rest():
                self._require_absent(text, f"in the copy, in {SEVERAL_EVENTS}")
            return len(copy)

    def _require_absent(self, text: str, where: str) -> None:
        if self._remains(text):
            raise usage_error(
                f"A masked value remains {where}. The copy was deleted.",
                "Leave the exchange out with a filter, or choose another pattern.",
            )


def pattern_name(pattern: re.Pattern[str]) -> str:
    """Return the name of the rule of a pattern."""
    return f"pattern {pattern.pattern}"
