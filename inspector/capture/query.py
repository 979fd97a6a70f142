"""Parse the filter line into a query that SQLite and Python evaluate alike.

`kind:artifact task:59f8 state:failed gap>2s size>10k finding:error op:SendMessage "text" -kind:keepalive`: a record
matches if it meets every condition, and none that begins with `-`.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from inspector.capture.file_format import WITH_NUL, storable_text
from inspector.capture.records import Kind, Record
from inspector.findings.finding import Severity

LENGTH = 500
"""How many characters a filter may have."""
WORDS = 32
"""How many words a filter may have, which bounds the depth of its SQL."""
RAW = 4_096
"""How many bytes of a payload that is larger on the wire are searched for text, from its beginning."""

EVENTS = ("task", "message", "status", "artifact", "error", "card", "unreadable")
KINDS = (*EVENTS, *(kind.value for kind in Kind))
"""What may follow `kind:`: what the payload is, or what sort of fact the record is."""

_SECONDS = {"ms": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BYTES = {"": 1.0, "b": 1.0, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9}
_COMPARED = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq}

_AHEAD = re.compile(r"([A-Za-z]+)(:|>=|<=|>|<|=)")
_NUMBER = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([A-Za-z]*)")
_VALUE = re.compile(r'"((?:[^"\\]|\\.)*+)"|(?!")\S*', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

SOURCE = """(
    SELECT record.*, record.at - before.at AS gap
    FROM record LEFT JOIN record AS before ON before.seq = record.seq - 1
) AS found"""
"""The table of a query: records with their gaps; SQLite omits the join if no condition needs the gap."""

Sql: TypeAlias = tuple[str, list[Any]]


class Around(NamedTuple):
    """The times that a record does not contain: of the start of the capture, and of the record before, if any."""

    began: float
    before: float | None


class Looked(NamedTuple):
    """Facts that make a search fast: when the capture began, and whether records `WITH_NUL` are among the searched.

    `label` is a label that many of them have, or `""`: it is compared with the text once.
    """

    began: float
    with_nul: bool = True
    label: str = ""


class Mistake(NamedTuple):
    """Why a line is not a filter: the position of the mistake, and a sentence."""

    position: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Word:
    """One condition; `key` is `""` for text, `relation` is `:`, or one of `> >= < <= =`."""

    key: str
    relation: str
    value: str
    negated: bool = False

    def __str__(self) -> str:
        quoted = '"' + self.value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        plain = self.key and self.value and not any(letter.isspace() or letter in '"\\' for letter in self.value)
        return f"{'-' * self.negated}{self.key}{self.relation if self.key else ''}{self.value if plain else quoted}"

    def sql(self, looked: Looked) -> Sql:
        """Return the condition as SQL, whose only variable parts are parameters, and their values."""
        test, values = _KEYS[self.key].sql(self, looked)
        return (f"NOT coalesce({test}, 0)" if self.negated else f"({test})"), values

    def holds(self, record: Record, around: Around) -> bool:
        """Return whether the condition holds for a record."""
        return _KEYS[self.key].holds(self, record, around) is not self.negated


@dataclass(frozen=True, slots=True)
class Query:
    """Conditions that all have to hold; `str` returns a line that is parsed as the same query."""

    words: tuple[Word, ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.words))

    def sql(self, looked: Looked) -> Sql:
        """Return what follows `WHERE` in a query of `SOURCE`, and the values of its parameters."""
        tests, values = ["1"], []
        for word in self.words:
            test, more = word.sql(looked)
            tests.append(test)
            values += more
        return " AND ".join(tests), values

    def holds(self, record: Record, around: Around) -> bool:
        """Return whether a record matches."""
        return all(word.holds(record, around) for word in self.words)


class _Key(NamedTuple):
    """A key of the filter: an example value, and how its conditions are evaluated; `numbers` has the units, if any."""

    example: str
    numbers: Mapping[str, float] | None
    sql: Callable[[Word, Looked], Sql]
    holds: Callable[[Word, Record, Around], bool]


def _amount(word: Word) -> float | None:
    """Return the number of a word in seconds or bytes, None without a number or with an unknown unit."""
    number = _NUMBER.fullmatch(word.value)
    factor = (_KEYS[word.key].numbers or {}).get(number[2].lower()) if number else None
    return None if number is None or factor is None else float(number[1]) * factor


def _number(
    example: str,
    units: Mapping[str, float],
    column: str,
    read: Callable[[Record, Around], float | None],
    *,
    since_began: bool = False,
) -> _Key:
    """Return the key of a number: `column` is the SQL of what `read` returns."""

    def sql(word: Word, looked: Looked) -> Sql:
        sign = "=" if word.relation == ":" else word.relation
        return f"{column} {sign} ?", [*([looked.began] if since_began else []), _amount(word)]

    def holds(word: Word, record: Record, around: Around) -> bool:
        value, amount = read(record, around), _amount(word)
        sign = "=" if word.relation == ":" else word.relation
        return value is not None and amount is not None and bool(_COMPARED[sign](value, amount))

    return _Key(example, units, sql, holds)


def _seconds(record: Record, _: Around) -> float | None:
    value = record.meta.get("seconds") if record.kind is Kind.END else None
    real = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if real and value is not None else None


def _beginning(column: str, read: Callable[[Record], str], example: str) -> _Key:
    """Return the key of an id that is matched by its beginning."""

    def sql(word: Word, _: Looked) -> Sql:
        value = _bytes(word.value)
        return f"substr(CAST({column} AS BLOB), 1, ?) = ?", [len(value), value]

    return _Key(example, None, sql, lambda word, record, _: _bytes(read(record)).startswith(_bytes(word.value)))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _folded(column: str) -> str:
    """Return the SQL of a column's bytes with ASCII letters in lower case, like `bytes.lower`."""
    return f"CAST(lower(CAST({column} AS TEXT)) AS BLOB)"


def _states(word: Word) -> tuple[str, str]:
    return word.value, "TASK_STATE_" + word.value.upper().replace("-", "_")


def _finding_sql(word: Word, _: Looked) -> Sql:
    value, at = _found(word)
    if not value:
        return "findings != ''", []
    listed = "CASE WHEN json_valid(findings) THEN findings ELSE '[]' END"
    part = f"CASE WHEN one.type = 'array' THEN json_extract(one.value, '$[{at}]') END"
    exists = f"EXISTS (SELECT 1 FROM json_each({listed}) AS one WHERE {part} = ?)"  # noqa: S608 - constants only
    return f"findings != '' AND {exists}", [value]


def _found(word: Word) -> tuple[str, int]:
    """Return the rule or severity that is searched (`""` for any finding), and its position in a stored finding."""
    value = word.value.lower()
    if value == "any":
        return "", 0
    return (value, 1) if value in set(Severity) else (word.value.upper(), 0)


def _finding_holds(word: Word, record: Record, _: Around) -> bool:
    value, at = _found(word)
    return any(not value or value == (one.severity if at else one.rule) for one in record.findings)


def _text_sql(word: Word, looked: Looked) -> Sql:
    value = _bytes(word.value).lower()
    places = (_folded("label"), _folded(_BEGINNING))
    surely = " OR ".join(f"instr({place}, ?)" for place in places)
    if not word.value.isascii() or "\0" in word.value:
        return surely, [value, value]
    # LIKE is three times as fast, and right about ASCII letters up to the first NUL; without ESCAPE by a tenth more.
    like = f"%{_LIKED.sub(_ESCAPED, word.value)}%"
    escape = r" ESCAPE '\'" if _LIKED.search(word.value) else ""
    label, raw = (f"CAST({place} AS TEXT) LIKE ?{escape}" for place in ("label", _BEGINNING))
    values: list[Any] = [like, like]
    if looked.label and value not in _bytes(looked.label).lower():
        label, values = f"label IS NOT ? AND {label}", [looked.label, like, like]
    quickly = f"{label} OR {raw}"
    if not looked.with_nul:
        return quickly, values
    odd = f"SELECT 1 FROM record AS odd INDEXED BY record_with_nul WHERE odd.seq = found.seq AND {WITH_NUL}"  # noqa: S608
    return f"{quickly} OR (EXISTS ({odd}) AND ({surely}))", [*values, value, value]


_LIKED = re.compile(r"[%_\\]")
_ESCAPED = r"\\\g<0>"
_BEGINNING = f"CASE WHEN size > {RAW} THEN substr(raw, 1, {RAW}) ELSE raw END"


def _text_holds(word: Word, record: Record, _: Around) -> bool:
    value = _bytes(word.value).lower()
    raw = record.raw[:RAW] if record.size > RAW else record.raw
    return value in _bytes(record.label).lower() or value in raw.lower()


_KEYS: dict[str, _Key] = {
    "kind": _Key(
        "artifact",
        None,
        lambda word, _: ("kind = ? OR event = ?", [word.value.lower()] * 2),
        lambda word, record, _: word.value.lower() in (record.kind, record.event),
    ),
    "task": _beginning("task", lambda record: record.task, "59f8"),
    "context": _beginning("context", lambda record: record.context, "1a9f"),
    "state": _Key(
        "failed",
        None,
        lambda word, _: ("state IN (?, ?)", [storable_text(state) for state in _states(word)]),
        lambda word, record, _: record.state in _states(word),
    ),
    "op": _Key(
        "SendMessage",
        None,
        lambda word, _: (
            "substr(operation, 1, ?) = ? COLLATE NOCASE",
            [len(word.value), storable_text(word.value)],
        ),
        lambda word, record, _: _bytes(record.operation).lower().startswith(_bytes(word.value).lower()),
    ),
    "finding": _Key("error", None, _finding_sql, _finding_holds),
    "gap": _number(
        "2s",
        _SECONDS,
        "gap",
        lambda record, around: None if around.before is None else record.at - around.before,
    ),
    "size": _number("10k", _BYTES, "size", lambda record, _: record.size),
    "at": _number("30s", _SECONDS, "at - ?", lambda record, around: record.at - around.began, since_began=True),
    "duration": _number(
        "5s",
        _SECONDS,
        "CASE WHEN kind = 'end' AND json_valid(meta) AND json_type(meta, '$.seconds') IN ('integer', 'real') "
        "THEN json_extract(meta, '$.seconds') END",
        _seconds,
    ),
    "": _Key("text", None, _text_sql, _text_holds),
}

NAMES = tuple(key for key in _KEYS if key)
"""The keys of words, in the order in which they are offered."""


class _MistakeError(Exception):
    """Raised with the position and the sentence of a `Mistake`."""


def parse(line: str) -> Query | Mistake:
    """Parse a filter; an empty one matches every record."""
    if len(line) > LENGTH:
        return Mistake(LENGTH, f"A filter has at most {LENGTH} characters.")
    words: list[Word] = []
    rest = line.lstrip()
    try:
        while rest:
            position = len(line) - len(rest)
            if len(words) == WORDS:
                return Mistake(position, f"A filter has at most {WORDS} words.")
            word, end = _word(line, position)
            words.append(word)
            rest = line[end:].lstrip()
    except _MistakeError as error:
        return Mistake(*error.args)
    return Query(tuple(words))


def _word(line: str, start: int) -> tuple[Word, int]:
    negated = line[start] == "-"
    position = start + negated
    key, relation = "", ":"
    ahead = _AHEAD.match(line, position)
    if ahead:
        key, relation, position = ahead[1].lower(), ahead[2], ahead.end()
        if key not in NAMES:
            raise _MistakeError(start, f"There is no {key}{relation}; the keys are {', '.join(NAMES)}.")
    value, end = _value(line, position)
    if not value:
        what = f"{key}{relation}" if key else "-" if negated and position == end else "a quote"
        raise _MistakeError(position, f"Something has to follow {what}, such as {_KEYS[key].example}.")
    word = Word(key, relation, value, negated)
    _check(word, start, position)
    return word, end


def _value(line: str, position: int) -> tuple[str, int]:
    """Return a value, in quotes or up to a space, and where it ends."""
    found = _VALUE.match(line, position)
    if found is None:
        raise _MistakeError(position, "A quote is missing at the end of the text.")
    return (found[0] if found[1] is None else _ESCAPE.sub(r"\1", found[1])), found.end()


def _check(word: Word, start: int, position: int) -> None:
    units = _KEYS[word.key].numbers
    if units is None:
        if word.relation != ":":
            raise _MistakeError(start, f"{word.key} cannot be compared; write {word.key}:{_KEYS[word.key].example}.")
        if word.key == "kind" and word.value.lower() not in KINDS:
            raise _MistakeError(position, f"There is no such kind; the kinds are {', '.join(KINDS)}.")
        return
    if _amount(word) is None:
        names = ", ".join(unit for unit in units if unit)
        raise _MistakeError(position, f"{word.key} is compared with a number and one of {names}.")


class Completion(NamedTuple):
    """Where the word that is being typed begins, and its completions."""

    start: int
    choices: tuple[str, ...]


def complete(line: str, seen: Mapping[str, Sequence[str]]) -> Completion:
    """Return the completions of the last word; `seen` has the values to offer for a key."""
    start = max((index + 1 for index, letter in enumerate(line) if letter.isspace()), default=0)
    start += line[start : start + 1] == "-"
    typed = line[start:]
    ahead = _AHEAD.match(typed)
    if ahead is None:
        offered = [f"{name}{':' if key.numbers is None else '>'}" for name, key in _KEYS.items() if name]
    else:
        known = KINDS if ahead[1].lower() == "kind" else seen.get(ahead[1].lower(), ())
        offered = [f"{ahead[0]}{value}" for value in known]
    wanted = typed.lower()
    return Completion(start, tuple(one for one in offered if one.lower().startswith(wanted) and one != typed))
