"""Requests are matched with recorded requests by their content; volatile values are left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspector.sample_agents.replay.call_content import CallContent, RawRequest, read_call, version_for
from inspector.sample_agents.replay.differences import differences, has_masks, matches_text
from inspector.sample_agents.replay.exchange import Exchange
from inspector.sample_agents.replay.matching import Matcher
from inspector.sample_agents.versions import VERSIONS
from properties import examples

from inspector.protocol.bindings.registry import BINDINGS

UUIDS = ("0b5fa6a4-7e4c-4a48-90d8-6d2b6b6f2f10", "c2d7c2b0-6a7c-4b5e-9f0e-0c1f4d8e3a21")


def call(
    method: str, params: Any, *, version: str = "1.0", headers: dict[str, str] | None = None, path: str = "/"
) -> CallContent:
    """Return the content of a JSON-RPC request."""
    known = version_for(version, "JSONRPC")
    assert known is not None
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    return read_call(RawRequest("POST", path, "", headers or {}, body), "JSONRPC", known)


def message(text: str, **members: Any) -> dict[str, Any]:
    return {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}], **members}}


def sent(text: str, **members: Any) -> CallContent:
    return call("SendMessage", message(text, **members))


def get(task: str, **members: Any) -> CallContent:
    return call("GetTask", {"id": task, **members})


def matcher(*recorded: CallContent | Exchange) -> Matcher:
    """Return a matcher of exchanges with the numbers 1, 2 and so on."""
    made = [
        item if isinstance(item, Exchange) else Exchange(number, 0.0, item) for number, item in enumerate(recorded, 1)
    ]
    return Matcher(made)


def matched(found: Matcher, *calls: CallContent) -> list[int]:
    """Return the numbers of the exchanges for calls, 0 for none."""
    matches = [found.match(item) for item in calls]
    return [match.exchange.number if match else 0 for match in matches]


@pytest.mark.parametrize(
    ("recorded", "received"),
    [
        (message("a"), message("a", messageId="other")),
        (message("a"), message("a") | {"configuration": {"historyLength": 3}}),
        (
            message("a", metadata={"at": "2026-01-01T00:00:00Z"}),
            message("a", metadata={"at": "2027-02-03T10:00:00.1Z"}),
        ),
        (message("a", metadata={"run": UUIDS[0]}), message("a", metadata={"run": UUIDS[1]})),
        (message("a", metadata={}), message("a")),
        (message("a", extensions=["urn:x"]), message("a")),
        (message("my key is ****."), message("my key is open-sesame.")),
        (message("a"), message("a", contextId="c2")),
        (
            message("a"),
            {"message": message("a")["message"], "configuration": {"taskPushNotificationConfig": {"url": "x"}}},
        ),
        (message("a"), {"message": {"message_id": "m", "role": "ROLE_USER", "parts": [{"text": "a"}]}}),
    ],
)
def test_volatile_values_do_not_make_another_request(recorded: Any, received: Any):
    assert matched(matcher(call("SendMessage", recorded)), call("SendMessage", received)) == [1]


@pytest.mark.parametrize(
    ("received", "difference"),
    [
        (message("b"), 'message.parts[0].text: recorded "a", received "b"'),
        (message("a", role="ROLE_AGENT"), 'message.role: recorded "ROLE_USER", received "ROLE_AGENT"'),
        (message("a", metadata={"skillId": "s"}), 'message.metadata: recorded none, received {"skillId":"s"}'),
        (message("a", taskId="t"), 'task id: recorded none, received "t"'),
        (message("a", referenceTaskIds=["t"]), 'reference task ids: recorded none, received ["t"]'),
        (message("a") | {"tenant": "x"}, 'tenant: recorded none, received "x"'),
        (
            message("a", parts=[{"text": "a"}, {"data": {"id": UUIDS[0]}}]),
            f'message.parts[1]: recorded none, received {{"data":{{"id":"{UUIDS[0]}"}}}}',
        ),
    ],
)
def test_other_content_is_another_request(received: Any, difference: str):
    found = matcher(sent("a"))
    request = call("SendMessage", received)
    assert found.match(request) is None
    [near] = found.nearest(request)
    assert [item.words for item in near.differences] == [difference]


@pytest.mark.parametrize(
    ("request_", "difference"),
    [
        (
            call("SendStreamingMessage", message("a")),
            'operation: recorded "SendMessage", received "SendStreamingMessage"',
        ),
        (call("SendMessage", message("a"), path="/other"), 'path: recorded "/", received "/other"'),
        (call("Unknown", message("a")), 'operation: recorded "SendMessage", received "Unknown"'),
    ],
)
def test_another_operation_or_path_is_another_request(request_: CallContent, difference: str):
    found = matcher(sent("a"))
    assert found.match(request_) is None
    assert difference in [item.words for item in found.nearest(request_)[0].differences]


def test_the_most_similar_of_several_requests_is_used():
    three = call("SendMessage", message("a") | {"configuration": {"historyLength": 3}})
    five = call("SendMessage", message("a") | {"configuration": {"historyLength": 5}})
    found = matcher(three, five)
    assert matched(found, five, five, three) == [2, 2, 1]
    denied = matcher(
        call("GetTask", {"id": "t"}), call("GetTask", {"id": "t"}, headers={"authorization": "Bearer ****"})
    )
    assert matched(denied, call("GetTask", {"id": "t"}, headers={"authorization": "Bearer x"})) == [2]


def test_messages_that_open_a_task_start_again_and_other_requests_repeat_the_last():
    first, second = (Exchange(number, 0.0, sent("a"), task=f"t{number}") for number in (1, 2))
    polls = [Exchange(number, 0.0, get("t1"), task="t1") for number in (3, 4)]
    found = matcher(first, second, *polls)
    assert matched(found, sent("a"), get("t1"), get("t1"), get("t1")) == [1, 3, 4, 4]
    assert matched(found, sent("a"), get("t1")) == [2, 4]
    assert matched(found, sent("a"), get("t1"), get("t1")) == [1, 3, 4]


def test_follow_ups_belong_to_the_task_that_they_name():
    found = matcher(
        Exchange(1, 0.0, sent("ask"), task="t1", context="c1"),
        Exchange(2, 0.0, sent("ask"), task="t2", context="c2"),
        Exchange(3, 0.0, sent("blue", taskId="t1", contextId="c1"), task="t1", context="c1"),
        Exchange(4, 0.0, sent("blue", taskId="t2", contextId="c2"), task="t2", context="c2"),
    )
    assert matched(found, sent("blue", taskId="t2", contextId="c2"), sent("blue", taskId="t1")) == [4, 3]
    assert matched(found, sent("blue", taskId="t1", contextId="c2"), sent("blue", taskId="t3")) == [0, 0]


def test_polls_after_a_change_are_served_once_the_change_was_served():
    def about(number: int, call: CallContent) -> Exchange:
        return Exchange(number, 0.0, call, task="t", context="c")

    reply, cancel = sent("yes", taskId="t", contextId="c"), call("CancelTask", {"id": "t"})
    found = matcher(
        about(1, sent("ask")),
        about(2, get("t")),
        about(3, get("t")),
        about(4, reply),
        about(5, get("t")),
        about(6, reply),
        about(7, cancel),
        about(8, get("t")),
    )
    assert matched(found, get("t"), get("t"), get("t")) == [2, 3, 5]  # the task was not opened
    for _ in range(2):
        assert matched(found, sent("ask"), get("t"), get("t"), get("t")) == [1, 2, 3, 3]
        assert matched(found, reply, get("t"), get("t")) == [4, 5, 5]
        assert matched(found, reply, get("t"), reply, get("t"), cancel, get("t")) == [6, 5, 6, 5, 7, 8]


def test_lists_of_push_configurations_follow_the_changes_of_them():
    def about(number: int, method: str, **params: Any) -> Exchange:
        return Exchange(number, 0.0, call(method, {"taskId": "t", **params}), task="t")

    listing = about(2, "ListTaskPushNotificationConfigs").call
    found = matcher(
        Exchange(1, 0.0, sent("a"), task="t"),
        about(2, "ListTaskPushNotificationConfigs"),
        about(3, "CreateTaskPushNotificationConfig", id="x", url="http://a"),
        about(4, "ListTaskPushNotificationConfigs"),
        about(5, "DeleteTaskPushNotificationConfig", id="x"),
        about(6, "ListTaskPushNotificationConfigs"),
    )
    created = about(3, "CreateTaskPushNotificationConfig", id="x", url="http://b").call
    deleted = about(5, "DeleteTaskPushNotificationConfig", id="x").call
    assert matched(found, sent("a"), listing, listing, created, listing, listing) == [1, 2, 2, 3, 4, 4]
    assert matched(found, deleted, listing, sent("a"), listing) == [5, 6, 1, 2]


def test_the_context_of_the_client_replaces_the_recorded_context():
    recorded = Exchange(1, 0.0, sent("a", contextId="c1"), task="t1", context="c1", chosen=frozenset({"context"}))
    follow_up = Exchange(2, 0.0, sent("b", contextId="c1"), task="t2", context="c1")
    found = matcher(recorded, follow_up)
    assert matched(found, sent("b", contextId="mine"), sent("a", contextId="mine")) == [0, 1]
    assert matched(found, sent("b", contextId="mine"), sent("b", contextId="other")) == [2, 0]
    assert found.ids.replacements()["contextId"] == {"c1": "mine"}


def test_the_nearest_requests_are_listed_once_each_and_at_most_three():
    found = matcher(sent("report 3"), sent("report 3"), sent("hello"), get("t"), sent("report 33"))
    nearest = found.nearest(sent("report 4"))
    assert [near.exchange.number for near in nearest] == [1, 5, 3]


def test_a_request_that_is_not_valid_is_matched_by_its_body():
    version = version_for("1.0", "JSONRPC")
    assert version is not None
    calls = [
        read_call(RawRequest("POST", "/", "", {}, body), "JSONRPC", version) for body in (b"{oops", b"{}", b"\xff")
    ]
    found = matcher(*calls)
    assert matched(found, *reversed(calls)) == [3, 2, 1]


def test_a_masked_text_matches_in_linear_time():
    recorded = "a****" * 20_000
    assert matches_text(recorded, "ab" * 50_000)
    assert not matches_text(recorded + "z", "ab" * 50_000)
    assert (matches_text("****", ""), matches_text("x****x", "x")) == (True, False)
    assert matches_text("{{file:/tmp/a.png}}", "iVBORw0KGgo=")
    assert has_masks({"a": [{"b": "Bearer ****"}]})
    assert not has_masks({"a": ["b", 1, None]})


def test_differences_have_paths():
    recorded, received = (
        {"a": [1, {"b": "x"}], "c": True, "secret": "****"},
        {"a": [1, {"b": "y"}, 3], "d": None, "secret": 1234},
    )
    assert [item.where for item in differences(recorded, received)] == ["a[1].b", "a[2]", "c", "d"]


@pytest.mark.parametrize(
    ("recorded", "received", "words"),
    [
        ("a", "b", 'x: recorded "a", received "b"'),
        (
            "same " * 20 + "old",
            "same " * 20 + "new",
            'x: recorded …"same same same same old", received …"same same same same new"',
        ),
        ("a" * 100, "b", f'x: recorded "{"a" * 60}"…, received "b"'),
        ('a"\n', {"b": 1}, 'x: recorded "a\\"\\n", received {"b":1}'),
        ("", 0, "x: recorded none, received 0"),
    ],
)
def test_long_texts_are_quoted_where_they_differ(recorded: Any, received: Any, words: str):
    assert [item.words for item in differences({"x": recorded}, {"x": received})] == [words]


NAMES = st.sampled_from(
    ["message", "parts", "text", "data", "metadata", "configuration", "taskId", "url", "id", "token"]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["ROLE_USER", "user", "****", ""])
VALUES = st.recursive(
    LEAVES, lambda item: st.lists(item, max_size=3) | st.dictionaries(NAMES, item, max_size=4), max_leaves=15
)
METHODS = st.sampled_from(["SendMessage", "message/send", "tasks/send", "tasks/get", "ListTasks", "Other"])
PATHS = st.sampled_from(
    ["/", "/v1/message:send", "/tasks/a:cancel", "/tasks/a/pushNotificationConfigs/b", "/x/y", "/%ff"]
)
WAYS = [(version, binding) for version in VERSIONS for binding in BINDINGS if version_for(version, binding)]


@settings(max_examples=examples(200))
@given(VALUES, METHODS, PATHS, st.sampled_from(["GET", "POST"]), st.sampled_from(WAYS), st.booleans())
def test_every_request_matches_its_own_recording(
    value: Any, method: str, path: str, verb: str, way: tuple[str, str], wrapped: bool
):
    version = version_for(*way)
    assert version is not None
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": value} if wrapped else value
    raw = RawRequest(verb, path, "a=b&pageSize=x", {}, json.dumps(body).encode())
    content = read_call(raw, way[1], version)
    found = matcher(content)
    assert matched(found, content) == [1]
    assert len(found.nearest(sent("a"))) == 1
