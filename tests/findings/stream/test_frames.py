"""Bytes of a stream that break clients in use: which of them have findings, and which clients these name."""

from __future__ import annotations

from typing import Any

import pytest
from judging import Judging

from inspector.findings.stream.frames import is_plain, plain_frames
from inspector.protocol.sse import Decoder, Frame

EVENT = b'{"jsonrpc":"2.0","id":"the-id","result":{"task":{"id":"t"}}}'
PLAIN = b"data: " + EVENT + b"\n\n"


def findings_of(raw: bytes, version: str = "1.0", **members: Any) -> list[str]:
    judge = Judging(version, **members).judge
    return [f"{finding.rule} {finding.seen}" for frame in Decoder().feed(raw) for finding in judge.frame(frame)]


def rules_of(raw: bytes, version: str = "1.0") -> list[str]:
    return [seen.partition(" ")[0] for seen in findings_of(raw, version)]


def test_a_finding_names_the_clients_of_the_version_and_what_they_do():
    seen = "STREAM-021 the stream starts with a byte order mark: event lost, no error in"
    raw = b"\xef\xbb\xbfdata: 1\n\ndata: 2\n\n"
    assert findings_of(raw) == [f"{seen} a2a-python 1.3.0, a2a-go 2.3.1, a2a-java 1.2.0.Final"]
    assert findings_of(raw, "0.2") == [f"{seen} a2a-python 0.2.16"]
    mixed = "no event, no error in a2a-js 1.3.0; error in a2a-go 2.3.1"
    assert findings_of(b"data: 1\r\r") == [f"CLIENT-002 a line ends with CR alone: {mixed}"]


def test_no_client_is_named_for_a_version_that_it_does_not_speak():
    assert findings_of(b"\xef\xbb\xbfdata: 1\n\n", "0.1") == []
    assert findings_of("data: a\u2028b\n\n".encode(), "0.3") == []


@pytest.mark.parametrize("block", [b"id: 7", b"retry: 3000", b"retry:3000\r\n", b"event: x", b": hi\nid: 7"])
def test_a_block_with_fields_but_without_data_is_reported(block: bytes):
    assert findings_of(block + b"\n\ndata: 1\n\n", "0.2") == [
        "STREAM-025 a block has fields, but no data: error in a2a-python 0.2.16"
    ]
    assert rules_of(block + b"\n\ndata: 1\n\n", "0.3") == []


def test_a_keep_alive_after_an_id_is_reported_once():
    assert rules_of(b": ping\n\nid: 7\ndata: 1\n\n: ping\n\n: ping\n\n", "0.2") == ["STREAM-025"]
    assert rules_of(b"id: 7\ndata: 1\n\ndata: 2\n\n: ping\n\n", "0.2") == ["STREAM-025"]


def test_an_empty_id_resets_the_last_id():
    assert rules_of(b"id: 7\ndata: 1\n\nid\ndata: 2\n\n: ping\n\n", "0.2") == []


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085"])
def test_each_line_separator_in_data_is_reported(separator: str):
    raw = f"data: é{separator}\n\ndata: plain\n\ndata: {separator}\n\n".encode()
    seen = f"CLIENT-001 the data contains U+{ord(separator):04X}: error in a2a-python 1.3.0"
    assert findings_of(raw) == [seen, seen]


@pytest.mark.parametrize("raw", [b"data: 1\r\rdata: 2\r\rdata: 3\n\n", b"id: 7\rdata: 1\n\n", b"data: 1\r\n\r"])
def test_a_lone_cr_is_reported_once(raw: bytes):
    # The CR at the end of the bytes may be the first half of a CRLF.
    assert rules_of(raw) == ([] if raw.endswith(b"\n\r") else ["CLIENT-002"])


def test_the_cr_of_a_line_end_that_is_split_between_two_chunks_is_not_alone():
    decoder, judge = Decoder(), Judging().judge
    frames = [frame for chunk in (b"data: 1\r", b"\n\r", b"\ndata: 2\r\n\r\n") for frame in decoder.feed(chunk)]
    assert [frame.data for frame in frames] == [b"1", b"2"]
    assert [judge.frame(frame) for frame in frames] == [(), ()]


def test_several_data_lines_are_reported_once():
    two = b'data: {"a":\ndata: 1}\n\n'
    assert rules_of(two + two) == ["CLIENT-003"]
    assert rules_of(b"data: {}\ndata:\n\n") == []


@pytest.mark.parametrize(
    ("data", "reported"),
    [
        (EVENT, True),
        (b'{"jsonrpc":"2.0","id":"1","error":{"code":1,"message":"x"}}', False),
        (b'{"message":"an error of 0.3"}', False),
        (b"no JSON", False),
    ],
    ids=["a result", "an error", "an error over HTTP+JSON", "no JSON"],
)
def test_an_error_event_is_reported_if_it_is_not_an_error(data: bytes, reported: bool):
    assert rules_of(b"event: error\ndata: " + data + b"\n\n") == (["CLIENT-004"] if reported else [])


@pytest.mark.parametrize(
    ("size", "clients"),
    [
        (65_536, []),
        (65_537, ["a2a-java"]),
        (4 * 1024 * 1024, ["a2a-java"]),
        (4 * 1024 * 1024 + 1, ["a2a-java", "a2a-js"]),
        (10 * 1024 * 1024 - 1, ["a2a-java", "a2a-js"]),
        (10 * 1024 * 1024, ["a2a-java", "a2a-js", "a2a-go"]),
    ],
)
def test_a_long_line_names_the_clients_whose_limit_it_exceeds(size: int, clients: list[str]):
    found = findings_of(b"data: " + b"x" * (size - len(b"data: ")) + b"\n\n")
    assert [name for name in ("a2a-java", "a2a-js", "a2a-go") if any(name in seen for seen in found)] == clients


def test_limits_of_characters_are_not_compared_with_bytes():
    assert findings_of(b"data: " + "\u4e16".encode() * 40_000 + b"\n\n") == []
    assert rules_of(b"data: " + "\U0001f600".encode() * 40_000 + b"\n\n") == ["CLIENT-005"]


@pytest.mark.parametrize(
    "raw",
    [
        b": ping\n\n",
        b"data: 1\n\n",
        b"id: 7\r\nevent: x\r\ndata: 1\r\n\r\n",
        "data: é\u4e16\U0001f600\u2027\u202a\n\n".encode(),
        b"data\n\n",
        b"\n\n",
    ],
)
def test_frames_that_break_no_client_have_no_finding(raw: bytes):
    assert findings_of(raw) == []


def test_the_fast_check_of_several_frames_stops_before_the_first_that_is_not_plain():
    [plain] = Decoder().feed(PLAIN)
    [crlf] = Decoder().feed(b"data: 1\r\n\r\n")
    [odd] = Decoder().feed("data: \u2028\n\n".encode())
    [cr, _] = Decoder().feed(b"data: 1\r\rdata: 2\n\n")
    german = Frame("data: ä\n\n".encode(), "ä".encode())
    assert [is_plain(frame) for frame in (plain, crlf, german, odd, cr)] == [True, True, True, False, False]
    assert plain_frames([plain, crlf, german, plain]) == 4
    assert plain_frames([plain, german, odd, plain]) == 2
    assert plain_frames([plain, cr]) == 1
    assert plain_frames([odd]) == 0
