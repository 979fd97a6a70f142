"""Bookmarks and remarks: records of their own about others, folded again from a capture that is opened later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripted import OpenSession

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.session.bookmarks import LONGEST, Bookmarks
from inspector.session.replay.recording import Recording
from inspector.session.session import Session


@pytest.fixture
async def session(open_session: OpenSession) -> Session:
    opened = await open_session()
    for number in range(1, 6):
        opened.journal.append(Kind.NOTE, float(number), event="said", task="t", label=f"fact {number}")
    return opened


def notes(session: Session) -> list[tuple[str, str, Any]]:
    return [(one.event, one.label, one.meta.get("about")) for one in session.journal.capture.slice(6, 99)]


async def test_a_bookmark_is_a_note_about_a_record_and_another_one_takes_it_back(session):
    facts = session.journal.capture.slice(1, 5)
    session.bookmarks.toggle(2)
    assert (session.bookmarks.bookmarked(2), len(session.bookmarks)) == (True, 1)
    session.bookmarks.toggle(2)
    assert (session.bookmarks.bookmarked(2), len(session.bookmarks)) == (False, 0)
    assert notes(session) == [("bookmark", "bookmark #2", 2), ("unbookmark", "unbookmark #2", 2)]
    assert session.journal.capture.slice(1, 5) == facts
    assert {one.task for one in session.journal.capture.slice(6, 7)} == {"t"}


async def test_a_remark_is_said_changed_and_taken_back(session):
    session.bookmarks.remark(3, "why so late?")
    session.bookmarks.remark(3, "why so late?")
    assert session.bookmarks.remark_on(3) == "why so late?"
    session.bookmarks.remark(3, "because of us")
    assert session.bookmarks.remark_on(3) == "because of us"
    session.bookmarks.remark(3, "")
    session.bookmarks.remark(3, "")
    assert (session.bookmarks.remark_on(3), len(session.bookmarks)) == ("", 0)
    assert [event for event, _, _ in notes(session)] == ["remark", "remark", "unremark"]


async def test_what_is_marked_is_found_by_where_it_stands(session):
    for seq in (5, 1, 3):
        session.bookmarks.toggle(seq)
    session.bookmarks.remark(3, "both")
    session.bookmarks.remark(4, "a remark alone")
    session.bookmarks.toggle(3)
    assert list(session.bookmarks.within(2, 4)) == [3, 4]
    assert list(session.bookmarks.within(1, 99)) == [1, 3, 4, 5]
    assert list(session.bookmarks.within(2, 2)) == []


async def test_a_capture_that_is_opened_again_has_the_same_marks(session, tmp_path: Path):
    session.bookmarks.toggle(1)
    session.bookmarks.toggle(2)
    session.bookmarks.toggle(1)
    session.bookmarks.remark(4, "look here")
    path = session.journal.capture.path
    await session.close()
    recording = Recording(path)
    for _ in recording.read():
        pass
    try:
        assert list(recording.bookmarks.within(1, 99)) == [2, 4]
        assert (recording.bookmarks.bookmarked(2), recording.bookmarks.remark_on(4)) == (True, "look here")
    finally:
        await recording.close()


async def test_a_secret_in_a_remark_is_masked_and_a_long_one_is_cut(session):
    session.journal.redactor.add("hunter2-and-more")
    session.bookmarks.remark(1, "the password is hunter2-and-more")
    session.bookmarks.remark(2, "x" * 1000)
    assert session.bookmarks.remark_on(1) == "the password is ****"
    assert session.bookmarks.remark_on(2) == "x" * LONGEST


async def test_no_record_no_mark(session):
    for seq in (0, -1, 99):
        with pytest.raises(LookupError):
            session.bookmarks.toggle(seq)
    assert len(session.journal.capture) == 5


@pytest.mark.parametrize(
    "meta", [{}, {"about": "1"}, {"about": True}, {"about": 0}, {"about": 7}, {"about": [1]}, {"about": 1.0}]
)
async def test_what_another_capture_says_about_no_record_is_passed_over(session, meta):
    marks = Bookmarks(session.journal)
    marks.offer([Record(6, 0.0, Kind.NOTE, event="bookmark", meta=meta)])
    marks.offer([Record(6, 0.0, Kind.FRAME, event="bookmark", meta={"about": 1})])
    assert len(marks) == 0


async def test_marks_are_in_the_file_as_notes(session):
    session.bookmarks.toggle(2)
    path = session.journal.capture.path
    await session.close()
    with Capture.open(path) as capture:
        assert [one.event for one in capture.select(kinds={Kind.NOTE}, after=5)] == ["bookmark"]
