"""Parse a filter into a query, which SQLite and Python evaluate with the same results.

Example: `kind:artifact task:59f8 state:failed gap>2s size>10k finding:error op:SendMessage "text" -kind:keepalive`. A
record matches if it meets every condition; `-` before a condition negates it.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from inspector.capture.file_format import WITH_NUL, storable_text
from inspector.capture.records import Kind, Record
from inspector.findings.finding import Severity
from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import State
from inspector.text.short_id import end_of_id, is_part_of_id

LENGTH = 500
"""How many characters a filter may have."""
MOST_CONDITIONS = 32
"""How many conditions a filter may have, which limits the depth of its SQL."""
RAW = 4_096
"""How many bytes of a payload are searched for text, from its beginning."""

EVENT_NAMES = ("task", "message", "status", "artifact", "error", "card", "catalog", "unreadable", "http-error")
KINDS = (*EVENT_NAMES, *(kind.value for kind in Kind))
"""The values of `kind:`: the type of a payload, or the kind of a record."""

_SECONDS = {"ms": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BYTES = {"": 1.0, "b": 1.0, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9}
_COMPARED = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "=": operator.eq}

_AHEAD = re.compile(r"([A-Za-z]+)(:|>=|<=|>|<|=)")
_NUMBER = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([A-Za-z]*)")
_VALUE = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*)"|(?!")\S*', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

SOURCE = """(
    SELECT record.*, record.at - before.at AS gap
    FROM record LEFT JOIN record AS before ON before.seq = record.seq - 1
) AS found"""
"""The table of a query: every record with its `gap`, the seconds since the record before it. SQLite omits the join if
no condition uses `gap`."""

Sql: TypeAlias = tuple[str, list[Any]]


class RecordTimes(NamedTuple):
    """The times of the first record and (if there is one) of the previous record, with which a record is compared."""

    began: float
    before: float | None


class SearchFacts(NamedTuple):
    """Facts about the searched records that make a search fast.

    `began` is the time of the first record of the capture. `with_nul` is false if no searched record contains a NUL.
    `label` is a label that many records have, or `""`: the search text is compared with it once instead of once for
    each of these records.
    """

    began: float
    with_nul: bool = True
    label: str = ""


class Mistake(NamedTuple):
    """Why a line is not a valid filter: the position of the mistake from 0, and a sentence."""

    position: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; `key` is `""` for text, `relation` is `:`, or one of `> >= < <= =`."""

    key: str
    relation: str
    value: str
    negated: bool = False

    def __str__(self) -> str:
        quoted = '"' + self.value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        plain = self.key and self.value and not any(letter.isspace() or letter in '"\\' for letter in self.value)
        return f"{'-' * self.negated}{self.key}{self.relation if self.key else ''}{self.value if plain else quoted}"

    def sql(self, facts: SearchFacts) -> Sql:
        """Return the condition as SQL with parameters, and their values."""
        test, values = _KEYS[self.key].sql(self, facts)
        return (f"NOT coalesce({test}, 0)" if self.negated else f"({test})"), values

    def matches(self, record: Record, times: RecordTimes) -> bool:
        """Return whether a record meets the condition."""
        return _KEYS[self.key].matches(self, record, times) is not self.negated


@dataclass(frozen=True, slots=True)
class Query:
    """The conditions of a filter, all of which have to hold; `str` returns a line that is parsed as the same query."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.conditions))

    @property
    def unknown_states(self) -> list[str]:
        """The values of `state:` that are not the name of a task state, which only a faulty agent sends."""
        wanted = [condition for condition in self.conditions if condition.key == "state"]
        return [condition.value for condition in wanted if not set(_states(condition)) & set(State)]

    def sql(self, facts: SearchFacts) -> Sql:
        """Return the condition of `WHERE` in a query of `SOURCE`, and the values of its parameters."""
        tests, values = ["1"], []
        for condition in self.conditions:
            test, more = condition.sql(facts)
            tests.append(test)
            values += more
        return " AND ".join(tests), values

    def matches(self, record: Record, times: RecordTimes) -> bool:
        """Return whether a record matches."""
        return all(condition.matches(record, times) for condition in self.conditions)


class _Key(NamedTuple):
    """A key of the filter: an example value, and how its conditions are evaluated.

    `numbers` maps each unit to its factor; it is None if the values of the key are not numbers.
    """

    example: str
    numbers: Mapping[str, float] | None
    sql: Callable[[Condition, SearchFacts], Sql]
    matches: Callable[[Condition, Record, RecordTimes], bool]


def _amount(condition: Condition) -> float | None:
    """Return the number of a condition in seconds or bytes, None without a number or with an unknown unit."""
    number = _NUMBER.fullmatch(condition.value)
    factor = (_KEYS[condition.key].numbers or {}).get(number[2].lower()) if number else None
    return None if number is None or factor is None else float(number[1]) * factor


def _number(
    example: str,
    units: Mapping[str, float],
    column: str,
    read: Callable[[Record, RecordTimes], float | None],
    *,
    since_began: bool = False,
) -> _Key:
    """Return a key whose values are numbers; `column` is the SQL expression for the number that `read` returns."""

    def sql(condition: Condition, facts: SearchFacts) -> Sql:
        sign = "=" if condition.relation == ":" else condition.relation
        return f"{column} {sign} ?", [*([facts.began] if since_began else []), _amount(condition)]

    def matches(condition: Condition, record: Record, times: RecordTimes) -> bool:
        value, amount = read(record, times), _amount(condition)
        sign = "=" if condition.relation == ":" else condition.relation
        return value is not None and amount is not None and bool(_COMPARED[sign](value, amount))

    return _Key(example, units, sql, matches)


def _seconds(record: Record, _: RecordTimes) -> float | None:
    value = record.meta.get("seconds") if record.kind is Kind.END else None
    real = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if real and value is not None else None


def _part_of_id(column: str, read: Callable[[Record], str], example: str) -> _Key:
    """Return a key whose values begin or end an id; `column` is the SQL for the id that `read` returns."""

    def sql(condition: Condition, _: SearchFacts) -> Sql:
        begin, end = _bytes(condition.value), _bytes(end_of_id(condition.value))
        found = f"CAST({column} AS BLOB)"
        return f"substr({found}, 1, ?) = ? OR substr({found}, ?) = ?", [len(begin), begin, -len(end), end]

    return _Key(example, None, sql, lambda condition, record, _: is_part_of_id(condition.value, read(record)))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _folded(column: str) -> str:
    """Return the SQL of a column's bytes with ASCII letters in lower case, like `bytes.lower`."""
    return f"CAST(lower(CAST({column} AS TEXT)) AS BLOB)"


def _states(condition: Condition) -> tuple[str, str]:
    return condition.value, "TASK_STATE_" + condition.value.upper().replace("-", "_")


def _finding_sql(condition: Condition, _: SearchFacts) -> Sql:
    value, at = _found(condition)
    if not value:
        return "findings != ''", []
    listed = "CASE WHEN json_valid(findings) THEN findings ELSE '[]' END"
    part = f"CASE WHEN finding.type = 'array' THEN json_extract(finding.value, '$[{at}]') END"
    exists = f"EXISTS (SELECT 1 FROM json_each({listed}) AS finding WHERE {part} = ?)"  # noqa: S608 - constants only
    return f"findings != '' AND {exists}", [storable_text(value)]


def _found(condition: Condition) -> tuple[str, int]:
    """Return the rule or severity to search for (`""` for any finding), and its index in the JSON of a finding."""
    value = condition.value.lower()
    if value == "any":
        return "", 0
    return (value, 1) if value in set(Severity) else (condition.value.upper(), 0)


def _finding_matches(condition: Condition, record: Record, _: RecordTimes) -> bool:
    value, at = _found(condition)
    return any(not value or value == (found.severity if at else found.rule) for found in record.findings)


def _text_sql(condition: Condition, facts: SearchFacts) -> Sql:
    value = _bytes(condition.value).lower()
    places = (_folded("label"), _folded(_BEGINNING))
    exact = " OR ".join(f"instr({place}, ?)" for place in places)
    if not condition.value.isascii() or "\0" in condition.value:
        return exact, [value, value]
    # Up to the first NUL, LIKE finds the same ASCII texts as `instr`, three times as fast; without ESCAPE even faster.
    like = f"%{_LIKED.sub(_ESCAPED, condition.value)}%"
    escape = r" ESCAPE '\'" if _LIKED.search(condition.value) else ""
    label, raw = (f"CAST({place} AS TEXT) LIKE ?{escape}" for place in ("label", _BEGINNING))
    values: list[Any] = [like, like]
    if facts.label and value not in _bytes(facts.label).lower():
        label, values = f"label IS NOT ? AND {label}", [facts.label, like, like]
    fast = f"{label} OR {raw}"
    if not facts.with_nul:
        return fast, values
    odd = f"SELECT 1 FROM record AS odd INDEXED BY record_with_nul WHERE odd.seq = found.seq AND {WITH_NUL}"  # noqa: S608
    return f"{fast} OR (EXISTS ({odd}) AND ({exact}))", [*values, value, value]


_LIKED = re.compile(r"[%_\\]")
_ESCAPED = r"\\\g<0>"
_BEGINNING = f"CASE WHEN size > {RAW} THEN substr(raw, 1, {RAW}) ELSE raw END"


def _text_matches(condition: Condition, record: Record, _: RecordTimes) -> bool:
    value = _bytes(condition.value).lower()
    raw = record.raw[:RAW] if record.size > RAW else record.raw
    return value in _bytes(record.label).lower() or value in raw.lower()


_KEYS: dict[str, _Key] = {
    "kind": _Key(
        "artifact",
        None,
        lambda condition, _: ("kind = ? OR event = ?", [condition.value.lower()] * 2),
        lambda condition, record, _: condition.value.lower() in (record.kind, record.event),
    ),
    "task": _part_of_id("task", lambda record: record.task, "59f8"),
    "context": _part_of_id("context", lambda record: record.context, "1a9f"),
    "state": _Key(
        "failed",
        None,
        lambda condition, _: ("state IN (?, ?)", [storable_text(state) for state in _states(condition)]),
        lambda condition, record, _: record.state in _states(condition),
    ),
    "op": _Key(
        "SendMessage",
        None,
        lambda condition, _: (
            "substr(operation, 1, ?) = ? COLLATE NOCASE",
            [len(condition.value), storable_text(condition.value)],
        ),
        lambda condition, record, _: _bytes(record.operation).lower().startswith(_bytes(condition.value).lower()),
    ),
    "finding": _Key("error", None, _finding_sql, _finding_matches),
    "gap": _number(
        "2s",
        _SECONDS,
        "gap",
        lambda record, times: None if times.before is None else record.at - times.before,
    ),
    "size": _number("10k", _BYTES, "size", lambda record, _: record.size),
    "at": _number("30s", _SECONDS, "at - ?", lambda record, times: record.at - times.began, since_began=True),
    "duration": _number(
        "5s",
        _SECONDS,
        "CASE WHEN kind = 'end' AND json_valid(meta) AND json_type(meta, '$.seconds') IN ('integer', 'real') "
        "THEN json_extract(meta, '$.seconds') END",
        _seconds,
    ),
    "": _Key("text", None, _text_sql, _text_matches),
}

NAMES = tuple(key for key in _KEYS if key)
"""The keys of conditions, in the order in which they are offered."""


class _MistakeError(Exception):
    """Raised with the position and the sentence of a `Mistake`."""


def parse(line: str) -> Query | Mistake:
    """Parse a filter; an empty line matches every record."""
    if len(line) > LENGTH:
        return Mistake(LENGTH, f"A filter has at most {LENGTH} characters.")
    conditions: list[Condition] = []
    rest = line.lstrip()
    try:
        while rest:
            position = len(line) - len(rest)
            if len(conditions) == MOST_CONDITIONS:
                return Mistake(position, f"A filter has at most {MOST_CONDITIONS} conditions.")
            condition, end = _condition(line, position)
            conditions.append(condition)
            rest = line[end:].lstrip()
    except _MistakeError as error:
        return Mistake(*error.args)
    return Query(tuple(conditions))


def _condition(line: str, start: int) -> tuple[Condition, int]:
    negated = line[start] == "-"
    position = start + negated
    key, relation = "", ":"
    ahead = _AHEAD.match(line, position)
    if ahead:
        key, relation, position = ahead[1].lower(), ahead[2], ahead.end()
        if key not in NAMES:
            raise _MistakeError(start, f"Unknown key {key}; the keys are {', '.join(NAMES)}.")
    value, end = _value(line, position)
    if not value:
        what = f"{key}{relation}" if key else "-" if negated and position == end else "a quote"
        raise _MistakeError(position, f"A value is missing after {what}, such as {_KEYS[key].example}.")
    condition = Condition(key, relation, value, negated)
    _check(condition, start, position)
    return condition, end


def _value(line: str, position: int) -> tuple[str, int]:
    """Return a value, in quotes or up to a space, and the position of its end."""
    found = _VALUE.match(line, position)
    if found is None:
        raise _MistakeError(position, "The closing quote is missing.")
    return (found[0] if found[1] is None else _ESCAPE.sub(r"\1", found[1])), found.end()


def _check(condition: Condition, start: int, position: int) -> None:
    units = _KEYS[condition.key].numbers
    if units is None:
        if condition.relation != ":":
            raise _MistakeError(
                start, f"{condition.key} cannot be compared; write {condition.key}:{_KEYS[condition.key].example}."
            )
        if condition.key == "kind" and condition.value.lower() not in KINDS:
            raise _MistakeError(position, f"Unknown kind; the kinds are {', '.join(KINDS)}.")
        return
    if _amount(condition) is None:
        names = ", ".join(unit for unit in units if unit)
        raise _MistakeError(position, f"{condition.key} needs a number, with or without a unit: {names}.")


class Completion(NamedTuple):
    """The start of the condition that is being typed, and its completions."""

    start: int
    choices: tuple[str, ...]


def complete(line: str, seen: Mapping[str, Sequence[str]]) -> Completion:
    """Return the completions of the last condition; `seen` has the values to offer for each key."""
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
    return Completion(
        start, tuple(choice for choice in offered if choice.lower().startswith(wanted) and choice != typed)
    )
