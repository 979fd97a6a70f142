"""HTTP+JSON as a server takes it: what a verb and a path ask for, and how an error is written (1.0 section 11)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import get_args
from urllib.parse import unquote

from inspector.protocol.bindings.rest import MEMBER
from inspector.protocol.dialects.base import Dialect, Route
from inspector.protocol.errors import ErrorKind
from inspector.protocol.model import Json
from inspector.protocol.operations import REQUESTS, Operation

_ANY, _SEGMENT = ".+", "[^/]+"
_TENANT = "(?:/(?P<tenant>[^/]+))?"
_BOTH_WAYS = frozenset({Operation.SUBSCRIBE})
"""What the text of the specification asks for with another verb than its proto."""
_BOTH_VERBS = frozenset({"GET", "POST"})
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Found:
    """The operation that a request asks for, and the members of its parameters that stand in the path."""

    operation: Operation
    members: dict[str, Json]


def find(dialect: Dialect, verb: str, path: str) -> Found | frozenset[str]:
    """Return what a verb and a path, percent-encoded, ask for; else the verbs that the path takes, which may be none.

    A tenant may stand before the path, as the first segment.
    """
    verbs: frozenset[str] = frozenset()
    for operation, route in sorted(dialect.routes.items(), key=_ends_open):
        match = _pattern(route).fullmatch(path)
        if match is None:
            continue
        taken = _BOTH_VERBS if operation in _BOTH_WAYS else frozenset({route.verb})
        if verb in taken:
            return Found(operation, {name: unquote(text) for name, text in match.groupdict().items() if text})
        verbs |= taken
    return verbs


def _ends_open(route: tuple[Operation, Route]) -> bool:
    """Say whether a path ends with a member, which would take the `:cancel` of another into it."""
    return route[1].path.endswith("}")


@cache
def _pattern(route: Route) -> re.Pattern[str]:
    """Make the expression that a route's path is."""
    pieces, at = [_TENANT], 0
    for found in MEMBER.finditer(route.path):
        keeps, name, form = found.groups()
        inner = re.escape(form).replace(r"\*", _SEGMENT) if form else _ANY if keeps else _SEGMENT
        pieces += [re.escape(route.path[at : found.start()]), f"(?P<{name}>{inner})"]
        at = found.end()
    return re.compile("".join([*pieces, re.escape(route.path[at:])]))


def read_query(operation: Operation, members: Mapping[str, str]) -> dict[str, Json]:
    """Read the members of a query as what they stand for: numbers and truth values where the operation takes such.

    A text that is none stays what it is, for the reading of the parameters to refuse.
    """
    kinds = {field.alias: get_args(field.annotation) for field in REQUESTS[operation].model_fields.values()}
    return {name: _value(text, kinds.get(name, ())) for name, text in members.items()}


def _value(text: str, kinds: tuple[object, ...]) -> Json:
    if bool in kinds:
        return _TRUTH.get(text, text)
    if int in kinds and re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    return text


def encode_error(error: ErrorKind, message: str, status: int, word: str) -> Json:
    """Write the body of an error as 1.0 has it: `status` is that of HTTP, `word` that of gRPC (section 11.6)."""
    return {"error": {"code": status, "status": word, "message": message, "details": [error.info()]}}
