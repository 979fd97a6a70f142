"""The parts of a message, made from what was typed (section 10.2)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from inspector.cli.arguments import PartSpec
from inspector.cli.errors import usage
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable
from inspector.session.compose.draft import DraftPart, PartKind

_STDIN = "-"


def make_parts(specs: Sequence[PartSpec]) -> tuple[DraftPart, ...]:
    """Make the parts in order; raises `FaultError` where JSON cannot be read."""
    if sum(spec.kind == PartKind.DATA and spec.value == _STDIN for spec in specs) > 1:
        raise usage("--data - stands there twice, and stdin can be read once.")
    return tuple(_part(spec) for spec in specs)


def _part(spec: PartSpec) -> DraftPart:
    kind, value = PartKind(spec.kind), spec.value
    if kind is PartKind.FILE and value.startswith(("http://", "https://")):
        kind = PartKind.LINK
    if kind is PartKind.DATA:
        value = _json(spec.value)
    return DraftPart(kind, value, spec.media_type, spec.filename, spec.metadata)


def _json(place: str) -> str:
    raw = sys.stdin.buffer.read() if place == _STDIN else _read(Path(place))
    value = parse(raw)
    if isinstance(value, Unreadable):
        where = "stdin" if place == _STDIN else place
        raise usage(f"--data: {where} holds no JSON: {value.why}.")
    return raw.decode("utf-8")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise usage(f"The file {path} could not be read: {error.strerror or error}.") from error
