"""The Checks view: the tests of a check file, their results while they run, and the steps of the selected test."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.worker import Worker

from inspector.capture import recent_check_files
from inspector.capture.records import Record
from inspector.protocol.model import Json
from inspector.session.check.checked_tests import CheckedTest, counts_of, in_words
from inspector.session.check.status import FAILED, Status
from inspector.session.session import Session
from inspector.tui import lazy_loading
from inspector.tui.check_dialogs import chosen_file, load_form, save_report
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify, notify_faults
from inspector.tui.render.check_rows import CheckItem
from inspector.tui.render.glyphs import PHASE, Glyphs
from inspector.tui.screens.dialog import ask
from inspector.tui.views.base import RecordWanted, View
from inspector.tui.views.registry import key_of_view
from inspector.tui.widgets.check_list import CheckListPane
from inspector.tui.widgets.check_pane import CheckPane
from inspector.tui.widgets.word_filter import WordFilter

if TYPE_CHECKING:  # PyYAML and the models of check files are loaded with the first file
    from inspector.session.check.loaded_checks import LoadedChecks
    from inspector.session.check.source import Problem

_ROOMY = 150
"""The cells that the table and the detail need beside each other."""
_RUNS = frozenset({"run_selected", "run_all", "run_failed"})
_TEST_KEYS = frozenset({"refresh", "run-all", "run-failed"})
_REASONS = {
    "run-failed": "no test has failed",
    "cancel": "no test is running",
    "save": "there are no results yet",
    "next-match": "the selected test has no requests",
    "previous-match": "the selected test has no requests",
}
"""Why a command is disabled if tests can be run."""
_NEED_TESTS = _RUNS | {"filter", "only_failed"}


class ChecksView(View):
    """Shows the tests of a check file and runs them; the detail shows the selected test."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("cancel", "stop", "stop", "Stop the run of tests"),
        bind("refresh", "reload", "reload", "Read the check file again"),
        bind("refresh", "run_selected", "run", "Run the selected test, or the tests of the selected suite"),
        bind("run-all", "run_all"),
        bind("run-failed", "run_failed"),
        bind("fold", "only_failed", "failed only", "Show only the tests that failed, or all tests"),
        bind("filter", "filter", "", "Show only the tests that contain some words"),
        bind("check-file", "load"),
        bind("save", "save_report", "", "Save a report of the results (HTML, JSON, JUnit, TAP)", show=False),
        bind("next-match", "request(1)", "next request", "Go to the next request of the test", show=False),
        bind("previous-match", "request(-1)", "previous request", "Go to the previous request of the test", show=False),
        bind("open", "open", "", "Show the request of the test, or load a check file", show=False),
        bind("back", "clear_filter", "clear filter", "Show all tests", show=False),
    ]
    NEEDS_AGENT: ClassVar[frozenset[str]] = _RUNS

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(session, glyphs, id=id)
        self.variables: Mapping[str, Json] = {}
        """The values of variables that the user entered, for all files."""
        self._checks: LoadedChecks | None = None
        self._problems: Sequence[Problem] = ()
        self._paths: Sequence[Path] = ()
        self._recent: Sequence[Path] = ()
        self._selected: CheckItem | None = None
        self._request = 0
        """The number of the selected request of the selected test, 0 for the request to look at first."""
        self._shown: object = None
        self._run: Worker[None] | None = None
        self._reads = 0
        """How many reads of the file have not ended. No run begins meanwhile: its results would be replaced."""
        self._list = CheckListPane(session, glyphs, id="checks-pane")
        self._detail = CheckPane(session.journal.redactor.text, glyphs, id="check")

    def compose(self) -> ComposeResult:
        """Make the list and the detail."""
        with Horizontal(classes="split"):
            yield self._list
            yield self._detail

    def on_mount(self) -> None:
        """Draw the times of running tests, and read the list of files."""
        self._recent = recent_check_files.load()
        self.set_interval(PHASE, self._tick)
        self.refresh_view()

    def on_resize(self) -> None:
        """Show the detail below the list if there is no room beside it."""
        self.set_class(self.size.width < _ROOMY, "-stacked")

    def _tick(self) -> None:
        if self.is_running and self.display and self.screen.is_current:
            self._list.rows.phase += 1
            self.refresh_view()

    @property
    def is_running(self) -> bool:
        """Whether tests are running, or about to run."""
        return self._run is not None and not self._run.is_finished

    # What is shown

    def refresh_view(self) -> None:
        """Show the current results; the cursor stays on its test."""
        if self._list.has_moved:  # the message about the key may not have arrived yet
            self._take_selected()
        self._show_results()

    def _take_selected(self) -> None:
        """Remember the test under the cursor."""
        selected = self.selected
        if selected is not self._selected:
            self._selected, self._request = selected, 0

    def _show_results(self) -> None:
        """Show the current results, with the cursor on the test that is remembered."""
        has_tests = self._checks is not None
        self.set_class(not has_tests, "-message")
        if self._list.show_message(self._problems, self._recent, has_tests=has_tests):
            self._focus_visible()
        self._list.show(self._checks, self._selected)
        self._list.show_title(self._checks, self._problems)
        self._show_detail()

    def _focus_visible(self) -> None:
        """Move the focus from a list that is hidden now."""
        focused = self.screen.focused
        if focused is not None and self in focused.ancestors and focused is not self._list.words:
            self.focus_first()

    def focus_first(self) -> None:
        """Focus the list, or without tests the text."""
        self._list.focus_content(has_tests=self._checks is not None)

    @property
    def selected(self) -> CheckItem | None:
        """The suite or the test under the cursor."""
        return self._list.selected

    def _requests(self) -> tuple[Sequence[int], int]:
        """Return the numbers of the requests of the selected test, and the selected number, 0 without requests."""
        item = self.selected
        if not isinstance(item, CheckedTest) or item.result is None:
            return (), 0
        requests = item.requests
        return requests, self._request if self._request in requests else item.result.exchange

    def _show_detail(self) -> None:
        item, (requests, request), phase = self.selected, self._requests(), 0
        key: tuple[object, ...] = (item,)
        if isinstance(item, CheckedTest):
            steps = len(item.result.steps) if item.result is not None else 0
            phase = self._list.rows.phase if item.status is Status.RUNNING else 0
            key = item, item.status, item.result, steps, request, phase
        elif item is not None:
            key = item, *item.counts.items()
        if key == self._shown:
            return
        self._shown = key
        self._list.offer_request(offered=bool(request))
        if isinstance(item, CheckedTest):
            self._detail.show_test(item, requests, request, phase)
        elif item is not None:
            self._detail.show_suite(item, in_words(item.counts))
        else:
            self._detail.show_nothing()
        self.refresh_bindings()

    def on_feed_highlighted(self) -> None:
        """Show the test under the cursor."""
        self._take_selected()
        self._show_detail()

    # Requests

    def on_feed_opened(self) -> None:
        """Show the selected request of the test under the cursor."""
        self.action_open()

    def action_open(self) -> None:
        """Show the selected request; without tests, choose a check file."""
        request = self._requests()[1]
        if self._checks is None:
            self.action_load()
        elif request:
            self.post_message(RecordWanted(request))
        elif isinstance(self.selected, CheckedTest):
            notify(self, "The test has no requests.")

    def action_request(self, step: int) -> None:
        """Select the next (1) or previous (-1) request of the test, and after the last the first."""
        requests, request = self._requests()
        if requests:
            self._request = requests[(requests.index(request) + step) % len(requests)]
            self._show_detail()

    def on_check_pane_chosen(self, event: CheckPane.Chosen) -> None:
        """Select the request of the line that was clicked, or show it."""
        self._request = event.request
        self._show_detail()
        if event.twice:
            self.action_open()

    # Files

    def action_load(self) -> None:
        """Ask for a check file, and load it."""
        ask(self, load_form(self._recent), lambda values: self.load_file(chosen_file(values)))

    def load_file(self, path: Path) -> None:
        """Read a check file and show its tests, or its problems."""
        problem = recent_check_files.remember(path) if path.is_file() else ""
        self._recent = recent_check_files.load()
        if problem:
            notify(self, problem, "warning")
        if self.is_running:
            notify(self, f"Tests are running. Load {path} when they have ended.", "warning")
            return
        self._paths = (path,)
        self.action_reload()

    def action_reload(self) -> None:
        """Read the check file again."""
        self.run_worker(self._read(), group="check files", exclusive=True)

    async def _read(self) -> bool:
        """Read the check file and show its tests, or else its problems; return whether there are tests."""
        self._reads += 1
        self.refresh_bindings()
        try:
            read = await asyncio.to_thread(lazy_loading.read_checks, self._paths, self.variables)
        finally:
            self._reads -= 1
        before = self._checks
        self._problems = read if isinstance(read, list) else ()
        self._checks = None if isinstance(read, list) else read
        if self._checks is not None:
            if before is not None:
                self._checks.keep_results(before)
            self._selected = self._same_item(self._selected)
        self._show_results()
        self.refresh_bindings()
        return self._checks is not None

    def _same_item(self, before: CheckItem | None) -> CheckItem | None:
        """Return the item of the files that were read with the id of an earlier item."""
        items: list[CheckItem] = []
        if self._checks is not None:
            items = [*self._checks.suites, *self._checks.tests]
        return next((item for item in items if before is not None and item.id == before.id), None)

    # Runs

    def action_run_selected(self) -> None:
        """Run the selected test, or the tests of the selected suite."""
        item = self.selected
        if item is not None:
            self._start([item] if isinstance(item, CheckedTest) else item.tests)

    def action_run_all(self) -> None:
        """Run all tests."""
        if self._checks is not None:
            self._start(self._checks.tests)

    def action_run_failed(self) -> None:
        """Run the tests that failed."""
        if self._checks is not None:
            self._start(self._checks.failed)

    def action_stop(self) -> None:
        """Stop the run; the tests that have not ended have no result."""
        if self._run is not None:
            self._run.cancel()

    def _start(self, tests: Sequence[CheckedTest]) -> None:
        if self._checks is not None and not self.is_running and not self._reads and tests:
            self._run = self._run_tests(self._checks, {test.id for test in tests})

    @work(group="checks", exclusive=True)
    async def _run_tests(self, checks: LoadedChecks, ids: set[str]) -> None:
        """Run tests, after reading the files again if they were changed."""
        try:
            if await asyncio.to_thread(checks.is_outdated):
                if not await self._read() or self._checks is None:
                    return
                checks = self._checks
            tests = [test for test in checks.tests if test.id in ids]
            with notify_faults(self):
                self.call_later(self.refresh_view)
                await checks.run(self.session, tests)
                self._report(tests)
        finally:
            self._run = None
            self._show_end()

    @work(group="save")
    async def action_save_report(self) -> None:
        """Save a report of the results of all tests."""
        if self._checks is not None:
            report = self._checks.report(self.session, self._checks.tests)
            await save_report(self.app, report, self.session.journal.redactor.text)

    def _show_end(self) -> None:
        if self.is_attached:
            self.refresh_view()
            self.refresh_bindings()

    def _report(self, tests: Sequence[CheckedTest]) -> None:
        """Report the end of a run in another view."""
        if not self.display:
            failed = any(test.status in FAILED for test in tests)
            words = f"The tests have ended: {in_words(counts_of(tests))}. Press {key_of_view('checks')} to see them."
            notify(self, words, "error" if failed else "information")

    # Filters

    def action_only_failed(self) -> None:
        """Show only the tests that failed, or all tests."""
        self._list.rows.only_failed = not self._list.rows.only_failed
        self.refresh_view()
        self.refresh_bindings()

    def action_filter(self) -> None:
        """Open the filter."""
        self._list.words.open()

    def on_word_filter_typed(self, event: WordFilter.Typed) -> None:
        """Show the tests that contain the words."""
        self._list.rows.words = event.words
        self.refresh_view()
        self.refresh_bindings()

    def on_word_filter_left(self) -> None:
        """Focus the list."""
        self.focus_first()

    def action_clear_filter(self) -> None:
        """Show all tests."""
        self._list.rows.only_failed = False
        self._list.words.action_clear()
        self.refresh_view()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable what is not possible without a file, or during a run."""
        checks, running = self._checks, self.is_running
        if action == "clear_filter":
            return self._list.is_filtered
        if action == "stop":
            return running
        if action == "load":
            return None if running else True
        if action == "reload":
            return bool(self._problems)
        if action == "request":
            return True if self._requests()[0] else None
        if action in _NEED_TESTS and checks is None:
            return False
        if action in _RUNS and (running or self._reads):
            return None
        if action == "run_failed" and checks is not None and not checks.failed:
            return None
        if action == "save_report":
            return True if checks is not None and checks.has_results else None
        return super().check_action(action, parameters)

    def disabled_reason(self, command: str) -> str:
        """Return why tests cannot be run now, or why there is no result or request."""
        if self.session.recorded and command in _TEST_KEYS:
            return "a capture has no agent, so no tests can be run"
        if self.is_running and command in (*_TEST_KEYS, "check-file"):
            return f"tests are running, press {key_of('cancel')} to stop them"
        if self._reads and command in _TEST_KEYS:
            return "the check file is being read"
        if self._checks is not None or command not in _TEST_KEYS:
            return _REASONS.get(command, "")
        if self._problems:
            return f"correct the check file, then press {key_of('refresh')}"
        return f"load a check file first, with {key_of('check-file')}"

    # The selection

    def show_seq(self, seq: int) -> None:
        """Select the test that sent a request."""
        tests = self._checks.tests if self._checks is not None else ()
        self._selected = next((test for test in tests if seq in test.requests), self._selected)
        self._show_results()

    def selected_record(self) -> Record | None:
        """Return the selected request of the test."""
        request = self._requests()[1]
        return self.session.journal.capture.get(request) if request else None

    @property
    def selection_title(self) -> str:
        """The id of the selected test or suite."""
        return self.selected.id if self.selected is not None else super().selection_title

    def selected_text(self) -> str:
        """Return what is shown about the selected test, or the text that is shown without tests."""
        return self._detail.text if self._checks is not None else self._list.message
