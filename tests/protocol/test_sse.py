"""The stream decoder: the WHATWG algorithm, bytes split at any position, and the limits."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.sse import COMMENTS, Decoder, Frame

MIXED = (
    "\ufeff: hello\r\n"
    "event: first\r\ndata: one\r\n\r\n"
    "id: 7\rdata: two\rdata: lines\r\r"
    ": ping - 2025\n\n"
    'data: {“text”: "a\u2028b\u2029c\u0085d"}\n\n'
    "event: only\nid: x\n\n"
    "\n\ndata\n\ndata:  two spaces\nretry: 10\nunknown: x\n\n"
    "data: unfinished"
).encode()


def read(*chunks: bytes) -> tuple[list[Frame], bytes]:
    decoder = Decoder()
    frames = [frame for chunk in chunks for frame in decoder.feed(chunk)]
    return frames, decoder.rest


def said(frames: list[Frame]) -> list[tuple[bytes | None, str, str, tuple[str, ...]]]:
    return [(frame.data, frame.event, frame.id, frame.comments) for frame in frames]


def dispatched(stream: str) -> list[bytes]:
    return [frame.data for frame in read(stream.encode())[0] if frame.data is not None]


# The examples of the WHATWG specification


def test_an_event_joins_its_data_lines():
    assert dispatched("data: YHOO\ndata: +2\ndata: 10\n\n") == [b"YHOO\n+2\n10"]


def test_comments_ids_and_an_unfinished_event():
    frames, rest = read(b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event")
    assert said(frames) == [
        (None, "", None, ("test stream",)),
        (b"first event", "", "1", ()),
        (b"second event", "", "", ()),
    ]
    assert rest == b"data:  third event"


def test_empty_data_is_data():
    assert dispatched("data\n\ndata\ndata\n\ndata:") == [b"", b"\n"]


def test_one_space_after_the_colon_is_not_part_of_the_value():
    assert dispatched("data:test\n\ndata: test\n\ndata:  test\n\n") == [b"test", b"test", b" test"]


# Lines


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_every_line_end_ends_a_line(end: str):
    assert dispatched(f"data: a{end}data: b{end}{end}data: c{end}{end}") == [b"a\nb", b"c"]


def test_nothing_else_ends_a_line():
    assert dispatched("data: a\u2028b\u2029c\u0085d\x0b\x0ce\n\n") == ["a\u2028b\u2029c\u0085d\x0b\x0ce".encode()]


def test_a_byte_order_mark_is_skipped_at_the_start_only():
    assert dispatched("\ufeffdata: a\n\n\ufeffdata: b\n\n") == [b"a"]
    assert dispatched("\ufeff\n\ndata: a\n\n") == [b"a"]


def test_an_id_with_a_nul_is_ignored():
    assert read(b"id: a\0b\ndata: x\n\n")[0][0].id is None


def test_bytes_that_are_not_utf_8_do_not_affect_other_fields():
    [frame] = read(b"event: \xff\nid: \xfe\n: \xfd\ndata: \xfc\n\n")[0]
    assert (frame.event, frame.id, frame.comments, frame.data) == ("\ufffd", "\ufffd", ("\ufffd",), b"\xfc")


def test_a_block_without_data_is_kept_as_a_keep_alive():
    [comment, fields] = read(b": ping\n\nevent: x\nid: 1\n\n")[0]
    assert comment == Frame(b": ping\n\n", None, "", None, ("ping",))
    assert fields == Frame(b"event: x\nid: 1\n\n", None, "x", "1")


def test_empty_lines_join_the_block_that_follows():
    frames, rest = read(b"\n\r\n\rdata: a\n\n\n\n")
    assert [frame.raw for frame in frames] == [b"\n\r\n\rdata: a\n\n"]
    assert rest == b"\n\n"


# However the bytes are cut


def test_a_stream_is_decoded_equally_when_split_anywhere():
    whole, _ = read(MIXED)
    assert len(whole) == 7
    for cut in range(len(MIXED) + 1):
        frames, rest = read(MIXED[:cut], MIXED[cut:])
        assert said(frames) == said(whole)
        assert b"".join(frame.raw for frame in frames) + rest == MIXED


def test_a_stream_is_decoded_equally_byte_by_byte():
    frames, rest = read(*(MIXED[at : at + 1] for at in range(len(MIXED))))
    assert said(frames) == said(read(MIXED)[0])
    assert rest == b"data: unfinished"


def test_an_event_does_not_wait_for_the_lf_of_its_last_crlf():
    decoder = Decoder()
    assert [frame.data for frame in decoder.feed(b"data: a\r\n\r")] == [b"a"]
    assert [frame.data for frame in decoder.feed(b"\ndata: b\r\n\r\n")] == [b"b"]


PIECES = st.sampled_from(
    [
        b"\n",
        b"\r",
        b"\r\n",
        b":",
        b"data",
        b"data: ",
        b"id: 1",
        b"event: e",
        b" ",
        b"x",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
    ]
)


@given(st.lists(PIECES), st.lists(st.integers(0, 60)))
def test_the_raw_bytes_of_frames_and_rest_add_up_to_the_stream(pieces: list[bytes], cuts: list[int]):
    stream = b"".join(pieces)
    at = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    frames, rest = read(*(stream[start:end] for start, end in pairwise(at)))
    assert b"".join(frame.raw for frame in frames) + rest == stream
    assert said(frames) == said(read(stream)[0])


# Bounds


def peak_of(decoder: Decoder, chunk: bytes, times: int) -> float:
    """Feed a chunk until the decoder stops, and return the megabytes that it held at most."""
    tracemalloc.start()
    try:
        for _ in range(times):
            decoder.feed(chunk)
            if decoder.overrun:
                break
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "chunk",
    [b"x" * 65536, b"data:\n" * 10_000, b"data:ab\n" * 8192, b":ab\n" * 16_384, b"a\n" * 32_768, b"\n" * 65_536],
    ids=["one line", "empty data", "short data", "comments", "unknown fields", "empty lines"],
)
def test_a_block_beyond_the_limit_ends_decoding(chunk: bytes):
    decoder = Decoder(limit=2**19)
    assert peak_of(decoder, chunk, 1000) < 10
    assert decoder.overrun
    assert decoder.feed(b"\n\ndata: more\n\n") == []


def test_many_short_lines_below_the_limit_are_read_whole():
    decoder = Decoder()
    lines = 200_000
    for _ in range(lines // 1000):
        assert decoder.feed(b"data:\n" * 1000) == []
    assert decoder.feed(b": no comment is lost from the bytes\n" * (COMMENTS + 5)) == []
    [frame] = decoder.feed(b"\n")
    assert frame.data == b"\n" * (lines - 1)
    assert len(frame.comments) == COMMENTS
    assert frame.raw.count(b"comment") == COMMENTS + 5


def test_the_limit_is_for_one_block_and_not_for_the_stream():
    decoder = Decoder(limit=100)
    assert sum(len(decoder.feed(b"data: " + b"x" * 50 + b"\n\n")) for _ in range(1000)) == 1000
    assert not decoder.overrun


def test_frames_before_an_overrun_are_returned():
    decoder = Decoder(limit=10)
    assert [frame.data for frame in decoder.feed(b"data: a\n\ndata: far too long")] == [b"a"]
    assert decoder.overrun
