"""JSON as a list of nodes in the order of their lines: parsed and written without losing how it was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum, auto
from typing import Any, NamedTuple, NoReturn, TypeAlias

from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable

Value: TypeAlias = Any
"""A JSON value: the types of `json.loads`, or `Numeral` and `Members`, which `read` returns."""


class Numeral(str):
    """A number as it was written: `1.0` remains `1.0`, and no digit is lost."""

    __slots__ = ()


class Members(list[tuple[str, Value]]):
    """The members of an object in their order, including duplicate names."""

    __slots__ = ()


class NotJsonError(ValueError):
    """Bytes that cannot be displayed as JSON; its text is the reason."""


def read(raw: bytes) -> Value:
    """Parse UTF-8 bytes, keeping how numbers and members were written; raises `NotJsonError`."""
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise NotJsonError(f"not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        found = parse(raw)
        why = found.why if isinstance(found, Unreadable) else f"not JSON: {error}"
        raise NotJsonError(why) from error
    except RecursionError as error:
        raise NotJsonError("nested too deeply to be shown") from error


def laid_out(raw: bytes) -> str:
    """Return a JSON text indented, with numbers and members as they were written; raises `NotJsonError`."""
    return dump(read(raw)) + "\n"


def _refuse(name: str) -> NoReturn:
    raise NotJsonError(f"not JSON: {name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_int=Numeral, parse_float=Numeral, parse_constant=_refuse)


class NodeKind(Enum):
    """What a line shows: a value, or the first or the last line of a container."""

    LEAF = auto()
    OPEN = auto()
    CLOSE = auto()


class Node(NamedTuple):
    """One line of the unfolded value.

    `parent` is the line that opens the container around it or, for a closing line, the line that it closes. `step` is
    the name or position in that container, None at the top. `more` is true if a sibling follows.
    """

    kind: NodeKind
    depth: int
    parent: int
    step: str | int | None
    value: Value
    more: bool


def walk(root: Value) -> Iterator[Node]:
    """Yield the lines of a value from top to bottom, with a stack of iterators instead of recursion."""
    count = 0
    stack: list[tuple[int, Node | None, Iterator[tuple[str | int | None, Value, bool]]]]
    stack = [(-1, None, iter([(None, root, False)]))]
    while stack:
        line, opening, left = stack[-1]
        child = next(left, None)
        if child is not None:
            step, value, more = child
            opens = isinstance(value, dict | list) and len(value) > 0
            node = Node(NodeKind.OPEN if opens else NodeKind.LEAF, len(stack) - 1, line, step, value, more)
            if opens:
                stack.append((count, node, _children(value)))
            yield node
            count += 1
            continue
        stack.pop()
        if opening is not None:
            yield opening._replace(kind=NodeKind.CLOSE, parent=line)
            count += 1


def _children(value: Value) -> Iterator[tuple[str | int | None, Value, bool]]:
    if isinstance(value, dict):
        pairs: Iterator[tuple[Any, Value]] = iter(value.items())
    else:
        pairs = iter(value) if isinstance(value, Members) else iter(enumerate(value))
    last = len(value) - 1
    for number, (step, child) in enumerate(pairs):
        yield step, child, number < last


def dump(value: Value) -> str:
    """Write a value as JSON text, indented, in full."""
    lines: list[str] = []
    for node in walk(value):
        name = f"{quote(node.step)}: " if isinstance(node.step, str) and node.kind is not NodeKind.CLOSE else ""
        what = write(node.value) if node.kind is NodeKind.LEAF else brackets(node.value)[node.kind is NodeKind.CLOSE]
        comma = "," if node.more and node.kind is not NodeKind.OPEN else ""
        lines.append(f"{'  ' * node.depth}{name}{what}{comma}")
    return "\n".join(lines)


def brackets(value: Value) -> tuple[str, str]:
    """Return the brackets of a container."""
    return ("{", "}") if isinstance(value, dict | Members) else ("[", "]")


def write(value: Value) -> str:
    """Write a scalar or an empty container on one line."""
    if isinstance(value, Numeral):
        return str(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict | list):
        return "".join(brackets(value))
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        # Not a JSON value, or an integer of more digits than Python writes.
        return hex(value) if isinstance(value, int) else quote(repr(value))


def quote(text: str) -> str:
    """Write a string as JSON with escapes for invisible characters."""
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in quoted)
