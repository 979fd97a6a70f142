"""JSON as lines that fold: parsed once, flattened without recursion, each line built when it is drawn."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import repeat

from inspector.protocol.pointer import pointer as pointer_over
from inspector.protocol.pointer import steps_of
from inspector.text.sanitise import clean, width_of
from inspector.text.units import size
from inspector.tui.render.highlight import MOST_HITS, MOST_LINES, highlighted, next_of
from inspector.tui.render.json_nodes import Node, NodeKind, Numeral, Value, brackets, dump, quote, walk, write
from inspector.tui.render.text_lines import Line, Piece, wrap_pieces

LONGEST = 200
"""The most characters that are shown of one string, name or number."""
UNFOLDED = 4_000
"""The most characters that are shown of a string that was unfolded."""
_BLOB = 48
"""The fewest characters that are shown of a long number, or of a long string without spaces (base64, a token)."""
_BESIDE_BLOB = 14
"""The cells for the rest of the line of such a string: quotes, a comma and its size."""
_MOST_WRAPPED = 1_000
"""If there are more long strings, none of them is wrapped, because that would take too long."""
_SHORTEST_WRAPPED = 12
"""Shorter strings are not wrapped."""
_AROUND_STRING = 9
"""The cells beside a name and a string: the fold mark, quotes, a colon, a space and a comma."""
_HANGING = 2
"""The indentation of the further rows of a string."""
_DEEPEST = 40
"""The deepest level that is indented further than its parent."""


class JsonLines:
    """A JSON value as indented lines, in which containers can be folded; strings are wrapped for the width.

    Of a long string, only the beginning is shown until it is unfolded.
    """

    def __init__(self, value: Value, *, most: int = MOST_LINES) -> None:
        self._nodes: list[Node] = []
        self._ends: dict[int, int] = {}
        self._strings: list[int] = []
        self._cut = False
        for node in walk(value):
            if len(self._nodes) == most:
                self._cut = True
                break
            if node.kind is NodeKind.CLOSE:
                self._ends[node.parent] = len(self._nodes)
            elif isinstance(node.value, str) and len(node.value) >= _SHORTEST_WRAPPED:
                self._strings.append(len(self._nodes))
            self._nodes.append(node)
        self._folded: set[int] = set()
        self._unfolded: set[int] = set()
        self._width = 0
        self._rows: dict[int, list[Line]] = {}
        self._visible: list[int] | range = range(len(self._nodes))
        self._text = ""
        self._starts: list[int] = []
        self._words = ""
        self._hits: list[int] = []
        self._notes: dict[int, Piece] = {}
        self._children: dict[int, dict[str, int]] = {}

    def __len__(self) -> int:
        return len(self._visible) + self._cut

    def layout(self, width: int, keep: int) -> int:
        """Wrap the strings for a width, and return the new number of the line `keep`."""
        node = self.node(keep)
        self._width = width
        self._lay_out()
        return self.row(node) if node >= 0 else keep

    def node(self, index: int) -> int:
        """Return a number for the value of a line that does not depend on the width, -1 without a value."""
        return self._visible[index] if 0 <= index < len(self._visible) else -1

    def row(self, node: int) -> int:
        """Return the first line of a value by the number that `node` returns."""
        return bisect_left(self._visible, node)

    def _lay_out(self) -> None:
        """Wrap the strings that are too long for the width, and list the node of each visible line."""
        self._rows = {}
        if 0 < len(self._strings) <= _MOST_WRAPPED and self._width > 0:
            for at in self._strings:
                if not self._surely_fits(at):
                    pieces = self._pieces(at)
                    if sum(width_of(clean(text)) for text, _ in pieces) > self._width:
                        self._rows[at] = self._wrapped(pieces)
        if self._rows or self._folded:
            self._visible = list(self._shown())
        else:
            self._visible = range(len(self._nodes))

    def _surely_fits(self, at: int) -> bool:
        """Return whether a string fits, without building its line: only characters of one cell without an escape."""
        node = self._nodes[at]
        name = node.step if isinstance(node.step, str) else ""
        if at in self._notes or len(node.value) + len(name) + 2 * node.depth + _AROUND_STRING > self._width:
            return False
        text: str = node.value + name
        return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text

    def _wrapped(self, pieces: list[Piece]) -> list[Line]:
        indent, mark, *rest = pieces
        hanging = (" " * (len(indent[0]) + len(mark[0]) + _HANGING), "json--punct")
        return wrap_pieces(rest, self._width - _HANGING, first=[indent, mark], rest=[hanging])

    def line(self, index: int) -> Line:
        """Return one line."""
        if index >= len(self._visible):
            return [(f"… only the first {len(self._nodes):,} lines are shown", "line--note")]
        at = self._visible[index]
        if at not in self._rows:
            pieces: Line = self._pieces(at)
        else:
            pieces = self._rows[at][index - self.row(at)]
        return list(highlighted(pieces, self._words, "json--hit")) if self._words else pieces

    def ends(self, index: int) -> bool:
        """Return whether a line is the last row of its value."""
        return index + 1 >= len(self._visible) or self._visible[index + 1] != self._visible[index]

    def _pieces(self, at: int) -> list[Piece]:
        """Return the whole line of a node: its indentation, its fold mark and its texts."""
        node = self._nodes[at]
        opens, folded = node.kind is NodeKind.OPEN, at in self._folded or self._is_cut(at)
        pieces: list[Piece] = [("  " * min(node.depth, _DEEPEST), "json--punct")]
        pieces.append(("▸ " if folded else "▾ " if opens or at in self._unfolded else "  ", "json--fold"))
        if isinstance(node.step, str) and node.kind is not NodeKind.CLOSE:
            pieces += [*_string(node.step, "json--key"), (": ", "json--punct")]
        if node.kind is NodeKind.LEAF:
            room = self._width - sum(len(text) for text, _ in pieces) - _BESIDE_BLOB
            pieces += _leaf(node.value, UNFOLDED if at in self._unfolded else LONGEST, max(_BLOB, room))
        else:
            pieces += _bracket(node, folded)
        if node.more and (folded or not opens):
            pieces.append((",", "json--punct"))
        return [*pieces, ("   ", "json--punct"), self._notes[at]] if at in self._notes else pieces

    def _is_cut(self, at: int) -> bool:
        """Return whether only the beginning of a string is shown."""
        value = self._nodes[at].value
        is_long = isinstance(value, str) and not isinstance(value, Numeral) and len(value) > LONGEST
        return is_long and at not in self._unfolded

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
        return str(value) if isinstance(value, str) else dump(value)

    def json(self, index: int) -> str:
        """Return the value that a line begins or ends as JSON text, `""` for the line that reports a cut."""
        at = self._beginning(index)
        return dump(self._nodes[at].value) if at >= 0 else ""

    def can_fold(self, index: int) -> bool:
        """Return whether a line shows a container or a string that was unfolded."""
        at = self.node(index)
        return at in self._unfolded or (self._is_open(index) and at not in self._folded)

    def can_unfold(self, index: int) -> bool:
        """Return whether a line shows a folded container, or only the beginning of a string."""
        at = self.node(index)
        return at >= 0 and (at in self._folded or self._is_cut(at))

    def toggle(self, index: int) -> None:
        """Fold or unfold the container or the long string of a line; without effect on other lines."""
        at = self.node(index)
        if self._is_open(index):
            self._folded ^= {at}
        elif at >= 0 and (at in self._unfolded or self._is_cut(at)):
            self._unfolded ^= {at}
        else:
            return
        self._lay_out()

    def parent(self, index: int) -> int:
        """Return the line that opens the container around a line; for the top, the line itself."""
        if not 0 <= index < len(self._visible):
            return index
        at = self._nodes[self._visible[index]].parent
        return self.row(at) if at >= 0 else index

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
        self._lay_out()

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
            self._lay_out()
        return self.row(at)

    def _is_open(self, index: int) -> bool:
        return 0 <= index < len(self._visible) and self._nodes[self._visible[index]].kind is NodeKind.OPEN

    def _beginning(self, index: int) -> int:
        """Return the node where the value of a line begins, -1 for the line that reports a cut."""
        if not 0 <= index < len(self._visible):
            return -1
        at = self._visible[index]
        return self._nodes[at].parent if self._nodes[at].kind is NodeKind.CLOSE else at

    def _shown(self) -> Iterator[int]:
        """Yield the node of each line that is not hidden by a folded container."""
        at, last = 0, len(self._nodes) - 1
        while at <= last:
            yield from repeat(at, len(self._rows[at]) if at in self._rows else 1)
            at = (self._ends.get(at, last) if at in self._folded else at) + 1


def _searched(node: Node) -> str:
    """Return the searchable text of a line: the name and the value, each in full."""
    if node.kind is NodeKind.CLOSE:
        return ""
    value = node.value if isinstance(node.value, str) else write(node.value) if node.kind is NodeKind.LEAF else ""
    return f"{node.step} {value}" if isinstance(node.step, str) else value


def _bracket(node: Node, folded: bool) -> list[Piece]:
    first, last = brackets(node.value)
    if node.kind is NodeKind.CLOSE:
        return [(last, "json--punct")]
    if not folded:
        return [(first, "json--punct")]
    count = len(node.value)
    noun = ("member" if first == "{" else "item") + ("" if count == 1 else "s")
    return [(f"{first} ", "json--punct"), (f"{count:,} {noun}", "json--size"), (f" {last}", "json--punct")]


def _leaf(value: Value, longest: int, blob: int) -> list[Piece]:
    if isinstance(value, str) and not isinstance(value, Numeral):
        return _string(value, "json--string", longest, blob)
    text = write(value)
    if len(text) <= LONGEST:
        return [(text, "json--punct" if isinstance(value, dict | list) else "json--number")]
    return [(text[:blob] + "…", "json--number"), (f" ({size(len(text))})", "json--size")]


def _string(text: str, style: str, longest: int = LONGEST, blob: int = _BLOB) -> list[Piece]:
    if len(text) <= longest:
        return [(quote(text), style)]
    head = text[:longest] if " " in text[:longest] or longest > LONGEST else text[:blob]
    count = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return [(quote(head)[:-1] + '…"', style), (f" ({size(count)})", "json--size")]
