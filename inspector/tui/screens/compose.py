"""The compose screen: the parts and options of a message, its problems, and a preview of the request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from inspector.protocol.errors import FaultError
from inspector.protocol.selection import Choice as Interface
from inspector.session.call import Call
from inspector.session.compose.build import DraftError
from inspector.session.compose.checks import MessageWarning
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.session.session import Session
from inspector.tui.compose.options import SettingForms
from inspector.tui.compose.outline import ADD, PART, Outline, OutlineView, Row, rows_of
from inspector.tui.compose.part_editor import PartEditor
from inspector.tui.compose.preview import PreviewPane, ask_form
from inspector.tui.compose.schema_form import forms_of, open_form
from inspector.tui.keys import bind
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import CHOICE, Choice, FormScreen
from inspector.tui.screens.interfaces import InterfacesScreen
from inspector.tui.widgets.footer import KeyFooter

_PAUSE = 0.12
"""The seconds between the last change and the update of the request."""
_KINDS = {
    PartKind.TEXT: "text          plain text",
    PartKind.FILE: "file          a local file, sent in the message",
    PartKind.LINK: "file by URL   a file that the agent downloads",
    PartKind.DATA: "data          a JSON value",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The message, and its call if the user sent it; `is_raw` is true if the call sends an edited request."""

    draft: Draft
    stream: bool
    call: Call | None = None
    is_raw: bool = False


class ComposeScreen(Screen["Outcome | None"]):
    """Edits a message; returns an `Outcome`, or None if nothing was changed."""

    CSS_PATH = "compose.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("send", "send", priority=True),
        bind("add-part", "add"),
        bind("next-part-to-edit", "next_part", "", "Go to the next part"),
        bind("send-once", "send(False)", "send without streaming", "Send without streaming"),
        bind("send-once", "send(True)", "send with streaming", "Send with streaming"),
        bind("preview", "preview", "", "Switch between part and request preview"),
        bind("raw-request", "edit_raw"),
        bind("interface", "interface"),
        bind("form", "form"),
        bind("copy-request", "copy"),
        bind("save-snippet", "save"),
        bind("streaming", "toggle_stream", show=False),
        bind("back", "leave", "", "Go to the outline, then to Chat"),
        bind("help", "app.help"),
    ]

    def __init__(self, session: Session, draft: Draft, *, stream: bool) -> None:
        super().__init__()
        self._session = session
        self.draft = draft
        self.stream = stream
        self._choice: Interface | None = session.connection.choice if session.connection else None
        self._call: Call | None = None
        self._edited: tuple[int, DraftPart] | None = None  # the part in the editor and its index
        self._original: Call | None = None  # the call whose request is edited as text
        self._notes: tuple[MessageWarning, ...] = ()
        self._problem = ""  # why there is no request
        self._problems: dict[str, str] = {}
        self._timer: Timer | None = None
        self._discard_confirmed = False
        self._removed: list[tuple[int, DraftPart]] = []
        self._title_line = Static(id="compose-title")
        self._outline = OutlineView(id="outline", follow=False)
        self._editor = PartEditor(id="part")
        self._setting_text = Static(id="setting")
        self._preview = PreviewPane(id="preview")
        self._forms = SettingForms(self, session, lambda: self.draft, self.change)

    def compose(self) -> ComposeResult:
        """Make the title, the outline, the part, the request and the footer."""
        yield self._title_line
        with Horizontal(id="compose-panes"):
            yield self._outline
            with Vertical(id="compose-right"):
                yield self._editor
                yield self._setting_text
                yield self._preview
        yield KeyFooter()

    def on_mount(self) -> None:
        """Show the message with its first part, which is focused if the message is empty."""
        self._show_outline()
        self._outline.go_to("parts/0" if self.draft.parts else ADD)
        self._show_row()
        self._make()
        if self.draft.is_blank:
            self._editor.focus_value()
        else:
            self._outline.focus()

    # The outline

    def change(self, draft: Draft) -> None:
        """Use another draft, and update its request after a pause."""
        self.draft = draft
        self._show_outline()
        self._show_row()
        self.make_soon()

    def make_soon(self) -> None:
        """Update the request when the draft has not changed for a moment."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_PAUSE, self._make)

    def _make(self, *, stream: bool | None = None) -> None:
        """Build the request and its warnings, with or without streaming."""
        self._call, self._problems, self._notes, self._problem = None, {}, (), ""
        stream = self.stream if stream is None else stream
        try:
            self._call = self._session.send(self.draft, stream=stream, choice=self._choice, keep_warnings=True)
            self._notes = self._call.warnings
        except FaultError as error:
            self._problem = error.fault.sentence()
            for problem in error.problems if isinstance(error, DraftError) else ():
                self._problems.setdefault(problem.where, problem.words)
        if self._preview.raw is None:
            if self._call is None:
                self._preview.show_problem(self._problem)
            else:
                self._preview.show_call(self._call, self._call.preview())
        self._show_outline()
        self._show_row()
        self._show_title()

    def _show_outline(self) -> None:
        tenant = (self._choice.interface.tenant if self._choice else None) or ""
        push = f"on, at {self._session.push.receiver.base_url}" if self._session.push.on else "off"
        rows = rows_of(self.draft, stream=self.stream, push=push, agent_tenant=tenant)
        marks = {_row_of(note.where): "~" for note in self._notes}
        marks |= {_row_of(where): "!" for where in self._problems}
        row = self._outline.row
        if isinstance(self._outline.source, Outline):
            self._outline.source.update(rows, marks)
            self._outline.refresh_source()
        else:
            self._outline.show(Outline(rows, marks))
        if row is not None and self._outline.row is not None and self._outline.row.key != row.key:
            self._outline.go_to(row.key)

    def _show_row(self) -> None:
        """Show the part under the cursor, or the description of the option."""
        row, index = self._outline.row, self._outline.part
        self.set_class(index is None, "-setting")
        if index is not None:
            part = self.draft.parts[index]
            if self._edited is None or self._edited[0] != index or self._edited[1] is not part:
                self._edited = index, part
                self._editor.show_part(index, part)
            words = [text for where, text in self._problems.items() if _row_of(where) == f"parts/{index}"]
            self._editor.show_notes(words[0] if words else "", self._noted(f"parts/{index}"))
        elif row is not None:
            self._setting_text.update(self._setting(row))

    def _setting(self, row: Row) -> Content:
        head = Content.assemble((row.label, "bold"), ("   enter to edit" if row.key else "", "$text-soft"))
        lines = [head, Content.styled(self._forms.description(row.key), "$text-soft"), plain(row.value, limit=2000)]
        if row.key in self._problems:
            lines.append(plain(self._problems[row.key]).stylize("$state-bad"))
        lines += [plain(words).stylize("$state-warning") for words in self._noted(row.key)]
        return Content("\n").join(line for line in lines if line.plain)

    def _noted(self, key: str) -> tuple[str, ...]:
        return tuple(note.words for note in self._notes if key and _row_of(note.where) == key)

    def _show_title(self) -> None:
        connection = self._session.connection
        agent = connection.card.name if connection else "no agent"
        task = f"task {self.draft.task_id[:SHORT_ID]}" if self.draft.task_id else "new task"
        pieces = [
            Content.assemble(("COMPOSE", "bold $bar")),
            plain(agent, limit=60),
            Content.styled(task, "$state-warning" if self.draft.task_id else "$text-soft"),
            Content.styled(f"streaming {'on' if self.stream else 'off'}", "$text-soft"),
        ]
        if self._problems:
            pieces.append(Content.styled(_count(len(self._problems), "problem"), "$state-bad"))
        if self._notes:
            notes = f"{_count(len(self._notes), 'warning')}, can be sent"
            pieces.append(Content.styled(notes, "$state-warning"))
        self._title_line.update(Content("   ").join(pieces))

    def on_outline_view_highlighted(self) -> None:
        """Show the row under the cursor."""
        self._show_row()

    def on_outline_view_opened(self) -> None:
        """Edit the row under the cursor."""
        row = self._outline.row
        if row is None or not row.key:
            return
        if row.key == ADD:
            self.action_add()
        elif row.key.startswith(PART):
            self.remove_class("-second")
            self._editor.focus_value()
        elif row.key == "stream":
            self.action_toggle_stream()
        else:
            self._forms.open(row.key)

    def on_part_editor_changed(self, event: PartEditor.Changed) -> None:
        """Update the draft with the edited part."""
        self._take_part(event.index, event.part)
        self.make_soon()

    def _take_part(self, index: int, part: DraftPart) -> None:
        if index < len(self.draft.parts) and self.draft.parts[index] != part:
            parts = list(self.draft.parts)
            parts[index] = part
            self.draft = replace(self.draft, parts=tuple(parts))
            if self._edited is not None and self._edited[0] == index:
                self._edited = index, part

    def _take_last_keys(self) -> None:
        """Update the draft with the last typed text, whose event has not arrived yet."""
        if self._edited is not None and self._editor.part is not None and self._edited[0] == self._editor.index:
            self._take_part(self._editor.index, self._editor.part)

    def on_preview_pane_edited(self) -> None:
        """Warn again before the edited request is discarded."""
        self._discard_confirmed = False

    # Parts

    def action_add(self) -> None:
        """Ask for the kind of a part, and add it after the part under the cursor."""
        choices = [Choice(kind, words) for kind, words in _KINDS.items()]
        ask(self, FormScreen("ADD A PART", choices=choices), self._add)

    def _add(self, values: dict[str, str]) -> None:
        index = self._outline.part
        at = len(self.draft.parts) if index is None else index + 1
        parts = [*self.draft.parts[:at], DraftPart(PartKind(values[CHOICE])), *self.draft.parts[at:]]
        self._put(parts, at)
        self._editor.focus_value()

    def _put(self, parts: list[DraftPart], at: int) -> None:
        """Replace the parts of the message, and move the cursor to the part at an index."""
        self._edited = None
        self.change(replace(self.draft, parts=tuple(parts)))
        self._outline.go_to(f"parts/{at}" if parts else ADD)
        self._show_row()
        self.refresh_bindings()

    def action_next_part(self) -> None:
        """Go to the next part, and from the last to the first."""
        if not self.draft.parts:
            self.action_add()
            return
        index = self._outline.part
        self._outline.go_to(f"parts/{0 if index is None else (index + 1) % len(self.draft.parts)}")
        self._show_row()
        self._editor.focus_value()

    def action_duplicate(self) -> None:
        """Duplicate the part under the cursor."""
        index = self._outline.part
        if index is not None:
            parts = [*self.draft.parts]
            parts.insert(index, parts[index])
            self._put(parts, index + 1)

    def action_remove(self) -> None:
        """Remove the part under the cursor."""
        index = self._outline.part
        if index is not None:
            parts = [*self.draft.parts]
            self._removed.append((index, parts.pop(index)))
            self._put(parts, min(index, len(parts) - 1))

    def action_put_back(self) -> None:
        """Restore the part that was removed last."""
        index, part = self._removed.pop()
        parts = [*self.draft.parts]
        parts.insert(index, part)
        self._put(parts, min(index, len(parts) - 1))

    def action_shift(self, step: int) -> None:
        """Move the part under the cursor up or down."""
        index = self._outline.part
        if index is not None and 0 <= index + step < len(self.draft.parts):
            parts = [*self.draft.parts]
            parts.insert(index + step, parts.pop(index))
            self._put(parts, index + step)

    def action_form(self) -> None:
        """Fill in the form of the agent; the values go to the data part under the cursor or to a new part."""
        found = forms_of(self._session, self.draft.task_id)
        if not found:
            notify(self, "The agent provides no form: neither its question nor its skills contain a JSON Schema.")
            return
        open_form(self.app, found, self._take_form)

    def _take_form(self, text: str) -> None:
        parts = [*self.draft.parts]
        index = self._outline.part
        if index is None or parts[index].kind is not PartKind.DATA:
            index = len(parts)
            parts.append(DraftPart(PartKind.DATA))
        parts[index] = replace(parts[index], value=text)
        self._put(parts, index)

    # The request

    def action_toggle_stream(self) -> None:
        """Turn streaming on or off."""
        self.stream = not self.stream
        self.change(self.draft)
        self.refresh_bindings()

    def action_interface(self) -> None:
        """Choose another interface for this message and the next messages."""
        if self._session.connection is None:
            return
        if self._preview.is_edited:
            notify(self, "The edited request would be lost. Press F3 to discard it, then F4 again.")
            return
        ask(self, InterfacesScreen(self._session.connection, "INTERFACES"), self._use)

    def _use(self, choice: Interface) -> None:
        self._choice = choice
        self._session.use(choice)
        self._preview.discard_raw()
        self.make_soon()

    def action_preview(self) -> None:
        """Switch between the request and the part on a screen that is too narrow for both."""
        self.toggle_class("-second")
        if self.has_class("-second"):
            self.query_one("#preview-body").focus()
        else:
            self._outline.focus()

    def action_edit_raw(self) -> None:
        """Edit the request as text, or discard the edits and build the request from the message again."""
        if self._preview.raw is None:
            if self._call is None:
                notify(self, "There is no request to edit: the message has problems.", "warning")
                return
            self.add_class("-second")
            self._original = self._call
            self._preview.edit_raw(self._call)
            return
        if self._keeps_edits("Press F3 again to discard the edited request."):
            return
        self._discard_confirmed = False
        self._preview.discard_raw()
        self.remove_class("-second")
        self._outline.focus()
        self._make()

    def action_copy(self) -> None:
        """Ask for the format, and copy the request."""
        if self._call is None:
            notify(self, "There is no request to copy: the message has problems.", "warning")
        else:
            ask_form(self.app, self._call)

    def action_save(self) -> None:
        """Ask for a file name, and save the message as a snippet."""
        self._forms.save_snippet()

    def action_send(self, stream: bool | None = None) -> None:
        """Return the call, with or without streaming (None: as set), or go to the first problem and show it."""
        stream = self.stream if stream is None else stream
        self._take_last_keys()
        raw = self._preview.raw
        if raw is not None and self._original is not None:
            try:
                call, problem = self._session.send_raw(raw, self._original), ""
            except FaultError as error:
                call, problem = None, error.fault.sentence()
        else:
            self._make(stream=stream)
            call, problem = self._call, self._problem
        if call is not None:
            self.dismiss(Outcome(self.draft, stream, call, is_raw=raw is not None))
            return
        where = next(iter(self._problems), "")
        if where and raw is None:
            self._outline.go_to(_row_of(where))
            self._show_row()
        self.app.notify(plain(problem).plain, title="Not sent", severity="error", markup=False)

    def action_leave(self) -> None:
        """Go from a part or the request to the outline, and from there back to the chat, keeping the draft."""
        if not self._outline.has_focus:
            if self._preview.raw is None:
                self.remove_class("-second")
            self._outline.focus()
            return
        if self._keeps_edits("Press escape again to discard the edited request, or ctrl+s to send it."):
            return
        self._take_last_keys()
        self.dismiss(Outcome(self.draft, self.stream))

    def _keeps_edits(self, warning: str) -> bool:
        """Show a warning the first time that an edited request would be discarded; return whether it is kept."""
        if not self._preview.is_edited or self._discard_confirmed:
            return False
        self._discard_confirmed = True
        notify(self, warning, "warning")
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys that do not apply to the focused pane or the state of the message."""
        if action in ("duplicate", "remove", "shift"):
            return self._outline.has_focus and self._outline.part is not None
        if action == "put_back":
            return bool(self._removed)
        if action == "send":
            return parameters != (self.stream,)
        return self.has_class("-narrow") if action == "preview" else True


def _row_of(where: str) -> str:
    """Return the key of the row of a path in the message; members of a part belong to the row of the part."""
    steps = where.split("/")
    return "/".join(steps[:2]) if steps[0] == "parts" and len(steps) > 1 else ADD if where == "parts" else where


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count > 1 else ''}"
