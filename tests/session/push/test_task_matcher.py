"""Match the updates of stream, pushes and GetTask: source, order, delay and content."""

from __future__ import annotations

from typing import Any

from inspector.sample_agents.server import MockAgent
from scripted import OpenSession, artifact, drive, eventually, message, say, status, task

from inspector.protocol.dialects import v1_0
from inspector.protocol.lifecycle import State, is_terminal
from inspector.protocol.model import Unreadable
from inspector.session.push.matching import Reconciliation, Source, SourcedEvent, TaskMatcher, reconcile

S, P, G = Source.STREAM, Source.PUSH, Source.RESPONSE


def folded(*events: tuple[Source, float, Any]) -> Reconciliation:
    matcher = TaskMatcher("t")
    for seq, (source, at, value) in enumerate(events, 1):
        event = v1_0.decode_event(value)
        assert not isinstance(event, Unreadable)
        matcher.take(SourcedEvent(source, at, seq, event))
    return matcher.result()


def reporters(found: Reconciliation) -> list[tuple[str, str, set[Source]]]:
    return [(update.what, update.state or update.name, set(update.reports)) for update in found.updates]


def test_an_update_from_both_sources_is_one_update_with_its_delay():
    found = folded(
        (S, 1.0, {"task": task("SUBMITTED")}),
        (P, 1.25, {"task": task("SUBMITTED")}),
        (S, 2.0, status("COMPLETED", "done")),
        (P, 2.5, status("COMPLETED", "done")),
    )
    assert reporters(found) == [("status", State.SUBMITTED, {S, P}), ("status", State.COMPLETED, {S, P})]
    assert [update.delay for update in found.updates] == [0.25, 0.5]
    assert found.words == ["pushes came 375 ms after the stream (median), the slowest 500 ms after"]


def test_updates_of_only_one_source_are_counted():
    found = folded((S, 1, status("WORKING", "1")), (S, 2, status("WORKING", "2")), (P, 3, status("COMPLETED")))
    assert (len(found.only_by(S, P)), len(found.only_by(P, S)), found.both) == (2, 1, [])
    assert "2 of 3 updates came by stream but not by push" in found.words
    assert "1 of 3 updates came by push but not by stream" in found.words


def test_a_source_without_events_misses_nothing():
    assert folded((S, 1, status("WORKING")), (S, 2, status("COMPLETED"))).words == []


def test_a_repeated_status_is_a_new_update_but_a_snapshot_of_it_is_not():
    twice = folded(*((source, at, status("WORKING")) for source in (S, P) for at in (1, 2)))
    assert [set(update.reports) for update in twice.updates] == [{S, P}, {S, P}]
    snapshots = folded((S, 1, status("WORKING")), *((P, at, {"task": task("WORKING")}) for at in (2, 3, 4)))
    assert [set(update.reports) for update in snapshots.updates] == [{S, P}]


def test_pushes_before_the_stream_are_counted_in_the_order_of_the_stream():
    found = folded(
        (P, 1, status("COMPLETED")),
        (P, 2, status("WORKING")),
        (S, 3, status("WORKING")),
        (S, 4, status("COMPLETED")),
    )
    assert found.overtaken == 1


def test_overtaken_pushes_are_counted():
    found = folded(
        (S, 1, status("SUBMITTED")),
        (S, 2, status("WORKING")),
        (S, 3, status("COMPLETED")),
        (P, 4, status("COMPLETED")),
        (P, 5, status("SUBMITTED")),
        (P, 6, status("WORKING")),
    )
    assert found.overtaken == 2
    assert "2 pushes were overtaken by later pushes" in found.words


def test_chunks_are_compared_by_the_joined_artifact():
    chunks = [artifact("a"), artifact("b", append=True), artifact("c", append=True, lastChunk=True)]
    whole = {"task": task("COMPLETED", {"artifactId": "a", "parts": [{"text": "abc"}]})}
    found = folded(*((S, at, one) for at, one in enumerate(chunks)), (P, 5, whole), (G, 6, whole))
    [one] = [update for update in found.updates if update.what == "artifact"]
    assert ({source: report.times for source, report in one.reports.items()}, one.differs) == (
        {S: 3, P: 1, G: 1},
        False,
    )
    lost = folded((S, 1, chunks[0]), (S, 2, chunks[1]), (P, 3, chunks[0]))
    assert lost.words[0] == "artifact a differs between push and stream"


def test_an_early_response_does_not_differ_but_a_late_one_does():
    begun = {"task": task("WORKING", {"artifactId": "a", "parts": [{"text": "a"}]})}
    chunks = [(S, 1.0, artifact("a")), (S, 3.0, artifact("b", append=True))]
    assert not folded(*chunks, (G, 2.0, begun)).updates[0].differs
    assert [update.differs for update in folded(*chunks, (G, 4.0, begun)).updates if update.what == "artifact"] == [
        True
    ]


def test_sources_that_disagree_about_the_final_state_are_reported():
    found = folded((S, 1, status("COMPLETED")), (P, 2, status("FAILED")))
    assert found.words[0] == "the sources disagree about the final state: stream reports completed, push reports failed"


def test_events_of_other_tasks_are_ignored_and_messages_are_updates():
    found = folded((S, 1, status("WORKING", id="u")), (S, 2, message("hello", taskId="t")))
    assert reporters(found) == [("message", "hello", {S})]


async def test_all_sources_of_the_mock_agent_agree(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    await session.push.turn_on()
    call = await say(session, "push")
    task_id = call.exchange.task_id
    await eventually(lambda: is_terminal(session.tasks.get(task_id).pushed.state))
    await drive(session.get(task_id))
    found = await reconcile(session.journal.capture, task_id)
    assert not any(update.differs for update in found.updates)
    assert found.ended == dict.fromkeys(Source, State.COMPLETED)
    assert found.both
    assert not found.only_by(Source.PUSH, Source.STREAM)


async def test_an_unknown_task_has_no_updates(open_session: OpenSession):
    session = await open_session()
    assert (await reconcile(session.journal.capture, "nobody")).updates == ()
