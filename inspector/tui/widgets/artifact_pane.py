"""The artifacts of a task as they grow, or the last message of the agent while there is no artifact."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from inspector.protocol.assemble import AssembledArtifact
from inspector.protocol.lifecycle import is_terminal
from inspector.protocol.model import Message
from inspector.session.replay.file_content import FileFacts
from inspector.session.replay.saving import default_folder
from inspector.session.tasks import TrackedTask
from inspector.text.sanitise import clean_line
from inspector.text.units import size
from inspector.tui.keys import bind
from inspector.tui.render import images
from inspector.tui.render.artifact_parts import (
    MARKDOWN,
    REPRESENTATIONS,
    ChunkLines,
    Representation,
    Section,
    Sections,
    artifact_of,
    describe,
    file_lines,
    read_file,
)
from inspector.tui.render.glyphs import ASCII, Glyphs
from inspector.tui.render.hexdump import HexDump
from inspector.tui.render.text_lines import Paragraphs
from inspector.tui.save_actions import save_artifacts
from inspector.tui.widgets.document import Document, ImageView, MarkdownView
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.lines import LineView
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.view_tabs import Chips

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

ALL = -1
"""Instead of the number of a part: show all parts, one below the other."""

_AT_ONCE = 1_000_000
"""The most characters of base64 that are decoded in the event loop; longer files are read in a thread."""

_NAMES: dict[Representation, str] = {"markdown": "Markdown", "json": "JSON"}
"""The names of representations that differ from their ids."""

_CORNERS, _RULE = 6, 3
_SHORTEST_NAME = 8
"""The cells of the upper border beside its words, and those between two words."""
_TABS = 12
"""The most parts whose names are shown in one line."""


class ArtifactPane(Pane):
    """Shows one part of one artifact, in the representation that was chosen last, or all parts of it.

    With all parts together, texts are shown in full and the other parts are described.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("next-artifact", "next_artifact(1)"),
        bind("previous-artifact", "next_artifact(-1)", show=False),
        bind("next-part", "next_part(1)", "part"),
        bind("previous-part", "next_part(-1)", "", "Show the previous part", show=False),
        bind("representation", "next_view", "view", "Show as text, Markdown, chunks, facts or hex"),
        bind("save", "save", "", "Save this artifact, or all, as files"),
    ]

    DEFAULT_CSS = """
    ArtifactPane {
        & ContentSwitcher { height: 1fr; }
        & #artifact-parts { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    def __init__(self, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget of Textual's calls it
        super().__init__("Artifact", id=id)
        self._glyphs = glyphs
        self._tracked: TrackedTask | None = None
        self._reply: Message | None = None
        self._converted: tuple[Message, AssembledArtifact] | None = None
        self._chosen: int | None = None
        self._part: int | None = None
        self._chosen_views: list[Representation] = []
        self._sections: Sections | None = None
        self._shown: tuple[object, ...] = ()
        self._taken = 0
        self._inside = 0
        self._undrawn = False
        self._was_over = False
        self._parts = Chips(id="artifact-parts")
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
        }
        self._switcher = ContentSwitcher(*dict.fromkeys(self._bodies.values()), initial="artifact-text")

    def compose(self) -> ComposeResult:
        """Make the title, the parts and one widget for each representation."""
        yield self._parts
        yield self._switcher

    def on_mount(self) -> None:
        """Show the title without an artifact."""
        self._show_title()

    # What is shown

    def show(self, task: TrackedTask | None, reply: Message | None = None) -> None:
        """Show the artifacts of a task as they are now, or, while there is none, the last message of the agent.

        `reply` is a message outside of any task. Content that only grew is not drawn again.
        """
        if (task.id if task else "") != (self._tracked.id if self._tracked else ""):
            self._chosen = self._part = None
        self._tracked, self._reply = task, reply
        artifact = self._artifact()
        if self._sections is None or not self._sections.fits(artifact):
            self._sections = Sections(artifact) if artifact is not None else None
        if self._sections is not None:
            self._sections.update()
        self._show_title()
        self._show_body()

    def _artifacts(self) -> list[AssembledArtifact]:
        return list(self._tracked.now.artifacts.values()) if self._tracked else []

    def _index(self, count: int) -> int:
        return count - 1 if self._chosen is None else min(self._chosen, count - 1)

    def _artifact(self) -> AssembledArtifact | None:
        """Return the artifact that is shown, or a message converted to an artifact."""
        artifacts = self._artifacts()
        if artifacts:
            return artifacts[self._index(len(artifacts))]
        messages = self._tracked.now.messages if self._tracked else []
        message = self._reply or (messages[-1] if messages else None)
        if message is None:
            return None
        if self._converted is None or self._converted[0] is not message:
            self._converted = (message, artifact_of(message))
        return self._converted[1]

    @property
    def _at(self) -> int:
        """The number of the part that is shown."""
        count = len(self._sections.all) if self._sections else 0
        if count == 1:
            return 0
        return ALL if self._part is None else min(self._part, count - 1)

    @property
    def _section(self) -> Section | None:
        return self._sections.all[self._at] if self._sections and self._at != ALL else None

    @property
    def _views(self) -> tuple[Representation, ...]:
        section = self._section
        if section is None:
            return ("text", "chunks") if self._sections and self._sections.all else ("text",)
        if self._sections is not None and self._sections.is_markdown(section):
            return MARKDOWN
        draws = section.is_image and not self._why_no_image()
        return ("image", *REPRESENTATIONS["file"]) if draws else REPRESENTATIONS[section.kind]

    @property
    def _view(self) -> Representation:
        """The representation that was chosen last, of those that this part has."""
        return next((view for view in reversed(self._chosen_views) if view in self._views), self._views[0])

    def _why_no_image(self) -> str:
        if self._glyphs is ASCII or self.app.console.color_system not in ("256", "truecolor") or self.app.no_color:
            return "this terminal has too few colours"
        return "" if images.can_draw() else "to draw it, run: pip install 'a2a-inspect[images]'"

    def on_resize(self) -> None:
        """Show the words of the title that fit."""
        self._show_title()

    def _show_title(self) -> None:
        artifacts, artifact = self._artifacts(), self._artifact()
        chips: list[Chip] = []
        amounts: list[str] = []
        if len(artifacts) > 1:
            chips.append(Chip(f"{self._index(len(artifacts)) + 1} of {len(artifacts)}", "$bar", "artifact"))
        if len(self._views) > 1:
            chips.append(Chip(f"{_NAMES.get(self._view, self._view)} {self._glyphs.open}", "$bar", "view"))
        name = "Artifact" if artifacts or artifact is None else "Message"
        if artifact is not None and artifacts:
            room = self._room(name, chips) - _RULE
            shown = clean_line(artifact.name or artifact.artifact_id, max(_SHORTEST_NAME, room))
            chips.insert(0, Chip(shown, "$foreground", "artifact"))
            amounts = [self._amount(artifact), f"{artifact.chunks:,} chunk{'s' if artifact.chunks != 1 else ''}"]
        self.set_title(*chips, name=name, note=[Chip(amount, "$text-soft") for amount in amounts])
        self._show_parts()

    def _room(self, name: str, chips: Sequence[Chip]) -> int:
        """Return the cells of the border that are free beside the name of the pane and these words."""
        return self.size.width - _CORNERS - len(name) - sum(cell_len(chip.text) + _RULE for chip in chips)

    def _amount(self, artifact: AssembledArtifact) -> str:
        """Return the size of the content that the artifact contains; the content of a URL is elsewhere."""
        total = artifact.size + (self._sections.size if self._sections else 0)
        return f"content {size(total)}" if total or not artifact.parts else "not fetched"

    def _show_parts(self) -> None:
        sections = self._sections.all if self._sections else []
        self._parts.display = len(sections) > 1
        if len(sections) <= 1:
            return
        first = max(0, min(self._at - 1, len(sections) - _TABS))
        chips = [Chip("all", "bold $foreground" if self._at == ALL else "$text-soft", f"part {ALL}")]
        for number, section in enumerate(sections[first : first + _TABS], first):
            style = "bold $foreground" if number == self._at else "$text-soft"
            chips.append(Chip(f"{number + 1} {section.name}", style, f"part {number}"))
        self._parts.show(chips)

    def _show_body(self) -> None:
        """Update the visible view: append to it if it only grew, else draw it again."""
        view, section, sections = self._view, self._section, self._sections
        shown = (view, self._at, sections)
        before, fresh = self._shown, shown != self._shown
        self._shown = shown
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
        elif section.kind == "text":
            self._show_text(sections, section, self._known(before) if fresh else None, fresh=fresh)
        elif fresh:
            self._show_part(section, view)

    @property
    def _body(self) -> Widget:
        """The widget that shows the view; an image that cannot be drawn is described in lines."""
        return self._lines if self._view == "image" and self._undrawn else self._bodies[self._view]

    def _switch(self) -> None:
        """Make the widget of the view visible; it gets the focus if the previous widget had it."""
        switcher, body = self._switcher, self._body
        if switcher.current != body.id:
            had_focus = switcher.query_one(f"#{switcher.current}").has_focus
            switcher.current = body.id
            if had_focus:
                self.screen.set_focus(body)

    def _show_text(self, sections: Sections, section: Section, known: str | None, *, fresh: bool) -> None:
        """Append new text or, if `fresh`, replace the whole text; `known` is the text that is shown now, if known."""
        body = self._markdown if self._view == "markdown" else self._text
        if fresh and isinstance(body, Document) and known is not None:
            body.become(sections.text_of(section), known)
            self._taken = section.end - section.start
            return
        if fresh:
            body.set_text("")
            self._taken = 0
        if text := sections.text_of(section, self._taken):
            body.append(text)
            self._taken += len(text)
        if fresh and self._is_over:
            self._to_beginning(body)

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
        before, self._was_over = self._was_over and not fresh, self._is_over
        if self._is_over and not before and (fresh or self._text.following):
            self._to_beginning(self._text)

    @property
    def _is_over(self) -> bool:
        """Whether nothing is added to the artifact any more, so that reading starts at its beginning."""
        return self._tracked is not None and is_terminal(self._tracked.now.state)

    def _to_beginning(self, body: LineView) -> None:
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
            why = why or (self._why_no_image() if section.is_image else "")
            self._undrawn = True
            self._switch()
            lines.show(Paragraphs(file_lines(section, facts, why)))
        lines.following = False
        lines.action_first()

    # Keys and clicks

    def focus_body(self) -> None:
        """Focus the visible representation."""
        self.screen.set_focus(self._body)

    def action_next_artifact(self, step: int) -> None:
        """Show the next artifact in a direction."""
        count = len(self._artifacts())
        if count:
            self._chosen, self._part = (self._index(count) + step) % count, None
            self.show(self._tracked, self._reply)

    def action_next_part(self, step: int) -> None:
        """Show the next part in a direction; before the first part, show all of them."""
        count = len(self._sections.all) if self._sections else 0
        self.show_part((self._at + 1 + step) % (count + 1) - 1)

    def show_part(self, number: int) -> None:
        """Show one part, or `ALL` of them."""
        self._part = None if number == ALL else number
        self.show(self._tracked, self._reply)

    def action_next_view(self) -> None:
        """Show the part in the next representation."""
        views = self._views
        view = views[(views.index(self._view) + 1) % len(views)]
        self._chosen_views = [*(earlier for earlier in self._chosen_views if earlier != view), view]
        self.show(self._tracked, self._reply)

    @work(group="save")
    async def action_save(self) -> None:
        """Save the artifact, or all of the task, as files."""
        artifact = self._artifact()
        if artifact is not None:
            artifacts = self._artifacts() or [artifact]
            folder = default_folder(self._tracked.id if self._tracked else "message")
            await save_artifacts(self.app, artifacts, artifact, folder)

    def chosen(self, target: str) -> None:
        """Show the next artifact or representation, or a part."""
        if target == "artifact":
            self.action_next_artifact(1)
        elif target == "view":
            self.action_next_view()
        else:
            self.show_part(int(target.removeprefix("part ")))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys for another artifact, part or view if there is no other, and saving without an artifact."""
        choices = {
            "next_artifact": len(self._artifacts()) > 1,
            "next_part": self._sections is not None and len(self._sections.all) > 1,
            "next_view": len(self._views) > 1,
            "save": self._artifact() is not None,
        }
        return (choices[action] or None) if action in choices else super().check_action(action, parameters)

    def selected_text(self) -> str:
        """Return the JSON value under the cursor, or the whole text that is shown."""
        view = self._body
        if isinstance(view, JsonView):
            return view.value
        sections, section = self._sections, self._section
        if sections is not None and section is not None and section.kind == "text":
            return sections.text_of(section)
        artifact = self._artifact()
        return str(artifact.text) if artifact and self._artifacts() and len(artifact.text) else self._text.text
