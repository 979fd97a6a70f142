"""Errors of Textual about widgets that are removed while a key, a click or a message for them is handled."""

from __future__ import annotations

from collections.abc import Iterator
from traceback import walk_tb
from typing import Any

from textual import events
from textual.app import App, ScreenStackError
from textual.css.query import NoMatches
from textual.dom import DOMNode, NoScreen
from textual.errors import NoWidget
from textual.widget import MountError
from textual.worker import WorkerFailed


def is_caused_by_removal(error: Exception, app: App[Any]) -> bool:
    """Return whether an error is about a missing widget, while the app ends or a widget that was called is removed."""
    cause = error.error if isinstance(error, WorkerFailed) else error
    if not isinstance(cause, NoMatches | NoScreen | MountError | ScreenStackError):
        return False
    is_ending = app.return_code is not None or not app.is_running
    return is_ending or any(map(_is_removed, _called_widgets(cause)))


def is_on_removed_widget(event: events.MouseEvent, app: App[Any]) -> bool:
    """Return whether the mouse is on a widget that is removed, but still on the screen."""
    try:
        widget, _ = app.get_widget_at(event.x, event.y)
    except (NoWidget, ScreenStackError):
        return False
    return not widget.is_attached


def _called_widgets(error: BaseException) -> Iterator[DOMNode]:
    """Return the widgets whose methods were running when an error was raised."""
    for frame, _ in walk_tb(error.__traceback__):
        node = frame.f_locals.get("self")
        if isinstance(node, DOMNode):
            yield node


def _is_removed(node: DOMNode) -> bool:
    return not node.is_attached or any(each._pruning for each in node.ancestors_with_self)
