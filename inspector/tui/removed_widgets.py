"""Errors of Textual about widgets that are removed while a key, a click or a message for them is handled."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from textual import events
from textual._context import active_message_pump
from textual.app import App, ScreenStackError
from textual.css.query import NoMatches
from textual.dom import DOMNode, NoScreen
from textual.errors import NoWidget
from textual.widget import MountError
from textual.worker import NoActiveWorker, WorkerFailed, get_current_worker


def is_caused_by_removal(error: Exception, app: App[Any]) -> bool:
    """Return whether an error is about a missing widget, while the app ends or the widget with the error is removed."""
    cause = error.error if isinstance(error, WorkerFailed) else error
    if not isinstance(cause, NoMatches | NoScreen | MountError | ScreenStackError):
        return False
    is_ending = app.return_code is not None or not app.is_running
    return is_ending or _is_removed(_node_of(error))


def is_on_removed_widget(event: events.MouseEvent, app: App[Any]) -> bool:
    """Return whether the mouse is on a widget that is removed, but still on the screen."""
    try:
        widget, _ = app.get_widget_at(event.x, event.y)
    except (NoWidget, ScreenStackError):
        return False
    return not widget.is_attached


def _node_of(error: Exception) -> object:
    """Return the widget whose worker or message handler raised an error."""
    if isinstance(error, WorkerFailed):
        with suppress(NoActiveWorker):
            return get_current_worker().node
    return active_message_pump.get(None)


def _is_removed(node: object) -> bool:
    return isinstance(node, DOMNode) and (
        not node.is_attached or any(each._pruning for each in node.ancestors_with_self)
    )
