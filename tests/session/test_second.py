"""The second opinion on frames, by httpx-sse itself."""

from __future__ import annotations

import pytest

from inspector.protocol.sse import Decoder
from inspector.session.second import second_opinion


def opinions(raw: bytes) -> list[str]:
    return [one.seen for frame in Decoder().feed(raw) for one in second_opinion(frame)]


def test_an_event_behind_a_byte_order_mark_is_lost_to_httpx_sse():
    assert opinions(b"\xef\xbb\xbfdata: 1\n\ndata: 2\n\n") == ["httpx-sse reads nothing"]


def test_an_id_without_data_is_an_event_to_httpx_sse():
    assert opinions(b"id: 7\n\ndata: 1\n\n") == ["httpx-sse reads an event without data"]


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
