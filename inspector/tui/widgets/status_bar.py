"""The first line of the screen: the agent, its interface, and the state of the session."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector import PROGRAM
from inspector.findings.finding import Severity
from inspector.lazy_dataclass import dataclass
from inspector.text.sanitise import clean_line
from inspector.text.units import counted
from inspector.tui.render.glyphs import SEVERITY_COLOURS, Glyphs
from inspector.tui.render.times import clock
from inspector.tui.render.token_expiry import short_expiry
from inspector.tui.views.registry import VIEWS
from inspector.tui.widgets.view_tabs import ViewTabs, clickable, clicked

if TYPE_CHECKING:  # the bar is painted before the session is loaded
    from inspector.session.session import Session

_LONGEST_NAME = 40
_SHORTEST_NAME = 8
_SHORTEST_PART = 2
_GAP = 3
_INTERFACE = "interface"
_CLOSE = "close"
_CREDENTIALS = "credentials"
CREDENTIALS_NEEDED = "credentials needed"
_REJECTED = "credentials rejected"
"""The state of an agent that refused the last request for lack of credentials."""


class TabName(NamedTuple):
    """The name of an agent or a capture, and what is shown if another has the same name.

    `place` is the name of the agent in `agents.toml`, or else its host and port.
    """

    name: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The content of the line; texts may come from the agent."""

    agent: str = ""
    interface: str = ""
    light: str = "off"
    doing: str = "not connected"
    push: str = ""
    """The address of the receiver, while push is on."""
    read_only: bool = False
    records: int = 0
    findings: int = 0
    worst: Severity | None = None
    failure: str = ""
    login: tuple[str, str] = ("", "")
    """The state of the login in use, and its colour."""
    denied: bool = False
    """Whether the agent refused the last request for lack of credentials."""

    @classmethod
    def of(cls, session: Session, light: str, doing: str, reference: str) -> Status:
        """Return the status of a session; `reference` is shown while there is no agent."""
        journal, push, connection = session.journal, session.push, session.connection
        choice = connection.choice if connection else None
        light, doing = _true_state(session, light, doing)
        address = push.receiver.authority if push.listening else ""
        token = session.credentials.token
        return cls(
            agent=connection.name if connection else reference,
            interface=f"A2A {choice.dialect.version} · {choice.binding.name}" if choice else "",
            light=light,
            doing=doing,
            push=f"webhook {address}" if push.on else "",
            read_only=session.settings.read_only,
            records=len(journal.capture),
            findings=sum(map(len, journal.found.values())),
            worst=journal.worst,
            failure=journal.capture.failure or "",
            login=short_expiry(token, time.time()) if token is not None else ("", ""),
            denied=doing in (CREDENTIALS_NEEDED, _REJECTED),
        )


def _true_state(session: Session, light: str, doing: str) -> tuple[str, str]:
    """Return the state that the last exchange with the agent showed, if it is worse than the state of the session."""
    if session.recorded or light == "busy":
        return light, doing
    card = session.connection.url if session.connection else ""
    host = session.journal.exchanges.host_state(session.agent_url, card)
    state = host.state.value if host is not None else ""
    if host is not None and state == "unreachable":
        return "bad", f"{state} since {clock(host.since)}"
    if state == CREDENTIALS_NEEDED:
        return "bad", _REJECTED if _had_credentials(session) else state
    return light, doing


def _had_credentials(session: Session) -> bool:
    """Return whether the last denied request had the headers with credentials that are sent now."""
    denied = session.journal.exchanges.last_denied(session.agent_url)
    names = {name.lower() for name in session.credentials.current.headers_for(session.agent_url)}
    if denied is None or not names:
        return False
    headers = session.journal.capture.get(denied.number).meta["headers"]
    return not names.isdisjoint(name.lower() for name, _ in headers)


class StatusBar(Static):
    """Draws a `Status`; parts in the middle that do not fit are left out, but never the agent and the state."""

    def __init__(self, glyphs: Glyphs, status: Status) -> None:
        super().__init__("")
        self._glyphs = glyphs
        self._status = status
        self._tabs: tuple[TabName, ...] = ()
        self._current = 0

    @property
    def denied(self) -> bool:
        """Whether the agent refused the last request for lack of credentials."""
        return self._status.denied

    def show(self, status: Status) -> None:
        """Draw a status, if it has changed."""
        if status != self._status:
            self._status = status
            self.update(self._content(), layout=False)

    def show_tabs(self, names: Sequence[TabName], current: int) -> None:
        """Show the names of all agents and captures if there are several; `current` is that of this session."""
        self._tabs, self._current = tuple(_told_apart(names)), current
        self.update(self._content(), layout=False)

    class InterfaceClicked(Message):
        """The interface was clicked."""

    class CredentialsClicked(Message):
        """The state of the login was clicked, or that the agent needs credentials."""

    @dataclass
    class TabClicked(Message):
        """The name of another agent was clicked: how many tabs it is after the current tab."""

        step: int

    class CloseClicked(Message):
        """The mark was clicked that closes the current tab."""

    def on_click(self, event: events.Click) -> None:
        """Request the menu of interfaces, another agent, or a view."""
        target = clicked(event)
        if target == _INTERFACE:
            self.post_message(self.InterfaceClicked())
        elif target == _CLOSE:
            self.post_message(self.CloseClicked())
        elif target == _CREDENTIALS:
            self.post_message(self.CredentialsClicked())
        elif any(target == view.id for view in VIEWS):
            self.post_message(ViewTabs.Chosen(target))
        elif target:
            self.post_message(self.TabClicked(int(target) - self._current))

    def on_resize(self) -> None:
        """Fit the line to the new width."""
        self.update(self._content())

    def _content(self) -> Content:
        status, width = self._status, self.size.width
        light = {"good": "$state-good", "busy": "$wire-received", "bad": "$state-bad"}.get(status.light, "$wire-quiet")
        doing = Content.styled(f"{self._glyphs.light} {status.doing}", light)
        right = [clickable(doing, _CREDENTIALS) if status.denied else doing]
        program = Content.styled(PROGRAM, "$text-soft")
        optional = self._optional()
        names = self._names(max(width // 2, width - _width([self._interface(0), *right, optional[1][0]]) - _GAP))
        interface = self._interface(width - _width([names, *right, *(forms[-1] for forms in optional[:3])]) - _GAP)
        left = [names, interface]
        for forms in optional:
            right += [form for form in forms if _width([*left, *right, form]) <= width][:1]
        if _width([program, *left, *right]) <= width:
            left = [program, *left]
        elif _width([*left, *right]) > width:
            left = [names]
        gap = width - _width([*left, *right]) + _GAP
        return Content.assemble(_join(left), " " * max(2, gap), _join(right))

    def _interface(self, room: int) -> Content:
        """Return the protocol version and the binding in use, without the binding if there is no room for both."""
        text = self._status.interface
        if cell_len(text) + 2 > room:
            text = text.partition(" · ")[0]
        return clickable(Content.styled(f"{text} {self._glyphs.open}" if text else "", "$text-soft"), _INTERFACE)

    def _names(self, room: int) -> Content:
        """Return the name of the agent, or the names of all agents with the current one in a block."""
        if len(self._tabs) < 2:
            longest = min(_LONGEST_NAME, max(_SHORTEST_NAME, room))
            return Content.styled(clean_line(self._status.agent, longest), "bold $foreground")
        close = clickable(Content.styled(f"{self._glyphs.cross} ", "bold $background on $bar"), _CLOSE)
        longest = max(_SHORTEST_NAME, (room - close.cell_length) // len(self._tabs) - 2)  # a space on each side
        names = []
        for index, tab in enumerate(self._tabs):
            style = "bold $background on $bar" if index == self._current else "$text-soft"
            name = clickable(Content.styled(f" {_fitted(tab, longest)} ", style), str(index))
            names.append(Content.assemble(name, close) if index == self._current else name)
        if sum(cell_len(name.plain) for name in names) > room:
            position = f" {self._current + 1} of {len(names)}"
            return Content.assemble(names[self._current], clickable(Content(position), str(self._current + 1)))
        return Content("").join(names)

    def _optional(self) -> list[tuple[Content, ...]]:
        """Return the parts that a narrow line leaves out, each in its forms: login, findings, receiver, records.

        A click on a part goes to the view about it.
        """
        status = self._status
        records = counted(status.records, "record")
        return [
            _chip(_CREDENTIALS, status.login[1], status.login[0]),
            self._findings(),
            self._receiver(),
            _chip("traffic", "$state-bad" if status.failure else "$wire-quiet", records),
        ]

    def _findings(self) -> tuple[Content, ...]:
        status, worst = self._status, self._status.worst
        if worst is not None:
            found = f"{self._glyphs.severities[worst]} {counted(status.findings, 'finding')}"
            return _chip("findings", f"${SEVERITY_COLOURS[worst]}", found)
        if status.light == "good":
            return _chip("findings", "$state-good", f"{self._glyphs.check} no findings")
        return _chip("findings", "$wire-quiet", "no findings")

    def _receiver(self) -> tuple[Content, ...]:
        if self._status.push:
            forms = (f"{self._glyphs.pushed} {text}" for text in (self._status.push, "webhook on"))
            return _chip("webhooks", "$wire-pushed", *forms)
        if self._status.read_only:
            return (Content.styled("read-only", "$state-warning"),)
        return _chip("webhooks", "$wire-quiet", "webhook off")


def _chip(target: str, style: str, *forms: str) -> tuple[Content, ...]:
    """Return the forms of a text that can be clicked, the longest first."""
    return tuple(clickable(Content.styled(form, style), target) for form in forms)


def _told_apart(tabs: Sequence[TabName]) -> Iterator[TabName]:
    """Return the tabs with their place only if another tab has the same name; tabs of one agent are numbered."""
    places = Counter(tab.name for tab in set(tabs))
    counts, numbers = Counter(tabs), Counter[TabName]()
    for tab in tabs:
        place = tab.place if places[tab.name] > 1 and tab.place != tab.name else ""
        numbers[tab] += 1
        number = f"#{numbers[tab]}" if counts[tab] > 1 else ""
        yield TabName(tab.name, f"{place} {number}".strip())


def _fitted(tab: TabName, longest: int) -> str:
    """Return the text of a tab: its name is cut before its place, and a host that is cut keeps its port."""
    room = longest - len(tab.place) - 1
    if not tab.place:
        return clean_line(tab.name, longest)
    if room >= _SHORTEST_PART:
        return f"{clean_line(tab.name, room)} {clean_line(tab.place, len(tab.place))}"
    return (
        clean_line(tab.place, longest)
        if len(tab.place) <= longest
        else f"…{clean_line(tab.place[1 - longest :], longest)}"
    )


def _join(pieces: list[Content]) -> Content:
    return Content(" " * _GAP).join(piece for piece in pieces if piece.plain)


def _width(pieces: list[Content]) -> int:
    """Return the width of pieces with the gaps between them."""
    return sum(cell_len(piece.plain) + _GAP for piece in pieces if piece.plain) - _GAP
