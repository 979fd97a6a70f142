"""The dialogs of the Checks view: choose a check file, and save a report of the results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from inspector.text.typed_path import typed_path
from inspector.tui import lazy_loading
from inspector.tui.notify import notify
from inspector.tui.screens.form import CHOICE, Choice, Field, FormScreen
from inspector.tui.widgets.message_area import dragged_file

if TYPE_CHECKING:
    from inspector.session.check.result import RunResult

_OTHER = "other"
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


async def save_report(app: App[object], run: RunResult, redact: Callable[[str], str]) -> None:
    """Ask for the format and the file of a report, and write it with masked secrets."""
    choices = [Choice(name, label, ("path",)) for name, label in _REPORTS.items()]
    path = Field("path", "file", "path of the new file", path=True)
    values = await app.push_screen_wait(FormScreen("Save a report", [path], choices, check=_problem_of_new_file))
    if values is None:
        return
    target = _path_of(values["path"])
    try:
        text = redact(await asyncio.to_thread(lazy_loading.check_report, values[CHOICE], run))
        await asyncio.to_thread(_write_new, target, text)
    except OSError as error:
        notify(app, f"Cannot write {target}: {error.strerror}.", "error")
    else:
        notify(app, f"Saved {target}.")


def _write_new(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def _path_of(typed: str) -> Path:
    """Return the path that was typed, or that a terminal pastes if a file is dragged onto it."""
    return typed_path(dragged_file(typed) or typed)


def _problem_of_file(values: Mapping[str, str]) -> str:
    if values.get(CHOICE, _OTHER) != _OTHER:
        return ""
    return _problem(values["path"], lambda path: "" if path.is_file() else f"{values['path']} is not a file.")


def _problem_of_new_file(values: Mapping[str, str]) -> str:
    return _problem(values["path"], lambda path: f"{path} exists. Choose another name." if path.exists() else "")


def _problem(typed: str, check: Callable[[Path], str]) -> str:
    if not typed:
        return "Enter the path of a file."
    try:
        return check(_path_of(typed))
    except OSError as error:
        return f"{typed}: {error.strerror}."
