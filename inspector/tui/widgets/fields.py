"""Input fields and lists of choices with a hint about enter for the footer."""

from __future__ import annotations

from typing import TypeVar

from textual import events
from textual.visual import VisualType
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

Value = TypeVar("Value")


class LineInput(Input):
    """An input line with a still cursor and a hint for the footer."""

    def __init__(
        self,
        value: str = "",
        *,
        enter_hint: str = "",
        placeholder: str = "",
        password: bool = False,
        select_on_focus: bool = True,
        id: str | None = None,
    ) -> None:
        super().__init__(value, placeholder, password=password, select_on_focus=select_on_focus, id=id, compact=True)
        self.enter_hint = enter_hint
        self.cursor_blink = False


class ValueOption(Option):
    """A choice with its value, which remains correct if the list changes before a key is handled."""

    def __init__(self, prompt: VisualType, value: object, *, disabled: bool = False) -> None:
        super().__init__(prompt, disabled=disabled)
        self.value = value


def value_of(option: Option | None, kind: type[Value]) -> Value | None:
    """Return the value of a choice, None for a heading or no choice."""
    return option.value if isinstance(option, ValueOption) and isinstance(option.value, kind) else None


class ChoiceList(OptionList):
    """A list of choices with a hint for the footer."""

    def __init__(self, *choices: Option, enter_hint: str, id: str, classes: str = "") -> None:
        super().__init__(*choices, id=id, classes=classes, compact=True)
        self.enter_hint = enter_hint

    def on_click(self, event: events.Click) -> None:
        """Ignore a click on a choice that was removed before the click is handled: Textual would raise an error."""
        if event.style.meta.get("option", -1) >= self.option_count:
            event.prevent_default()

    def action_page_up(self) -> None:
        """Go up by a page, unless the list is not laid out yet: Textual would raise an error."""
        if is_laid_out(self):
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """Go down by a page, unless the list is not laid out yet: Textual would raise an error."""
        if is_laid_out(self):
            super().action_page_down()  # type: ignore[no-untyped-call]


def is_laid_out(listed: OptionList) -> bool:
    """Return whether a list has a size, which Textual's actions for page keys need."""
    return bool(listed.scrollable_content_region)
