"""Rows as cells: matching pushed and streamed events, bookmarks and notes."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len

from inspector.capture.records import HTTP_ERROR, Kind, Record
from inspector.findings.finding import Finding, Severity
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.model import TaskStatus
from inspector.session.exchanges import ExchangeSummary
from inspector.session.record_list import Row
from inspector.session.tasks import TrackedTask
from inspector.tui.render.annotations import NO_ANNOTATION, Annotation
from inspector.tui.render.delivery_rows import delivery_row
from inspector.tui.render.exchange_rows import BarScale, exchange_row, record_row
from inspector.tui.render.glyphs import ASCII, UNICODE, Glyphs
from inspector.tui.render.rows import Cells, content_cell, finding_cell, kind_of
from inspector.tui.render.task_table import began
from inspector.tui.render.timeline_rows import NOTE_WIDTH, timeline_row
from inspector.tui.widgets.deliveries_pane import COLUMNS as DELIVERY_COLUMNS
from inspector.tui.widgets.timeline_pane import COLUMNS

GOOD = {"taken": True, "refused": "", "status": 204, "checks": [["token", True, "equal"]]}


def push(label: str = "", **meta: object) -> Record:
    meta = {**GOOD, **meta}
    return Record(15, 1.0, Kind.DELIVERY, event="status", task="t", state="TASK_STATE_WORKING", label=label, meta=meta)


def streamed(event: str = "status", size: int = 400) -> Record:
    return Record(14, 1.0, Kind.FRAME, event=event, task="t", label="said", size=size)


def cells(
    record: Record, annotation: Annotation = NO_ANNOTATION, *, records: int = 1, glyphs: Glyphs = UNICODE, **more: Any
) -> dict[str, tuple[str, str]]:
    """Return the cells of a row on the timeline by the names of their columns."""
    row = timeline_row(record, Row(1, record.seq, records, 400), None, glyphs, annotation, **more)
    return dict(zip((column.name for column in COLUMNS), row, strict=True))


def note(record: Record, annotation: Annotation, *, records: int = 1, glyphs: Glyphs = UNICODE) -> tuple[str, str]:
    return cells(record, annotation, records=records, glyphs=glyphs)["note"]


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (Annotation(), ("token ✓", "feed--good")),
        (Annotation(paired=True, matched=None), ("push first ✓", "feed--good")),
        (Annotation(paired=True, matched=False), ("push only ✓", "feed--warning")),
        (Annotation(paired=True, matched=True, seq=14, delay=0.012), ("", "feed--text")),
    ],
)
def test_the_note_of_a_push_compares_it_with_the_stream(annotation, said):
    assert note(push(), annotation) == said


@pytest.mark.parametrize(
    ("seq", "delay", "said"),
    [
        (14, 0.012, "✓ 12 ms after stream #14"),
        (16, -0.012, "✓ 12 ms before stream #16"),
        (123_456, 61.0, "✓ 61.0 s after stream #123456"),
    ],
)
def test_a_push_that_repeats_a_streamed_event_names_it_instead_of_its_text(seq, delay, said):
    annotation = Annotation(paired=True, matched=True, seq=seq, delay=delay)
    assert cells(push(label="said"), annotation)["text"] == (said, "feed--muted")
    artifact = push(label="notes")._replace(event="artifact", state="")
    assert cells(artifact, annotation)["text"] == (f"notes  {said}", "feed--muted")


def test_a_push_that_is_sent_twice_is_called_a_repetition():
    annotation = Annotation(paired=True, matched=True, seq=14)
    for compared in (annotation, annotation._replace(matched=False), NO_ANNOTATION):
        repeated = cells(push(label="said", again=15), compared)
        assert (repeated["text"][0], repeated["note"]) == ("said", ("repeats #15", "feed--warning"))
    assert note(push(again=15, checks=[["schema", False, "odd"]]), annotation) == ("schema ✕", "feed--bad")


def test_a_failed_check_replaces_the_comparison():
    annotation = Annotation(paired=True, matched=True, seq=14)
    assert note(push(checks=[["token", True, ""], ["schema", False, "odd"]]), annotation) == ("schema ✕", "feed--bad")
    assert note(push(taken=False, dialled="500"), annotation) == ("failed ✕", "feed--warning")


@pytest.mark.parametrize(
    ("event", "annotation", "said"),
    [
        ("status", Annotation(), ""),
        ("status", Annotation(paired=True, matched=None), ""),
        ("status", Annotation(paired=True, matched=False), "no push"),
        ("status", Annotation(paired=True, matched=True, seq=15, delay=0.012), "⇐"),
        ("artifact", Annotation(), "wire 400 B"),
        ("artifact", Annotation(paired=True, matched=False), "wire 400 B"),
        ("artifact", Annotation(paired=True, matched=True, seq=15, delay=0.012), "wire 400 B ⇐"),
    ],
)
def test_the_note_of_a_streamed_event_names_its_push(event, annotation, said):
    assert note(streamed(event), annotation)[0] == said


def test_runs_keep_their_count():
    annotation = Annotation(paired=True, matched=True, seq=14, delay=0.01)
    assert note(push(), annotation, records=412) == ("412 pushes token ✓", "feed--good")
    assert note(push(), annotation._replace(matched=False), records=9)[0] == "9 push only ✓"
    assert note(streamed("artifact"), annotation, records=412)[0] == "412 chunks, wire 400 B"


@pytest.mark.parametrize("records", [1, 412, 1_000_000, 10_000_000])
@pytest.mark.parametrize("matched", [True, False, None])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_no_note_is_wider_than_its_column(records: int, matched: bool | None, glyphs: Glyphs):
    annotation = Annotation(paired=True, matched=matched, seq=1, delay=0.1)
    signed = push(checks=[["authorization", True, "equal"]])
    for record in (signed, streamed("artifact")):
        text, _ = note(record, annotation, records=records, glyphs=glyphs)
        assert cell_len(text) <= NOTE_WIDTH, text


@pytest.mark.parametrize(("glyphs", "said"), [(UNICODE, "★ ✎ look  · said"), (ASCII, '^ " look  . said')])
def test_a_bookmark_and_a_remark_precede_the_text(glyphs: Glyphs, said: str):
    annotation = Annotation(bookmarked=True, remark="look")
    assert cells(streamed(), annotation, glyphs=glyphs)["text"][0] == said
    assert record_row(streamed(), 0.0, glyphs, annotation)[3][0] == said
    assert delivery_row(push(), Row(15, 15, 1, 9), UNICODE, Annotation(bookmarked=True))[3][0].startswith("★ ")
    assert {cell_len(glyph) for glyph in (glyphs.bookmark, glyphs.remark)} == {1}


@pytest.mark.parametrize(
    ("gap", "said"),
    [(None, ""), (0.0, ""), (0.0123, "12 ms"), (9.9999, "10.0 s"), (61.04, "61.0 s"), (727, "12m07s")],
)
def test_a_gap_has_at_most_six_cells(gap: float | None, said: str):
    assert cells(streamed(), gap=gap)["gap"][0] == said
    assert len(said) <= 6


@pytest.mark.parametrize(
    ("at", "shown"), [(1.041, "+41 ms"), (9.211, "+8.21 s"), (61.0, "+60.0 s"), (101.0, "+1m40s"), (9999.0, "+2h46m")]
)
def test_a_row_shows_the_time_since_the_message_was_sent_with_its_unit(at: float, shown: str):
    row = timeline_row(streamed()._replace(at=at), Row(14, 14, 1, 400), 1.0, UNICODE)
    assert row[0][0] == shown
    assert len(shown) <= COLUMNS[0].width


def test_a_run_has_the_time_of_its_first_chunk():
    last = streamed("artifact")._replace(at=4.0)
    assert timeline_row(last, Row(1, 14, 9, 400), 1.0, UNICODE, at=1.5)[0][0] == "+500 ms"


def test_a_row_of_another_task_shows_its_id():
    assert cells(streamed(), other=True)["task"][0] == streamed().task[:4]
    assert cells(streamed())["task"][0] == ""


def test_a_state_has_a_cell_of_its_own_and_its_text_has_the_colour_of_texts():
    found = cells(push(label="said"))
    assert found["state"] == ("◐ working  ", "feed--text")
    assert found["text"] == ("said", "feed--text")
    assert cells(push(label="said", refused="token"))["text"] == ("rejected  said", "feed--bad")
    assert cells(push(label="said", refused="token"))["state"][0] == ""


@pytest.mark.parametrize(
    ("operation", "keepalives", "shown"),
    [
        ("SendMessage", 0, ("you ▸", "", "send")),
        ("SendStreamingMessage", 1, ("you ▸", "", "1 keep-alive, stream")),
        ("SendStreamingMessage", 1200, ("you ▸", "", "1,200 keep-alives, stream")),
        ("SubscribeToTask", 2, ("subscribe", "→", "2 keep-alives")),
        ("ListTasks", 0, ("request ", "→", "")),
    ],
)
def test_a_message_of_the_user_differs_from_other_requests_and_keep_alives_are_counted(operation, keepalives, shown):
    found = cells(Record(2, 1.0, Kind.REQUEST, operation=operation, label="hi", exchange=2), keepalives=keepalives)
    assert (found["kind"][0], found["way"][0], found["note"][0]) == shown
    assert found["text"][0] == "hi"


@pytest.mark.parametrize(("timestamp", "since"), [(None, 1000.0), ("1970-01-01T00:00:00Z", 0.0), ("soon", 1000.0)])
def test_a_task_that_was_listed_is_as_old_as_its_state(timestamp: str | None, since: float):
    answered = AssembledTask("t", status=TaskStatus(state="TASK_STATE_WORKING", timestamp=timestamp))
    task = TrackedTask("t", 1, 1000.0, answered, AssembledTask("t"))
    assert began(task) == since


HOST = "127.0.0.1:9999"


def exchange(url: str = f"http://{HOST}/", **members: object) -> ExchangeSummary:
    return ExchangeSummary(1, 0.0, "SendMessage", "POST", url, **{"seconds": 1.0, "status": 200, **members})


def exchange_cells(summary: ExchangeSummary, longest: float = 1.0) -> Cells:
    return exchange_row(summary, BarScale(longest, 6), {HOST}, UNICODE)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        (f"http://{HOST}/v1/tasks/1?historyLength=2", "/v1/tasks/1?historyLength=2"),
        (f"http://{HOST}", "/"),
        ("https://other.example/a2a", "other.example/a2a"),
    ],
)
def test_a_path_has_its_host_only_if_it_is_another_host(url: str, path: str):
    assert exchange_cells(exchange(url))[2][0] == path


@pytest.mark.parametrize(
    ("members", "status"),
    [
        ({}, (" 200 ", "feed--badge-good")),
        ({"status": 302}, (" 302 ", "feed--badge-warning")),
        ({"status": 404}, (" 404 ", "feed--badge-bad")),
        ({"status": 503}, (" 503 ", "feed--badge-bad")),
        ({"error": "-32001 TaskNotFoundError"}, (" 200 ", "feed--badge-bad")),
        ({"status": 5}, (" 5 ", "feed--badge-bad")),
        ({"status": 0, "how": "broken"}, (" fail ", "feed--badge-bad")),
        ({"status": 0, "how": "stopped"}, (" none ", "feed--badge-quiet")),
        ({"status": 0, "seconds": None}, ("...", "feed--muted")),
    ],
)
def test_a_status_is_a_badge_in_the_colour_of_its_class(members: dict[str, object], status: tuple[str, str]):
    assert exchange_cells(exchange(**members))[4] == status


def test_an_error_of_the_agent_follows_the_operation():
    assert exchange_cells(exchange(error="-32001 TaskNotFoundError"))[3] == (
        "SendMessage  -32001 TaskNotFoundError",
        "feed--bad",
    )


def test_a_grpc_call_is_named_instead_of_its_method():
    assert exchange_cells(exchange(f"grpc://{HOST}/lf.a2a.v1.A2AService/SendMessage"))[1][0] == " gRPC "


def test_the_type_is_the_subtype():
    assert exchange_cells(exchange(content_type="text/event-stream; charset=utf-8"))[5][0] == "event-stream"


@pytest.mark.parametrize(
    ("seconds", "headed", "longest", "bar"),
    [
        (1.0, 0.0, 1.0, "──────"),
        (1.0, 0.5, 1.0, "───━━━"),
        (1.0, 0.01, 1.0, "━━━━━━"),
        (1.0, 0.01, 6.0, "━"),
        (0.001, 0.0, 6.0, "─"),
        (1.0, 0.5, 0.0, ""),
    ],
)
def test_the_timing_bar_separates_waiting_from_receiving(seconds: float, headed: float, longest: float, bar: str):
    assert exchange_cells(exchange(seconds=seconds, headed=headed), longest)[8][0] == bar


@pytest.mark.parametrize("severity", Severity)
def test_a_severity_has_the_same_symbol_and_colour_in_traffic_and_chat(severity: Severity):
    record = streamed()._replace(findings=(Finding("STREAM-001", severity, "", "seen"),))
    assert exchange_cells(exchange(worst=severity))[-1] == finding_cell(record, UNICODE)
    assert finding_cell(record, UNICODE) in timeline_row(record, Row(1, 1, 1, 1), None, UNICODE)
    assert finding_cell(record, UNICODE)[0] == UNICODE.severities[severity]


@pytest.mark.parametrize(
    ("checks", "sign"),
    [
        ([["json", True, ""], ["content-type", True, ""], ["schema", None, "not checked"]], UNICODE.quiet),
        ([["json", True, ""], ["schema", True, ""]], UNICODE.check),
        ([["json", True, ""], ["schema", False, "odd"]], UNICODE.cross),
        ([["json", False, "damaged"]], UNICODE.cross),
    ],
)
def test_the_schema_of_a_delivery_has_a_check_mark_only_if_it_was_checked(checks: list[Any], sign: str):
    row = delivery_row(push(checks=checks), Row(1, 1, 1, 400), UNICODE)
    schema = [name for name, *_ in DELIVERY_COLUMNS].index("SCHEMA")
    assert row[schema][0] == sign


@pytest.mark.parametrize(
    ("failed", "columns", "summary", "in_chat"),
    [
        (["path"], [], "✕ path", "path ✕"),
        (["host", "origin"], [], "✕ host origin", "host ✕"),
        (["token", "json"], ["TOKEN", "SCHEMA"], "✕ token schema", "token ✕"),
        (["authorization", "signature"], ["AUTH", "SIGNATURE"], "✕ 2 failed", "auth ✕"),
        (["signature"], ["AUTH", "SIGNATURE"], "✕ signature", "signature ✕"),
    ],
)
def test_the_failed_checks_of_a_delivery_have_the_same_names_in_every_view(
    failed: list[str], columns: list[str], summary: str, in_chat: str
):
    checks = [["method", True, "POST"], *([name, False, "odd"] for name in failed)]
    row = delivery_row(push(checks=checks, refused="odd"), Row(1, 1, 1, 400), UNICODE)
    marks = {name: row[place][0] for place, (name, *_) in enumerate(DELIVERY_COLUMNS)}
    assert [name for name in ("TOKEN", "AUTH", "SIGNATURE", "ORDER", "SCHEMA") if marks[name] == "✕"] == columns
    assert marks["CHECKS"] == summary
    assert note(push(checks=checks), NO_ANNOTATION)[0] == in_chat


def test_the_body_of_an_http_error_is_an_error_with_its_text():
    record = Record(3, 0.0, Kind.BODY, exchange=1, event=HTTP_ERROR, label="Down for maintenance", size=20)
    assert kind_of(record) == "error"
    assert content_cell(record, UNICODE) == ("Down for maintenance", "feed--bad")
