"""Folding events into tasks: which account is believed, and which stream reports on a task."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from inspector.capture.records import Kind, Record
from inspector.protocol.assemble import AssembledTask, TextAppended
from inspector.protocol.lifecycle import State
from inspector.protocol.model import (
    Artifact,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskStatus,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.text_buffer import TextBuffer
from inspector.session.compose.build import Problem, compose
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.exchanges import Exchanges
from inspector.session.payload import describe
from inspector.session.tasks import EVENT_CLASSES, TaskFold, TrackedTask, task_of


def status(state: str, id: str = "t") -> TaskStatusUpdateEvent:  # noqa: A002
    return TaskStatusUpdateEvent(task_id=id, context_id="c", status=TaskStatus(state=state))


def chunk(text: str) -> TaskArtifactUpdateEvent:
    return TaskArtifactUpdateEvent(
        task_id="t", artifact=Artifact(artifact_id="a", parts=[Part(text=text)]), append=True
    )


class Folding:
    """A `TaskFold` that gets records like those of a journal; exchanges are created by their number."""

    def __init__(self) -> None:
        self.exchanges = Exchanges()
        self.tasks = TaskFold(self.exchanges)
        self._seq = 100

    def _take(self, kind: Kind, at: float, said: object, exchange: int = 0, **members: Any) -> None:
        if exchange and self.exchanges.get(exchange) is None:
            meta = {"method": "POST", "url": "http://x/"}
            self.exchanges.offer([Record(exchange, at, Kind.REQUEST, exchange, meta=meta)])
        self._seq += 1
        task = task_of(said) if isinstance(said, EVENT_CLASSES) else ""
        record = Record(self._seq, at, kind, exchange, task=task, **members)
        self.exchanges.offer([record])
        self.tasks.take([record], said)

    def answer(self, said: object, at: float) -> None:
        self._take(Kind.BODY, at, said)

    def frame(self, said: object, at: float, stream: int) -> None:
        self._take(Kind.FRAME, at, said, stream)

    def end(self, stream: int) -> None:
        self._take(Kind.END, 9.0, None, stream, meta={"how": "complete", "seconds": 1.0})

    def push(self, said: object, at: float, *, accepted: bool = True) -> None:
        self._take(Kind.DELIVERY, at, said, meta={"taken": accepted})

    @property
    def only(self) -> TrackedTask:
        [tracked] = self.tasks.all()
        return tracked

    @property
    def text(self) -> str:
        return str(self.only.answered.artifacts["a"].text)


@pytest.fixture
def folding() -> Folding:
    return Folding()


def test_tasks_are_numbered_as_they_are_first_seen_and_the_newest_comes_first(folding: Folding):
    for at, task in enumerate(("t", "u", "t")):
        folding.answer(status(State.WORKING, task), float(at))
    tasks = folding.tasks
    assert [(task.id, task.number, task.first_seen) for task in tasks.all()] == [("u", 2, 1.0), ("t", 1, 0.0)]
    assert (len(tasks), "t" in tasks, "x" in tasks, tasks.get("x")) == (2, True, False, None)


def test_an_event_without_a_task_changes_nothing(folding: Folding):
    for said in (Message(message_id="m"), status(State.WORKING, ""), Unreadable(None, "why"), None):
        folding.answer(said, 0.0)
    assert len(folding.tasks) == 0


def test_every_task_of_a_list_is_folded(folding: Folding):
    folding.answer(TaskList(tasks=[Task(id="t"), Task(id="u")]), 1.0)
    assert [task.id for task in folding.tasks.all()] == ["u", "t"]


@pytest.mark.parametrize(
    ("answered", "pushed", "believed"),
    [
        (None, State.WORKING, "pushed"),
        (State.WORKING, None, "answered"),
        (State.WORKING, State.COMPLETED, "pushed"),
        (State.COMPLETED, State.WORKING, "answered"),
    ],
    ids=["only pushes", "only answers", "later pushes", "late pushes"],
)
def test_the_account_with_the_later_news_is_believed(
    folding: Folding, answered: str | None, pushed: str | None, believed: str
):
    if answered:
        folding.answer(status(answered), 1.0)
    if pushed:
        folding.push(status(pushed), 2.0)
    assert folding.only.now is getattr(folding.only, believed)


def test_answers_after_the_pushes_are_believed(folding: Folding):
    folding.push(status(State.WORKING), 1.0)
    folding.answer(status(State.INPUT_REQUIRED), 2.0)
    assert folding.only.now is folding.only.answered


def test_a_rejected_push_changes_nothing(folding: Folding):
    folding.push(status(State.WORKING), 1.0, accepted=False)
    assert len(folding.tasks) == 0


def test_during_a_stream_other_responses_only_report_the_end(folding: Folding):
    folding.frame(chunk("one "), 1.0, 7)
    folding.frame(chunk("one "), 2.0, 8)
    folding.answer(Task(id="t", status=TaskStatus(state=State.WORKING), artifacts=[]), 3.0)
    assert (folding.text, folding.only.answered.state) == ("one ", "")
    folding.answer(status(State.CANCELED), 4.0)
    assert folding.only.answered.state == State.CANCELED
    folding.frame(chunk("two"), 5.0, 7)
    assert folding.text == "one two"


def test_after_the_end_of_a_stream_the_next_one_reports_on_the_task(folding: Folding):
    folding.frame(chunk("one "), 1.0, 7)
    folding.end(8)
    folding.frame(chunk("lost "), 2.0, 8)
    folding.end(7)
    folding.frame(chunk("two"), 3.0, 8)
    assert folding.text == "one two"


def test_a_stream_about_one_task_does_not_keep_others_from_reporting_on_another(folding: Folding):
    folding.frame(status(State.WORKING, "u"), 1.0, 7)
    folding.frame(chunk("one "), 2.0, 7)
    folding.frame(chunk("two"), 3.0, 8)
    tracked = folding.tasks.get("t")
    assert tracked is not None
    assert (str(tracked.answered.artifacts["a"].text), tracked.stream) == ("one two", 8)


def test_answers_one_after_the_other_report_the_whole_task(folding: Folding):
    folding.answer(chunk("one "), 1.0)
    folding.answer(chunk("two"), 2.0)
    assert folding.text == "one two"


def test_appended_texts_are_folded_like_the_updates_they_represent(folding: Folding):
    texts = TextAppended(chunk("one"), ("two", "three"))
    apart = Folding()
    for event in (chunk("one"), *texts.updates()):
        apart.frame(event, 1.0, 7)
    folding.frame(chunk("one"), 1.0, 7)
    folding.frame(texts, 1.0, 7)
    whole, parts = folding.only.answered, apart.only.answered
    assert [(*vars_of(part).items(),) for part in (whole, parts)] == [(*vars_of(parts).items(),)] * 2


def vars_of(account: AssembledTask) -> dict[str, Any]:
    [artifact] = account.artifacts.values()
    return (
        asdict(replace(account, artifacts={}))
        | asdict(replace(artifact, text=TextBuffer()))
        | {"text": str(artifact.text)}
    )


def test_pushes_are_an_account_of_their_own(folding: Folding):
    folding.frame(chunk("one"), 1.0, 7)
    folding.push(chunk("one"), 2.0)
    both = (folding.only.answered, folding.only.pushed)
    assert [str(account.artifacts["a"].text) for account in both] == ["one", "one"]


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
def test_the_task_of_an_event(event: Any, about: tuple[str, str, str]):
    assert describe(event)[1:4] == about


# Drafts


def test_a_draft_omits_empty_members():
    request = compose(text_draft("hello")).request
    message = request.to_json()["message"]
    assert {**message, "messageId": ""} == {"messageId": "", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
    assert request.to_json()["configuration"] == {"returnImmediately": False}
    assert set(request.to_json()) == {"message", "configuration"}


def test_a_draft_contains_every_option():
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


def test_each_draft_has_its_own_id():
    assert text_draft("x").message_id != text_draft("x").message_id
    assert compose(Draft(())).problems == (Problem("parts", "A message needs at least one part."),)
    assert compose(text_draft("x")).problems == ()
