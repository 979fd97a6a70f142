"""What is tried to find an agent's card, and why there is none."""

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

_LOOKING = Content.styled("looking for its card", "$text-soft")
_KEYS = "  d asks the doctor   R tries again   o another agent   5 what crossed the wire"
_RECORDING = Content("This is a recording: it can be looked at, and no agent is asked for anything.")
_RECORDING_KEYS = "  2 the conversation   3 tasks   5 what crossed the wire   6 what is wrong   o connect to an agent"
_UNREAD_KEYS = "  r what came, and what is wrong with it   E a copy of that to mend"


class Connecting(VerticalScroll):
    """Shows the tries as they come."""

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
        """Show that the card of a reference is being looked for."""
        self._reference = reference
        self._show([_LOOKING])

    def show_recording(self) -> None:
        """Show that nothing is looked for."""
        self._show([_RECORDING, Content(""), Content.styled(_RECORDING_KEYS, "$wire-quiet")])

    def show_tries(self) -> None:
        """Show what was tried by now."""
        if self._journal.exchanges.open:
            self._show([*self._tries(), _LOOKING])

    def show_fault(self, fault: Fault, *, unread: bool) -> None:
        """Show why there is no agent: whose fault it is, what was seen and what to do next.

        `unread` says that what came in the place of a card can be looked at.
        """
        lines = [
            *self._tries(),
            Content.assemble((f"{self._glyphs.cross} ", "$state-bad"), plain(fault.seen)),
            Content.assemble(("  up to     ", "$text-soft"), fault.whose.value),
        ]
        lines += [Content.assemble(("  to do     ", "$text-soft"), plain(fault.hint))] if fault.hint else []
        lines += [Content(""), Content.styled(_KEYS, "$wire-quiet")]
        lines += [Content.styled(_UNREAD_KEYS, "$wire-quiet")] if unread else []
        self._show(lines)

    def _show(self, lines: list[Content]) -> None:
        title = Content.assemble(("AGENT   ", "bold"), plain(self._reference))
        self._text.update(Content("\n").join([title, Content(""), *lines]))

    def _tries(self) -> list[Content]:
        tries: list[Content] = []
        for record in self._journal.capture.select(kinds=(Kind.REQUEST,)):
            summary = self._journal.exchanges.get(record.seq)
            if summary is not None and summary.operation == "GetAgentCard":
                outcome = str(summary.status) if summary.status else summary.how or "waiting"
                tries.append(
                    Content.assemble(
                        (f"{self._glyphs.sent} ", "$wire-sent"), plain(summary.url), (f"   {outcome}", "$text-soft")
                    )
                )
        return [*tries, Content("")] if tries else []
