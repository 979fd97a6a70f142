"""The gRPC binding: messages in both directions, errors in every encoding, URLs, secrets, and invalid bytes."""

from __future__ import annotations

import ast
import json
import re
from base64 import b64encode
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc
from hypothesis import given
from hypothesis import strategies as st
from recordings import dialect_of, name_of, recordings

import inspector.protocol.bindings
from inspector.protocol.bindings import grpc, protobuf
from inspector.protocol.bindings.base import GrpcRequest
from inspector.protocol.dialects import v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL, for_interface, for_request
from inspector.protocol.errors import BY_NAME, ErrorKind, FaultError, ProtocolError, Whose
from inspector.protocol.jsonvalue import MOST_CONTAINERS
from inspector.protocol.model import (
    Deleted,
    ListTasksRequest,
    Message,
    Part,
    PushConfig,
    SendConfiguration,
    SendRequest,
    Task,
    TaskRequest,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import STREAMING, Operation
from inspector.protocol.selection import select

PROTOS = Path(inspector.protocol.bindings.__file__).with_name("proto")
TRAVELLING = [dialect for dialect in ALL if dialect.service is not None]
TRACE = re.compile(r"compressed=0 len=(\d+) hex=([0-9a-f]*)\n +([\w.]+) \(protojson\): (.*)\n")
DETAILS = re.compile(r"grpc-status-details-bin: (b['\"].*)\n")


RECORDED = [path for path in recordings("grpc") if TRACE.search(path.read_text())]


def v1() -> Dialect:
    found = for_interface("1.0", "GRPC")
    assert found is not None
    return found


def whole_messages(path: Path) -> list[tuple[str, bytes, Any]]:
    """The messages of a recording that contains all of their bytes: type, bytes, and JSON."""
    found = TRACE.findall(path.read_text())
    return [
        (kind, bytes.fromhex(raw), json.loads(text)) for size, raw, kind, text in found if int(size) * 2 == len(raw)
    ]


def spelled_as_we_do(value: Any) -> Any:
    """0.2 had another JSON name for one field; on the wire there are numbers only."""
    if isinstance(value, dict) and "request" in value:
        return {"message" if name == "request" else name: member for name, member in value.items()}
    return value


@pytest.mark.parametrize("path", RECORDED, ids=name_of)
def test_recorded_messages_read_as_the_official_sdk_reads_them(path: Path):
    service = dialect_of(path).service
    assert service is not None
    for kind, raw, expected in whole_messages(path):
        value = protobuf.read(service.descriptors, kind, raw)
        assert value == spelled_as_we_do(expected)
        assert protobuf.read(service.descriptors, kind, protobuf.write(service.descriptors, kind, value)) == value


def test_there_are_recorded_messages_of_every_version():
    counted = Counter(path.parts[-3] for path in RECORDED for _ in whole_messages(path))
    assert all(counted[version] >= 20 for version in ("02", "03", "10")), counted


@pytest.mark.parametrize("name", sorted(path.stem for path in PROTOS.glob("*.proto")))
def test_the_descriptor_sets_match_the_proto_files(name: str, tmp_path: Path):
    includes = [f"-I{PROTOS}", f"-I{Path(protoc.__file__).with_name('_proto')}"]
    made = tmp_path / "made.binpb"
    status = protoc.main(["protoc", "--include_imports", *includes, f"--descriptor_set_out={made}", f"{name}.proto"])
    assert status == 0
    fresh, kept = (FileDescriptorSet.FromString(file.read_bytes()) for file in (made, PROTOS / f"{name}.binpb"))
    assert kept.file[-1] == fresh.file[-1]
    assert [file.name for file in kept.file] == [file.name for file in fresh.file]


@pytest.mark.parametrize("dialect", TRAVELLING, ids=lambda dialect: dialect.version)
def test_every_method_has_the_types_of_the_proto(dialect: Dialect):
    assert dialect.service is not None
    files = FileDescriptorSet.FromString((PROTOS / f"{dialect.service.descriptors}.binpb").read_bytes()).file
    methods = {method.name: method for method in files[-1].service[0].method}
    package = files[-1].package
    for operation, spelled in dialect.service.methods.items():
        method = methods[spelled.name]
        names = [name if "." in name else f"{package}.{name}" for name in (spelled.request, spelled.response)]
        assert [f".{name}" for name in names] == [method.input_type, method.output_type]
        assert method.server_streaming == (operation in STREAMING)
    assert methods.keys() == {spelled.name for spelled in dialect.service.methods.values()}


def test_types_are_not_added_to_the_default_pool():
    from google.protobuf import descriptor_pool

    protobuf.message_class("v1_0", "Task")
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("lf.a2a.v1.Task")


# ── the call ──


def test_a_send_has_the_path_headers_and_message_of_its_version():
    request = SendRequest(message=Message(message_id="m", role="ROLE_USER", parts=[Part(text="hi")]))
    call = grpc.encode("127.0.0.1:5000", v1(), Operation.SEND, request, "1")
    assert call == GrpcRequest(
        "127.0.0.1:5000",
        "/lf.a2a.v1.A2AService/SendMessage",
        {"a2a-version": "1.0"},
        bytes.fromhex("120b0a016d20012a040a026869"),
        streaming=False,
    )
    assert call.url == "http://127.0.0.1:5000/lf.a2a.v1.A2AService/SendMessage"


def test_a_stream_of_opvs_uses_the_service_and_header_of_opvs():
    dialect = for_interface("opvs", "GRPC")
    assert dialect is not None
    call = grpc.encode("https://a.example", dialect, Operation.SUBSCRIBE, TaskRequest(id="t"), "1")
    assert call.path == "/lf.a2a.v1.OPVSService/SubscribeToTask"
    assert call.metadata["opvs-version"] == "1.0"
    assert call.streaming
    assert call.tls


def test_a_0_3_task_is_requested_by_its_resource_name():
    dialect = for_interface("0.3.0", "GRPC")
    assert dialect is not None
    call = grpc.encode("a:1", dialect, Operation.SUBSCRIBE, TaskRequest(id="T-1"), "1")
    assert (call.path, call.body) == ("/a2a.v1.A2AService/TaskSubscription", b"\n\ttasks/T-1")


def test_data_can_be_any_json_value():
    parts = [Part(data=value) for value in ({"a": [1, None, True]}, [], "text", 2.5, None)]
    request = SendRequest(message=Message(message_id="m", role="ROLE_USER", parts=parts))
    body = grpc.encode("a:1", v1(), Operation.SEND, request, "1").body
    shown = json.loads(grpc.show(v1(), Operation.SEND, body, True))
    assert [part["data"] for part in shown["message"]["parts"]] == [{"a": [1.0, None, True]}, [], "text", 2.5, None]


@pytest.mark.parametrize(
    ("operation", "request_", "said"),
    [
        (Operation.SEND, SendRequest(message=Message(message_id="m", parts=[Part(raw="not base64")])), "raw"),
        (Operation.SEND, SendRequest(message=Message(message_id="m", role="ROLE_NOBODY")), "ROLE_NOBODY"),
        (Operation.SEND, SendRequest(configuration=SendConfiguration(history_length=2**40)), "historyLength"),
        (Operation.LIST, ListTasksRequest(status_timestamp_after="yesterday"), "statusTimestampAfter"),
        (Operation.GET, TaskRequest.model_validate({"id": "t", "strange": 1}), "strange"),
        (Operation.GET, TaskRequest(id="\ud800"), "GetTaskRequest of A2A 1.0"),
    ],
)
def test_an_unknown_member_is_a_usage_error_with_its_name(operation: Operation, request_: Any, said: str):
    with pytest.raises(FaultError) as refused:
        grpc.encode("a:1", v1(), operation, request_, "1")
    assert said in refused.value.fault.seen
    assert refused.value.fault.whose is Whose.YOURS


@pytest.mark.parametrize(
    ("url", "beside", "target", "tls"),
    [
        ("127.0.0.1:5000", "", "127.0.0.1:5000", False),
        ("127.0.0.1:5000", "https://card.example/", "127.0.0.1:5000", False),
        ("localhost:5000", "https://card.example/", "localhost:5000", False),
        ("agent.example:5000", "", "agent.example:5000", False),
        ("agent.example:5000", "http://card.example/", "agent.example:5000", False),
        ("agent.example:5000", "https://card.example/", "agent.example:5000", True),
        ("agent.example:443", "", "agent.example:443", True),
        ("agent.example", "https://card.example/", "agent.example:443", True),
        ("[::1]:5000", "https://card.example/", "[::1]:5000", False),
        ("grpc://a:1", "https://card.example/", "a:1", False),
        ("grpcs://a:1", "", "a:1", True),
        ("http://a:1/path", "https://card.example/", "a:1", False),
        ("https://user:word@a/path?x", "", "a:443", True),
        ("unix:5", "", "unix:5", False),
    ],
)
def test_a_url_determines_the_target_and_tls(url: str, beside: str, target: str, tls: bool):
    call = grpc.encode(grpc.complete_url(url, beside), v1(), Operation.GET, TaskRequest(id="t"), "1")
    assert (call.target, call.tls) == (target, tls)


@pytest.mark.parametrize("url", ["", "unix:///run/secret.sock", "a:99999", "http://[1:2", "ftp://a:1", "host:port"])
def test_an_invalid_url_is_a_fault_of_the_agent(url: str):
    with pytest.raises(FaultError, match="not a valid URL for gRPC"):
        grpc.encode(grpc.complete_url(url, "https://a/"), v1(), Operation.GET, TaskRequest(id="t"), "1")


def test_an_interface_of_a_card_is_chosen_for_grpc():
    value = {"name": "a", "supportedInterfaces": [{"url": "a:1", "protocolBinding": "grpc", "protocolVersion": "1.0"}]}
    card = v1().decode_card(value)
    assert not isinstance(card, Unreadable)
    choice = select(card)
    assert choice is not None
    assert choice.binding is grpc.BINDING


# ── the answer ──


def answer(operation: Operation, value: Any) -> Any:
    service = v1().service
    assert service is not None
    raw = protobuf.write(service.descriptors, service.methods[operation].response, value)
    read = grpc.read(v1(), operation, raw)
    return grpc.decode_answer(v1(), operation, 200, read)


def test_answers_are_read_as_the_canonical_objects():
    task = {"id": "t", "status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-01T00:00:00Z"}}
    assert answer(Operation.GET, task) == Task.model_validate(task)
    assert answer(Operation.SEND, {"task": task}) == Task.model_validate(task)
    assert answer(Operation.LIST, {}).tasks == []
    assert answer(Operation.DELETE_PUSH, {}) == Deleted()
    assert answer(Operation.SET_PUSH, {"taskId": "t", "url": "http://w"}) == PushConfig(task_id="t", url="http://w")
    assert answer(Operation.EXTENDED_CARD, {"name": "n"}).name == "n"


def test_an_empty_response_is_unreadable_if_a_result_is_expected():
    assert isinstance(answer(Operation.SEND, {}), Unreadable)


def test_an_item_of_a_stream_is_read_as_its_event():
    status = {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
    raw = protobuf.write("v1_0", "StreamResponse", {"statusUpdate": status})
    item = grpc.decode_item(v1(), grpc.read(v1(), Operation.STREAM, raw))
    assert item == TaskStatusUpdateEvent.model_validate(status)


def test_a_state_that_is_unknown_in_the_proto_is_unreadable():
    raw = protobuf.write("v1_0", "Task", {"id": "t", "status": {"state": 99}})
    read = grpc.read(v1(), Operation.GET, raw)
    assert read["status"]["state"] == 99
    assert isinstance(grpc.decode_answer(v1(), Operation.GET, 200, read), Unreadable)


# ── errors ──


def info(reason: str) -> bytes:
    kind = protobuf.message_class("status", "ErrorInfo")
    status = protobuf.message_class("status", "Status")(code=9, message="no")
    status.details.add(
        type_url="type.googleapis.com/google.rpc.ErrorInfo",
        value=kind(reason=reason, domain="a2a-protocol.org", metadata={"a": "b"}).SerializeToString(),
    )
    status.details.add(type_url="type.googleapis.com/who.knows.What", value=b"\x00\xff")
    return status.SerializeToString()


@pytest.mark.parametrize("spell", [bytes, b64encode, lambda raw: b64encode(raw).rstrip(b"="), lambda raw: b"\0" + raw])
def test_the_details_of_an_error_are_read_in_every_encoding(spell: Any):
    error = grpc.decode_error(9, "no", spell(info("TASK_NOT_CANCELABLE")))
    assert (error.code, error.name, error.message) == (-32002, "TaskNotCancelableError", "no")
    assert error.data == [
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "TASK_NOT_CANCELABLE",
            "domain": "a2a-protocol.org",
            "metadata": {"a": "b"},
        },
        {"@type": "type.googleapis.com/who.knows.What", "value": "AP8="},
    ]


def test_recorded_details_identify_a2a_errors():
    reasons = set()
    for path in recordings("grpc"):
        for literal in DETAILS.findall(path.read_text()):
            raw = ast.literal_eval(literal)
            error = grpc.decode_error(raw[2], "", raw)
            assert error.code is not None
            reasons.add(error.name)
    assert {"TaskNotFoundError", "TaskNotCancelableError", "InvalidParamsError"} <= reasons


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (12, "TaskNotCancelableError: no", ProtocolError(-32002, "TaskNotCancelableError: no")),
        (5, "TaskNotFoundError: Task not found", ProtocolError(-32001, "TaskNotFoundError: Task not found")),
        (5, "no such thing", ProtocolError(None, "no such thing", called="NOT_FOUND")),
        (16, "", ProtocolError(None, "", called="UNAUTHENTICATED")),
        (77, "?", ProtocolError(None, "?", called="77")),
        (-1, "?", ProtocolError(None, "?", called="-1")),
    ],
)
def test_an_error_without_details_is_identified_by_name_or_status(code: int, message: str, expected: ProtocolError):
    assert grpc.decode_error(code, message, b"") == expected


OLDER = [("0.2", "GRPC"), ("0.3", "GRPC")]
NEWER = [("1.0", "GRPC"), ("opvs", "GRPC")]


@pytest.mark.parametrize(
    ("versions", "status", "operation", "message", "expected"),
    [
        (OLDER + NEWER, "NOT_FOUND", Operation.GET, "Task not found: nope", "TaskNotFoundError"),
        (OLDER + NEWER, "NOT_FOUND", Operation.SEND, "", "TaskNotFoundError"),
        (OLDER + NEWER, "NOT_FOUND", Operation.DELETE_PUSH, "", "TaskNotFoundError"),
        (OLDER + NEWER, "NOT_FOUND", Operation.EXTENDED_CARD, "", "NOT_FOUND"),
        (OLDER + NEWER, "FAILED_PRECONDITION", Operation.CANCEL, "it has ended", "TaskNotCancelableError"),
        (OLDER + NEWER, "FAILED_PRECONDITION", Operation.EXTENDED_CARD, "", "ExtendedAgentCardNotConfiguredError"),
        (OLDER + NEWER, "FAILED_PRECONDITION", Operation.SEND, "", "FAILED_PRECONDITION"),
        (OLDER, "FAILED_PRECONDITION", Operation.SET_PUSH, "", "FAILED_PRECONDITION"),
        (NEWER, "FAILED_PRECONDITION", Operation.SET_PUSH, "", "PushNotificationNotSupportedError"),
        (OLDER + NEWER, "UNIMPLEMENTED", Operation.SET_PUSH, "No push here", "PushNotificationNotSupportedError"),
        (OLDER + NEWER, "UNIMPLEMENTED", Operation.STREAM, "No streaming", "UnsupportedOperationError"),
        (OLDER + NEWER, "UNIMPLEMENTED", Operation.GET, "no", "UNIMPLEMENTED"),
        (OLDER + NEWER, "UNIMPLEMENTED", Operation.LIST_PUSH, "Method not implemented!", "UNIMPLEMENTED"),
        (OLDER + NEWER, "UNIMPLEMENTED", Operation.LIST_PUSH, "Method not found!", "UNIMPLEMENTED"),
        (OLDER + NEWER, "UNIMPLEMENTED", Operation.STREAM, "unknown service a2a.v1.A2AService", "UNIMPLEMENTED"),
        (OLDER, "INVALID_ARGUMENT", Operation.GET, "bad", "InvalidParamsError"),
        (OLDER, "INVALID_ARGUMENT", Operation.SEND, "bad", "INVALID_ARGUMENT"),
        (OLDER, "INTERNAL", Operation.SEND, "bad", "InternalError"),
        (NEWER, "INTERNAL", Operation.SEND, "bad", "INTERNAL"),
    ],
)
def test_a_status_with_one_meaning_for_the_operation_identifies_the_error(
    versions: list[tuple[str, str]], status: str, operation: Operation, message: str, expected: str
):
    for version in versions:
        error = grpc.decode_error(grpc.STATUSES.index(status), message, b"", for_request(*version), operation)
        assert (version, error.name, error.message) == (version, expected, message)


def test_a_reason_that_is_not_an_a2a_error_is_not_replaced_by_the_meaning_of_the_status():
    details = info("QUOTA_EXHAUSTED")
    assert grpc.decode_error(5, "x", details, for_request("1.0", "GRPC"), Operation.GET).name == "QUOTA_EXHAUSTED"


def test_an_unknown_reason_is_the_name_of_the_error():
    assert grpc.decode_error(9, "x", info("OUT_OF_CHEESE")).name == "OUT_OF_CHEESE"


# ── strangers ──


@given(raw=st.binary(max_size=200), number=st.integers(0, len(TRAVELLING) - 1), operation=st.sampled_from(Operation))
def test_any_bytes_are_read_or_unreadable(raw: bytes, number: int, operation: Operation):
    dialect = TRAVELLING[number]
    if not grpc.BINDING.offers(dialect, operation):
        return
    value = grpc.read(dialect, operation, raw)
    if not isinstance(value, Unreadable):
        json.dumps(value)
        grpc.decode_answer(dialect, operation, 200, value)
        grpc.decode_item(dialect, value)
    for asked in (True, False):
        assert isinstance(grpc.show(dialect, operation, raw, asked), bytes)
        assert grpc.mask(dialect, operation, raw, asked, lambda text: text) == raw


@given(raw=st.binary(max_size=200), code=st.integers(-5, 30), message=st.text(max_size=20))
def test_any_details_make_an_error(raw: bytes, code: int, message: str):
    assert isinstance(grpc.decode_error(code, message, raw), ProtocolError)


def damaged(path: Path) -> list[tuple[str, bytes]]:
    return [
        (kind, raw[:at] + bytes([raw[at] ^ 0x55]) + raw[at + 1 :])
        for kind, raw, _ in whole_messages(path)[:3]
        for at in range(0, len(raw), 7)
    ]


@pytest.mark.parametrize("path", [path for path in RECORDED if "mixed" in path.stem], ids=name_of)
def test_recorded_messages_with_a_damaged_byte_are_read_or_unreadable(path: Path):
    service = dialect_of(path).service
    assert service is not None
    outcomes = [protobuf.read(service.descriptors, kind, raw) for kind, raw in damaged(path)]
    assert any(isinstance(outcome, Unreadable) for outcome in outcomes)
    assert any(isinstance(outcome, dict) for outcome in outcomes)


@pytest.mark.parametrize(
    ("kind", "raw", "why"),
    [
        ("Task", b"\x0a\x02\xff\xfe", "not a valid lf.a2a.v1.Task message"),
        ("Task", b"\x0a\x05abc", "not a valid lf.a2a.v1.Task message"),
        ("TaskStatus", bytes.fromhex("1a0b08ffffffffffffffff7f"), "not a valid lf.a2a.v1.TaskStatus message"),
        ("TaskStatus", bytes.fromhex("1a0808ffffffffffff7f"), "cannot be represented in JSON"),
        ("Part", bytes.fromhex("220911000000000000f87f"), "cannot be represented in JSON"),
    ],
    ids=["text that is not UTF-8", "cut", "cut inside", "a date after the year 9999", "NaN in data"],
)
def test_values_that_json_cannot_represent_are_unreadable(kind: str, raw: bytes, why: str):
    value = protobuf.read("v1_0", kind, raw)
    assert isinstance(value, Unreadable)
    assert why in value.why


def test_messages_nested_too_deeply_are_unreadable():
    raw = b""
    for _ in range(150):  # a list in a list
        inner = b"\x0a" + varint(len(raw)) + raw if raw else b""
        raw = b"\x32" + varint(len(inner)) + inner
    value = protobuf.read("v1_0", "Part", b"\x22" + varint(len(raw)) + raw)
    assert isinstance(value, Unreadable)


def varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


@pytest.mark.parametrize("nested", [False, True])
def test_a_message_with_too_many_fields_is_rejected_before_memory_is_allocated(nested: bool):
    parts = b"\x22\x00" * (MOST_CONTAINERS + 10)
    raw = b"\x22" + varint(len(parts)) + parts if nested else parts
    value = protobuf.read("v1_0", "Task", raw)
    assert isinstance(value, Unreadable)
    assert value.why == "more than 200,000 fields"


def test_a_large_file_is_not_counted_as_many_fields():
    raw = protobuf.write("v1_0", "Part", {"raw": b64encode(b"\x22\x00" * (MOST_CONTAINERS + 10)).decode()})
    assert set(protobuf.read("v1_0", "Part", raw)) == {"raw"}


# ── a server's side ──


def test_a_request_is_read_as_it_was_written():
    request = SendRequest(message=Message(message_id="m", role="ROLE_USER", parts=[Part(data={"n": 1.0})]))
    raw = grpc.encode("a:1", v1(), Operation.SEND, request, "1").body
    assert v1().decode_request(Operation.SEND, grpc.read(v1(), Operation.SEND, raw, is_request=True)) == request
    assert isinstance(grpc.read(v1(), Operation.SEND, b"\xff\xff", is_request=True), Unreadable)


def test_a_response_is_written_without_unknown_members():
    raw = grpc.write_answer(v1(), Operation.GET, {"id": "t", "invented": {"x": 1}})
    assert grpc.read(v1(), Operation.GET, raw) == {"id": "t"}
    assert grpc.write_answer(v1(), Operation.DELETE_PUSH, None) == b""
    with pytest.raises(ValueError, match="id"):
        grpc.write_answer(v1(), Operation.GET, {"id": 5})


@pytest.mark.parametrize("kind", BY_NAME.values(), ids=list(BY_NAME))
def test_an_error_is_read_as_it_was_written(kind: ErrorKind):
    code, details = grpc.encode_error(kind, "why", kind.grpc)
    assert grpc.STATUSES[code] == kind.grpc
    assert grpc.decode_error(code, "why", details) == ProtocolError(kind.code, "why", [kind.info()])


# ── secrets ──


def star(text: bytes) -> bytes:
    return text.replace(b"secret-word", b"****")


def test_a_secret_is_masked_inside_of_its_message():
    request = SendRequest(message=Message(message_id="m", role="ROLE_USER", parts=[Part(text="say secret-word")]))
    raw = grpc.encode("a:1", v1(), Operation.SEND, request, "1").body
    masked = grpc.mask(v1(), Operation.SEND, raw, True, star)
    assert b"secret" not in masked
    assert json.loads(grpc.show(v1(), Operation.SEND, masked, True))["message"]["parts"] == [{"text": "say ****"}]


def test_a_message_without_a_secret_keeps_its_bytes():
    raw = protobuf.write("v1_0", "Task", {"id": "t"}) + b"\xaa\x06\x01x"  # and a field that we do not know
    assert grpc.mask(v1(), Operation.GET, raw, False, star) == raw


def test_a_mask_that_is_invalid_in_a_message_results_in_json():
    raw = protobuf.write("v1_0", "Task", {"id": "t", "status": {"timestamp": "2026-01-01T00:00:00Z"}})
    masked = grpc.mask(v1(), Operation.GET, raw, False, lambda text: text.replace(b"2026-01-01", b"****"))
    assert masked == b'{"id":"t","status":{"timestamp":"****T00:00:00Z"}}'
    assert grpc.show(v1(), Operation.GET, masked, False) == masked


def test_bytes_that_are_not_a_message_are_masked_directly():
    assert grpc.mask(v1(), Operation.GET, b"\xffsecret-word", False, star) == b"\xff****"


@pytest.mark.parametrize(("domain", "code"), [("agent.example", None), ("a2a-protocol.org", -32603)])
def test_a_reason_of_another_domain_does_not_identify_an_error_of_a2a(domain: str, code: int | None):
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "INTERNAL_ERROR", "domain": domain}
    details = protobuf.write("status", "Status", {"code": 14, "message": "busy", "details": [info]})
    assert grpc.decode_error(14, "busy", details, v1_0.DIALECT, Operation.GET).code == code
