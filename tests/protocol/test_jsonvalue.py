"""Bytes become JSON values, or are rejected with a reason; nothing is raised, and accepted values can be written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples
from pydantic import ValidationError
from strategies import json_values

from inspector.protocol.jsonvalue import MOST_CONTAINERS, brief, dump, parse, parse_strictly, read, type_name
from inspector.protocol.model import Message, Part, Task, Unreadable

REFUSED = {
    "200,000 levels of arrays": (b"[" * 200_000 + b"]" * 200_000, "nested deeper than 200 levels"),
    "200,000 levels of objects": (b'{"a":' * 200_000 + b"1" + b"}" * 200_000, "nested deeper than 200 levels"),
    "200,000 levels, cut off": (b"[" * 200_000, "nested deeper than 200 levels"),
    "an integer of 5,000 digits": (b"1" * 5_000, "more than 4,300 digits"),
    "NaN": (b'{"x": NaN}', "'NaN}'"),
    "Infinity": (b"[Infinity]", "'Infinity]'"),
    "-Infinity": (b"[-Infinity]", "line 1 column 2 ('-Infinity]')"),
    "a lone high surrogate": (rb'"\ud83d"', "half of a surrogate pair"),
    "a lone low surrogate": (rb'{"text": "\ude00!"}', "half of a surrogate pair"),
    "a lone surrogate in a name": (rb'{"\ud83d": 1}', "half of a surrogate pair"),
    "two high surrogates": (rb'"\ud83d\ud83d"', "half of a surrogate pair"),
    "invalid UTF-8": (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
    "a surrogate in UTF-8": (b'"\xed\xa0\x80"', "not UTF-8 at byte 1"),
    "a byte order mark": (b'\xef\xbb\xbf{"a": 1}', "byte order mark"),
    "UTF-16 with a mark": ('{"a": 1}'.encode("utf-16"), "UTF-16"),
    "UTF-16 without a mark": ('{"a": 1}'.encode("utf-16-be"), "UTF-16"),
    "UTF-32 without a mark": ('{"a": 1}'.encode("utf-32-le"), "UTF-16 or UTF-32"),
    "nothing": (b"", "empty"),
    "white space": (b" \r\n\t", "empty"),
    "HTML": (b"\n<!doctype html><title>502</title>", "a web page or XML"),
    "an SSE field": (b"event: update", "not JSON: expected value at line 1 column 1 ('event: update')"),
    "a word like null": (b"nonsense", "not JSON: expected value at line 1 column 1 ('nonsense')"),
    "a member with a word like true": (b'{\n"a": tru}', "not JSON: expected value at line 2 column 6 ('tru}')"),
    "a word with a newline in it": (b"fa\nlse", "not JSON: expected value at line 1 column 1 ('fa')"),
    "an object that is cut off": (b'{"a": [1, 2', "ends within"),
    "a string that is cut off": (b'{"a": "x', "ends within"),
    "two values": (b'{"a":1}{"b":2}', "trailing characters"),
    "single quotes": (b"{'a': 1}", "line 1 column 2"),
    "a comma too many": (b'{\n"a": 1,\n}', "line 3 column 1"),
    "a comment": (b'{"a": 1} // one', "trailing characters"),
    "a raw newline in a string": (b'"a\nb"', "control character"),
    "a leading zero": (b"[01]", "line 1 column 2 ('01]')"),
    "a plus sign": (b"+1", "'+1'"),
    "hexadecimal": (b"0x10", "line 1"),
}


@pytest.mark.parametrize(("raw", "why"), REFUSED.values(), ids=REFUSED)
def test_invalid_json_is_rejected_with_the_reason(raw: bytes, why: str) -> None:
    read = parse_strictly(raw)
    assert isinstance(read, Unreadable)
    assert why in read.why
    assert len(read.why) < 200
    read.value.encode("utf-8")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'{"a": "x\ud83dy", "b": [1, "\uDE00"]}', {"a": "x\ufffdy", "b": [1, "\ufffd"]}),
        (rb'{"\ud83d": "\ud83d\ud83d\ude00"}', {"\ufffd": "\ufffd😀"}),
        (rb'["\\ud83d", "\\\ud83d", "\\\\ud83d"]', ["\\ud83d", "\\\ufffd", "\\\\ud83d"]),
    ],
)
def test_half_of_a_surrogate_pair_is_replaced_and_the_rest_is_read(raw: bytes, value: Any) -> None:
    assert parse(raw) == value


def test_json_that_is_invalid_besides_a_surrogate_is_rejected() -> None:
    assert isinstance(parse(rb'{"a": "\ud83d", "b": }'), Unreadable)


ACCEPTED = {
    "200 levels": (b"[" * 200 + b"]" * 200, None),
    "an integer of 4,300 digits": (b"1" * 4_300, 10**4299 + (10**4299 - 1) // 9),
    "an integer beyond 64 bits": (b"18446744073709551616", 2**64),
    "repeated members, of which the last counts": (b'{"a": 1, "a": 2}', {"a": 2}),
    "a surrogate pair": (rb'"\ud83d\ude00"', "😀"),
    "an escaped NUL": (rb'"\u0000"', "\0"),
    "line separators other than newlines": ('"\u2028\u2029\x85"'.encode(), "\u2028\u2029\x85"),
    "a number that vanishes": (b"1e-400", 0.0),
    "a number beyond a double": (b"[1e400, -1e400]", [float("inf"), float("-inf")]),
    "a scalar": (b" true\n", True),
    "null": (b"null", None),
}


@pytest.mark.parametrize(("raw", "value"), ACCEPTED.values(), ids=ACCEPTED)
def test_valid_json_is_read(raw: bytes, value: Any) -> None:
    read = parse(raw)
    assert not isinstance(read, Unreadable)
    if value is not None:
        assert read == value
    assert isinstance(json.loads(dump(read)), type(read))
    part = Part(data=read)
    assert part.to_json() == {"data": read}
    assert not isinstance(parse(dump(part.to_json())), Unreadable)


@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")))
@settings(max_examples=examples(300))
def test_any_bytes_are_a_value_or_unreadable(raw: bytes) -> None:
    read = parse(raw)
    if isinstance(read, Unreadable):
        assert read.why
    else:
        assert not isinstance(parse(dump(read)), Unreadable)


@given(json_values)
@settings(max_examples=examples(150))
def test_a_written_value_is_read_back_unchanged(value: Any) -> None:
    assert parse(dump(value)) == value
    assert parse(json.dumps(value, indent=2).encode()) == value


@given(json_values, st.data())
@settings(max_examples=examples(150))
def test_a_value_without_one_byte_is_a_value_or_unreadable(value: Any, data: st.DataObject) -> None:
    raw = dump(value)
    place = data.draw(st.integers(0, max(len(raw) - 1, 0)))
    read = parse(raw[:place] + raw[place + 1 :])
    assert isinstance(read, Unreadable) or not isinstance(parse(dump(read)), Unreadable)


def test_json_is_written_as_compact_utf_8() -> None:
    assert dump({"ключ": ["é", 1, None, True]}) == '{"ключ":["é",1,null,true]}'.encode()


def test_half_of_a_surrogate_pair_is_written_as_an_escape() -> None:
    assert dump({"a": "\ud83d", "\udc00": "é"}) == rb'{"a":"\ud83d","\udc00":"\u00e9"}'


def test_an_infinity_is_written_as_null() -> None:
    assert dump({"a": [float("inf"), float("-inf"), float("nan"), 1.5]}) == b'{"a":[null,null,null,1.5]}'


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "a boolean"),
        (0, "a number"),
        (0.5, "a number"),
        ("", "a string"),
        ([], "an array"),
        ({}, "an object"),
    ],
)
def test_a_type_is_named_as_json_names_it(value: Any, name: str) -> None:
    assert type_name(value) == name


def test_a_long_string_is_quoted_partly() -> None:
    assert len(brief("x" * 10_000)) < 200
    assert brief("x") == "'x'"
    assert brief([1]) == "an array"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "Task: expected an object, found null"),
        ([], "Task: expected an object, found an array"),
        ({"id": 5}, "Task/id: expected a string, found a number"),
        ({"status": "working"}, "Task/status: expected an object, found 'working'"),
        ({"history": {}}, "Task/history: expected an array, found an object"),
        (
            {"history": [{}, {"parts": [{"text": True}]}]},
            "Task/history/1/parts/0/text: expected a string, found a boolean",
        ),
        ({"artifacts": [None]}, "Task/artifacts/0: expected an object, found null"),
        ({"metadata": "x"}, "Task/metadata: expected an object, found 'x'"),
    ],
)
def test_a_member_of_the_wrong_type_is_reported_with_its_pointer(value: Any, why: str) -> None:
    assert read(Task, value) == Unreadable(value, why)


def test_an_unreadable_value_is_the_original_not_the_converted_value() -> None:
    sent = {"messageId": 1}
    refused = read(Message, sent, lambda value: value | {"rewritten": True})
    assert isinstance(refused, Unreadable)
    assert refused.value is sent


def test_reading_does_not_change_the_value() -> None:
    sent = {"parts": None, "metadata": {"a": None}, "role": None, "x": None}
    kept = json.loads(json.dumps(sent))
    assert isinstance(read(Message, sent), Message)
    assert sent == kept


def test_a_list_of_many_invalid_items_causes_one_error() -> None:
    with pytest.raises(ValidationError) as caught:
        Message.model_validate({"parts": [0] * 1000}, by_alias=True)
    assert caught.value.error_count() == 1


def test_a_value_with_too_many_containers_is_rejected() -> None:
    raw = b'{"parts":[' + b"{}," * (MOST_CONTAINERS + 1) + b"{}]}"
    value = parse(raw)
    assert isinstance(value, Unreadable)
    assert value.why == "more than 200,000 objects and arrays"


def test_as_many_objects_as_are_allowed_are_read() -> None:
    assert len(parse(b"[" + b"{}," * (MOST_CONTAINERS - 2) + b"{}]")) == MOST_CONTAINERS - 1
