"""Frames that httpx-sse reads differently, by httpx-sse itself."""

from __future__ import annotations

import pytest
from judging import Judging

from inspector.protocol.sse import Decoder


def opinions(raw: bytes) -> list[str]:
    judge = Judging().judge
    return [one.seen for frame in Decoder().feed(raw) for one in judge.frame(frame)]


def test_an_event_behind_a_byte_order_mark_is_lost_to_httpx_sse():
    assert opinions(b"\xef\xbb\xbfdata: 1\n\ndata: 2\n\n") == ["httpx-sse reads nothing"]


@pytest.mark.parametrize("block", [b"id: 7", b"retry: 3000", b"event: x", b": hi\nid: 7"])
def test_fields_without_data_are_an_event_to_httpx_sse(block: bytes):
    assert opinions(block + b"\n\ndata: 1\n\n") == ["httpx-sse makes an event without data of this"]


def test_a_keep_alive_behind_an_id_is_an_event_to_httpx_sse_which_is_said_once():
    said = ["httpx-sse makes an event without data of this, as of every block after an id"]
    assert opinions(b": ping\n\nid: 7\ndata: 1\n\n: ping\n\n: ping\n\n") == said
    assert opinions(b"id: 7\ndata: 1\n\ndata: 2\n\n: ping\n\n") == said


def test_an_empty_id_ends_that():
    assert opinions(b"id: 7\ndata: 1\n\nid\ndata: 2\n\n: ping\n\n") == []


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
def test_what_both_read_alike_is_not_found(raw: bytes):
    assert opinions(raw) == []
