"""The parts of an artifact or a message: laid out as sections, read as files, and described in words."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from inspector.protocol.assemble import AssembledArtifact, TextRun
from inspector.protocol.model import Artifact, Message, Part
from inspector.session.replay.file_content import FileFacts, decode, file_facts
from inspector.text.units import size
from inspector.tui.render import images
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import Line, Paragraph

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from inspector.protocol.assemble import AssembledArtifact
    from inspector.protocol.model import Message
    from inspector.session.replay.file_content import FileFacts


_LONGEST_DATA = 4000


def describe_part(part: Part, glyphs: Glyphs) -> str:
    """Say what a part is: a file by name, type and size, data as JSON, a text with what it says besides."""
    match part.content:
        case "raw":
            what = f"{_file_size(part.raw or '')}, sent in the message"
        case "url":
            what = f"at {part.url} (not fetched)"
        case "data":
            what = "data\n" + json.dumps(part.data, indent=2, ensure_ascii=False)[:_LONGEST_DATA]
        case "text":
            what = "text"
        case _:
            what = "a part without content"
    named = "  ".join(piece for piece in (part.filename, part.media_type, what) if piece)
    return f"{glyphs.folded} {named}"


def _file_size(encoded: str) -> str:
    try:
        return size(len(base64.b64decode(encoded, validate=True)))
    except (binascii.Error, ValueError):
        return f"{size(len(encoded))} that are not base64"


SectionKind: TypeAlias = Literal["text", "data", "file", "url", "nothing"]
Representation: TypeAlias = Literal["text", "markdown", "chunks", "json", "image", "facts", "hex"]

REPRESENTATIONS: dict[SectionKind, tuple[Representation, ...]] = {
    "text": ("text", "markdown", "chunks"),
    "data": ("json", "text"),
    "file": ("facts", "hex"),
    "url": ("facts",),
    "nothing": ("json",),
}
"""The ways to look at each kind of part, in the order in which the key goes through them; an image has one before."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})
"""Images that can be drawn; an SVG may name addresses to fetch, so it never is."""

_KINDS: dict[str, SectionKind] = {"raw": "file", "url": "url", "data": "data"}
_LONGEST_CHUNK = 400


@dataclass(slots=True)
class Section:
    """A part as it is shown, texts that follow each other as one; `start` and `end` say where its text stands."""

    kind: SectionKind
    part: Part | None
    start: int = 0
    end: int = 0
    media_type: str = ""
    filename: str = ""

    @property
    def name(self) -> str:
        """Return what it is called: by its file name, else by its kind."""
        return self.filename or self.kind

    @property
    def is_image(self) -> bool:
        """Say whether it is declared to be an image that can be drawn."""
        return self.kind == "file" and self.media_type.partition(";")[0].strip().lower() in IMAGES


class Sections:
    """The sections of one artifact, which is looked at again only from where it grew."""

    def __init__(self, artifact: AssembledArtifact) -> None:
        self.artifact = artifact
        self.revision = artifact.revision
        self.all: list[Section] = []
        self._taken = 0
        self._text = 0

    def fits(self, artifact: AssembledArtifact | None) -> bool:
        """Say whether these are the sections of an artifact, or of how it began."""
        return artifact is self.artifact and artifact.revision == self.revision

    def update(self) -> None:
        """Take in the parts that came, and how far the last text grew."""
        parts = self.artifact.parts
        last = parts[self._taken - 1] if self._taken else None
        if isinstance(last, TextRun):
            self.all[-1].end = self._text = last.end
        for part in parts[self._taken :]:
            if isinstance(part, TextRun):
                self._add_text(part.end, part.media_type, part.filename)
            elif part.text is not None:
                self._add_text(self._text + len(part.text), part.media_type, part.filename)
            else:
                kind = _KINDS.get(part.content, "nothing")
                self.all.append(Section(kind, part, media_type=part.media_type or "", filename=part.filename or ""))
        self._taken = len(parts)

    def _add_text(self, end: int, media_type: str | None, filename: str | None) -> None:
        start, self._text = self._text, end
        last = self.all[-1] if self.all else None
        if (
            last is not None
            and last.kind == "text"
            and (last.media_type, last.filename)
            == (
                media_type or "",
                filename or "",
            )
        ):
            last.end = end
        else:
            self.all.append(Section("text", None, start, end, media_type or "", filename or ""))

    def text_of(self, section: Section, taken: int = 0) -> str:
        """Return the text of a section behind the characters that are known."""
        return self.artifact.text.between(section.start + taken, section.end)


def describe(section: Section, glyphs: Glyphs) -> str:
    """Say in a line or a few what a section is that is no text."""
    return describe_part(section.part, glyphs) if section.part is not None else ""


class ChunkLines:
    """The text of an artifact chunk by chunk: number, where it begins, how long it is, what it says; a `LineSource`."""

    def __init__(self, artifact: AssembledArtifact) -> None:
        self._artifact = artifact

    def __len__(self) -> int:
        return len(self._artifact.cuts)

    def layout(self, width: int, keep: int) -> int:  # noqa: ARG002 - a chunk is a line whatever the width
        """Return `keep`: the lines do not depend on the width."""
        return keep

    def line(self, index: int) -> Line:
        """Return one chunk; one that says what the one before it said is marked."""
        start, end = self._bounds(index)
        text = self._artifact.text.between(start, min(end, start + _LONGEST_CHUNK))
        again = bool(text) and index > 0 and text == self._artifact.text.between(*self._bounds(index - 1))
        said = repr(text) if text else "no text"
        more = f" … {end - start - len(text):,} more" if end - start > len(text) else ""
        return [
            (f"{index + 1:>6,} ", "line--quiet"),
            (f"{start:>9,} +{end - start:<6,} ", "line--soft"),
            ("again " if again else "", "line--warning"),
            (said, "line--text" if text else "line--quiet"),
            (more, "line--quiet"),
        ]

    def _bounds(self, index: int) -> tuple[int, int]:
        cuts = self._artifact.cuts
        return cuts[index], cuts[index + 1] if index + 1 < len(cuts) else len(self._artifact.text)


def file_lines(section: Section, facts: FileFacts | None, why_no_image: str = "") -> Sequence[Paragraph]:
    """Say what a file is: name, type, size, hash, pixels, and what is odd; `facts` is None for bad base64."""
    part = section.part
    rows = [("name", section.filename), ("type", section.media_type)]
    if section.kind == "url":
        rows += [("url", (part.url if part else None) or ""), ("", "It is not fetched.")]
        return _rows(rows)
    if facts is None:
        encoded = len((part.raw if part else None) or "")
        return [*_rows([*rows, ("came as", f"{encoded:,} characters")]), _odd("they are not base64")]
    rows += [("looks like", facts.looks_like), ("size", f"{size(facts.size)} ({facts.size:,} bytes)")]
    rows += [("pixels", f"{facts.width:,} x {facts.height:,}" if facts.width else ""), ("sha256", facts.sha256)]
    rows += [("no picture", why_no_image)]
    return [*_rows(rows), *map(_odd, facts.odd)]


def _rows(rows: Sequence[tuple[str, str]]) -> list[Paragraph]:
    return [Paragraph((f"{label:<12}", "line--soft"), said, "line--text") for label, said in rows if said]


def _odd(sentence: str) -> Paragraph:
    return Paragraph((f"{'odd':<12}", "line--warning"), sentence, "line--warning")


def artifact_of(message: Message) -> AssembledArtifact:
    """Put a message in the shape of an artifact."""
    made = AssembledArtifact(message.message_id, name="message")
    made.extend(Artifact(artifact_id=message.message_id, parts=message.parts))
    return made


def read_file(section: Section, view: Representation) -> tuple[bytes, FileFacts | None, Picture | None, str]:
    """Return the bytes of a file, what is known of them, the image that they are and why there is none."""
    raw = section.part.raw if section.part is not None else None
    decoded = decode(raw) if raw is not None else None
    if decoded is None:
        return b"", None, None, ""
    facts = file_facts(decoded.content, section.media_type, decoded.odd)
    if view != "image":
        return decoded.content, facts, None, ""
    if facts.width * facts.height > images.MOST_PIXELS:
        return (
            decoded.content,
            facts,
            None,
            _too_many(facts),
        )
    try:
        return decoded.content, facts, images.read_image(decoded.content), ""
    except images.ImageError as error:
        return decoded.content, facts, None, str(error)


def _too_many(facts: FileFacts) -> str:
    return f"{facts.width:,} x {facts.height:,} pixels are more than {images.MOST_PIXELS:,}"
