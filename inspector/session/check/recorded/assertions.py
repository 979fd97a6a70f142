"""Turn recorded values into assertions: what varies from call to call becomes a matcher."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from inspector.capture.redaction import MASK
from inspector.protocol.lifecycle import State, is_settled
from inspector.protocol.model import Json
from inspector.session.check.matching import is_operator
from inspector.session.check.mistakes import resembles_type

BRACES = "braces"
"""The variable for two opening braces in a text, which would otherwise begin a reference."""
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


def literal(text: str) -> str:
    """Return a recorded text in which nothing is a reference: a recording must not read the environment."""
    return text.replace("{{", f"{{{{{BRACES}}}}}")


def expectation(value: Json, ids: Mapping[str, str], *, exact_state: bool = True) -> Json:
    """Return an assertion that a recorded value meets; `ids` are the known ids with the names of their variables.

    Without `exact_state`, a task that was running may have any state.
    """
    if isinstance(value, dict):
        # The ids of a message are those of its task.
        skipped = _LEFT_OUT | _IDS if "role" in value and "parts" in value else _LEFT_OUT
        members = {
            name: _member(name, item, ids, exact_state=exact_state)
            for name, item in value.items()
            if name not in skipped
        }
        return {literal(name): item for own in members for name, item in _as_member(own, members[own]).items()}
    if isinstance(value, list):
        return [expectation(item, ids, exact_state=exact_state) for item in value]
    return text_expectation(value) if isinstance(value, str) else value


def _as_member(name: str, value: Json) -> dict[str, Json]:
    """Return the assertion about a member also if its name is that of an operator, nothing if it has none."""
    if not is_operator(name, value) and not resembles_type(name, value):
        return {name: value}
    wrapped: Json = {"one_of": [value]}
    return {} if is_operator(name, wrapped) else {name: wrapped}


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
            beginning = f"{parts.scheme}://{parts.netloc}{parts.path}"
            return {"starts_with": literal(beginning)} if parts.query else literal(value)
        case "raw" | "token" | "credentials" | "nextPageToken":
            return {"type": "string"}
        case _:
            return text_expectation(value)


def _id(name: str, value: str, ids: Mapping[str, str]) -> Json:
    if value in ids:
        return f"{{{{{ids[value]}}}}}"
    # An agent may name its artifacts, but it generates all other ids.
    return literal(value) if name == "artifactId" and not varies(value) else {"type": "string"}


def _state(state: str, *, exact: bool) -> Json:
    if is_settled(state):
        return state
    return {"one_of": _RUNNING} if exact and state in _RUNNING else {"type": "string"}


def varies(text: str) -> bool:
    """Return whether a part of a text differs in every response."""
    return _VOLATILE.search(text) is not None


def is_exact(text: str) -> bool:
    """Return whether a long text has no part that varies, so that its digest can be asserted."""
    return len(text) > _LONGEST_TEXT and not varies(text)


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
    return {} if varies(end) or "{{" in end else {"ends_with": end}


def _pattern(volatile: str) -> str:
    if volatile.startswith("http"):
        return f"{_escaped(volatile.partition('?')[0])}\\?\\S+"
    return "\\S+( \\S+)?" if " " in volatile else "\\S+"


def _escaped(text: str) -> str:
    """Escape a text for a regular expression of ECMA-262 and of Python."""
    return _SPECIAL.sub(r"\\\g<0>", text)
