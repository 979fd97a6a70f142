"""The connect screen: enter an agent, or choose the demo, a recent agent or a recent capture."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from inspector.agents_file import FILE_NAME, NAME, NamedAgent, NamedAgents, load_agents
from inspector.capture import paths, recent_agents
from inspector.capture.recent_agents import RecentAgent
from inspector.lazy_dataclass import dataclass
from inspector.options import Options
from inspector.protocol.errors import FaultError
from inspector.text.reference import local_path, mistake_in_host, without_spelling
from inspector.text.sanitise import clean, clean_line, without_middle
from inspector.text.typed_path import typed_path
from inspector.text.units import size
from inspector.tui import lazy_loading
from inspector.tui.keys import bind
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.render.times import ago
from inspector.tui.widgets.fields import ChoiceList, LineInput, ValueOption, value_of
from inspector.tui.widgets.footer import KeyFooter
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.text_block import TextBlock

DEMO = "demo"
"""The reference of the built-in agent."""
_CAPTURES = 5
"""The maximum number of captures that are listed."""
_MOST_ROWS = 1_000
"""The maximum number of lines in a part of the list."""
_LONGEST_NAME = 28
_INDENT = 2
_NAME_GAP = 3
_AGE = 11
"""The width of the column with the age."""
_VERSION = 7
_GAPS = 2
"""The cells before the version and before the age."""
_ADDRESS_LETTERS = frozenset("./:\\~[")
"""A text with one of these characters is a URL, a host or a path; any other text filters the list."""

ConnectTarget = str | Path | NamedAgent
"""An agent (a URL, a card file or `DEMO`), a capture (a path), or an agent of `agents.toml`."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list: what it opens, its name, its address, its version or size, and when it was used.

    While the line is selected, `about` and `place` (where it is defined) are shown. A line that is not `enabled` cannot
    be selected.
    """

    choice: ConnectTarget
    name: str
    address: str
    detail: str = ""
    used: float | None = None
    agent: RecentAgent | None = None
    about: str = ""
    place: str = ""
    enabled: bool = True

    def matches(self, words: str) -> bool:
        """Return whether every word is in the texts about the agent or capture."""
        text = f"{self.name}\n{self.address}\n{self.about}".casefold()
        return all(word in text for word in words.casefold().split())


class Section(NamedTuple):
    """A part of the list: its heading and its lines."""

    heading: str
    rows: Sequence[Row]


class ConnectScreen(Screen[None]):
    """A field for a URL, a card file or a capture, and a list of agents and captures, which the field filters."""

    CSS_PATH = "connect.tcss"
    field_title = "Connect to an agent, or open a capture"
    list_title = "Agents and captures"
    options: Options | None = None
    """The options for the agents of the list, None for those of the app."""
    placeholder = "URL, host, card file or capture; a word filters the list"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("down", "to_list", "list", "Go to the list of agents and captures"),
        bind("remove", "remove", "remove", "Remove the agent from the list"),
        bind("undo", "undo", "undo", "Put the removed agent back into the list"),
        bind("back", "back", "", "Go back to the connected agent"),
    ]

    @dataclass
    class Chosen(Message):
        """The user chose an agent or a capture."""

        chosen: ConnectTarget
        options: Options | None = None
        """The options for the agent, None for those of the app."""

    def __init__(self, *, can_go_back: bool = False) -> None:
        super().__init__()
        self._can_go_back = can_go_back
        self._named_rows: list[Row] = []
        self._agents: list[Row] = []
        self._recent: Sequence[RecentAgent] = ()
        self._captures: list[Row] = []
        self._problem = ""
        self._has_mistake = False
        """Whether `agents.toml` cannot be read, so that its names are unknown."""
        self._scroll_bar = 0
        self._name_width = 0
        self._removed: list[tuple[int, RecentAgent]] = []

    def compose(self) -> ComposeResult:
        """Make the field and the list."""
        with Vertical(id="connect"):
            with Pane(self.field_title, id="connect-field"):
                yield LineInput(enter_hint="connect", placeholder=self.placeholder, id="reference")
                yield TextBlock(id="connect-hint")
            with Pane(self.list_title, id="connect-list"):
                yield ChoiceList(enter_hint="connect", id="agents")
        yield KeyFooter()

    def on_mount(self) -> None:
        """List the known agents and captures."""
        self._problem = self.load()
        captures = paths.recent_captures(_CAPTURES)
        self._captures = [Row(each.path, each.path.name, "", size(each.size), each.changed) for each in captures]
        self._show()
        self.watch(self.query_one(OptionList), "show_vertical_scrollbar", self._scroll_bar_changed, init=False)
        self.query_one(Input).focus()
        self._hint()

    def load(self) -> str:
        """Read `agents.toml` and the recent agents; return error messages or `""`."""
        self._recent, problem = recent_agents.load()
        try:
            named = load_agents()
            self._has_mistake = False
        except FaultError as error:
            self._has_mistake = True
            named, problem = NamedAgents(), f"{error.fault.sentence()} {problem}".strip()
        agents = sorted(named.agents.values(), key=lambda agent: agent.name != named.default)
        self._named_rows = [_row_of_named(agent) for agent in agents]
        # A recent agent with the same URL would be opened without the options of the definition.
        known = {without_spelling(agent.url) for agent in agents}
        recent = [_row_of(agent) for agent in self._recent if without_spelling(agent.url) not in known]
        self._agents = [Row(DEMO, "Demo", "the built-in mock agent"), *recent]
        return problem

    def sections(self) -> list[Section]:
        """Return the parts of the list."""
        return [
            Section(f"Agents of {FILE_NAME}", self._named_rows),
            Section("Agents", self._agents),
            Section("Captures", self._captures),
        ]

    @property
    def nothing(self) -> str:
        """What is shown if the list is empty."""
        return "Nothing in the list matches."

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        self._show()

    def _scroll_bar_changed(self) -> None:
        self.call_after_refresh(self._fit_beside_scroll_bar)  # not while the list is filled

    def _fit_beside_scroll_bar(self) -> None:
        """Fit the columns to the width that a scroll bar leaves."""
        listed = self.query_one(OptionList)
        scroll_bar = listed.scrollbar_size_vertical if listed.show_vertical_scrollbar else 0
        if scroll_bar != self._scroll_bar:
            self._scroll_bar = scroll_bar
            self._show()

    @property
    def _typed(self) -> str:
        return self.query_one(Input).value.strip()

    def _show(self) -> None:
        """Show the agents and captures that match the typed text."""
        listed, before = self.query_one(OptionList), self._selected
        words, sections = self._typed, self.sections()
        self._name_width = self._widest_name([row for section in sections for row in section.rows])
        listed.clear_options()
        for heading, rows in sections:
            found = [row for row in rows if row.matches(words)]
            if found:
                lines = [ValueOption(self._line(row), row, disabled=not row.enabled) for row in found[:_MOST_ROWS]]
                listed.add_options([_text_option(heading), *lines])
            if len(found) > _MOST_ROWS:
                listed.add_option(_text_option(f"{len(found) - _MOST_ROWS:,} more. Type a word to filter the list."))
        rows_shown = [value_of(option, Row) for option in listed.options]
        if not rows_shown:
            listed.add_option(_text_option(self.nothing))
        shown = {index: row for index, row in enumerate(rows_shown) if row and row.enabled}
        exact = (index for index, row in shown.items() if row.name.casefold() == words.casefold())
        same = (index for index, row in shown.items() if row == before)
        listed.highlighted = next(chain(exact, same, shown), None)

    @property
    def _selected(self) -> Row | None:
        return value_of(self.query_one(OptionList).highlighted_option, Row)

    @property
    def _width(self) -> int:
        return max(40, self.query_one("#connect-list").content_size.width - 1 - self._scroll_bar)

    def _line(self, row: Row) -> Content:
        """Return the columns of a line: name, address, version or size, age; the address gets the free width.

        A long address has no scheme. Its end is kept, because agents on a host differ in the port and the path.
        """
        age = f"{ago(time.time() - row.used)} ago" if row.used is not None else ""
        width = self._width
        names = self._name_width if row.address else width - _VERSION - _AGE - _GAPS - _INDENT - _NAME_GAP
        name = clean_line(row.name, names)
        first = f"{' ' * _INDENT}{name}{' ' * (names - cell_len(name) + _NAME_GAP)}"
        last = f" {clean_line(row.detail, _VERSION):>{_VERSION}} {age:>{_AGE}}" if row.detail or age else ""
        room = width - cell_len(first) - cell_len(last)
        address = clean(row.address)
        if cell_len(address) > room:
            address = without_middle(address.rpartition("://")[2], max(8, room))
        gap = " " * (room - cell_len(address))
        return Content.assemble((first, "bold"), plain(address), (gap + last, "$text-soft"))

    def _widest_name(self, rows: list[Row]) -> int:
        """Return the width of the names of the agents: as long as the names, unless an address would be cut."""
        width, rows = self._width, [row for row in rows if row.address]
        longest = max((cell_len(clean_line(row.name, width)) for row in rows), default=0)
        addresses = max((cell_len(clean_line(row.address, width)) for row in rows), default=0)
        room = width - addresses - _VERSION - _AGE - _GAPS - _INDENT - _NAME_GAP
        return max(min(longest, _LONGEST_NAME, width // 3), min(longest, room))

    def _hint(self) -> None:
        """Show the problem with a file, and what enter does."""
        typed, row = self._typed, self._selected
        text = ""
        if self.is_reference(typed):
            text = self._mistake(typed) or _what_happens(typed)
        elif row is not None:
            verb = "Open the capture" if isinstance(row.choice, Path) else "Connect to"
            text = f"{verb} {row.name}{row.about}{row.place}"
        problem = [plain(self._problem).stylize("$state-bad")] if self._problem else []
        lines = [*problem, plain(text).stylize("$text-soft")]
        self.query_one("#connect-hint", TextBlock).update(Content("\n").join(lines))

    def is_reference(self, typed: str) -> bool:
        """Return whether the typed text is opened itself; a word without a match in the list may be a host."""
        return bool(typed) and (bool(_ADDRESS_LETTERS & set(typed)) or typed == "localhost" or self._selected is None)

    def _mistake(self, typed: str) -> str:
        """Return why a text is not opened: it has a space, or it may be a name and `agents.toml` cannot be read."""
        if local_path(typed) is None and not typed.endswith(paths.SUFFIX) and (mistake := mistake_in_host(typed)):
            return mistake
        name = typed.partition("#")[0]
        if not self._has_mistake or NAME.fullmatch(name) is None or name == "localhost" or Path(name).exists():
            return ""
        return f"{name} may be a name in {FILE_NAME}, which cannot be read. To connect to a host, write http://{name}."

    def on_input_changed(self) -> None:
        """Filter the list, and show what the typed text does."""
        self._show()
        self._hint()

    def on_option_list_option_highlighted(self) -> None:
        """Show what enter does."""
        self._hint()
        self.refresh_bindings()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose the typed text, or the selected line if the text only filters the list."""
        event.stop()
        typed, row = self._typed, self._selected
        if not self.is_reference(typed):
            if row is not None:
                self.post_message(self.Chosen(row.choice, self.options))
        elif problem := self._mistake(typed):
            notify(self, problem, "error")
        else:
            self._choose(typed)

    def _choose(self, typed: str) -> None:
        try:
            self.post_message(self.Chosen(_capture_at(typed) or typed))
        except OSError as error:
            notify(self, f"{typed}: {error.strerror}.", "error")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose a line of the list."""
        row = value_of(event.option, Row)
        if row is not None:
            self.post_message(self.Chosen(row.choice, self.options))

    def action_to_list(self) -> None:
        """Focus the list."""
        self.query_one(OptionList).focus()

    def action_remove(self) -> None:
        """Remove the selected agent from the list of recent agents."""
        row = self._selected
        if row is None or row.agent is None:
            return
        index = self._recent.index(row.agent)
        problem = recent_agents.forget(row.agent)
        if not problem:
            self._removed.append((index, row.agent))
            notify(self, f"Removed {row.name} from the list. Its captures are kept.")
        self._renew(problem)

    def action_undo(self) -> None:
        """Put the agent that was removed last back into the list."""
        index, agent = self._removed.pop()
        self._renew(recent_agents.restore(agent, index))

    def _renew(self, problem: str) -> None:
        self._problem = problem or self.load()
        self._show()
        self._hint()
        self.refresh_bindings()

    def on_descendant_focus(self, _: events.DescendantFocus) -> None:
        """Update which keys are enabled."""
        self.refresh_bindings()

    def action_back(self) -> None:
        """Close the screen."""
        if self.is_active:  # not closed by an earlier key
            self.app.pop_screen()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys that have no effect now."""
        if action == "back":
            return self._can_go_back
        if action == "remove":
            row = self._selected if self.is_mounted else None
            return isinstance(self.focused, OptionList) and row is not None and row.agent is not None
        if action == "to_list":
            return not isinstance(self.focused, OptionList)
        if action == "undo":
            return bool(self._removed)
        return super().check_action(action, parameters)


def _text_option(text: str) -> Option:
    """Return a line that cannot be selected."""
    return Option(plain(text).stylize("$text-soft"), disabled=True)


def _row_of(agent: RecentAgent) -> Row:
    version = f"A2A {agent.protocol_version}" if agent.protocol_version else ""
    return Row(agent.url, agent.name or agent.url, agent.url, version, agent.last_seen, agent)


def _row_of_named(agent: NamedAgent) -> Row:
    version = agent.values.get("a2a_version")
    place = f", as defined in {paths.without_home(agent.path)}:{agent.line}"
    return Row(agent, agent.name, agent.url, f"A2A {version}" if version else "", place=place)


def _capture_at(typed: str) -> Path | None:
    """Return the path of a capture that was typed, None if it is not the name of a capture; raises `OSError`."""
    return typed_path(typed) if typed.endswith(paths.SUFFIX) and "://" not in typed else None


def _what_happens(typed: str) -> str:
    """Return what enter does with a URL, a host or a path."""
    try:
        path = _capture_at(typed)
        if path is None:
            return lazy_loading.describe_reference(typed)
        return f"Open the capture {path}" if path.is_file() else f"There is no file {path}"
    except OSError as error:  # the path is too long, or a folder cannot be read
        return f"{typed}: {error.strerror}."
