"""Bytes to JSON values, totally: what is not JSON becomes an `Unreadable` that says where and why."""

from __future__ import annotations

import json
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from inspector.protocol.model import Json, Unreadable

_QUOTED = 120
"""How many characters of a bad value a sentence quotes."""

ModelT = TypeVar("ModelT", bound=BaseModel)


def parse(raw: bytes) -> Json | Unreadable:
    """Read one JSON value from UTF-8 bytes; NaN and Infinity, which JSON does not have, are unreadable too."""
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        why = f"not UTF-8 at byte {error.start}"
    except json.JSONDecodeError as error:
        why = _explain(error)
    except RecursionError:
        why = "nested too deeply to be read"
    except ValueError as error:
        why = str(error)
    return Unreadable(raw.decode("utf-8", "replace"), why)


def read(model: type[ModelT], value: Json) -> ModelT | Unreadable:
    """Read a JSON value as a canonical object; members are known by their wire names only."""
    try:
        return model.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = "".join(f"/{step}" for step in first["loc"])
        return Unreadable(value, f"{model.__name__}{where}: {first['msg'][:_QUOTED]}")
    except RecursionError:
        return Unreadable(value, f"{model.__name__}: nested too deeply to be read")


def dump(value: Json) -> bytes:
    """Write a JSON value compactly, as it goes on the wire; a lone surrogate is written as its escape."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def _explain(error: json.JSONDecodeError) -> str:
    if not error.doc.strip():
        return "empty"
    if error.doc.startswith("\ufeff"):
        return "starts with a byte order mark"
    if error.doc.lstrip()[:1] == "<":
        return "HTML or XML, not JSON"
    return f"not JSON: {error.msg} at line {error.lineno} column {error.colno}"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
