"""The compose screen: the parts and options of a message, its problems, and a preview of the request."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.screen import Screen
from textual.timer import Timer

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultError
from inspector.protocol.selection import Choice as Interface
from inspector.session.call import Call
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.session.session import Session
from inspector.tui.compose.built_request import BuiltRequest, build_request, row_of
from inspector.tui.compose.edited_draft import EditedDraft, first_difference
from inspector.tui.compose.options import SettingForms
from inspector.tui.compose.outline import ADD, KINDS, PART, rows_of
from inspector.tui.compose.panes import ComposePanes
from inspector.tui.compose.preview import RawRequest, ask_and_copy, indented_request
from inspector.tui.compose.schema_form import Unfinished, forms_of, open_form
from inspector.tui.compose.title import ComposeTitle
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import ask, bring_to_top
from inspector.tui.screens.form import CHOICE, Choice, FormScreen
from inspector.tui.screens.interfaces import InterfacesScreen
from inspector.tui.widgets.footer import KeyFooter

_PAUSE = 0.12
"""The seconds between the last change and the update of the request."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The message, and its call if the user sent it; `raw` is the edited request, which was sent or is kept."""

    draft: Draft
    stream: bool
    call: Call | None = None
    raw: RawRequest | None = None


class ComposeScreen(Screen["Outcome | None"]):
    """Edits a message; returns an `Outcome`."""

    CSS_PATH = "compose.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("send", "send"),
        bind("back", "outline", "outline", "Go to the outline of the parts and options"),
        bind("back", "leave", "Chat", "Go back to Chat; the message is kept"),
        bind("preview", "preview(True)", "request", "Show the request"),
        bind("preview", "preview(False)", "message", "Show the message"),
        bind("add-part", "add"),
        bind("undo", "undo"),
        bind("remove", "remove", "", "Remove the part"),
        bind("raw-request", "edit_raw", "", "Edit the raw request"),
        bind("raw-request", "discard_raw", "discard raw", "Discard the raw request, and use the message"),
        bind("next-part-to-edit", "next_part", "", "Go to the next part"),
        bind("copy-request", "copy"),
        bind("save-snippet", "save"),
        bind("interface", "interface"),
        bind("form", "form", show=False),
        bind("duplicate", "duplicate", show=False),
        bind("part-up", "shift(-1)", show=False),
        bind("part-down", "shift(1)", show=False),
        bind("streaming", "toggle_stream", show=False),
        bind("send-once", "send(False)", "send without streaming", "Send without streaming", show=False),
        bind("send-once", "send(True)", "send with streaming", "Send with streaming", show=False),
        bind("help", "app.help"),
    ]

    def __init__(self, session: Session, draft: Draft, *, stream: bool, raw: RawRequest | None = None) -> None:
        super().__init__()
        self._session = session
        self._edited = EditedDraft(draft)
        self.stream = stream
        self._kept_raw = raw
        self.interface_chosen: Callable[[], object] = lambda: None
        """Called after the user has chosen an interface."""
        self._made: tuple[Draft, bool, bool] | None = None
        """The message of the last request that was built, whether it is sent with streaming, and with a webhook."""
        self._choice: Interface | None = session.connection.choice if session.connection else None
        self._unfinished: Unfinished = {}
        self.built = BuiltRequest()
        self._timer: Timer | None = None
        self._title_line = ComposeTitle()
        self._panes = ComposePanes(id="compose-panes")
        self._outline, self._preview = self._panes.outline, self._panes.preview
        self._forms = SettingForms(self, session, lambda: self.draft, self.change)

    @property
    def draft(self) -> Draft:
        """The present message."""
        return self._edited.draft

    def compose(self) -> ComposeResult:
        """Make the title, the panes and the footer."""
        yield self._title_line
        yield self._panes
        yield KeyFooter()

    def on_mount(self) -> None:
        """Show the message with its first part, which is focused if the message is empty."""
        self._show_outline()
        self._outline.go_to("parts/0" if self.draft.parts else ADD)
        self._make()
        if self._kept_raw is not None:
            self._panes.show_raw(self._kept_raw)
        elif self.draft.is_blank and self.draft.parts:
            self._panes.editor.focus_value()
        else:
            self._outline.focus()

    # The message

    def change(self, draft: Draft, name: str) -> None:
        """Use another draft, and update its request after a pause; `name` describes the change."""
        self._take_last_keys()
        self._edited.change(draft, name)
        self._changed()

    def _changed(self) -> None:
        self._show_outline()
        self._show_row()
        self._make_soon()

    def _make_soon(self) -> None:
        """Update the request when the draft has not changed for a moment."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_PAUSE, self._make)

    def _make(self, *, stream: bool | None = None) -> None:
        """Build the request of the draft and of what was just typed, with or without streaming."""
        self._take_last_keys()
        stream = self.stream if stream is None else stream
        self.built = build_request(self._session, self.draft, stream=stream, choice=self._choice)
        made, self._made = self._made, (self.draft, stream, self._session.push.on)
        if self._preview.is_raw:
            if made != self._made and self._preview.update_raw(self.built.call):
                key = key_of("raw-request")
                notify(self, f"The edited request is sent without this change. Press {key} to discard it.", "warning")
        elif self.built.call is None:
            self._preview.show_problem(self.built.problem)
        else:
            self._preview.show_call(self.built.call, self.built.call.preview())
        self._show_outline()
        self._show_row()
        self._show_title()

    def _take_last_keys(self) -> None:
        """Update the draft with the last typed text, whose event may not have arrived yet."""
        typed = self._panes.typed_part()
        if typed is not None:
            self._edited.set_part(*typed)

    def on_part_editor_changed(self) -> None:
        """Update the draft with the edited part."""
        self._take_last_keys()
        self._make_soon()

    # What is shown

    def _show_outline(self) -> None:
        choice, push = self._choice, self._session.push
        rows = rows_of(
            self.draft,
            stream=self.stream,
            push=push.receiver.base_url if push.on else "none",
            agent_tenant=(choice.interface.tenant if choice else None) or "",
            version=choice.dialect.version if choice else "",
        )
        self._panes.show_rows(rows, self.built.marks)
        self._panes.outline_pane.show_undo(self._edited.undo.name)

    def _show_row(self) -> None:
        """Show the part or the option under the cursor."""
        row = self._outline.row
        self._panes.show_row(self.draft, self.built, self._forms.description(row.key) if row is not None else "")

    def _show_title(self) -> None:
        connection = self._session.connection
        agent = connection.name if connection else "no agent"
        panes = self._panes.names if self.has_class("-narrow") else {}
        self._title_line.show(agent, self.draft, self.built, panes, self._panes.current)

    def on_descendant_focus(self) -> None:
        """Show which pane has the focus."""
        self._show_title()

    def on_resize(self) -> None:
        """Name the panes that are not shown on a narrow screen."""
        self.call_after_refresh(self._show_title)

    def on_compose_title_chosen(self, event: ComposeTitle.Chosen) -> None:
        """Go to the pane whose name was clicked."""
        self._panes.go_to(event.pane)

    # The outline

    def on_outline_view_highlighted(self) -> None:
        """Show the row under the cursor."""
        self._take_last_keys()
        self._show_row()
        self._show_title()
        self.refresh_bindings()

    def on_outline_view_opened(self) -> None:
        """Edit the row under the cursor."""
        row = self._outline.row
        if row is None or not row.key:
            return
        if row.key == ADD:
            self.action_add()
        elif row.key.startswith(PART):
            self._panes.editor.focus_value()
        elif row.key == "stream":
            self.action_toggle_stream()
        else:
            self._forms.open(row.key)

    # Parts

    def action_add(self) -> None:
        """Ask for the kind of a part, and add it after the part under the cursor."""
        choices = [Choice(kind, words) for kind, words in KINDS.items()]
        ask(self, FormScreen("Add a part", choices=choices), self._add)

    def _add(self, values: dict[str, str]) -> None:
        self._take_last_keys()
        index = self._outline.part
        at = len(self.draft.parts) if index is None else index + 1
        self._edited.insert(at, DraftPart(PartKind(values[CHOICE])))
        self._show_parts(at)
        self._panes.editor.focus_value()

    def _show_parts(self, at: int) -> None:
        """Show the changed parts, with the cursor on the part at an index."""
        self._panes.forget_part()
        self._show_outline()
        self._outline.go_to(f"parts/{at}" if self.draft.parts else ADD)
        self._changed()
        self.refresh_bindings()

    def action_next_part(self) -> None:
        """Go to the next part, and from the last to the first."""
        if not self.draft.parts:
            self.action_add()
            return
        index = self._outline.part
        self._outline.go_to(f"parts/{0 if index is None else (index + 1) % len(self.draft.parts)}")
        self._show_row()
        self._panes.editor.focus_value()

    def action_duplicate(self) -> None:
        """Duplicate the part under the cursor."""
        self._take_last_keys()
        index = self._outline.part
        if index is not None:
            self._edited.insert(index + 1, self.draft.parts[index], f"duplicate part {index + 1}")
            self._show_parts(index + 1)

    def action_remove(self) -> None:
        """Remove the part under the cursor."""
        self._take_last_keys()
        index = self._outline.part
        if index is not None:
            self._edited.remove(index)
            self._outline.focus()
            self._show_parts(max(0, min(index, len(self.draft.parts) - 1)))

    def action_shift(self, step: int) -> None:
        """Move the part under the cursor up or down."""
        self._take_last_keys()
        index = self._outline.part
        if index is not None and self._edited.move(index, step):
            self._show_parts(index + step)

    def action_undo(self) -> None:
        """Undo the last change of the message, and show the part that it restores."""
        self._take_last_keys()
        before = self.draft
        self._edited.undo.undo()
        at = first_difference(before.parts, self.draft.parts)
        if at is None:
            self._changed()
        else:
            self._show_parts(at)
        self.refresh_bindings()

    def action_form(self) -> None:
        """Fill in the form of the agent; the values go to the data part under the cursor or to a new part."""
        open_form(self, forms_of(self._session, self.draft.task_id), self._unfinished, self._take_form)

    def _take_form(self, text: str) -> None:
        self._take_last_keys()
        self._show_parts(self._edited.fill_data(self._outline.part, text))

    # The request

    def action_toggle_stream(self) -> None:
        """Turn streaming on or off."""
        self.stream = not self.stream
        self._changed()
        self.refresh_bindings()

    def action_interface(self) -> None:
        """Choose another interface for this message and the next messages."""
        if self._session.connection is None:
            return
        if self._preview.edited is not None:
            key, then = key_of("raw-request"), key_of("interface")
            notify(self, f"The edited request is for the present interface. Press {key} to discard it, then {then}.")
            return
        ask(self, InterfacesScreen(self._session.connection, "Interfaces"), self._use)

    def _use(self, choice: Interface) -> None:
        self._choice = choice
        self._session.use(choice)
        self.interface_chosen()
        self._panes.close_raw()
        self._changed()

    def action_preview(self, shown: bool) -> None:
        """Show the request or the message on a screen that is too narrow for both."""
        self._panes.go_to("request" if shown else "outline")

    def action_edit_raw(self) -> None:
        """Edit the request as text."""
        self._make()
        if self.built.call is None:
            notify(self, "There is no request to edit: the message has problems.", "warning")
        else:
            self._panes.show_raw(indented_request(self.built.call))

    def action_discard_raw(self) -> None:
        """Discard the request as text, and build the request from the message again."""
        edited = self._preview.edited
        if edited is not None:
            self._edited.undo.add("discard the edited request", lambda: self._panes.show_raw(edited))
        self._panes.close_raw()
        self._outline.focus()
        self._make()

    def action_copy(self) -> None:
        """Ask for the format, and copy the request as it would be sent now."""
        call, problem = self._call_to_send(stream=self.stream)
        if call is None:
            notify(self, f"There is no request to copy: {problem}", "warning")
        else:
            ask_and_copy(self, call)

    def action_save(self) -> None:
        """Ask for a file name, and save the message as a snippet."""
        self._take_last_keys()
        self._forms.save_snippet()

    def _call_to_send(self, *, stream: bool | None) -> tuple[Call | None, str]:
        """Return the call of the raw request, or else of the message; without a call, return the reason."""
        self._make(stream=stream)
        raw = self._preview.raw
        if raw is None or (self.built.call is None and self._preview.edited is None):
            return self.built.call, self.built.problem
        try:
            return self._session.send_raw(raw.text, raw.like), ""
        except FaultError as error:
            return None, error.fault.sentence()

    def action_send(self, stream: bool | None = None) -> None:
        """Return the call, with or without streaming (None: as set), or go to the first problem and show it."""
        call, problem = self._call_to_send(stream=stream)
        raw = self._preview.raw
        if call is not None:
            self.dismiss(Outcome(self.draft, self.stream, call, raw))
            return
        where = next(iter(self.built.problems), "")
        if where and raw is None:
            self._outline.go_to(row_of(where))
            self._show_row()
        self.app.notify(plain(problem).plain, title="Not sent", severity="error", markup=False)

    def action_outline(self) -> None:
        """Go from a part or the request to the outline."""
        self._outline.focus()

    def action_leave(self) -> None:
        """Go from the outline back to the chat, keeping the message."""
        self._take_last_keys()
        self.dismiss(Outcome(self.draft, self.stream, raw=self._preview.edited))

    def dismiss(self, result: Outcome | None = None) -> AwaitComplete:
        """Close the screen with the message, unless it is closed already."""
        return super().dismiss(result) if bring_to_top(self) else AwaitComplete()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys that do not apply to the selected row or the state of the message."""
        if action in ("duplicate", "remove", "shift"):
            return self._outline.part is not None
        if action in ("edit_raw", "discard_raw"):
            return self._preview.is_raw is (action == "discard_raw")
        if action == "undo":
            return bool(self._edited.undo.name)
        if action in ("outline", "leave"):
            return self._outline.has_focus is (action == "leave")
        if action == "send":
            return parameters != (self.stream,)
        if action == "preview":
            return self.has_class("-narrow") and parameters != (self._panes.has_class("-request"),)
        return True
