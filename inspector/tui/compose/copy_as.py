"""The request of a message in the forms in which people hand one on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App

from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import FaultError
from inspector.session.call import Call
from inspector.session.compose.copy_as import as_curl, as_httpx
from inspector.session.compose.raw_request import write_text
from inspector.tui.render.content import plain
from inspector.tui.screens.form import CHOICE, Choice, FormScreen

FORMS = {
    "curl": "curl     a command that sends the same bytes",
    "httpx": "httpx    a Python program that does",
    "http": "http     the request as text, which send --request takes",
    "json": "JSON     the body alone",
}


def ask_form(app: App[Any], turn: Call) -> None:
    """Ask in which form the request of a turn is to be copied, and copy it."""

    def copy(values: dict[str, str] | None) -> None:
        if values is None:
            return
        try:
            app.copy(text_of(turn, values[CHOICE]))  # type: ignore[attr-defined]
        except FaultError as error:
            app.notify(plain(error.fault.sentence()).plain, severity="warning", markup=False)

    choices = [Choice(name, words) for name, words in FORMS.items()]
    app.push_screen(FormScreen("COPY AS: your credentials are in it", choices=choices), copy)


def text_of(turn: Call, form: str) -> str:
    """Return what would be sent in a form of `FORMS`, with the credentials; raises `FaultError` where it has none."""
    return _WRITERS[form](turn)


def _json(turn: Call) -> str:
    wire, call = turn.wire, turn.exchange.call
    body = wire.shown if isinstance(wire, HttpRequest) else wire.body
    return call.binding.show(call.dialect, call.operation, body, True).decode("utf-8", "replace")


_WRITERS: dict[str, Callable[[Call], str]] = {
    "curl": lambda turn: as_curl(turn.signed()),
    "httpx": lambda turn: as_httpx(turn.signed()),
    "http": lambda turn: write_text(turn.signed(), turn.exchange.call),
    "json": _json,
}
