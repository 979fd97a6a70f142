"""What becomes of the card on the workbench: compared, verified, fetched again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from inspector.tui import lazy_loading
from inspector.tui.render.card import Signed
from inspector.tui.render.content import plain
from inspector.tui.views.agent import AgentPlace

if TYPE_CHECKING:
    from inspector.session.connection import Connection
    from inspector.session.session import Session
    from inspector.tui.screens.workbench import WorkbenchScreen


class CardDesk:
    """Looks after the card of the agent that a session is connected to, and shows in the Agent place what it found."""

    def __init__(self, workbench: WorkbenchScreen, session: Session) -> None:
        self._workbench = workbench
        self._session = session
        self._keep = False

    @property
    def _place(self) -> AgentPlace:
        return self._workbench.query_one(AgentPlace)

    def compare(self, *, keep: bool) -> None:
        """Compare the card with those that were seen of its agent before, and `keep` it for the next time."""
        self._keep = keep
        self._workbench.run_worker(self._compare(), group="cards", exclusive=True)

    async def _compare(self) -> None:
        earlier, problem = await asyncio.to_thread(lazy_loading.see_card, self._session, keep=self._keep)
        self._place.show_drift(earlier)
        if problem:
            self._workbench.app.notify(plain(problem).plain, severity="warning", markup=False)

    def verify(self, connection: Connection, *, fetch: bool) -> None:
        """Verify the signatures of the card, with keys that are fetched only when that is asked for."""
        self._workbench.run_worker(self._verify(connection, fetch=fetch), group="turns")

    async def _verify(self, connection: Connection, *, fetch: bool) -> None:
        from inspector.session.card.signing import fetch_keys, verify_card  # noqa: PLC0415 - few cards are signed

        session = self._session
        keys = await fetch_keys(session, connection) if fetch else None
        verdicts = await verify_card(connection, keys)
        if session.connection is not None and session.connection.found is connection.found:
            self._place.show_signed(Signed(verdicts, keys.notes if keys else ()))

    def refresh(self) -> None:
        """Fetch the card again."""
        self._workbench.run_worker(self._refresh(), group="turns")

    async def _refresh(self) -> None:
        from inspector.protocol.errors import FaultError  # noqa: PLC0415 - loaded with the session, after first paint

        before = self._session.connection
        try:
            after = await self._session.refresh()
        except FaultError as error:
            self._workbench.app.tell(error.fault)  # type: ignore[attr-defined]
            return
        if before is not None and after.found is before.found:
            self._place.show_confirmed(after)
            self._workbench.app.notify("The card is unchanged.", markup=False)
        else:
            self._workbench.show_connection(after)
            self.compare(keep=self._keep)
