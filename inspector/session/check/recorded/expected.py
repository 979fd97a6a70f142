"""Turn recorded values into assertions: what varies from call to call becomes a matcher."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from inspector.capture.redaction import MASK
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal
from inspector.protocol.model import Json
from inspector.text.safe_json import dump

_LONGEST_TEXT = 500
"""A longer text is asserted by its beginning only."""
_BEGINNING = 120
_LEFT_OUT = frozenset(
    {"timestamp", "messageId", "history", "metadata", "createdTime", "lastModified", "referenceTaskIds"}
)
"""Members that differ in every response, or that agents may choose freely."""
_IDS = frozenset({"id", "taskId", "contextId", "artifactId"})
_RUNNING = [State.SUBMITTED.value, State.WORKING.value]
_VOLATILE = re.compile(
    "|".join(
        (
            r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",  # UUIDs
            r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?",  # times
            r"(?<![\d:])\d\d:\d\d:\d\d(?:\.\d+)?",
            r"https?://[^\s?#\"'<>]{1,300}\?[^\s\"'<>]+",  # URLs with a query, which may be signed
            r"\b[0-9a-f]{24,}\b",  # digests and tokens
            r"(?<![\w-])eyJ[\w-]++\.[\w-]++\.[\w-]*",  # JWTs
            re.escape(MASK),
        )
    )
)
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")


def references_in(value: Any, ids: Mapping[str, str]) -> Any:
    """Return a value in which the known ids are replaced by references to captured variables."""
    if isinstance(value, str):
        for known, reference in ids.items():
            value = value.replace(known, f"{{{{{reference}}}}}")
        return value
    if isinstance(value, dict):
        return {name: references_in(item, ids) for name, item in value.items()}
    return [references_in(item, ids) for item in value] if isinstance(value, list) else value


def expectation(value: Json, ids: Mapping[str, str], *, exact_state: bool = True) -> Json:
    """Return an assertion that a recorded value meets; `ids` are the known ids with the names of their variables.

    Without `exact_state`, a task that was running may have any state.
    """
    if isinstance(value, dict):
        # The ids of a message are those of its task.
        skipped = _LEFT_OUT | _IDS if "role" in value and "parts" in value else _LEFT_OUT
        return {
            name: _member(name, item, ids, exact_state=exact_state)
            for name, item in value.items()
            if name not in skipped
        }
    if isinstance(value, list):
        return [expectation(item, ids, exact_state=exact_state) for item in value]
    return text_expectation(value) if isinstance(value, str) else value


def _member(name: str, value: Json, ids: Mapping[str, str], *, exact_state: bool) -> Json:
    if not isinstance(value, str):
        return expectation(value, ids, exact_state=exact_state)
    if name in _IDS:
        return _id(name, value, ids)
    match name:
        case "state":
            return _state(value, exact=exact_state)
        case "url":
            parts = urlsplit(value)
            return {"starts_with": f"{parts.scheme}://{parts.netloc}{parts.path}"} if parts.query else value
        case "raw" | "token" | "credentials" | "nextPageToken":
            return {"type": "string"}
        case _:
            return text_expectation(value)


def _id(name: str, value: str, ids: Mapping[str, str]) -> Json:
    if value in ids:
        return f"{{{{{ids[value]}}}}}"
    # An agent may name its artifacts, but it generates all other ids.
    return value if name == "artifactId" and not _VOLATILE.search(value) else {"type": "string"}


def _state(state: str, *, exact: bool) -> Json:
    if is_terminal(state) or is_interrupted(state):
        return state
    return {"one_of": _RUNNING} if exact and state in _RUNNING else {"type": "string"}


def is_exact(text: str) -> bool:
    """Return whether a long text has no part that varies, so that its digest can be asserted."""
    return len(text) > _LONGEST_TEXT and _VOLATILE.search(text) is None


def text_expectation(text: str) -> Json:
    """Return an assertion about a text: equality, or a pattern if a part of it varies."""
    long = len(text) > _LONGEST_TEXT
    shown = text[:_BEGINNING] if long else text
    pieces, position, varies = list[str](), 0, False
    for found in _VOLATILE.finditer(shown):
        pieces += [_escaped(shown[position : found.start()]), _pattern(found[0])]
        position, varies = found.end(), True
    if not varies and "{{" not in shown:
        return {"starts_with": shown, **_end_of(text)} if long else text
    pieces.append(_escaped(shown[position:]))
    return {"matches": f"^{''.join(pieces)}{'' if long else '$'}"}


def _end_of(text: str) -> dict[str, Json]:
    """Return the assertion about the end of a long text, nothing if the end varies."""
    end = text[-_BEGINNING:]
    return {} if _VOLATILE.search(end) or "{{" in end else {"ends_with": end}


def _pattern(volatile: str) -> str:
    if volatile.startswith("http"):
        return f"{_escaped(volatile.partition('?')[0])}\\?\\S+"
    return "\\S+( \\S+)?" if " " in volatile else "\\S+"


def _escaped(text: str) -> str:
    """Escape a text for a regular expression of ECMA-262 and of Python."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def merge(first: Json, second: Json) -> Json:
    """Return an assertion that both recordings meet; what differs between them becomes a matcher."""
    if dump(first) == dump(second):  # in JSON, true is not 1
        return first
    if isinstance(first, dict) and isinstance(second, dict):
        if _is_matcher(first) or _is_matcher(second):
            return _common_type(first, second)
        common = {name: merge(first[name], second[name]) for name in first if name in second}
        return {name: value for name, value in common.items() if name != "sha256" or value == first[name]}
    if isinstance(first, list) and isinstance(second, list):
        if len(first) == len(second):
            return [merge(*pair) for pair in zip(first, second, strict=True)]
        return {"type": "array", "count_gte": min(len(first), len(second))}
    return _common_type(first, second)


_MATCHERS = frozenset({"type", "matches", "starts_with", "ends_with", "one_of", "count_gte", "exists"})


def _is_matcher(value: Mapping[str, Json]) -> bool:
    return bool(value) and set(value) <= _MATCHERS and not isinstance(value.get("type"), dict)


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
