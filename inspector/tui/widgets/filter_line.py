"""The line in which a filter is written: green when right, red with the reason when wrong, and what may come next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from inspector.findings.finding import Severity
from inspector.protocol.lifecycle import State, short
from inspector.tui.render.content import plain
from inspector.tui.render.rows import SHORT_ID

if TYPE_CHECKING:
    from inspector.capture.query import Query
    from inspector.session.session import Session

_EXAMPLE = 'kind:artifact  state:failed  gap>2s  size>10k  finding:error  "text"  -kind:keepalive'


def values_of(session: Session) -> Mapping[str, Sequence[str]]:
    """Return the values that a filter of a session may well be about, by their key."""
    from inspector.protocol.operations import Operation  # noqa: PLC0415 - loaded with the session

    return {
        "op": (*(operation.value for operation in Operation), "GetAgentCard"),
        "state": tuple(map(short, State)),
        "task": tuple(task.id[:SHORT_ID] for task in session.tasks.all()),
        "finding": ("any", *(severity.value for severity in Severity), *sorted(session.journal.found)),
    }


class FilterLine(Vertical):
    """Two lines, hidden while there is no filter: what is typed, and what is wrong with it or may follow.

    `seen` gives the values that are offered for a key.
    """

    DEFAULT_CSS = """
    FilterLine {
        height: 2;
        display: none;
        &.-open { display: block; }
        & > Input { color: $foreground; }
        &.-good > Input { color: $state-good; }
        &.-bad > Input { color: $state-bad; }
        & > Static { height: 1; color: $text-soft; text-wrap: nowrap; text-overflow: ellipsis; }
        &.-bad > Static { color: $state-bad; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "complete", id="filter.complete", tooltip="Take the first of what is offered"),
        Binding("escape", "clear", "clear", id="filter.clear", tooltip="Filter no more"),
    ]

    class Changed(Message):
        """There is another filter, or with None there is none any more; a line that is wrong changes nothing."""

        def __init__(self, query: Query | None) -> None:
            super().__init__()
            self.query = query

    class Left(Message):
        """The keys are wanted where the hits are."""

    def __init__(self, seen: Callable[[], Mapping[str, Sequence[str]]]) -> None:
        super().__init__()
        self._seen = seen
        self._query: Query | None = None

    def compose(self) -> ComposeResult:
        """Make the two lines."""
        field = Input(placeholder=_EXAMPLE, compact=True, id="filter-words", select_on_focus=False)
        field.cursor_blink = False
        yield field
        yield Static(id="filter-said")

    def open(self) -> None:
        """Take the keys."""
        self.add_class("-open")
        self._judge(self.query_one(Input).value)
        self.screen.set_focus(self.query_one(Input))

    def close(self) -> None:
        """Be empty and out of sight, without a word."""
        self._query = None
        self.remove_class("-open", "-good", "-bad")
        with self.prevent(Input.Changed):
            self.query_one(Input).value = ""

    def clear(self) -> None:
        """Filter no more."""
        self.close()
        self.post_message(self.Changed(None))
        self.post_message(self.Left())

    def complain(self, sentence: str) -> None:
        """Show why there are no hits."""
        self.remove_class("-good")
        self.add_class("-bad")
        self.query_one("#filter-said", Static).update(plain(sentence))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Read what stands there now."""
        event.stop()
        self._judge(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the keys to the hits."""
        event.stop()
        self.post_message(self.Left())

    def _judge(self, line: str) -> None:
        from inspector.capture.query import Mistake, complete, parse  # noqa: PLC0415 - loaded with the session

        read = parse(line)
        offered = complete(line, self._seen())
        if isinstance(read, Mistake):
            self.complain(read.sentence)
            if offered.choices and read.position >= offered.start:  # what is wrong is only that it is not finished
                self._offer(offered.choices)
            return
        self.remove_class("-bad")
        self.set_class(bool(read.words), "-good")
        self._offer(offered.choices)
        query = read if read.words else None
        if query != self._query:
            self._query = query
            self.post_message(self.Changed(query))

    def _offer(self, choices: Sequence[str]) -> None:
        keys = "tab takes the first   " if choices else "enter goes to the hits   "
        offered = Content("   ").join([plain(choice) for choice in choices])
        self.query_one("#filter-said", Static).update(Content.assemble((keys, "$wire-quiet"), offered))

    def action_complete(self) -> None:
        """Take the first of what is offered for the last word."""
        from inspector.capture.query import complete  # noqa: PLC0415 - loaded with the session

        field = self.query_one(Input)
        offered = complete(field.value, self._seen())
        if offered.choices:
            field.value = field.value[: offered.start] + offered.choices[0]
            field.cursor_position = len(field.value)

    def action_clear(self) -> None:
        """Filter no more."""
        self.clear()
