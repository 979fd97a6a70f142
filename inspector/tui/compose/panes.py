"""The panes of the compose screen: the outline, the part or option under its cursor, and the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from inspector.session.compose.draft import Draft, DraftPart
from inspector.tui.compose.built_request import BuiltRequest
from inspector.tui.compose.outline import ADD, Outline, OutlineView, Row
from inspector.tui.compose.part_editor import PartEditor
from inspector.tui.compose.preview import PreviewPane, RawRequest
from inspector.tui.keys import bind, key_of
from inspector.tui.render.content import plain, styled
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.text_block import TextBlock

_UNDO = "undo"
_LONGEST = 4000
"""The most characters of a value that are shown."""


class OutlinePane(Pane):
    """The outline with its title; the note in its border is the change that can be undone."""

    def __init__(self, *, id: str) -> None:
        super().__init__("Message outline", id=id)
        self.view = OutlineView(id="outline", follow=False)

    def compose(self) -> ComposeResult:
        """Make the outline."""
        yield self.view

    def show_undo(self, name: str) -> None:
        """Show the name of the change that can be undone, if there is one."""
        self.set_title(note=[Chip(f"Undo: {name} ({key_of('undo')})", "$bar", _UNDO)] if name else ())

    def chosen(self, target: str) -> None:
        """Undo the change whose name was clicked."""
        self.call_later(self.run_action, f"screen.{target}")


class SettingPane(TextBlock):
    """Describes the option under the cursor, with its whole value."""

    def show(self, row: Row, description: str, built: BuiltRequest) -> None:
        """Show an option, its problem and its warnings."""
        title, value = ("Add a part", "") if row.key == ADD else (row.label.capitalize(), row.value)
        self.border_title = styled([(title, "bold")])
        pieces = [plain(value, limit=_LONGEST).stylize("bold"), plain(description).stylize("$text-soft")]
        pieces.append(plain(built.problem_at(row.key)).stylize("$state-bad"))
        pieces += [plain(words).stylize("$state-warning") for words in built.warnings_at(row.key)]
        self.update(Content("\n").join(piece for piece in pieces if piece.plain))


class ComposePanes(Horizontal):
    """Shows all panes or, on a narrow screen, the pane with the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("next-pane", "next_stop(1)", "", "Go to the next field or pane", show=False),
        bind("previous-pane", "next_stop(-1)", "", "Go to the previous field or pane", show=False),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.outline_pane = OutlinePane(id="outline-pane")
        self.outline = self.outline_pane.view
        self.editor = PartEditor(id="part")
        self.setting = SettingPane(id="setting", classes="pane")
        self.preview = PreviewPane(id="preview")
        self._shown: tuple[int, DraftPart] | None = None  # the part in the editor and its index

    def compose(self) -> ComposeResult:
        """Make the outline beside the part, the option and the request."""
        yield self.outline_pane
        with Vertical(id="compose-right"):
            yield self.editor
            yield self.setting
            yield self.preview

    # The outline and its row

    def show_rows(self, rows: Sequence[Row], marks: Mapping[str, str]) -> None:
        """Show the rows of the outline; the cursor stays on its row."""
        row = self.outline.row
        if isinstance(self.outline.source, Outline):
            self.outline.source.update(rows, marks)
            self.outline.refresh_source()
        else:
            self.outline.show(Outline(rows, marks))
        if row is not None and self.outline.row is not None and self.outline.row.key != row.key:
            self.outline.go_to(row.key)

    def show_row(self, draft: Draft, built: BuiltRequest, description: str) -> None:
        """Show the part under the cursor, or the description of the option."""
        row, index = self.outline.row, self.outline.part
        self.set_class(index is None, "-setting")
        if row is None:
            return
        if index is None:
            self.setting.show(row, description, built)
            return
        part = draft.parts[index]
        if self._shown is None or self._shown[0] != index or self._shown[1] is not part:
            self._shown = index, part
            self.editor.show_part(index, part)
        self.editor.show_notes(built.problem_at(row.key), built.warnings_at(row.key))

    def typed_part(self) -> tuple[int, DraftPart] | None:
        """Return the index of the part in the editor and the part as it is typed now, None if no part is shown."""
        part = self.editor.part
        if self._shown is None or part is None:
            return None
        if part != self._shown[1]:
            self._shown = self._shown[0], part
        return self._shown

    def forget_part(self) -> None:
        """Show the part under the cursor again, because the parts were changed."""
        self._shown = None

    # The raw request

    def show_raw(self, raw: RawRequest) -> None:
        """Let the user edit a request as text, in the space of the part and the request."""
        self.add_class("-raw")
        self.preview.show_raw(raw)

    def close_raw(self) -> None:
        """Discard the raw request."""
        self.remove_class("-raw")
        self.preview.discard_raw()

    # The focus

    @property
    def current(self) -> str:
        """The pane that a narrow screen shows: `outline`, `part` or `request`."""
        return next((pane for pane in ("part", "request") if self.has_class(f"-{pane}")), "outline")

    @property
    def names(self) -> dict[str, str]:
        """The names of the panes that there are now."""
        part = self.outline.part
        edited = {} if part is None else {"part": f"Part {part + 1}"}
        return {"outline": "Outline", **edited, "request": "Raw request" if self.preview.is_raw else "Request"}

    def go_to(self, pane: str) -> None:
        """Focus a pane, which shows it on a narrow screen."""
        if pane == "part":
            self.editor.focus_value()
        elif pane == "request":
            self.preview.focus_body()
        else:
            self.outline.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the pane of the focused widget on a screen that is too narrow for all panes."""
        around = event.widget.ancestors_with_self
        self.set_class(self.editor in around, "-part")
        self.set_class(self.preview in around, "-request")

    def action_next_stop(self, step: int) -> None:
        """Go to the next field, and from the last field of a pane to the next pane, also if that pane is not shown."""
        panes: list[Widget] = [self.outline, self.editor, self.preview]
        if self.outline.part is None:
            panes.remove(self.editor)
        focused = self.screen.focused
        around = focused.ancestors_with_self if focused is not None else []
        here = next((pane for pane in panes if pane in around), self.outline)
        chain = [widget for widget in self.screen.focus_chain if here in widget.ancestors_with_self]
        at = chain.index(focused) + step if focused in chain else len(chain)
        if 0 <= at < len(chain):
            self.screen.set_focus(chain[at])
            return
        there = panes[(panes.index(here) + step) % len(panes)]
        if there is self.outline:
            self.outline.focus()
        elif there is self.editor:
            self.editor.focus_value(last=step < 0)
        else:
            self.preview.focus_body()
