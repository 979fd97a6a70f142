"""The request of a message: a preview, an editor for the raw request, and a dialog that copies it."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from inspector.protocol.errors import Fault, FaultError
from inspector.session.call import Call
from inspector.session.compose.raw_request import write_text
from inspector.session.exporters import REQUEST_FORMATS
from inspector.text.units import size
from inspector.tui.editor import edit
from inspector.tui.keys import bind
from inspector.tui.notify import copy, notify
from inspector.tui.render.content import plain
from inspector.tui.screens.form import CHOICE, Choice, FormScreen
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.verbatim_area import VerbatimArea
from inspector.wire.client.observations import Sent

_MOST_HEADERS = 12
_OF_TRANSPORT = frozenset({"host", "connection", "user-agent", "accept-encoding", "content-length"})
"""Headers that every request has; they are shown in one line after the other headers."""


class RawArea(VerbatimArea):
    """The request as text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("editor", "editor", "", "Edit the request in $EDITOR"),
    ]

    def action_editor(self) -> None:
        """Edit the request in the user's editor."""
        text = edit(self.app, self.text, ".http")
        if text is not None and text != self.text:
            self.text = text


class PreviewPane(Vertical):
    """Shows the request that will be sent, or an editor for the raw request."""

    DEFAULT_CSS = """
    PreviewPane {
        & > .pane-title { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > #preview-head { height: auto; max-height: 9; text-wrap: nowrap; text-overflow: ellipsis; }
        & > JsonView { height: 1fr; }
        & > RawArea { height: 1fr; border: none; padding: 0; background: $background; display: none; }
        &.-empty > JsonView { display: none; }
        &.-raw > RawArea { display: block; }
        &.-raw > JsonView, &.-raw > #preview-head { display: none; }
    }
    """

    class Edited(Message):
        """The raw request was changed."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - as every widget of Textual's calls it
        super().__init__(id=id)
        self._original = ""

    def compose(self) -> ComposeResult:
        """Make the head, the body and the area."""
        yield Static(id="preview-title", classes="pane-title")
        yield Static(id="preview-head")
        yield JsonView(id="preview-body", empty="No body.")
        yield RawArea(id="preview-raw", soft_wrap=True, show_line_numbers=False, compact=True)

    @property
    def raw(self) -> str | None:
        """The raw request, None if the request is made from the message."""
        return self.query_one(RawArea).text if self.has_class("-raw") else None

    def show_problem(self, problem: str) -> None:
        """Show why there is no request yet."""
        self._title("no request yet")
        self.query_one("#preview-head", Static).update(plain(problem).stylize("$state-bad"))
        self.set_class(True, "-empty")

    def show_call(self, shown: Call, seen: Sent | Fault) -> None:
        """Show the request of a call."""
        if isinstance(seen, Fault):
            self.show_problem(seen.sentence())
            return
        call = shown.exchange.call
        self._title(f"{call.dialect.version} · {call.binding.name}   {size(len(seen.body))}")
        lines = [Content.assemble((f"{seen.method} ", "bold $wire-sent"), plain(seen.url))]
        own = [header for header in seen.headers if header[0].lower() not in _OF_TRANSPORT]
        for name, value in own[:_MOST_HEADERS]:
            lines.append(Content.assemble(plain(f"{name}: ").stylize("$text-soft"), plain(value)))
        rest = [f"{name}: {value}" for name, value in seen.headers if name.lower() in _OF_TRANSPORT]
        if rest:
            lines.append(plain("   ".join(rest)).stylize("$wire-quiet"))
        self.query_one("#preview-head", Static).update(Content("\n").join(lines))
        body = self.query_one(JsonView)
        self.set_class(not seen.body, "-empty")
        pointer = body.pointer
        body.show_bytes(call.binding.show(call.dialect, call.operation, seen.body, True))
        if pointer:
            body.go_to(body.nearest(pointer))

    def edit_raw(self, call: Call) -> None:
        """Let the user edit the raw request of a call."""
        self._original = write_text(call.wire, call.exchange.call)
        with self.prevent(TextArea.Changed):
            self.query_one(RawArea).text = self._original
        self.add_class("-raw")
        self._title("")
        self.screen.set_focus(self.query_one(RawArea))

    def discard_raw(self) -> None:
        """Discard the raw request; the request is made from the message again."""
        self.remove_class("-raw")

    @property
    def is_edited(self) -> bool:
        """Whether the raw request was changed."""
        return self.has_class("-raw") and self.query_one(RawArea).text != self._original

    def _title(self, facts: str) -> None:
        words = (f"   {facts}", "$text-soft")
        if self.has_class("-raw"):
            words = ("   RAW: sent as it is written, credentials are added", "bold $state-warning")
        self.query_one("#preview-title", Static).update(Content.assemble(("REQUEST", "bold"), words))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Report the change of the raw request."""
        event.stop()
        self.post_message(self.Edited())


def ask_form(app: App[Any], call: Call) -> None:
    """Ask for a format and copy the request of a call in it, with credentials."""

    def take(values: dict[str, str] | None) -> None:
        if values is None:
            return
        try:
            chosen = next(known for known in REQUEST_FORMATS if known.name == values[CHOICE])
            text = chosen.write(call.signed(), call.exchange.call)
            copy(app, text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))  # only valid text
        except FaultError as error:
            notify(app, error.fault.sentence(), "warning")

    choices = [Choice(form.name, f"{form.title or form.name:<9}{form.purpose}") for form in REQUEST_FORMATS]
    app.push_screen(FormScreen("COPY AS (contains your credentials)", choices=choices), take)
