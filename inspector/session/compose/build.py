"""From a draft to the request that it stands for: files are read, JSON is parsed, what is wrong is said."""

from __future__ import annotations

import base64
import json
import mimetypes
import re
import stat
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from inspector.capture.private_files import reason
from inspector.protocol.bindings.base import GrpcRequest, Inset, WireRequest
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import parse, type_name
from inspector.protocol.model import Json, Message, Part, PushConfig, SendConfiguration, SendRequest, Unreadable
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.text.units import size

IN_MEMORY = 8_000_000
"""Files of up to this size are read when the request is made, in bytes; larger ones while it is sent."""
LARGEST_MESSAGE = 64_000_000
"""The largest file that goes into a request which has to be made whole in memory, as a gRPC message has, in bytes."""
UNKNOWN_TYPE = "application/octet-stream"
_HUGE = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{309}")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a draft cannot be made into a request: `where` is `parts/0`, `parts/0/metadata`, `metadata` and the like."""

    where: str
    words: str


class DraftError(FaultError):
    """Raised where a draft cannot be made into a request; its fault is about the first of the `problems`."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(Fault(Whose.YOURS, FaultCode.USAGE, problems[0].words))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A file that is read while it is sent; `mark` stands for its content in the request until then."""

    mark: str
    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class ComposedMessage:
    """The request of a draft, the large files that it has only marks of, and the problems of the draft.

    Parts with a problem are left out of the request, which must not be sent then.
    """

    draft: Draft
    request: SendRequest
    files: tuple[LargeFile, ...] = ()
    problems: tuple[Problem, ...] = ()

    def check(self) -> None:
        """Raise `DraftError` where there is a problem."""
        if self.problems:
            raise DraftError(self.problems)

    def encode(self, url: str, choice: Choice, operation: Operation) -> WireRequest:
        """Build the wire request with its files, extensions and service parameters (1.0 section 3.2.6)."""
        draft, dialect = self.draft, choice.dialect
        wire = choice.binding.encode(url, dialect, operation, self.request, draft.request_id)
        params = dict(draft.svc_params)
        if dialect.extensions_header and draft.extensions:
            named = dialect.extensions_header.lower() in map(str.lower, params)
            params = params if named else {dialect.extensions_header: ", ".join(draft.extensions), **params}
        if isinstance(wire, GrpcRequest):
            metadata = {name.lower(): value for name, value in params.items()}
            return replace(wire, metadata={**wire.metadata, **metadata})
        names = {name.lower() for name in params}
        kept = {name: value for name, value in wire.headers.items() if name.lower() not in names}
        body, insets = _insert(self.files, wire.body)
        return replace(wire, headers={**kept, **params}, body=body, insets=insets)


class _BadError(ValueError):
    """A part or a member cannot be read; `below` is the member of the part, `""` for the part itself."""

    def __init__(self, words: str, below: str = "") -> None:
        super().__init__(words)
        self.below = below


def compose(
    draft: Draft, *, tenant: str | None = None, push: PushConfig | None = None, whole: bool = False
) -> ComposedMessage:
    """Make the canonical request of a draft; members that say nothing are left out of it.

    `whole` is for transports whose requests are made in memory: no file may be read later then.
    """
    problems: list[Problem] = []
    files: list[LargeFile] = []
    parts: list[Part] = []
    for index, written in enumerate(draft.parts):
        try:
            parts.append(_part(written, files, whole=whole))
        except _BadError as error:
            problems.append(Problem(f"parts/{index}{error.below}", str(error)))
    if not draft.parts:
        problems.append(Problem("parts", "A message has at least one part."))

    def member(where: str, text: str) -> dict[str, Json] | None:
        try:
            return _object(text)
        except _BadError as error:
            problems.append(Problem(where, f"The {where.replace('_', ' ')}: {error}"))
            return None

    message = _given(
        message_id=draft.message_id,
        context_id=draft.context_id,
        task_id=draft.task_id,
        role="ROLE_USER",
        parts=parts,
        metadata=member("metadata", draft.metadata),
        extensions=list(draft.extensions),
        reference_task_ids=list(draft.references),
    )
    configuration = _given(accepted_output_modes=list(draft.accepted_output_modes), task_push_notification_config=push)
    if draft.history_length is not None:
        configuration["history_length"] = draft.history_length
    configuration["return_immediately"] = not draft.blocking
    request = SendRequest(
        **_given(tenant=draft.tenant or tenant, metadata=member("request_metadata", draft.request_metadata)),
        message=Message(**message),
        configuration=SendConfiguration(**configuration),
    )
    return ComposedMessage(draft, request, tuple(files), tuple(problems))


def _insert(files: tuple[LargeFile, ...], body: bytes) -> tuple[bytes, tuple[Inset, ...]]:
    """Return a body without the marks of files, and where each file is inserted while it is sent."""
    insets: list[Inset] = []
    for file in sorted(files, key=lambda file: body.find(file.mark.encode("ascii"))):
        before, mark, after = body.partition(file.mark.encode("ascii"))
        if mark:  # a version without such parts has no place for it
            insets.append(Inset(len(before), file.path, file.size))
            body = before + after
    return body, tuple(insets)


def guess_type(name: str) -> str:
    """Return the media type that the name of a file speaks of."""
    return mimetypes.guess_type(name)[0] or UNKNOWN_TYPE


def name_in_url(url: str) -> str:
    """Return the last segment of a url's path, `""` where it has none."""
    try:
        return PurePosixPath(unquote(urlsplit(url).path)).name
    except ValueError:
        return ""


# ── the parts ──


def _part(written: DraftPart, files: list[LargeFile], *, whole: bool) -> Part:
    members = _MAKERS[written.kind](written)
    if written.kind is PartKind.FILE:
        members |= _content(_path(written.value), files, whole=whole)
    try:
        metadata = _object(written.metadata)
    except _BadError as error:
        raise _BadError(f"The metadata: {error}", "/metadata") from error
    return Part(**members, **_given(metadata=metadata))


def _text(written: DraftPart) -> dict[str, Any]:
    return {"text": _whole(written.value)} | _given(filename=_whole(written.filename), media_type=written.media_type)


def _file(written: DraftPart) -> dict[str, Any]:
    if not written.value:
        raise _BadError("Name a file.")
    name = _whole(written.filename or _path(written.value).name)
    return _given(filename=name, media_type=written.media_type or guess_type(name))


def _path(value: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError as error:  # the home of a user that there is not
        raise _BadError(f"The file {value} could not be read: nobody has such a home.") from error


def _link(written: DraftPart) -> dict[str, Any]:
    if not written.value.strip():
        raise _BadError("Give the url of a file.")
    name = _whole(written.filename or name_in_url(written.value))
    return {"url": _whole(written.value)} | _given(filename=name, media_type=written.media_type or guess_type(name))


def _data(written: DraftPart) -> dict[str, Any]:
    if written.is_blank:
        raise _BadError("Write some JSON.")
    value = _parsed(written.value)
    if isinstance(value, Unreadable):
        raise _BadError(f"This is {value.why}." if value.why.startswith("not JSON") else f"Not JSON: {value.why}.")
    named = _given(filename=_whole(written.filename), media_type=written.media_type or "application/json")
    return {"data": value} | named


_MAKERS: dict[PartKind, Callable[[DraftPart], dict[str, Any]]] = {
    PartKind.TEXT: _text,
    PartKind.FILE: _file,
    PartKind.LINK: _link,
    PartKind.DATA: _data,
}


def _content(path: Path, files: list[LargeFile], *, whole: bool) -> dict[str, Any]:
    """Return the content of a file, or a mark for it where the file is read only while it is sent."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _BadError(f"{path} is {'a folder' if stat.S_ISDIR(found.st_mode) else 'not a file'}.")
        if whole and found.st_size > LARGEST_MESSAGE:
            raise _BadError(
                f"{path} has {size(found.st_size)}, and a message over gRPC is made whole in memory: "
                f"{size(LARGEST_MESSAGE)} at most. JSON-RPC and HTTP+JSON take it."
            )
        if found.st_size <= IN_MEMORY:
            return {"raw": _encoded(path, found.st_mtime_ns, found.st_size)}
        if whole:
            return {"raw": base64.b64encode(path.read_bytes()).decode("ascii")}
        with path.open("rb"):
            pass  # one that may not be read is said to be so now, and not in the middle of the request
    except OSError as error:
        raise _BadError(f"The file {path} could not be read: {reason(error)}.") from error
    except _BadError:
        raise
    except ValueError as error:  # a NUL in its path
        raise _BadError(f"The file {path} could not be read: {error}.") from error
    files.append(LargeFile(uuid.uuid4().hex, path, found.st_size))
    return {"raw": files[-1].mark}


@lru_cache(maxsize=4)
def _encoded(path: Path, _changed: int, _size: int) -> str:
    """Return a file in base64; kept for a while, because the request is made anew at every key that is typed."""
    return base64.b64encode(path.read_bytes()).decode("ascii")


def _object(text: str) -> dict[str, Json] | None:
    if not text.strip():
        return None
    value = _parsed(text)
    if isinstance(value, Unreadable):
        raise _BadError(f"{value.why}.")
    if not isinstance(value, dict):
        raise _BadError(f"an object is due, this is {type_name(value)}.")
    return value


def _parsed(text: str) -> Json | Unreadable:
    """Read JSON that will be written again, which a number that was read as infinity would be as null."""
    value = parse(_bytes(text))
    if not isinstance(value, Unreadable) and _HUGE.search(text) is not None:
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            return Unreadable(text, "a number beyond what JSON's readers know")
    return value


def _bytes(text: str) -> bytes:
    """Return a text as it was before it was decoded, whatever stood in it."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _whole(text: str) -> str:
    """Return a text that can go on the wire: what a terminal or a shell hands on need not be UTF-8."""
    return _bytes(text).decode("utf-8", "replace")


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value}
