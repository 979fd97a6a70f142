"""The doctor dialog: the checks of an agent, their results and remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType

from inspector.protocol.errors import FaultKind
from inspector.protocol.selection import Choice
from inspector.session.doctor.doctor import CARD_CONTENT, Doctor
from inspector.session.doctor.steps import (
    NEEDS_MESSAGE,
    NOT_CHECKED,
    Comparison,
    Report,
    Step,
)
from inspector.text.units import duration
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import copy
from inspector.tui.render.content import styled
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import BLANK, Paragraph, Paragraphs, as_text
from inspector.tui.screens.dialog import FITTED, Dialog
from inspector.tui.views.registry import key_of_view
from inspector.tui.widgets.fact_view import FactView

_DECLARED = 30
"""The most cells for what the card declares, beside what was observed."""
_NOT_HERE = f"{NOT_CHECKED} here: after a message, the Agent view shows it"


class DoctorScreen(Dialog[Choice]):
    """Shows the checks while they run; returns the proposed interface if the user accepts it."""

    FRAME = "doctor"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("refresh", "reconnect", "use proposed", "Use the proposed interface"),
        bind("copy", "copy", "", "Copy the report"),
        bind("back", "leave", "close", "Close the doctor"),
        bind("quit", "leave", "close", "Close the doctor", show=False),
    ]

    def __init__(self, doctor: Doctor, glyphs: Glyphs) -> None:
        super().__init__()
        self._doctor = doctor
        self._glyphs = glyphs
        self._done = False
        self._lines: list[Paragraph] = []

    def body(self) -> ComposeResult:
        """Make the list of steps."""
        yield FactView(id="steps", classes=FITTED, empty="Checking ...")

    def on_mount(self) -> None:
        """Start the checks."""
        self.query_one(FactView).focus()
        self._show()
        self._examine()

    @work(group="doctor", exclusive=True)
    async def _examine(self) -> None:
        async for _ in self._doctor.examine():
            self._show()
        self._done = True
        self._show()
        self.refresh_bindings()

    def _show(self) -> None:
        report = self._doctor.report
        state = "checking" if not self._done else "passed" if report.passed else "failed"
        style = "$text-soft" if not self._done else "$state-good" if report.passed else "$state-bad"
        self.frame.border_title = styled(
            [("Doctor ", ""), (f" {state} ", f"reverse {style}"), (" ", ""), (report.reference, "")]
        )
        self._lines = paragraphs(report, self._glyphs, done=self._done)
        self.query_one(FactView).show(Paragraphs(self._lines))

    def action_reconnect(self) -> None:
        """Return the first interface that is proposed."""
        self.dismiss(self._proposed)

    @property
    def _proposed(self) -> Choice | None:
        proposals = self._doctor.report.proposals
        return proposals[0].choice if proposals else None

    def action_copy(self) -> None:
        """Copy the report as text."""
        copy(self, as_text(self._lines))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key for the proposal if there is none."""
        if action == "reconnect":
            return self._proposed is not None
        return super().check_action(action, parameters)


def paragraphs(report: Report, glyphs: Glyphs, *, done: bool) -> list[Paragraph]:
    """Return a report as paragraphs: the verdict, the checks with remedies, proposals, and declared and observed."""
    rows = _rows(report.steps)
    width = max((len(row.name) for row in rows), default=0)
    lines = [_verdict(rows, glyphs, done=done), BLANK]
    lines += [paragraph for row in rows for paragraph in _row(row, width, glyphs)]
    for number, proposal in enumerate(report.proposals):
        key = f"{key_of('back')}, then {key_of('interface')}," if number else key_of("refresh")
        hint = f"{proposal.reason}. Press {key} to use it."
        lines += [BLANK, Paragraph((f"{glyphs.folded} ", "line--warning"), hint, "line--text")]
    if report.comparisons:
        lines += [BLANK, *_comparison(report.comparisons, glyphs)]
    return lines


def _verdict(rows: list[Step], glyphs: Glyphs, *, done: bool) -> Paragraph:
    """Return how many checks failed, and which."""
    failed = [row.name for row in rows if row.passed is False]
    if failed:
        text = f"{len(failed)} of {len(rows)} checks failed: {', '.join(failed)}"
        return Paragraph((f"{glyphs.cross} ", "line--bad"), text, "line--bad")
    if not done:
        return Paragraph((f"{glyphs.poll} ", "line--soft"), "Checking ...", "line--soft")
    unknown = sum(row.passed is None for row in rows)
    text = f"{len(rows) - unknown} checks passed" + (f", {unknown} without a result" if unknown else "")
    return Paragraph((f"{glyphs.check} ", "line--good"), text, "line--good")


def _rows(steps: Sequence[Step]) -> list[Step]:
    """Return the steps, those about the same interface as one; if there is a card, without the other URLs."""
    rows: list[Step] = []
    found = any(step.passed for step in steps if step.card_path)
    shown = [_card(step) for step in steps if step.passed or not found or not step.card_path]
    for interface, group in groupby(shown, lambda step: step.interface):
        together = list(group)
        rows += [_interface(interface, together)] if interface else together
    return rows


def _card(step: Step) -> Step:
    """Return a step about a URL of the card with the short name `card`."""
    return replace(step, name="card", message=f"{step.card_path}: {step.message}") if step.card_path else step


def _interface(name: str, steps: Sequence[Step]) -> Step:
    """Combine the steps about an interface: its protocol, its URL, and what failed."""
    results = [step.passed for step in steps]
    passed = False if False in results else None if None in results else True
    decisive = [step for step in steps if step.passed is passed]
    protocol, url = next((step.protocol for step in decisive if step.protocol), ""), steps[0].url
    what = f"{protocol}  {url}" if protocol else url
    # If all checks passed, a step with a remedy has a note.
    why = next((step for step in decisive if not passed or step.remedy), None)
    reason = f": {why.message.removeprefix(f'{url}: ')}" if why else ""
    first = next((step for step in decisive if step.remedy), decisive[0])
    fault = next((step.fault for step in decisive if step.denied), None)
    took = sum(step.seconds for step in steps)
    return Step(name, passed, f"{what}{reason}", took, first.remedy, fault=fault, only_options=first.only_options)


def _row(row: Step, width: int, glyphs: Glyphs) -> list[Paragraph]:
    mark, style = _mark(row.passed, glyphs)
    took = duration(row.seconds) if row.seconds else ""
    lines = [Paragraph((f"{mark} {row.name:<{width}} {took:>6}  ", style), row.message, "line--text")]
    remedy = f"Press {key_of_view('findings')} in the main screen to see all findings." if row.remedy else ""
    if row.name != CARD_CONTENT:
        remedy = _remedy(row)
    if remedy:
        lines.append(Paragraph((" " * (width + 11), "line--soft"), remedy, "line--warning"))
    return lines


def _remedy(row: Step) -> str:
    """Return the remedy of a step; if credentials are missing, with the keys to get them instead of the options."""
    if not row.remedy or not row.denied or row.fault_kind is FaultKind.CLIENT_CERTIFICATE:
        return row.remedy
    keys = f"Press {key_of('back')}, then {key_of('credentials')}, to log in or to enter a secret."
    return keys if row.only_options else f"{row.remedy} {keys}"


def _comparison(rows: Sequence[Comparison], glyphs: Glyphs) -> list[Paragraph]:
    """Return a table of what the card declares and what was observed; a long declaration has a line of its own."""
    width = max(len(row.feature) for row in rows) + 2
    declared = max([len("DECLARED"), *(len(row.declared) for row in rows if len(row.declared) <= _DECLARED)]) + 2
    heading = f"{'DECLARED':<{declared}}OBSERVED"
    lines = [Paragraph((f"  {'FEATURE':<{width}}", "line--soft"), heading, "line--soft")]
    for row in rows:
        mark, style = _mark(row.matches, glyphs)
        observed = _NOT_HERE if row.observed == NEEDS_MESSAGE else row.observed
        texts = [f"{row.declared:<{declared}}{observed}"]
        if len(row.declared) > _DECLARED:
            texts = [row.declared, f"{'':<{declared}}{observed}"]
        heads = [f"{mark} {row.feature:<{width}}", f"{'':<{width + 2}}"]
        lines += [Paragraph((head, style), text, "line--text") for head, text in zip(heads, texts, strict=False)]
    return lines


def _mark(good: bool | None, glyphs: Glyphs) -> tuple[str, str]:
    if good is None:
        return glyphs.quiet, "line--quiet"
    return (glyphs.check, "line--good") if good else (glyphs.cross, "line--bad")
