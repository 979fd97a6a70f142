"""The attempts to fetch an agent's card, and the reason if they failed."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Kind
from inspector.protocol.errors import Fault
from inspector.session.journal import Journal
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs

_LOOKING = Content.styled("fetching the agent card", "$text-soft")
_KEYS = "  d doctor   R retry   o another agent   5 traffic"
_RECORDING = Content("This is a capture file. You can inspect it; no request is sent to the agent.")
_RECORDING_KEYS = "  2 chat   3 tasks   5 traffic   6 findings   o connect to an agent"
_UNREAD_KEYS = "  r the response and its findings   E edit a copy"


class Connecting(VerticalScroll):
    """Shows the attempts as they are made."""

    def __init__(self, journal: Journal, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(id=id)
        self._journal = journal
        self._glyphs = glyphs
        self._reference = ""
        self._text = Static(id="connecting-text")

    def compose(self) -> ComposeResult:
        """Make the text."""
        yield self._text

    def begin(self, reference: str) -> None:
        """Show that the card of a reference is being fetched."""
        self._reference = reference
        self._show([_LOOKING])

    def show_recording(self) -> None:
        """Show that this is a capture file, without an agent."""
        self._show([_RECORDING, Content(""), Content.styled(_RECORDING_KEYS, "$wire-quiet")])

    def show_attempts(self) -> None:
        """Show the attempts so far."""
        if self._journal.exchanges.open:
            self._show([*self._attempts(), _LOOKING])

    def show_fault(self, fault: Fault, *, unread: bool) -> None:
        """Show why there is no agent, who is responsible and what to do next.

        With `unread`, the response that could not be read as a card can be viewed.
        """
        lines = [
            *self._attempts(),
            Content.assemble((f"{self._glyphs.cross} ", "$state-bad"), plain(fault.seen)),
            Content.assemble(("  responsible  ", "$text-soft"), fault.whose.value),
        ]
        lines += [Content.assemble(("  next step    ", "$text-soft"), plain(fault.hint))] if fault.hint else []
        lines += [Content(""), Content.styled(_KEYS, "$wire-quiet")]
        lines += [Content.styled(_UNREAD_KEYS, "$wire-quiet")] if unread else []
        self._show(lines)

    def _show(self, lines: list[Content]) -> None:
        title = Content.assemble(("AGENT   ", "bold"), plain(self._reference))
        self._text.update(Content("\n").join([title, Content(""), *lines]))

    def _attempts(self) -> list[Content]:
        attempts: list[Content] = []
        for record in self._journal.capture.select(kinds=(Kind.REQUEST,)):
            summary = self._journal.exchanges.get(record.seq)
            if summary is not None and summary.operation == "GetAgentCard":
                outcome = f"   {summary.status or ('no response' if summary.how else 'waiting')}"
                sign = (f"{self._glyphs.sent} ", "$wire-sent")
                attempts.append(Content.assemble(sign, plain(summary.url), (outcome, "$text-soft")))
        return [*attempts, Content("")] if attempts else []
