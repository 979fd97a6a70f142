"""Keys, mouse, command palette, help and themes."""

from __future__ import annotations

import ast
import asyncio
import re
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pyperclip
import pytest
from driving import Open
from players import eventually
from rich.cells import cell_len
from stream_servers import serving_bytes, stay_silent
from textual.binding import Binding
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.widgets import Input

import inspector.tui
from inspector.options import Options
from inspector.session.compose.draft import text_draft
from inspector.tui.app import InspectorApp
from inspector.tui.keys import COMMANDS, VIEW, bind, key_of, keys_table, shown_key
from inspector.tui.render.glyphs import UNICODE
from inspector.tui.screens.help import HelpScreen
from inspector.tui.screens.menu import MenuScreen
from inspector.tui.screens.workbench import WorkbenchScreen
from inspector.tui.views.base import View
from inspector.tui.views.registry import VIEWS, ViewEntry
from inspector.tui.widgets.composer import Composer

_KEY_IN_SENTENCE = re.compile(r"(?i)\b(?:ctrl|alt|shift)\+|[Pp]ress [a-z]\b|\bescape\b(?! sequence)")


def classes_with_keys() -> list[type[DOMNode]]:
    for module in walk_packages(inspector.tui.__path__, "inspector.tui."):
        import_module(module.name)
    found: list[type[DOMNode]] = []
    waiting: list[type[DOMNode]] = [DOMNode]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if cls.__module__.startswith("inspector.tui.") and "BINDINGS" in vars(cls):
            found.append(cls)
    return sorted(set(found), key=lambda cls: cls.__name__)


def test_every_binding_is_that_of_a_command():
    count = 0
    for cls in classes_with_keys():
        for binding in cls.BINDINGS:
            assert isinstance(binding, Binding), (cls, binding)
            assert binding.tooltip, (cls, binding)
            count += 1
            if not (binding.id or "").startswith(VIEW):
                assert binding.key == bind(binding.id or "", "").key, (cls, binding)
    assert count > 100


def test_one_key_has_one_meaning():
    owners: dict[str, str] = {}
    shared = {"tab": {"next-pane", "complete"}}
    for name, command in COMMANDS.items():
        for key in filter(None, command.keys.split(",")):
            other = owners.setdefault(key, name)
            assert other == name or {other, name} <= shared.get(key, set()), f"{key}: {other} and {name}"
    assert not {str(number) for number in range(1, 10)} & set(owners), "digits go to the views"


def test_editing_keys_of_terminals_are_not_taken():
    keys = {key for command in COMMANDS.values() for key in command.keys.split(",")}
    assert not keys & {"ctrl+a", "ctrl+e", "ctrl+k", "ctrl+u", "ctrl+w", "ctrl+c", "ctrl+d"}


def test_the_page_about_keys_lists_every_command():
    page = (Path(inspector.tui.__path__[0]).parents[1] / "docs" / "keys.md").read_text(encoding="utf-8")
    assert keys_table() in page, "run: python -m inspector.tui.keys"


@pytest.mark.parametrize(
    ("key", "spelling"),
    [
        ("ctrl+z", "^z"),
        ("escape", "esc"),
        ("slash", "/"),
        ("enter", "enter"),
        ("alt+j", "alt+j"),
        ("shift+up", "shift+↑"),
    ],
)
async def test_a_key_has_one_spelling(key: str, spelling: str):
    assert shown_key(key) == spelling
    assert InspectorApp(Options()).get_key_display(Binding(key, "help")) == spelling


def test_no_sentence_names_a_key_itself():
    """A literal key is wrong after the user has changed it, and may be spelled in another way than in the footer."""
    folder = Path(inspector.tui.__path__[0])
    modules = [module for place in (folder, folder.parent / "session") for module in place.rglob("*.py")]
    assert len(modules) > 100
    for module in modules:
        tree = ast.parse(module.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings]
        sentences = [str(node.value) for node in texts if " " in str(node.value).strip() and module.name != "keys.py"]
        assert not [text for text in sentences if _KEY_IN_SENTENCE.search(text)], module


def test_every_key_has_an_action():
    for cls in classes_with_keys():
        for binding in cls.BINDINGS:
            whose, _, name = binding.action.partition("(")[0].rpartition(".")
            owners = {"app": [InspectorApp], "screen": [*classes_with_keys()]}.get(whose, [cls])
            assert any(hasattr(owner, f"action_{name}") for owner in owners), (cls, binding)


async def test_views_are_selected_by_number_alt_number_and_tab(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        for number, (view, _, _) in enumerate(VIEWS, 1):
            await driver.press(str(number))
            assert driver.workbench.view == view
        await driver.press("2")
        assert f"{key_of('write')}: write" in driver.screen
        await driver.press(key_of("write"))
        await driver.type("1 to 6")
        assert f"{key_of('write')}: write" not in driver.screen
        assert (driver.workbench.view, driver.composer.text) == ("chat", "1 to 6")
        for number, (view, _, _) in enumerate(VIEWS, 1):
            await driver.press(f"alt+{number}")
            assert driver.workbench.view == view
        for view, name, _ in VIEWS:
            await driver.pilot.click(offset=(driver.lines[1].index(name) + 1, 1))
            assert driver.workbench.view == view
        assert driver.app.focused is not None


async def test_keys_of_the_footer_can_be_clicked(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.click("v view")
        assert '"supportedInterfaces": [' in driver.screen
        await driver.go(3)
        assert "x cancel" in driver.lines[-1]
        await driver.click("x cancel")
        assert driver.sent() == [], "a key that can do nothing now does nothing when it is clicked"
        await driver.click("? help")
        assert isinstance(driver.app.screen, HelpScreen)


async def test_the_palette_lists_the_commands_that_work_now(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.press("ctrl+p")
        await driver.type("raw card at the place")
        await driver.until("Show the raw card at the place of the cursor")
        await driver.press("enter")
        await driver.until('"supportedInterfaces": [')
        await driver.press("ctrl+p")
        await driver.type("one line up")
        await driver.settled()
        assert "(key ↑)" not in driver.screen, "what moves the cursor is not to be chosen from a list"
        await driver.press(*["backspace"] * 11)
        await driver.type("connect to another")
        await driver.until("Connect (key o)")
        assert driver.screen.count("Connect to another agent") == 1, "one entry to connect"


async def test_the_palette_lists_each_command_once_in_our_words(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        for view in VIEWS:
            await driver.press("escape")
            driver.workbench.view = view.id
            await driver.settled()
            titles = [command.title for command in driver.app.get_system_commands(driver.app.screen)]
            assert len(titles) == len(set(titles))
            assert "Save the screen as a picture (SVG)" in titles
            assert not {"Quit", "Keys", "Maximize", "Screenshot"} & set(titles)


async def test_the_palette_copies_the_path_of_the_capture(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    copied: list[str] = []
    monkeypatch.setattr(pyperclip, "copy", copied.append)
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.press("ctrl+p")
        await driver.type("path of the capture, to export")
        await driver.until("Copy the path of the capture")
        await driver.press("enter")
        await driver.until(lambda: copied == [str(driver.session.journal.capture.path)])


async def test_the_actions_menu_lists_what_can_be_done_with_the_selected_row(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", "a")
        assert isinstance(driver.app.screen, MenuScreen)
        await driver.until("Add or remove a bookmark")
        named = [line.strip("│ ") for line in driver.lines if "│   " in line]
        places = [
            next(place for place, line in enumerate(named) if text in line)
            for text in ("Show decoded, raw, hex", "Copy what is selected", "Fold or unfold runs of chunks", "bookmark")
        ]
        assert places == sorted(places), "as in the list of commands"
        await driver.press("escape")
        assert isinstance(driver.app.screen, WorkbenchScreen)
        column, row = driver.place("←  status")
        await driver.pilot.click(offset=(column, row), button=3)
        await driver.until("Add or remove a bookmark")
        await driver.click("Add or remove a bookmark")
        await driver.until(UNICODE.bookmark)


async def test_commands_that_the_agent_does_not_declare_are_in_the_menu_with_the_reason(open_app: Open, mock: str):
    async with open_app(mock, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.press("a")
        await driver.until("the card declares no")
        await driver.click("Get the extended card")
        await driver.until("The agent does not support this operation")


async def test_what_was_typed_before_the_palette_is_removed_does_not_begin_a_search(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.press("ctrl+p")
        palette = driver.app.screen
        assert isinstance(palette, CommandPalette)
        await palette.query("*").remove()  # as Textual removes a screen
        palette.post_message(Input.Changed(Input(), "x"))
        await driver.pilot.pause()
        palette.dismiss()
        await driver.until(lambda: driver.app.screen is driver.app.workbench)


async def test_the_palette_selects_views_and_themes(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.press("ctrl+p")
        assert isinstance(driver.app.screen, CommandPalette)
        await driver.type("go to")
        for _, name, _ in VIEWS:
            await driver.until(f"Go to {name}")
        await driver.type(" find")
        await driver.until(lambda: "Go to Agent" not in driver.screen and "Go to Findings" in driver.screen)
        await driver.press("enter")
        await driver.until(lambda: getattr(driver.app.screen, "view", "") == "findings")
        await driver.press("ctrl+p")
        await driver.type("theme")
        await driver.until("Choose the theme")
        await driver.press("enter")
        await driver.until("Search for themes")
        await driver.type("paper")
        await driver.settled()
        await driver.press("enter")
        await driver.until(lambda: driver.app.theme == "paper")
        assert isinstance(driver.app.screen, WorkbenchScreen)
        await driver.go(2)
        assert "Timeline" in driver.screen


@pytest.mark.parametrize("theme", ["dusk", "paper", "textual-light", "nord"])
async def test_a_theme_is_chosen_on_the_command_line(open_app: Open, theme):
    async with open_app(None, theme=theme) as driver:
        await driver.until("Connect to an agent")
        assert driver.app.theme == theme
        assert driver.app.screen.styles.background.rich_color is not None


async def test_an_unknown_theme_is_reported_and_the_default_is_used(open_app: Open):
    async with open_app(None, theme="[/nosuch]", run={"notifications": True}) as driver:
        await driver.until("Unknown theme: [/nosuch]")
        assert driver.app.theme == "dusk"


async def test_symbols_can_be_ascii_only(open_app: Open, mock: str):
    async with open_app(mock, ascii=True) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.go(5)
        await driver.settled()
        await driver.go(2)
        await driver.settled()
        rows = [line for line in driver.lines if " status " in line or " stream " in line]
        assert any("# completed" in row for row in rows)
        assert not {"→", "←", "●", "◐"} & set("".join(rows))


async def test_the_help_shows_the_keys_of_the_focused_widget_and_closes(open_app: Open, mock: str):
    async with open_app(mock, (120, 100)) as driver:
        await driver.connected()
        await driver.write()
        await driver.press("f1")
        assert "Start a new task in a new context" in driver.screen
        await driver.press("f1")
        assert not isinstance(driver.app.screen, HelpScreen)
        await driver.press("escape", "question_mark")
        assert "Fold or unfold runs of chunks" in driver.screen
        assert "input-required" in driver.screen
        assert "~         warning" in driver.screen
        assert "gap       longest time between two events" in driver.screen
        assert "shift+tab Go to the previous pane" in driver.screen
        assert "Not available here" in driver.screen
        await driver.press("q")
        assert isinstance(driver.app.screen, WorkbenchScreen)
        assert driver.app.is_running


async def test_the_status_bar_always_shows_the_agent_and_its_state(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        for width in (40, 80, 110, 200):
            await driver.pilot.resize_terminal(width, 24)
            await driver.settled()
            assert "Mock Agent" in driver.lines[0], width
            assert "●" in driver.lines[0], width


async def test_the_status_bar_uses_all_cells_before_it_leaves_something_out(open_app: Open, mock: str):
    async with open_app(mock, size=(80, 24)) as driver:
        await driver.connected()
        await driver.press("p")
        await driver.until(lambda: driver.lines[0].endswith("✓ no findings   ⇐ webhook on"))
        assert cell_len(driver.lines[0]) == 79, "one cell of padding on the right"


async def test_the_parts_of_the_status_bar_lead_to_the_view_about_them(open_app: Open, mock: str):
    async with open_app(mock, size=(140, 30)) as driver:
        await driver.connected()
        for part, view in (("no findings", "findings"), ("webhook off", "webhooks"), ("records", "traffic")):
            await driver.pilot.click(offset=(driver.lines[0].index(part) + 1, 0))
            await driver.pilot.pause()
            assert driver.workbench.view == view


# Leaving


def sockets() -> set[str]:
    """Return the sockets of this process, as Linux names them."""
    found = set()
    for path in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found.add(str(path.readlink()))
    return {name for name in found if name.startswith("socket:")}


def ours() -> set[threading.Thread]:
    """Return the threads except those of asyncio, which live as long as the event loop."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith("asyncio_")}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts sockets as Linux shows them")
async def test_quitting_during_100_streams_leaves_no_task_thread_or_socket(open_app: Open):
    before = (asyncio.all_tasks(), ours(), sockets())
    async with open_app(None) as driver:
        await driver.until("Connect to an agent")
        driver.app.open("demo")
        await driver.connected()
        await driver.press("p")
        await driver.until(lambda: driver.session.push.on)
        await driver.go(2)
        for _ in range(100):
            driver.composer.post_message(Composer.SendRequested(text_draft("long 30"), stream=True))
        await eventually(lambda: len(driver.session.tasks) == 100)
        assert driver.session.journal.exchanges.open == 100
        assert "capture-writer" in {thread.name for thread in ours() - before[1]}
        assert sockets() - before[2]
        driver.app.exit()
    # What an earlier test has left may end meanwhile.
    await eventually(lambda: asyncio.all_tasks() <= before[0] and ours() <= before[1] and sockets() <= before[2])


async def test_the_app_can_end_while_its_views_are_loaded(
    open_app: Open, mock: str, all_views: None, monkeypatch: pytest.MonkeyPatch
):
    loading, proceed, load = threading.Event(), threading.Event(), ViewEntry.load

    def load_chat_late(entry: ViewEntry) -> type[View]:
        if entry.id == "chat":
            loading.set()
            assert proceed.wait(10)
        return load(entry)

    monkeypatch.setattr(ViewEntry, "load", load_chat_late)
    async with open_app(mock) as driver:
        await eventually(loading.is_set)
        proceed.set()
        time.sleep(0.1)  # blocks the event loop, so that the exit is requested between loading and mounting
        await asyncio.sleep(0)
        driver.app.exit()
    assert driver.app.return_code == 0


async def test_quitting_while_connecting_is_quick_and_clean(open_app: Open):
    async with serving_bytes(stay_silent) as place:
        async with open_app(place) as driver:
            await driver.until("waiting")
            await driver.press("R", "R")
            await driver.until("waiting")
            await driver.press("q")
        assert driver.app.return_code == 0


@pytest.mark.usefixtures("all_views")
async def test_a_key_of_another_view_says_where_it_works(open_app: Open, mock: str):
    async with open_app(mock, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.go(3)
        await driver.press("c")
        await driver.until("c (compare) is not available here")
        [notice] = driver.app._notifications
        assert notice.message.endswith("here, but in Chat and Webhooks.")
        await driver.press("A")
        await driver.until("A (remark) is not available here")
        *_, notice = driver.app._notifications
        assert notice.message.endswith("here, but in Chat, Webhooks and Traffic.")
        await driver.press("escape", "down", "f10", "slash")
        await driver.type("c")
        await driver.settled()
        assert driver.screen.count("is not available here") == 1, "other keys and texts are not reported"


async def test_q_asks_in_chat_where_a_message_may_be_typed_without_the_composer(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("escape")
        await driver.type("question")
        await driver.until("What was recorded is kept.")
        await driver.press("escape")
        await driver.until(lambda: "What was recorded" not in driver.screen)
        await driver.press("q", "enter")
        assert driver.app.return_code == 0
