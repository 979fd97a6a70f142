"""The match of each push with a streamed event, record by record, as the journal reports them."""

from __future__ import annotations

import pytest
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession, eventually, records, say

from inspector.capture.records import Kind, Record
from inspector.protocol.lifecycle import is_terminal
from inspector.session.push.matching import Counterpart, MatchState, RecordMatcher, reconcile

S, P = Kind.FRAME, Kind.DELIVERY
BOTH, WAITING, ALONE = MatchState


class Timeline:
    """Records of one task, which are passed to a matcher as they are added."""

    def __init__(self, *, streaming: bool = False) -> None:
        self.records: dict[int, Record] = {}
        self.streaming = streaming
        self.matcher = RecordMatcher(lambda _: self.streaming)

    def add(self, kind: Kind, event: str, state: str = "", label: str = "", task: str = "t", **meta: object) -> int:
        seq = len(self.records) + 1
        meta = {"taken": True, **meta} if kind is P else {}
        self.records[seq] = Record(seq, seq / 10, kind, event=event, task=task, state=state, label=label, meta=meta)
        self.matcher.offer([self.records[seq]])
        return seq

    def of(self, seq: int) -> Counterpart | None:
        return self.matcher.of(self.records[seq])


def test_a_status_from_both_sources_is_matched_from_either_record():
    timeline = Timeline()
    streamed, pushed = timeline.add(S, "status", "WORKING", "1"), timeline.add(P, "status", "WORKING", "1")
    assert timeline.of(pushed) == (BOTH, streamed)
    assert timeline.of(streamed) == (BOTH, pushed)


def test_the_nth_report_of_one_source_matches_the_nth_of_the_other():
    timeline = Timeline()
    streamed = [timeline.add(S, "artifact", label="a") for _ in range(3)]
    pushed = [timeline.add(P, "artifact", label="a") for _ in range(2)]
    assert [timeline.of(seq) for seq in pushed] == [(BOTH, streamed[0]), (BOTH, streamed[1])]
    assert timeline.of(streamed[2]) == (WAITING, 0)


def test_a_whole_task_is_matched_by_its_status():
    timeline = Timeline()
    first = timeline.add(S, "status", "WORKING")
    again = [timeline.add(P, "task", "WORKING") for _ in range(3)]
    assert [timeline.of(seq) for seq in again] == [(BOTH, first)] * 3
    second = timeline.add(S, "status", "WORKING")
    assert timeline.of(second) == (WAITING, 0)
    assert timeline.of(timeline.add(P, "status", "WORKING")) == (BOTH, second)


def test_a_push_waits_while_the_stream_is_open_and_is_alone_after_later_streamed_events():
    timeline = Timeline(streaming=True)
    timeline.add(S, "status", "SUBMITTED")
    pushed = timeline.add(P, "status", "WORKING", "only here")
    assert timeline.of(pushed) == (WAITING, 0)
    timeline.add(P, "status", "COMPLETED")
    assert timeline.of(pushed) == (WAITING, 0)
    timeline.add(S, "status", "COMPLETED")
    assert timeline.of(pushed) == (ALONE, 0)


def test_an_unmatched_push_is_alone_after_the_stream_ended():
    timeline = Timeline(streaming=True)
    timeline.add(S, "status", "SUBMITTED")
    pushed = timeline.add(P, "status", "COMPLETED")
    timeline.streaming = False
    assert timeline.of(pushed) == (ALONE, 0)


def test_a_push_is_matched_with_a_later_streamed_event():
    timeline = Timeline(streaming=True)
    timeline.add(S, "status", "SUBMITTED")
    pushed = timeline.add(P, "status", "WORKING")
    streamed = timeline.add(S, "status", "WORKING")
    assert timeline.of(pushed) == (BOTH, streamed)


def test_a_streamed_event_is_alone_after_later_pushes():
    timeline = Timeline()
    streamed = timeline.add(S, "status", "WORKING")
    timeline.add(S, "status", "COMPLETED")
    timeline.add(P, "status", "COMPLETED")
    assert timeline.of(streamed) == (ALONE, 0)


@pytest.mark.parametrize("kind", [S, P])
def test_a_task_of_one_source_has_no_counterparts(kind):
    timeline = Timeline()
    assert timeline.of(timeline.add(kind, "status", "WORKING")) is None


def test_refused_deliveries_and_records_without_the_task_are_not_matched():
    timeline = Timeline()
    timeline.add(S, "status", "WORKING")
    assert timeline.of(timeline.add(P, "status", "WORKING", taken=False)) is None
    assert timeline.of(timeline.add(P, "status", "WORKING", task="u")) is None
    assert timeline.of(timeline.add(P, "message", label="hello", task="")) is None
    assert timeline.of(timeline.add(Kind.REQUEST, "")) is None


def test_a_batch_of_chunks_is_matched_like_single_chunks():
    single, batch = Timeline(), Timeline()
    seqs = [single.add(S, "artifact", label="a") for _ in range(5)]
    chunks = [single.records[seq] for seq in seqs]
    batch.records = dict(single.records)
    batch.matcher.offer(chunks)
    for timeline in (single, batch):
        pushed = [timeline.add(P, "artifact", label="a") for _ in range(2)]
        assert [timeline.of(seq) for seq in pushed] == [(BOTH, 1), (BOTH, 2)]
    rebuilt = RecordMatcher(lambda _: False)
    for record in batch.records.values():
        rebuilt.offer([record])
    assert [rebuilt.of(record) for record in batch.records.values()] == [batch.of(seq) for seq in batch.records]


def test_the_oldest_contents_are_forgotten_and_have_no_match():
    timeline = Timeline()
    first, pushed = timeline.add(S, "status", "WORKING", "0"), timeline.add(P, "status", "WORKING", "0")
    assert timeline.of(first) == (BOTH, pushed)
    for number in range(1, 20_001):
        timeline.add(S, "status", "WORKING", str(number))
    assert timeline.of(first) is None
    late = timeline.add(P, "status", "WORKING", "20000")
    assert timeline.of(late) == (BOTH, late - 1)
    assert timeline.of(pushed) is None
    assert timeline.of(late - 2) == (ALONE, 0)


async def test_the_matches_of_records_agree_with_the_table_of_updates(
    mock: MockAgent, open_session: OpenSession, version: str
):
    session = await open_session(mock.url, version=version)
    await session.push.turn_on()
    matcher = session.push.matcher
    call = await say(session, "push")
    task_id = call.exchange.task_id
    await eventually(lambda: is_terminal(session.tasks.get(task_id).pushed.state))
    table = await reconcile(session.journal.capture, task_id)
    statuses = {report.seq for update in table.both if update.what == "status" for report in update.reports.values()}
    found = {record.seq: matcher.of(record) for record in records(session, S, P)}
    assert statuses
    assert all(found[seq].state is BOTH for seq in statuses)
