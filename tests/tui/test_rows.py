"""Rows as cells: matching pushed and streamed events, bookmarks and notes."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from inspector.capture.records import Kind, Record
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.model import TaskStatus
from inspector.session.record_list import Row
from inspector.session.tasks import TrackedTask
from inspector.tui.render.annotations import Annotation
from inspector.tui.render.glyphs import ASCII, UNICODE, Glyphs
from inspector.tui.render.rows import NOTE_WIDTH, delivery_row, record_row, task_row, timeline_row
from inspector.tui.render.times import delayed

GOOD = {"taken": True, "refused": "", "status": 204, "checks": [["token", True, "equal"]]}


def push(**meta: object) -> Record:
    return Record(15, 1.0, Kind.DELIVERY, event="status", task="t", state="TASK_STATE_WORKING", meta={**GOOD, **meta})


def streamed(event: str = "status", size: int = 400) -> Record:
    return Record(14, 1.0, Kind.FRAME, event=event, task="t", label="said", size=size)


def note(record: Record, aside: Annotation, *, records: int = 1) -> tuple[str, str]:
    return timeline_row(record, Row(1, record.seq, records, 400), None, UNICODE, aside)[5]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "+0ms"),
        (0.0124, "+12ms"),
        (-0.003, "-3ms"),
        (0.9994, "+999ms"),
        (0.9996, "+1.0s"),
        (-9.94, "-9.9s"),
        (14.4, "+14s"),
        (185, "+3min"),
        (7300, "+2h"),
    ],
)
def test_a_delay_takes_few_cells(seconds, said):
    assert delayed(seconds) == said


@pytest.mark.parametrize(
    ("aside", "said"),
    [
        (Annotation(), ("token ✓", "feed--good")),
        (Annotation(paired=True, told=True, seq=14, delay=0.012), ("+12ms #14 ✓", "feed--good")),
        (Annotation(paired=True, told=True, seq=16, delay=-0.012), ("-12ms #16 ✓", "feed--good")),
        (Annotation(paired=True, told=True, seq=123_456, delay=0.012), ("+12ms #123456", "feed--good")),
        (Annotation(paired=True, told=None), ("ahead ✓", "feed--good")),
        (Annotation(paired=True, told=False), ("push only ✓", "feed--warning")),
    ],
)
def test_a_push_says_what_it_is_to_the_stream(aside, said):
    assert note(push(), aside) == said


def test_what_is_wrong_with_a_push_is_said_first():
    aside = Annotation(paired=True, told=True, seq=14)
    assert note(push(checks=[["token", True, ""], ["shape", False, "odd"]]), aside) == ("shape ✕", "feed--bad")
    assert note(push(taken=False, dialled="500"), aside) == ("failed ✕", "feed--warning")


@pytest.mark.parametrize(
    ("event", "aside", "said"),
    [
        ("status", Annotation(), ""),
        ("status", Annotation(paired=True, told=None), ""),
        ("status", Annotation(paired=True, told=False), "no push"),
        ("status", Annotation(paired=True, told=True, seq=15, delay=0.012), "+12ms #15 ⇐"),
        ("status", Annotation(paired=True, told=True, seq=123_456, delay=0.012), "+12ms ⇐"),
        ("artifact", Annotation(), "400 B"),
        ("artifact", Annotation(paired=True, told=False), "400 B"),
        ("artifact", Annotation(paired=True, told=True, seq=15, delay=0.012), "400 B ⇐"),
    ],
)
def test_what_was_streamed_says_whether_a_push_told_it_too(event, aside, said):
    assert note(streamed(event), aside)[0] == said


def test_runs_keep_their_count():
    aside = Annotation(paired=True, told=True, seq=14, delay=0.01)
    assert note(push(), aside, records=412) == ("+412 token ✓", "feed--good")
    assert note(push(), aside._replace(told=False), records=9)[0] == "+9 push only"
    assert note(streamed("artifact"), aside, records=412)[0] == "+412 ▸ 400 B"


@pytest.mark.parametrize("seq", [1, 99, 9_999, 1_000_000])
@pytest.mark.parametrize("delay", [0.0, -0.999, 9.9, 59.0, 5_900.0, 1e6])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_no_note_is_wider_than_its_column(seq: int, delay: float, glyphs: Glyphs):
    aside = Annotation(paired=True, told=True, seq=seq, delay=delay)
    for record in (push(), streamed()):
        text, _ = timeline_row(record, Row(1, 1, 1, 1), None, glyphs, aside)[5]
        assert cell_len(text) <= NOTE_WIDTH, text


@pytest.mark.parametrize(("glyphs", "said"), [(UNICODE, "★ ✎ look  · said"), (ASCII, '^ " look  . said')])
def test_a_bookmark_and_a_note_stand_before_what_a_row_says(glyphs: Glyphs, said: str):
    aside = Annotation(bookmarked=True, remark="look")
    assert timeline_row(streamed(), Row(1, 1, 1, 1), None, glyphs, aside)[4][0] == said
    assert record_row(streamed(), 0.0, glyphs, aside)[3][0] == said
    assert delivery_row(push(), UNICODE, Annotation(bookmarked=True))[4][0].startswith("★ ")
    assert {cell_len(one) for one in (glyphs.bookmark, glyphs.remark)} == {1}


@pytest.mark.parametrize(
    ("gap", "said"),
    [(None, ""), (0.0, ""), (0.0123, "+0.012"), (9.9999, "+10.0"), (61.04, "+61.0"), (727, "+12:07")],
)
def test_the_time_in_which_nothing_came_is_told_in_six_cells(gap: float | None, said: str):
    record = streamed()
    assert timeline_row(record, Row(1, 1, 1, 1), None, UNICODE, gap=gap)[1][0] == said
    assert len(said) <= 6


def test_a_row_about_another_task_than_those_before_names_it():
    text, _ = timeline_row(streamed(), Row(1, 1, 1, 1), None, UNICODE, other=True)[4]
    assert text.startswith(f"{streamed().task[:4]}  ")


@pytest.mark.parametrize(("timestamp", "age"), [(None, "5 s"), ("1970-01-01T00:00:00Z", "17 min"), ("soon", "5 s")])
def test_a_task_that_was_listed_is_as_old_as_its_state(timestamp: str | None, age: str):
    answered = AssembledTask("t", status=TaskStatus(state="TASK_STATE_WORKING", timestamp=timestamp))
    task = TrackedTask("t", 1, 1000.0, answered, AssembledTask("t"))
    assert task_row(task, 1005.0, UNICODE)[3][0] == age
