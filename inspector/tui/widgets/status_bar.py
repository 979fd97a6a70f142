"""The first line of the screen: the agent, its interface, and the state of the session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.findings.finding import Severity
from inspector.text.sanitise import clean_line
from inspector.tui.render.glyphs import Glyphs

if TYPE_CHECKING:  # the bar is painted before the session is loaded
    from inspector.session.session import Session

_LONGEST_NAME = 40
_ROOMY = 110
"""The cells that are needed to show the address of the receiver."""


@dataclass(frozen=True, slots=True)
class Status:
    """The content of the line; texts may come from the agent."""

    agent: str = ""
    interface: str = ""
    light: str = "off"
    doing: str = "not connected"
    push: str = ""
    """The address of the receiver, while push is on."""
    records: int = 0
    findings: int = 0
    failure: str = ""

    @classmethod
    def of(cls, session: Session, light: str, doing: str, reference: str) -> Status:
        """Return the status of a session; `reference` is shown while there is no agent."""
        journal, push, connection = session.journal, session.push, session.connection
        choice = connection.choice if connection else None
        address = ":".join(map(str, push.receiver.address)) if push.listening else ""
        return cls(
            agent=connection.card.name if connection else reference,
            interface=f"A2A {choice.dialect.version} · {choice.binding.name}" if choice else "",
            light=light,
            doing=doing,
            push=f"webhook {address}" if push.on else "",
            records=len(journal.capture),
            findings=sum(map(len, journal.found.values())),
            failure=journal.capture.failure or "",
        )


class StatusBar(Static):
    """Draws a `Status`; parts in the middle that do not fit are left out, but never the agent and the state."""

    def __init__(self, glyphs: Glyphs, status: Status) -> None:
        super().__init__("")
        self._glyphs = glyphs
        self._status = status

    def show(self, status: Status) -> None:
        """Draw a status, if it has changed."""
        if status != self._status:
            self._status = status
            self.update(self._content(), layout=False)

    class InterfaceClicked(Message):
        """The left half, with the interface, was clicked."""

    def on_click(self, event: events.Click) -> None:
        """Request the menu of interfaces."""
        if event.x < self.size.width // 2 and self._status.interface:
            self.post_message(self.InterfaceClicked())

    def on_resize(self) -> None:
        """Fit the line to the new width."""
        self.update(self._content())

    def _content(self) -> Content:
        status, width = self._status, self.size.width - 2
        name = clean_line(status.agent, _LONGEST_NAME)
        interface = f"{status.interface} {self._glyphs.open}" if status.interface else ""
        left = [("a2a-inspect", "$text-soft"), (name, "bold $foreground"), (interface, "$text-soft")]
        light = {"good": "$state-good", "busy": "$wire-received", "bad": "$state-bad"}.get(status.light, "$wire-quiet")
        right = [(f"{self._glyphs.light} {status.doing}", light)]
        found = f"{status.findings:,} finding{'' if status.findings == 1 else 's'}"
        warning = self._glyphs.severities[Severity.WARNING]
        findings = (
            (f"{warning} {found}", "$state-warning")
            if status.findings
            else (f"{self._glyphs.check} no findings", "$state-good")
        )
        push = status.push if width > _ROOMY or not status.push else "webhook on"
        optional = [
            findings,
            (f"{self._glyphs.pushed} {push}" if push else "webhook off", "$wire-pushed" if push else "$wire-quiet"),
            (
                f"{status.records:,} record{'' if status.records == 1 else 's'}",
                "$state-bad" if status.failure else "$wire-quiet",
            ),
        ]
        for extra in optional:
            if _width([*left, *right, extra]) <= width:
                right.append(extra)
        if _width([*left, *right]) > width:
            left = left[1:]
        gap = width - _width([*left, *right]) + 3
        return Content.assemble(_join(left), " " * max(2, gap), _join(right))


def _join(pieces: list[tuple[str, str]]) -> Content:
    return Content("   ").join([Content.styled(text, style) for text, style in pieces if text])


def _width(pieces: list[tuple[str, str]]) -> int:
    return sum(cell_len(text) + 3 for text, _ in pieces if text)
