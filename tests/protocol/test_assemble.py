"""Events are folded into a task: artifacts, states, messages, and events that violate the order."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.assemble import MESSAGES, AssembledTask, Misfit, Order, TextRun
from inspector.protocol.lifecycle import State
from inspector.protocol.model import (
    Artifact,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)


def status(state: str, said: str = "", context: str = "c") -> TaskStatusUpdateEvent:
    message = Message(message_id="m", parts=[Part(text=said)]) if said else None
    return TaskStatusUpdateEvent(task_id="t", context_id=context, status=TaskStatus(state=state, message=message))


def chunk(*parts: Part | str, key: str = "a", context: str = "c", **members: Any) -> TaskArtifactUpdateEvent:
    listed = [Part(text=part) if isinstance(part, str) else part for part in parts]
    named = {name: members.pop(name) for name in ("name", "description") if name in members}
    artifact = Artifact(artifact_id=key, parts=listed, **named)
    return TaskArtifactUpdateEvent(task_id="t", context_id=context, artifact=artifact, **members)


def snapshot(state: str, *artifacts: Artifact, **members: Any) -> Task:
    return Task(id="t", context_id="c", status=TaskStatus(state=state), artifacts=list(artifacts) or None, **members)


def applied(*events: Any) -> tuple[AssembledTask, list[Misfit]]:
    task, order = AssembledTask("t"), Order()
    misfits: list[Misfit] = []
    for at, event in enumerate(events):
        task.apply(event, float(at))
        misfits += order.add(event)
    return task, misfits


# Artifacts


def test_chunks_append_in_order():
    task, misfits = applied(chunk("one "), chunk("two ", append=True), chunk("three", append=True, last_chunk=True))
    artifact = task.artifacts["a"]
    assert str(artifact.text) == "one two three"
    assert (artifact.chunks, artifact.size, artifact.closed, artifact.revision) == (3, 13, True, 1)
    assert misfits == []


def test_a_chunk_that_does_not_append_replaces():
    task, misfits = applied(chunk("old", "older"), chunk("more", append=True), chunk("new"))
    artifact = task.artifacts["a"]
    assert (str(artifact.text), artifact.chunks, artifact.size, artifact.revision) == ("new", 1, 3, 2)
    assert misfits == []


def test_a_replacement_opens_a_closed_artifact_again():
    task, misfits = applied(chunk("old", last_chunk=True), chunk("new"), chunk(" more", append=True))
    assert str(task.artifacts["a"].text) == "new more"
    assert not task.artifacts["a"].closed
    assert misfits == []


def test_interleaved_artifacts_are_separate():
    task, misfits = applied(
        chunk("a1", key="a"), chunk("b1", key="b"), chunk("a2", key="a", append=True), chunk("b2", key="b", append=True)
    )
    assert {key: str(artifact.text) for key, artifact in task.artifacts.items()} == {"a": "a1a2", "b": "b1b2"}
    assert misfits == []


def test_repeated_chunks_are_all_kept():
    task, _ = applied(chunk("ha"), chunk("ha", append=True), chunk("ha", append=True))
    assert str(task.artifacts["a"].text) == "hahaha"


def test_name_and_description_are_kept_if_a_chunk_omits_them():
    task, _ = applied(chunk("x", name="report.md", description="all"), chunk("y", append=True))
    assert (task.artifacts["a"].name, task.artifacts["a"].description) == ("report.md", "all")


def test_texts_of_one_kind_that_follow_each_other_are_one_run():
    markdown = {"media_type": "text/markdown"}
    task, _ = applied(
        chunk(Part(text="a", **markdown)),
        chunk(Part(text="b", **markdown), append=True),
        chunk(Part(text="c"), append=True),
    )
    assert task.artifacts["a"].parts == [TextRun(0, 2, "text/markdown", None), TextRun(2, 3, None, None)]


def test_other_parts_are_unchanged_and_in_order():
    picture = Part(raw="aGk=", media_type="image/png", filename="x.png")
    data, link = Part(data={"n": 1}), Part(url="https://example.com/x")
    noted = Part(text="noted", metadata={"why": "x"})
    task, _ = applied(chunk("before", picture, data, link, noted, "after"))
    artifact = task.artifacts["a"]
    assert artifact.parts[1:5] == [picture, data, link, noted]
    assert artifact.other_parts == [picture, data, link]
    assert str(artifact.text) == "beforenotedafter"
    assert artifact.size == len("beforenotedafter") + 3


def test_a_snapshot_replaces_the_artifacts_that_it_has_and_leaves_the_others():
    task, misfits = applied(
        chunk("old", key="a"),
        chunk("kept", key="b"),
        snapshot(State.WORKING, Artifact(artifact_id="a", parts=[Part(text="new")])),
    )
    assert {key: str(artifact.text) for key, artifact in task.artifacts.items()} == {"a": "new", "b": "kept"}
    assert misfits == []


def test_a_chunk_may_append_to_an_artifact_of_a_snapshot():
    task, misfits = applied(
        snapshot(State.WORKING, Artifact(artifact_id="a", parts=[Part(text="so far")])), chunk(", more", append=True)
    )
    assert str(task.artifacts["a"].text) == "so far, more"
    assert misfits == []


# States and messages


def test_each_change_of_state_is_recorded():
    task, misfits = applied(
        snapshot(State.SUBMITTED),
        status(State.WORKING),
        status(State.WORKING, "still"),
        status(State.COMPLETED, "done"),
    )
    assert [(move.state, move.at) for move in task.moves] == [
        (State.SUBMITTED, 0.0),
        (State.WORKING, 1.0),
        (State.COMPLETED, 3.0),
    ]
    assert [message.parts[0].text for message in task.messages] == ["still", "done"]
    assert (task.state, task.context_id, task.updated, task.events) == (State.COMPLETED, "c", 3.0, 4)
    assert misfits == []


def test_a_message_of_the_agent_is_kept_and_changes_no_state():
    task, misfits = applied(status(State.WORKING), Message(message_id="m", task_id="t", parts=[Part(text="hello")]))
    assert task.state == State.WORKING
    assert task.messages[-1].parts[0].text == "hello"
    assert misfits == []


def test_the_history_is_that_of_the_last_snapshot_that_has_one():
    task, _ = applied(snapshot(State.WORKING, history=[Message(message_id="1")]), snapshot(State.WORKING))
    assert [message.message_id for message in task.history] == ["1"]


def test_each_message_of_a_polled_task_is_kept_once():
    def polled(said: str) -> Task:
        message = Message(message_id=said, parts=[Part(text=said)]) if said else None
        return Task(id="t", context_id="c", status=TaskStatus(state=State.WORKING, message=message))

    said = ("", "one", "one", "two", "", "two", "three")
    task, misfits = applied(*map(polled, said))
    assert [message.message_id for message in task.messages] == ["one", "two", "three"]
    assert len(task.moves) == 1
    assert misfits == []


def test_only_the_newest_messages_are_kept():
    task, _ = applied(*(status(State.WORKING, str(number)) for number in range(MESSAGES + 3)))
    assert len(task.messages) == MESSAGES
    assert task.messages[-1].parts[0].text == str(MESSAGES + 2)


# What does not fit


SOUND = [
    (status(State.SUBMITTED), status(State.WORKING), status(State.INPUT_REQUIRED), status(State.WORKING)),
    (snapshot(State.COMPLETED), snapshot(State.COMPLETED)),
    (status(State.WORKING), status("busy"), status(State.WORKING)),
    (status(State.WORKING), status("")),
    (chunk("x", last_chunk=True), chunk("y")),
    (status(State.WORKING, context=""), status(State.COMPLETED)),
]


@pytest.mark.parametrize(
    "events", SOUND, ids=["moves", "read twice", "unknown state", "no state", "replaced", "no context"]
)
def test_valid_sequences_have_no_misfit(events: tuple[Any, ...]):
    assert applied(*events)[1] == []


MISFITS = {
    Misfit.ILLEGAL_MOVE: (status(State.WORKING), status(State.SUBMITTED)),
    Misfit.APPEND_BEFORE_CREATE: (chunk("x", append=True),),
    Misfit.CHUNK_AFTER_LAST: (chunk("x", last_chunk=True), chunk("y", append=True)),
    Misfit.OTHER_CONTEXT: (status(State.WORKING, context="c"), status(State.WORKING, context="d")),
    Misfit.AFTER_TERMINAL: (status(State.COMPLETED), status(State.WORKING)),
}


@pytest.mark.parametrize("misfit", list(Misfit))
def test_every_misfit_is_reported(misfit: Misfit):
    assert applied(*MISFITS[misfit])[1] == [misfit]


@pytest.mark.parametrize(
    "late",
    [status(State.COMPLETED), status(State.FAILED), snapshot(State.WORKING), chunk("x")],
    ids=["the same again", "another end", "a snapshot in a working state", "an artifact"],
)
def test_nothing_may_follow_a_terminal_state(late: Any):
    assert applied(status(State.COMPLETED), late)[1] == [Misfit.AFTER_TERMINAL]


def test_events_with_misfits_are_folded():
    task, _ = applied(chunk("x", append=True), chunk("y", append=True, last_chunk=True), chunk("z", append=True))
    assert str(task.artifacts["a"].text) == "xyz"
    assert task.artifacts["a"].closed


def test_one_event_can_have_several_misfits():
    odd = chunk("x", append=True, context="d")
    assert set(applied(status(State.WORKING), odd)[1]) == {Misfit.OTHER_CONTEXT, Misfit.APPEND_BEFORE_CREATE}


def test_a_chunk_after_a_terminal_state_has_only_that_misfit():
    assert applied(status(State.COMPLETED), chunk("x", append=True))[1] == [Misfit.AFTER_TERMINAL]


def test_a_chunk_without_an_id_may_have_begun_any_artifact():
    assert applied(chunk("x", key=""), chunk("y", append=True))[1] == []


# Another account of the same task


def test_the_order_of_a_task_is_that_of_its_events():
    events = [chunk("x", last_chunk=True), chunk("z", key="b"), status(State.COMPLETED)]
    order = Order()
    for event in events:
        order.add(event)
    task, _ = applied(*events)
    assert Order.of(task) == order
    assert Order.of(applied(chunk("x", key=""))[0]).blind


def test_conclude_uses_only_the_final_state():
    task, _ = applied(status(State.WORKING), chunk("mine"))
    task.conclude(TaskStatus(state=State.CANCELED), 9.0)
    assert (task.state, task.updated, str(task.artifacts["a"].text)) == (State.CANCELED, 9.0, "mine")
    task.conclude(TaskStatus(state=State.COMPLETED), 10.0)
    assert task.state == State.CANCELED


def test_conclude_ignores_a_state_that_is_not_final():
    task, _ = applied(status(State.INPUT_REQUIRED))
    task.conclude(TaskStatus(state=State.WORKING), 9.0)
    assert (task.state, task.updated, task.artifacts) == (State.INPUT_REQUIRED, 0.0, {})


def test_a_snapshot_with_equal_content_keeps_the_chunks():
    task, _ = applied(status("WORKING"), chunk("one"), chunk("two", append=True), chunk("three", append=True))
    before = task.artifacts["a"]
    cuts, revision = list(before.cuts), before.revision
    task.apply(snapshot("COMPLETED", Artifact(artifact_id="a", parts=[Part(text="onetwothree")])), 9.0)
    assert (list(before.cuts), before.revision, before.chunks) == (cuts, revision, 3)
    task.apply(snapshot("COMPLETED", Artifact(artifact_id="a", parts=[Part(text="onetwo")])), 10.0)
    assert (str(before.text), before.chunks, before.revision) == ("onetwo", 1, revision + 1)
