"""The request of a message: a preview, an editor for the raw request, and a dialog that copies it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message_pump import MessagePump
from textual.widgets import TextArea

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import Fault, FaultError
from inspector.session.call import Call
from inspector.session.compose.raw_request import write_text
from inspector.session.exporters import REQUEST_FORMATS
from inspector.text.units import size
from inspector.tui.editor import edit
from inspector.tui.keys import bind
from inspector.tui.notify import copy, notify
from inspector.tui.render.content import plain
from inspector.tui.render.json_nodes import NotJsonError, laid_out
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import CHOICE, Choice, FormScreen
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.text_block import TextBlock
from inspector.tui.widgets.verbatim_area import VerbatimArea
from inspector.wire.client.observations import Sent

_MOST_HEADERS = 12
_OF_TRANSPORT = frozenset({"host", "connection", "user-agent", "accept-encoding", "content-length"})
"""Headers that every request has; they are shown in one line after the other headers."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A request that the user edited as text, and the call that the text was made from."""

    text: str
    like: Call


class RawArea(VerbatimArea):
    """The request as text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("editor", "editor", "", "Edit the request in $EDITOR"),
    ]

    def action_editor(self) -> None:
        """Edit the request in the user's editor."""
        text = edit(self.app, self.text, ".http")
        if text is not None and text != self.text:
            self.replace_all(text)


class PreviewPane(Pane):
    """Shows the request that will be sent, or an editor for the raw request."""

    DEFAULT_CSS = """
    PreviewPane {
        & > #preview-head { height: auto; max-height: 9; text-overflow: ellipsis; }
        & > #preview-transport { height: 1; color: $wire-quiet; text-wrap: nowrap; text-overflow: ellipsis; }
        & > JsonView { height: 1fr; }
        & > RawArea { height: 1fr; border: none; padding: 0; background: $background; display: none; }
        &.-empty > JsonView { display: none; }
        &.-raw > RawArea { display: block; }
        &.-raw > JsonView, &.-raw > #preview-head, &.-raw > #preview-transport { display: none; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__("Request", id=id)
        self._like: Call | None = None
        self._warned = False
        """Whether the user knows that a change of the message is not in the edited text."""

    def compose(self) -> ComposeResult:
        """Make the head, the body and the area."""
        yield TextBlock(id="preview-head")
        yield TextBlock(id="preview-transport")
        yield JsonView(id="preview-body", empty="No body.")
        yield RawArea(id="preview-raw", soft_wrap=True, show_line_numbers=False, compact=True)

    @property
    def is_raw(self) -> bool:
        """Whether the request is edited as text."""
        return self._like is not None

    @property
    def raw(self) -> RawRequest | None:
        """The request as text, None if the request is built from the message."""
        return RawRequest(self.query_one(RawArea).text, self._like) if self._like is not None else None

    @property
    def edited(self) -> RawRequest | None:
        """The request as text, None if it was not edited."""
        raw = self.raw
        return raw if raw is not None and raw != indented_request(raw.like) else None

    def show_problem(self, problem: str) -> None:
        """Show why there is no request yet."""
        self.set_title(Chip("none: the message has problems", "$state-bad"))
        self.query_one("#preview-head", TextBlock).update(plain(problem).stylize("$state-bad"))
        self.query_one("#preview-transport", TextBlock).update("")
        self.add_class("-empty")

    def show_call(self, shown: Call, seen: Sent | Fault) -> None:
        """Show the request of a call."""
        if isinstance(seen, Fault):
            self.show_problem(seen.sentence())
            return
        context = shown.exchange.context
        interface = f"{context.dialect.version} · {context.binding.name}"
        self.set_title(Chip(interface), Chip(size(len(seen.body)), "$text-soft"))
        lines = [Content.assemble((f"{seen.method} ", "bold $wire-sent"), plain(seen.url))]
        own = [header for header in seen.headers if header[0].lower() not in _OF_TRANSPORT]
        for name, value in own[:_MOST_HEADERS]:
            lines.append(Content.assemble(plain(f"{name}: ").stylize("$text-soft"), plain(value)))
        rest = [f"{name}: {value}" for name, value in seen.headers if name.lower() in _OF_TRANSPORT]
        self.query_one("#preview-transport", TextBlock).update(plain("   ".join(rest)))
        self.query_one("#preview-head", TextBlock).update(Content("\n").join(lines))
        body = self.query_one(JsonView)
        self.set_class(not seen.body, "-empty")
        pointer = body.pointer
        body.show_bytes(context.binding.show(context.dialect, context.operation, seen.body, True))
        if pointer:
            body.go_to(body.nearest(pointer))

    def show_raw(self, raw: RawRequest) -> None:
        """Let the user edit a request as text."""
        self._show_raw_text(raw)
        self._warned = False
        self.add_class("-raw")
        self.set_title(Chip("raw: sent as shown, credentials are added", "$state-warning"))
        self.focus_body()

    def update_raw(self, call: Call | None) -> bool:
        """Show the call of a changed message as text, unless the text was edited.

        Return whether to warn that the edited text lacks the change: true once.
        """
        is_edited = self.edited is not None
        if call is not None and not is_edited:
            self._show_raw_text(indented_request(call))
        is_first, self._warned = not self._warned, self._warned or is_edited
        return is_edited and is_first

    def _show_raw_text(self, raw: RawRequest) -> None:
        self._like = raw.like
        self.query_one(RawArea).text = raw.text

    def focus_body(self) -> None:
        """Focus the request, or its text."""
        self.screen.set_focus(self.query_one(JsonView) if self._like is None else self.query_one(RawArea))

    def discard_raw(self) -> None:
        """Discard the raw request; the request is built from the message again."""
        self._like = None
        self.remove_class("-raw")

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Keep the changes of the raw request from the part."""
        event.stop()


def indented_request(call: Call) -> RawRequest:
    """Return the request of a call as text, with an indented body if the body is JSON."""
    text = write_text(call.wire, call.exchange.context)
    head, _, body = text.partition("\n\n")
    try:
        indented = laid_out(body.encode("utf-8", "surrogateescape")).removesuffix("\n")
    except NotJsonError:
        return RawRequest(text, call)  # no body, or hexadecimal digits
    return RawRequest(f"{head}\n\n{indented}", call)


def _has_credentials(call: Call) -> bool:
    """Return whether the copied request contains credentials of the session."""
    credentials, url = call.credentials, call.wire.url
    return bool(credentials.headers_for(url) or credentials.query_for(url) or call.signed().certificate)


def ask_and_copy(node: MessagePump, call: Call) -> None:
    """Ask for a format and copy the request of a call in it, with credentials."""

    def take(values: Mapping[str, str]) -> None:
        try:
            chosen = next(known for known in REQUEST_FORMATS if known.name == values[CHOICE])
            text = chosen.write(call.signed(), call.exchange.context)
            copy(node, text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))  # only valid text
        except FaultError as error:
            notify(node, error.fault.sentence(), "warning")

    choices = [Choice(form.name, f"{form.title or form.name:<9}{form.purpose}") for form in REQUEST_FORMATS]
    title = "Copy as (contains your credentials)" if _has_credentials(call) else "Copy as"
    ask(node, FormScreen(title, choices=choices), take)
