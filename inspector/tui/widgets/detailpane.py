"""The detail of one record: what is odd about it, its payload decoded or raw, and its head."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import ContentSwitcher, Static

from inspector.capture.records import Record
from inspector.tui.render import detail
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.hexdump import HexDump, raw_text
from inspector.tui.render.paragraphs import Paragraphs
from inspector.tui.widgets.jsonview import JsonView
from inspector.tui.widgets.lines import LineView

View = Literal["decoded", "raw", "hex", "head"]
VIEWS: tuple[View, ...] = ("decoded", "raw", "hex", "head")
"""The ways to look at a record, in the order in which the key goes through them."""

_MOST_NOTES = 9
"""How many lines above the payload are shown at most."""


class FactView(LineView):
    """Lines that may say that something is good or bad."""

    DEFAULT_CSS = """
    FactView {
        & > .line--good { color: $state-good; }
        & > .line--warning { color: $state-warning; }
        & > .line--bad { color: $state-bad; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"line--good", "line--warning", "line--bad"}


class DetailPane(Vertical):
    """Shows one record; the view that was chosen stays for the next one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "next_view", "view", id="detail.view", tooltip="Decoded, raw, hex, head"),
    ]

    DEFAULT_CSS = """
    DetailPane {
        & > .notes { height: auto; }
        & ContentSwitcher { height: 1fr; }
    }
    """

    def __init__(self, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget of Textual's calls it
        super().__init__(id=id)
        self._glyphs = glyphs
        self._view: View = "decoded"
        self._read: Callable[[Record], bytes] = attrgetter("raw")
        self.record: Record | None = None

    def compose(self) -> ComposeResult:
        """Make the title, the notes and one view for each way to look."""
        yield Static(classes="pane-title")
        yield FactView(classes="notes")
        with ContentSwitcher(initial="decoded"):
            yield JsonView(id="decoded", empty="Select a row to see it here.")
            yield LineView(id="raw", empty="No bytes.")
            yield LineView(id="hex", empty="No bytes.")
            yield FactView(id="head")

    def on_mount(self) -> None:
        """Show that nothing is selected."""
        self._show_title()
        self.query_one(".notes").display = False

    def read_with(self, read: Callable[[Record], bytes]) -> None:
        """Take what a record carries from this function from now on."""
        self._read = read

    def show(self, record: Record | None) -> None:
        """Show a record, or that none is selected."""
        if record is not None and self.record is not None and record.seq == self.record.seq:
            return
        self.record = record
        self._show_title()
        self._show_notes()
        self._show_view()

    def on_resize(self) -> None:
        """Give the notes the height that they need at the new width."""
        self._show_notes()

    def _show_notes(self) -> None:
        notes = self.query_one(".notes", FactView)
        about = Paragraphs(detail.about(self.record, self._glyphs) if self.record else [])
        about.layout(self.content_size.width - 1, 0)
        notes.display = bool(len(about))
        notes.styles.height = min(len(about), _MOST_NOTES)
        notes.show(about)

    def action_next_view(self) -> None:
        """Go to the next way to look."""
        self.choose(VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)])

    def choose(self, view: View) -> None:
        """Look at the record in another way."""
        had_focus = self.has_focus_within
        self._view = view
        self.query_one(ContentSwitcher).current = view
        self._show_title()
        self._show_view()
        if had_focus:
            self.focus_body()

    def focus_body(self) -> None:
        """Give the keys to the view that is seen."""
        self.screen.set_focus(self.query_one(f"#{self._view}"))

    def selected_text(self) -> str:
        """Return the value under the cursor, or the whole payload where another view than the decoded is seen."""
        if self.record is None:
            return ""
        view = self.query_one(JsonView)
        if self._view == "decoded" and view.has_focus:
            return view.value
        return self._read(self.record).decode("utf-8", "replace")

    def _show_view(self) -> None:
        record = self.record
        if record is None:
            self.query_one(JsonView).show(Paragraphs([]))
            return
        match self._view:
            case "decoded":
                if body := self._read(record):
                    self.query_one(JsonView).show_bytes(body)
                else:
                    self.query_one(JsonView).show(Paragraphs(detail.facts(record)))
            case "raw":
                self.query_one("#raw", LineView).show(raw_text(record.raw))
            case "hex":
                self.query_one("#hex", LineView).show(HexDump(record.raw))
            case "head":
                self.query_one("#head", LineView).show(Paragraphs(detail.facts(record)))

    def _show_title(self) -> None:
        name = f"  {detail.title(self.record)}" if self.record else ""
        views = [(f"   {view}", "bold $foreground" if view == self._view else "$wire-quiet") for view in VIEWS]
        self.query_one(".pane-title", Static).update(
            Content.assemble(("DETAIL", "bold"), (name, "$text-soft"), *(views if self.record else ())), layout=False
        )

    def on_click(self, event: events.Click) -> None:
        """Choose the way to look whose name is clicked."""
        title = self.query_one(".pane-title", Static)
        at = event.get_content_offset(title)
        if at is None or self.record is None:
            return
        end = len("DETAIL  ") + len(detail.title(self.record))
        for view in VIEWS:
            start, end = end, end + len(view) + 3
            if start <= at.x < end:
                self.choose(view)
