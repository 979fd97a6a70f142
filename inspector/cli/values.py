"""Parse the values of options; each function raises `ArgumentTypeError` with the reason."""

from __future__ import annotations

import json
import math
import os
import re
from argparse import ArgumentTypeError
from collections.abc import Container
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from inspector.agents_file import NAME
from inspector.options import BINDING_NAMES
from inspector.protocol.dialects.traits import STABLE, VERSIONS
from inspector.protocol.lifecycle import State, short
from inspector.text.typed_path import typed_path

LEVELS = ("must", "should", "may")
"""The conformance levels. The enumeration of check files is not used, because it imports pydantic."""
_VERSION = re.compile(r"opvs|\d+(?:\.\d+){0,2}")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_TOKEN_MARKS = frozenset("!#$%&'*+-.^_`|~")
_SHORTEST = 0.01
"""Seconds; polling more often would be a busy loop."""


def duration(text: str) -> float:
    """Read `2s`, `500ms`, `1m`, `1h` or plain seconds."""
    number = text.strip().rstrip("hms")
    unit = text.strip()[len(number) :] or "s"
    try:
        seconds = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        raise ArgumentTypeError(f"{text!r} is not a duration; write 2s, 500ms or 1m") from None
    if not math.isfinite(seconds):
        raise ArgumentTypeError(f"{text!r} is not a finite duration; write 2s, 500ms or 1m")
    if seconds < _SHORTEST:
        raise ArgumentTypeError(f"{text!r} is too short; the shortest duration is {_SHORTEST:g}s")
    return seconds


def header(text: str) -> tuple[str, str]:
    """Read `Name: value`; the error does not repeat the value, which may be a secret."""
    name, colon, value = (piece.strip() for piece in text.partition(":"))
    if not colon or not name or not _is_made_of(name, _TOKEN_MARKS):
        raise ArgumentTypeError("not a header; write it as Name: value")
    return name, _header_value(value)


def _is_made_of(name: str, marks: Container[str]) -> bool:
    return all((letter.isascii() and letter.isalnum()) or letter in marks for letter in name)


def _header_value(text: str) -> str:
    """Read the value of a header: printable ASCII."""
    text = text.strip()
    if not text.isascii() or not text.isprintable():
        raise ArgumentTypeError("the value has characters that a header cannot contain")
    return text


def secret(text: str) -> str:
    """Read a secret that a header can contain, which is not empty."""
    return _header_value(_not_empty(text))


def secret_reference(text: str) -> str:
    """Read `env:NAME`, but not a secret itself: other users can see options in the list of processes."""
    if not text.startswith("env:") or not text.removeprefix("env:").isidentifier():
        raise ArgumentTypeError("not a reference to an environment variable; write it as env:NAME")
    return text


def token(text: str) -> str:
    """Read a token or a key, or `env:NAME` for a variable that contains it."""
    return secret(_referenced(text))


def bearer(text: str) -> str:
    """Read a token like `token`, but not a whole header: `Bearer` is added to it."""
    value = token(text)
    if value.lower().startswith("bearer "):
        raise ArgumentTypeError("the value begins with Bearer, which is added to it; write only the token after it")
    return value


def _referenced(text: str) -> str:
    """Return the value of the variable that a text refers to (`env:NAME`), other texts unchanged."""
    name = text.removeprefix("env:")
    if name == text:
        return text
    return _variable(name)


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise ArgumentTypeError(f"the environment variable {name} is {'not set' if value is None else 'empty'}")
    return value


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ArgumentTypeError("the value is empty")
    return text


def user_and_password(text: str) -> str:
    """Read `USER:PASSWORD`, or `env:NAME` for a variable that contains both; the error does not repeat the password."""
    text = _not_empty(_referenced(text))
    user, colon, password = text.partition(":")
    if not user or not colon or not password or not text.isprintable():
        raise ArgumentTypeError("not a user name and a password; write them as USER:PASSWORD")
    return text


def natural(text: str) -> int:
    """Read a whole number from 0."""
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ArgumentTypeError(f"{text!r} is not a whole number from 0 to 999999999")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number from 1."""
    if natural(text) == 0:
        raise ArgumentTypeError("the smallest value is 1")
    return natural(text)


def port(text: str) -> int:
    """Read a port number; 0 is any free port."""
    if natural(text) > 65535:
        raise ArgumentTypeError(f"{text} is not a port; ports are from 0 to 65535")
    return natural(text)


def pace(text: str) -> float:
    """Read the factor for the mock agent's pauses; 0 removes them."""
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 0 <= factor <= 1000:
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to 1000")
    return factor


def pattern(text: str) -> re.Pattern[str]:
    """Read a regular expression."""
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ArgumentTypeError(f"not a regular expression: {error}") from None


def environment_secret(text: str) -> tuple[str, str]:
    """Read the name of an environment variable; return it with its value."""
    return text, _variable(text)


def words(text: str) -> tuple[str, ...]:
    """Read words separated by commas or blanks."""
    return tuple(text.replace(",", " ").split())


def json_text(text: str) -> str:
    """Read a JSON object and return its text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentTypeError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ArgumentTypeError("not a JSON object")
    return text


def variable(text: str) -> tuple[str, str]:
    """Read `name=value`."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ArgumentTypeError("not a variable; write it as NAME=VALUE")
    return name, value


def identifier(text: str) -> str:
    """Read an id, which is not empty."""
    return _not_empty(text)


def file(text: str) -> Path:
    """Read the path of a file."""
    try:
        return typed_path(text)
    except OSError as error:
        raise ArgumentTypeError(f"{text!r} is not a path: {error.strerror}") from None


def folder(text: str) -> Path:
    """Read the path of a folder, which may not exist yet."""
    path = file(text)
    for place in (path, *path.parents):
        if os.path.lexists(place) and not os.path.isdir(place):  # noqa: PTH112 - Path raises for a long name
            raise ArgumentTypeError(f"{str(place)!r} is not a folder")
    return path


def state(text: str) -> str:
    """Read a task state by its short name (`input-required`) or its name in 1.0."""
    wanted = f"TASK_STATE_{text.strip().upper().replace('-', '_').removeprefix('TASK_STATE_')}"
    if wanted not in list(State) or wanted == State.UNSPECIFIED:
        raise ArgumentTypeError(f"{text!r} is not a task state; choose from {', '.join(state_names())}")
    return wanted


def state_names() -> list[str]:
    """Return the short names of the task states."""
    return [short(state) for state in State if state is not State.UNSPECIFIED]


def binding(text: str) -> str:
    """Read the name of a binding in upper or lower case, and return it as cards spell it."""
    name = text.strip().upper()
    if name not in BINDING_NAMES:
        raise ArgumentTypeError(f"{text!r} is not a supported binding; choose from {', '.join(BINDING_NAMES)}")
    return name


def version(text: str) -> str:
    """Read a protocol version, with or without its patch number, and return its name."""
    name = text.strip().lower()
    short_name = ".".join(name.split(".")[:2])
    found = next((known for known in VERSIONS if known in (name, short_name, f"{name}.0")), None)
    if found is None or not _VERSION.fullmatch(name):
        drafts = ", ".join(f"{known} (a draft)" for known, traits in VERSIONS.items() if traits.experimental)
        raise ArgumentTypeError(
            f"{text!r} is not a supported protocol version; choose from {', '.join(STABLE)}, {drafts}"
        )
    return found


def moment(text: str) -> str:
    """Read an ISO 8601 time with its zone, and return it in the format of A2A 1.0 (section 5.6.1)."""
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a time; write it as 2026-01-31T12:00:00Z") from None
    if at.tzinfo is None:
        raise ArgumentTypeError(f"{text!r} has no time zone; add Z or an offset such as +01:00")
    try:
        return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except OverflowError:
        raise ArgumentTypeError(f"{text!r} is out of range") from None


def web_url(text: str) -> str:
    """Read an absolute http or https URL."""
    try:
        parts = urlsplit(text.strip())
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ArgumentTypeError("not a URL with http:// or https:// and a host")
    return text.strip()


def authentication(text: str) -> tuple[str, str]:
    """Read `Scheme:credentials`; the error does not repeat the credentials."""
    scheme, colon, credentials = (piece.strip() for piece in text.partition(":"))
    if not colon or not credentials or not _is_made_of(scheme, "-_"):
        raise ArgumentTypeError("not a scheme and credentials; write it as Bearer:abc")
    if not scheme:
        raise ArgumentTypeError("the scheme before the colon is missing")
    return scheme, secret(credentials)


def level(text: str) -> str:
    """Read a conformance level."""
    if text.lower() not in LEVELS:
        raise ArgumentTypeError(f"{text!r} is not must, should or may")
    return text.lower()


REPORTS = ("json", "junit", "tap", "html")
"""The formats of reports."""


def report(text: str) -> tuple[str, Path | None]:
    """Read the format of a report and its file, None for stdout."""
    name, _, path = text.partition("=")
    if name not in REPORTS:
        raise ArgumentTypeError(f"{name!r} is not json, junit, tap or html")
    return name, file(path) if path else None


def agent_name(text: str) -> str:
    """Read the name of an agent."""
    if NAME.fullmatch(text) is None:
        raise ArgumentTypeError(f"{text!r} is not a name: write letters, digits, - and _, first a letter")
    return text


def duration_text(text: str) -> str:
    """Read a duration, and return it as it was written."""
    duration(text)
    return text
