"""The stream in a line and in full: a lost stream is never shown as ended."""

from __future__ import annotations

import pytest

from inspector.session.exchanges import ArrivalHistogram, ExchangeSummary
from inspector.session.stream_health import StreamHealth, health
from inspector.tui.render.glyphs import ASCII, UNICODE
from inspector.tui.render.health import health_in_full, health_words, rate, sparkline


def stream(*beats: float, how: str = "complete", seconds: float | None = 10.0) -> StreamHealth:
    pulse = ArrivalHistogram(1000.0)
    for at in beats:
        pulse.add(1000 + at)
    summary = ExchangeSummary(1, 1000.0, "SendStreamingMessage", "POST", "http://a", pulse=pulse, headed=1000.1)
    summary.events, summary.how, summary.seconds, summary.received = len(beats), how, seconds, 31_000
    found = health(summary, 1010.0)
    assert found is not None
    return found


def line(found: StreamHealth, *, well: bool = True, room: int = 200) -> str:
    return " · ".join(text for text, _ in health_words(found, UNICODE, room, well=well))


def full(found: StreamHealth) -> str:
    return "\n".join(f"{line.head[0]}{line.text}" for line in health_in_full(found, UNICODE))


def test_bars_of_a_sparkline_have_the_height_of_the_counts():
    assert sparkline([0, 1, 4, 8], UNICODE, 10) == "·▁▄█"
    assert sparkline([0, 1, 4, 8], ASCII, 10) == " .=#"
    assert sparkline(range(64), UNICODE, 16)[-1] == "█"
    assert len(sparkline(range(64), UNICODE, 16)) == 16
    assert sparkline([], UNICODE, 10) == ""
    assert sparkline([0, 0], UNICODE, 10) == "··"
    assert sparkline([1], UNICODE, 0) == ""


def test_every_sign_of_a_sparkline_is_one_cell():
    assert len(UNICODE.levels) == len(ASCII.levels) == 9
    assert ASCII.levels.isascii()


def test_a_complete_stream_is_shown_as_ended():
    assert line(stream(1, 2, 6)) == "3 events · 0.4/s · first 1.00 s · gap 4.00 s · wire 31 kB"
    assert "✓" not in line(stream(1, 2, 6), well=False)


@pytest.mark.parametrize("room", range(60))
def test_measures_that_do_not_fit_are_left_out_as_a_whole(room: int):
    whole, shown = line(stream(1, 2, 6)), line(stream(1, 2, 6), room=room)
    assert len(shown) <= room
    assert shown == whole or not shown or whole.startswith(f"{shown} · ")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("broken", "✕ disconnected after 3 events"),
        ("limit", "✕ stopped at a limit after 3 events"),
        ("stopped", "✕ stopped by us after 3 events"),
    ],
)
def test_a_lost_stream_is_not_shown_as_ended(how: str, words: str):
    found = stream(1, 2, 6, how=how)
    assert line(found).startswith(words)
    assert "✓" not in line(found)
    assert "ended" not in full(found).splitlines()[0]


def test_an_open_stream_shows_its_idle_time():
    found = stream(1, 2, 6, seconds=None)
    assert "idle 4.00 s" in line(found)
    assert "so far" in full(found)


def test_an_idle_time_is_highlighted_among_the_other_measures():
    words = dict(health_words(stream(1, 2, 6, seconds=None), UNICODE, 200))
    assert words["idle 4.00 s"] == "bold $state-warning"
    assert words["first 1.00 s"] == "$text-soft"


def test_keep_alives_end_the_silence_of_a_stream_but_not_its_idle_time():
    open_stream = ExchangeSummary(1, 1000.0, "SubscribeToTask", "POST", "http://a", pulse=ArrivalHistogram(1000.0))
    open_stream.last_at = 1009.0
    found = health(open_stream, 1010.0)
    assert found is not None
    assert (found.idle, found.silence) == (10.0, 1.0)


def test_buffering_is_shown_before_the_measures():
    assert "perhaps buffered" in line(stream(9.9, 9.91, 9.92))
    assert "X-Accel-Buffering" in full(stream(9.9, 9.91, 9.92))


def test_all_measures_are_listed():
    said = full(stream(1, 2, 6))
    for words in (
        "first byte",
        "100 ms",
        "first event",
        "1.00 s",
        "longest gap",
        "4.00 s, ended at 6.00 s",
        "31 kB",
    ):
        assert words in said


def test_a_stream_without_events_is_listed():
    assert "not yet" in full(stream(seconds=None))
    assert line(stream()).startswith("0 events")


def test_rates_have_few_digits():
    assert [rate(value) for value in (0.25, 9.4, 52.3, 12_345)] == ["0.2/s", "9.4/s", "52/s", "12,345/s"]
