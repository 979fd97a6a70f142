"""Every rule: violations, valid payloads, and the form of its texts."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from inspector.findings.finding import Finding, Severity
from inspector.findings.rules import DEFINED_RULES, RULES, finding
from inspector.findings.transport.jsonrpc import ENVELOPE
from inspector.findings.transport.judge import judge_payload
from inspector.findings.transport.payload import Payload
from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.dialects import v1_0
from inspector.protocol.errors import BY_NAME
from inspector.protocol.model import Unreadable
from inspector.protocol.operations import Operation

ID = "the-id"


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: member for name, member in value.items() if name not in names}


def rpc(value: Any, **members: Any) -> tuple[Finding, ...]:
    """Check a response over JSON-RPC."""
    operation = members.get("operation", Operation.SEND)
    answer = (
        value if isinstance(value, Unreadable) else jsonrpc.BINDING.decode_answer(v1_0.DIALECT, operation, 200, value)
    )
    return judge_payload(payload("JSONRPC", value, answer, **members))


def http(status: int, value: Any, **members: Any) -> tuple[Finding, ...]:
    """Check a response over HTTP+JSON."""
    answer = value
    if not isinstance(value, Unreadable):
        answer = rest.BINDING.decode_answer(v1_0.DIALECT, Operation.SEND, status, value)
    return judge_payload(payload("HTTP+JSON", value, answer, **({"status": status} | members)))


def payload(binding: str, value: Any, answer: Any, **members: Any) -> Payload:
    usual = {
        "binding": binding,
        "version": "1.0",
        "request_id": ID,
        "status": 200,
        "content_type": "application/json",
    }
    return Payload(value=value, answer=answer, **(usual | {"framed": False, "operation": Operation.SEND} | members))


MESSAGE = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}}
RESULT = {"jsonrpc": "2.0", "id": ID, "result": MESSAGE}
NOT_FOUND: dict[str, Any] = {
    "error": {
        "code": 404,
        "status": "NOT_FOUND",
        "message": "no such task",
        "details": [BY_NAME["TaskNotFoundError"].info()],
    }
}


def changed(**members: Any) -> dict[str, Any]:
    return {"error": NOT_FOUND["error"] | members}


STREAMED = b'data: {"jsonrpc": "2.0"}\n\n'


def foreign_error(code: int, word: str, detail: str) -> dict[str, Any]:
    """Return an error that A2A does not define."""
    details = [{"@type": f"type.googleapis.com/google.rpc.{detail}"}]
    return {"error": {"code": code, "status": word, "message": "x", "details": details}}


FRAMED = {"framed": True, "operation": Operation.STREAM, "content_type": "text/event-stream"}
Check = Callable[[], tuple[Finding, ...]]

VIOLATIONS: dict[str, list[Check]] = {
    "STREAM-007": [
        lambda: rpc(Unreadable("{", "breaks off"), **FRAMED),
        lambda: http(200, Unreadable("", "HTML"), **FRAMED),
    ],
    "RPC-001": [
        lambda: rpc(RESULT | {"id": "other"}),
        lambda: rpc(without(RESULT, "id")),
        lambda: rpc(RESULT | {"id": 1}),
        lambda: rpc({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}}),
    ],
    "RPC-006": [
        lambda: rpc(RESULT | {"error": None}),
        lambda: rpc({"jsonrpc": "2.0", "id": ID, "result": None, "error": {"code": 1, "message": "x"}}),
    ],
    "RPC-002": [
        lambda: rpc([]),
        lambda: rpc({}),
        lambda: rpc(Unreadable("", "empty")),
        lambda: rpc(RESULT | {"error": {"code": 1, "message": "x"}}),
        lambda: rpc(without(RESULT, "jsonrpc")),
        lambda: rpc({"jsonrpc": "2.0", "id": ID, "error": {"code": "1", "message": "x"}}),
        lambda: rpc({"jsonrpc": "2.0", "id": ID, "error": "oops"}, **FRAMED),
    ],
    "RPC-003": [lambda: rpc(RESULT | {"result": None})],
    "RPC-004": [lambda: rpc(RESULT, operation=Operation.STREAM)],
    "RPC-005": [
        lambda: rpc(RESULT, content_type="text/plain"),
        lambda: rpc(RESULT, content_type=""),
        lambda: rpc(RESULT, charset="iso-8859-1"),
        lambda: rpc(RESULT, content_type="application/a2a+json"),
        lambda: rpc(Unreadable("", "x"), raw=STREAMED, operation=Operation.STREAM, content_type="text/plain"),
        lambda: rpc(Unreadable("", "x"), raw=b'{"a": 1}\n{"b": 2}\n', operation=Operation.STREAM),
    ],
    "HTTP-001": [
        lambda: http(200, MESSAGE, content_type="text/plain"),
        lambda: http(404, NOT_FOUND, content_type=""),
        lambda: http(200, Unreadable("", "x"), raw=STREAMED, operation=Operation.STREAM, content_type=""),
    ],
    "HTTP-002": [lambda: http(404, changed(details=[])), lambda: http(404, changed(details=None))],
    "HTTP-010": [lambda: http(404, NOT_FOUND["error"])],
    "HTTP-003": [
        lambda: http(500, changed(code=500)),
        lambda: http(404, changed(code=400)),
        lambda: http(404, changed(status="INTERNAL")),
    ],
    "HTTP-004": [lambda: http(200, NOT_FOUND)],
    "HTTP-005": [
        lambda: http(200, Unreadable("", "empty")),
        lambda: http(404, Unreadable("", "HTML")),
        lambda: http(500, {"error": "oops"}),
    ],
    "HTTP-007": [
        lambda: rpc(RESULT, status=503),
        lambda: rpc(RESULT, **(FRAMED | {"status": 500})),
    ],
    "DATA-023": [
        lambda: rpc(RESULT, raw=b'{"id": 1, "result": {"a": 1, "a": 2}}'),
        lambda: http(200, MESSAGE, raw=b'{"a": 1, "a": 1}'),
    ],
    "DATA-025": [
        lambda: rpc(RESULT, raw=b'{"id": 1, "result": {"a": "\\ud800"}}'),
        lambda: http(200, MESSAGE, raw=b'{"a": "\\udc00\\ud83d"}'),
        lambda: http(200, MESSAGE, raw=b'{"\\ud83d": 1}'),
    ],
    "HTTP-006": [lambda: http(200, MESSAGE, operation=Operation.STREAM)],
}
"""Payloads that violate each rule, and no other rule."""

VALID: dict[str, list[Check]] = {
    "RPC": [
        lambda: rpc(RESULT),
        lambda: rpc(RESULT, **FRAMED),
        lambda: rpc({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "x"}}),
        lambda: rpc({"jsonrpc": "2.0", "id": ID, "error": {"code": 1, "message": "x"}}, **FRAMED),
        lambda: tuple(ENVELOPE.judge(payload("JSONRPC", RESULT | {"error": None}, None, version="0.1"))),
        lambda: rpc({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "x"}}, status=503),
    ],
    "HTTP": [
        lambda: http(200, MESSAGE),
        lambda: http(200, MESSAGE, charset="utf-8"),
        lambda: http(201, MESSAGE, content_type="application/a2a+json"),
        lambda: http(200, MESSAGE, **FRAMED),
        lambda: http(404, NOT_FOUND),
        lambda: http(404, {"message": "TaskNotFoundError"}, version="0.3"),
        lambda: http(404, NOT_FOUND["error"] | {"type": "about:blank"}),
        lambda: http(400, foreign_error(400, "INVALID_ARGUMENT", "BadRequest")),
        lambda: http(429, foreign_error(429, "RESOURCE_EXHAUSTED", "RetryInfo")),
        lambda: http(429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "later"}}),
    ],
}
"""Payloads that violate no rule of a family."""


@pytest.mark.parametrize(("rule", "check"), [(rule, check) for rule, checks in VIOLATIONS.items() for check in checks])
def test_only_the_violated_rule_has_findings(rule: str, check: Check):
    found = check()
    assert {item.rule for item in found} == {rule}
    for item in found:
        assert item.severity is RULES[rule].severity
        assert item.seen
        assert item.pointer == "" or item.pointer.startswith("/")


@pytest.mark.parametrize(("family", "check"), [(family, check) for family, checks in VALID.items() for check in checks])
def test_valid_payloads_have_no_findings(family: str, check: Check):
    assert check() == ()


def test_every_rule_has_a_passing_and_a_failing_example():
    # Other tests check the examples: tests/session/test_rule_examples.py, tests/session/push/test_session_push.py,
    # test_card_rules.py and test_payload_rules.py.
    assert [rule.id for rule in RULES.values() if rule.failing is None or rule.passing is None] == []


def test_each_id_is_used_once():
    assert [rule.id for rule in DEFINED_RULES] == list(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_every_rule_has_a_section_a_requirement_and_a_remedy(rule: Any):
    assert RULES[rule.id] is rule
    assert re.fullmatch(r"[A-Z]+-\d{3}", rule.id)
    assert (
        "§" in rule.section or "Appendix" in rule.section or rule.section.startswith(("OpenAPI", "RFC", "AI Catalog"))
    )
    for sentence in (rule.requirement, rule.remedy):
        assert len(sentence.split()) > 1
        assert sentence.endswith(".")
    assert not rule.title.endswith(".")
    assert isinstance(rule.severity, Severity)


def test_a_finding_has_the_severity_of_its_rule():
    assert finding("CARD-003", "x", "/y") == Finding("CARD-003", Severity.WARNING, "/y", "x")
    with pytest.raises(KeyError):
        finding("NO-000", "x")


def test_every_rule_about_an_exchange_is_declared_before_one_is_checked():
    """`send --capture` loads the judge, but not the table of all rules."""
    script = """
from inspector.findings.rule_set import RuleSet
declared, rule = [], RuleSet.rule
RuleSet.rule = lambda self, name, *rest, **named: declared.append(name) or rule(self, name, *rest, **named)
import inspector.findings.stream.judge
before = set(declared)
from inspector.findings.rules import EXCHANGE_RULES
print(*({rule.id for rule in EXCHANGE_RULES} - before))
"""
    ran = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "\n"
