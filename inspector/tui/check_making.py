"""Make a check file from what is selected: ask for the exchanges and the file, write it, and show it in Checks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

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

_SUFFIX = ".acts.yaml"
_LONGEST_NAME = 40
_EXCHANGE, _TASK, _ALL = "exchange", "task", "all"


def ask_for_check(widget: Widget, session: Session, exchange: int, task: str) -> None:
    """Ask for which exchanges a check is made: one exchange (0 for none), those of a task, or all."""
    capture = session.journal.capture
    sets: dict[str, list[int]] = {}  # the numbers of at least one exchange each
    if exchange and capture.get(exchange).operation in OPERATIONS:
        sets[_EXCHANGE] = [exchange]
    if numbers := sorted({record.exchange for record in capture.select(task=task)} - {0} if task else ()):
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
    path = Field("path", "file", value=_file_name(capture.get(first).label), required="Enter the name of the file.")

    def write(values: Mapping[str, str]) -> None:
        _write(widget, session, sets[values[CHOICE]], typed_path(values["path"]))

    ask(widget, FormScreen("Make a check", [path], choices, check=_problem_of), write)


def _file_name(label: str) -> str:
    """Return the name of a new file, from the text of a message."""
    word = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in label.lower())
    stem = "-".join(filter(None, word.split("-")))[:_LONGEST_NAME].strip("-") or "check"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}{_SUFFIX}" for number in range(1, 1000))
    return next((name for name in names if not Path(name).exists()), f"{stem}{_SUFFIX}")


def _problem_of(values: Mapping[str, str]) -> str:
    try:
        path = typed_path(values["path"])
        if path.exists():
            return f"{path} exists already."
        return "" if path.parent.is_dir() else f"There is no folder {path.parent}."
    except OSError as error:
        return f"{values['path']}: {error.strerror}."


def _write(widget: Widget, session: Session, numbers: list[int], path: Path) -> None:
    """Write the file and report it, or report why it cannot be written."""
    try:
        text, notes = lazy_loading.recorded_check(session, numbers)
        path.write_text(text, encoding="utf-8")
    except FaultError as error:
        notify(widget, error.fault.sentence(), "warning")
        return
    except OSError as error:
        notify(widget, f"Cannot write {path}: {error.strerror}.", "error")
        return
    notify(widget, " ".join((f"Saved {path}.", *(f"{note}." for note in notes))), "warning" if notes else "information")
    widget.post_message(CheckMade(path))
