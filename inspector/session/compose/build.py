"""Build the request of a draft: read files, parse JSON, report problems."""

from __future__ import annotations

import base64
import json
import mimetypes
import re
import stat
import uuid
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from inspector.capture.private_files import reason
from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import FileSplice, GrpcRequest, WireRequest
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import brief, parse_strictly, repeated_names, type_name
from inspector.protocol.model import Json, Message, Part, PushConfig, SendConfiguration, SendRequest, Unreadable
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.text.typed_path import typed_path
from inspector.text.units import size

IN_MEMORY = 8_000_000
"""The largest file in bytes that is read when the request is built; larger files are read while the request is sent."""
LARGEST_MESSAGE = 64_000_000
"""The largest file in a gRPC message, in bytes: these messages are built in memory."""
_COMPRESSED = {
    "gzip": "application/gzip",
    "bzip2": "application/x-bzip2",
    "compress": "application/x-compress",
    "xz": "application/x-xz",
}
"""The media types of compressed files, by the names that `mimetypes` has for the compression."""
_HUGE = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{309}")


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason why no request can be built from a draft; `where` is `parts/0/metadata`, `metadata` or similar."""

    where: str
    words: str


class DraftError(FaultError):
    """Raised for a draft with problems; its fault describes the first problem."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(Fault(Whose.YOURS, FaultCode.USAGE, problems[0].words))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A file that is read while it is sent; `mark` replaces its content in the request until then."""

    mark: str
    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class ComposedMessage:
    """The request of a draft, without the content of its large files; it must not be sent if there are problems."""

    draft: Draft
    request: SendRequest
    files: tuple[LargeFile, ...] = ()
    problems: tuple[Problem, ...] = ()

    def check(self) -> None:
        """Raise `DraftError` if there is a problem."""
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
        body, splices = _insert(self.files, wire.body)
        return replace(wire, headers={**kept, **params}, body=body, splices=splices)


class _InvalidError(Exception):
    """A part or a member cannot be read; `below` is the pointer to the member in the part."""

    def __init__(self, words: str, below: str = "") -> None:
        super().__init__(words)
        self.below = below


def compose(
    draft: Draft, *, tenant: str | None = None, push: PushConfig | None = None, whole: bool = False
) -> ComposedMessage:
    """Build the request of a draft without its empty members; with `whole`, every file is read now."""
    problems: list[Problem] = []
    files: list[LargeFile] = []
    parts: list[Part] = []
    for index, written in enumerate(draft.parts):
        try:
            parts.append(_part(written, files, whole=whole))
        except _InvalidError as error:
            problems.append(Problem(f"parts/{index}{error.below}", str(error)))
    if not draft.parts:
        problems.append(Problem("parts", "A message needs at least one part."))

    def member(where: str, text: str) -> dict[str, Json] | None:
        try:
            return _object(text)
        except _InvalidError as error:
            problems.append(Problem(where, f"The {where.replace('_', ' ')} {error}"))
            return None

    message = _non_empty(
        message_id=draft.message_id,
        context_id=draft.context_id,
        task_id=draft.task_id,
        role="ROLE_USER",
        parts=parts,
        metadata=member("metadata", draft.metadata),
        extensions=list(draft.extensions),
        reference_task_ids=list(draft.references),
    )
    configuration = _non_empty(
        accepted_output_modes=list(draft.accepted_output_modes), task_push_notification_config=push
    )
    if draft.history_length is not None:
        configuration["history_length"] = draft.history_length
    configuration["return_immediately"] = not draft.blocking
    request = SendRequest(
        **_non_empty(tenant=draft.tenant or tenant, metadata=member("request_metadata", draft.request_metadata)),
        message=Message(**message),
        configuration=SendConfiguration(**configuration),
    )
    return ComposedMessage(draft, request, tuple(files), tuple(problems))


def _insert(files: tuple[LargeFile, ...], body: bytes) -> tuple[bytes, tuple[FileSplice, ...]]:
    """Return a body without the marks of files, and the position of each file."""
    splices: list[FileSplice] = []
    for file in sorted(files, key=lambda file: body.find(file.mark.encode("ascii"))):
        before, mark, after = body.partition(file.mark.encode("ascii"))
        if mark:  # some versions leave such parts out
            splices.append(FileSplice(len(before), file.path, file.size))
            body = before + after
    return body, tuple(splices)


def guess_type(name: str, *, unknown: str = "application/octet-stream") -> str:
    """Return the media type of a file from its name; of a compressed file, that of the compressed bytes."""
    media_type, compression = mimetypes.guess_type(name)
    if compression:
        media_type = _COMPRESSED.get(compression)
    return media_type or unknown


def guess_members(part: DraftPart) -> tuple[str, str]:
    """Return the media type and the file name for a part that is written without them; `""` for what is not known.

    The type of a link is not guessed from an unknown ending of its name: the server of the file knows it.
    """
    match part.kind:
        case PartKind.FILE:
            name = PurePath(part.value).name
            return guess_type(part.filename or name), name
        case PartKind.LINK:
            name = name_in_url(part.value)
            return guess_type(part.filename or name, unknown=""), name
        case PartKind.DATA:
            return "application/json", ""
    return "", ""


def name_in_url(url: str) -> str:
    """Return the last segment of a URL's path, `""` if it has none."""
    try:
        return PurePosixPath(unquote(urlsplit(url).path)).name
    except ValueError:
        return ""


# ── parts ──


def _part(written: DraftPart, files: list[LargeFile], *, whole: bool) -> Part:
    members = _members(written)
    if written.kind is PartKind.FILE:
        members |= _content(_path(written.value), files, whole=whole)
    try:
        metadata = _object(written.metadata)
    except _InvalidError as error:
        raise _InvalidError(f"The metadata {error}", "/metadata") from error
    return Part(**members, **_non_empty(metadata=metadata))


def _members(written: DraftPart) -> dict[str, Any]:
    """Return the members of a part, without its metadata and the content of a file."""
    content: dict[str, Any] = {}
    match written.kind:
        case PartKind.TEXT:
            content = {"text": _encodable(written.value)}
        case PartKind.FILE:
            if not written.value:
                raise _InvalidError("Enter the path of a file.")
        case PartKind.LINK:
            if written.is_blank:
                raise _InvalidError("Enter the URL of a file.")
            content = {"url": _encodable(written.value)}
        case PartKind.DATA:
            if written.is_blank:
                raise _InvalidError("Enter JSON.")
            content = {"data": _data(written.value)}
    media_type, name = guess_members(written)
    filename = _encodable(written.filename or name)
    return content | _non_empty(filename=filename, media_type=written.media_type or media_type)


def _data(text: str) -> Json:
    value = parse_strictly(_bytes(text))
    if isinstance(value, Unreadable):
        raise _InvalidError(f"This is {value.why}." if value.why.startswith("not JSON") else f"Not JSON: {value.why}.")
    if why := _why_not_sent(text, value):
        raise _InvalidError(f"This cannot be sent: {why}.")
    return value


def _path(value: str) -> Path:
    try:
        return typed_path(value)
    except OSError as error:
        raise _InvalidError(f"The file {value} could not be read: {error.strerror}.") from error


def _content(path: Path, files: list[LargeFile], *, whole: bool) -> dict[str, Any]:
    """Return the content of a file, or a mark if it is read while it is sent."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _InvalidError(f"{path} is {'a folder' if stat.S_ISDIR(found.st_mode) else 'not a file'}.")
        if whole and found.st_size > LARGEST_MESSAGE:
            raise _InvalidError(
                f"{path} has {size(found.st_size)}; over gRPC a file can have at most {size(LARGEST_MESSAGE)}. "
                "Use JSON-RPC or HTTP+JSON."
            )
        if found.st_size <= IN_MEMORY:
            return {"raw": _encoded(path, found.st_mtime_ns, found.st_size)}
        if whole:
            return {"raw": base64.b64encode(path.read_bytes()).decode("ascii")}
        path.open("rb").close()  # fails now and not in the middle of the request
    except OSError as error:
        raise _InvalidError(f"The file {path} could not be read: {reason(error)}.") from error
    except ValueError as error:  # a NUL in its path
        raise _InvalidError(f"The file {path} could not be read: {error}.") from error
    files.append(LargeFile(uuid.uuid4().hex, path, found.st_size))
    return {"raw": files[-1].mark}


@lru_cache(maxsize=4)
def _encoded(path: Path, _changed: int, _size: int) -> str:
    """Return a file in base64; cached because the request is built again for every key that is typed."""
    return base64.b64encode(path.read_bytes()).decode("ascii")


def _object(text: str) -> dict[str, Json] | None:
    if not text.strip():
        return None
    value = parse_strictly(_bytes(text))
    if isinstance(value, Unreadable):
        raise _InvalidError(f"cannot be read: {value.why}.")
    if why := _why_not_sent(text, value):
        raise _InvalidError(f"cannot be sent: {why}.")
    if not isinstance(value, dict):
        raise _InvalidError(f"must be a JSON object, not {type_name(value)}.")
    return value


def _why_not_sent(text: str, value: Json) -> str:
    """Return why the value of a JSON text would not be sent as written, `""` if it would.

    Infinity is sent as null, and of repeated members only the last.
    """
    if _HUGE.search(text) is not None:
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            return "a number that is too large for JSON readers"
    repeated: list[str] = []
    json.loads(text, object_pairs_hook=lambda pairs: repeated.extend(repeated_names(pairs)))
    if repeated:
        return f"the member {brief(repeated[0])} is repeated; remove it, or repeat it in the raw request"
    return ""


def _bytes(text: str) -> bytes:
    """Encode a text that may have lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which come from a terminal or a shell that is not UTF-8."""
    return _bytes(text).decode("utf-8", "replace")


def _non_empty(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value}
