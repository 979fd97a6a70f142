"""The guide: leads through the tour on a workbench, does what its stops offer, and points at what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.tui.tour import STOPS, Send, Step
from inspector.tui.views.base import Place
from inspector.tui.views.chat import Talk
from inspector.tui.widgets.composer import Aim, Composer
from inspector.tui.widgets.footer import KeyLine
from inspector.tui.widgets.section_tabs import FaceTabs
from inspector.tui.widgets.tour_strip import Move, TourStrip, Where

if TYPE_CHECKING:
    from inspector.session.session import Session
    from inspector.tui.screens.workbench import WorkbenchScreen


async def begin(workbench: WorkbenchScreen, session: Session) -> Guide:
    """Begin the tour over a session: its strip comes above the keys and has them."""
    strip = TourStrip()
    guide = Guide(workbench, strip, session)
    await workbench.mount(strip, before=workbench.query_one(KeyLine))
    strip.focus()
    guide.show()
    return guide


class Guide:
    """Where the tour is, over one session; it speaks through a strip that is on the workbench."""

    def __init__(self, workbench: WorkbenchScreen, strip: TourStrip, session: Session) -> None:
        self.strip = strip
        self._workbench = workbench
        self._session = session
        self._stop = self._step = 0
        self._looked = self._found = 0

    @property
    def step(self) -> Step:
        """What is shown."""
        return STOPS[self._stop].steps[self._step]

    @property
    def over(self) -> bool:
        """Whether nothing comes behind what is shown."""
        return self._stop == len(STOPS) - 1 and self._step == len(STOPS[-1].steps) - 1

    def show(self) -> None:
        """Go to the place of the step and say what it says; from here on, what happens counts."""
        stop, step = STOPS[self._stop], self.step
        held = self.strip.has_focus
        self._workbench.place = step.place
        place = self._workbench.query_one(f"#{step.place}", Place)
        if step.face:
            place.post_message(FaceTabs.Chosen(step.face))
        if self._found:
            place.show_seq(self._found)
        if held:
            self.strip.focus()
        hint = step.does or ("leave the tour" if self.over else "go on")
        self.strip.show(Where(self._stop + 1, len(STOPS), stop.title), step.say, hint)
        if step.lens:
            self._workbench.action_lens()
        self._looked, self._found = len(self._session.journal.capture), 0

    def move(self, move: Move) -> bool:
        """Go where the user wants to, and say whether the tour goes on."""
        match move:
            case Move.ON if self.step.send is not None:
                self._do(self.step.send)
            case Move.ON if not self.over:
                self._advance()
            case Move.NEXT:
                self._go(self._stop + 1)
            case Move.BACK:
                self._go(max(0, self._stop - (self._step == 0)))
            case _:
                return False
        return True

    def look(self) -> None:
        """Go on when what the step waits for was seen and every call is over, whoever made it."""
        if self.step.send is None:
            return
        journal = self._session.journal
        looked, self._looked = self._looked, len(journal.capture)
        for record in journal.capture.slice(looked + 1, self._looked):
            if not self._found and self.step.seen(record):
                self._found = record.seq
        if self._found and not journal.exchanges.open:
            self._advance()

    def _advance(self) -> None:
        if self._step < len(STOPS[self._stop].steps) - 1:
            self._step += 1
            self.show()
        else:
            self._go(self._stop + 1)

    def _go(self, stop: int) -> None:
        self._stop, self._step, self._found = stop, 0, 0
        self.show()

    def _do(self, send: Send) -> None:
        """Send what the step offers, unless a call is under way: it may be the same one."""
        sender = self._workbench.sender
        if sender is not None and not sender.is_busy and not self._session.journal.exchanges.open:
            self._workbench.run_worker(self._sending(send), group="tour", exclusive=True)

    async def _sending(self, send: Send) -> None:
        from inspector.session.compose.draft import text_draft  # noqa: PLC0415 - loaded with the session, after first paint

        workbench, talk = self._workbench, self._workbench.query_one(Talk)
        self._speak(send.generation)
        if self._session.push.on != send.push:
            await workbench.action_push().wait()
        workbench.place = self.step.place
        self.strip.focus()
        if send.answer:
            talk.aim_at_task()
        aim = talk.query_one(Composer).aim if send.answer else Aim()
        draft = text_draft(send.text, task_id=aim.task_id, context_id=aim.context_id)
        if workbench.sender is not None and not workbench.sender.is_busy:
            workbench.sender.send(draft, stream=send.stream)

    def _speak(self, generation: str) -> None:
        """Talk in a generation: over the first interface that has it, unless the one in use does."""
        from inspector.protocol.selection import alternatives  # noqa: PLC0415 - loaded behind first paint

        connection = self._session.connection
        if connection is None or self._session.choice.dialect.generation == generation:
            return
        choices = (one for one in alternatives(connection.card) if one.dialect.generation == generation)
        self._workbench.use(next(choices, None))
