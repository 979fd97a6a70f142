"""Drafts as TOML: named snippets (`*.a2a.toml`) that can be kept in a repository, and the form of all kept drafts.

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
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from inspector.capture.private_files import reason
from inspector.protocol.jsonvalue import dump
from inspector.session.compose.draft import Draft, DraftPart, PartKind

SUFFIX = ".a2a.toml"
"""How the name of a snippet's file ends."""
LARGEST = 8_000_000
"""How large the file of a snippet may be, in bytes."""

_OPENING = "{{"
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_KINDS = {kind.value: kind for kind in PartKind}
_PART = {"media_type", "filename", "metadata"}
_MESSAGE = {"task", "context", "references", "extensions", "metadata", "id"}
_ANSWER = {"modes", "history", "blocking"}
_REQUEST = {"tenant", "metadata", "params"}
_TOP = {"title", "part", "message", "answer", "request"}


class SnippetError(ValueError):
    """A file is no snippet; `str` of it says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A draft with a name; `path` is where it is kept, None for nowhere."""

    title: str
    draft: Draft
    path: Path | None = None


def load(path: Path) -> Snippet:
    """Read a snippet; paths of files in it are beside it. Raises `SnippetError`."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise SnippetError(f"The snippet {path} could not be read: {reason(error)}.") from error
    if len(raw) > LARGEST:
        raise SnippetError(f"The snippet {path} is larger than {LARGEST:,} bytes.")
    try:
        snippet = read(tomllib.loads(raw.decode("utf-8")), beside=path.parent)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, SnippetError, RecursionError) as error:
        raise SnippetError(f"{path} is no snippet: {error}") from error
    return replace(snippet, title=snippet.title or path.name.removesuffix(SUFFIX), path=path)


def find(folders: Iterable[Path]) -> tuple[list[Snippet], list[str]]:
    """Read every snippet of some folders, by name, and say in sentences which could not be."""
    found, problems = [], []
    for folder in folders:
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            try:
                found.append(load(path))
            except SnippetError as error:
                problems.append(str(error))
    return found, problems


def read(table: Mapping[str, Any], *, beside: Path | None = None) -> Snippet:
    """Read a snippet from a table; raises `SnippetError` for a key that it does not know, or of another type."""
    if not isinstance(table, dict):
        raise SnippetError("it is no table.")
    _only("", table, _TOP)
    parts = tuple(_part(index, one, beside) for index, one in enumerate(_take(table, "part", list, []), 1))
    message = _table(table, "message", _MESSAGE)
    answer = _table(table, "answer", _ANSWER)
    request = _table(table, "request", _REQUEST)
    history = _take(answer, "history", int, None)
    given: dict[str, str] = {"message_id": name} if (name := _take(message, "id", str, "")) else {}
    return Snippet(
        _take(table, "title", str, ""),
        Draft(
            parts,
            task_id=_take(message, "task", str, ""),
            context_id=_take(message, "context", str, ""),
            references=_strings(message, "references"),
            metadata=_json(message, "metadata"),
            extensions=_strings(message, "extensions"),
            blocking=_take(answer, "blocking", bool, True),
            history_length=history,
            accepted_output_modes=_strings(answer, "modes"),
            request_metadata=_json(request, "metadata"),
            tenant=_take(request, "tenant", str, ""),
            svc_params=_params(request),
            **given,
        ),
    )


def write(title: str, draft: Draft, *, whole: bool = False) -> dict[str, Any]:
    """Return a draft as a table that `read` reads; what says nothing is left out.

    Its ids are left out as well, being those of one message, unless the `whole` draft is to be taken up again.
    """
    tables: dict[str, dict[str, Any]] = {
        "message": {
            "task": draft.task_id,
            "context": draft.context_id,
            "references": list(draft.references),
            "extensions": list(draft.extensions),
            "metadata": draft.metadata,
            "id": draft.message_id if whole else "",
        },
        "answer": {"modes": list(draft.accepted_output_modes), "history": draft.history_length},
        "request": {"tenant": draft.tenant, "metadata": draft.request_metadata, "params": dict(draft.svc_params)},
    }
    given = {
        name: {key: value for key, value in table.items() if value not in ("", [], {}, None)}
        for name, table in tables.items()
    }
    if not draft.blocking:
        given["answer"]["blocking"] = False
    return {
        **({"title": title} if title else {}),
        "part": [_written(part) for part in draft.parts],
        **{name: table for name, table in given.items() if table},
    }


def save(path: Path, title: str, draft: Draft, *, replacing: bool = False) -> None:
    """Write a snippet to a file; without `replacing`, an existing one raises `FileExistsError`. Raises `OSError`.

    The paths of files in it are written as they are found from there.
    """
    draft = replace(draft, parts=tuple(_placed(part, path.parent) for part in draft.parts))
    with path.open("w" if replacing else "x", encoding="utf-8", errors="replace", newline="") as file:
        file.write(as_toml(write(title, draft)))


def as_toml(table: Mapping[str, Any]) -> str:
    """Write a table as TOML, texts of many lines as such where that changes nothing about them."""
    plain = tomli_w.dumps(table)
    return plain if "\\r" in plain else tomli_w.dumps(table, multiline_strings=True)


def _placed(part: DraftPart, folder: Path) -> DraftPart:
    """Return a part with the path of its file beside a folder, in full where it is elsewhere."""
    if part.kind is not PartKind.FILE or part.is_blank or part.value.startswith(("~", _OPENING)):
        return part
    whole = Path(part.value).absolute()
    beside = folder.absolute()
    return replace(part, value=whole.relative_to(beside).as_posix() if whole.is_relative_to(beside) else str(whole))


# ── variables ──


def variables(draft: Draft) -> tuple[str, ...]:
    """Return the names of the variables (`{{name}}`) of a draft, in the order in which they stand there."""
    names: dict[str, None] = {}

    def note(text: str) -> str:
        names.update(dict.fromkeys(_VARIABLE.findall(text)))
        return text

    _each(draft, note, note)
    return tuple(names)


def fill_variables(draft: Draft, values: Mapping[str, str]) -> Draft:
    """Put values in the place of variables; one without a value stays as it is.

    In JSON a value stands inside of a string and is escaped; one that is to be a number or an object is written in the
    snippet itself.
    """

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
    return replace(
        draft,
        parts=parts,
        task_id=change(draft.task_id),
        context_id=change(draft.context_id),
        references=tuple(map(change, draft.references)),
        metadata=change_json(draft.metadata),
        extensions=tuple(map(change, draft.extensions)),
        accepted_output_modes=tuple(map(change, draft.accepted_output_modes)),
        request_metadata=change_json(draft.request_metadata),
        tenant=change(draft.tenant),
        svc_params=tuple((name, change(value)) for name, value in draft.svc_params),
    )


# ── reading tables ──


def _part(index: int, table: Any, beside: Path | None) -> DraftPart:
    where = f"part {index}"
    if not isinstance(table, dict):
        raise SnippetError(f"{where} is no table.")
    kinds = [name for name in _KINDS if name in table]
    if len(kinds) != 1:
        raise SnippetError(f"{where} has one of text, file, url and data.")
    kind = _KINDS[kinds[0]]
    _only(where, table, _PART | {kind.value})
    value: str = _json(table, "data") if kind is PartKind.DATA else _take(table, kind.value, str, "")
    # Where a path begins with a variable, that says where it is; an empty one names nothing.
    if kind is PartKind.FILE and beside is not None and value and not value.startswith(("~", _OPENING)):
        value = str(beside / value)
    return DraftPart(
        kind,
        value,
        media_type=_take(table, "media_type", str, ""),
        filename=_take(table, "filename", str, ""),
        metadata=_json(table, "metadata"),
    )


def _written(part: DraftPart) -> dict[str, str]:
    members = {"media_type": part.media_type, "filename": part.filename, "metadata": part.metadata}
    return {part.kind.value: part.value} | {name: value for name, value in members.items() if value}


def _table(table: Mapping[str, Any], name: str, known: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = _take(table, name, dict, {})
    _only(name, found, known)
    return found


def _only(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    for name in table:
        if name not in known:
            place = f"{where} has" if where else "There is"
            raise SnippetError(f"{place} no {name!r}; there is {', '.join(sorted(known))}.")


def _take(table: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    value = table.get(name, default)
    if value is not default and type(value) is not kind:
        raise SnippetError(f"{name} is to be {_WORDS[kind]}.")
    return value


_WORDS = {str: "a text", int: "a number", bool: "true or false", list: "an array", dict: "a table"}


def _strings(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = _take(table, name, list, [])
    if not all(isinstance(one, str) for one in found):
        raise SnippetError(f"{name} is to be an array of texts.")
    return tuple(found)


def _params(table: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found = _take(table, "params", dict, {})
    if not all(isinstance(value, str) for value in found.values()):
        raise SnippetError("params is to be a table of texts.")
    return tuple(found.items())


def _json(table: Mapping[str, Any], name: str) -> str:
    """Return a member as JSON text: a text is JSON already, anything else is written as JSON."""
    value = table.get(name, "")
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:  # TOML has dates and infinities, JSON has none
        raise SnippetError(f"{name} holds what JSON has not: {error}.") from error
