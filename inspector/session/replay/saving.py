"""Save artifacts as files with safe names and exact bytes; names from an agent are untrusted."""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from mimetypes import MimeTypes
from pathlib import Path

from inspector.capture.private_files import CaptureError, private_folder, reason, replace_file
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import AssembledArtifact, AssembledTask, TextRun
from inspector.protocol.dialects.double_base64 import looks_double_encoded
from inspector.protocol.http_fields import without_parameters
from inspector.protocol.model import Message, Part, Task
from inspector.session.replay.file_content import decode, detect_type
from inspector.text.safe_json import dump
from inspector.text.short_id import end_of_id, short_id

LONGEST = 100
"""The largest length of a name in bytes of UTF-8."""

_LONGEST_SUFFIX = 16
_MOST_READ = 4 * LONGEST
"""Of a name with more than twice this number of characters, only this number is read at its beginning and its end."""

_FORBIDDEN = frozenset('<>:"/\\|?*')
_RESERVED = frozenset(
    {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}
    | {f"{port}{number}" for port in ("COM", "LPT") for number in "0123456789¹²³"}
)
"""Names of devices on Windows, which also reserves these names with a suffix, such as `NUL.txt`."""

_SUFFIXES = {"text/plain": ".txt", "text/markdown": ".md", "text/x-markdown": ".md", "application/json": ".json"}
_TYPES = MimeTypes()
_MEDIA = frozenset({"image", "audio", "video"})
_TWICE = "the content looks like base64, so it may have been encoded twice; it is saved as received"
_MOST_NUMBERS = 10_000


class SaveError(Exception):
    """An error while saving files; `str` of it is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to save: a unique safe name, its bytes, and a note about a problem, `""` for none."""

    name: str
    content: bytes
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """The content of a file; `forced` requires the suffix even if the name has another suffix.

    `medium` is `image`, `audio` or `video` for such a file, whose suffix is required after the name of an artifact with
    the suffix of another type.
    """

    filename: str
    suffix: str
    content: bytes
    forced: bool = False
    note: str = ""
    medium: str = ""

    def needs_suffix(self, name: str) -> bool:
        """Return whether the suffix has to be added to a name."""
        if not _split(name)[1]:
            return True
        other = self.medium and not self.filename and _medium(_TYPES.guess_type(name)[0]) != self.medium
        return (self.forced or bool(other)) and not name.lower().endswith(self.suffix)


def clean_name(name: str, fallback: str = "artifact") -> str:
    """Return a name that is safe for a file on every system, `fallback` if nothing is left of it.

    Folders, control and invisible characters and leading dots are removed; characters that Windows forbids become `_`;
    a long name is cut before its suffix.
    """
    steps = (step.strip(" .") for step in reversed(name.replace("\\", "/").split("/")))
    last = next((step for step in steps if step), "")
    if len(last) > 2 * _MOST_READ:
        last = last[:_MOST_READ] + last[-_MOST_READ:]
    letters = (_letter(letter) for letter in unicodedata.normalize("NFC", last))
    cleaned = " ".join("".join(letters).split()).strip(" .")
    if cleaned.startswith(("-", "~")) or cleaned.partition(".")[0].rstrip().upper() in _RESERVED:
        cleaned = f"_{cleaned}"
    stem, suffix = _split(cleaned)
    return f"{_cut(stem, LONGEST - len(suffix.encode()))}{suffix}" if stem else fallback


def files_of(artifacts: Iterable[AssembledArtifact]) -> list[OutputFile]:
    """Return the files of artifacts in order; a part with a URL becomes a file with the URL, which is not fetched."""
    named: list[tuple[str, _Piece]] = []
    for number, artifact in enumerate(artifacts, 1):
        name = clean_name(artifact.name or artifact.artifact_id, f"artifact-{number}")
        named += _named(list(_pieces(artifact)), name)
    return _unique(named)


def files_of_answer(answer: AssembledTask | Task | Message) -> list[OutputFile]:
    """Return the files of the artifacts of a task, or of the parts of a message."""
    match answer:
        case AssembledTask():
            return files_of(answer.artifacts.values())
        case Task():
            artifacts = []
            for number, artifact in enumerate(answer.artifacts or (), 1):
                whole = AssembledArtifact(artifact.artifact_id or f"artifact-{number}")
                whole.extend(artifact)
                artifacts.append(whole)
            return files_of(artifacts)
        case Message():
            return _unique(_named([piece for piece in map(_piece, answer.parts) if piece], "message"))


def existing_names(items: Sequence[OutputFile], folder: Path) -> list[str]:
    """Return the names of files that exist in a folder."""
    return [item.name for item in items if os.path.lexists(folder / item.name)]


def save(items: Sequence[OutputFile], folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write files with mode 0600 into a folder, which is created if necessary, and return their paths.

    If a name exists, a number is added to it, or with `overwrite` the file is replaced. Links are not followed. Raises
    `SaveError`.
    """
    try:
        private_folder(folder)
    except CaptureError as error:
        raise SaveError(str(error)) from error
    written: list[Path] = []
    for item in items:
        try:
            if overwrite:
                replace_file(folder / item.name, item.content)
            written.append(folder / item.name if overwrite else _create(item, folder))
        except OSError as error:
            raise SaveError(f"Cannot save {item.name} in {folder}: {reason(error)}.") from error
    return written


def save_answer(answer: AssembledTask | Task | Message, folder: Path) -> list[tuple[Path, str]]:
    """Save the files of an answer without replacing others, and return path and note of each; raises `SaveError`."""
    items = files_of_answer(answer)
    return list(zip(save(items, folder), (item.note for item in items), strict=True))


def default_folder(task_id: str) -> Path:
    """Return the default folder for the artifacts of a task, below the working directory."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it was removed
        here = Path.home()
    return here / "artifacts" / clean_name(end_of_id(short_id(task_id)), "task")


def _letter(letter: str) -> str:
    category = unicodedata.category(letter)
    if category == "Zs" or letter in "\t\n\r":
        return " "
    if category.startswith("C") or category in ("Zl", "Zp"):
        return ""
    return "_" if letter in _FORBIDDEN else letter


def _split(name: str) -> tuple[str, str]:
    """Split a name into stem and suffix; a suffix that is too long is part of the stem."""
    stem, dot, suffix = name.rpartition(".")
    if not stem or not suffix or " " in suffix or len(suffix.encode()) >= _LONGEST_SUFFIX:
        return name, ""
    return stem, dot + suffix


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore").rstrip(" .")


def _suffix(media_type: str | None, otherwise: str) -> str:
    stated = without_parameters(media_type or "")
    return _SUFFIXES.get(stated) or _TYPES.guess_extension(stated) or otherwise


def _medium(media_type: str | None) -> str:
    """Return whether a media type is that of an image, audio or a video, `""` for another."""
    main_type = (media_type or "").partition("/")[0].strip().lower()
    return main_type if main_type in _MEDIA else ""


def _pieces(artifact: AssembledArtifact) -> Iterator[_Piece]:
    """Return the files of an artifact; consecutive texts with the same media type and name are one file.

    The same holds for consecutive bytes with the same media type and name: they are the chunks of a file.
    """
    position = 0
    for kind, parts in groupby(artifact.parts, _kind):
        texts: list[str] = []
        others: list[Part] = []
        for part in parts:
            if isinstance(part, TextRun) or part.text is not None:
                text = artifact.text.between(position, part.end) if isinstance(part, TextRun) else part.text or ""
                position += len(text)
                texts.append(text)
            else:
                others.append(part)
        if kind is not None:
            yield _text("".join(texts), *kind)
        yield from _other_pieces(others)


def _other_pieces(parts: Sequence[Part]) -> Iterator[_Piece]:
    """Return the files of parts that are not texts."""
    for key, group in groupby(parts, _file_of_chunk):
        chunks = list(group)
        if key is None or len(chunks) == 1:
            yield from filter(None, map(_piece, chunks))
        else:
            yield from _joined(chunks)


def _file_of_chunk(part: Part) -> tuple[str, str | None] | None:
    """Return name and media type of the file that a part may be a chunk of, None if it has no name or no bytes."""
    return (part.filename, part.media_type) if part.content == "raw" and part.filename else None


def _joined(chunks: Sequence[Part]) -> Iterator[_Piece]:
    """Join the chunks of files with the same name; a chunk that begins like a file begins another file."""
    decoded = [decode(chunk.raw or "") for chunk in chunks]
    if any(content is None for content in decoded):  # the base64 was cut into chunks, not the file
        whole = chunks[0].model_copy(update={"raw": "".join(chunk.raw or "" for chunk in chunks)})
        piece = _piece(whole)
        yield from [replace(piece, note=_noted(f"joined from {len(chunks)} parts", piece.note))] if piece else []
        return
    starts = [at for at, content in enumerate(decoded) if at == 0 or (content and detect_type(content.content))]
    for start, end in pairwise([*starts, len(chunks)]):
        piece = _piece(chunks[start])
        if piece and end - start > 1:
            content = b"".join(content.content for content in decoded[start:end] if content)
            yield replace(piece, content=content, note=_noted(f"joined from {end - start} parts", piece.note))
        elif piece:
            yield replace(piece, note=_noted("several files have this name", piece.note))


def _noted(*notes: str) -> str:
    return "; ".join(filter(None, notes))


def _kind(part: Part | TextRun) -> tuple[str | None, str | None] | None:
    """Return media type and name of a text, None for any other part."""
    return (part.media_type, part.filename) if isinstance(part, TextRun) or part.text is not None else None


def _text(text: str, media_type: str | None, filename: str | None) -> _Piece:
    return _Piece(filename or "", _suffix(media_type, ".txt"), text.encode())


def _piece(part: Part) -> _Piece | None:
    """Return the file of a part, None if it has no members."""
    name = part.filename or ""
    match part.content:
        case "text":
            return _text(part.text or "", part.media_type, name)
        case "raw":
            decoded = decode(part.raw or "")
            if decoded is None:
                note = "the content is not base64; it is saved as it is"
                return _Piece(name, ".base64", (part.raw or "").encode(), forced=True, note=note)
            twice = _TWICE if looks_double_encoded(part.raw or "") else ""
            suffix = _suffix(part.media_type, ".bin")
            medium = _medium(part.media_type) if suffix != ".bin" else ""
            return _Piece(name, suffix, decoded.content, note=_noted(decoded.problem, twice), medium=medium)
        case "url":
            # A line break in the URL could turn the file into a shortcut, which some systems follow when it is opened.
            url = "".join(
                f"%{ord(char):02X}" if ord(char) < 0x20 or char == "\x7f" else char for char in part.url or ""
            )
            note = "only the URL is saved; its content is not downloaded"
            return _Piece(name, ".url", f"{url}\n".encode(), forced=True, note=note)
        case "data":
            return _Piece(name, ".json", _json(part.data), forced=True)
        case _:
            rest = part.to_json()
            note = "a part without content; it is saved as JSON"
            return _Piece(name, ".json", _json(rest), forced=True, note=note) if rest else None


def _json(value: object) -> bytes:
    return f"{dump(value, 2)}\n".encode()


def _named(pieces: list[_Piece], artifact_name: str) -> Iterator[tuple[str, _Piece]]:
    """Name each file after its part, or else after the artifact."""
    stem, suffix = _split(artifact_name)
    for number, piece in enumerate(pieces, 1):
        alone = len(pieces) == 1
        name = clean_name(piece.filename, "") or (artifact_name if alone else f"{stem}-{number}{suffix}")
        if piece.needs_suffix(name):
            name += piece.suffix
        yield name, piece


def _unique(named: Iterable[tuple[str, _Piece]]) -> list[OutputFile]:
    """Make the names unique, also on systems that ignore the case of letters."""
    used: set[str] = set()
    numbers: dict[str, int] = {}
    items: list[OutputFile] = []
    for name, piece in named:
        free, number = name, numbers.get(_key(name), 1)
        while _key(free) in used:
            number += 1
            free = _number(name, number)
        numbers[_key(name)] = number
        used.add(_key(free))
        items.append(OutputFile(free, piece.content, piece.note))
    return items


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _number(name: str, number: int) -> str:
    stem, suffix = _split(name)
    return f"{stem}-{number}{suffix}" if number > 1 else name


def _create(item: OutputFile, folder: Path) -> Path:
    """Create a file with the first name that does not exist."""
    for number in range(1, _MOST_NUMBERS):
        path = folder / _number(item.name, number)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        except FileExistsError:
            continue
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(item.content)
        except OSError:
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        return path
    raise FileExistsError(f"{_MOST_NUMBERS:,} files with this name exist")
