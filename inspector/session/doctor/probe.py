"""Ask an interface for a task that does not exist: the error shows whether it supports a protocol version."""

from __future__ import annotations

import asyncio
import time
import uuid
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import NamedTuple

from inspector.findings.finding import Finding, Severity
from inspector.findings.rules import RULES
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import Fault, FaultCode, FaultKind, ProtocolError
from inspector.protocol.http_status import DENYING, REDIRECTING, UNROUTED
from inspector.protocol.model import TaskRequest, Unreadable
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.call import Call
from inspector.session.doctor.credentials import demanded_in_words, options_for
from inspector.session.doctor.steps import REFUSED, REJECTED, REQUIRED, Step, path_of, protocol_name
from inspector.session.exchange import Exchange
from inspector.session.hints import CHECK_LOG
from inspector.session.session import Session
from inspector.wire.endpoint import endpoint_of, proxy_of
from inspector.wire.port_protocol import port_protocol, port_remedy

_OTHER_PORT = frozenset({400, 426})
"""The statuses with which servers answer HTTP on a port with TLS, and HTTP/1.1 on a port with HTTP/2 only."""
_OTHER_PLACE = REDIRECTING | {0, 400, 404, 405, 421, 426, 502, 503}
"""The statuses of a response that may come from another server than the agent; 0 for no response."""
_EXPECTED = "TaskNotFoundError"
_WRONG_VERSION = frozenset({"MethodNotFoundError", "VersionNotSupportedError"})
_MOST_FINDINGS = 3


class Probed(NamedTuple):
    """The result of a probe.

    `supported` is whether the interface supports the version, None if unknown; `misplaced` is whether the agent may be
    at another URL; `denied` is the exchange if the response demands credentials; `refused` is whether it may have been
    refused for another reason.
    """

    step: Step
    supported: bool | None
    misplaced: bool = False
    denied: Exchange | None = None
    refused: bool = False


async def probe(session: Session, name: str, choice: Choice, seconds: float) -> Probed:
    """Get a task that does not exist over an interface; `name` is the beginning of the name of the step."""
    request = TaskRequest(id=str(uuid.uuid4()))  # some agents accept only UUIDs
    began = time.perf_counter()
    session.credentials.load_token(session.address(choice))
    call = session.call(Operation.GET, request, choice=choice, label="a task that does not exist")
    exchange = call.exchange
    exchange.probe = True

    def step(passed: bool | None, message: str, remedy: str = "") -> Step:
        took, protocol = time.perf_counter() - began, protocol_name(choice)
        return Step(f"{name} as {protocol}", passed, message, took, remedy, exchange.number, protocol=protocol)

    if not await finish(call, seconds):
        return Probed(step(False, f"no response within {seconds:g} s", CHECK_LOG), None)
    fault, answer = call.fault, exchange.answer
    if isinstance(answer, ProtocolError) and answer.name == _EXPECTED:
        seen = f"returned {_EXPECTED}, as expected"
        errors = findings_of(session, exchange, Severity.ERROR)
        if errors:
            return Probed(step(False, f"{seen}; {in_words(errors)}", remedy_of(errors)), True)
        return Probed(step(True, seen), True)
    status = exchange.status
    if fault is not None and fault.denied:
        return _denied(session, call, fault, step(False, ""))
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Probed(step(None, "too many requests (429)", "Wait, and run the doctor again."), None)
    if fault is None:
        return Probed(step(None, "returned a task that does not exist"), True)
    seen, remedy = fault.seen, fault.hint
    if status and choice.binding.name == "HTTP+JSON" and isinstance(call.wire, HttpRequest):
        seen = f"{seen.removesuffix('.')} ({call.wire.method} {path_of(call.wire.url)})"
        if status == HTTPStatus.NOT_FOUND and isinstance(answer, ProtocolError) and "task" in answer.message.lower():
            return Probed(step(False, f"{seen}, expected {_EXPECTED}", remedy), True)
    if fault.kind is FaultKind.CLIENT_CERTIFICATE:
        remedy = _withheld(session, call.wire.url, choice.binding.name) or remedy
    if found := await other_protocol(call.wire.url, status, fault, grpc=choice.binding.name == "GRPC"):
        seen, remedy = f"{seen} {found[0]}", f"Correct the URL on the card. {found[1]}"
    supported = False if _is_other(exchange) else None
    return Probed(step(False, seen, remedy), supported, status in _OTHER_PLACE)


def _denied(session: Session, call: Call, fault: Fault, step: Step) -> Probed:
    """Return the result of a call that was denied; `step` has the name and the duration of the check."""
    url, connection = call.wire.url, session.connection
    refused = fault.refused and not demanded_in_words(call.exchange)
    result = REJECTED if session.credentials.current.are_for(url) else REFUSED if refused else REQUIRED
    withheld = _withheld(session, url, call.exchange.context.binding.name)
    options = options_for(fault, connection.card if connection else None)
    is_unexplained = fault.kind is FaultKind.UNEXPLAINED_DENIAL
    completed = replace(
        step,
        message=_denial(call, fault, result),
        remedy=withheld or options or fault.hint,
        fault=fault,
        only_options=is_unexplained and not withheld and (bool(options) or not fault.refused),
    )
    return Probed(completed, None, denied=call.exchange, refused=refused)


def _denial(call: Call, fault: Fault, result: str) -> str:
    """Return the result with why an interface denied the call."""
    answer, status = call.exchange.answer, call.exchange.status
    source = answer.name if isinstance(answer, ProtocolError) else ""
    if status in DENYING:
        source = str(status)
    if not source:  # a client certificate
        return fault.seen
    return f"{result} ({source}){f': {fault.cause[0].lower()}{fault.cause[1:]}' if fault.cause else ''}"


def _withheld(session: Session, url: str, binding: str) -> str:
    """Return the remedy if there are credentials that are not sent to the origin of an interface, else `""`."""
    if not session.credentials.current or session.credentials.current.are_for(url):
        return ""
    log_in = f"Log in for this interface: a2a-inspect auth login with --transport {binding}."
    return session.credentials.unsent_hint(url, log_in)


async def other_protocol(url: str, status: int, fault: Fault | None, *, grpc: bool = False) -> tuple[str, str] | None:
    """Return which protocol the port of a URL uses instead, and the remedy; None if it uses that of the URL.

    The port is only examined if there was no response, or one with a status that such ports return.
    """
    endpoint = endpoint_of(url)
    suspicious = status in _OTHER_PORT or (status == 0 and fault is not None and fault.code != FaultCode.USAGE)
    if endpoint is None or not suspicious or proxy_of(url):
        return None
    found = port_remedy(await port_protocol(endpoint), tls=endpoint.tls, grpc=grpc)
    return found if found[0] else None


async def finish(call: Call, seconds: float) -> bool:
    """Send a call and return whether it ended before the timeout."""
    timeout = asyncio.timeout(seconds)
    with suppress(TimeoutError):
        async with timeout:
            await call.finish()
    return not timeout.expired()


def findings_of(session: Session, exchange: Exchange, *severities: Severity) -> list[Finding]:
    """Return the findings of these severities about an exchange, in order."""
    records = session.journal.capture.select(exchange=exchange.number)
    return [finding for record in records for finding in record.findings if finding.severity in severities]


def remedy_of(findings: list[Finding]) -> str:
    """Return the remedy of the first finding, and where the requirements of the rules are."""
    rules = " ".join(dict.fromkeys(finding.rule for finding in findings[:_MOST_FINDINGS]))
    return f"{RULES[findings[0].rule].remedy} Requirements: a2a-inspect rules {rules}"


def in_words(findings: list[Finding]) -> str:
    """Return findings in words, each rule once with its title and the number of its findings; `""` for none."""
    first: dict[str, Finding] = {}
    counts: dict[str, int] = {}
    for finding in findings:
        first.setdefault(finding.rule, finding)
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    words = [
        f"{rule} {RULES[rule].title}: {finding.seen}{f' ({counts[rule]} times)' if counts[rule] > 1 else ''}"
        for rule, finding in first.items()
    ]
    more = f"; {len(words) - _MOST_FINDINGS} more rules" if len(words) > _MOST_FINDINGS else ""
    return "; ".join(words[:_MOST_FINDINGS]) + more


def _is_other(exchange: Exchange) -> bool:
    """Return whether a response looks like that of an agent that does not support this protocol version."""
    answer = exchange.answer
    if isinstance(answer, ProtocolError):
        return answer.name in _WRONG_VERSION or answer.code in (-32600, -32602, -32603, None)
    return isinstance(answer, Unreadable) or exchange.status in UNROUTED
