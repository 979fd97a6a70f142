"""The measurements of a stream: first byte, rate, gaps, end, and buffering."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from aiohttp import web
from scripted import Agent, Heard, OpenSession, artifact, frame, say, status, streaming, task

from inspector.session.exchanges import SLICES, ArrivalHistogram, ExchangeSummary
from inspector.session.session import Session
from inspector.session.stream_health import StreamHealth, StreamStatus, dated_span, health, looks_buffered


def summary(*beats: float, how: str = "complete", seconds: float | None = 10.0) -> ExchangeSummary:
    """Return an exchange that started at 1,000 s, with events at these seconds."""
    pulse = ArrivalHistogram(1000.0)
    for at in beats:
        pulse.add(1000 + at)
    found = ExchangeSummary(1, 1000.0, "SendStreamingMessage", "POST", "http://a", pulse=pulse, headed=1000.25)
    found.events, found.how, found.seconds = len(beats), how if seconds is not None else "", seconds
    found.last_at = 1000 + max((*beats, seconds or 0))
    return found


def health_of(*beats: float, now: float = 10.0, span: float | None = None, **members: object) -> StreamHealth:
    found = health(summary(*beats, **members), 1000 + now, span)  # type: ignore[arg-type]
    assert found is not None
    return found


async def last(session: Session) -> ExchangeSummary:
    number = session.journal.sends[-1][0]
    found = session.journal.exchanges.get(number)
    assert found is not None
    return found


def test_times_and_rate_are_those_of_the_events():
    found = health_of(1, 2, 3, 7)
    assert (found.first_byte, found.first_event, found.total, found.gap, found.gap_ended) == (0.25, 1, 10, 4, 7)
    assert found.rate == pytest.approx(0.5)
    assert (found.end, found.words, found.idle, found.lost) == (StreamStatus.DONE, "4 events", 0, False)


def test_events_of_one_read_are_no_gap():
    assert health_of(1, 1, 1).gap == 0
    assert health_of(1, 1, 1).rate == 0


def test_a_stream_without_events_has_no_first_event():
    found = health_of(seconds=None, now=3)
    assert (found.first_event, found.gap, found.rate, found.arrivals, found.end) == (None, 0, 0, [], StreamStatus.OPEN)
    assert found.idle == 2.75


@pytest.mark.parametrize("how", ["broken", "limit", "stopped", "something new"])
def test_a_lost_stream_is_never_shown_as_ended(how: str):
    found = health_of(1, how=how)
    assert found.words != "1 event"
    assert found.words.endswith("after 1 event")
    assert found.lost is (how != "stopped")


def test_an_exchange_without_a_stream_has_no_health():
    assert health(ExchangeSummary(1, 0.0, "GetTask", "POST", "http://a"), 1.0) is None


def test_the_slices_count_every_event_of_a_long_stream():
    pulse = ArrivalHistogram(0.0)
    for number in range(1, 5_000):
        pulse.add(number * 0.37)
    assert (len(pulse.slices), sum(pulse.slices)) == (SLICES, 4_999)
    assert sum(pulse.until(100_000.0)) == 4_999
    assert len(pulse.until(100_000.0)) <= SLICES


def test_a_gap_is_an_empty_slice():
    beats = health_of(*(tenth / 10 for tenth in range(1, 20)), *(8 + tenth / 10 for tenth in range(19))).arrivals
    runs = [(full, len(list(group))) for full, group in itertools.groupby(beats, bool)]
    assert [full for full, _ in runs] == [True, False, True]


def test_a_burst_after_a_silence_looks_buffered():
    assert looks_buffered(summary(9.9, 9.91, 9.92))
    assert health_of(9.9, 9.91, 9.92).buffered == "perhaps buffered: nothing for 9.90 s, then 3 events within 20 ms"
    assert "with timestamps 8.00 s apart" in health_of(9.9, 9.91, 9.92, span=8.0).buffered


@pytest.mark.parametrize(
    ("beats", "span"),
    [((1, 5, 9), None), ((9.9, 9.95), None), ((0.1, 0.1, 0.1), None), ((9.9, 9.91, 9.92), 0.02)],
    ids=["spread", "too few", "at once", "by the agent's own account"],
)
def test_normal_streams_do_not_look_buffered(beats: tuple[float, ...], span: float | None):
    assert not health_of(*beats, span=span).buffered


def test_a_running_stream_does_not_look_buffered():
    assert not health_of(9.9, 9.91, 9.92, seconds=None).buffered


async def test_buffering_is_proven_by_the_timestamps_of_the_agent(agent: Agent, open_session: OpenSession):
    def dated(second: int) -> dict[str, object]:
        said = status("WORKING", str(second))
        said["statusUpdate"]["status"]["timestamp"] = f"2026-01-01T12:00:{second:02d}.000Z"
        return said

    async def answer(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await asyncio.sleep(1.1)
        said = [{"task": task("SUBMITTED")}, *(dated(second) for second in range(5)), status("COMPLETED")]
        await response.write(b"".join(frame(event, heard.json["id"]) for event in said))
        return response

    agent.answer(answer)
    session = await open_session(agent.url)
    await say(session)
    one = await last(session)
    span = dated_span(session.journal.capture, one)
    assert span == 4.0
    found = health(one, one.last_at, span)
    assert found is not None
    assert found.buffered.startswith("buffered: nothing for ")


async def test_a_disconnected_stream_reports_how_many_events_it_had(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("WORKING")}, artifact("a"), artifact("b", append=True), cut=True))
    session = await open_session(agent.url)
    await say(session)
    one = await last(session)
    found = health(one, one.last_at, dated_span(session.journal.capture, one))
    assert found is not None
    assert (found.end, found.words, found.lost) == (StreamStatus.BROKEN, "disconnected after 3 events", True)
    assert found.first_byte is not None
    assert found.first_event is not None
    assert found.first_byte <= found.first_event <= found.total
    assert dated_span(session.journal.capture, one) is None


def test_the_times_of_a_stream_without_end_do_not_advance_in_a_recording():
    found = health(summary(1.0, 2.0, seconds=None), 1e9, recorded=True)
    assert found is not None
    assert (found.end, found.idle, found.lost) == (StreamStatus.UNKNOWN, 0.0, False)
    assert found.words == "the capture ends after 2 events"
    assert found.total < 100
