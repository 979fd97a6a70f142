"""Filters: how a line is parsed, its mistakes, and that SQLite and Python find the same records."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from inspector.capture.private_files import CaptureError
from inspector.capture.query import KINDS, LENGTH, MOST_CONDITIONS, NAMES, Condition, Mistake, Query, complete, parse
from inspector.capture.records import Kind, Record
from inspector.capture.store import RECENT_COUNT, Capture
from inspector.findings.finding import Finding, Severity


def query(line: str) -> Query:
    read = parse(line)
    assert isinstance(read, Query), read
    return read


def mistake(line: str) -> Mistake:
    read = parse(line)
    assert isinstance(read, Mistake), read
    return read


def test_a_line_is_parsed_into_conditions() -> None:
    line = 'kind:artifact task:59f8 gap>2s size>=10k finding:error op:SendMessage "two words" bare -kind:keepalive'
    assert query(line).conditions == (
        Condition("kind", ":", "artifact"),
        Condition("task", ":", "59f8"),
        Condition("gap", ">", "2s"),
        Condition("size", ">=", "10k"),
        Condition("finding", ":", "error"),
        Condition("op", ":", "SendMessage"),
        Condition("", ":", "two words"),
        Condition("", ":", "bare"),
        Condition("kind", ":", "keepalive", negated=True),
    )
    assert query("").conditions == query("   ").conditions == ()
    assert query(r'"say \"it\" \\"').conditions == (Condition("", ":", 'say "it" \\'),)
    assert query('-task:"a b"').conditions == (Condition("task", ":", "a b", negated=True),)


@pytest.mark.parametrize(
    ("line", "position", "what"),
    [
        ("kind:", 5, "missing after kind:"),
        ("kind:artifact colour:red", 14, "Unknown key colour"),
        ("kind:artefact", 5, "Unknown kind"),
        ("http://host", 0, "Unknown key http"),
        ("kind>task", 0, "cannot be compared"),
        ("gap>2parsec", 4, "ms, s, m, min, h"),
        ("gap>fast", 4, "number"),
        ("size>1e9", 5, "number"),
        ("size>-1", 5, "number"),
        ("gap>", 4, "missing after gap>"),
        ("-", 1, "missing after -"),
        ('"open', 0, "quote is missing"),
        ('""', 0, "missing after a quote"),
        ('a "open\\', 2, "quote is missing"),
        ("x" * (LENGTH + 1), LENGTH, "characters"),
        ("a " * (MOST_CONDITIONS + 1), 2 * MOST_CONDITIONS, "conditions"),
    ],
)
def test_a_mistake_has_its_position_and_a_sentence(line: str, position: int, what: str) -> None:
    found = mistake(line)
    assert found.position == position
    assert what in found.sentence


@given(st.text(max_size=80) | st.text(alphabet='kindgapsize:<>="\\- \t10m', max_size=40))
def test_parsing_never_raises_and_a_query_can_be_written_as_a_line(line: str) -> None:
    read = parse(line)
    if isinstance(read, Query):
        assert parse(str(read)) == read or len(str(read)) > LENGTH
    else:
        assert 0 <= read.position <= len(line)


@given(st.text(max_size=60))
def test_completing_never_raises_and_offers_only_continuations(line: str) -> None:
    offered = complete(line, {"op": ["SendMessage"]})
    typed = line[offered.start :]
    assert all(choice.lower().startswith(typed.lower()) for choice in offered.choices)


def test_keys_and_values_are_offered_for_the_last_condition() -> None:
    seen = {"op": ["GetTask", "SendMessage"], "finding": ["any", "STREAM-003"]}
    assert complete("", seen).choices[:2] == ("kind:", "task:")
    assert complete("gap", seen).choices == ("gap>",)
    assert complete("bare -ki", seen) == (6, ("kind:",))
    assert complete("op:s", seen).choices == ("op:SendMessage",)
    assert complete("op:SendMessage", seen).choices == ()
    assert complete("finding:str", seen).choices == ("finding:STREAM-003",)
    assert complete("kind:art", seen).choices == ("kind:artifact",)


# Hits

TEXTS = st.sampled_from(["", "a", "Ab", "ab c", 'q"', "x\x00y", "é", "\ud800", "59f8-aa", "100%", "_"])
STATES = st.sampled_from(["", "TASK_STATE_FAILED", "TASK_STATE_INPUT_REQUIRED", "failed", "odd \ud800"])
FINDINGS = st.builds(Finding, st.sampled_from(["STREAM-003", "RPC-001"]), st.sampled_from(Severity), st.just(""), TEXTS)
FIELDS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(Kind),
        "step": st.sampled_from([0.0, 0.5, 2.0, 3.25]),
        "operation": st.sampled_from(["", "SendMessage", "SendStreamingMessage", "GetTask"]),
        "event": st.sampled_from(["", "artifact", "status", "task"]),
        "task": TEXTS,
        "context": TEXTS,
        "state": STATES,
        "label": TEXTS,
        "size": st.sampled_from([0, 1, 999, 1000, 20_000]),
        "raw": st.sampled_from([b"", b"Ab", b"\x00\xffab", b"." * 4095 + b"ab", b"." * 4094 + b"ab"]),
        "meta": st.sampled_from([{}, {"seconds": 2.0}, {"seconds": 5}, {"seconds": "x"}, {"seconds": True}]),
        "findings": st.lists(FINDINGS, max_size=2),
    }
)
NUMBERS = {
    "gap": ["0", "500ms", "2s", "3"],
    "size": ["0", "1b", "1k", "20kb"],
    "at": ["0", "2s", "1m"],
    "duration": ["2s", "5", "1h"],
}
VALUES = {
    "kind": st.sampled_from(KINDS),
    "state": st.sampled_from(["failed", "input-required", "TASK_STATE_FAILED", "odd \ud800", "x'; DROP TABLE record"]),
    "op": st.sampled_from(["send", "SendMessage", "gettask", "%"]),
    "finding": st.sampled_from(["any", "error", "warning", "stream-003", "RPC-001", "' OR 1=1 --"]),
}
TEXT_VALUES = TEXTS.filter(bool) | st.sampled_from(["' OR '1'='1", "?", "59", "-aa", "…a", "…"])


@st.composite
def words(draw: st.DrawFn) -> Condition:
    key = draw(st.sampled_from(["", *NAMES]))
    if key in NUMBERS:
        relation = draw(st.sampled_from([">", ">=", "<", "<=", "=", ":"]))
        return Condition(key, relation, draw(st.sampled_from(NUMBERS[key])), draw(st.booleans()))
    return Condition(key, ":", draw(VALUES.get(key, TEXT_VALUES)), draw(st.booleans()))


def naive(condition: Condition, record: Record, gap: float | None, since: float) -> bool:
    """Evaluate a condition in the simplest way, to compare the results."""
    value = condition.value
    if condition.key in NUMBERS:
        number = value.rstrip("abcdefghijklmnopqrstuvwxyz")
        factor = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "": 1, "b": 1, "k": 1000, "kb": 1000}[value[len(number) :]]
        wanted = float(number) * factor
        seconds = record.meta.get("seconds")
        took = seconds if record.kind == "end" and type(seconds) in (int, float) else None
        seen = {"gap": gap, "size": record.size, "at": since, "duration": took}[condition.key]
        if seen is None:
            return False
        less, same = seen < wanted, seen == wanted
        signs = {"<": less, "<=": less or same, ">": not less and not same, ">=": not less}
        return signs.get(condition.relation, same)
    low = value.lower()
    if condition.key == "kind":
        return low in (record.kind.value, record.event)
    if condition.key in ("task", "context"):
        found = str(getattr(record, condition.key))
        return found.startswith(value) or found.endswith(value.removeprefix("…") or value)
    if condition.key == "state":
        return record.state == value or record.state.lower() == "task_state_" + low.replace("-", "_")
    if condition.key == "op":
        return record.operation.lower().startswith(low)
    if condition.key == "finding":
        return any(low in ("any", found.severity.value, found.rule.lower()) for found in record.findings)
    needle = value.encode("utf-8", "surrogatepass").lower()
    raw = record.raw[:4096] if record.size > 4096 else record.raw
    return any(needle in hay.lower() for hay in (record.label.encode("utf-8", "surrogatepass"), raw))


@settings(max_examples=examples(150))
@given(st.lists(FIELDS, min_size=1, max_size=12), st.lists(st.lists(words(), max_size=3), min_size=1, max_size=8))
def test_memory_and_file_have_the_same_hits_as_a_naive_filter(
    tmp_path_factory: pytest.TempPathFactory, fields: list[dict], asked: list[list[Condition]]
) -> None:
    path = tmp_path_factory.mktemp("found") / "session.a2a"
    records: list[Record] = []
    with Capture.create(path) as capture:
        at = 100.0
        for field in fields:
            at += field["step"]
            members = {name: value for name, value in field.items() if name not in ("step", "size", "raw")}
            records += capture.append(at=at, payloads=[(field["size"], field["raw"])], **members)
        capture.flush()
        with Capture.open(path) as stored:
            for terms in asked:
                expected = []
                for index, record in enumerate(records):
                    gap = record.at - records[index - 1].at if index else None
                    if all(
                        naive(condition, record, gap, record.at - records[0].at) != condition.negated
                        for condition in terms
                    ):
                        expected.append(record.seq)
                for place in (capture, stored):
                    pages = list(place.search(Query(tuple(terms))))
                    assert [seq for page in pages for seq in page.hits] == expected
                    assert pages[-1].through == len(records)


def test_a_search_covers_file_and_memory_and_can_be_continued(tmp_path: Path) -> None:
    with Capture.create(tmp_path / "session.a2a") as capture:
        count = RECENT_COUNT * 3
        for number in range(count):
            capture.append(Kind.FRAME, number + (number == count - 1), label="odd" if number % 1000 == 0 else "even")
        capture.flush()
        pages = list(capture.search(query('"odd"')))
        assert [seq for page in pages for seq in page.hits] == list(range(1, count + 1, 1000))
        assert len(pages) > 1
        assert [seq for page in capture.search(query("gap>1s")) for seq in page.hits] == [count]
        assert list(capture.search(query(""), after=count)) == []
        capture.append(Kind.FRAME, count + 9, label="odd")
        assert list(capture.search(query("odd"), after=count)) == [([count + 1], count + 1)]


def test_records_that_are_written_during_a_search_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Capture.create(tmp_path / "session.a2a") as capture, sqlite3.connect(capture.path) as other:
        other.execute("BEGIN IMMEDIATE")  # the writer waits

        def write(capture: Capture) -> float:
            other.rollback()
            capture.flush()
            return capture.slice(1, 1)[0].at

        for number in range(RECENT_COUNT * 2):
            capture.append(Kind.FRAME, float(number), label="frame")
        monkeypatch.setattr(Capture, "_began", property(write))
        assert sum(len(page.hits) for page in capture.search(query("frame"))) == RECENT_COUNT * 2


def test_a_hostile_filter_changes_nothing(tmp_path: Path) -> None:
    with Capture.create(tmp_path / "session.a2a") as capture:
        capture.append(Kind.NOTE, 1.0, label="kept")
        capture.flush()
        with Capture.open(capture.path) as stored:
            for line in ('"\'; DROP TABLE record; --"', "task:x'--", "finding:$[0]", "state:?", "op:')", "\x00"):
                assert [page.hits for page in stored.search(query(line))] == [[]]
            for line in ("finding:\udcff", "op:\udcff", "\udcff"):  # bytes of the command line that are not UTF-8
                assert [page.hits for page in stored.search(query(line))] == [[]]
            assert [page.hits for page in stored.search(query("kept"))] == [[1]]


def long_capture(path: Path) -> Capture:
    """Make a capture that is searched in threads: every 4,000th record holds an x, each time somewhere else."""
    capture = Capture.create(path)
    places = [
        {"label": "X marks"},
        {"payloads": [(5, b'{"x": 1}')]},
        {"label": "a\x00x"},
        {"payloads": [(2, b"\x00X")]},
    ]
    for number in range(24_000):
        here = places[number // 4_000 % 4] if number % 4_000 == 3_999 else {}
        capture.append(Kind.FRAME, float(number), **{"label": "report.md", "payloads": [(5, b"words")]} | here)
    capture.flush()
    return capture


def test_a_long_capture_is_searched_in_threads_and_in_order(tmp_path: Path) -> None:
    with long_capture(tmp_path / "session.a2a") as capture, Capture.open(capture.path) as stored:
        for place in (capture, stored):
            for line, expected in (
                ("x", list(range(4_000, 24_001, 4_000))),
                ('"report.md" x', [8_000, 16_000, 24_000]),
                ("-words x", [8_000, 16_000, 24_000]),
                ('"%"', []),
                ('"_"', []),
                ("gap>2s", []),
            ):
                pages = list(place.search(query(line)))
                assert [seq for page in pages for seq in page.hits] == expected, line
                assert [page.through for page in pages] == sorted(page.through for page in pages)
                assert pages[-1].through == 24_000


def test_a_cancelled_search_and_a_search_of_a_closed_capture_end(tmp_path: Path) -> None:
    capture = long_capture(tmp_path / "session.a2a")
    given_up = capture.search(query("nowhere"))
    assert next(given_up).hits == []
    given_up.close()
    going = capture.search(query("nowhere"))
    next(going)
    capture.close()
    with pytest.raises(CaptureError, match="closed"):
        list(going)
