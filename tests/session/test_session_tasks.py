"""The tasks of a session: which account is believed, and who may tell one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from inspector.protocol.assemble import Misfit
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
from inspector.session.compose.build import Problem, compose
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.tasks import Source, Tasks, TrackedTask, context_of, state_of, task_of, text_of

ANSWER, PUSH = Source.ANSWER, Source.PUSH


def status(state: str, id: str = "t") -> TaskStatusUpdateEvent:  # noqa: A002
    return TaskStatusUpdateEvent(task_id=id, context_id="c", status=TaskStatus(state=state))


def chunk(text: str) -> TaskArtifactUpdateEvent:
    return TaskArtifactUpdateEvent(
        task_id="t", artifact=Artifact(artifact_id="a", parts=[Part(text=text)]), append=True
    )


def only(tasks: Tasks) -> TrackedTask:
    [tracked] = tasks.all()
    return tracked


def text(tracked: TrackedTask) -> str:
    return str(tracked.answered.artifacts["a"].text)


def test_tasks_are_numbered_as_they_are_first_seen_and_the_newest_comes_first():
    tasks = Tasks()
    for at, task in enumerate(("t", "u", "t")):
        tasks.take(status(State.WORKING, task), float(at), ANSWER)
    assert [(one.id, one.number, one.first_seen) for one in tasks.all()] == [("u", 2, 1.0), ("t", 1, 0.0)]
    assert (len(tasks), "t" in tasks, "x" in tasks, tasks.get("x")) == (2, True, False, None)


def test_an_event_of_no_task_is_passed_over():
    tasks = Tasks()
    assert tasks.take(Message(message_id="m"), 0.0, ANSWER) == ()
    assert tasks.take(status(State.WORKING, ""), 0.0, ANSWER) == ()
    assert len(tasks) == 0


def test_the_misfits_of_an_event_are_handed_on():
    tasks = Tasks()
    tasks.take(status(State.COMPLETED), 0.0, ANSWER)
    assert tasks.take(status(State.WORKING), 1.0, ANSWER) == (Misfit.AFTER_TERMINAL,)


@pytest.mark.parametrize(
    ("answered", "pushed", "believed"),
    [
        (None, State.WORKING, "pushed"),
        (State.WORKING, None, "answered"),
        (State.WORKING, State.COMPLETED, "pushed"),
        (State.COMPLETED, State.WORKING, "answered"),
    ],
    ids=["only pushes", "only answers", "pushes went on", "late pushes"],
)
def test_the_account_that_went_on_is_believed(answered: str | None, pushed: str | None, believed: str):
    tasks = Tasks()
    if answered:
        tasks.take(status(answered), 1.0, ANSWER)
    if pushed:
        tasks.take(status(pushed), 2.0, PUSH)
    tracked = only(tasks)
    assert tracked.now is getattr(tracked, believed)


def test_answers_that_went_on_after_the_pushes_are_believed():
    tasks = Tasks()
    tasks.take(status(State.WORKING), 1.0, PUSH)
    tasks.take(status(State.INPUT_REQUIRED), 2.0, ANSWER)
    assert only(tasks).now is only(tasks).answered


def test_while_a_stream_tells_a_task_others_tell_its_end_alone():
    tasks = Tasks()
    tasks.take(chunk("one "), 1.0, ANSWER, stream=7)
    tasks.take(chunk("one "), 2.0, ANSWER, stream=8)
    tasks.take(Task(id="t", status=TaskStatus(state=State.WORKING), artifacts=[]), 3.0, ANSWER)
    assert (text(only(tasks)), only(tasks).answered.state) == ("one ", "")
    tasks.take(status(State.CANCELED), 4.0, ANSWER)
    assert only(tasks).answered.state == State.CANCELED
    tasks.take(chunk("two"), 5.0, ANSWER, stream=7)
    assert text(only(tasks)) == "one two"


def test_when_a_stream_is_over_the_next_one_tells_the_task():
    tasks = Tasks()
    tasks.take(chunk("one "), 1.0, ANSWER, stream=7)
    tasks.let_go("t", 8)
    tasks.take(chunk("lost "), 2.0, ANSWER, stream=8)
    tasks.let_go("t", 7)
    tasks.take(chunk("two"), 3.0, ANSWER, stream=8)
    assert text(only(tasks)) == "one two"
    tasks.let_go("no such task", 8)


def test_one_answer_after_the_other_tells_the_whole_task():
    tasks = Tasks()
    tasks.take(chunk("one "), 1.0, ANSWER)
    tasks.take(chunk("two"), 2.0, ANSWER)
    assert text(only(tasks)) == "one two"


def test_pushes_are_an_account_of_their_own():
    tasks = Tasks()
    tasks.take(chunk("one"), 1.0, ANSWER, stream=7)
    tasks.take(chunk("one"), 2.0, PUSH)
    assert [str(one.artifacts["a"].text) for one in (only(tasks).answered, only(tasks).pushed)] == ["one", "one"]


@pytest.mark.parametrize(
    ("event", "about"),
    [
        (status(State.WORKING), ("t", "c", State.WORKING)),
        (Task(id="t", context_id="c", status=TaskStatus(state=State.FAILED)), ("t", "c", State.FAILED)),
        (chunk("x"), ("t", "", "")),
        (Message(message_id="m", task_id="t"), ("t", "", "")),
        (Message(message_id="m"), ("", "", "")),
    ],
)
def test_what_an_event_is_about(event: Any, about: tuple[str, str, str]):
    assert (task_of(event), context_of(event), state_of(event)) == about


def test_the_text_of_a_message_is_that_of_its_text_parts():
    parts = [Part(text="one"), Part(url="http://x"), Part(text=""), Part(text="two")]
    assert text_of(Message(message_id="m", parts=parts)) == "one two"
    assert text_of(None) == ""


# Drafts


def test_a_draft_leaves_out_what_says_nothing():
    request = compose(text_draft("hello")).request
    message = request.to_json()["message"]
    assert {**message, "messageId": ""} == {"messageId": "", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
    assert request.to_json()["configuration"] == {"returnImmediately": False}
    assert set(request.to_json()) == {"message", "configuration"}


def test_a_draft_says_all_that_it_is_told():
    draft = Draft(
        (DraftPart(PartKind.TEXT, "x", "text/markdown", "x.md", '{"p": null}'),),
        task_id="t",
        context_id="c",
        references=("r",),
        metadata='{"m": 1}',
        extensions=("https://example.com/ext",),
        blocking=False,
        history_length=0,
        accepted_output_modes=("text/plain",),
        request_metadata='{"a": 1}',
        message_id="m",
    )
    assert compose(draft, tenant="acme").request.to_json() == {
        "tenant": "acme",
        "metadata": {"a": 1},
        "message": {
            "messageId": "m",
            "contextId": "c",
            "taskId": "t",
            "role": "ROLE_USER",
            "parts": [{"text": "x", "mediaType": "text/markdown", "filename": "x.md", "metadata": {"p": None}}],
            "metadata": {"m": 1},
            "extensions": ["https://example.com/ext"],
            "referenceTaskIds": ["r"],
        },
        "configuration": {"acceptedOutputModes": ["text/plain"], "historyLength": 0, "returnImmediately": True},
    }
    assert compose(replace(draft, tenant="mine"), tenant="acme").request.tenant == "mine"


def test_each_draft_has_an_id_of_its_own():
    assert text_draft("x").message_id != text_draft("x").message_id
    assert compose(Draft(())).problems == (Problem("parts", "A message has at least one part."),)
    assert compose(text_draft("x")).problems == ()
