"""Lists of records as rows, the journal that fills them, and the summaries of exchanges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.findings.rules import finding
from inspector.session.journal import LABEL_LENGTH, Journal
from inspector.session.record_list import RecordList, Row


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Capture.create(tmp_path / "capture") as capture:
        yield Journal(capture, Redactor(["canary-secret"]))


def everything(_: Record) -> bool:
    return True


def chunk(journal: Journal, name: str = "a", kind: Kind = Kind.FRAME, size: int = 10, **members: Any) -> Record:
    payloads = [(size, b"")]
    return journal.append(kind, 1.0, event="artifact", label=name, payloads=payloads, **({"task": "t"} | members))[0]


def rows(listed: RecordList) -> list[Row]:
    return [listed[index] for index in range(len(listed))]


def spans(listed: RecordList) -> list[tuple[int, int, int]]:
    return [(row.first, row.last, row.records) for row in rows(listed)]


# Folding


def test_a_list_that_is_not_folded_has_a_row_for_each_record(journal: Journal):
    listed = RecordList(everything)
    journal.subscribe(listed.offer, replay=True)
    for _ in range(3):
        chunk(journal)
    assert rows(listed) == [Row(1, 1, 1, 10), Row(2, 2, 1, 10), Row(3, 3, 1, 10)]


def test_a_run_of_chunks_is_one_row(journal: Journal):
    listed = RecordList(everything, folded=True)
    journal.subscribe(listed.offer, replay=True)
    for size in (10, 20, 30):
        chunk(journal, size=size)
    assert rows(listed) == [Row(1, 3, 3, 60)]


def test_another_event_of_the_stream_ends_a_run(journal: Journal):
    listed = RecordList(everything, folded=True)
    journal.subscribe(listed.offer, replay=True)
    chunk(journal)
    chunk(journal)
    journal.append(Kind.FRAME, 1.0, event="status", task="t")
    chunk(journal)
    assert spans(listed) == [(1, 2, 2), (3, 3, 1), (4, 4, 1)]


@pytest.mark.parametrize(
    "other",
    [
        {"kind": Kind.DELIVERY, "event": "status", "task": "t"},
        {"kind": Kind.REQUEST, "operation": "GetTask", "exchange": 7},
        {"kind": Kind.FRAME, "event": "status", "task": "u", "exchange": 2},
    ],
    ids=["push", "request", "other stream"],
)
def test_a_record_of_another_channel_does_not_part_a_run_and_rows_are_in_the_order_in_which_they_began(
    journal: Journal, other: dict[str, Any]
):
    listed = RecordList(everything, folded=True)
    journal.subscribe(listed.offer, replay=True)
    kind = other.pop("kind")
    chunk(journal, exchange=1)
    chunk(journal, exchange=1)
    journal.append(kind, 1.0, **other)
    chunk(journal, exchange=1)
    assert spans(listed) == [(1, 4, 3), (3, 3, 1)]


def test_another_push_about_the_task_ends_a_run_of_pushes(journal: Journal):
    listed = RecordList(everything, folded=True)
    journal.subscribe(listed.offer, replay=True)
    for task in ("t", "u"):
        chunk(journal, kind=Kind.DELIVERY, task="t")
        journal.append(Kind.DELIVERY, 1.0, event="status", task=task)
        chunk(journal, kind=Kind.DELIVERY, task="t")
    assert spans(listed) == [(1, 1, 1), (2, 2, 1), (3, 6, 3), (5, 5, 1)]


def test_pushes_that_were_rejected_for_the_same_reason_are_a_run(journal: Journal):
    listed = RecordList(everything, folded=True)
    journal.subscribe(listed.offer, replay=True)
    for reason, event in (("token", "status"), ("token", "artifact"), ("token", "task"), ("path", "status"), ("", "")):
        journal.append(Kind.DELIVERY, 1.0, event=event, label=event, task="t", meta={"refused": reason})
    journal.append(Kind.DELIVERY, 1.0, task="t", meta={"refused": "path"})
    assert spans(listed) == [(1, 3, 3), (4, 4, 1), (5, 5, 1), (6, 6, 1)]


def test_records_of_other_views_do_not_end_a_run(journal: Journal):
    listed = RecordList(lambda record: record.kind is not Kind.KEEPALIVE, folded=True)
    journal.subscribe(listed.offer, replay=True)
    chunk(journal)
    journal.append(Kind.KEEPALIVE, 1.0)
    chunk(journal)
    assert spans(listed) == [(1, 3, 2)]


def test_runs_of_a_stream_and_of_pushes_grow_at_the_same_time(journal: Journal):
    listed = RecordList(everything, folded=True)
    journal.subscribe(listed.offer, replay=True)
    for _ in range(3):
        chunk(journal, exchange=1)
        chunk(journal, kind=Kind.DELIVERY)
    assert spans(listed) == [(1, 5, 3), (2, 6, 3)]


@pytest.mark.parametrize(
    "other",
    [{"name": "b"}, {"task": "u"}, {"exchange": 2}, {"kind": Kind.DELIVERY}],
    ids=["artifact", "task", "exchange", "way"],
)
def test_runs_of_different_artifacts_are_not_mixed(journal: Journal, other: dict[str, Any]):
    listed = RecordList(everything, folded=True)
    journal.subscribe(listed.offer, replay=True)
    for _ in range(2):
        chunk(journal, exchange=1)
        chunk(journal, **({"exchange": 1} | other))
    assert spans(listed) == [(1, 3, 2), (2, 4, 2)]


def test_a_chunk_with_another_finding_has_its_own_row(journal: Journal):
    listed = RecordList(everything, folded=True)
    journal.subscribe(listed.offer, replay=True)
    chunk(journal)
    chunk(journal, findings=[finding("STREAM-005", "x")])
    chunk(journal)
    chunk(journal)
    assert spans(listed) == [(1, 1, 1), (2, 2, 1), (3, 4, 2)]


def test_chunks_with_the_same_findings_are_a_run(journal: Journal):
    listed = RecordList(everything, folded=True)
    journal.subscribe(listed.offer, replay=True)
    for seen in ("x", "x", "x", "y"):
        chunk(journal, findings=[finding("DATA-014", seen)])
    assert spans(listed) == [(1, 3, 3), (4, 4, 1)]


def test_a_record_is_found_by_the_row_that_begins_at_or_before_it(journal: Journal):
    listed = RecordList(lambda record: record.seq % 2 == 0)
    journal.subscribe(listed.offer, replay=True)
    for _ in range(5):
        chunk(journal)
    assert [listed.index_of(seq) for seq in range(1, 6)] == [None, 0, 0, 1, 1]


@given(st.lists(st.sampled_from("abcx!"), max_size=40))
def test_folding_loses_no_record(names: str):
    followed = RecordList(everything, folded=True)
    for seq, name in enumerate(names, 1):
        event = "status" if name == "x" else "artifact"
        findings = (finding("STREAM-005", ""),) if name == "!" else ()
        followed.offer([Record(seq, 1.0, Kind.FRAME, event=event, label=name, size=seq, findings=findings)])
    assert sum(row.records for row in rows(followed)) == len(names)
    assert sum(row.size for row in rows(followed)) == sum(range(1, len(names) + 1))
    assert all(row.first <= row.last for row in rows(followed))


# The journal


def test_a_late_subscriber_gets_every_record(journal: Journal):
    for _ in range(2500):
        chunk(journal)
    listed = RecordList(everything)
    journal.subscribe(listed.offer, replay=True)
    chunk(journal)
    assert [row.first for row in rows(listed)] == list(range(1, 2502))


def test_equal_texts_of_different_records_are_one_object(journal: Journal):
    first, second = (
        chunk(journal, name, task="".join(["task", "-1"]), state="".join(["work", "ing"])) for name in "ab"
    )
    assert first.task is second.task
    assert first.state is second.state


def test_a_secret_is_masked_from_the_moment_it_is_known(journal: Journal):
    assert chunk(journal, "learned").label == "learned"
    journal.redactor.add("learned")
    assert chunk(journal, "learned").label == "****"


def test_every_text_of_an_agent_is_masked_and_cut(journal: Journal):
    quoted = "x" * (LABEL_LENGTH - 5) + "canary-secret" + "y" * 100
    record = journal.append(
        Kind.FRAME,
        1.0,
        task="canary-secret",
        context="canary-secret",
        state="canary-secret",
        label=quoted,
        findings=[finding("STREAM-009", quoted)],
    )[0]
    assert (record.task, record.context, record.state) == ("****", "****", "****")
    assert record.label == record.findings[0].seen == "x" * (LABEL_LENGTH - 5) + "****y"


def test_the_journal_knows_where_each_rule_was_broken(journal: Journal):
    chunk(journal, findings=[finding("STREAM-004", ""), finding("STREAM-005", "")])
    chunk(journal)
    chunk(journal, findings=[finding("STREAM-005", "")])
    assert journal.found == {"STREAM-004": [1], "STREAM-005": [1, 3]}


def request(journal: Journal, operation: str, at: float) -> Record:
    return journal.append(Kind.REQUEST, at, operation=operation, meta={"method": "POST", "url": "http://x/"})[0]


def test_times_are_relative_to_the_last_send(journal: Journal):
    chunk(journal)
    request(journal, "SendStreamingMessage", 10.0)
    request(journal, "GetTask", 20.0)
    chunk(journal)
    request(journal, "SubscribeToTask", 30.0)
    request(journal, "SendMessage", 40.0)
    began = [journal.send_of(journal.capture.get(seq)) for seq in range(1, 7)]
    assert began == [None, 10.0, 10.0, 10.0, 30.0, 40.0]


def test_times_are_relative_to_the_own_send_with_several_streams(journal: Journal):
    first, second = (request(journal, "SendStreamingMessage", at) for at in (10.0, 20.0))
    journal.append(Kind.FRAME, 21.0, exchange=first.seq, task="t")
    journal.append(Kind.FRAME, 22.0, exchange=second.seq, task="u")
    journal.append(Kind.DELIVERY, 23.0, task="t", meta={"taken": True})
    journal.append(Kind.DELIVERY, 24.0, task="elsewhere", meta={"taken": True})
    assert [journal.send_of(journal.capture.get(seq)) for seq in range(3, 7)] == [10.0, 20.0, 10.0, 20.0]


# Exchanges


def test_the_summary_of_an_exchange_is_updated_while_it_runs(journal: Journal):
    meta = {"method": "POST", "url": "http://x/rpc"}
    opened = journal.append(Kind.REQUEST, 1.0, operation="SendStreamingMessage", payloads=[(100, b"")], meta=meta)[0]
    summary = journal.exchanges.get(opened.seq)
    assert summary is not None
    assert (summary.method, summary.url, summary.sent, summary.task) == ("POST", "http://x/rpc", 100, "")
    assert (summary.seconds, summary.how, journal.exchanges.open) == (None, "", 1)
    headers = [["X-A", "b"], ["content-TYPE", "text/event-stream; charset=utf-8"], ["Content-Type", "other"]]
    journal.append(Kind.RESPONSE, 2.0, exchange=opened.seq, meta={"status": 200, "headers": headers})
    journal.append(
        Kind.FRAME, 3.0, exchange=opened.seq, task="t", payloads=[(10, b"")], findings=[finding("STREAM-004", "")]
    )
    journal.append(Kind.KEEPALIVE, 4.0, exchange=opened.seq, payloads=[(3, b"")])
    journal.append(Kind.FRAME, 5.0, exchange=opened.seq, task="u", payloads=[(20, b"")])
    journal.append(Kind.DELIVERY, 6.0, task="t", payloads=[(1000, b"")])
    assert (summary.status, summary.content_type) == (200, "text/event-stream; charset=utf-8")
    assert (summary.events, summary.keepalives, summary.received, summary.findings) == (2, 1, 33, 1)
    assert (summary.task, summary.last_at) == ("t", 5.0)
    journal.append(Kind.END, 7.0, exchange=opened.seq, meta={"how": "complete", "seconds": 6.0}, findings=[])
    assert (summary.seconds, summary.how, summary.last_at, journal.exchanges.open) == (6.0, "complete", 7.0, 0)


def test_records_outside_of_an_exchange_are_in_no_summary(journal: Journal):
    journal.append(Kind.NOTE, 1.0, label="hello")
    journal.append(Kind.END, 1.0, exchange=77, meta={"how": "complete", "seconds": 1.0})
    assert (len(journal.exchanges), journal.exchanges.get(1), journal.exchanges.get(77)) == (0, None, None)


@pytest.mark.parametrize("folded", [True, False])
def test_a_separator_is_above_each_exchange(journal: Journal, folded: bool):
    def begins(record: Record) -> bool:
        return record.kind is Kind.REQUEST

    listed = RecordList(everything, folded=folded, begins=begins)
    journal.subscribe(listed.offer, replay=True)
    journal.append(Kind.NOTE, 1.0)
    for _ in range(3):
        journal.append(Kind.REQUEST, 1.0, operation="GetTask", meta={"method": "POST", "url": "http://a"})
        journal.append(Kind.FRAME, 1.0, event="status", task="t")
    separators = [index for index, row in enumerate(rows(listed)) if not row.records]
    assert separators == [3, 6]
    assert listed.separators == 2
    assert [listed[row].first for row in separators] == [listed[row + 1].first for row in separators]
    for row in range(len(listed)):
        if row not in separators:
            assert listed.index_of(listed[row].first) == row, "not in the separator above it"
    listed.clear()
    assert (len(listed), listed.separators) == (0, 0)
