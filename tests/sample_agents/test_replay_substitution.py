"""Ids are replaced in recorded bytes; every other byte stays."""

from __future__ import annotations

from typing import Any

import pytest
from inspector.sample_agents.replay.rewriting import Addresses, rewrite_card
from inspector.sample_agents.replay.substitution import replace_in_message, replace_members, replace_request_id

from inspector.protocol.bindings import protobuf
from inspector.protocol.dialects import v1_0
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.operations import Operation

HERE = Addresses("http://127.0.0.1:9000", "127.0.0.1:9001")


@pytest.mark.parametrize(
    ("raw", "recorded", "sent", "expected"),
    [
        (b'{"jsonrpc":"2.0","id":"1","result":{"id":"1"}}', "1", 7, b'{"jsonrpc":"2.0","id":7,"result":{"id":"1"}}'),
        (b'{"result":{"id":1,"a":[{"id":1}]}, "id" : 1}', 1, "x", b'{"result":{"id":1,"a":[{"id":1}]}, "id" : "x"}'),
        (b'id: 5\ndata: {"id":"a",\ndata: "b":{}}\n\n', "a", "b", b'id: 5\ndata: {"id":"b",\ndata: "b":{}}\n\n'),
        (b'{"id":"wrong-id","result":{}}', "1", "2", b'{"id":"wrong-id","result":{}}'),
        (b'{"id":null,"error":{}}', "1", "2", b'{"id":null,"error":{}}'),
        (b'{"id":"1","result":{"text":"\\"id\\":\\"1\\"', "1", "2", b'{"id":"2","result":{"text":"\\"id\\":\\"1\\"'),
        (b'{"id":"1"}', "1", None, b'{"id":null}'),
        (b"[1, 2", "1", "2", b"[1, 2"),
        (b"", "1", "2", b""),
    ],
)  # fmt: skip
def test_the_id_of_a_response_is_that_of_the_request(raw: bytes, recorded: Any, sent: Any, expected: bytes):
    assert replace_request_id(raw, recorded, sent) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'{"messageId" : "old", "text": "old"}', b'{"messageId" : "new", "text": "old"}'),
        (b'{"messageId":"\\u006fld"}', b'{"messageId":"new"}'),
        (b'{"text":"\\"messageId\\":\\"old\\""}', b'{"text":"\\"messageId\\":\\"old\\""}'),
        (b'data: {"a":{"messageId":"old"}}\r\n\r\n', b'data: {"a":{"messageId":"new"}}\r\n\r\n'),
        (b'{"messageId":"older"}', b'{"messageId":"older"}'),
        (b'{"messageId":"old', b'{"messageId":"old'),
        (b'\xff{"messageId":"old"}', b'\xff{"messageId":"new"}'),
    ],
)
def test_only_members_with_the_recorded_text_change(raw: bytes, expected: bytes):
    assert replace_members(raw, {"messageId": {"old": "new"}}) == expected


def test_fields_of_a_message_change_at_every_depth():
    value = {
        "id": "t",
        "contextId": "c",
        "history": [{"messageId": "old", "role": "ROLE_USER", "parts": [{"text": "old"}]}],
    }
    raw = protobuf.write("v1_0", "Task", value)
    changed = replace_in_message(raw, v1_0.DIALECT, Operation.GET, {"messageId": {"old": "a longer id"}})
    history = protobuf.read("v1_0", "Task", changed)["history"]  # type: ignore[index]
    assert history == [{"messageId": "a longer id", "role": "ROLE_USER", "parts": [{"text": "old"}]}]
    assert replace_in_message(raw, v1_0.DIALECT, Operation.GET, {"messageId": {"x": "y"}}) == raw
    assert replace_in_message(b"\xff\xff", v1_0.DIALECT, Operation.GET, {"messageId": {"x": "y"}}) == b"\xff\xff"


def test_the_urls_of_interfaces_are_rewritten_and_other_bytes_stay():
    raw = (
        b'{ "name":"A", "supportedInterfaces":[{"url":"https:\\/\\/a.example\\/rpc?x=1","protocolBinding":"JSONRPC"},\n'
        b' {"url":"a.example:443","protocolBinding":"GRPC"},{"url":"/rel","protocolBinding":"HTTP+JSON"}],'
        b'"documentationUrl":"https://a.example/docs","provider":{"url":"https://a.example"} }'
    )
    expected = (
        b'{ "name":"A", "supportedInterfaces":[{"url":"http://127.0.0.1:9000/rpc?x=1","protocolBinding":"JSONRPC"},\n'
        b' {"url":"127.0.0.1:9001","protocolBinding":"GRPC"},{"url":"/rel","protocolBinding":"HTTP+JSON"}],'
        b'"documentationUrl":"https://a.example/docs","provider":{"url":"https://a.example"} }'
    )
    assert rewrite_card(raw, HERE) == expected
    assert rewrite_card(expected, HERE) == expected


def test_an_older_card_and_a_response_with_a_card_are_rewritten():
    card = {
        "url": "http://a:1/v0.3",
        "preferredTransport": "GRPC",
        "additionalInterfaces": [{"url": "http://a:1/v0.3", "transport": "HTTP+JSON"}],
    }
    rewritten = parse(rewrite_card(dump(card | {"preferredTransport": "JSONRPC"}), HERE))
    assert rewritten["url"] == rewritten["additionalInterfaces"][0]["url"] == "http://127.0.0.1:9000/v0.3"
    wrapped = parse(rewrite_card(dump({"jsonrpc": "2.0", "id": 1, "result": {"url": "http://a:1/"}}), HERE))
    assert wrapped["result"] == {"url": "http://127.0.0.1:9000/"}
    over_grpc = parse(rewrite_card(dump({"url": "http://a:2", "preferredTransport": "GRPC"}), HERE))
    assert over_grpc["url"] == "http://127.0.0.1:9001"


def test_signatures_that_do_not_match_any_more_are_left_out():
    card = {"url": "http://a:1/", "signatures": [{"protected": "p", "signature": "s"}]}
    assert "signatures" not in parse(rewrite_card(dump(card), HERE))
    same = card | {"url": "http://127.0.0.1:9000/"}
    assert rewrite_card(dump(same), HERE) == dump(same)


@pytest.mark.parametrize("raw", [b"", b"<html>", b"[1]", b'{"url":5,"supportedInterfaces":[3,{"url":null}]}'])
def test_what_is_not_a_card_does_not_change(raw: bytes):
    assert rewrite_card(raw, HERE) == raw
