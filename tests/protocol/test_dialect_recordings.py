"""Recorded JSON of official SDKs is read equally in all versions, and written back unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings import DIALECTS, ROOT, deliveries, dialect_of, exchanges, name_of, recordings

from inspector.protocol.bindings import jsonrpc
from inspector.protocol.bindings.base import Answer, Item
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.registry import read_card
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import (
    Artifact,
    Message,
    Part,
    PushConfig,
    PushConfigList,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskStatusUpdateEvent,
    Unreadable,
)

MALFORMED = {
    "01/probes/bad_json": "not JSON",
    "02/probes/rpc_array_empty": "an empty batch",
    "02/probes/rpc_batch": "a batch, which A2A does not have",
    "02/probes/rpc_empty_body": "no body",
    "02/probes/rpc_get_history_string": "historyLength as a string",
    "02/probes/rpc_id_bool": "an id that is a boolean",
    "02/probes/rpc_no_jsonrpc": "no jsonrpc member",
    "02/probes/rpc_params_array": "params as an array",
    "02/probes/rpc_parse_error": "not JSON",
    "02/probes/rpc_string": "a string instead of a call",
    "03/probes/rpc_array_empty": "an empty batch",
    "03/probes/rpc_batch": "a batch, which A2A does not have",
    "03/probes/rpc_empty_body": "no body",
    "03/probes/rpc_get_history_string": "historyLength as a string",
    "03/probes/rpc_id_bool": "an id that is a boolean",
    "03/probes/rpc_jsonrpc_1": "JSON-RPC 1.0",
    "03/probes/rpc_no_jsonrpc": "no jsonrpc member",
    "03/probes/rpc_params_array": "params as an array",
    "03/probes/rpc_parse_error": "not JSON",
    "03/probes/rpc_string": "a string instead of a call",
    "10/probes/rpc_array_empty": "an empty batch",
    "10/probes/rpc_batch": "a batch, which A2A does not have",
    "10/probes/rpc_empty_body": "no body",
    "10/probes/rpc_enum_number": "a role by its number",
    "10/probes/rpc_get_history_string": "historyLength as a string",
    "10/probes/rpc_id_bool": "an id that is a boolean",
    "10/probes/rpc_jsonrpc_1": "JSON-RPC 1.0",
    "10/probes/rpc_no_jsonrpc": "no jsonrpc member",
    "10/probes/rpc_params_array": "params as an array",
    "10/probes/rpc_parse_error": "not JSON",
    "10/probes/rpc_string": "a string instead of a call",
}
"""The probes whose request is broken on purpose, and how."""

NOT_JSON_RPC = {
    "03/jsonrpc/extended_card_noauth": "401 with a body of its own",
    "03/probes/rpc_no_slash_root": "404 with a body of its own",
    "03/probes/rpc_trailing_slash": "404 with a body of its own",
    "10/jsonrpc/extended_card_noauth": "401 with a body of its own",
}
"""The recordings in which the web framework answered before the agent could."""

calls = pytest.mark.parametrize("path", recordings("jsonrpc", "probes"), ids=name_of)


def outcomes(path: Path) -> list[Answer | Item]:
    """Read every answer and every frame of a recording whose request is a call that the version has."""
    dialect, found = dialect_of(path), []
    for exchange in exchanges(path):
        call = jsonrpc.decode_call(parse(exchange.request.body))
        if isinstance(call, ProtocolError) or (operation := exchange.operation(dialect)) is None:
            continue
        if exchange.response.is_stream:
            found += [jsonrpc.decode_item(dialect, parse(frame)) for frame in exchange.response.frames]
        elif exchange.response.headers.get("content-type") == "application/json":
            found.append(jsonrpc.decode_answer(dialect, operation, 200, parse(exchange.response.body)))
    return found


def test_the_recordings_exist() -> None:
    assert len(recordings("jsonrpc")) > 120
    assert len(recordings("probes")) > 170
    assert len(recordings("webhook")) == 15
    assert {dialect_of(path).version for path in recordings("jsonrpc")} == {"0.1", "0.2", "0.3", "1.0"}


@calls
def test_every_request_is_read_unless_it_is_malformed(path: Path) -> None:
    dialect = dialect_of(path)
    for exchange in exchanges(path):
        if not exchange.request.start.startswith("POST"):
            continue
        call = jsonrpc.decode_call(parse(exchange.request.body))
        if isinstance(call, ProtocolError):
            assert name_of(path) in MALFORMED
        elif (operation := exchange.operation(dialect)) is not None:
            read = dialect.decode_request(operation, call.params)
            assert isinstance(read, Unreadable) == (name_of(path) in MALFORMED), read
            if not isinstance(read, Unreadable):
                written = dialect.encode_request(operation, read)
                assert dialect.decode_request(operation, written) == read


@calls
def test_every_response_is_read_and_written_back_as_it_was(path: Path) -> None:
    dialect = dialect_of(path)
    for exchange in exchanges(path):
        response = exchange.response
        if response.is_stream:
            for value in map(parse, response.frames):
                item = jsonrpc.decode_item(dialect, value)
                assert not isinstance(item, Unreadable), item
                if not isinstance(item, ProtocolError):
                    assert dialect.encode_event(item) == value["result"]
        elif exchange.request.start.startswith("POST") and response.headers.get("content-type") == "application/json":
            value = parse(response.body)
            call = jsonrpc.decode_call(parse(exchange.request.body))
            operation = None if isinstance(call, ProtocolError) else exchange.operation(dialect)
            if operation is None:
                assert isinstance(jsonrpc.open_envelope(value), ProtocolError | jsonrpc.Opened)
                continue
            answer = jsonrpc.decode_answer(dialect, operation, 200, value)
            assert isinstance(answer, Unreadable) == (name_of(path) in NOT_JSON_RPC), answer
            if not isinstance(answer, ProtocolError | Unreadable):
                assert dialect.encode_result(operation, answer) == value.get("result")


@pytest.mark.parametrize("path", recordings("webhook"), ids=name_of)
def test_every_delivery_is_read_and_written_back_as_it_was(path: Path) -> None:
    dialect, posts = dialect_of(path), deliveries(path)
    assert posts
    for value in (parse(post.body) for post in posts):
        event = dialect.decode_push(value)
        bare = dialect.version in ("0.1", "0.2", "0.3")
        assert isinstance(event, Task if bare else Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent)
        assert dialect.encode_push(event) == value


@pytest.mark.parametrize("path", recordings("jsonrpc"), ids=name_of)
def test_every_card_is_read_as_its_own_version_and_written_back_as_it_was(path: Path) -> None:
    gets = [
        exchange
        for exchange in exchanges(path)
        if exchange.request.start.startswith("GET ") and " 200 " in exchange.response.start
    ]
    for exchange in gets:
        value = parse(exchange.response.body)
        card, dialect = read_card(value)
        assert dialect is dialect_of(path)
        assert isinstance(card, AgentCard)
        assert dialect.encode_card(card) == value


def card_of(version: str) -> AgentCard:
    value = parse(exchanges(ROOT / version / "jsonrpc" / "card.txt")[0].response.body)
    card, dialect = read_card(value)
    assert dialect is DIALECTS[version]
    assert isinstance(card, AgentCard)
    return card


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ("01", [("JSONRPC", "http://127.0.0.1:9151/", "0.1")]),
        ("02", [("JSONRPC", "http://127.0.0.1:9251/", "0.2.6"), ("GRPC", "127.0.0.1:9252", "0.2.6")]),
    ],
)
def test_an_old_card_maps_to_the_interfaces_of_its_version(version: str, shown: Any) -> None:
    interfaces = card_of(version).supported_interfaces
    assert [
        (interface.protocol_binding, interface.url, interface.protocol_version) for interface in interfaces
    ] == shown


def test_a_0_1_card_maps_to_a_requirement_of_its_schemes() -> None:
    card = card_of("01")
    assert card.security_schemes == {"Bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}
    assert card.security_requirements == [{"schemes": {"Bearer": {"list": []}}}]


def test_a_0_3_card_maps_to_interfaces_in_the_order_of_preference() -> None:
    interfaces = card_of("03").supported_interfaces
    assert [(interface.protocol_binding, interface.url, interface.protocol_version) for interface in interfaces] == [
        ("JSONRPC", "http://127.0.0.1:9351/", "0.3.0"),
        ("HTTP+JSON", "http://127.0.0.1:9351", "0.3.0"),
        ("GRPC", "127.0.0.1:9352", "0.3.0"),
    ]


def test_a_0_3_card_maps_to_the_security_schemes_of_1_0() -> None:
    assert card_of("03").security_schemes == {
        "bearer": {"httpAuthSecurityScheme": {"bearerFormat": "opaque", "scheme": "bearer"}},
        "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
        "oauth": {
            "oauth2SecurityScheme": {
                "flows": {"clientCredentials": {"scopes": {"read": "Read"}, "tokenUrl": "https://example.com/token"}}
            }
        },
        "oidc": {
            "openIdConnectSecurityScheme": {"openIdConnectUrl": "https://example.com/.well-known/openid-configuration"}
        },
        "mtls": {"mtlsSecurityScheme": {}},
    }


def test_the_cards_of_both_versions_describe_the_same_agent() -> None:
    old, new = card_of("03"), card_of("10")
    for name in ("description", "version", "documentation_url", "icon_url", "provider", "skills"):
        assert getattr(old, name) == getattr(new, name), name
    for name in ("streaming", "push_notifications", "extended_agent_card"):
        assert getattr(old.capabilities, name) is getattr(new.capabilities, name) is True, name
    assert old.capabilities.model_extra == {"stateTransitionHistory": False}
    assert (old.default_input_modes, old.default_output_modes) == (new.default_input_modes, new.default_output_modes)


def gist(value: Any) -> Any:
    """Return the content of an object without ids, times and members of a single version."""
    match value:
        case Part():
            media_type = value.media_type if value.content in ("raw", "url") else None  # data has one in 1.0 only
            return value.content, getattr(value, value.content), value.filename, media_type, value.metadata
        case Message():
            return "message", value.role, [gist(part) for part in value.parts], value.metadata
        case Artifact():
            return value.name, [gist(part) for part in value.parts], value.metadata
        case Task():
            history = [gist(message) for message in value.history or []]
            return "task", value.status.state, [gist(artifact) for artifact in value.artifacts or []], history
        case TaskStatusUpdateEvent():
            return "status", value.status.state, value.status.message and gist(value.status.message)
        case TaskArtifactUpdateEvent():
            return "artifact", gist(value.artifact), bool(value.append), bool(value.last_chunk)
        case ProtocolError():
            return "error", value.code
        case _:
            return value


SAME_IN_BOTH = [
    "cancel_running",
    "input_two_turns",
    "send_auth",
    "send_data",
    "send_echo_hi",
    "send_fail",
    "send_file",
    "send_mixed",
    "send_raise",
    "send_reject",
    "send_task_hi",
    "send_unicode",
    "send_url",
    "stream_auth",
    "stream_echo_hi",
    "stream_fail",
    "stream_input",
    "stream_stream_3",
    "stream_task_hi",
]


@pytest.mark.parametrize("name", SAME_IN_BOTH)
def test_the_same_conversation_is_read_equally_in_both_versions(name: str) -> None:
    old, new = (outcomes(ROOT / version / "jsonrpc" / f"{name}.txt") for version in ("03", "10"))
    assert [gist(item) for item in old] == [gist(item) for item in new]
    assert old


def test_a_stream_of_1_0_is_read_as_task_updates_and_artifact() -> None:
    hello = ("message", "ROLE_USER", [("text", "task hi", None, None, None)], None)
    said = [
        ("message", "ROLE_AGENT", [("text", text, None, None, None)], None) for text in ("working on it", "all done")
    ]
    assert [gist(outcome) for outcome in outcomes(ROOT / "10" / "jsonrpc" / "stream_task_hi.txt")] == [
        ("task", "TASK_STATE_SUBMITTED", [], [hello]),
        ("status", "TASK_STATE_WORKING", said[0]),
        ("artifact", ("result", [("text", "result for: hi", None, None, None)], None), False, False),
        ("status", "TASK_STATE_COMPLETED", said[1]),
    ]


def test_an_error_in_the_middle_of_a_stream_is_an_error_with_its_code() -> None:
    *events, last = outcomes(ROOT / "10" / "jsonrpc" / "stream_errmid.txt")
    assert len(events) == 2
    assert isinstance(last, ProtocolError)
    assert (last.code, last.name) == (-32005, "ContentTypeNotSupportedError")
    assert last.data[0]["reason"] == "CONTENT_TYPE_NOT_SUPPORTED"


def test_the_results_of_1_0_operations_have_their_types() -> None:
    path = next((ROOT / "10" / "jsonrpc").glob("task_ops_*.txt"))
    kinds = [type(outcome).__name__ for outcome in outcomes(path)]
    assert kinds.count("PushConfig") == 2
    lists = [outcome for outcome in outcomes(path) if isinstance(outcome, TaskList)]
    assert [(page.page_size, page.total_size) for page in lists][:1] == [(5, 1)]
    pages = [outcome for outcome in outcomes(path) if isinstance(outcome, PushConfigList)]
    assert [config.id for config in pages[0].configs] == ["cfg-1"]


def test_push_configurations_of_0_3_are_read_flat() -> None:
    path = ROOT / "03" / "jsonrpc" / "pushcfg_crud.txt"
    read = outcomes(path)
    configs = [result for result in read if isinstance(result, PushConfig)]
    assert {config.id for config in configs} == {"two", configs[0].task_id}
    assert [type(result).__name__ for result in read].count("Deleted") == 1, "the SDK leaves the empty result out"
