"""The composer: one message being written, and where it is aimed."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from inspector.session.call import Call
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft, text_part
from inspector.tui.editor import edit
from inspector.tui.render.content import plain
from inspector.tui.render.drafts import part_in_words, settings_in_words, upload_in_words
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.widgets.verbatim_area import VerbatimArea

MOST = 200_000
"""How many characters can be written in one text; with many more, a text area takes seconds for every key."""
LONGEST_PATH = 4096
LARGE = 1_000_000
"""From this size on it is shown how far a message is on its way, in bytes."""
_NOTHING = "write something first"
UPLOAD_PHASE = 0.1
"""How often that is drawn, in seconds."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Where the next message goes: a task that waits for it, or a new task, in a context or in a new one."""

    task_id: str = ""
    context_id: str = ""
    question: str = ""
    """What the agent asked, where the task waits for an answer."""

    def at(self, task_id: str, context_id: str) -> Aim:
        """Return the aim at a task and a context; the question stays with its task."""
        return Aim(task_id, context_id, self.question if task_id == self.task_id else "")


class MessageArea(VerbatimArea):
    """A text area in which enter sends and ctrl+j breaks the line; a paste never sends."""

    most = MOST

    class Submitted(Message):
        """The user pressed enter."""

    class Dragged(Message):
        """A file was dragged onto the terminal."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    def on_mount(self) -> None:
        """Leave ctrl+k, which would delete to the end of the line, to whoever cancels tasks."""
        self._bindings.key_to_bindings.pop("ctrl+k", None)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Submitted())
        elif event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self.insert("\n")

    async def _on_paste(self, event: events.Paste) -> None:
        path = dragged_file(event.text)
        if path:
            event.stop()
            event.prevent_default()
            self.post_message(self.Dragged(path))


def dragged_file(text: str) -> str:
    """Return the path of the file that a terminal pastes when one is dragged onto it, `""` for any other text.

    Terminals write it as a shell or as a url would have it.
    """
    line = text.strip()
    if not line or "\n" in line or len(line) > LONGEST_PATH:
        return ""
    if line.startswith("file://"):
        line = unquote(urlsplit(line).path)
    elif not line.startswith(("/", "'/", '"/', "~/")):
        return ""
    else:
        try:
            words = shlex.split(line)
        except ValueError:
            return ""
        line = words[0] if len(words) == 1 else line
    try:
        path = Path(line).expanduser()
        return str(path) if path.is_absolute() and path.is_file() else ""
    except (OSError, ValueError, RuntimeError):  # RuntimeError: ~name of nobody
        return ""


class Composer(Vertical):
    """A line that says where the message goes, the agent's question if there is one, its other parts, and the text.

    The text is one part of a draft; `draft` is all of it, and `take` puts another one in its place.
    """

    class Sent(Message):
        """The user wants the message to be sent."""

        def __init__(self, draft: Draft, *, stream: bool) -> None:
            super().__init__()
            self.draft = draft
            self.stream = stream

    class Changed(Message):
        """Something else is written."""

    class Left(Message):
        """The user wants to go back to the timeline."""

    aim: reactive[Aim] = reactive(Aim())
    stream: reactive[bool] = reactive(True)
    push_on: reactive[bool] = reactive(False)
    problem: reactive[str] = reactive("")
    has_form: reactive[bool] = reactive(False, bindings=True)
    note: reactive[str] = reactive("")
    """What speaks against the message as it is written; it can be sent all the same."""

    _draft: Draft | None = None
    """What is written besides the text in the area, and which part that text is; None for nothing."""
    _part = 0
    _turn: Call | None = None
    """The call whose message is on its way and large."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - as every widget of Textual's calls it
        super().__init__(id=id)
        self._question_text = Static(id="question")
        self._aim_text = Static(id="aim")
        self._others_text = Static(id="others")
        self._area = MessageArea(
            id="text",
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            compact=True,
            placeholder="write a message, or a skill's example; enter sends, ctrl+j breaks the line",
        )

    def compose(self) -> ComposeResult:
        """Make the question, the aim, the other parts and the text."""
        yield self._question_text
        yield self._aim_text
        yield self._others_text
        yield self._area

    @property
    def text(self) -> str:
        """Return what is written, exactly."""
        return self._area.text

    @property
    def draft(self) -> Draft:
        """Return the whole message as it stands now; a text part with nothing in it counts only where it is alone."""
        if self._draft is None:
            self._draft = Draft((text_part(""),))  # kept, so that its ids stay the same until it is sent
        draft = self._draft
        parts = list(draft.parts)
        parts[self._part] = replace(parts[self._part], value=self.text)
        if len(parts) > 1 and not self.text:
            del parts[self._part]
        return replace(draft, parts=tuple(parts), task_id=self.aim.task_id, context_id=self.aim.context_id)

    def take(self, draft: Draft | None) -> None:
        """Go on with another draft, or with None begin anew; the first text that is not too long goes into the area."""
        text = ""
        if draft is not None:
            fitting = [at for at, one in enumerate(draft.parts) if one.kind is PartKind.TEXT and len(one.value) <= MOST]
            if not fitting:
                draft = replace(draft, parts=(text_part(""), *draft.parts))
            self._part = fitting[0] if fitting else 0
            text = draft.parts[self._part].value
            self.aim = self.aim.at(draft.task_id, draft.context_id)
        else:
            self._part = 0
        self._draft = draft
        self._area.text = text
        self._area.move_cursor(self._area.document.end)
        self._show_aim()

    def fill(self, text: str) -> None:
        """Put a text in place of all that is written and go there; one that is too long becomes a part beside it."""
        self.take(text_draft(text, task_id=self.aim.task_id, context_id=self.aim.context_id) if text else None)
        self.focus_text()

    def focus_text(self) -> None:
        """Give the keys to the text."""
        self.screen.set_focus(self._area)

    def on_mount(self) -> None:
        """Show the first aim."""
        self._show_aim()
        self._watch = self.set_interval(UPLOAD_PHASE, self._see_upload, pause=True)

    def watch_aim(self) -> None:
        """Show where the message goes now."""
        self._show_aim()
        self.post_message(self.Changed())

    def watch_stream(self) -> None:
        """Show how the answer will come."""
        self._show_aim()
        self.refresh_bindings()

    def _watch_shown(self) -> None:
        """Show what else the line about the message says."""
        self._show_aim()

    watch_push_on = watch_problem = watch_has_form = watch_note = _watch_shown

    def show_upload(self, turn: Call) -> None:
        """Show how far a large message is on its way, until it is there or the call is over."""
        if turn.length > LARGE:
            self._turn = turn
            self._watch.resume()

    def _see_upload(self) -> None:
        if self._turn is not None and (self._turn.exchange.head is not None or self._turn.exchange.ending is not None):
            self._turn = None
            self._watch.pause()
        self._show_aim()

    def _show_aim(self) -> None:
        if not self.is_mounted:
            return
        self._question_text.display = bool(self.aim.question)
        if self.aim.question:
            words = plain(self.aim.question)
            form = "   alt+i opens its form" if self.has_form else ""
            leave = Content.styled(f"{form}   ctrl+r leaves the task", "$text-soft")
            self._question_text.update(Content.assemble(("the agent asks  ", "$state-warning"), words, leave))
        self._aim_text.update(self._aim_line())
        line = self._others_line()
        self._others_text.display = line is not None
        if line is not None:
            self._others_text.update(line)

    def _others_line(self) -> Content | None:
        """Say what the message has besides the text, None where that is nothing."""
        if self._draft is None:
            return None
        others = [one for at, one in enumerate(self._draft.parts) if at != self._part]
        pieces = [plain(part_in_words(one), limit=40) for one in others]
        settings = settings_in_words(self._draft)
        if settings:
            pieces.append(plain(", ".join(settings)).stylize("$text-soft"))
        if not pieces:
            return None
        return Content.assemble(("with  ", "$text-soft"), Content("   ").join(pieces))

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
        if self._turn is not None and self._turn.upload.total:
            pieces.append(upload_in_words(self._turn.upload))
        if self.problem:
            pieces.append(Content.assemble(("problem: ", "$state-bad"), plain(self.problem)))
        elif self.note:
            pieces.append(plain(self.note).stylize("$state-warning"))
        return Content("   ").join(pieces)

    def on_message_area_submitted(self) -> None:
        """Send on enter."""
        self.action_send()

    def on_text_area_changed(self) -> None:
        """Tell that something else is written; what was wrong with nothing is wrong no more."""
        if self.problem == _NOTHING:
            self.problem = ""
        self.post_message(self.Changed())

    def on_message_area_dragged(self, event: MessageArea.Dragged) -> None:
        """Make a part of the file."""
        draft = self.draft
        kept = () if draft.is_blank else draft.parts
        self.take(replace(draft, parts=(*kept, DraftPart(PartKind.FILE, event.path))))
        self.post_message(self.Changed())

    def on_verbatim_area_overflowed(self, event: VerbatimArea.Overflowed) -> None:
        """Make of a text that would hold up every key a part that is not edited here."""
        draft = self.draft
        others = tuple(one for one in draft.parts if one.value != self.text)
        self.take(replace(draft, parts=(text_part(event.text), *others)))
        self.post_message(self.Changed())

    def action_send(self) -> None:
        """Ask for the message to be sent; an empty one is said to be so."""
        self._send(stream=self.stream)

    def action_send_other(self) -> None:
        """Send it blocking where it would be streamed, and the other way round."""
        self._send(stream=not self.stream)

    def _send(self, *, stream: bool) -> None:
        draft = self.draft
        if draft.is_blank:
            self.problem = _NOTHING
            return
        self.problem = ""
        self.post_message(self.Sent(draft, stream=stream))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer a form only where the agent gave one."""
        return self.has_form if action == "form" else super().check_action(action, parameters)

    def action_editor(self) -> None:
        """Write the text in the user's editor."""
        text = edit(self.app, self.text)
        if text is not None and text != self.text:
            self._area.text = text

    def action_toggle_stream(self) -> None:
        """Change between a streamed answer and one that is waited for."""
        self.stream = not self.stream

    def action_new_task(self) -> None:
        """Leave the task and the context."""
        self.aim = Aim()

    def action_leave(self) -> None:
        """Go back to the timeline."""
        self.post_message(self.Left())
