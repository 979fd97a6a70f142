"""Merge the tests of two recordings of the same requests: what differs between them becomes a matcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inspector.protocol.model import Json
from inspector.session.check.document.node import EXTENSION
from inspector.session.check.matching import is_operator
from inspector.text.safe_json import dump

_EXACT = frozenset({"name", "sha256"})
"""Members of an artifact expectation that are texts, not assertions."""


def merge_tests(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return a test that both recordings of the same requests pass."""
    merged = dict(first)
    merged["steps"] = [_merge_steps(*pair) for pair in zip(first["steps"], second["steps"], strict=True)]
    merged[EXTENSION] = extension = dict(first[EXTENSION])
    rules = {rule for test in (first, second) for rule in test[EXTENSION]["findings"].get("allow", ())}
    if rules:
        extension["findings"] = {**extension["findings"], "allow": sorted(rules)}
    if extension.get("pushes") != second[EXTENSION].get("pushes"):
        extension.pop("pushes", None)
    return merged


def _merge_steps(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return a step that meets both recordings; the request is the same."""
    merged = dict(first)
    for name in ("expect", "expect_error", "expect_stream", EXTENSION):
        merged.pop(name, None)
        if name in first and name in second:
            merged[name] = _MERGES.get(name, merge)(first[name], second[name])
    return {name: merged[name] for name in first if name in merged}


def _merge_streams(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Merge the expectations of two streams; only events that both streams have are expected."""
    both = [event for event in first.get("events", ()) if event in second.get("events", ())]
    merged: dict[str, Any] = merge({**first, "events": both}, {**second, "events": both})
    return {name: merged[name] for name in merged if name != "events" or both}


def _merge_extensions(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Merge the expectations of the artifacts that both recordings have."""
    pairs = list(zip(first["artifacts"], second["artifacts"], strict=False))
    if len(first["artifacts"]) > 1:  # an artifact is selected by its name
        pairs = [(own, other) for own, other in pairs if own.get("name") == other.get("name")]
    return {"artifacts": [_merge_artifacts(*pair) for pair in pairs]}


def _merge_artifacts(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = merge(first, second)
    return {name: value for name, value in merged.items() if name not in _EXACT or value == first[name]}


def merge(first: Json, second: Json) -> Any:
    """Return an assertion that both recordings meet; what differs between them becomes a matcher."""
    if dump(first) == dump(second):  # in JSON, true is not 1
        return first
    if isinstance(first, dict) and isinstance(second, dict):
        if _is_matcher(first) or _is_matcher(second):
            return _common_type(first, second)
        return {name: merge(first[name], second[name]) for name in first if name in second}
    if isinstance(first, list) and isinstance(second, list):
        if len(first) == len(second):
            return [merge(*pair) for pair in zip(first, second, strict=True)]
        return {"type": "array", "count_gte": min(len(first), len(second))}
    return _common_type(first, second)


def _is_matcher(value: Mapping[str, Json]) -> bool:
    return bool(value) and all(is_operator(name, item) for name, item in value.items())


def _common_type(first: Json, second: Json) -> Json:
    kinds = {_type_of(first), _type_of(second)}
    return {"type": kinds.pop()} if len(kinds) == 1 and "" not in kinds else {"exists": True}


def _type_of(value: Json) -> str:
    """Return the type that an assertion demands, `""` if unknown."""
    if isinstance(value, dict):
        if "type" in value:
            return str(value["type"])
        return "string" if {"matches", "starts_with", "one_of"} & set(value) else "object"
    names = ((bool, "boolean"), (str, "string"), (int, "number"), (float, "number"), (list, "array"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


_MERGES: Mapping[str, Callable[[Any, Any], Any]] = {"expect_stream": _merge_streams, EXTENSION: _merge_extensions}
"""How members of a step are merged, if not as assertions."""
