"""The parts of an artifact or a message: laid out as sections, read as files, and described in words."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import AssembledArtifact, TextRun
from inspector.protocol.extensions.known import Use, uses_in
from inspector.protocol.http_fields import without_parameters
from inspector.protocol.model import Artifact, Message, Part
from inspector.session.replay.file_content import FileFacts, decode, file_facts
from inspector.text.units import size
from inspector.tui.render import images
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.markdown import MOST
from inspector.tui.render.text_lines import Line, Paragraph, labelled

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

SectionKind: TypeAlias = Literal["text", "data", "file", "url", "nothing"]
Representation: TypeAlias = Literal["text", "markdown", "chunks", "json", "image", "facts", "hex", "extension"]

REPRESENTATIONS: dict[SectionKind, tuple[Representation, ...]] = {
    "text": ("text", "markdown", "chunks"),
    "data": ("json", "text"),
    "file": ("facts", "hex"),
    "url": ("facts",),
    "nothing": ("json",),
}
"""The representations of each kind of part, in the order of the key that switches them; an image has one more."""
MARKDOWN: tuple[Representation, ...] = ("markdown", "text", "chunks")
"""The representations of a text that is Markdown."""

_MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown"})
_MARKDOWN_NAMES = (".md", ".markdown")
_EVIDENT = re.compile(r"^(#{1,6} \S|```|\|.*\|\n\|[ :|-]+\|\n)|\*\*\S[^*\n]*\*\*|\]\(https?://", re.MULTILINE)
"""What appears in Markdown and hardly in other texts: headings, code fences, tables, bold text and links."""
_EXAMINED = 4000
"""The characters at the beginning of a text that are examined."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})
"""Images that can be drawn. SVG is not among them, because it may name addresses to fetch."""

_KINDS: dict[str, SectionKind] = {"raw": "file", "url": "url", "data": "data"}
_LABEL = 12
_LONGEST_CHUNK = 400
_LONGEST_DATA = 4000


@dataclass(slots=True)
class Section:
    """A displayed part, or a run of adjacent text parts; its text is at `start` to `end` in the artifact's text."""

    kind: SectionKind
    part: Part | None
    start: int = 0
    end: int = 0
    media_type: str = ""
    filename: str = ""
    uses: list[Use] | None = None
    """The data of known extensions in the part, None before it was looked for."""

    @property
    def name(self) -> str:
        """Return the file name, else the kind."""
        return self.filename or self.kind

    @property
    def is_image(self) -> bool:
        """Return whether its media type is that of an image that can be drawn."""
        return self.kind == "file" and without_parameters(self.media_type) in IMAGES


class Sections:
    """The sections of one artifact; an update reads only the content that was added since the last update."""

    def __init__(self, artifact: AssembledArtifact) -> None:
        self.artifact = artifact
        self.revision = artifact.revision
        self.all: list[Section] = []
        self.size = 0
        self._taken = 0
        self._text = 0
        self._markdown: dict[int, tuple[int, bool]] = {}

    def fits(self, artifact: AssembledArtifact | None) -> bool:
        """Return whether these sections belong to this artifact, and it has only grown since the last update."""
        return artifact is self.artifact and artifact.revision == self.revision

    def update(self) -> None:
        """Add the new parts, and extend the last text."""
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
                self.size += _size_of(part)
        self._taken = len(parts)

    def is_markdown(self, section: Section) -> bool:
        """Return whether a text is Markdown by its media type, its file name or its content.

        Only a text that can be shown as Markdown in full is.
        """
        if section.kind != "text" or section.end - section.start > MOST:
            return False
        names = section.filename, self.artifact.name
        if without_parameters(section.media_type) in _MARKDOWN_TYPES:
            return True
        if any(name.lower().endswith(_MARKDOWN_NAMES) for name in names):
            return True
        examined, found = self._markdown.get(section.start, (0, False))
        length = min(section.end - section.start, _EXAMINED)
        if not found and length > examined:
            found = _EVIDENT.search(self.artifact.text.between(section.start, section.start + length)) is not None
            self._markdown[section.start] = length, found
        return found

    def _add_text(self, end: int, media_type: str | None, filename: str | None) -> None:
        added = Section("text", None, self._text, end, media_type or "", filename or "")
        self._text = end
        last = self.all[-1] if self.all else None
        if last and (last.kind, last.media_type, last.filename) == ("text", added.media_type, added.filename):
            last.end = end
        else:
            self.all.append(added)

    def uses(self, section: Section) -> list[Use]:
        """Return the data of known extensions in a part."""
        if section.uses is None:
            section.uses = uses_in(section.part.to_json()) if section.part is not None else []
        return section.uses

    def text_of(self, section: Section, taken: int = 0) -> str:
        """Return the text of a section after its first `taken` characters."""
        return self.artifact.text.between(section.start + taken, section.end)


def _size_of(part: Part) -> int:
    """Return the size of the JSON data of a part in bytes; texts and files are counted by the artifact itself."""
    if part.content != "data":
        return 0
    return len(json.dumps(part.data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def describe(section: Section, glyphs: Glyphs) -> str:
    """Describe the part of a section: a file by name, type and size, data as JSON; `""` for a run of texts."""
    part = section.part
    if part is None:
        return ""
    match part.content:
        case "raw":
            what = f"{_file_size(part.raw or '')}, inline"
        case "url":
            what = f"at {part.url} (not fetched)"
        case "data":
            what = "data\n" + json.dumps(part.data, indent=2, ensure_ascii=False)[:_LONGEST_DATA]
        case _:
            what = "empty part"
    return f"{glyphs.folded} {'  '.join(filter(None, (part.filename, part.media_type, what)))}"


def _file_size(encoded: str) -> str:
    try:
        return size(len(base64.b64decode(encoded, validate=True)))
    except (binascii.Error, ValueError):
        return f"{size(len(encoded))} of invalid base64"


class ChunkLines:
    """The chunks of an artifact's text: number, offset, length and content; a `LineSource`."""

    def __init__(self, artifact: AssembledArtifact) -> None:
        self._artifact = artifact

    def __len__(self) -> int:
        return len(self._artifact.cuts)

    def layout(self, width: int, keep: int) -> int:  # noqa: ARG002 - a chunk is a line whatever the width
        """Return `keep`: the lines do not depend on the width."""
        return keep

    def line(self, index: int) -> Line:
        """Return one chunk; a repetition of the chunk before is marked."""
        start, end = self._bounds(index)
        text = self._artifact.text.between(start, min(end, start + _LONGEST_CHUNK))
        repeated = bool(text) and index > 0 and text == self._artifact.text.between(*self._bounds(index - 1))
        content = repr(text) if text else "no text"
        more = f" … {end - start - len(text):,} more" if end - start > len(text) else ""
        return [
            (f"{index + 1:>6,} ", "line--quiet"),
            (f"{start:>9,} +{end - start:<6,} ", "line--soft"),
            ("repeated " if repeated else "", "line--warning"),
            (content, "line--text" if text else "line--quiet"),
            (more, "line--quiet"),
        ]

    def _bounds(self, index: int) -> tuple[int, int]:
        cuts = self._artifact.cuts
        return cuts[index], cuts[index + 1] if index + 1 < len(cuts) else len(self._artifact.text)


def file_lines(section: Section, facts: FileFacts | None, why_no_image: str = "") -> Sequence[Paragraph]:
    """Describe a file: name, type, size, hash, pixels and problems; `facts` is None for invalid base64."""
    part = section.part
    rows = [("name", section.filename), ("type", section.media_type)]
    if section.kind == "url":
        rows += [("url", (part.url if part else None) or ""), ("", "not fetched")]
        return _rows(rows)
    if facts is None:
        encoded = len((part.raw if part else None) or "")
        return [*_rows([*rows, ("encoded", f"{encoded:,} characters")]), _problem("invalid base64")]
    rows += [("detected", facts.looks_like), ("size", f"{size(facts.size)} ({facts.size:,} bytes)")]
    rows += [("pixels", f"{facts.width:,} x {facts.height:,}" if facts.width else ""), ("sha256", facts.sha256)]
    rows += [("not drawn", why_no_image)]
    return [*_rows(rows), *map(_problem, facts.problems)]


def _rows(rows: Sequence[tuple[str, str]]) -> list[Paragraph]:
    return [labelled(label, text, _LABEL) for label, text in rows if text]


def _problem(sentence: str) -> Paragraph:
    return Paragraph((f"{'problem':<{_LABEL}}", "line--warning"), sentence, "line--warning")


def artifact_of(message: Message) -> AssembledArtifact:
    """Return the parts of a message as an artifact."""
    made = AssembledArtifact(message.message_id, name="message")
    made.extend(Artifact(artifact_id=message.message_id, parts=message.parts))
    return made


def read_file(section: Section, view: Representation) -> tuple[bytes, FileFacts | None, Picture | None, str]:
    """Return the bytes of a file, facts about them, the image for the image view, and why it cannot be drawn."""
    raw = section.part.raw if section.part is not None else None
    decoded = decode(raw) if raw is not None else None
    if decoded is None:
        return b"", None, None, ""
    facts = file_facts(decoded.content, section.media_type, decoded.problem)
    picture, why = None, ""
    if view == "image":
        try:
            images.check_size(facts.width, facts.height)
            picture = images.read_image(decoded.content)
        except images.ImageError as error:
            why = str(error)
    return decoded.content, facts, picture, why
