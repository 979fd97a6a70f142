"""The composer: one message being written, and where it is aimed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from inspector.tui.render.content import plain
from inspector.tui.render.rows import SHORT_ID

MOST = 200_000
"""How many characters can be written; with many more, a text area takes seconds for every key."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Where the next message goes: a task that waits for it, or a new task, in a context or in a new one."""

    task_id: str = ""
    context_id: str = ""
    question: str = ""
    """What the agent asked, where the task waits for an answer."""


class MessageArea(TextArea):
    """A text area in which enter sends and ctrl+j breaks the line; a paste never sends."""

    class Submitted(Message):
        """The user pressed enter."""

    class Overflowed(Message):
        """So much was pasted that it was not taken."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def on_mount(self) -> None:
        """Leave ctrl+k, which would delete to the end of the line, to whoever cancels tasks; nothing here blinks."""
        self.cursor_blink = False
        self._bindings.key_to_bindings.pop("ctrl+k", None)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Submitted())
            return
        if event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self.insert("\n")
            return
        if event.key.startswith("alt+"):  # keys of the screen, though some terminals name a letter with them
            event.prevent_default()
            return
        await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        if len(self.text) + len(event.text) > MOST:
            event.stop()
            event.prevent_default()
            self.post_message(self.Overflowed(len(event.text)))


class Composer(Vertical):
    """A line that says where the message goes, the agent's question if there is one, and the text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "send", "send", id="talk.send", tooltip="Send the message", priority=True),
        Binding("ctrl+t", "toggle_stream", "stream", id="talk.stream", tooltip="Stream the answer, or wait for it"),
        Binding("ctrl+r", "new_task", "new task", id="talk.new", tooltip="Leave task and context: start anew"),
        Binding("escape", "leave", "timeline", id="talk.leave", tooltip="Go to the timeline"),
    ]

    class Sent(Message):
        """The user wants the text to be sent."""

        def __init__(self, text: str, aim: Aim, *, stream: bool) -> None:
            super().__init__()
            self.text = text
            self.aim = aim
            self.stream = stream

    class Left(Message):
        """The user wants to go back to the timeline."""

    aim: reactive[Aim] = reactive(Aim())
    stream: reactive[bool] = reactive(True)
    push_on: reactive[bool] = reactive(False)
    problem: reactive[str] = reactive("")

    def compose(self) -> ComposeResult:
        """Make the question, the aim and the text."""
        yield Static(id="question")
        yield Static(id="aim")
        yield MessageArea(
            id="text",
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            compact=True,
            placeholder="write a message, or a skill's example; enter sends, ctrl+j breaks the line",
        )

    @property
    def text(self) -> str:
        """Return what is written, exactly."""
        return self.query_one(MessageArea).text

    def fill(self, text: str) -> None:
        """Put a text in place of what is written and go there; one that is too long is said to be so instead."""
        area = self.query_one(MessageArea)
        if len(text) > MOST:
            self._refuse(len(text))
        else:
            area.text = text
        area.move_cursor(area.document.end)
        self.screen.set_focus(area)

    def on_mount(self) -> None:
        """Show the first aim."""
        self._show_aim()

    def watch_aim(self) -> None:
        """Show where the message goes now."""
        self._show_aim()

    def watch_stream(self) -> None:
        """Show how the answer will come."""
        self._show_aim()

    def watch_push_on(self) -> None:
        """Show whether a webhook goes with the message."""
        self._show_aim()

    def watch_problem(self) -> None:
        """Show why the message cannot be sent."""
        self._show_aim()

    def _show_aim(self) -> None:
        if not self.is_mounted:
            return
        question = self.query_one("#question", Static)
        question.display = bool(self.aim.question)
        if self.aim.question:
            question.update(Content.assemble(("the agent asks  ", "$state-warning"), plain(self.aim.question)))
        self.query_one("#aim", Static).update(self._aim_line())

    def _aim_line(self) -> Content:
        aim = self.aim
        if aim.task_id:
            where = Content.assemble(("to task ", "$text-soft"), (aim.task_id[:SHORT_ID], "bold $state-warning"))
        elif aim.context_id:
            where = Content.assemble(("new task in context ", "$text-soft"), plain(aim.context_id[:SHORT_ID]))
        else:
            where = Content.styled("new task", "$text-soft")
        pieces = [
            where,
            Content.styled("streamed" if self.stream else "blocking", "$text-soft"),
            Content.styled(
                "push on" if self.push_on else "push off", "$wire-pushed" if self.push_on else "$wire-quiet"
            ),
        ]
        if self.problem:
            pieces.append(Content.assemble(("problem: ", "$state-bad"), plain(self.problem)))
        return Content("   ").join(pieces)

    def on_message_area_submitted(self) -> None:
        """Send on enter."""
        self.action_send()

    def on_message_area_overflowed(self, event: MessageArea.Overflowed) -> None:
        """Say that a paste was too much."""
        self._refuse(event.count)

    def _refuse(self, count: int) -> None:
        self.problem = f"{count:,} characters are more than can be written here ({MOST:,}); a2a-inspect send takes them"

    def action_send(self) -> None:
        """Ask for the text to be sent; an empty one is said to be so."""
        if not self.text.strip():
            self.problem = "write something first"
            return
        self.problem = ""
        self.post_message(self.Sent(self.text, self.aim, stream=self.stream))

    def action_toggle_stream(self) -> None:
        """Change between a streamed answer and one that is waited for."""
        self.stream = not self.stream

    def action_new_task(self) -> None:
        """Leave the task and the context."""
        self.aim = Aim()

    def action_leave(self) -> None:
        """Go back to the timeline."""
        self.post_message(self.Left())
