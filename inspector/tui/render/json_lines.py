"""JSON as lines that fold: parsed once, flattened without recursion, each line built when it is drawn."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any, NamedTuple, NoReturn, TypeAlias

from inspector.protocol.pointer import pointer as pointer_over
from inspector.protocol.pointer import steps_of
from inspector.text.units import size
from inspector.tui.render.highlight import MOST_HITS, MOST_LINES, highlighted, next_of
from inspector.tui.render.text_lines import Line, Piece

Value: TypeAlias = Any
"""A JSON value: the types of `json.loads`, or `Numeral` and `Members`, which `read` returns."""

LONGEST = 200
"""The most characters that are shown of one string, name or number."""
_BLOB = 48
"""The most characters that are shown of a long number, or of a long string without spaces (base64, a token)."""
_DEEPEST = 40
"""The deepest level that is indented further than its parent."""


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
        raise NotJsonError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from error
    except RecursionError as error:
        raise NotJsonError("nested too deeply to be shown") from error


def laid_out(raw: bytes) -> str:
    """Return a JSON text indented, with numbers and members as they were written; raises `NotJsonError`."""
    return _dump(read(raw)) + "\n"


def _refuse(name: str) -> NoReturn:
    raise NotJsonError(f"not JSON: {name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_int=Numeral, parse_float=Numeral, parse_constant=_refuse)


class _Kind(Enum):
    LEAF = auto()
    OPEN = auto()
    CLOSE = auto()


class _Node(NamedTuple):
    """One line of the unfolded value.

    `parent` is the line that opens the container around it or, for a closing line, the line that it closes. `step` is
    the name or position in that container, None at the top. `more` is true if a sibling follows.
    """

    kind: _Kind
    depth: int
    parent: int
    step: str | int | None
    value: Value
    more: bool


class JsonLines:
    """A JSON value as indented lines, in which containers can be folded."""

    def __init__(self, value: Value, *, most: int = MOST_LINES) -> None:
        self._nodes: list[_Node] = []
        self._ends: dict[int, int] = {}
        self._cut = False
        for node in _walk(value):
            if len(self._nodes) == most:
                self._cut = True
                break
            if node.kind is _Kind.CLOSE:
                self._ends[node.parent] = len(self._nodes)
            self._nodes.append(node)
        self._folded: set[int] = set()
        self._visible: list[int] | range = range(len(self._nodes))
        self._text = ""
        self._starts: list[int] = []
        self._words = ""
        self._hits: list[int] = []
        self._notes: dict[int, Piece] = {}
        self._children: dict[int, dict[str, int]] = {}

    def __len__(self) -> int:
        return len(self._visible) + self._cut

    def layout(self, width: int, keep: int) -> int:  # noqa: ARG002 - a line of JSON is as wide as it is
        """Return `keep`: the lines do not depend on the width."""
        return keep

    def line(self, index: int) -> Line:
        """Return one line."""
        if index >= len(self._visible):
            return [(f"… only the first {len(self._nodes):,} lines are shown", "line--note")]
        at = self._visible[index]
        node = self._nodes[at]
        opens, folded = node.kind is _Kind.OPEN, at in self._folded
        pieces: list[Piece] = [("  " * min(node.depth, _DEEPEST), "json--punct")]
        pieces.append((("▸ " if folded else "▾ ") if opens else "  ", "json--fold"))
        if isinstance(node.step, str) and node.kind is not _Kind.CLOSE:
            pieces += [*_string(node.step, "json--key"), (": ", "json--punct")]
        if node.kind is _Kind.LEAF:
            pieces += _leaf(node.value)
        else:
            pieces += _bracket(node, folded)
        if node.more and (folded or not opens):
            pieces.append((",", "json--punct"))
        if self._words:
            pieces = list(highlighted(pieces, self._words, "json--hit"))
        return [*pieces, ("   ", "json--punct"), self._notes[at]] if at in self._notes else pieces

    def pointer(self, index: int) -> str:
        """Return the JSON pointer (RFC 6901) of the value that a line begins or ends."""
        return self._pointer_to(self._beginning(index))

    def _pointer_to(self, at: int) -> str:
        steps: list[str | int] = []
        while at >= 0 and (step := self._nodes[at].step) is not None:
            steps.append(step)
            at = self._nodes[at].parent
        return pointer_over(*reversed(steps))

    def nearest(self, pointer: str) -> str:
        """Return a pointer if it leads to a value, or else the pointer of the nearest container that exists."""
        return self._pointer_to(self._node_at(pointer))

    def value(self, index: int) -> str:
        """Return the whole value that a line begins or ends: a string unquoted, anything else as JSON."""
        at = self._beginning(index)
        value = self._nodes[at].value if at >= 0 else ""
        return str(value) if isinstance(value, str) else _dump(value)

    def json(self, index: int) -> str:
        """Return the value that a line begins or ends as JSON text, `""` for the line that reports a cut."""
        at = self._beginning(index)
        return _dump(self._nodes[at].value) if at >= 0 else ""

    def can_fold(self, index: int) -> bool:
        """Return whether a line opens a container that is not folded."""
        return self._is_open(index) and self._visible[index] not in self._folded

    def can_unfold(self, index: int) -> bool:
        """Return whether a line shows a folded container."""
        return self._is_open(index) and self._visible[index] in self._folded

    def toggle(self, index: int) -> None:
        """Fold or unfold the container that a line opens; without effect on other lines."""
        if self._is_open(index):
            self._folded ^= {self._visible[index]}
            self._visible = list(self._unfolded())

    def parent(self, index: int) -> int:
        """Return the line that opens the container around a line; for the top, the line itself."""
        if not 0 <= index < len(self._visible):
            return index
        at = self._nodes[self._visible[index]].parent
        return bisect_left(self._visible, at) if at >= 0 else index

    def line_at(self, pointer: str) -> int:
        """Return the first line of the value at a pointer, or of the nearest container; unfold what hides the line."""
        return self._reveal(self._node_at(pointer))

    def _node_at(self, pointer: str) -> int:
        at = 0
        for step in steps_of(pointer):
            child = self._within(at).get(step)
            if child is None:
                break
            at = child
        return at

    def _within(self, at: int) -> Mapping[str, int]:
        """Return the nodes where the members or items of a container begin, by name; cached."""
        if at not in self._children:
            found: dict[str, int] = {}
            child, end = at + 1, self._ends.get(at, at)
            while child < end:
                found[str(self._nodes[child].step)] = child
                child = self._ends.get(child, child) + 1
            self._children[at] = found
        return self._children[at]

    def note(self, notes: Mapping[str, Piece]) -> None:
        """Show a note after the line of each pointer."""
        self._notes = {self._node_at(pointer): piece for pointer, piece in notes.items()}

    def find(self, words: str) -> int:
        """Search names and values for a text, ignoring case, and return the number of lines with a hit."""
        self._words, self._hits = words.casefold(), []
        if self._words and not self._starts:
            self._index()
        at = self._text.find(self._words) if self._words else -1
        while at >= 0 and len(self._hits) < MOST_HITS:
            node = bisect_right(self._starts, at) - 1
            self._hits.append(node)
            behind = self._starts[node + 1] if node + 1 < len(self._starts) else len(self._text)
            at = self._text.find(self._words, behind)
        return len(self._hits)

    def next_hit(self, line: int, step: int, *, here: bool = False) -> tuple[int, int] | None:
        """Return the line of the next hit, unfolding what hides it, and the hit's number from 1; None without hits."""
        at = self._visible[line] if 0 <= line < len(self._visible) else 0
        number = next_of(self._hits, at, step, here=here)
        return None if number is None else (self._reveal(self._hits[number]), number + 1)

    def _index(self) -> None:
        texts: list[str] = []
        length = 0
        for node in self._nodes:
            self._starts.append(length)
            text = _searched(node).casefold()
            texts.append(text)
            length += len(text) + 1
        self._text = "\n".join(texts)

    def _reveal(self, at: int) -> int:
        """Unfold what hides a node, and return its line."""
        around, hidden = self._nodes[at].parent, False
        while around >= 0:
            hidden |= around in self._folded
            self._folded.discard(around)
            around = self._nodes[around].parent
        if hidden:
            self._visible = list(self._unfolded())
        return bisect_left(self._visible, at)

    def _is_open(self, index: int) -> bool:
        return 0 <= index < len(self._visible) and self._nodes[self._visible[index]].kind is _Kind.OPEN

    def _beginning(self, index: int) -> int:
        """Return the node where the value of a line begins, -1 for the line that reports a cut."""
        if not 0 <= index < len(self._visible):
            return -1
        at = self._visible[index]
        return self._nodes[at].parent if self._nodes[at].kind is _Kind.CLOSE else at

    def _unfolded(self) -> Iterator[int]:
        at, last = 0, len(self._nodes) - 1
        while at <= last:
            yield at
            at = (self._ends.get(at, last) if at in self._folded else at) + 1


def _searched(node: _Node) -> str:
    """Return the searchable text of a line: the name and the value, each in full."""
    if node.kind is _Kind.CLOSE:
        return ""
    value = node.value if isinstance(node.value, str) else _write(node.value) if node.kind is _Kind.LEAF else ""
    return f"{node.step} {value}" if isinstance(node.step, str) else value


def _walk(root: Value) -> Iterator[_Node]:
    """Yield the lines of a value from top to bottom, with a stack of iterators instead of recursion."""
    count = 0
    stack: list[tuple[int, _Node | None, Iterator[tuple[str | int | None, Value, bool]]]]
    stack = [(-1, None, iter([(None, root, False)]))]
    while stack:
        line, opening, left = stack[-1]
        child = next(left, None)
        if child is not None:
            step, value, more = child
            opens = isinstance(value, dict | list) and len(value) > 0
            node = _Node(_Kind.OPEN if opens else _Kind.LEAF, len(stack) - 1, line, step, value, more)
            if opens:
                stack.append((count, node, _children(value)))
            yield node
            count += 1
            continue
        stack.pop()
        if opening is not None:
            yield opening._replace(kind=_Kind.CLOSE, parent=line)
            count += 1


def _children(value: Value) -> Iterator[tuple[str | int | None, Value, bool]]:
    if isinstance(value, dict):
        pairs: Iterator[tuple[Any, Value]] = iter(value.items())
    else:
        pairs = iter(value) if isinstance(value, Members) else iter(enumerate(value))
    last = len(value) - 1
    for number, (step, child) in enumerate(pairs):
        yield step, child, number < last


def _dump(value: Value) -> str:
    """Write a value as JSON text, indented, in full."""
    lines: list[str] = []
    for node in _walk(value):
        name = f"{_quote(node.step)}: " if isinstance(node.step, str) and node.kind is not _Kind.CLOSE else ""
        what = _write(node.value) if node.kind is _Kind.LEAF else _brackets(node.value)[node.kind is _Kind.CLOSE]
        comma = "," if node.more and node.kind is not _Kind.OPEN else ""
        lines.append(f"{'  ' * node.depth}{name}{what}{comma}")
    return "\n".join(lines)


def _brackets(value: Value) -> tuple[str, str]:
    return ("{", "}") if isinstance(value, dict | Members) else ("[", "]")


def _bracket(node: _Node, folded: bool) -> list[Piece]:
    first, last = _brackets(node.value)
    if node.kind is _Kind.CLOSE:
        return [(last, "json--punct")]
    if not folded:
        return [(first, "json--punct")]
    count = len(node.value)
    noun = ("member" if first == "{" else "item") + ("" if count == 1 else "s")
    return [(f"{first} ", "json--punct"), (f"{count:,} {noun}", "json--size"), (f" {last}", "json--punct")]


def _leaf(value: Value) -> list[Piece]:
    if isinstance(value, str) and not isinstance(value, Numeral):
        return _string(value, "json--string")
    text = _write(value)
    if len(text) <= LONGEST:
        return [(text, "json--punct" if isinstance(value, dict | list) else "json--number")]
    return [(text[:_BLOB] + "…", "json--number"), (f" ({size(len(text))})", "json--size")]


def _string(text: str, style: str) -> list[Piece]:
    if len(text) <= LONGEST:
        return [(_quote(text), style)]
    head = text[:LONGEST] if " " in text[:LONGEST] else text[:_BLOB]
    count = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return [(_quote(head)[:-1] + '…"', style), (f" ({size(count)})", "json--size")]


def _write(value: Value) -> str:
    """Write a scalar or an empty container on one line."""
    if isinstance(value, Numeral):
        return str(value)
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, dict | list):
        return "".join(_brackets(value))
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        # Not a JSON value, or an integer of more digits than Python writes.
        return hex(value) if isinstance(value, int) else _quote(repr(value))


def _quote(text: str) -> str:
    """Write a string as JSON with escapes for invisible characters."""
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in quoted)
