"""The artifacts of a task as they grow, or the last message of the agent while there is no artifact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType

from inspector.protocol.assemble import AssembledArtifact
from inspector.protocol.lifecycle import is_settled
from inspector.protocol.model import Message
from inspector.session.replay.saving import default_folder
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask
from inspector.text.sanitise import clean_line
from inspector.text.units import counted, size
from inspector.tui.keys import bind
from inspector.tui.render.artifact_parts import (
    MARKDOWN,
    REPRESENTATIONS,
    Representation,
    Section,
    Sections,
    artifact_of,
)
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.save_actions import save_artifacts
from inspector.tui.widgets.artifact_body import ALL, ArtifactBody
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.view_tabs import Chips

_NAMES: dict[Representation, str] = {"markdown": "Markdown", "json": "JSON"}
"""The names of representations that differ from their ids."""

_CORNERS, _RULE = 6, 3
_SHORTEST_NAME = 8
"""The cells of the upper border beside its words, and those between two words."""
_TABS = 12
"""The most parts whose names are shown in one line."""

_REASONS = {
    "next-artifact": "the task has only one artifact",
    "previous-artifact": "the task has only one artifact",
    "next-part": "there is only one part",
    "previous-part": "there is only one part",
    "representation": "there is no other representation of this part",
    "save": "",
}
"""Why a command of the pane is disabled although an artifact is shown."""


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
        & #artifact-parts { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__("Artifact", id=id)
        self._glyphs = glyphs
        self._tracked: TrackedTask | None = None
        self._reply: Message | None = None
        self._converted: tuple[Message, AssembledArtifact] | None = None
        self._chosen: int | None = None
        self._part: int | None = None
        self._chosen_views: list[Representation] = []
        self._sections: Sections | None = None
        self._parts = Chips(id="artifact-parts")
        self._body = ArtifactBody(session, glyphs)

    def compose(self) -> ComposeResult:
        """Make the title, the parts and one widget for each representation."""
        yield self._parts
        yield self._body

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
        self._body.show(self._view, self._at, self._sections, is_over=self._is_over)

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
        draws = section.is_image and not self._body.why_no_image()
        if section.kind == "data" and self._sections is not None and self._sections.uses(section):
            return ("extension", *REPRESENTATIONS["data"])
        return ("image", *REPRESENTATIONS["file"]) if draws else REPRESENTATIONS[section.kind]

    @property
    def _view(self) -> Representation:
        """The representation that was chosen last, of those that this part has."""
        return next((view for view in reversed(self._chosen_views) if view in self._views), self._views[0])

    @property
    def _is_over(self) -> bool:
        """Whether nothing is added to what is shown any more, so that reading starts at its beginning.

        A message is always sent as a whole.
        """
        artifacts = self._artifacts()
        if self._tracked is None or not artifacts:
            return True
        return is_settled(self._tracked.now.state) or artifacts[self._index(len(artifacts))].closed

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
            amounts = [self._amount(artifact), counted(artifact.chunks, "chunk")]
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

    # Keys and clicks

    def focus_body(self) -> None:
        """Focus the visible representation."""
        self._body.focus_body()

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

    @work(group="save", exclusive=True)
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

    def disabled_reason(self, command: str) -> str:
        """Return why a command cannot be used for what is shown, `""` for a command of another part of the screen."""
        reason = _REASONS.get(command)
        return "there is no artifact" if reason is not None and self._artifact() is None else reason or ""

    def selected_text(self) -> str:
        """Return the JSON value under the cursor, or the whole text that is shown."""
        view = self._body.body
        if isinstance(view, JsonView):
            return view.value
        sections, section = self._sections, self._section
        if sections is not None and section is not None and section.kind == "text":
            return sections.text_of(section)
        artifact = self._artifact()
        return str(artifact.text) if artifact and self._artifacts() and len(artifact.text) else self._body.text
