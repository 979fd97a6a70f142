"""Frames that httpx-sse reads differently, checked with httpx-sse."""

from __future__ import annotations

import pytest
from judging import Judging

from inspector.protocol.sse import Decoder


def findings_of(raw: bytes) -> list[str]:
    judge = Judging().judge
    return [finding.seen for frame in Decoder().feed(raw) for finding in judge.frame(frame)]


def test_httpx_sse_loses_an_event_after_a_byte_order_mark():
    assert findings_of(b"\xef\xbb\xbfdata: 1\n\ndata: 2\n\n") == ["httpx-sse reads no event"]


@pytest.mark.parametrize("block", [b"id: 7", b"retry: 3000", b"event: x", b": hi\nid: 7"])
def test_httpx_sse_reads_fields_without_data_as_an_event(block: bytes):
    assert findings_of(block + b"\n\ndata: 1\n\n") == ["httpx-sse reads this as an event without data"]


def test_httpx_sse_reads_a_keep_alive_after_an_id_as_an_event_which_is_reported_once():
    expected = ["httpx-sse reads this as an event without data, like every block after an id"]
    assert findings_of(b": ping\n\nid: 7\ndata: 1\n\n: ping\n\n: ping\n\n") == expected
    assert findings_of(b"id: 7\ndata: 1\n\ndata: 2\n\n: ping\n\n") == expected


def test_an_empty_id_resets_the_last_id():
    assert findings_of(b"id: 7\ndata: 1\n\nid\ndata: 2\n\n: ping\n\n") == []


@pytest.mark.parametrize(
    "raw",
    [
        b": ping\n\n",
        b"data: 1\n\n",
        b"id: 7\r\nevent: x\r\ndata: 1\r\n\r\n",
        "data: a\u2028b\n\n".encode(),
        b"data\n\n",
        b"\n\n",
    ],
)
def test_frames_that_both_read_alike_have_no_finding(raw: bytes):
    assert findings_of(raw) == []
