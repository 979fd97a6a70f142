"""Dialogs for input: a form with choices and fields, and a list of values to select."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspector.lazy_dataclass import dataclass
from inspector.tui.keys import bind
from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.fields import ChoiceList, LineInput
from inspector.tui.widgets.path_input import PathInput
from inspector.tui.widgets.text_block import TextBlock

_LONGEST_LABEL = 30
_GAP = 2
CHOICE = "choice"
"""The key of the choice among the values of a form."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: its value, its label, and the names of the fields that are shown for it."""

    value: str
    label: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """One field; `secret` hides what is typed, `required` is the error message if the field is empty.

    With `path`, the field is for the path of a file, which is completed.
    """

    name: str
    label: str
    hint: str = ""
    value: str = ""
    secret: bool = False
    required: str = ""
    path: bool = False


class FormScreen(Dialog[dict[str, str]]):
    """Returns the values by field name; `check` returns an error message for invalid values, else `""`.

    `on_close` is called with the values of a form that is closed before they are confirmed.
    """

    FRAME = "form"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", "leave", "close", "Close the form without changes"),
        bind("up", "to_field(-1)", "field above", "Go to the field above", show=False),
        bind("down", "to_field(1)", "field below", "Go to the field below", show=False),
    ]

    def __init__(
        self,
        title: str,
        fields: Sequence[Field] = (),
        choices: Sequence[Choice] = (),
        *,
        chosen: str = "",
        check: Callable[[Mapping[str, str]], str] | None = None,
        description: str = "",
        on_close: Callable[[Mapping[str, str]], None] | None = None,
    ) -> None:
        super().__init__(title)
        self._on_close = on_close
        self._description = description
        self._fields = fields
        self._choices = choices
        self._chosen = next((index for index, choice in enumerate(choices) if choice.value == chosen), 0)
        self._check = check

    def body(self) -> ComposeResult:
        """Make the description, the choices, the fields and the line for an error message."""
        if self._description:
            yield Static(plain(self._description, newlines=True), id="form-description")
        if self._choices:
            yield ChoiceList(
                *(Option(plain(choice.label)) for choice in self._choices), enter_hint="choose", id="choices"
            )
        with VerticalScroll(id="form-fields", classes="-after-choices" if self._choices else "", can_focus=False):
            for field in self._fields:
                with Horizontal(id=f"row-{field.name}", classes="row"):
                    yield _label(field.label, self._fields)
                    kind = PathInput if field.path else LineInput
                    yield kind(field.value, placeholder=field.hint, password=field.secret, id=f"field-{field.name}")
        yield TextBlock(id="form-problem")

    def on_mount(self) -> None:
        """Focus the choices, or the first field."""
        self.query_one("#form-problem").display = False
        if self._choices:
            choices = self.query_one(ChoiceList)
            choices.highlighted = self._chosen
            choices.focus()
        else:
            self.query(LineInput).first().focus()
        self._fit()

    def _choice(self) -> Choice | None:
        return self._choices[self.query_one(ChoiceList).highlighted or 0] if self._choices else None

    def _shown(self) -> list[Field]:
        """Return the fields that belong to the choice."""
        choice = self._choice()
        return [field for field in self._fields if choice is None or field.name in choice.fields]

    def _fit(self) -> None:
        shown = self._shown()
        self.query_one("#form-fields").display = bool(shown)
        for field in self._fields:
            self.query_one(f"#row-{field.name}").display = field in shown
            last = field is shown[-1] if shown else False
            self.query_one(f"#field-{field.name}", LineInput).enter_hint = "confirm" if last else "next"

    def on_option_list_option_highlighted(self) -> None:
        """Show the fields of the choice."""
        self._fit()

    def on_option_list_option_selected(self) -> None:
        """Focus the first field of the choice, or return the values if it has none."""
        shown = self._shown()
        if shown:
            self.query_one(f"#field-{shown[0].name}").focus()
        else:
            self._submit()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Focus the next field, or return the values after the last field."""
        names = [f"field-{field.name}" for field in self._shown()]
        after = names[names.index(event.input.id or "") + 1 :]
        if after:
            self.query_one(f"#{after[0]}").focus()
        else:
            self._submit()

    def action_to_field(self, step: int) -> None:
        """Focus the next field or the one before; above the first field are the choices."""
        names = [f"field-{field.name}" for field in self._shown()]
        if self.focused is None or self.focused.id not in names:
            return
        index = names.index(self.focused.id) + step
        if index < 0 and self._choices:
            self.query_one(ChoiceList).focus()
        elif 0 <= index < len(names):
            self.query_one(f"#{names[index]}").focus()

    def action_leave(self) -> None:
        """Close the form without a result."""
        if self._on_close is not None:
            self._on_close(self._values())
        super().action_leave()

    def _values(self) -> dict[str, str]:
        return {field.name: self.query_one(f"#field-{field.name}", Input).value.strip() for field in self._shown()}

    def _submit(self) -> None:
        values = self._values()
        choice = self._choice()
        if choice is not None:
            values[CHOICE] = choice.value
        empty = next((field for field in self._shown() if field.required and not values[field.name]), None)
        problem = empty.required if empty else self._check(values) if self._check else ""
        if empty:
            self.query_one(f"#field-{empty.name}").focus()
        line = self.query_one("#form-problem", TextBlock)
        line.display = bool(problem)
        line.update(plain(problem))
        if not problem:
            self.dismiss(values)


def _label(text: str, fields: Sequence[Field]) -> Static:
    """Return the label of a field, as wide as the longest label."""
    label = Static(plain(text), classes="label")
    label.styles.width = min(_LONGEST_LABEL, max(cell_len(field.label) for field in fields)) + _GAP
    return label


class PickScreen(Dialog[tuple[str, ...]]):
    """Offers a list of values and a field for other values; returns the selected values, then the typed values."""

    FRAME = "form"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("send", "done", "confirm", "Confirm the selection", priority=True),
        bind("select", "select", show=False),
        bind("back", "leave", "close", "Close the list without changes"),
    ]

    def __init__(self, title: str, offered: Sequence[str], chosen: Sequence[str], *, description: str = "") -> None:
        super().__init__(title)
        self._description = description
        self._offered = list(offered)
        self._selected = {value for value in chosen if value in self._offered}
        self._others = [value for value in chosen if value not in self._offered]

    def body(self) -> ComposeResult:
        """Make the description, the list and the field for other values."""
        if self._description:
            yield Static(plain(self._description), id="form-description")
        if self._offered:
            yield ChoiceList(*map(self._option, self._offered), enter_hint="select", id="choices")
        with Horizontal(classes="row"):
            yield Static("other values  " if self._offered else "values  ", classes="label")
            yield LineInput(", ".join(self._others), enter_hint="confirm", placeholder="separated by commas")

    def _option(self, value: str) -> Option:
        return Option(plain(f"[{'x' if value in self._selected else ' '}] {value}", limit=300))

    def on_mount(self) -> None:
        """Focus the list, or the field if there is no list."""
        self.query(OptionList if self._offered else Input).first().focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Select or deselect the value that was clicked."""
        self._toggle(event.option_index)

    def action_select(self) -> None:
        """Select or deselect the value under the cursor."""
        listed = self.query(ChoiceList)
        if listed and listed.first().highlighted is not None:
            self._toggle(listed.first().highlighted or 0)

    def _toggle(self, index: int) -> None:
        self._selected ^= {self._offered[index]}
        listed = self.query_one(ChoiceList)
        listed.replace_option_prompt_at_index(index, self._option(self._offered[index]).prompt)

    def on_input_submitted(self) -> None:
        """Return the values."""
        self.action_done()

    def action_done(self) -> None:
        """Return the selected and the typed values."""
        typed = [value.strip() for value in self.query_one(Input).value.split(",")]
        selected = (value for value in self._offered if value in self._selected)
        self.dismiss(tuple(dict.fromkeys((*selected, *filter(None, typed)))))  # a value can be selected and typed
