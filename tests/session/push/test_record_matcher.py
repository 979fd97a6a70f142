"""What a push is to the stream, row by row, as the journal tells it."""

from __future__ import annotations

import pytest
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession, eventually, records, say

from inspector.capture.records import Kind, Record
from inspector.protocol.lifecycle import is_terminal
from inspector.session.push.matching import Counterpart, MatchState, RecordMatcher, reconcile

S, P = Kind.FRAME, Kind.DELIVERY
BOTH, WAITING, ALONE = MatchState


class Told:
    """Records of one task, given to a matcher, which is asked about them by their numbers."""

    def __init__(self, *, streaming: bool = False) -> None:
        self.records: dict[int, Record] = {}
        self.streaming = streaming
        self.matcher = RecordMatcher(lambda _: self.streaming)

    def tell(self, kind: Kind, event: str, state: str = "", label: str = "", task: str = "t", **meta: object) -> int:
        seq = len(self.records) + 1
        meta = {"taken": True, **meta} if kind is P else {}
        self.records[seq] = Record(seq, seq / 10, kind, event=event, task=task, state=state, label=label, meta=meta)
        self.matcher.offer([self.records[seq]])
        return seq

    def of(self, seq: int) -> Counterpart | None:
        return self.matcher.of(self.records[seq])


def test_the_same_status_by_both_ways_is_told_from_either_end():
    told = Told()
    streamed, pushed = told.tell(S, "status", "WORKING", "1"), told.tell(P, "status", "WORKING", "1")
    assert told.of(pushed) == (BOTH, streamed)
    assert told.of(streamed) == (BOTH, pushed)


def test_the_nth_time_of_one_way_is_the_nth_time_of_the_other():
    told = Told()
    streamed = [told.tell(S, "artifact", label="a") for _ in range(3)]
    pushed = [told.tell(P, "artifact", label="a") for _ in range(2)]
    assert [told.of(seq) for seq in pushed] == [(BOTH, streamed[0]), (BOTH, streamed[1])]
    assert told.of(streamed[2]) == (WAITING, 0)


def test_a_whole_task_stands_for_the_status_that_it_has():
    told = Told()
    first = told.tell(S, "status", "WORKING")
    again = [told.tell(P, "task", "WORKING") for _ in range(3)]
    assert [told.of(seq) for seq in again] == [(BOTH, first)] * 3
    second = told.tell(S, "status", "WORKING")
    assert told.of(second) == (WAITING, 0)
    assert told.of(told.tell(P, "status", "WORKING")) == (BOTH, second)


def test_a_push_that_no_stream_tells_waits_while_one_is_open_and_is_alone_once_it_went_on():
    told = Told(streaming=True)
    told.tell(S, "status", "SUBMITTED")
    pushed = told.tell(P, "status", "WORKING", "only here")
    assert told.of(pushed) == (WAITING, 0)
    told.tell(P, "status", "COMPLETED")
    assert told.of(pushed) == (WAITING, 0)
    told.tell(S, "status", "COMPLETED")
    assert told.of(pushed) == (ALONE, 0)


def test_a_push_is_alone_once_the_stream_is_over():
    told = Told(streaming=True)
    told.tell(S, "status", "SUBMITTED")
    pushed = told.tell(P, "status", "COMPLETED")
    told.streaming = False
    assert told.of(pushed) == (ALONE, 0)


def test_a_push_that_came_before_the_stream_told_it_finds_it_later():
    told = Told(streaming=True)
    told.tell(S, "status", "SUBMITTED")
    pushed = told.tell(P, "status", "WORKING")
    streamed = told.tell(S, "status", "WORKING")
    assert told.of(pushed) == (BOTH, streamed)


def test_an_event_of_the_stream_that_pushes_went_past_is_alone():
    told = Told()
    streamed = told.tell(S, "status", "WORKING")
    told.tell(S, "status", "COMPLETED")
    told.tell(P, "status", "COMPLETED")
    assert told.of(streamed) == (ALONE, 0)


@pytest.mark.parametrize("kind", [S, P])
def test_a_task_that_came_by_one_way_alone_has_no_other(kind):
    told = Told()
    assert told.of(told.tell(kind, "status", "WORKING")) is None


def test_refused_deliveries_other_tasks_and_messages_of_none_are_not_paired():
    told = Told()
    told.tell(S, "status", "WORKING")
    assert told.of(told.tell(P, "status", "WORKING", taken=False)) is None
    assert told.of(told.tell(P, "status", "WORKING", task="u")) is None
    assert told.of(told.tell(P, "message", label="hello", task="")) is None
    assert told.of(told.tell(Kind.REQUEST, "")) is None


def test_a_run_of_chunks_is_taken_in_as_they_are_one_by_one():
    one, run = Told(), Told()
    seqs = [one.tell(S, "artifact", label="a") for _ in range(5)]
    chunks = [one.records[seq] for seq in seqs]
    run.records = dict(one.records)
    run.matcher.offer(chunks)
    for told in (one, run):
        pushed = [told.tell(P, "artifact", label="a") for _ in range(2)]
        assert [told.of(seq) for seq in pushed] == [(BOTH, 1), (BOTH, 2)]
    rebuilt = RecordMatcher(lambda _: False)
    for record in run.records.values():
        rebuilt.offer([record])
    assert [rebuilt.of(record) for record in run.records.values()] == [run.of(seq) for seq in run.records]


def test_of_too_many_different_things_the_first_are_forgotten_and_not_blamed():
    told = Told()
    first, pushed = told.tell(S, "status", "WORKING", "0"), told.tell(P, "status", "WORKING", "0")
    assert told.of(first) == (BOTH, pushed)
    for number in range(1, 20_001):
        told.tell(S, "status", "WORKING", str(number))
    assert told.of(first) is None
    late = told.tell(P, "status", "WORKING", "20000")
    assert told.of(late) == (BOTH, late - 1)
    assert told.of(pushed) is None
    assert told.of(late - 2) == (ALONE, 0)


async def test_the_rows_say_what_the_table_says(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    await session.push.turn_on()
    matcher = session.push.matcher
    turn = await say(session, "push")
    task_id = turn.exchange.task_id
    await eventually(lambda: is_terminal(session.tasks.get(task_id).pushed.state))
    table = await reconcile(session.journal.capture, task_id)
    statuses = {one.seq for update in table.both if update.what == "status" for one in update.reports.values()}
    found = {record.seq: matcher.of(record) for record in records(session, S, P)}
    assert statuses
    assert all(found[seq].state is BOTH for seq in statuses)
