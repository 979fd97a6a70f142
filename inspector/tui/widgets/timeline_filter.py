"""The filter over a timeline: the records that it leaves, found page by page while everything else goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import Worker

from inspector.capture.records import Record
from inspector.tui.widgets.filter_line import FilterLine, values_of

if TYPE_CHECKING:
    from inspector.capture.query import Query
    from inspector.session.record_list import RecordList
    from inspector.session.session import Session


class TimelineFilter(FilterLine):
    """A filter line with its hits: those of the records that belong to the timeline, folded as the timeline is.

    `hits` is None while there is no filter, and another list for each filter.
    """

    class Found(Message):
        """There are more hits, or all that is recorded has been searched."""

    def __init__(self) -> None:
        super().__init__(lambda: values_of(self._session) if self._session is not None else {})
        self._session: Session | None = None
        self._accepts: Callable[[Record], bool] = lambda _: True
        self._folded = True
        self._wanted_query: Query | None = None
        self._search: Worker[None] | None = None
        self.hits: RecordList | None = None
        self.searched = 0

    def attach(self, session: Session, accepts: Callable[[Record], bool]) -> None:
        """Filter another session."""
        self._session, self._accepts = session, accepts
        self._begin(None)
        self.close()

    def on_filter_line_changed(self, event: FilterLine.Changed) -> None:
        """Look for the hits of another query."""
        self._begin(event.query)

    def fold(self, *, folded: bool) -> None:
        """Put runs of chunks in one row, or in a row each, for which the hits are looked for again."""
        self._folded = folded
        self._begin(self._wanted_query)

    def _begin(self, query: Query | None) -> None:
        from inspector.session.record_list import RecordList  # noqa: PLC0415 - loaded with the session, after first paint

        if self._search is not None:
            self._search.cancel()
        self._wanted_query, self._search, self.searched = query, None, 0
        self.hits = None if query is None else RecordList(self._accepts, folded=self._folded)
        self.look()

    def look(self) -> None:
        """Go on looking where records came that were not looked at."""
        busy = self._search is not None and not self._search.is_finished
        session, hits = self._session, self.hits
        if session is None or hits is None or busy:
            return
        if self.searched < len(session.journal.capture):
            self._search = self._find(session, hits, self._wanted_query)

    @work(group="filter", exclusive=True)
    async def _find(self, session: Session, hits: RecordList, query: Query | None) -> None:
        from inspector.capture.private_files import CaptureError  # noqa: PLC0415 - loaded with the session

        if query is None:
            return
        capture = session.journal.capture
        try:
            for page in capture.search(query, after=self.searched):
                for seq in page.hits:
                    hits.offer((capture.get(seq),))
                self.searched = page.through
                self.post_message(self.Found())
                await asyncio.sleep(0)
        except CaptureError as error:
            self.complain(str(error))
