"""The error taxonomy agrees with the specification's table (1.0.1 sections 5.4 and 9.5) and with what SDKs send."""

from __future__ import annotations

import pytest
from recordings import exchanges, recordings

from inspector.protocol.errors import BY_CODE, BY_NAME, Fault, FaultCode, FaultError, ProtocolError, Whose
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


def test_no_error_is_named_beyond_the_table() -> None:
    assert set(BY_CODE) == {code for _, code, _, _ in TABLE}
    assert set(BY_NAME) == {name for name, *_ in TABLE}


@pytest.mark.parametrize("code", [None, 0, -32000, -32010, 404])
def test_a_code_that_nobody_names_is_an_error_all_the_same(code: int | None) -> None:
    assert ProtocolError(code, "").name == "Error"


def test_the_reasons_that_the_sdk_sends_are_those_of_the_table() -> None:
    seen = set()
    for path in recordings("jsonrpc", "probes"):
        for exchange in exchanges(path):
            for value in map(parse, [exchange.response.body, *exchange.response.frames]):
                error = value.get("error") if isinstance(value, dict) else None
                data = error.get("data") if isinstance(error, dict) else None
                infos = [one for one in data if "reason" in one] if isinstance(data, list) else []
                seen |= {(error["code"], one["reason"]) for one in infos}
    assert len(seen) >= 6
    assert seen <= {(code, reason) for _, code, _, reason in TABLE}


def test_a_fault_is_one_line_of_what_was_seen_and_what_to_do() -> None:
    fault = Fault(Whose.NETWORK, FaultCode.UNREACHABLE, "Nothing listens there.", "Start the agent.")
    assert fault.sentence() == "Nothing listens there. Start the agent."
    assert Fault(Whose.AGENT, "TaskNotFoundError", "No such task.").sentence() == "No such task."
    assert str(FaultError(fault)) == fault.sentence()
    assert FaultError(fault).fault is fault
