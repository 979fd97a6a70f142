"""Shows the attempts to connect with the elapsed time, and why they failed."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer

from inspector.capture.records import Kind
from inspector.findings.finding import Finding, most_severe_first
from inspector.protocol.errors import Fault, FaultCode, FaultKind, Whose
from inspector.protocol.operations import Operation
from inspector.session.card_fetch import GET_CARD
from inspector.session.journal import Journal
from inspector.text.units import duration
from inspector.tui.keys import COMMANDS, VIEW, key_of
from inspector.tui.notify import denied_hint
from inspector.tui.render.card_lines import MOST_BESIDE
from inspector.tui.render.content import plain
from inspector.tui.render.finding_lines import rule_of, seen_where
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.widgets.pane import Chip
from inspector.tui.widgets.text_block import TextBlock
from inspector.tui.widgets.view_tabs import clickable, clicked
from inspector.wire.client.http import Limits

_TICK = 0.2
"""The seconds between two updates of the elapsed time."""
_GAP = 3
_LABEL = 14
_OF_CARDS = (GET_CARD, Operation.EXTENDED_CARD.value)
"""The operations that read a card, over HTTP and over gRPC."""
_RECORDING = "This is a capture file. You can inspect it; no request is sent to the agent."
_RESPONSIBLE = {Whose.YOURS: "you: the address that was entered, or the options"}


class _Attempt(NamedTuple):
    """A request for the card: its URL, what was returned, how long that took, and whether it is running."""

    url: str
    outcome: str
    seconds: float
    running: bool


class Connecting(VerticalScroll):
    """Shows the attempts as they are made, then the result with everything that can be done next."""

    def __init__(
        self,
        journal: Journal,
        glyphs: Glyphs,
        limits: Limits,
        *,
        id: str,
    ) -> None:
        super().__init__(id=id)
        self._journal = journal
        self._glyphs = glyphs
        self._limits = limits
        self._reference = ""
        self._state = ""
        self._has_card = False
        self._began = 0.0
        self._first = 0
        self._fault: Fault | None = None
        self._findings: Sequence[Finding] = ()
        self._text = TextBlock(id="connecting-text")
        self._timer: Timer | None = None  # None until the widget is mounted
        self.fetching = False
        """Whether the card is being fetched."""

    def compose(self) -> ComposeResult:
        """Make the text."""
        yield self._text

    def on_mount(self) -> None:
        """Update the elapsed time while the card is fetched."""
        self._timer = self.set_interval(_TICK, self.show_attempts, pause=not self.fetching)

    @property
    def title(self) -> tuple[Chip, ...]:
        """The words for the title of the pane: what is shown, and for which agent."""
        return Chip(self._state, "bold"), Chip(self._reference)

    def begin(self, reference: str) -> None:
        """Show that the card of a reference is being fetched."""
        if self._began:  # the attempts before are not shown again
            self._first = len(self._journal.capture)
        self._reference, self._state = self._journal.redactor.url(reference), "connecting"
        self._began = time.time()
        self.fetching = True
        if self._timer is not None:
            self._timer.resume()
        self.show_attempts()

    def end(self) -> None:
        """Stop the clock."""
        self.fetching = False
        if self._timer is not None:
            self._timer.pause()
        self.refresh_bindings()

    def show_recording(self, *, has_card: bool) -> None:
        """Show that this is a capture file, without an agent, and how to see its card if it has one."""
        self._state, self._has_card = "capture", has_card
        self.end()
        self._draw()

    def show_attempts(self) -> None:
        """Show the attempts so far, the elapsed time and its limits."""
        if self.fetching:
            self._draw()

    def show_fault(self, fault: Fault, findings: Sequence[Finding] = ()) -> None:
        """Show what was tried, why there is no agent, who is responsible, and what to do next.

        `findings` are those of the response that could not be read as a card; with them, it can be viewed.
        """
        self._state = "invalid card" if fault.code == FaultCode.CARD_INVALID else "not connected"
        self._fault, self._findings = fault, findings
        self.end()
        self._draw()

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self._draw()

    def _draw(self) -> None:
        if self.fetching:
            lines = self._progress()
        elif self._fault is not None:
            lines = self._failure(self._fault)
        else:
            views = [(f"{VIEW}{view}", name) for view, name in (("chat", "Chat"), ("traffic", "Traffic"))]
            card = [("representation", "the card that was recorded")] if self._has_card else []
            steps = self._steps([*card, *views, ("connect", "connect to an agent")])
            lines = [Content(_RECORDING), Content(""), *steps]
        self._text.update(Content("\n").join(lines))

    def _progress(self) -> list[Content]:
        elapsed = time.time() - self._began
        reading = self._limits.read_seconds
        limit = f"{reading:g} s" if reading is not None else "no limit (--timeout sets one)"
        return [
            *self._attempts(),
            Content.assemble(("Fetching the agent card: ", "$text-soft"), duration(elapsed)),
            Content.styled(f"Limits: connection {self._limits.connect_seconds:g} s, response {limit}", "$text-soft"),
            Content(""),
            *self._steps([("back", "cancel")]),
        ]

    def _failure(self, fault: Fault) -> list[Content]:
        hint = denied_hint(fault, f"Press {key_of('credentials')}") if fault.denied else fault.hint
        needs_certificate = fault.kind is FaultKind.CLIENT_CERTIFICATE
        if needs_certificate:
            hint += f" Press {key_of('credentials')} to enter one here."
        whose = _RESPONSIBLE.get(fault.whose, fault.whose.value)
        if fault.denied:
            whose = "the agent, or you if credentials are missing" if fault.refused else "you: credentials are needed"
        steps = []
        if fault.denied or needs_certificate:
            ways = "enter a client certificate" if needs_certificate else "log in, or enter a secret"
            steps.append(("credentials", f"credentials: {ways}"))
        steps += [("refresh", "try again")]
        if self._findings:
            steps += [("representation", "show the response and its findings"), ("edit-card", "edit a copy")]
        steps += [("doctor", "doctor: check name, TCP, TLS, card and interfaces"), ("connect", "another agent")]
        return [
            *self._attempts(),
            Content.assemble((f"{self._glyphs.cross} ", "$state-bad"), plain(self._without_outcomes(fault.seen))),
            self._fact("Responsible", whose),
            *self._found(),
            *([self._fact("Next step", hint)] if hint else []),
            Content(""),
            *self._steps([*steps, (f"{VIEW}traffic", "Traffic")]),
        ]

    def _found(self) -> list[Content]:
        """Return the worst findings of the response that is not a card, and the number of the others."""
        lines = []
        for number, finding in enumerate(most_severe_first(self._findings)[:MOST_BESIDE]):
            sign = self._glyphs.severities[finding.severity]
            text = f"{sign} {finding.rule}  {rule_of(finding.rule).title}: {seen_where(finding)}"
            lines.append(self._fact("" if number else "Findings", text))
        more = len(self._findings) - MOST_BESIDE
        return [*lines, self._fact("", f"and {more:,} more")] if more > 0 else lines

    def _fact(self, label: str, text: str) -> Content:
        width = max(20, self._text.size.width - _LABEL - 2)
        lines = textwrap.wrap(text, width, break_on_hyphens=False)
        indented = ("\n" + " " * (_LABEL + 2)).join(lines)
        return Content.assemble((f"  {label:<{_LABEL}}", "$text-soft"), plain(indented, newlines=True))

    def _steps(self, steps: list[tuple[str, str]]) -> list[Content]:
        """Return lines with a key and what it does; a click runs it."""
        lines = []
        for command, name in steps:
            key = key_of(command) if command in COMMANDS else self._key_of_view(command)
            line = Content.assemble((f"  {key:<{_LABEL}}", "$bar"), (name, "$foreground"))
            lines.append(clickable(line, command))
        return lines

    def _key_of_view(self, command: str) -> str:
        keys = (key for key, active in self.screen.active_bindings.items() if active.binding.id == command)
        return next(keys, "")

    async def on_click(self, event: events.Click) -> None:
        """Do what was clicked."""
        command = clicked(event)
        found = (active for active in self.screen.active_bindings.values() if active.binding.id == command)
        active = next((active for active in found if active.enabled), None)
        if command:
            event.stop()  # the pane around it has other targets
        if active is not None:
            await self.app.run_action(active.binding.action, active.node)

    def _without_outcomes(self, seen: str) -> str:
        """Remove the outcomes of the attempts from a sentence, because they are listed above it."""
        urls = [attempt.url for attempt in self._tried()]
        start, outcomes, _ = seen.partition(f" ({urls[0]}: ") if urls else (seen, "", "")
        return f"{start}." if outcomes else seen

    def _tried(self) -> list[_Attempt]:
        capture, exchanges = self._journal.capture, self._journal.exchanges
        bodies = {record.exchange: record.label for record in capture.select(kinds=(Kind.BODY,), after=self._first)}
        heads = {
            record.exchange: record.label
            for record in capture.select(kinds=(Kind.RESPONSE, Kind.TRAILERS), after=self._first)
        }
        attempts = []
        for record in capture.select(kinds=(Kind.REQUEST,), after=self._first):
            summary = exchanges.get(record.seq)
            if summary is None or summary.operation not in _OF_CARDS:
                continue
            head, body, running = heads.get(record.seq, ""), bodies.get(record.seq, ""), summary.seconds is None
            reason = body if body and body.partition(",")[0] != str(summary.status) else ""
            outcome = " ".join(filter(None, (head, reason))) or ("waiting" if running else "no response")
            seconds = time.time() - summary.at if summary.seconds is None else summary.seconds
            attempts.append(_Attempt(summary.url, outcome, seconds, running))
        return attempts

    def _attempts(self) -> list[Content]:
        """Return a line for each attempt: its URL, what was returned, and the time."""
        attempts = self._tried()
        widest = max((cell_len(attempt.url) for attempt in attempts), default=0)
        lines = []
        for attempt in attempts:
            took = duration(attempt.seconds)
            result = Content.assemble(
                plain(attempt.outcome).stylize("$wire-received" if attempt.running else "$text-soft"),
                (f"   {took}", "$wire-quiet"),
            )
            first = Content.assemble((f"{self._glyphs.sent} ", "$wire-sent"), plain(attempt.url))
            gap = " " * (widest - cell_len(attempt.url) + _GAP)
            if widest + _GAP + 2 + cell_len(result.plain) <= self.content_size.width:
                lines.append(Content.assemble(first, gap, result))
            else:
                lines += [first, Content.assemble("    ", result)]
        return [*lines, Content("")] if lines else []
