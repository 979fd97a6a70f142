"""The table of errors agrees with the specification (1.0.1 sections 5.4 and 9.5) and with what SDKs send."""

from __future__ import annotations

import pytest
from recordings import exchanges, recordings

from inspector.protocol.dialects import v0_1
from inspector.protocol.errors import (
    BY_CODE,
    BY_NAME,
    BY_REASON,
    Fault,
    FaultCode,
    FaultError,
    ProtocolError,
    Whose,
    named_in,
)
from inspector.protocol.jsonvalue import parse

TABLE = [
    ("TaskNotFoundError", -32001, 404, "TASK_NOT_FOUND"),
    ("TaskNotCancelableError", -32002, 400, "TASK_NOT_CANCELABLE"),
    ("PushNotificationNotSupportedError", -32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    ("UnsupportedOperationError", -32004, 400, "UNSUPPORTED_OPERATION"),
    ("ContentTypeNotSupportedError", -32005, 400, "CONTENT_TYPE_NOT_SUPPORTED"),
    ("InvalidAgentResponseError", -32006, 500, "INVALID_AGENT_RESPONSE"),
    ("ExtendedAgentCardNotConfiguredError", -32007, 400, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    ("ExtensionSupportRequiredError", -32008, 400, "EXTENSION_SUPPORT_REQUIRED"),
    ("VersionNotSupportedError", -32009, 400, "VERSION_NOT_SUPPORTED"),
    ("TaskGenerationMismatchError", -32010, 409, "TASK_GENERATION_MISMATCH"),
    ("JSONParseError", -32700, 400, "PARSE_ERROR"),
    ("InvalidRequestError", -32600, 400, "INVALID_REQUEST"),
    ("MethodNotFoundError", -32601, 404, "METHOD_NOT_FOUND"),
    ("InvalidParamsError", -32602, 400, "INVALID_PARAMS"),
    ("InternalError", -32603, 500, "INTERNAL_ERROR"),
]


@pytest.mark.parametrize(("name", "code", "http", "reason"), TABLE)
def test_an_error_has_its_code_status_and_reason(name: str, code: int, http: int, reason: str) -> None:
    kind = BY_CODE[code]
    assert kind is BY_NAME[name]
    assert (kind.name, kind.code, kind.http, kind.reason) == (name, code, http, reason)
    assert kind.meaning
    assert ProtocolError(code, "words").name == name


def test_the_table_contains_all_errors() -> None:
    assert set(BY_CODE) == {code for _, code, _, _ in TABLE}
    assert set(BY_NAME) == {name for name, *_ in TABLE}


@pytest.mark.parametrize("code", [None, 0, -32000, -32011, 404])
def test_an_unknown_code_is_an_error(code: int | None) -> None:
    assert ProtocolError(code, "").name == "Error"


def test_the_reasons_of_the_sdk_are_in_the_table() -> None:
    seen = set()
    for path in recordings("jsonrpc", "probes"):
        for exchange in exchanges(path):
            for value in map(parse, [exchange.response.body, *exchange.response.frames]):
                error = value.get("error") if isinstance(value, dict) else None
                data = error.get("data") if isinstance(error, dict) else None
                infos = [detail for detail in data if "reason" in detail] if isinstance(data, list) else []
                seen |= {(error["code"], info["reason"]) for info in infos}
    assert len(seen) >= 6
    assert seen <= {(code, reason) for _, code, _, reason in TABLE}


def test_a_fault_is_one_line_with_its_hint() -> None:
    fault = Fault(Whose.NETWORK, FaultCode.UNREACHABLE, "Nothing listens there.", "Start the agent.")
    assert fault.sentence() == "Nothing listens there. Start the agent."
    assert Fault(Whose.AGENT, "TaskNotFoundError", "No such task.").sentence() == "No such task."
    assert str(FaultError(fault)) == fault.sentence()
    assert FaultError(fault).fault is fault


MAPPED_1_0_0 = {
    "TaskNotFoundError": (404, "NOT_FOUND"),
    "TaskNotCancelableError": (409, "FAILED_PRECONDITION"),
    "PushNotificationNotSupportedError": (400, "UNIMPLEMENTED"),
    "UnsupportedOperationError": (400, "UNIMPLEMENTED"),
    "ContentTypeNotSupportedError": (415, "INVALID_ARGUMENT"),
    "InvalidAgentResponseError": (502, "INTERNAL"),
    "ExtendedAgentCardNotConfiguredError": (400, "FAILED_PRECONDITION"),
    "ExtensionSupportRequiredError": (400, "FAILED_PRECONDITION"),
    "VersionNotSupportedError": (400, "UNIMPLEMENTED"),
}
MAPPED_1_0_1 = MAPPED_1_0_0 | {
    "TaskNotCancelableError": (400, "FAILED_PRECONDITION"),
    "PushNotificationNotSupportedError": (400, "FAILED_PRECONDITION"),
    "UnsupportedOperationError": (400, "FAILED_PRECONDITION"),
    "ContentTypeNotSupportedError": (400, "INVALID_ARGUMENT"),
    "InvalidAgentResponseError": (500, "INTERNAL"),
    "VersionNotSupportedError": (400, "FAILED_PRECONDITION"),
}


@pytest.mark.parametrize("name", MAPPED_1_0_0)
def test_both_releases_of_1_0_map_an_error_to_statuses(name: str) -> None:
    kind, (http, grpc) = BY_NAME[name], MAPPED_1_0_0[name]
    assert (kind.before or (kind.http, kind.grpc)) == (http, grpc)
    assert (kind.http, kind.grpc) == MAPPED_1_0_1[name]
    assert kind.http_statuses == {http, kind.http}
    assert kind.grpc_statuses == {grpc, kind.grpc}


def test_an_error_is_found_by_its_reason_and_by_the_start_of_a_message() -> None:
    for kind in BY_NAME.values():
        assert BY_REASON[kind.reason] is kind
        assert named_in(f"{kind.name}: some words") is named_in(kind.name) is kind
    former = named_in("AuthenticatedExtendedCardNotConfiguredError: none")
    assert former is BY_NAME["ExtendedAgentCardNotConfiguredError"]
    assert named_in("Task not found") is named_in("") is None


def test_an_error_has_the_name_of_its_version() -> None:
    for code, name in v0_1.ERROR_NAMES.items():
        assert ProtocolError(code, "", called=name).name == name != ProtocolError(code, "").name
    assert ProtocolError(None, "", status=404, called="Not Found").name == "Not Found"
