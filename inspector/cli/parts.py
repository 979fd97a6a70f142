"""The parts of a message, made from what was typed (section 10.2)."""

from __future__ import annotations

import base64
import mimetypes
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from inspector.cli.arguments import PartSpec
from inspector.cli.failure import usage
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Part, Unreadable

_UNKNOWN_TYPE = "application/octet-stream"
_STDIN = "-"


def make_parts(specs: Sequence[PartSpec]) -> tuple[Part, ...]:
    """Make the parts in order; raises `FaultError` where there is none, or where one cannot be read."""
    if not specs:
        raise usage("The message has no parts.", "Give it some with --text, --file or --data.")
    if sum(spec.kind == "data" and spec.value == _STDIN for spec in specs) > 1:
        raise usage("--data - stands there twice, and stdin can be read once.")
    return tuple(_MAKERS[spec.kind](spec) for spec in specs)


def _text(spec: PartSpec) -> Part:
    given: dict[str, Any] = {"media_type": spec.media_type} if spec.media_type else {}
    return Part(text=spec.value.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), **given)


def _file(spec: PartSpec) -> Part:
    if spec.value.startswith(("http://", "https://")):
        name = PurePosixPath(unquote(urlsplit(spec.value).path)).name
        named: dict[str, Any] = {"filename": name} if name else {}
        return Part(url=spec.value, media_type=spec.media_type or _guess(name), **named)
    path = Path(spec.value)
    content = base64.b64encode(_read(path)).decode("ascii")
    return Part(raw=content, filename=path.name, media_type=spec.media_type or _guess(path.name))


def _data(spec: PartSpec) -> Part:
    value = parse(sys.stdin.buffer.read() if spec.value == _STDIN else _read(Path(spec.value)))
    if isinstance(value, Unreadable):
        where = "stdin" if spec.value == _STDIN else spec.value
        raise usage(f"--data: {where} holds no JSON: {value.why}.")
    return Part(data=value, media_type=spec.media_type or "application/json")


_MAKERS = {"text": _text, "file": _file, "data": _data}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise usage(f"The file {path} could not be read: {error.strerror or error}.") from error


def _guess(name: str) -> str:
    return mimetypes.guess_type(name)[0] or _UNKNOWN_TYPE
