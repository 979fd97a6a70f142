"""The doctor dialog: the checks of an agent, their results and remedies."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from inspector.protocol.selection import Choice
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Report, Step
from inspector.tui.notify import copy
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import Paragraph, Paragraphs
from inspector.tui.render.times import relative
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.fact_view import FactView

_TABLE = 20
_GAP = Paragraph(("", "line--text"), "", "line--text")


class DoctorScreen(Dialog[Choice]):
    """Shows the checks while they run; returns the proposed interface if the user accepts it."""

    CSS_PATH = "doctor.tcss"
    FRAME = "doctor"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "reconnect", "use proposed", id="doctor.reconnect", tooltip="Use the proposed interface"),
        Binding("y", "copy", "copy", id="doctor.copy", tooltip="Copy the report"),
        Binding("escape,q", "leave", "close", id="doctor.close", tooltip="Close the doctor"),
    ]

    def __init__(self, doctor: Doctor, glyphs: Glyphs) -> None:
        super().__init__()
        self._doctor = doctor
        self._glyphs = glyphs
        self._done = False

    def body(self) -> ComposeResult:
        """Make the list of steps."""
        yield FactView(id="steps", empty="Checking ...")

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
        title = Content.assemble(("DOCTOR", "bold"), ("   ", ""), Content(report.reference), (f"   {state}", style))
        self.heading.update(title)
        self.query_one(FactView).show(Paragraphs(paragraphs(report, self._glyphs)))

    def action_reconnect(self) -> None:
        """Return the first interface that is proposed."""
        self.dismiss(self._proposed)

    @property
    def _proposed(self) -> Choice | None:
        proposals = self._doctor.report.proposals
        return proposals[0].choice if proposals else None

    def action_copy(self) -> None:
        """Copy the report as text."""
        lines = (f"{line.head[0]}{line.text}" for line in paragraphs(self._doctor.report, self._glyphs))
        copy(self, "\n".join(lines))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the key for the proposal if there is none."""
        if action == "reconnect":
            return self._proposed is not None or None
        return super().check_action(action, parameters)


def paragraphs(report: Report, glyphs: Glyphs) -> list[Paragraph]:
    """Return a report as paragraphs: the checks and remedies, the proposals, and a table of declared and observed."""
    width = max((len(step.name) for step in report.steps), default=0)
    lines = [paragraph for step in report.steps for paragraph in _step(step, width, glyphs)]
    for proposal in report.proposals:
        hint = f"{proposal.reason}. Press r to use it."
        lines += [_GAP, Paragraph((f"{glyphs.folded} ", "line--warning"), hint, "line--text")]
    if report.comparisons:
        lines += [_GAP, Paragraph((f"  {'':<{_TABLE}}", "line--soft"), "declared  /  observed", "line--soft")]
    for row in report.comparisons:
        mark, style = _mark(row.matches, glyphs)
        lines.append(
            Paragraph((f"{mark} {row.feature:<{_TABLE}}", style), f"{row.declared}  /  {row.observed}", "line--text")
        )
    return lines


def _step(step: Step, width: int, glyphs: Glyphs) -> list[Paragraph]:
    mark, style = _mark(step.passed, glyphs)
    took = relative(step.seconds) if step.seconds else ""
    lines = [Paragraph((f"{mark} {step.name:<{width}} {took:>6}  ", style), step.message, "line--text")]
    if step.remedy:
        lines.append(Paragraph((" " * (width + 11), "line--soft"), step.remedy, "line--warning"))
    return lines


def _mark(good: bool | None, glyphs: Glyphs) -> tuple[str, str]:
    if good is None:
        return glyphs.quiet, "line--quiet"
    return (glyphs.check, "line--good") if good else (glyphs.cross, "line--bad")
