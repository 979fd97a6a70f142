"""The body of the artifact pane: a widget for each representation, and the visible widget."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import work
from textual.widget import Widget

from inspector.session.replay.file_content import FileFacts
from inspector.session.session import Session
from inspector.tui.render import images
from inspector.tui.render.artifact_parts import (
    ChunkLines,
    Representation,
    Section,
    Sections,
    describe,
    file_lines,
    read_file,
)
from inspector.tui.render.extension_lines import extension_lines
from inspector.tui.render.glyphs import ASCII, Glyphs
from inspector.tui.render.hexdump import HexDump
from inspector.tui.render.text_lines import Paragraphs
from inspector.tui.widgets.document import Document, ImageView, MarkdownView
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.lines import LineView
from inspector.tui.widgets.switcher import Switcher

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

ALL = -1
"""Instead of the number of a part: show all parts, one below the other."""

_AT_ONCE = 1_000_000
"""The most characters of base64 that are decoded in the event loop; longer files are read in a thread."""


class ArtifactBody(Switcher):
    """Shows one part of an artifact, or all, in a representation; content that only grew is not drawn again."""

    DEFAULT_CSS = """
    ArtifactBody { height: 1fr; }
    """

    def __init__(self, session: Session, glyphs: Glyphs) -> None:
        self._session = session
        self._glyphs = glyphs
        self._view: Representation = "text"
        self._shown: tuple[object, ...] = ()
        self._taken = 0
        self._inside = 0
        self._undrawn = False
        self._was_over = False
        self._text = Document(id="artifact-text", empty="No artifact yet.")
        self._lines = FactView(id="artifact-lines", follow=True)
        self._json = JsonView(id="artifact-json")
        self._image = ImageView(id="artifact-image")
        self._markdown = MarkdownView(id="artifact-markdown", follow=True)
        self._bodies: dict[Representation, Widget] = {
            "text": self._text,
            "markdown": self._markdown,
            "chunks": self._lines,
            "json": self._json,
            "image": self._image,
            "facts": self._lines,
            "hex": self._lines,
            "extension": self._lines,
        }
        super().__init__(*dict.fromkeys(self._bodies.values()), initial="artifact-text")

    def why_no_image(self) -> str:
        """Return why images cannot be drawn, `""` if they can."""
        if self._glyphs is ASCII or self.app.console.color_system not in ("256", "truecolor") or self.app.no_color:
            return "this terminal has too few colours"
        return "" if images.can_draw() else "to draw it, run: pip install 'a2a-inspect[images]'"

    def show(self, view: Representation, at: int, sections: Sections | None, *, is_over: bool) -> None:
        """Show a section, or `ALL`: append to the visible view if the content only grew, else draw it again.

        If the content `is_over`, reading starts at its beginning, also after the end was followed while it grew.
        """
        section = sections.all[at] if sections and at != ALL else None
        shown = (view, at, sections)
        before, fresh = self._shown, shown != self._shown
        self._shown, self._view = shown, view
        self._undrawn = self._undrawn and not fresh
        self._switch()
        if sections is None:
            if fresh:
                self._text.set_text("")
        elif view == "chunks":
            if fresh:
                self._lines.show(ChunkLines(sections.artifact))
            else:
                self._lines.refresh_source()
        elif section is None:
            self._show_all(sections, fresh=fresh)
            self._start_reading(self._text, fresh=fresh, is_over=is_over)
        elif section.kind == "text":
            known = self._known(before) if fresh else None
            body = self._show_text(sections, section, known, fresh=fresh)
            self._start_reading(body, fresh=fresh and known is None, is_over=is_over)
        elif fresh and view == "extension":
            self._lines.show(Paragraphs(extension_lines(sections.uses(section), self._session.journal)))
            self._lines.following = False
            self._lines.action_first()
        elif fresh:
            self._show_part(section, view)

    @property
    def body(self) -> Widget:
        """The widget that shows the view; an image that cannot be drawn is described in lines."""
        view = self._view
        return self._lines if view == "image" and self._undrawn else self._bodies[view]

    @property
    def text(self) -> str:
        """The text that is shown as lines."""
        return self._text.text

    def focus_body(self) -> None:
        """Focus the visible representation."""
        self.screen.set_focus(self.body)

    def _switch(self) -> None:
        """Make the widget of the view visible; it gets the focus if the previous widget had it."""
        body = self.body
        if self.current != body.id:
            had_focus = any(child.has_focus for child in self.children)
            self.current = body.id
            if had_focus:
                self.screen.set_focus(body)

    def _show_text(self, sections: Sections, section: Section, known: str | None, *, fresh: bool) -> LineView:
        """Append new text or, if `fresh`, replace the whole text; `known` is the text that is shown now, if known."""
        body = self._markdown if self._view == "markdown" else self._text
        if fresh and isinstance(body, Document) and known is not None:
            body.become(sections.text_of(section), known)
            self._taken = section.end - section.start
            return body
        if fresh:
            body.set_text("")
            self._taken = 0
        if text := sections.text_of(section, self._taken):
            body.append(text)
            self._taken += len(text)
        return body

    def _known(self, shown: tuple[object, ...]) -> str | None:
        """Return the text that the document shows in full, None if it shows something else."""
        match shown:
            case ("text", int(at), Sections() as sections) if at != ALL and sections.all[at].kind == "text":
                return sections.text_of(sections.all[at])[: self._taken]
        return None

    def _show_all(self, sections: Sections, *, fresh: bool) -> None:
        """Append the sections; `_taken` counts the complete sections, `_inside` the characters of the last section."""
        if fresh:
            self._text.set_text("")
            self._taken = self._inside = 0
        added: list[str] = []
        for number in range(self._taken, len(sections.all)):
            section = sections.all[number]
            new = number > self._taken or not self._inside
            if section.kind == "text":
                text = sections.text_of(section, 0 if new else self._inside)
                self._inside = (0 if new else self._inside) + len(text)
                added.append(f"\n{text}" if new and number and text else text)
            else:
                added.append(("\n" if number else "") + describe(section, self._glyphs))
                self._inside = 0
            closed = section.kind != "text" or number + 1 < len(sections.all)
            self._taken = number + closed
            self._inside = 0 if closed else self._inside
        if any(added):
            self._text.append("".join(added))

    def _start_reading(self, body: LineView, *, fresh: bool, is_over: bool) -> None:
        """Move to the beginning of content that is complete when it is shown first, or becomes so while followed."""
        ended, self._was_over = is_over and not self._was_over, is_over
        if (fresh and is_over) or (ended and body.following):
            body.following = False
            body.action_first()

    def _show_part(self, section: Section, view: Representation) -> None:
        part = section.part
        match view:
            case "json":
                self._json.show_value(part and (part.data if section.kind == "data" else part.to_json()))
            case "text":
                self._text.set_text(describe(section, self._glyphs))
            case "facts" | "hex" | "image" if len((part.raw if part else None) or "") > _AT_ONCE:
                self._read_later(section, view)
            case _:
                self._show_file(section, view, read_file(section, view))

    @work(exclusive=True, group="artifact")
    async def _read_later(self, section: Section, view: Representation) -> None:
        """Read a large file in a thread, and show it if nothing else was chosen meanwhile."""
        shown = self._shown
        self._lines.show(Paragraphs([]))
        self._image.show(None)
        read = await asyncio.to_thread(read_file, section, view)
        if shown == self._shown:
            self._show_file(section, view, read)

    def _show_file(
        self, section: Section, view: Representation, read: tuple[bytes, FileFacts | None, Picture | None, str]
    ) -> None:
        content, facts, picture, why = read
        lines = self._lines
        if view == "image" and picture is not None:
            self._image.show(picture)
        elif view == "hex":
            lines.show(HexDump(content))
        else:
            why = why or (self.why_no_image() if section.is_image else "")
            self._undrawn = True
            self._switch()
            lines.show(Paragraphs(file_lines(section, facts, why)))
        lines.following = False
        lines.action_first()
