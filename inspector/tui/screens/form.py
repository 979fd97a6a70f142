"""A form: a few choices over a few fields, on top of the place that asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.fields import ChoiceList, LineInput
from inspector.tui.widgets.footer import KeyFooter

CHOICE = "choice"
"""The name under which the choice stands among the values."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: its value, a line about it, and the names of the fields that belong to it."""

    value: str
    words: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """One line to fill in; `secret` hides what is typed."""

    name: str
    label: str
    hint: str = ""
    value: str = ""
    secret: bool = False


class FormScreen(Dialog[dict[str, str]]):
    """Gives back what was chosen and filled in by name, None where it was left; `check` says what is wrong with it."""

    CSS_PATH = "form.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "close", id="form.close", tooltip="Close the form, and change nothing"),
    ]

    def __init__(
        self,
        title: str,
        fields: Sequence[Field] = (),
        choices: Sequence[Choice] = (),
        *,
        chosen: str = "",
        check: Callable[[Mapping[str, str]], str] | None = None,
    ) -> None:
        super().__init__()
        self._title_text = title
        self._fields = fields
        self._choices = choices
        self._chosen = next((at for at, one in enumerate(choices) if one.value == chosen), 0)
        self._check = check

    def compose(self) -> ComposeResult:
        """Make the title, the choices, the fields and the keys."""
        with Vertical(id="form"):
            yield Static(plain(self._title_text).stylize("bold $bar"), classes="pane-title")
            if self._choices:
                yield ChoiceList(
                    *(Option(plain(one.words)) for one in self._choices), enter_hint="choose", id="choices"
                )
            for field in self._fields:
                with Horizontal(id=f"row-{field.name}", classes="row"):
                    yield Static(plain(field.label), classes="label")
                    yield LineInput(
                        field.value, placeholder=field.hint, password=field.secret, id=f"field-{field.name}"
                    )
            yield Static(id="form-problem")
            yield KeyFooter()

    def on_mount(self) -> None:
        """Take the keys."""
        if self._choices:
            choices = self.query_one(ChoiceList)
            choices.highlighted = self._chosen
            choices.focus()
        else:
            self.query(LineInput).first().focus()
        self._fit()

    def _choice(self) -> Choice | None:
        if not self._choices:
            return None
        return self._choices[self.query_one(ChoiceList).highlighted or 0]

    def _shown(self) -> list[Field]:
        """Return the fields that belong to the choice."""
        choice = self._choice()
        return [field for field in self._fields if choice is None or field.name in choice.fields]

    def _fit(self) -> None:
        shown = self._shown()
        for field in self._fields:
            self.query_one(f"#row-{field.name}").display = field in shown
            last = field is shown[-1] if shown else False
            self.query_one(f"#field-{field.name}", LineInput).enter_hint = "done" if last else "next"

    def on_option_list_option_highlighted(self) -> None:
        """Show the fields of the choice."""
        self._fit()

    def on_option_list_option_selected(self) -> None:
        """Go to the fields of the choice, or be done where it has none."""
        shown = self._shown()
        if shown:
            self.query_one(f"#field-{shown[0].name}").focus()
        else:
            self._submit()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next field, or be done behind the last."""
        names = [f"field-{field.name}" for field in self._shown()]
        after = names[names.index(event.input.id or "") + 1 :]
        if after:
            self.query_one(f"#{after[0]}").focus()
        else:
            self._submit()

    def _submit(self) -> None:
        values = {field.name: self.query_one(f"#field-{field.name}", Input).value.strip() for field in self._shown()}
        choice = self._choice()
        if choice is not None:
            values[CHOICE] = choice.value
        problem = self._check(values) if self._check else ""
        if problem:
            self.query_one("#form-problem", Static).update(plain(problem))
        else:
            self.dismiss(values)
