"""What the agent produced: the artifacts of a task as they grow, or what it said while there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.text.units import size
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.parts import describe_part, message_text
from inspector.tui.widgets.document import Document

if TYPE_CHECKING:
    from inspector.protocol.assemble import AssembledArtifact, AssembledTask
    from inspector.protocol.model import Message
    from inspector.session.tasks import TrackedTask


class ArtifactPane(Vertical):
    """Shows the artifacts of a task one after the other; text grows in place, other parts stand as a line each."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "next_artifact", "next artifact", id="artifact.next", tooltip="Show the task's next artifact"),
    ]

    def __init__(self, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget of Textual's calls it
        super().__init__(id=id)
        self._glyphs = glyphs
        self._tracked: TrackedTask | None = None
        self._chosen: int | None = None
        self._shown: tuple[str, str, int, int] = ("", "", 0, 0)
        self._taken = 0
        self._reply: Message | None = None

    def compose(self) -> ComposeResult:
        """Make the title and the text."""
        yield Static(Content.styled("ARTIFACT", "bold"), classes="pane-title")
        yield Document(id="artifact-text", empty="What the agent produces grows here.")

    def show(self, task: TrackedTask | None, reply: Message | None = None) -> None:
        """Show the artifacts of a task as they are now, or, while there is none, what the agent said last.

        `reply` is a message outside of any task. What is shown already is only added to.
        """
        if task is not self._tracked:
            self._chosen = None
        self._tracked, self._reply = task, reply
        account = task.now if task else None
        artifact = self._artifact(account) if account else None
        if account is not None and artifact is not None:
            self._show_title(account, artifact)
            self._show_artifact(account, artifact)
        else:
            self._show_message(reply or (account.messages[-1] if account and account.messages else None))

    def action_next_artifact(self) -> None:
        """Show the next artifact."""
        account = self._tracked.now if self._tracked else None
        if account and account.artifacts:
            current = self._index(account)
            self._chosen = (current + 1) % len(account.artifacts)
            self.show(self._tracked, self._reply)

    def selected_text(self) -> str:
        """Return all text of what is shown."""
        account = self._tracked.now if self._tracked else None
        artifact = self._artifact(account) if account else None
        return str(artifact.text) if artifact else self.query_one(Document).text

    def _index(self, account: AssembledTask) -> int:
        return len(account.artifacts) - 1 if self._chosen is None else min(self._chosen, len(account.artifacts) - 1)

    def _artifact(self, account: AssembledTask) -> AssembledArtifact | None:
        artifacts = list(account.artifacts.values())
        return artifacts[self._index(account)] if artifacts else None

    def _show_title(self, account: AssembledTask, artifact: AssembledArtifact) -> None:
        chunks = f"{artifact.chunks:,} chunk{'s' if artifact.chunks != 1 else ''}"
        pieces: list[Content | tuple[str, str]] = [("ARTIFACT", "bold"), ("   ", "")]
        pieces += [plain(artifact.name or artifact.artifact_id, limit=40)]
        pieces += [(f"   {size(artifact.size)}   {chunks}", "$text-soft")]
        if len(account.artifacts) > 1:
            pieces += [(f"   {self._index(account) + 1} of {len(account.artifacts)}", "$bar")]
        self.query_one(".pane-title", Static).update(Content.assemble(*pieces), layout=False)

    def _show_artifact(self, account: AssembledTask, artifact: AssembledArtifact) -> None:
        """Bring the text up to date: append where only text came, start again where anything else changed."""
        document = self.query_one(Document)
        others = artifact.other_parts
        shown = (account.id, artifact.artifact_id, artifact.revision, len(others))
        if shown != self._shown:
            head = "".join(f"{describe_part(part, self._glyphs)}\n" for part in others)
            document.set_text(f"{head}\n" if head else "")
            self._shown, self._taken = shown, 0
        if len(artifact.text) > self._taken:
            document.append(artifact.text.after(self._taken))
            self._taken = len(artifact.text)

    def _show_message(self, message: Message | None) -> None:
        title = "MESSAGE" if message else "ARTIFACT"
        shown = (title, message.message_id if message else "", 0, id(message))
        if shown == self._shown:
            return
        self._shown = shown
        self.query_one(".pane-title", Static).update(Content.styled(title, "bold"), layout=False)
        self.query_one(Document).set_text(message_text(message, self._glyphs) if message else "")
