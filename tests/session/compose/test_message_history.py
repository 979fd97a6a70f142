"""The sent messages and the unsent draft that later sessions load."""

from __future__ import annotations

import json
import stat
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.capture.private_files import CaptureError
from inspector.capture.redaction import Redactor
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.compose.history import LARGEST_DRAFT, MOST, MessageHistory, SavedDraft

AGENT = "http://agent.example:9999"
SECRET = "open-sesame-and-more"


def texts(history: MessageHistory) -> list[str]:
    return [sent.draft.label for sent in history.load()[0]]


@pytest.fixture
def history(tmp_path: Path) -> MessageHistory:
    return MessageHistory(Redactor([SECRET]), tmp_path / "state")


def secretive() -> Draft:
    """Make a draft with secrets in all the places that it has."""
    part = DraftPart(PartKind.DATA, '{"password": "hunter2-hunter2", "key": "open-sesame-and-more"}')
    return Draft(
        (DraftPart(PartKind.TEXT, f"my key is {SECRET}"), part),
        metadata=json.dumps({"access_token": "of-the-user-1"}),
        svc_params=(("Authorization", "Bearer of-the-user-2"), ("X-Api-Key", "of-the-user-3"), ("X-Team", "open")),
    )


def hides(raw: bytes) -> None:
    for secret in (SECRET, "hunter2", "of-the-user"):
        assert secret.encode() not in raw
    assert b"open" in raw, "other values are kept"


def test_messages_with_different_service_parameters_are_both_kept(history: MessageHistory):
    for number, value in enumerate("ab"):
        draft = replace(text_draft("one"), svc_params=(("agent", "x"), ("then", value)))
        assert history.add(draft, AGENT, 1.0 + number) == ""
    assert texts(history) == ["one", "one"]


def test_the_newest_message_is_the_first(history: MessageHistory):
    assert history.load() == ([], "")
    for number, text in enumerate(("one", "two", "three")):
        assert history.add(text_draft(text), AGENT, 1.23456 + number) == ""
    found, problem = history.load()
    assert problem == ""
    assert [(sent.draft.label, sent.agent, sent.at) for sent in found] == [
        ("three", AGENT, 3.235),
        ("two", AGENT, 2.235),
        ("one", AGENT, 1.235),
    ]


def test_a_message_that_is_sent_again_stands_there_once_and_first(history: MessageHistory):
    draft = text_draft("again")
    history.add(draft, AGENT, 1.0)
    history.add(text_draft("between"), AGENT, 2.0)
    history.add(draft.with_new_ids(), "http://other.example", 3.0)
    assert texts(history) == ["again", "between"]
    assert history.load()[0][0].agent == "http://other.example"


def test_a_message_from_the_history_has_ids_of_its_own(history: MessageHistory):
    draft = text_draft("x", task_id="t", message_id="m")
    history.add(draft, AGENT, 1.0)
    found = history.load()[0][0].draft
    assert found.message_id != "m"
    assert replace(found, message_id="m", request_id=draft.request_id) == draft


def test_the_oldest_are_forgotten(history: MessageHistory):
    for number in range(MOST + 5):
        history.add(text_draft(f"message {number}"), AGENT, float(number))
    found = texts(history)
    assert (len(found), found[0], found[-1]) == (MOST, f"message {MOST + 4}", "message 5")


def test_a_message_that_is_too_long_is_not_kept_and_takes_nothing_away(history: MessageHistory):
    history.add(text_draft("short"), AGENT, 1.0)
    assert history.add(text_draft("x" * LARGEST_DRAFT), AGENT, 2.0) == ""
    assert texts(history) == ["short"]


def test_secrets_are_masked_before_they_are_written(history: MessageHistory, tmp_path: Path):
    history.add(secretive(), f"http://user:{SECRET}@agent.example/?token=of-the-user-4", 1.0)
    hides((tmp_path / "state" / "sent.jsonl").read_bytes())
    [found] = history.load()[0]
    assert found.draft.svc_params == (("Authorization", "Bearer ****"), ("X-Api-Key", "****"), ("X-Team", "open"))
    assert found.draft.parts[0].value == "my key is ****"


def test_only_the_owner_may_read_it(history: MessageHistory, tmp_path: Path):
    history.add(text_draft("x"), AGENT, 1.0)
    path = tmp_path / "state" / "sent.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "null",
        "[]",
        "1",
        "{}",
        '{"draft": [], "agent": "a", "at": 1}',
        '{"draft": "part", "agent": "a", "at": 1}',
        '{"draft": null, "agent": "a", "at": 1}',
        '{"draft": {"part": [{"text": 1}]}, "agent": "a", "at": 1}',
        '{"draft": {"part": []}, "agent": "a", "at": "soon"}',
        '{"draft": {"part": []}, "agent": "a", "at": NaN}',
        '{"draft": {"part": []}, "agent": "a", "at": Infinity}',
        '{"draft": {"part": []}, "agent": "a", "at": %s}' % ("9" * 400),
        '{"draft": {"part": []}, "agent": "a", "at": 1e999}',
        '{"draft": {"part": []}, "agent": "a", "at": 1e15}',
        '{"draft": {"part": []}, "agent": "a", "at": -1e15}',
        '{"draft": {"part": []}, "at": 1}',
        "[" * 100_000,
        "\xff",
    ],
)
def test_a_broken_line_is_counted_and_hides_no_other(history: MessageHistory, tmp_path: Path, line: str):
    history.add(text_draft("one"), AGENT, 1.0)
    path = tmp_path / "state" / "sent.jsonl"
    path.write_bytes(path.read_bytes() + line.encode("latin-1") + b"\n")
    assert history.add(text_draft("two"), AGENT, 2.0) == ""
    found, problem = history.load()
    assert [sent.draft.label for sent in found] == ["two", "one"]
    assert problem == "1 of the sent messages could not be read."


def test_a_place_that_cannot_be_used_is_said_and_nothing_is_raised(tmp_path: Path):
    (tmp_path / "taken").write_text("a file")
    history = MessageHistory(Redactor(), tmp_path / "taken")
    assert history.add(text_draft("x"), AGENT, 1.0) != ""
    found, problem = history.load()
    assert found == []
    assert problem.startswith("The sent messages could not be read: ")
    below = MessageHistory(Redactor(), tmp_path / "taken" / "below")
    assert "Cannot create the folder" in below.add(text_draft("x"), AGENT, 1.0)
    (tmp_path / "state" / "sent.jsonl").mkdir(parents=True)
    taken = MessageHistory(Redactor(), tmp_path / "state")
    assert taken.add(text_draft("x"), AGENT, 1.0).startswith("The message could not be saved to history: ")
    assert taken.load()[1] != ""
    assert [file.name for file in (tmp_path / "state").iterdir()] == ["sent.jsonl"], "nothing is left behind"


# ── the message that is being written ──


def test_what_was_being_written_comes_back_with_its_id(tmp_path: Path):
    draft = text_draft("half a sen", task_id="t", message_id="m")
    SavedDraft(Redactor(), AGENT, tmp_path).keep(draft)
    found = SavedDraft(Redactor(), AGENT, tmp_path).load()
    assert found is not None
    assert replace(found, request_id=draft.request_id) == draft


def test_an_empty_draft_leaves_no_file(tmp_path: Path):
    kept = SavedDraft(Redactor(), AGENT, tmp_path)
    kept.keep(text_draft(""))
    kept.keep(text_draft("x"))
    assert kept.load() is not None
    kept.keep(text_draft(" "))
    assert kept.load() is None
    assert list((tmp_path / "drafts").iterdir()) == []


def test_each_agent_has_a_draft_of_its_own(tmp_path: Path):
    names = ["http://a.b/c", "http://a-b/c", "", "/", "x" * 500, "x" * 499 + "y", "http://\u00e4"]
    for name in names:
        SavedDraft(Redactor(), name, tmp_path).keep(text_draft(f"for {name}"))
    for name in names:
        found = SavedDraft(Redactor(), name, tmp_path).load()
        assert found is not None
        assert found.label == f"for {name}"
    folders = {path.parent for path in tmp_path.rglob("*.a2a.toml")}
    assert folders == {tmp_path / "drafts"}


def test_its_secrets_are_masked_too(tmp_path: Path):
    kept = SavedDraft(Redactor([SECRET]), f"http://user:{SECRET}@agent.example", tmp_path)
    kept.keep(secretive())
    [path] = (tmp_path / "drafts").iterdir()
    hides(path.read_bytes())
    assert "sesame" not in path.name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    tomllib.loads(path.read_text())
    found = kept.load()
    assert found is not None
    assert found.svc_params[-1] == ("X-Team", "open")


@pytest.mark.parametrize("text", ["nonsense", "part = 1", "", "x = " + "[" * 5000, "\0"])
def test_a_file_that_is_no_draft_is_none(tmp_path: Path, text: str):
    kept = SavedDraft(Redactor(), AGENT, tmp_path)
    kept.keep(text_draft("x"))
    [path] = (tmp_path / "drafts").iterdir()
    path.write_text(text)
    found = kept.load()
    assert found is None or found.is_blank
    path.write_bytes(b"\xff")
    assert kept.load() is None
    path.unlink()
    path.mkdir()
    assert kept.load() is None


def test_a_place_that_takes_no_draft_is_told(tmp_path: Path):
    (tmp_path / "drafts").write_text("a file")
    with pytest.raises((OSError, CaptureError)):
        SavedDraft(Redactor(), AGENT, tmp_path).keep(text_draft("x"))


def test_a_draft_that_is_too_long_leaves_the_last_one_that_was_not(tmp_path: Path):
    kept = SavedDraft(Redactor(), AGENT, tmp_path)
    kept.keep(text_draft("short"))
    kept.keep(text_draft("x" * (LARGEST_DRAFT + 1)))
    found = kept.load()
    assert found is not None
    assert found.label == "short"
