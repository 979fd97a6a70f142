"""Traceability v1: the steps of an agent in the metadata of a message or an artifact, as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspector.protocol.extensions.outline import Line, Outline, fields, items, members, outline, text
from inspector.protocol.jsonvalue import is_number
from inspector.text.units import counted

_DEEPEST = 12
_MILLISECONDS = 1000


def describe(value: Any) -> Outline:
    """Return the steps of a trace as a tree, each with its latency, tokens and cost."""
    steps = [members(step) for step in items(members(value).get("steps"))]
    trace = text(members(value).get("trace_id", members(value).get("traceId")))
    total = [counted(len(steps), "step")]
    total += filter(None, (_measures(_sum(steps, name), name) for name in ("total_tokens", "cost")))
    failed = sum(bool(step.get("error")) for step in steps)
    total += [f"{failed} failed"] if failed else []
    return outline(f"trace {trace[:40]}: {', '.join(total)}", [*fields(0, ("trace", trace)), *_tree(steps, 0)])


def _tree(steps: list[Any], depth: int) -> Iterator[Line]:
    """Return the steps below their parents; a step whose parent is missing, or in a circle, is a root."""
    ids = [text(_of(step, "step_id")) for step in steps]
    parents = [text(_of(step, "parent_step_id")) for step in steps]
    children: dict[str, list[int]] = {}
    known = set(ids)
    for number, parent in enumerate(parents):
        children.setdefault(parent if parent in known else "", []).append(number)
    shown: set[int] = set()

    def below(number: int, level: int) -> Iterator[Line]:
        if number in shown:
            return
        shown.add(number)
        yield from _step(steps[number], level)
        if level < _DEEPEST and ids[number]:
            for child in children.get(ids[number], ()):
                yield from below(child, level + 1)

    for root in children.get("", []):
        yield from below(root, depth)
    for number in range(len(steps)):  # those in a circle, and those that are too deep
        yield from below(number, depth)


def _step(step: Any, depth: int) -> Iterator[Line]:
    action = members(_of(step, "step_action"))
    tool, agent = members(_of(action, "tool_invocation")), members(_of(action, "agent_invocation"))
    name = _of(step, "name") or _of(tool, "tool_name") or _of(agent, "agent_name") or _of(agent, "agent_url")
    kind = text(_of(step, "call_type")).lower() or "step"
    measures = [_measures(_of(step, each), each) for each in ("latency", "total_tokens", "cost")]
    yield Line(depth, kind, ", ".join(filter(None, (text(name) or text(_of(step, "step_id")), *measures))))
    parameters = _of(step, "parameters") or _of(tool, "parameters") or _of(step, "requests") or _of(agent, "requests")
    if parameters:
        yield Line(depth + 1, "parameters", text(parameters))
    if error := _of(step, "error"):
        yield Line(depth + 1, "error", text(error), is_problem=True)
    inner = _of(agent, "response_trace")
    if inner and depth < _DEEPEST:
        yield from _tree([members(each) for each in items(members(inner).get("steps"))], depth + 1)


def _of(step: Any, name: str) -> Any:
    """Return a member by its name, or by the name that it has in ProtoJSON."""
    first, *others = name.split("_")
    return members(step).get(name, members(step).get(first + "".join(map(str.title, others))))


def _sum(steps: list[Any], name: str) -> float | None:
    found = [number for step in steps if (number := _number(_of(step, name))) is not None]
    return sum(found) if found else None


def _number(value: Any) -> float | None:
    """Return a number; ProtoJSON writes int64 as a text."""
    if isinstance(value, str) and value.lstrip("-").isascii() and value.lstrip("-").isdigit() and len(value) < 20:
        return int(value)
    return value if is_number(value) else None


def _measures(value: Any, name: str) -> str:
    number = _number(value)
    if number is None:
        return ""
    match name:
        case "latency":
            return f"{number / _MILLISECONDS:.3g} s" if number >= _MILLISECONDS else f"{number:g} ms"
        case "total_tokens":
            return f"{number:,.0f} tokens"
        case _:
            return f"cost {number:g}"
