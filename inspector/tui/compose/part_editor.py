"""One part of a message being written: its value, its media type, its name, its metadata."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from inspector.session.compose.build import guess_members
from inspector.session.compose.draft import DraftPart, PartKind
from inspector.tui.compose.outline import size_of
from inspector.tui.compose.path_completion import Candidate, candidates, completed
from inspector.tui.editor import edit
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.render.json_nodes import NotJsonError, laid_out
from inspector.tui.render.text_lines import WrappedText
from inspector.tui.widgets.fields import ChoiceList, LineInput, ValueOption, value_of
from inspector.tui.widgets.lines import LineView
from inspector.tui.widgets.message_area import MOST
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.text_block import TextBlock
from inspector.tui.widgets.verbatim_area import VerbatimArea

_ONE_LINE = (PartKind.FILE, PartKind.LINK)
_FIELDS = {"media_type": "media type", "filename": "file name", "metadata": "metadata"}
_LONG = 4000
"""The number of characters that are shown of a text that is too long to edit here."""


class PartArea(VerbatimArea):
    """The text or the JSON of a part."""

    most = MOST


class PartEditor(Pane):
    """Shows one part and reports every change to it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("format-json", "lay_out"),
        bind("editor", "editor", "", "Edit the value in $EDITOR"),
        bind("down", "go_to_candidates", "files", "Go to the matching files", show=False),
        bind("complete", "complete", "", "Complete the path, or go to the next field", show=False),
    ]

    DEFAULT_CSS = """
    PartEditor {
        & > #part-notes { height: auto; max-height: 3; }
        & > PartArea { height: 1fr; border: none; padding: 0; background: $background; }
        & > #part-long { height: 1fr; }
        & > #part-path { background: $panel; }
        & > #part-files { height: 1fr; border: none; background: $background; padding: 0; }
        & > #part-fields { height: auto; border-top: solid $rule; }
        & .part-field { height: 1; }
        & .part-field > Static { width: 12; color: $text-soft; }
        & .part-field > Input { width: 1fr; background: $background; }
        & .part-field > Input:focus { background: $panel; }
    }
    """

    class Changed(Message):
        """The part was changed."""

    def __init__(self, *, id: str) -> None:
        super().__init__("Part", id=id)
        self._part: DraftPart | None = None
        self.index = 0

    def compose(self) -> ComposeResult:
        """Make a widget for each kind of value, and the fields that every part has."""
        yield TextBlock(id="part-notes")
        yield PartArea(id="part-text", soft_wrap=True, show_line_numbers=False, compact=True)
        yield LineView(id="part-long")
        yield LineInput(enter_hint="use", id="part-path", select_on_focus=False)
        yield ChoiceList(enter_hint="use", id="part-files")
        with Vertical(id="part-fields"):
            for name, label in _FIELDS.items():
                with Horizontal(classes="part-field"):
                    yield Static(label)
                    yield LineInput(id=f"part-{name}", select_on_focus=False)

    @property
    def part(self) -> DraftPart | None:
        """The part with the present values of the fields, even if a change has not been reported yet."""
        if self._part is None:
            return None
        value = self._part.value
        if not self._is_long:
            one_line = self._part.kind in _ONE_LINE
            value = self.query_one("#part-path", LineInput).value if one_line else self.query_one(PartArea).text
        fields = {name: self.query_one(f"#part-{name}", Input).value for name in _FIELDS}
        return replace(self._part, value=value, **fields)  # type: ignore[arg-type]

    @property
    def _is_long(self) -> bool:
        return self._part is not None and len(self._part.value) > MOST

    def show_part(self, index: int, part: DraftPart) -> None:
        """Show a part; the placeholder of media type and file name is the value that is sent if the field is empty."""
        self._part, self.index = part, index
        one_line = part.kind in _ONE_LINE
        shown = {
            "#part-text": not one_line and not self._is_long,
            "#part-long": self._is_long,
            "#part-path": one_line,
            "#part-files": part.kind is PartKind.FILE,
        }
        for selector, display in shown.items():
            self.query_one(selector).display = display
        with self.prevent(TextArea.Changed, Input.Changed):
            area = self.query_one(PartArea)
            if shown["#part-text"]:
                area.text = part.value
                area.move_cursor(area.document.end)
                area.placeholder = "JSON" if part.kind is PartKind.DATA else "the text"
            path = self.query_one("#part-path", LineInput)
            path.value = part.value if one_line else ""
            is_file = part.kind is PartKind.FILE
            path.placeholder = "path of a file" if is_file else "https://... (the agent fetches it)"
            for name in _FIELDS:
                self.query_one(f"#part-{name}", Input).value = getattr(part, name)
        if self._is_long:
            count, key = f"{len(part.value):,}", key_of("editor")
            head = f"{count} characters, too many to edit here; press {key} for $EDITOR. The beginning:"
            begin = WrappedText(part.value[:_LONG], style="line--text", head=head)
            begin.skip(len(part.value) - _LONG)
            self.query_one("#part-long", LineView).show(begin)
        self._hint()
        if part.kind is PartKind.FILE:
            self._offer(part.value)

    def show_notes(self, problem: str, notes: tuple[str, ...]) -> None:
        """Show the problem of the part and notes about it."""
        line = self.query_one("#part-notes", TextBlock)
        lines = [plain(problem).stylize("$state-bad")] if problem else []
        lines += [plain(note).stylize("$state-warning") for note in notes]
        line.display = bool(lines)
        line.update(Content("\n").join(lines))

    def focus_value(self, *, last: bool = False) -> None:
        """Focus the value, or the last field."""
        if last:
            self.screen.set_focus(self.query(Input).last())
            return
        order = ("#part-text", "#part-path", "#part-long")
        self.screen.set_focus(next((widget for widget in map(self.query_one, order) if widget.display), None))

    def _hint(self) -> None:
        """Show what is sent for empty fields, and the size of the value."""
        part = self._part
        if part is None:
            return
        self.set_title(Chip(part.kind), Chip(size_of(part), "$text-soft"), name=f"Part {self.index + 1}")
        for name, hint in zip(_FIELDS, (*guess_members(part), "none (a JSON object)"), strict=True):
            self.query_one(f"#part-{name}", Input).placeholder = hint or "none"

    def _change(self, **members: str) -> None:
        if self._part is None:
            return
        changed = replace(self._part, **members)  # type: ignore[arg-type]
        if changed != self._part:
            self._part = changed
            self._hint()
            self.post_message(self.Changed())

    # Input

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Change the value to the text."""
        event.stop()
        if not self._is_long:
            self._change(value=event.text_area.text)

    def on_verbatim_area_overflowed(self, event: PartArea.Overflowed) -> None:
        """Change the value to a text that is too long for the area, and show its beginning."""
        event.stop()
        self._set_value(event.text)

    def _set_value(self, text: str) -> None:
        """Replace the value; in the area, that can be undone like typed text."""
        if not self._is_long and len(text) <= MOST:
            self.query_one(PartArea).replace_all(text)
            return
        self._change(value=text)
        if self._part is not None:
            self.show_part(self.index, self._part)
            self.focus_value()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Change the path, the URL or a field."""
        event.stop()
        name = (event.input.id or "").removeprefix("part-")
        if name == "path":
            self._change(value=event.value)
            if self._part is not None and self._part.kind is PartKind.FILE:
                self._offer(event.value)
        elif name in _FIELDS:
            self._change(**{name: event.value})

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Complete a path with the first candidate, or go to the next field."""
        event.stop()
        found = self._candidates_of(event.value) if event.input.id == "part-path" else []
        if found and found[0].path != event.value:
            self._take(found[0].path)
        else:
            self.screen.focus_next()

    # Files

    def _candidates_of(self, typed: str) -> list[Candidate]:
        """Return the files and folders for a path, which may have been typed after those that are listed were found."""
        return candidates(typed)[0] if self._part is not None and self._part.kind is PartKind.FILE else []

    @work(exclusive=True, group="files")
    async def _offer(self, typed: str) -> None:
        found, problem = await asyncio.to_thread(candidates, typed)
        part = self._part
        if part is None or part.kind is not PartKind.FILE or part.value != typed:
            return
        listed = self.query_one(ChoiceList)
        listed.clear_options()
        for candidate in found:
            name = plain(candidate.name).stylize("bold" if candidate.folder else "")
            listed.add_option(ValueOption(Content.assemble(name, (f"   {candidate.words}", "$text-soft")), candidate))
        if problem:
            listed.add_option(Option(plain(problem), disabled=True))

    def _take(self, path: str) -> None:
        field = self.query_one("#part-path", LineInput)
        field.value = path
        field.cursor_position = len(path)
        self.screen.set_focus(field)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Use the path of the file or folder."""
        event.stop()
        candidate = value_of(event.option, Candidate)
        if candidate is not None:
            self._take(candidate.path)

    def action_go_to_candidates(self) -> None:
        """Go from the path to its candidates."""
        listed = self.query_one(ChoiceList)
        if listed.display and any(value_of(option, Candidate) for option in listed.options):
            listed.highlighted = 0
            self.screen.set_focus(listed)

    def action_complete(self) -> None:
        """Complete the path as far as its candidates agree, or go to the next field."""
        field = self.query_one("#part-path", LineInput)
        path = completed(field.value, self._candidates_of(field.value))
        if field.has_focus and path != field.value:
            self._take(path)
        else:
            self.screen.focus_next()

    # JSON and the editor

    def action_lay_out(self) -> None:
        """Indent JSON, one member per line."""
        part = self._part
        if part is None or part.kind is not PartKind.DATA:
            return
        try:
            self._set_value(laid_out(part.value.encode("utf-8", "surrogatepass")).removesuffix("\n"))
        except NotJsonError as error:
            notify(self, str(error), "warning")

    def action_editor(self) -> None:
        """Edit the value in the user's editor."""
        part = self._part
        if part is None or part.kind in _ONE_LINE:
            return
        text = edit(self.app, part.value, ".json" if part.kind is PartKind.DATA else ".txt")
        if text is not None:
            self._set_value(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        """Offer only the actions of this kind of part."""
        kind = self._part.kind if self._part else None
        if action == "lay_out":
            return kind is PartKind.DATA
        if action == "editor":
            return kind is not None and kind not in _ONE_LINE
        return kind is PartKind.FILE if action in ("go_to_candidates", "complete") else True
