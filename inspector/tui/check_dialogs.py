"""The dialogs about check files: load one, make one of recorded exchanges, and save a report of the results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.message_pump import MessagePump
from textual.widget import Widget

from inspector.capture.records import Kind
from inspector.protocol.errors import FaultError
from inspector.session.payload import OPERATIONS
from inspector.session.session import Session
from inspector.text.typed_path import typed_path
from inspector.tui import lazy_loading
from inspector.tui.notify import notify
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen
from inspector.tui.views.base import CheckMade
from inspector.tui.widgets.message_area import dragged_file

if TYPE_CHECKING:
    from inspector.session.check.result import RunResult

_OTHER = "other"
_SUFFIX = ".acts.yaml"
_LONGEST_NAME = 40
_EXCHANGE, _TASK, _ALL = "exchange", "task", "all"
_REPORTS = {
    "html": "HTML: a page without external files",
    "json": "JSON: the report of ACTS",
    "junit": "JUnit XML: for CI",
    "tap": "TAP: Test Anything Protocol",
}


def load_form(recent: Sequence[Path]) -> FormScreen:
    """Return the dialog for a check file, which offers those that were loaded before."""
    path = Field("path", "file", "path of a check file (YAML or JSON)", path=True)
    choices = [Choice(str(file), str(file)) for file in recent]
    if choices:
        choices.append(Choice(_OTHER, "another file", ("path",)))
    return FormScreen("Load a check file", [path], choices, check=_problem_of_file)


def chosen_file(values: Mapping[str, str]) -> Path:
    """Return the file that was chosen or typed."""
    chosen = values.get(CHOICE, _OTHER)
    return _path_of(values["path"]) if chosen == _OTHER else Path(chosen)


def ask_for_check(widget: Widget, session: Session, exchange: int, task: str) -> None:
    """Ask for which exchanges a check is made: one exchange (0 for none), those of a task, or all."""
    capture = session.journal.capture
    sets: dict[str, list[int]] = {}  # the numbers of at least one exchange each
    if exchange and capture.get(exchange).operation in OPERATIONS:
        sets[_EXCHANGE] = [exchange]
    if task and (numbers := capture.exchanges_of(task)):
        sets[_TASK] = numbers
    sets[_ALL] = [record.seq for record in capture.select(kinds={Kind.REQUEST}) if record.operation in OPERATIONS]
    if not sets[_ALL]:
        notify(widget, "No message or task was recorded yet, so there is nothing to check.")
        return
    words = {
        _EXCHANGE: f"this exchange (#{exchange})",
        _TASK: f"all exchanges of the task ({len(sets.get(_TASK, ()))})",
        _ALL: f"all exchanges ({len(sets[_ALL])})",
    }
    choices = [Choice(name, words[name], ("path",)) for name in sets]
    first = next(iter(sets.values()))[0]
    form = _new_file_form("Make a check", choices, _file_name(capture.get(first).label))
    ask(widget, form, lambda values: _make_check(widget, session, sets[values[CHOICE]], _path_of(values["path"])))


def _make_check(widget: Widget, session: Session, numbers: list[int], path: Path) -> None:
    try:
        text, notes = lazy_loading.recorded_check(session, numbers)
    except FaultError as error:
        notify(widget, error.fault.sentence(), "warning")
        return
    if _write_new(widget, path, text, notes):
        widget.post_message(CheckMade(path))


def _file_name(label: str) -> str:
    """Return the name of a new file, from the text of a message."""
    word = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in label.lower())
    stem = "-".join(filter(None, word.split("-")))[:_LONGEST_NAME].strip("-") or "check"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}{_SUFFIX}" for number in range(1, 1000))
    return next((name for name in names if not Path(name).exists()), f"{stem}{_SUFFIX}")


async def save_report(app: App[object], run: RunResult, redact: Callable[[str], str]) -> None:
    """Ask for the format and the file of a report, and write it with masked secrets."""
    choices = [Choice(name, label, ("path",)) for name, label in _REPORTS.items()]
    values = await app.push_screen_wait(_new_file_form("Save a report", choices))
    if values is not None:
        report = await asyncio.to_thread(lazy_loading.check_report, values[CHOICE], run)
        _write_new(app, _path_of(values["path"]), redact(report))


def _new_file_form(title: str, choices: Sequence[Choice], name: str = "") -> FormScreen:
    """Return a form with choices and the path of a new file."""
    path = Field("path", "file", "path of the new file", name, path=True)
    return FormScreen(title, [path], choices, check=lambda values: _problem(values["path"], _problem_of_new_file))


def _write_new(node: MessagePump, path: Path, text: str, notes: Sequence[str] = ()) -> bool:
    """Write a new file, and report this with notes; return False if it cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        notify(node, f"Cannot write {path}: {error.strerror}.", "error")
        return False
    notify(node, " ".join((f"Saved {path}.", *(f"{note}." for note in notes))), "warning" if notes else "information")
    return True


def _path_of(typed: str) -> Path:
    """Return the path that was typed, or that a terminal pastes if a file is dragged onto it."""
    return typed_path(dragged_file(typed) or typed)


def _problem_of_file(values: Mapping[str, str]) -> str:
    if values.get(CHOICE, _OTHER) != _OTHER:
        return ""
    return _problem(values["path"], lambda path: "" if path.is_file() else f"{values['path']} is not a file.")


def _problem_of_new_file(path: Path) -> str:
    if path.exists():
        return f"{path} exists. Choose another name."
    return "" if path.parent.is_dir() else f"The folder {path.parent} does not exist."


def _problem(typed: str, check: Callable[[Path], str]) -> str:
    if not typed:
        return "Enter the path of a file."
    try:
        return check(_path_of(typed))
    except OSError as error:
        return f"{typed}: {error.strerror}."
