"""Import a HAR file into a capture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from heapq import merge
from pathlib import Path
from typing import NamedTuple

from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.protocol.errors import usage_error
from inspector.session.importers.har_file import RECORDS, Har, HarEntry, read_entry, read_har
from inspector.session.importers.har_stored import StoredWriter, entry_name, stored_records
from inspector.session.importers.har_traffic import observations, recorder_for
from inspector.session.journal import Journal
from inspector.session.tasks import TaskFold

_WAITING = 2_000
"""After so many records, the import waits until they are in the file, which limits the use of memory."""


class Imported(NamedTuple):
    """The numbers of records that were written, of entries of the file, and of entries that are not A2A.

    `without_body` is the number of imported entries whose response has no body in the file.
    """

    records: int
    entries: int
    left_out: int
    without_body: int


class _Step(NamedTuple):
    """Something that is recorded at a time; `order` keeps the order within a source."""

    at: float
    order: int
    record: Callable[[], object]


def import_har(path: Path, capture: Capture, *, others: bool = False) -> Imported:
    """Write the exchanges of a HAR file to a new capture; raises `FaultError` if the file is not valid.

    Records that a2a-inspect exported are restored as they were. Other entries are read like the traffic of a session,
    with masked secrets; if they are not A2A, they are left out without `others`.
    """
    har = read_har(path)
    writer = StoredWriter(capture)
    stored = [_Step(item.at, item.seq, partial(writer.append, item)) for item in stored_records(har)]
    foreign, left_out, without_body = _foreign_steps(har, capture, others=others)
    if not stored and not foreign:
        words = "none of its entries is A2A traffic" if left_out else "it has no entry"
        raise usage_error(f"{path.name}: {words}.", "Write --all to import all entries." if left_out else "")
    # The order of exported records is that of their numbers.
    for step in merge(stored, foreign, key=lambda step: step.at):
        step.record()
        if capture.backlog > _WAITING:
            capture.flush()
    return Imported(len(capture), len(har.entries), left_out, without_body)


def _foreign_steps(har: Har, capture: Capture, *, others: bool) -> tuple[list[_Step], int, int]:
    """Return the observations of the entries of other programs in order.

    Also return how many entries are left out, and how many have no body of their response.
    """
    journal = Journal(capture, Redactor())
    tasks = TaskFold(journal.exchanges)
    entries = list(_foreign_entries(har))
    # A secret is masked wherever it appears, also before it is sent.
    journal.redactor.learn(pair for entry in entries for pair in (*entry.headers, *entry.response_headers))
    steps: list[_Step] = []
    left_out = without_body = 0
    for entry in entries:
        recorder = recorder_for(entry, journal, tasks, others=others)
        if recorder is None:
            left_out += 1
            continue
        without_body += entry.lacks_body
        steps += [_Step(seen.at, len(steps), partial(recorder.take, seen)) for seen in observations(entry)]
    return sorted(steps, key=lambda step: step.at), left_out, without_body


def _foreign_entries(har: Har) -> list[HarEntry]:
    return [
        read_entry(entry_name(number), entry)
        for number, entry in enumerate(har.entries, 1)
        if not isinstance(entry, dict) or RECORDS not in entry
    ]
