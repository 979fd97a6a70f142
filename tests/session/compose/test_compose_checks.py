"""What speaks against a draft before it is sent: each note with a case for it and one against it."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import card_of

from inspector.capture.records import Kind, Record
from inspector.protocol.card import AgentCard
from inspector.protocol.model import PushConfig, Task, TaskStatus
from inspector.protocol.selection import select
from inspector.session.compose.build import compose
from inspector.session.compose.checks import MessageWarning, check_message
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.exchanges import Exchanges
from inspector.session.tasks import TaskFold

HOOK = PushConfig(url="http://hook.example/x")
EXTENSION = "https://example.com/ext"


def notes(
    draft: Draft,
    *,
    tasks: TaskFold | None = None,
    stream: bool = False,
    push: bool = False,
    binding: str = "JSONRPC",
    version: str = "1.0",
    **members: Any,
) -> list[MessageWarning]:
    interface = {"url": "http://agent.example/rpc", "protocolBinding": binding, "protocolVersion": version}
    card = AgentCard.model_validate(card_of("", supportedInterfaces=[interface], **members))
    choice = select(card)
    assert choice is not None
    request = compose(draft, push=HOOK if push else None).request
    return list(check_message(request, stream=stream, choice=choice, card=card, tasks=tasks or TaskFold(Exchanges())))


def known(state: str, name: str = "t", context: str = "c") -> TaskFold:
    tasks = TaskFold(Exchanges())
    task = Task(id=name, context_id=context, status=TaskStatus(state=f"TASK_STATE_{state}"))
    tasks.take([Record(1, 1.0, Kind.BODY)], task)
    return tasks


def part(kind: PartKind, value: str, media_type: str = "") -> Draft:
    return Draft((DraftPart(kind, value, media_type),))


def test_nothing_speaks_against_an_ordinary_message():
    assert notes(text_draft("hello")) == []
    assert notes(text_draft("hello", task_id="elsewhere", context_id="c"), stream=True, push=True) == []


@pytest.mark.parametrize(
    ("kind", "value", "empty"),
    [
        (PartKind.TEXT, "", True),
        (PartKind.TEXT, " ", False),
        (PartKind.FILE, "/dev/null", False),
        (PartKind.DATA, "{}", False),
        (PartKind.DATA, "null", False),
    ],
)
def test_an_empty_part_may_be_refused(kind: PartKind, value: str, empty: bool):
    found = [note.words for note in notes(part(kind, value), defaultInputModes=["*/*"])]
    assert ("This part is empty; the agent may refuse it." in found) is empty


def test_a_file_without_a_byte_is_empty(tmp_path: Any):
    (tmp_path / "none").touch()
    [found] = notes(part(PartKind.FILE, str(tmp_path / "none")), defaultInputModes=["*/*"])
    assert found == MessageWarning("parts/0", "This part is empty; the agent may refuse it.")


@pytest.mark.parametrize(
    ("draft", "modes", "accepted"),
    [
        (text_draft("x"), ["text/plain"], True),
        (text_draft("x"), ["TEXT/Plain; charset=utf-8"], True),
        (text_draft("x"), ["text"], True),
        (text_draft("x"), ["text/*"], True),
        (text_draft("x"), ["*/*"], True),
        (text_draft("x"), ["*"], True),
        (text_draft("x"), ["image/png", "application/json"], False),
        (text_draft("x"), ["image"], False),
        (text_draft("x"), ["application/*"], False),
        (text_draft("x"), [], True),
        (part(PartKind.TEXT, "x", "text/markdown"), ["text/plain"], False),
        (part(PartKind.TEXT, "x", "Text/Plain;charset=utf-8"), ["text/plain"], True),
        (part(PartKind.DATA, "{}"), ["application/json"], True),
        (part(PartKind.DATA, "{}"), ["data"], True),
        (part(PartKind.DATA, "{}"), ["text/plain"], False),
        (part(PartKind.LINK, "https://h/a.png"), ["image/*"], True),
        (part(PartKind.LINK, "https://h/a.png"), ["file"], True),
        (part(PartKind.LINK, "https://h/a.png"), ["image/jpeg"], False),
    ],
)
def test_the_input_modes_of_the_card(draft: Draft, modes: list[str], accepted: bool):
    found = notes(draft, defaultInputModes=modes)
    assert (found == []) is accepted
    if not accepted:
        [note] = found
        assert note.where == "parts/0"
        assert note.words.startswith("The card does not list ")
        assert note.words.endswith(f" among its input modes: {', '.join(modes)}.")


def test_what_one_skill_takes_the_agent_takes():
    skill = {"id": "s", "name": "S", "description": "d", "tags": [], "inputModes": ["image/png"]}
    assert notes(part(PartKind.LINK, "https://h/a.png"), skills=[skill]) == []
    assert notes(part(PartKind.LINK, "https://h/a.gif"), skills=[skill]) != []


def test_the_part_is_named_that_is_meant():
    draft = Draft((DraftPart(PartKind.TEXT, "a"), DraftPart(PartKind.DATA, "1"), DraftPart(PartKind.TEXT, "")))
    assert [note.where for note in notes(draft)] == ["parts/1", "parts/2"]


@pytest.mark.parametrize(
    ("state", "ended"),
    [
        ("COMPLETED", True),
        ("FAILED", True),
        ("CANCELED", True),
        ("REJECTED", True),
        ("WORKING", False),
        ("INPUT_REQUIRED", False),
        ("AUTH_REQUIRED", False),
    ],
)
def test_a_task_that_has_ended_takes_no_more(state: str, ended: bool):
    found = notes(text_draft("x", task_id="t"), tasks=known(state))
    assert [note.where for note in found] == ["task"] * ended
    if ended:
        assert found[0].words.startswith(f"The task is {state.lower()} and accepts no more messages")
    assert notes(text_draft("x", task_id="other"), tasks=known(state)) == []
    assert notes(text_draft("x"), tasks=known(state)) == []


def test_a_task_belongs_to_its_context():
    tasks = known("WORKING")
    [found] = notes(text_draft("x", task_id="t", context_id="another"), tasks=tasks)
    assert (found.where, "The task belongs to the context c;" in found.words) == ("context", True)
    assert notes(text_draft("x", task_id="t", context_id="c"), tasks=tasks) == []
    assert notes(text_draft("x", task_id="t"), tasks=tasks) == []
    assert notes(text_draft("x", context_id="another"), tasks=tasks) == []


def test_a_task_does_not_refer_to_itself():
    tasks = known("WORKING")
    found = notes(text_draft("x", task_id="t", references=("t", "u")), tasks=tasks)
    assert found == [MessageWarning("references", "The message lists its own task as a reference.")]
    assert notes(text_draft("x", task_id="t", references=("u",)), tasks=tasks) == []
    assert notes(text_draft("x", references=("t",)), tasks=tasks) == []


def offering(*, required: bool) -> dict[str, Any]:
    return {"capabilities": {"streaming": True, "extensions": [{"uri": EXTENSION, "required": required}]}}


def test_an_extension_that_is_required_and_one_that_is_not_offered():
    [missing] = notes(text_draft("x"), **offering(required=True))
    assert missing == MessageWarning("extensions", f"The card requires the extension {EXTENSION} (section 3.3.4).")
    assert notes(text_draft("x", extensions=(EXTENSION,)), **offering(required=True)) == []
    assert notes(text_draft("x"), **offering(required=False)) == []
    [unknown] = notes(text_draft("x", extensions=("urn:mine",)), **offering(required=False))
    assert unknown == MessageWarning("extensions", "The card does not declare the extension urn:mine.")
    assert notes(text_draft("x", extensions=("urn:mine",))) == [unknown]


def test_a_stream_that_the_card_denies():
    denies = {"capabilities": {"streaming": False}}
    [found] = notes(text_draft("x"), stream=True, **denies)
    assert found == MessageWarning("stream", "The card declares streaming: false.")
    assert notes(text_draft("x"), stream=False, **denies) == []
    assert notes(text_draft("x"), stream=True, capabilities={}) == [], "many cards do not declare it"


def test_pushes_that_the_card_denies():
    denies = {"capabilities": {"pushNotifications": False}}
    [found] = notes(text_draft("x"), push=True, **denies)
    assert found == MessageWarning("push", "The card declares pushNotifications: false.")
    assert notes(text_draft("x"), **denies) == []
    assert notes(text_draft("x"), push=True, capabilities={}) == []


def test_output_modes_of_which_the_agent_gives_none():
    [found] = notes(text_draft("x", accepted_output_modes=("image/png", "audio/*")))
    assert found == MessageWarning("modes", "The card does not list any of these output modes; it lists text/plain.")
    assert notes(text_draft("x", accepted_output_modes=("image/png", "text/*"))) == []
    assert notes(text_draft("x", accepted_output_modes=("image/png",)), defaultOutputModes=[]) == []
    skill = {"id": "s", "name": "S", "description": "d", "tags": [], "outputModes": ["image/png"]}
    assert notes(text_draft("x", accepted_output_modes=("image/png",)), skills=[skill]) == []


@pytest.mark.parametrize(
    ("wanted", "offered"),
    [
        ("text/plain", "text/plain; charset=utf-8"),
        ("text/plain;charset=utf-8", "Text/Plain"),
        ("text/plain", "text/*"),
        ("text/plain", "*/*"),
        ("text/plain", "text"),
        ("application/json", "data"),
    ],
)
def test_an_output_mode_of_the_card_may_be_written_otherwise(wanted: str, offered: str):
    assert notes(text_draft("x", accepted_output_modes=(wanted,)), defaultOutputModes=[offered]) == []


def test_what_a_version_has_no_place_for():
    draft = text_draft("x", tenant="acme")
    found = notes(draft, version="0.3")
    assert [note.where for note in found] == ["protocolVersion"]
    assert found[0].words == "A2A 0.3 cannot represent /tenant; it is left out."
    assert notes(draft) == []
