"""Bookmarks and remarks: notes about other records, which an opened capture has, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripted import OpenSession

from inspector.capture.private_files import MissingRecordError
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
    return [(record.event, record.label, record.meta.get("about")) for record in session.journal.capture.slice(6, 99)]


async def test_toggling_a_bookmark_records_a_note(session):
    facts = session.journal.capture.slice(1, 5)
    session.bookmarks.toggle(2)
    assert (session.bookmarks.bookmarked(2), len(session.bookmarks)) == (True, 1)
    session.bookmarks.toggle(2)
    assert (session.bookmarks.bookmarked(2), len(session.bookmarks)) == (False, 0)
    assert notes(session) == [("bookmark", "bookmark #2", 2), ("unbookmark", "unbookmark #2", 2)]
    assert session.journal.capture.slice(1, 5) == facts
    assert {record.task for record in session.journal.capture.slice(6, 7)} == {"t"}


async def test_a_remark_can_be_set_changed_and_removed(session):
    session.bookmarks.remark(3, "why so late?")
    session.bookmarks.remark(3, "why so late?")
    assert session.bookmarks.remark_on(3) == "why so late?"
    session.bookmarks.remark(3, "because of us")
    assert session.bookmarks.remark_on(3) == "because of us"
    session.bookmarks.remark(3, "")
    session.bookmarks.remark(3, "")
    assert (session.bookmarks.remark_on(3), len(session.bookmarks)) == ("", 0)
    assert [event for event, _, _ in notes(session)] == ["remark", "remark", "unremark"]


async def test_marked_records_are_found_by_position(session):
    for seq in (5, 1, 3):
        session.bookmarks.toggle(seq)
    session.bookmarks.remark(3, "both")
    session.bookmarks.remark(4, "a remark alone")
    session.bookmarks.toggle(3)
    assert list(session.bookmarks.within(2, 4)) == [3, 4]
    assert list(session.bookmarks.within(1, 99)) == [1, 3, 4, 5]
    assert list(session.bookmarks.within(2, 2)) == []


async def test_an_opened_capture_has_the_same_bookmarks(session, tmp_path: Path):
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


async def test_a_missing_record_cannot_be_marked(session):
    for seq in (0, -1, 99):
        with pytest.raises(MissingRecordError):
            session.bookmarks.toggle(seq)
    assert len(session.journal.capture) == 5


@pytest.mark.parametrize(
    "meta", [{}, {"about": "1"}, {"about": True}, {"about": 0}, {"about": 7}, {"about": [1]}, {"about": 1.0}]
)
async def test_invalid_bookmarks_of_a_capture_are_ignored(session, meta):
    marks = Bookmarks(session.journal)
    marks.offer([Record(6, 0.0, Kind.NOTE, event="bookmark", meta=meta)])
    marks.offer([Record(6, 0.0, Kind.FRAME, event="bookmark", meta={"about": 1})])
    assert len(marks) == 0


async def test_bookmarks_are_notes_in_the_file(session):
    session.bookmarks.toggle(2)
    path = session.journal.capture.path
    await session.close()
    with Capture.open(path) as capture:
        assert [record.event for record in capture.select(kinds={Kind.NOTE}, after=5)] == ["bookmark"]
