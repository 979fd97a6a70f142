"""The settings screen: the settings and the keys of the user, which are kept in the settings file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import Fault, FaultError
from inspector.settings_file import KEYS, SETTINGS, Setting, Stored, Value, load, read_value, settings_path, store
from inspector.tui.keys import COMMANDS, bind, problem_of, shown_key
from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import Dialog, ask
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen
from inspector.tui.widgets.feed import Cell, Column, Feed, Headings, Row
from inspector.tui.widgets.text_block import TextBlock

_MOST_VALUE = 18
_COLUMNS = (
    Column("SETTING", 28),
    Column("VALUE", _MOST_VALUE),
    Column("FROM", 7),
    Column("MEANING", min_total_width=90),
)
_NONE = "none"
_LATER = "A change is used when the next session starts."


class _Entry(NamedTuple):
    """A row: a setting, or a command with its keys."""

    name: str
    value: str
    stored: bool
    meaning: str
    setting: Setting | None = None
    command: str = ""

    @property
    def shown(self) -> str:
        """The value as the screen shows it: keys are spelled as in the footer."""
        if not self.command:
            return self.value
        return "  ".join(shown_key(key.strip()) for key in self.value.split(",") if key.strip())


class _Entries:
    """The rows of the settings screen."""

    def __init__(self, entries: list[_Entry]) -> None:
        self.entries = entries

    def __len__(self) -> int:
        return len(self.entries)

    def row(self, index: int) -> Row:
        """Return the cells of a row."""
        entry = self.entries[index]
        origin: Cell = ("file", "feed--good") if entry.stored else ("default", "feed--quiet")
        value = (entry.shown or _NONE, "feed--text" if entry.value else "feed--quiet")
        return ((entry.name, "feed--muted"), value, origin, (entry.meaning, "feed--quiet"))


def _entries(stored: Stored) -> list[_Entry]:
    """Return the rows: the settings, then the commands with their keys."""
    entries = []
    for setting in SETTINGS:
        value = stored.values.get(setting.option)
        text = _as_text(setting.default if value is None else value)
        entries.append(_Entry(setting.id, text, value is not None, setting.meaning, setting))
    for name, command in COMMANDS.items():
        key = stored.keys.get(name)
        entries.append(_Entry(f"{KEYS}.{name}", key or command.keys, key is not None, command.meaning, command=name))
    return entries


def _as_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, list) else str(value)


class SettingsScreen(Dialog[None]):
    """Lists the settings and the keys; a change is written to the file and, if possible, used at once."""

    @dataclass
    class KeysChanged(Message):
        """The user changed keys: all changed keys by command."""

        keys: dict[str, str]

    FRAME = "settings"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("remove", "reset", "default", "Use the default again"),
        bind("back", "leave", "close", "Close the settings"),
        bind("quit", "leave", "close", "Close the settings", show=False),
    ]

    def __init__(self) -> None:
        super().__init__("Settings")
        self._problem_text = TextBlock(id="settings-problem")
        self._about = TextBlock(id="settings-about")
        self._feed = Feed(_COLUMNS, _Entries([]), follow=False, enter_hint="change", id="settings-list")

    def body(self) -> ComposeResult:
        """Make the list."""
        yield self._problem_text
        yield Headings(self._feed)
        yield self._feed
        yield self._about

    def on_mount(self) -> None:
        """List the settings."""
        self._feed.focus()
        self._show()

    def _show(self) -> None:
        """Read the file and show its content."""
        try:
            stored = load()
            self._show_problem(None)
        except FaultError as error:
            self._show_problem(error.fault)
            stored = Stored(settings_path())
        self._entries = _entries(stored)
        self._stored = stored
        cursor = max(0, self._feed.cursor)
        longest = max(cell_len(entry.shown or _NONE) for entry in self._entries)
        self._feed.set_width("VALUE", min(longest, _MOST_VALUE))
        self._feed.show_rows(_Entries(self._entries))
        self._feed.cursor = cursor
        self.set_title("Settings", str(stored.path))
        self._show_entry()

    def on_feed_highlighted(self) -> None:
        """Describe the setting under the cursor."""
        self._show_entry()
        self.refresh_bindings()

    def _show_entry(self) -> None:
        """Show the whole meaning and value of the setting under the cursor, which may be cut in their columns."""
        if (entry := self._feed.item_of(self._entries)) is not None:
            origin = "from the file" if entry.stored else "the default"
            later = "" if entry.command or entry.name == "screen.theme" else f" {_LATER}"
            value = plain(f"{entry.shown or _NONE} ({origin}).{later}").stylize("$text-soft")
            self._about.update(Content.assemble(plain(f"{entry.meaning}."), "\n", value))

    def _show_problem(self, fault: Fault | None) -> None:
        self._problem_text.display = fault is not None
        if fault is not None:
            self._problem_text.update(plain(fault.sentence()))

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Change the setting under the cursor."""
        entry = self._entries[event.index]
        setting = entry.setting
        if setting is not None and setting.kind is bool:
            self._store(setting.table, setting.name, value=entry.value != "true")
        elif setting is not None and setting.name == "theme":
            choices = [Choice(name, name) for name in sorted(self.app.available_themes)]
            form = FormScreen("Theme", choices=choices, chosen=self.app.theme)
            ask(self, form, lambda values: self._store("screen", "theme", values[CHOICE]))
        else:
            field = Field("value", entry.name, entry.meaning, entry.value if entry.stored or entry.command else "")
            form = FormScreen(entry.meaning, (field,), check=lambda values: self._problem(entry, values))
            ask(self, form, lambda values: self._use(entry, values["value"]))

    def _problem(self, entry: _Entry, values: Mapping[str, str]) -> str:
        """Return why a typed value cannot be used, `""` if it can."""
        text = values["value"]
        if entry.setting is None:
            changed = {**self._stored.keys, entry.command: text}
            problem = problem_of(changed) if text else None
            return f"{problem[1]}. Allowed: {problem[2]}." if problem else ""
        if not text:  # the default
            return ""
        try:
            read_value(entry.setting, text)
        except ValueError as error:
            return f"Allowed: {error}."
        return ""

    def _use(self, entry: _Entry, text: str) -> None:
        setting = entry.setting
        if setting is None:
            self._store(KEYS, entry.command, text or None)
        else:
            self._store(setting.table, setting.name, read_value(setting, text) if text else None)

    def action_reset(self) -> None:
        """Remove the value under the cursor from the file."""
        entry = self._entries[self._feed.cursor]
        if entry.setting is not None:
            self._store(entry.setting.table, entry.setting.name, None)
        else:
            self._store(KEYS, entry.command, None)

    def _store(self, table: str, name: str, value: Value | None) -> None:
        """Write a value, and use it at once if it is the theme or a key."""
        try:
            store(self._stored.path, table, name, value)
        except FaultError as error:
            self._show_problem(error.fault)
            return
        self._show()
        if (table, name) == ("screen", "theme"):
            self.app.theme = str(self._stored.values.get("theme") or "dusk")
        elif table == KEYS:
            self.post_message(self.KeysChanged(dict(self._stored.keys)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the key for the default if the row has its default."""
        if action == "reset":
            entry = self._feed.item_of(self._entries)
            return True if entry is not None and entry.stored else None
        return super().check_action(action, parameters)
