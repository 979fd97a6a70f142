"""Drafts as TOML: named snippets (`*.a2a.toml`), and the format of all saved drafts.

title = "Summarise a report"
[[part]]
text = "Summarise {{topic}} in five lines."
[[part]]
file = "report.pdf"             # beside the snippet
[message]
extensions = ["https://example.com/ext/v1"]
[answer]
modes = ["text/markdown"]
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from inspector.capture.private_files import reason
from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import dump
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.text import safe_toml
from inspector.text.safe_toml import TomlError
from inspector.text.toml_positions import line_of, lines_of

SUFFIX = ".a2a.toml"
"""The end of the name of a snippet file."""
LARGEST = 8_000_000
"""The largest snippet file, in bytes."""

_OPENING = "{{"
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_KINDS = {kind.value: kind for kind in PartKind}
_PART = {"media_type", "filename", "metadata"}


class SnippetError(ValueError):
    """Raised for a file that is not a snippet; its text is the reason, `place` the path to the mistake in the table."""

    def __init__(self, why: str, *place: str | int) -> None:
        super().__init__(why)
        self.place = place


@contextmanager
def _within(*place: str | int) -> Iterator[None]:
    """Add the path of a table to the places of mistakes in it."""
    try:
        yield
    except SnippetError as error:
        error.place = (*place, *error.place)
        raise


@dataclass(frozen=True, slots=True)
class Snippet:
    """A draft with a name; `path` is its file, if it has one."""

    title: str
    draft: Draft
    path: Path | None = None


def load(path: Path) -> Snippet:
    """Read a snippet file; paths in it are relative to its folder. Raises `SnippetError`."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise SnippetError(f"The snippet {path} could not be read: {reason(error)}.") from error
    if len(raw) > LARGEST:
        raise SnippetError(f"The snippet {path} is larger than {LARGEST:,} bytes.")
    try:
        text = raw.decode("utf-8")
        snippet = read(safe_toml.read(text), beside=path.parent)
    except UnicodeDecodeError as error:
        raise SnippetError(f"{path} is not a valid snippet: not UTF-8 at byte {error.start}.") from error
    except TomlError as error:
        where = f"{path}:{error.line}" if error.line else path
        raise SnippetError(f"{where} is not a valid snippet: {error.why}.") from error
    except SnippetError as error:
        line = line_of(lines_of(text), *error.place)
        raise SnippetError(f"{path}:{line} is not a valid snippet: {error}") from error
    return replace(snippet, title=snippet.title or path.name.removesuffix(SUFFIX), path=path)


def find(folders: Iterable[Path]) -> tuple[list[Snippet], list[str]]:
    """Read every snippet of some folders by name, and return the errors as sentences."""
    found, problems = [], []
    for folder in folders:
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            try:
                found.append(load(path))
            except SnippetError as error:
                problems.append(str(error))
    return found, problems


def read(table: Mapping[str, Any], *, beside: Path | None = None) -> Snippet:
    """Read a snippet from a table; raises `SnippetError` for an unknown key or a wrong type."""
    if not isinstance(table, dict):
        raise SnippetError("it is not a table.")
    _only("", table, {"title", "part", *_MEMBERS})
    parts = []
    for index, part in enumerate(_take(table, "part", list, [])):
        with _within("part", index):
            parts.append(_part(index + 1, part, beside))
    values: dict[str, Any] = {}
    for name, members in _MEMBERS.items():
        found = _take(table, name, dict, {})
        with _within(name):
            _only(name, found, set(members))
            values |= {member: read_member(found, key) for key, (member, read_member) in members.items()}
    if not values["message_id"]:
        del values["message_id"]
    return Snippet(_text(table, "title"), Draft(tuple(parts), **values))


def write(title: str, draft: Draft, *, whole: bool = False) -> dict[str, Any]:
    """Return a draft as a table that `read` reads, without default values; `whole` includes the id of the message."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in _MEMBERS}
    for name, members in _MEMBERS.items():
        for key, (member, _) in members.items():
            value = getattr(draft, member)
            if value not in ("", (), None) and value is not True and (whole or member != "message_id"):
                plain = dict(value) if member == "svc_params" else value
                tables[name][key] = list(plain) if isinstance(plain, tuple) else plain
    return {
        **({"title": title} if title else {}),
        "part": [_written(part) for part in draft.parts],
        **{name: table for name, table in tables.items() if table},
    }


def save(path: Path, title: str, draft: Draft, *, replacing: bool = False) -> None:
    """Write a snippet to a file, with relative paths; raises `FileExistsError` if it exists, unless `replacing`."""
    draft = replace(draft, parts=tuple(_placed(part, path.parent) for part in draft.parts))
    with path.open("w" if replacing else "x", encoding="utf-8", errors="replace", newline="") as file:
        file.write(as_toml(write(title, draft)))


def as_toml(table: Mapping[str, Any]) -> str:
    """Write a table as TOML, with multi-line strings except for texts with a carriage return."""
    import tomlkit  # noqa: PLC0415 - few commands write a snippet

    def item(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: item(each) for name, each in value.items()}
        if isinstance(value, list):
            return [item(each) for each in value]
        if isinstance(value, str) and "\n" in value and "\r" not in value:
            # Begin the text on its own line; TOML leaves out a line break after the quotation marks.
            written = tomlkit.string(value, multiline=True).as_string().removeprefix('"""')
            return tomlkit.value(f'"""{written}' if written.startswith("\n") else f'"""\n{written}')
        return value

    return tomlkit.dumps(item(table))


def _placed(part: DraftPart, folder: Path) -> DraftPart:
    """Return a part with the path of its file relative to a folder if the file is in the folder."""
    if part.kind is not PartKind.FILE or part.is_blank or part.value.startswith(("~", _OPENING)):
        return part
    whole = Path(part.value).absolute()
    beside = folder.absolute()
    return replace(part, value=whole.relative_to(beside).as_posix() if whole.is_relative_to(beside) else str(whole))


# ── variables ──


def variables(draft: Draft) -> tuple[str, ...]:
    """Return the names of the variables (`{{name}}`) of a draft in their order."""
    names: list[str] = []

    def collect(text: str) -> str:
        names.extend(_VARIABLE.findall(text))
        return text

    _each(draft, collect, collect)
    return tuple(dict.fromkeys(names))


def fill_variables(draft: Draft, values: Mapping[str, str]) -> Draft:
    """Replace variables by their values; in JSON, the values are escaped as parts of a string."""

    def fill(text: str) -> str:
        return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)

    def fill_json(text: str) -> str:
        escaped = {name: dump(value).decode()[1:-1] for name, value in values.items()}
        return _VARIABLE.sub(lambda found: escaped.get(found[1], found[0]), text)

    return _each(draft, fill, fill_json)


def _each(draft: Draft, change: Callable[[str], str], change_json: Callable[[str], str]) -> Draft:
    """Return a draft with every text in it changed."""
    parts = tuple(
        replace(
            part,
            value=(change_json if part.kind is PartKind.DATA else change)(part.value),
            media_type=change(part.media_type),
            filename=change(part.filename),
            metadata=change_json(part.metadata),
        )
        for part in draft.parts
    )
    changes: dict[Callable[..., Any], Callable[[Any], Any]] = {
        _text: change,
        _json: change_json,
        _texts: lambda texts: tuple(map(change, texts)),
        _params: lambda params: tuple((name, change(value)) for name, value in params),
    }
    readers = {member: reader for members in _MEMBERS.values() for member, reader in members.values()}
    changed: dict[str, Any] = {"parts": parts}
    for name in (field.name for field in fields(draft)):
        if readers.get(name) in changes and name != "message_id":
            changed[name] = changes[readers[name]](getattr(draft, name))
    return replace(draft, **changed)


# ── reading tables ──


def _part(index: int, table: Any, beside: Path | None) -> DraftPart:
    where = f"part {index}"
    if not isinstance(table, dict):
        raise SnippetError(f"{where} is not a table.")
    kinds = [name for name in _KINDS if name in table]
    if len(kinds) != 1:
        raise SnippetError(f"{where} must have exactly one of text, file, url and data.")
    kind = _KINDS[kinds[0]]
    _only(where, table, _PART | {kind.value})
    value = (_json if kind is PartKind.DATA else _text)(table, kind.value)
    if kind is PartKind.FILE and beside is not None and value and not value.startswith(("~", _OPENING)):
        value = str(beside / value)
    return DraftPart(
        kind,
        value,
        media_type=_text(table, "media_type"),
        filename=_text(table, "filename"),
        metadata=_json(table, "metadata"),
    )


def _written(part: DraftPart) -> dict[str, str]:
    members = {"media_type": part.media_type, "filename": part.filename, "metadata": part.metadata}
    return {part.kind.value: part.value} | {name: value for name, value in members.items() if value}


def _only(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    for name in table:
        if name not in known:
            key = f"key {name!r} in {where}" if where else f"key {name!r}"
            raise SnippetError(f"unknown {key}; the keys are {', '.join(sorted(known))}.", name)


def _take(table: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    value = table.get(name, default)
    if value is not default and type(value) is not kind:
        raise SnippetError(f"{name} must be {_TYPES[kind]}.", name)
    return value


_TYPES = {str: "a text", int: "a number", bool: "true or false", list: "an array", dict: "a table"}


def _text(table: Mapping[str, Any], name: str) -> str:
    text: str = _take(table, name, str, "")
    return text


def _texts(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = _take(table, name, list, [])
    if not all(isinstance(text, str) for text in found):
        raise SnippetError(f"{name} must be an array of texts.", name)
    return tuple(found)


def _params(table: Mapping[str, Any], name: str) -> tuple[tuple[str, str], ...]:
    found = _take(table, name, dict, {})
    if not all(isinstance(value, str) for value in found.values()):
        raise SnippetError(f"{name} must be a table of texts.", name)
    return tuple(found.items())


def _json(table: Mapping[str, Any], name: str) -> str:
    """Return a member as JSON text; a text is JSON already."""
    value = table.get(name, "")
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:  # a date or infinity
        raise SnippetError(f"{name} has a value that JSON cannot represent: {error}.", name) from error


_MEMBERS: Mapping[str, Mapping[str, tuple[str, Callable[[Mapping[str, Any], str], Any]]]] = {
    "message": {
        "task": ("task_id", _text),
        "context": ("context_id", _text),
        "references": ("references", _texts),
        "extensions": ("extensions", _texts),
        "metadata": ("metadata", _json),
        "id": ("message_id", _text),
    },
    "answer": {
        "modes": ("accepted_output_modes", _texts),
        "history": ("history_length", lambda table, name: _take(table, name, int, None)),
        "blocking": ("blocking", lambda table, name: _take(table, name, bool, True)),
    },
    "request": {
        "tenant": ("tenant", _text),
        "metadata": ("request_metadata", _json),
        "params": ("svc_params", _params),
    },
}
"""By table and key: the member of a draft, and the function that reads it."""
