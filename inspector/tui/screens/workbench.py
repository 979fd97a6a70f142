"""The workbench: the status, the six places, and the footer; it drives the session for whatever is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import AwaitMount
from textual.widgets import ContentSwitcher

from inspector.tui import lazy_loading
from inspector.tui.refresh_throttle import Pacer
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.views.agent import AgentPlace
from inspector.tui.views.base import CallWanted, Place
from inspector.tui.widgets.card_view import CardView
from inspector.tui.widgets.footer import KeyLine
from inspector.tui.widgets.status_bar import Status, StatusBar
from inspector.tui.widgets.view_tabs import PLACES, PlaceTabs

if TYPE_CHECKING:
    from inspector.protocol.errors import Fault
    from inspector.protocol.selection import Choice
    from inspector.session.connection import Connection
    from inspector.session.replay.recording import Recording
    from inspector.session.session import Session
    from inspector.tui.card_actions import CardDesk
    from inspector.tui.send_actions import Sender
    from inspector.tui.tour_guide import Guide
    from inspector.tui.views.chat import Talk
    from inspector.tui.views.findings import FindingsPlace
    from inspector.tui.views.tasks import TasksPlace
    from inspector.tui.views.traffic import TrafficPlace
    from inspector.tui.widgets.composer import Composer
    from inspector.tui.widgets.tour_strip import TourStrip


_TURNS = 4
"""How many turns others get after a slice of a recording: a key goes through several tasks until it is drawn."""
_OF_AGENTS = frozenset({"push", "doctor", "again", "interfaces"})
"""What a recording, which has no agent, cannot do."""


def _nothing() -> None:
    pass


class WorkbenchScreen(Screen[None]):
    """One session on the screen."""

    CSS_PATH = "workbench.tcss"
    ALLOW_IN_MAXIMIZED_VIEW = "StatusBar, KeyLine"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(
                f"{number},alt+{number}",
                f"go('{place}')",
                name,
                id=f"place.{place}",
                tooltip=f"Go to {name}",
                show=False,
            )
            for number, (place, name) in enumerate(PLACES, 1)
        ),
        Binding("p", "push", "push", id="push.toggle", tooltip="Register a webhook with every message, or stop to"),
        Binding("y", "copy", "copy", id="copy", tooltip="Copy what is selected"),
        Binding("backslash", "unzoom", "all of it", id="unzoom", tooltip="All of the screen again"),
        Binding("backslash", "zoom", "zoom", id="zoom", tooltip="The focused pane alone, and back", show=False),
        Binding("m", "interfaces", "interface", id="interfaces", tooltip="Choose interface and generation", show=False),
        Binding("x", "lens", "lens", id="lens", tooltip="The selected record in another generation", show=False),
        Binding("e", "again", "again", id="again", tooltip="Send the selected message again, elsewhere", show=False),
        Binding("d", "doctor", "doctor", id="doctor", tooltip="Which protocol does this agent really speak?"),
        Binding("f2", "tour", "tour", id="tour", tooltip="The guided tour: begin it, or give it the keys", show=False),
        Binding("question_mark", "app.help", "help", id="help.short", tooltip="What the keys do here"),
        Binding("q", "app.quit", "quit", id="quit.short", tooltip="Leave the inspector", show=False),
    ]

    place: reactive[str] = reactive("agent")

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self._glyphs = glyphs
        self.session: Session | None = None
        self.sender: Sender | None = None
        self.cards: CardDesk | None = None
        self._status_bar = StatusBar(glyphs)
        self._pacer = Pacer(self._status_bar, self.refresh_view)
        self._doing = ("busy", "starting")
        self._others: AwaitMount | None = None
        self._reference = ""
        self._wanted = ""
        self._guide: Guide | None = None
        self._unsubscribe: Callable[[], None] = _nothing
        self._has_tour = False

    def compose(self) -> ComposeResult:
        """Make the frame and the first place."""
        glyphs = self._glyphs
        yield self._status_bar
        yield PlaceTabs()
        with ContentSwitcher(initial="agent", id="places"):
            yield AgentPlace(glyphs)
        yield KeyLine()

    async def complete(self) -> None:
        """Make the places that are not seen at first, which takes too long to be done before the first paint."""
        if self._others is None:
            places = [place(self._glyphs) for place in await asyncio.to_thread(lazy_loading.load_places)]
            for place in places:
                place.display = False
            # Textual styles every widget there is anew when a screen brings a file of its own: a fifth of a second.
            self.app.stylesheet.read_all(sorted(Path(__file__).parent.glob("*.tcss")))
            self._others = self.query_one("#places", ContentSwitcher).mount_all(places)
            await self.query_one(AgentPlace).complete()
            self._keep_moving()
        await self._others
        if self._wanted:
            self.place = self._wanted

    @property
    def talk(self) -> Talk:
        """The place Talk, which is there once the workbench is complete."""
        from inspector.tui.views.chat import Talk  # noqa: PLC0415 - loaded by then, behind the first paint

        return self.query_one(Talk)

    @property
    def _composer(self) -> Composer:
        from inspector.tui.widgets.composer import Composer  # noqa: PLC0415 - loaded by then, behind the first paint

        return self.query_one(Composer)

    @property
    def _traffic(self) -> TrafficPlace:
        from inspector.tui.views.traffic import TrafficPlace  # noqa: PLC0415 - loaded by then, behind the first paint

        return self.query_one(TrafficPlace)

    # What the app tells

    def _keep_moving(self) -> None:
        """Keep the sign of a running task moving, while there is one."""
        from inspector.tui.widgets.timeline_pane import PHASE  # noqa: PLC0415 - loaded by then, behind the first paint

        self.set_interval(PHASE, self._tick)

    def _tick(self) -> None:
        if self.session is None or self.place != "talk" or not self.session.journal.exchanges.open:
            return
        if self._pacer.idle:  # else it is shown with the rest, and to draw it alone would cost nearly as much
            self.talk.show_title()

    def attach(self, session: Session, reference: str) -> None:
        """Show another session, which is about to look for an agent."""
        self._end_tour()
        self._has_tour = False
        if self.session is not None:
            self._unsubscribe()
        from inspector.tui.card_actions import CardDesk  # noqa: PLC0415 - likewise
        from inspector.tui.send_actions import Sender  # noqa: PLC0415 - loaded with the session, after first paint

        if self.sender is not None:
            self.sender.stop()
        self.session = session
        self.sender = Sender(self, session)
        self.cards = CardDesk(self, session)
        self._reference = reference
        self._unsubscribe = session.journal.subscribe(lambda _: self._pacer.poke())
        for place in self.query(Place):
            place.attach(session)
        self._doing = ("busy", "connecting")
        self.query_one(AgentPlace).show_connecting(reference)
        self.refresh_view()

    def show_recording(self, recording: Recording) -> None:
        """Show what a capture holds, beginning while it is read."""
        self.attach(recording, recording.journal.capture.path.name)
        self._doing = ("off", "recording")
        self.query_one(AgentPlace).show_recording()
        self.place = "talk"
        self.talk.action_back()
        self._read(recording)

    @work(group="turns")
    async def _read(self, recording: Recording) -> None:
        """Read a capture slice by slice, with everything else between two slices."""
        from inspector.capture.private_files import CaptureError  # noqa: PLC0415 - loaded with the session, after first paint

        try:
            for _ in recording.read():
                self._doing = ("busy", f"recording, {recording.part_read:.0%} read")
                for _ in range(_TURNS):
                    await asyncio.sleep(0)
            self._doing = ("off", "recording")
        except CaptureError as error:
            self._doing = ("bad", f"recording, {recording.part_read:.0%} read")
            self.app.notify(plain(str(error)).plain, severity="error", markup=False)
        tasks = recording.tasks.all()
        if tasks:
            self.talk.follow_task(tasks[0].id)
        self.refresh_view()

    def show_connection(self, connection: Connection) -> None:
        """Show the agent that was found."""
        self._doing = ("good", "connected") if connection.choice else ("bad", "no interface")
        self.query_one(AgentPlace).show_connection(connection)
        if connection.card.signatures and self.cards is not None:
            self.cards.verify(connection, fetch=False)
        streams = connection.card.capabilities.streaming is not False
        self._composer.stream = streams
        if self.sender is not None:
            self.run_worker(self.sender.take_up(), group="draft left")
        self.refresh_view()

    def on_agent_place_verify_wanted(self) -> None:
        """Verify the signatures of the card with the keys that they name."""
        if self.cards is not None and self.session is not None and self.session.connection is not None:
            self.cards.verify(self.session.connection, fetch=True)

    def on_agent_place_refresh_wanted(self, event: AgentPlace.RefreshWanted) -> None:
        """Fetch the card of the agent that is connected again; where there is none, others look for it anew."""
        if self.cards is not None and self.session is not None and self.session.connection is not None:
            event.stop()
            self.cards.refresh()

    def show_fault(self, fault: Fault) -> None:
        """Show why there is no agent."""
        self._doing = ("bad", "no agent")
        self.query_one(AgentPlace).show_fault(fault)
        self.refresh_view()

    # What is seen

    def refresh_view(self) -> None:
        """Bring the place that is seen and the status up to date."""
        if not self.is_mounted:
            return
        self.query_one(f"#{self.place}", Place).refresh_view()
        self._show_status()
        if self._guide is not None:
            self._guide.look()

    def _show_status(self) -> None:
        session = self.session
        light, doing = self._doing
        if session is None:
            self.query_one(StatusBar).show(Status(light=light, doing=doing))
            return
        journal, push, connection = session.journal, session.push, session.connection
        choice = connection.choice if connection else None
        address = ":".join(map(str, push.receiver.address)) if push.listening else ""
        self.query_one(StatusBar).show(
            Status(
                agent=connection.card.name if connection else self._reference if session.recorded else "",
                interface=f"{choice.dialect.generation} · {choice.binding.name}" if choice else "",
                light=light,
                doing=doing,
                push=f"push {address} {self._glyphs.check}" if push.on else "",
                records=len(journal.capture),
                findings=sum(map(len, journal.found.values())),
                failure=journal.capture.failure or "",
            )
        )

    def validate_place(self, place: str) -> str:
        """Stay where we are while a place is not there yet, and go to it once it is."""
        there = bool(self.query(f"#{place}"))
        self._wanted = "" if there else place
        return place if there else self.place

    def watch_place(self, place: str) -> None:
        """Show another place and give it the keys."""
        if not self.is_mounted:
            return
        self.query_one(PlaceTabs).current = place
        self.query_one("#places", ContentSwitcher).current = place
        shown = self.query_one(f"#{place}", Place)
        shown.refresh_view()
        shown.focus_first()

    # What the user wants

    def action_go(self, place: str) -> None:
        """Go to a place."""
        self.place = place

    def on_place_tabs_chosen(self, event: PlaceTabs.Chosen) -> None:
        """Go to the place that was clicked."""
        self.place = event.place

    def action_copy(self) -> None:
        """Copy what is selected in the place that is seen."""
        selected = self.screen.get_selected_text()
        self.app.copy(selected or self.query_one(f"#{self.place}", Place).selected_text())  # type: ignore[attr-defined]

    def action_interfaces(self) -> None:
        """Choose the interface and the generation to talk to."""
        if self.session is None or self.session.connection is None:
            return
        from inspector.tui.screens.interfaces import InterfacesScreen  # noqa: PLC0415 - opened rarely

        self.app.push_screen(InterfacesScreen(self.session.connection, "TALK TO"), self.use)

    def on_status_bar_interface_clicked(self) -> None:
        """Open the menu under the interface's name."""
        self.action_interfaces()

    def action_lens(self) -> None:
        """Show the selected record as it would stand in other generations."""
        record = self.query_one(f"#{self.place}", Place).selected_record()
        if self.session is None or record is None:
            return
        from inspector.session.replay.translate import translations  # noqa: PLC0415 - loaded with the session, after first paint
        from inspector.tui.screens.translate import LensScreen  # noqa: PLC0415 - opened rarely

        seen = translations(record, self.session.request_of(record))
        if seen:
            self.app.push_screen(LensScreen(seen))
        else:
            self.app.notify("This record carries nothing that another generation would spell.", markup=False)

    def action_again(self) -> None:
        """Send the message of the selected record again, over an interface and in a generation to be chosen."""
        record = self.query_one(f"#{self.place}", Place).selected_record()
        if self.session is None or self.session.connection is None:
            return
        if record is None or not record.exchange:
            self.app.notify("Select a message that was sent, or its answer.", markup=False)
            return
        from inspector.tui.screens.interfaces import InterfacesScreen  # noqa: PLC0415 - opened rarely

        exchange = record.exchange
        menu = InterfacesScreen(self.session.connection, "SEND AGAIN TO")
        sender = self.sender
        if sender is not None:
            self.app.push_screen(menu, lambda choice: sender.again(exchange, choice))

    def action_doctor(self) -> None:
        """Examine the agent that is connected, or the one that could not be."""
        if self.session is None:
            return
        from inspector.session.doctor.doctor import Doctor  # noqa: PLC0415 - loaded with the session, after first paint
        from inspector.tui.screens.doctor import DoctorScreen  # noqa: PLC0415 - opened rarely

        self.app.push_screen(DoctorScreen(Doctor(self.session, self._reference), self._glyphs), self.use)

    def use(self, choice: Choice | None) -> None:
        """Talk to the interface that was chosen, if one was."""
        if choice is None or self.session is None:
            return
        self.session.use(choice)
        connection = self.session.connection
        if connection is not None:
            self.show_connection(connection)

    def give_way(self) -> None:
        """Leave the loop to what a key does for a moment."""
        self._pacer.give_way()
        if self.session is not None:
            self.session.push.yield_to_input()

    def action_zoom(self) -> None:
        """Give the whole screen to the focused pane."""
        if self.focused is not None:
            self.maximize(self.focused)
        self.refresh_bindings()

    def action_unzoom(self) -> None:
        """Give it back."""
        self.minimize()
        self.refresh_bindings()

    @work(group="push", exclusive=True)
    async def action_push(self) -> None:
        """Turn push on, starting the receiver, or off."""
        if self.session is None:
            return
        from inspector.protocol.errors import FaultError  # noqa: PLC0415 - loaded with the session, after first paint
        from inspector.tui.task_calls import switch_push  # noqa: PLC0415 - likewise

        try:
            await switch_push(self.session)
        except FaultError as error:
            self.app.tell(error.fault)  # type: ignore[attr-defined]

    def on_card_view_tried(self, event: CardView.Tried) -> None:
        """Write an example into the composer."""
        self.place = "talk"
        self._composer.fill(event.example)

    def on_composer_sent(self, event: Composer.Sent) -> None:
        """Send what was written."""
        if self.sender is not None and self.sender.send(event.draft, stream=event.stream):
            self._composer.take(None)

    def on_composer_changed(self) -> None:
        """Keep what is written."""
        if self.sender is not None:
            self.sender.written()

    def on_composer_opened(self, event: Composer.Opened) -> None:
        """Show all of the message, what was sent before, or the form that the agent gave."""
        if self.sender is not None:
            self.sender.open(event.what)

    def on_tasks_place_opened(self, event: TasksPlace.Opened) -> None:
        """Talk about a task."""
        self.talk.follow_task(event.task_id)
        self.place = "talk"

    @work(group="turns")
    async def on_call_wanted(self, event: CallWanted) -> None:
        """Make the call that a place asks for, and show what came of it."""
        if self.sender is not None:
            from inspector.tui.task_answers import make  # noqa: PLC0415 - loaded with the session, after first paint

            await make(self, self.sender, event)

    def show_exchange(self, number: int) -> None:
        """Go to an exchange."""
        self.place = "traffic"
        self._traffic.show_exchange_of(number)

    def on_findings_place_record_wanted(self, event: FindingsPlace.RecordWanted) -> None:
        """Go to a record."""
        self.place = "traffic"
        self._traffic.show_seq(event.seq)

    # The tour

    async def offer_tour(self, *, begin: bool) -> None:
        """Make the tour one key away, because the agent is the one that it was made for, and perhaps begin it."""
        self._has_tour = True
        self.refresh_bindings()
        if begin:
            await self.action_tour()

    async def action_tour(self) -> None:
        """Begin the tour; while it is on, give it the keys, or give them back to the place."""
        if self._guide is None and self.session is not None:
            from inspector.tui.tour_guide import begin  # noqa: PLC0415 - few sessions have a tour

            self._guide = await begin(self, self.session)
        elif self._guide is not None and not self._guide.strip.has_focus:
            self._guide.strip.focus()
        else:
            self.query_one(f"#{self.place}", Place).focus_first()

    def _end_tour(self) -> None:
        if self._guide is not None:
            self._guide.strip.remove()
            self._guide = None

    def on_tour_strip_moved(self, event: TourStrip.Moved) -> None:
        """Go on with the tour, or leave it."""
        if self._guide is not None and not self._guide.move(event.move):
            self._end_tour()
            self.query_one(f"#{self.place}", Place).focus_first()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Have no tour but of the demo's agent."""
        if action == "tour":
            return self._has_tour
        if action in ("zoom", "unzoom"):
            return (self.maximized is not None) is (action == "unzoom")
        if action in _OF_AGENTS and self.session is not None and self.session.recorded:
            return None
        return super().check_action(action, parameters)
