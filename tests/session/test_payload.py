"""The payload of a record as JSON text."""

from __future__ import annotations

from base64 import b64encode

import pytest

from inspector.capture.records import Kind, Record
from inspector.protocol.bindings.grpc import DETAILS, encode_error
from inspector.protocol.errors import BY_NAME
from inspector.protocol.jsonvalue import parse
from inspector.session.payload import payload_json

REQUEST = Record(1, 1.0, Kind.REQUEST, 1, "GetTask", meta={"dialect": "1.0", "binding": "GRPC"})
NOT_FOUND = BY_NAME["TaskNotFoundError"]


def status(details: str) -> object:
    meta = {"code": 5, "name": "NOT_FOUND", "message": "no task", "headers": [[DETAILS, details]]}
    return parse(payload_json(Record(2, 1.0, Kind.TRAILERS, 1, "GetTask", meta=meta), REQUEST))


def test_the_status_of_a_grpc_call_has_its_details():
    details = encode_error(NOT_FOUND, "no task", "NOT_FOUND")[1]
    expected = {"code": 5, "status": "NOT_FOUND", "message": "no task", "details": [NOT_FOUND.info()]}
    assert status(b64encode(details).decode()) == expected


@pytest.mark.parametrize("details", ["", "****", "AB****CD", "é", "\ud800"])
def test_details_that_cannot_be_read_are_left_out(details: str):
    assert status(details) == {"code": 5, "status": "NOT_FOUND", "message": "no task"}
