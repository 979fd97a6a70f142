"""Small dialogs: the actions menu of the selected item, a menu of choices, and a confirmation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import ActiveBinding, BindingType
from textual.content import Content
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from inspector.text.sanitise import clean_line
from inspector.tui.keys import COMMANDS, UNBOUND, Group, bind, group_of, why_not
from inspector.tui.notify import copy
from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import FITTED, Dialog, ask
from inspector.tui.widgets.fields import ChoiceList

_GAP = 3
_LEAST, _MOST = 36, 72
"""The least width of a menu, and the most that its title can claim."""
_WIDEST = 100
_BORDER = 8
"""The cells of the upper border that are not text."""
_SIDES = 4
"""The cells of the borders at the sides, and of the space inside them."""
_LONGEST_KEY = 12
"""A longer text at the right is a reason, which may be cut."""
_INDENT = "  "
"""The space before the entries under a heading."""
_OF_ITEM = (Group.INSPECT, Group.TASK, Group.SEND)
"""The groups whose commands are in the actions menu."""
_POSITIONS = {command: position for position, command in enumerate(COMMANDS)}
"""The order of the entries of a group, so that an action has the same place in the menus of all views."""
_OF_TABS = frozenset({"next-connection", "previous-connection", "close-connection"})
_CLOSE_ONE_OF_SEVERAL = "close_tab(True)"
"""The action that is enabled if there are several tabs."""
_NOT_LISTED = frozenset({"open", "actions", "filter", "next-match", "previous-match"})
"""Commands that concern the whole list, or that need no menu."""


class Entry(NamedTuple):
    """A line of a menu: its text, its value, a key or a warning at the right, and whether it can be chosen."""

    text: str
    value: Any
    right: str = ""
    enabled: bool = True
    quiet: bool = False
    """Whether the line is grey although it can be chosen."""


def copy_entry(text: str, write: Callable[[], str] | None) -> Entry:
    """Return an entry whose value returns the text to copy; without such a function, it cannot be chosen."""
    return Entry(text, write, enabled=write is not None)


class MenuScreen(Dialog[Any]):
    """Returns the value of the entry that was chosen."""

    FRAME = "menu"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", "leave", "close", "Close the menu"),
        bind("quit", "leave", "close", "Close the menu", show=False),
        bind("actions", "leave", "close", "Close the menu", show=False),
    ]

    def __init__(self, title: str, entries: Sequence[Entry | str]) -> None:
        """Make a menu; an entry that is only a text is a heading."""
        super().__init__(title)
        self._least = max(_LEAST, min(cell_len(title) + _BORDER, _MOST))
        self.frame.styles.min_width = self._least
        self._entries = entries

    def body(self) -> ComposeResult:
        """Make the list."""
        entries = [entry for entry in self._entries if isinstance(entry, Entry)]
        indent = _INDENT if len(entries) < len(self._entries) else ""
        keys = max((cell_len(entry.right) for entry in entries if cell_len(entry.right) <= _LONGEST_KEY), default=0)
        room = min(_WIDEST, self.app.size.width * 94 // 100 - _BORDER) - keys - _GAP - len(indent)
        wide = min(max((cell_len(entry.text) for entry in entries), default=0), room)
        options = [_option(entry, wide, indent) for entry in self._entries]
        listed = ChoiceList(*options, enter_hint="choose", id="menu-list", classes=FITTED)
        listed.styles.min_width = self._least - _SIDES
        yield listed

    def on_mount(self) -> None:
        """Select the first entry that can be chosen."""
        listed = self.query_one(ChoiceList)
        listed.focus()
        listed.action_first()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the entry that was chosen."""
        entry = self._entries[event.option_index]
        if isinstance(entry, Entry):
            self.dismiss(entry.value)


def _option(entry: Entry | str, wide: int, indent: str) -> Option:
    if isinstance(entry, str):
        return Option(plain(entry).stylize("bold $bar"), disabled=True)
    quiet = entry.quiet or not entry.enabled
    style = "$wire-quiet" if quiet else "$foreground"
    text = clean_line(entry.text, wide)
    space = " " * (wide - cell_len(text) + _GAP)
    right = plain(entry.right).stylize("$wire-quiet" if quiet else "bold $bar")
    return Option(Content.assemble(indent, plain(text).stylize(style), space, right), disabled=not entry.enabled)


def ask_and_copy(node: MessagePump, title: str, entries: Sequence[Entry | str]) -> None:
    """Show a menu of copy entries, and copy the text of the entry that is chosen."""
    ask(node, MenuScreen(title, entries), lambda write: copy(node, write()))


def actions_menu(screen: Screen[Any], title: str) -> MenuScreen:
    """Return the menu of everything that can be done with the selected item; it returns an `ActiveBinding`."""
    entries: list[Entry | str] = []
    for group in _OF_ITEM:
        found = list(_actions_of(screen, group))
        if found:
            entries += [group.value, *found]
    tabs = list(_actions_of(screen, Group.GO_TO, _OF_TABS))
    if any(entry.value.binding.action == _CLOSE_ONE_OF_SEVERAL for entry in tabs):
        entries += ["Tabs", *tabs]
    return MenuScreen(title, entries)


def _actions_of(screen: Screen[Any], group: Group, only: Collection[str] = ()) -> Iterable[Entry]:
    listed: set[str] = set()
    commands = [item for item in screen.active_bindings.items() if item[1].binding.id in _POSITIONS]
    for key, active in sorted(commands, key=lambda item: _POSITIONS[item[1].binding.id or ""]):
        binding = active.binding
        if group_of(binding) is not group or binding.id in _NOT_LISTED or binding.action in listed:
            continue
        if only and binding.id not in only:
            continue
        listed.add(binding.action)
        reason = why_not(active)
        shown = "" if key.startswith(UNBOUND) else screen.app.get_key_display(binding)
        # An operation that the agent does not declare can be called: its answer may be what the user wants to see.
        yield Entry(binding.tooltip or binding.description, active, reason or shown, active.enabled, bool(reason))


def show_actions(screen: Screen[Any], title: str) -> None:
    """Show the actions menu, and run the action that is chosen."""

    async def run(active: ActiveBinding) -> None:
        await screen.app.run_action(active.binding.action, active.node)

    ask(screen, actions_menu(screen, title), lambda active: screen.app.call_later(run, active))


class ConfirmScreen(Dialog[bool]):
    """Asks before something is deleted or cancelled; returns True if the user confirms."""

    FRAME = "menu"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "confirm", "confirm", "Confirm"),
        bind("back", "leave", "no", "Close without doing it"),
        bind("quit", "leave", "no", "Close without doing it", show=False),
    ]

    def __init__(self, title: str, question: str) -> None:
        super().__init__(title)
        self._question = question

    def body(self) -> ComposeResult:
        """Make the question."""
        yield Static(plain(self._question), id="menu-question")

    def on_resize(self) -> None:
        """Wrap the question at the width of the frame."""
        super().on_resize()
        room = self.size.width * 94 // 100 - _SIDES
        self.query_one("#menu-question", Static).styles.max_width = min(_WIDEST, room)

    def action_confirm(self) -> None:
        """Confirm."""
        self.dismiss(True)


def confirm(node: MessagePump, title: str, question: str, use: Callable[[], object]) -> None:
    """Ask a question, and call `use` if the user confirms."""
    ask(node, ConfirmScreen(title, question), lambda _: use())
