"""The line in which a filter is written, with completions, the number of matches, or why the filter is invalid."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import Worker

from inspector.capture.private_files import CaptureError
from inspector.capture.query import Mistake, Query, complete, parse
from inspector.capture.records import Record
from inspector.findings.finding import Severity
from inspector.protocol.lifecycle import State, short
from inspector.protocol.operations import Operation
from inspector.session.record_list import RecordList
from inspector.session.session import Session
from inspector.text.short_id import short_id
from inspector.tui.keys import bind, key_of
from inspector.tui.render.content import plain, styled
from inspector.tui.render.key_hints import with_keys
from inspector.tui.widgets.fields import LineInput
from inspector.tui.widgets.text_block import TextBlock

_EXAMPLE = 'kind:artifact  state:failed  gap>2s  size>10k  finding:error  "text"  -kind:keepalive'


def values_of(session: Session) -> Mapping[str, Sequence[str]]:
    """Return the values that are offered for each key of a filter."""
    return {
        "op": (*(operation.value for operation in Operation), "GetAgentCard"),
        "state": tuple(map(short, State)),
        "task": tuple(_beginning(task.id) for task in session.tasks.all()),
        "finding": ("any", *(severity.value for severity in Severity), *sorted(session.journal.found)),
    }


def _beginning(task_id: str) -> str:
    """Return the short id of a task if the id begins with it, else the whole id: filters compare beginnings."""
    shortened = short_id(task_id)
    return shortened if task_id.startswith(shortened) else task_id


class FilterLine(Vertical):
    """The typed filter, and below it its error, its completions or its matches; hidden without a filter.

    The hits are found page by page in the background. With `accepts`, only the records that it accepts can be
    hits, and runs of chunks are folded; with None, all records can be hits, and nothing is folded. `hits` is None
    without a filter, and a new list for each filter.
    """

    DEFAULT_CSS = """
    FilterLine {
        height: auto;
        display: none;
        &.-open { display: block; }
        & > Horizontal { height: 1; }
        & .filter-label { width: auto; color: $bar; text-style: bold; padding: 0 1; }
        & Input { width: 1fr; color: $foreground; }
        &.-good Input { color: $state-good; }
        &.-bad Input { color: $state-bad; }
        & > #filter-message { height: 1; padding: 0 1; color: $text-soft; text-wrap: nowrap; text-overflow: ellipsis; }
        &.-bad > #filter-message { color: $state-bad; height: auto; max-height: 3; text-wrap: wrap; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("complete", "complete", "", "Accept the first completion"),
        bind("back", "clear", "clear", "Remove the filter"),
    ]

    class Changed(Message):
        """The filter was changed or removed; an invalid line changes nothing."""

    class Found(Message):
        """There are more hits, or all records have been searched."""

    class Left(Message):
        """The user wants to go to the hits."""

    def __init__(self, session: Session, accepts: Callable[[Record], bool] | None = None) -> None:
        super().__init__()
        self._session = session
        self._accepts = accepts
        self._folded = accepts is not None
        self._query: Query | None = None
        self._search: Worker[None] | None = None
        self.hits: RecordList | None = None
        self.searched = 0

    def compose(self) -> ComposeResult:
        """Make the two lines."""
        with Horizontal():
            yield Static("Filter", classes="filter-label")
            yield LineInput(placeholder=_EXAMPLE, id="filter-words", select_on_focus=False, enter_hint="go to matches")
        yield TextBlock(id="filter-message")

    @property
    def no_match(self) -> str:
        """The sentence for a filter that no record matches."""
        keys = f"Press {key_of('filter')} to change the filter, {key_of('back')} to remove it."
        return f"No record matches {self._query}. {keys}" if self._query else ""

    def open(self) -> None:
        """Show the lines and focus the filter."""
        self.add_class("-open")
        self._parse(self.query_one(Input).value)
        self.screen.set_focus(self.query_one(Input))

    def action_clear(self) -> None:
        """Remove the filter."""
        self.remove_class("-open", "-good", "-bad")
        with self.prevent(Input.Changed):
            self.query_one(Input).value = ""
        self._begin(None)
        self.post_message(self.Changed())
        self.post_message(self.Left())

    def show_error(self, sentence: str) -> None:
        """Show why the filter is invalid or the search failed."""
        self.remove_class("-good")
        self.add_class("-bad")
        self.query_one("#filter-message", TextBlock).update(plain(sentence))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Read the filter."""
        event.stop()
        self._parse(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the hits."""
        event.stop()
        self.post_message(self.Left())

    def _parse(self, line: str) -> None:
        read = parse(line)
        offered = complete(line, values_of(self._session))
        if isinstance(read, Mistake):
            if offered.choices and read.position >= offered.start:  # the word is only incomplete
                self.remove_class("-good", "-bad")
                self._offer(offered.choices)
            else:
                self.show_error(f"Invalid filter: {read.sentence}")
            return
        self.remove_class("-bad")
        self.set_class(bool(read.conditions), "-good")
        query = read if read.conditions else None
        if query != self._query:
            self._begin(query)
            self.post_message(self.Changed())
        self._offer(offered.choices)

    def _offer(self, choices: Sequence[str]) -> None:
        """Show the completions, the first of which the key accepts; without a choice, what can be done."""
        first, rest = choices[:1], choices[1:]
        if not first:
            keys = with_keys("{open} go to the matches   {back} remove the filter", "$wire-quiet")
            message = styled(keys if self._query else [])
        else:
            key = Content.styled(f"{key_of('complete')} ", "$bar")
            chosen = plain(first[0]).stylize("bold $foreground")
            message = Content("   ").join([Content.assemble(key, chosen), *map(plain, rest)])
        self.query_one("#filter-message", TextBlock).update(message)

    def action_complete(self) -> None:
        """Complete the last word with the first choice."""
        field = self.query_one(Input)
        offered = complete(field.value, values_of(self._session))
        if offered.choices:
            field.value = field.value[: offered.start] + offered.choices[0]
            field.cursor_position = len(field.value)

    # Hits

    def fold(self, *, folded: bool) -> None:
        """Fold runs of chunks into one row or unfold them, and search again."""
        self._folded = folded
        self._begin(self._query)

    def _begin(self, query: Query | None) -> None:
        if self._search is not None:
            self._search.cancel()
        self._query, self._search, self.searched = query, None, 0
        self.hits = None if query is None else RecordList(self._accepts or (lambda _: True), folded=self._folded)
        self.look()

    def look(self) -> None:
        """Search the records that have not been searched."""
        busy = self._search is not None and not self._search.is_finished
        hits, query = self.hits, self._query
        if hits is not None and query is not None and not busy and self.searched < len(self._session.journal.capture):
            self._search = self._find(hits, query)

    @work(group="filter", exclusive=True)
    async def _find(self, hits: RecordList, query: Query) -> None:
        capture = self._session.journal.capture
        try:
            for page in capture.search(query, after=self.searched):
                if self._accepts is None:
                    hits.extend(page.hits)
                else:
                    for seq in page.hits:
                        hits.offer((capture.get(seq),))
                self.searched = page.through
                self.post_message(self.Found())
                await asyncio.sleep(0)
        except CaptureError as error:
            self.show_error(str(error))
