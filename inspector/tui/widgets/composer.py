"""The composer: a message being written, and the task or context it is for."""

from __future__ import annotations

from dataclasses import replace

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from inspector.lazy_dataclass import dataclass
from inspector.session.call import Call
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft, text_part
from inspector.text.short_id import short_id
from inspector.tui.editor import edit
from inspector.tui.keys import key_of
from inspector.tui.notify import notify
from inspector.tui.render.content import plain, styled
from inspector.tui.render.drafts import part_in_words, settings_in_words, upload_in_words
from inspector.tui.render.key_hints import with_keys
from inspector.tui.widgets.message_area import MOST, MessageArea
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.text_block import TextBlock
from inspector.tui.widgets.verbatim_area import VerbatimArea

LARGE = 1_000_000
"""From this size in bytes on, the progress of an upload is shown."""
_EMPTY = "the message is empty"
_OFFERED = 60
"""The number of characters of an unsent message that are shown."""
_PART = 40
"""The cells that another part of the message has at least."""
_PROBLEM_ROWS = 6
"""The most rows of a problem or a note."""
UPLOAD_PHASE = 0.1
"""The interval at which the progress is drawn, in seconds."""


@dataclass(frozen=True, slots=True)
class Destination:
    """The destination of the next message: an existing task, or a new task in an existing or new context."""

    task_id: str = ""
    context_id: str = ""
    question: str = ""
    """The agent's question, if the task waits for an answer."""
    state: str = ""
    """The state in which the task waits, by its short name."""
    chosen: bool = False
    """Whether the user left the task and the context: the task of an earlier message does not replace this choice."""

    def at(self, task_id: str, context_id: str) -> Destination:
        """Return the destination for a task and a context; the question is kept if the task stays the same."""
        same = task_id == self.task_id
        return Destination(task_id, context_id, self.question if same else "", self.state if same else "")


def _cut_to_fit(pieces: list[Content], room: int, gap: int) -> list[Content]:
    """Return pieces of a line of `room` cells: the long pieces share what the short pieces leave."""
    room -= gap * (len(pieces) - 1)
    share = 0
    for left, width in zip(range(len(pieces), 0, -1), sorted(piece.cell_length for piece in pieces), strict=True):
        share = max(_PART, room // left)
        room -= min(width, share)
    return [piece.truncate(share, ellipsis=True) for piece in pieces]


def _first_rows(text: Content, width: int) -> Content:
    """Return as much of a problem or a note as is shown, with `…` at the end if the rest is left out."""
    rows = text.wrap(width) if width else []
    if len(rows) <= _PROBLEM_ROWS:
        return text
    *rows, last = rows[:_PROBLEM_ROWS]
    return Content("\n").join([*rows, last.rstrip().truncate(width - 1) + Content("…")])


class Composer(Pane):
    """Shows the agent's question, the destination of the message, its other parts, and the text area.

    The text is one part of the draft; `draft` returns the whole draft, and `take` replaces it.
    """

    @dataclass
    class SendRequested(Message):
        """The user wants the message to be sent."""

        draft: Draft
        stream: bool

    class Changed(Message):
        """The message was changed."""

    class Left(Message):
        """The user wants to go back to the timeline."""

    destination: reactive[Destination] = reactive(Destination())
    stream: reactive[bool] = reactive(True)
    push_on: reactive[bool] = reactive(False)
    problem: reactive[str] = reactive("")
    has_form: reactive[bool] = reactive(False, bindings=True)
    note: reactive[str] = reactive("")
    """A warning about the message, which can be sent nevertheless."""
    offer: reactive[str] = reactive("")
    """The beginning of an unsent message of an earlier session, which can be restored."""

    _draft: Draft | None = None
    """The message without the text of the area; None before anything was written."""
    _part = 0
    """The number of the part that is the text of the area."""
    _uploading: Call | None = None
    """The call that is uploading a large message."""

    def __init__(self, *, id: str) -> None:
        super().__init__("Message", id=id)
        self._question_text = TextBlock(id="question")
        self._destination_text = TextBlock(id="destination")
        self._others_text = TextBlock(id="others")
        self._area = MessageArea(
            id="text",
            soft_wrap=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            compact=True,
        )

    def compose(self) -> ComposeResult:
        """Make the question, the destination, the other parts and the text."""
        yield self._question_text
        yield self._destination_text
        yield self._others_text
        yield self._area

    @property
    def text(self) -> str:
        """The text of the area."""
        return self._area.text

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written."""
        return not self.text and (self._draft is None or self.draft.is_blank)

    @property
    def keeps_destination(self) -> bool:
        """Whether the destination was chosen, or text is written for it, so that it does not follow the timeline."""
        return self.destination.chosen or not self.is_blank

    @property
    def draft(self) -> Draft:
        """The whole message; an empty text is left out if there are other parts."""
        if self._draft is None:
            self._draft = Draft((text_part(""),))  # kept, so that its ids stay the same until it is sent
        draft = self._draft
        parts = list(draft.parts)
        parts[self._part] = replace(parts[self._part], value=self.text)
        if len(parts) > 1 and not self.text:
            del parts[self._part]
        return replace(
            draft, parts=tuple(parts), task_id=self.destination.task_id, context_id=self.destination.context_id
        )

    def take(self, draft: Draft | None) -> None:
        """Replace the draft, or start a new draft for None; the first text that is not too long goes into the area."""
        text, self._part = "", 0
        if draft is not None:
            parts = enumerate(draft.parts)
            fitting = [index for index, part in parts if part.kind is PartKind.TEXT and len(part.value) <= MOST]
            if fitting:
                self._part = fitting[0]
            else:
                draft = replace(draft, parts=(text_part(""), *draft.parts))
            text = draft.parts[self._part].value
            self.destination = self.destination.at(draft.task_id, draft.context_id)
        else:
            self.destination = replace(self.destination, chosen=False)
        self._draft = draft
        if text != self._area.text:
            self._area.replace_all(text)
        self._area.move_cursor(self._area.document.end)
        self._show_destination()

    def fill(self, text: str) -> None:
        """Replace the message by a text and focus it; a text that is too long becomes another part."""
        self.take(
            text_draft(text, task_id=self.destination.task_id, context_id=self.destination.context_id) if text else None
        )
        self.focus_text()

    def give_back(self, draft: Draft) -> None:
        """Take the draft of a message that could not be sent, unless another message is being written.

        Its text is selected: what is typed next replaces it.
        """
        if self.is_blank:
            self.take(draft)
            self._area.select_all()
        else:
            notify(self, f"The message that was not sent is in the history: {key_of('history')}.")

    def focus_text(self) -> None:
        """Focus the text."""
        self.screen.set_focus(self._area)

    def paste(self, text: str) -> None:
        """Insert a text as if it was pasted into the area."""
        self._area.post_message(events.Paste(text))

    def on_mount(self) -> None:
        """Show the first destination, as soon as the composer counts as mounted."""
        self.call_later(self._show_destination)
        self._watch = self.set_interval(UPLOAD_PHASE, self._update_upload, pause=True)

    def on_resize(self) -> None:
        """Show as much of the other parts as fits."""
        self._show_destination()

    def watch_destination(self) -> None:
        """Show the new destination."""
        self._show_destination()
        self.post_message(self.Changed())

    def watch_stream(self) -> None:
        """Show whether the response is streamed."""
        self._show_destination()
        self.refresh_bindings()

    def show_upload(self, call: Call) -> None:
        """Show the progress of a large upload until the response or the end of the call."""
        if call.length > LARGE:
            self._uploading = call
            self._watch.resume()

    def _update_upload(self) -> None:
        if self._uploading is not None and (
            self._uploading.exchange.head is not None or self._uploading.exchange.ending is not None
        ):
            self._uploading = None
            self._watch.pause()
        self._show_destination()

    def _show_destination(self) -> None:
        """Show everything above the text."""
        if not self.is_mounted:
            return
        self._question_text.display = bool(self.destination.question)
        if self.destination.question:
            form = "   {form} form" if self.has_form else ""
            keys = with_keys(f"{form}   {{new-task}} new task", "$text-soft")
            self._question_text.update(styled([(self.destination.question, "$state-warning"), *keys]))
        self._show_border()
        problem = self._problem_line()
        self._destination_text.display = bool(problem.plain)
        self._destination_text.update(_first_rows(problem, self.content_size.width))
        line = self._others_line()
        self._others_text.display = line is not None
        if line is not None:
            self._others_text.update(line)

    watch_push_on = watch_problem = watch_has_form = watch_note = watch_offer = _show_destination

    def _others_line(self) -> Content | None:
        """Return the other parts and the settings of the message, None if there are none."""
        if self._draft is None:
            return None
        others = [part for index, part in enumerate(self._draft.parts) if index != self._part]
        settings = plain(", ".join(settings_in_words(self._draft))).stylize("$text-soft")
        head, gap = Content.styled("with  ", "$text-soft"), Content("   ")
        room = self.content_size.width - head.cell_length - (settings.cell_length + len(gap) if settings else 0)
        pieces = _cut_to_fit([plain(part_in_words(part, max(_PART, room))) for part in others], room, len(gap))
        pieces += [settings] if settings else []
        return Content.assemble(head, gap.join(pieces)) if pieces else None

    def _problem_line(self) -> Content:
        pieces: list[Content] = []
        if self._uploading is not None and self._uploading.upload.total:
            pieces.append(upload_in_words(self._uploading.upload))
        if self.problem:
            pieces.append(Content.assemble(("problem: ", "$state-bad"), plain(self.problem)))
        elif self.offer:
            offer = plain(f"Unsent message: {self.offer}", limit=_OFFERED).stylize("$bar")
            hint = with_keys("   {history} restores it, a new message hides it", "$text-soft")
            pieces.append(Content.assemble(offer, styled(hint)))
        elif self.note:
            pieces.append(plain(self.note).stylize("$state-warning"))
        return Content("   ").join(pieces)

    def _show_border(self) -> None:
        """Show in the border what the message starts or continues, and how it is sent."""
        destination = self.destination
        if destination.task_id:
            waiting = f" ({destination.state})" if destination.state else ""
            name, style = f"Reply to task {short_id(destination.task_id)}{waiting}", "$state-warning"
        elif destination.context_id:
            name, style = f"New task in context {short_id(destination.context_id)}", ""
        else:
            name, style = "New task", ""
        webhook = Chip("webhook on", "$wire-pushed") if self.push_on else Chip("webhook off", "$wire-quiet")
        stream = Chip(f"streaming {'on' if self.stream else 'off'}", "$text-soft")
        writing = self._area.has_focus
        key = Chip("" if writing else f"{key_of('write')}: write", "$bar", "write")
        self.set_title(name=name, note=(key, stream, webhook))
        self.set_class(bool(style), "-reply")
        self._area.placeholder = (
            f"Write a message: enter sends it, {key_of('new-line')} begins a new line"
            if writing
            else f"Press {key_of('write')} to write a message."
        )

    def chosen(self, target: str) -> None:
        """Focus the text."""
        if target == "write":
            self.focus_text()

    def on_descendant_focus(self) -> None:
        """Show the keys for writing."""
        self._show_border()

    def on_descendant_blur(self) -> None:
        """Show the key that focuses the text."""
        self._show_border()

    def on_message_area_submitted(self) -> None:
        """Send on enter."""
        self.action_send()

    def on_text_area_changed(self) -> None:
        """Report the change, and remove the problem of an empty message."""
        if self.problem == _EMPTY:
            self.problem = ""
        self.post_message(self.Changed())

    def on_message_area_dragged(self, event: MessageArea.Dragged) -> None:
        """Add the file as a part."""
        self.add_part(DraftPart(PartKind.FILE, event.path))
        self.post_message(self.Changed())

    def add_part(self, part: DraftPart) -> None:
        """Add a part to the message, or replace an empty message by the part."""
        draft = self.draft
        kept = () if draft.is_blank else draft.parts
        self.take(replace(draft, parts=(*kept, part)))

    def on_verbatim_area_overflowed(self, event: VerbatimArea.Overflowed) -> None:
        """Turn a text that is too long for the area into another part, which cannot be edited here."""
        self._take_long(event.text)

    def _take_long(self, text: str) -> None:
        parts = list(self._draft.parts) if self._draft is not None else [text_part("")]
        parts[self._part] = replace(parts[self._part], value=text)
        self.take(replace(self.draft, parts=tuple(parts)))
        self.post_message(self.Changed())

    def action_send(self, stream: bool | None = None) -> None:
        """Send the message, with or without streaming (None: as set), or report that it is empty."""
        draft = self.draft
        if draft.is_blank:
            self.problem = _EMPTY
            return
        self.problem = ""
        self.post_message(self.SendRequested(draft, stream=self.stream if stream is None else stream))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the form without a schema, and the key to send with the streaming setting that is already in use."""
        if action == "send":
            return parameters != (self.stream,)
        return self.has_form if action == "form" else super().check_action(action, parameters)

    def action_editor(self) -> None:
        """Write the text in the user's editor."""
        text = edit(self.app, self.text)
        if text is None or text == self.text:
            return
        if len(text) > MOST:
            self._take_long(text)
        else:
            self._area.replace_all(text)

    def action_toggle_stream(self) -> None:
        """Switch streaming on or off."""
        self.stream = not self.stream

    def action_new_task(self) -> None:
        """Leave the task and the context."""
        self.destination = Destination(chosen=True)

    def action_leave(self) -> None:
        """Go back to the timeline."""
        self.post_message(self.Left())
