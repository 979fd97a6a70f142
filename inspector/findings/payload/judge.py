"""Check the rules about objects and errors."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.findings.finding import Finding
from inspector.findings.payload import content, errors, objects
from inspector.findings.payload.errors import ErrorObject
from inspector.findings.payload.facts import PayloadFacts, Steps
from inspector.findings.payload.shapes import shapes_of
from inspector.protocol.model import Json
from inspector.protocol.operations import STREAMING, Operation

OBJECT_RULES = (*objects.RULE_SET.rules, *content.RULE_SET.rules)
ERROR_RULES = tuple(errors.RULE_SET.rules)


def judge_object(
    value: Json, operation: Operation | None, version: str, binding: str, steps: Steps = ()
) -> tuple[Finding, ...]:
    """Check the result of an operation, or an event of a stream (`operation` is None).

    `steps` are the names and indices that lead to the object in its payload. Results without a known shape are not
    checked.
    """
    shapes = shapes_of(version, binding)
    event = operation is None or operation in STREAMING
    shape = shapes.event if event else shapes.answers.get(operation) if operation else None
    if shape is None:
        return ()
    return _judged(PayloadFacts(value, shape, version, binding, steps))


def judge_push(value: Json, version: str) -> tuple[Finding, ...]:
    """Check the body of a push notification."""
    return _judged(PayloadFacts(value, shapes_of(version, "JSONRPC").push, version, "JSONRPC"))


def _judged(facts: PayloadFacts) -> tuple[Finding, ...]:
    """Check every rule; rules about shapes are skipped if the object has no schema errors."""
    found = objects.RULE_SET.judge(facts) if facts.schema_errors else []
    return (*found, *content.RULE_SET.judge(facts))


def judge_error_object(value: Mapping[str, Json], version: str, binding: str, steps: Steps) -> tuple[Finding, ...]:
    """Check the error object of a response."""
    return tuple(errors.RULE_SET.judge(ErrorObject(value, version, binding, steps)))
