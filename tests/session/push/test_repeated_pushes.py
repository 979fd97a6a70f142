"""Repeated pushes: cached results are reused, and the records are the same as if each push were read in full."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from inspector.capture.records import Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.findings.rules import finding
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json
from inspector.session.journal import Journal
from inspector.session.push import attempts, judge
from inspector.session.push.attempts import chains
from inspector.session.push.judge import EVENT
from inspector.session.push.service import PushService
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.tasks import TaskFold
from inspector.wire.receiver.checks import BoundedCache, Check, CheckResult, KnownResults, Scope
from inspector.wire.receiver.delivery import Delivery
from inspector.wire.receiver.registration import Registration

HEADERS = (("Host", "127.0.0.1:1"), ("Authorization", "Bearer the-token"), ("Content-Type", "application/json"))
CHECKS = (
    Check("path", True, "registration 1"),
    Check("authorization", True, "Bearer"),
    Check("content-type", True, "application/json"),
)


class PushRun:
    """A push service with its own capture and two registrations.

    With `in_full` no result is reused: the head of each delivery is new, and no body shape is known.
    """

    def __init__(self, capture: Capture, *, in_full: bool) -> None:
        self.journal = Journal(capture, Redactor())
        self.tasks = TaskFold(self.journal.exchanges)
        self.service = PushService(self.journal, self.tasks, host="127.0.0.1", port=0, public_url=None)
        self.registrations = [
            WebhookRegistration(Registration(number, f"/{number}", "the-token", f"http://x/{number}", 0.0), "t", "1.0")
            for number in (1, 2)
        ]
        self.service.registrations.extend(self.registrations)
        self.in_full = in_full
        self.head_known = KnownResults()
        self.at = 1_767_268_800.0

    def post(self, body: Json | bytes, number: int = 0, **members: Any) -> None:
        """Pass a delivery to the service."""
        if self.in_full:
            self.head_known = KnownResults()
            self.service._recorder._judge._verified = BoundedCache(1)
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        checks = (*CHECKS, Check("size", True, f"{len(raw):,} bytes"), Check("json", True, "JSON"))
        self.at += 2.0
        delivery = Delivery(
            at=self.at,
            registration=self.registrations[number].registration,
            peer=f"127.0.0.1:{len(self.journal.capture) % 3}",
            method="POST",
            target="/1",
            headers=HEADERS,
            body=raw,
            value=parse(raw),
            checks=checks,
            refused="",
            status=204,
            seconds=0.001,
            accepted=True,
            head_known=self.head_known,
        )
        self.service.take(replace(delivery, **members))

    def records(self) -> list[Record]:
        return self.journal.capture.slice(1, 10_000)

    def results(self) -> list[Any]:
        """Return the records, the findings, the registrations and the tasks."""
        results: list[Any] = [
            self.records(),
            self.journal.found,
            [astuple(registration)[1:] for registration in self.registrations],
        ]
        for tracked in self.tasks.all():
            account = tracked.pushed
            artifacts = [
                (*astuple(replace(artifact, text=str(artifact.text))),) for artifact in account.artifacts.values()
            ]  # type: ignore[arg-type]
            results += [artifacts, astuple(replace(account, artifacts={}))]
        return results


@contextmanager
def push_run(*, in_full: bool = False) -> Iterator[PushRun]:
    with tempfile.TemporaryDirectory() as folder, Capture.create(Path(folder) / "capture") as capture:
        yield PushRun(capture, in_full=in_full)


@contextmanager
def reads() -> Iterator[list[int]]:
    """Count the deliveries that are read in full."""
    counted: list[int] = []
    read = judge.read
    with patch.object(judge, "read", lambda *read_from: counted.append(1) or read(*read_from)):
        yield counted


def status(said: Json = "step", number: int = 0, *, state: str = "WORKING", **members: Any) -> dict[str, Json]:
    """Return a status update in the shape of 1.0; `about` are more of its status's members."""
    message: Json = {"messageId": f"m-{number}", "role": "ROLE_AGENT", "parts": [{"text": said}]}
    stamp = f"2026-01-01T12:00:{number % 60:02}.5Z"
    about = {"state": f"TASK_STATE_{state}", "timestamp": stamp, "message": message, **members.pop("about", {})}
    about = {name: value for name, value in about.items() if value is not ...}
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": about, **members}}


def test_repeated_status_updates_are_read_from_a_template():
    with push_run() as run, reads() as read:
        for number in range(50):
            run.post(status(f'step ü "{number}"', number))
        assert len(read) == 1
        [tracked] = run.tasks.all()
        assert (tracked.pushed.events, run.registrations[0].accepted, len(run.records())) == (50, 50, 50)
        assert [message.parts[0].text for message in tracked.pushed.messages][-1] == 'step ü "49"'
        assert tracked.pushed.status.timestamp == "2026-01-01T12:00:49.5Z"
        last = run.records()[-1]
        assert (last.label, last.state, last.task, last.event) == ('step ü "49"', "TASK_STATE_WORKING", "t", "status")
        checks = {name: said for name, _, said in last.meta["checks"]}
        assert (checks["size"], checks["order"], checks["task"]) == (f"{last.size:,} bytes", "in order", "task known")
        assert last.meta["latency"] == round(run.at - 1_767_268_849.5, 6)


@pytest.mark.parametrize(
    "bodies",
    [
        [status(number=number, about={"timestamp": ...}) for number in range(4)],
        [status(number=number, about={"message": ...}) for number in range(4)],
        [status("x" * number, number) for number in range(1, 5)],
    ],
    ids=["no timestamp", "no message", "other sizes"],
)
def test_status_updates_with_fewer_members_have_a_template(bodies: list[Json]):
    with push_run() as run, reads() as read:
        for body in bodies:
            run.post(body)
        assert len(read) == 1
        assert run.registrations[0].accepted == 4
        with push_run(in_full=True) as other:
            for body in bodies:
                other.post(body)
            assert run.results() == other.results()


@pytest.mark.parametrize("update", [{}, {"status": None}, {"taskId": "t", "status": []}])
def test_a_status_update_without_a_status_is_recorded(update: Json):
    with push_run() as run:
        for _ in range(2):
            run.post({"statusUpdate": update})
        assert len(run.records()) == 2


def test_a_replay_names_the_attempt_that_was_accepted():
    failed = {"accepted": False, "status": 500, "override": "500"}
    with push_run() as run:
        for members in (failed, {}, {}):
            run.post(status(), **members)
        said = [{name: said for name, _, said in record.meta["checks"]}["order"] for record in run.records()]
        assert said[1].startswith("attempt 2, ")
        assert said[2] == "replay: the same bytes came as #2, which was accepted"


def test_requests_without_a_body_are_not_attempts_at_one_delivery():
    """An agent that follows a redirect of the receiver sends an empty GET, for one task like for another."""
    with push_run() as run:
        for _ in range(2):
            run.post(b"", accepted=False, status=405, method="GET")
        assert [{name: said for name, _, said in record.meta["checks"]}["order"] for record in run.records()] == [
            "in order",
            "in order",
        ]


def test_requests_of_scanners_do_not_make_retries_unknown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(attempts, "_MOST_REMEMBERED", 3)
    with push_run() as run:
        run.post(status(), accepted=False, status=500, override="500")
        for number in range(5):
            run.post(f"scan {number}".encode(), registration=None, accepted=False, status=404)
        run.post(status())
        last = {name: said for name, _, said in run.records()[-1].meta["checks"]}["order"]
        assert last.startswith("attempt 2, ")


def test_a_retry_of_bytes_that_were_accepted_before_is_recognised():
    """Chunks with the same text have the same bytes."""
    failed = {"accepted": False, "status": 500, "override": "500"}
    with push_run() as run:
        for members in ({}, failed, {}):
            run.post(status(), **members)
        [chain] = chains(run.records())
        assert [attempt.seq for attempt in chain.attempts] == [2, 3]
        assert chain.accepted


def test_a_sender_that_does_not_wait_for_a_delayed_response_retries():
    delayed = {"override": "204 after 3 s", "delay": 3.0}  # deliveries are 2 s apart
    with push_run() as run:
        for members in (delayed, delayed, {}):
            run.post(status(), **members)
        run.post(status())
        said = [{name: said for name, _, said in record.meta["checks"]}["order"] for record in run.records()]
        assert [words.partition(",")[0] for words in said] == [
            "in order",
            "attempt 2",
            "attempt 3",
            "replay: the same bytes came as #3",
        ]
        [chain] = chains(run.records())
        assert [attempt.seq for attempt in chain.attempts] == [1, 2, 3]


def test_repeated_bytes_are_recognised():
    with push_run() as run:
        for number in (1, 2, 2, 3):
            run.post(status(number=number))
        said = [{name: said for name, _, said in record.meta["checks"]}["order"] for record in run.records()]
        assert said == ["in order", "in order", "replay: the same bytes came as #2, which was accepted", "in order"]


def test_a_late_push_after_a_template_is_noticed():
    with push_run() as run:
        for number, state in enumerate(("WORKING", "WORKING", "COMPLETED", "WORKING", "WORKING")):
            run.post(status(number=number, state=state))
        said = [{name: said for name, _, said in record.meta["checks"]}["order"] for record in run.records()]
        assert said == ["in order"] * 3 + ["late: the task had ended", "in order"]


@pytest.mark.parametrize("between", ["INPUT_REQUIRED", "SUBMITTED", "COMPLETED", "ODD"])
def test_a_task_that_returns_to_a_state_is_judged_as_usual(between: str):
    states = ("WORKING", "WORKING", between, "WORKING", "WORKING", between, "COMPLETED")
    with push_run() as run, push_run(in_full=True) as other:
        for each in (run, other):
            for number, state in enumerate(states):
                each.post(status(number=number, state=state))
        assert run.results() == other.results()


def test_a_secret_added_between_deliveries_is_masked_afterwards():
    with push_run() as run:
        for number in range(3):
            run.post(status("open-sesame", number, contextId="open-sesame"))
        run.journal.redactor.add("open-sesame")
        run.post(status("open-sesame", 3, contextId="open-sesame"))
        assert [(record.label, record.context) for record in run.records()[2:]] == [
            ("open-sesame", "open-sesame"),
            ("****", "****"),
        ]
        assert b"sesame" not in run.records()[-1].raw


def test_a_changed_task_of_a_registration_is_noticed():
    with push_run() as run:
        for number in range(3):
            run.post(status(number=number))
        run.registrations[0].task_id = "u"
        run.post(status(number=3))
        assert run.journal.found == {"PUSH-002": [4]}


def test_a_delivery_answered_with_an_override_is_not_folded():
    with push_run() as run:
        for number in range(3):
            run.post(status(f"{number}", number))
        run.post(status("3", 3), accepted=False, override="500", status=500)
        [tracked] = run.tasks.all()
        assert (tracked.pushed.events, run.registrations[0].failing) == (3, 1)
        assert run.records()[-1].meta["status"] == 500


@contextmanager
def added(scope: Scope, result: CheckResult | None = None) -> Iterator[list[Any]]:
    """Add a check for a while, and collect what it was run with."""
    runs: list[Any] = []

    @EVENT.check("added", scope)
    def check(push: Any) -> CheckResult | None:
        runs.append(push)
        return result

    yield runs
    EVENT.checks = EVENT.checks[:-1]


def test_an_added_check_runs_as_often_as_its_scope_requires():
    head, shape, each = added(Scope.HEAD), added(Scope.BODY_SHAPE), added(Scope.DELIVERY)
    with push_run() as run, head as heads, shape as shapes, each as deliveries:
        for number in range(1000):
            run.post(status(f"step {number}", number))
        assert (len(heads), len(shapes), len(deliveries)) == (1, 1, 1000)
        run.post(status("step", contextId="d"))
        assert (len(heads), len(shapes)) == (1, 2)
        run.head_known = KnownResults()
        run.post(status("another step"))
        assert (len(heads), len(shapes), len(deliveries)) == (2, 2, 1002)


@pytest.mark.parametrize("scope", Scope)
def test_a_check_that_is_added_later_runs_for_known_bodies(scope: Scope):
    with push_run() as run:
        for number in range(1000):
            run.post(status(f"step {number}", number))
        with added(scope, CheckResult(False, "seen")) as runs:
            run.post(status("step 1000"))
            run.post(status("step 1001"))
        assert len(runs) == (2 if scope is Scope.DELIVERY else 1)
        for record in run.records()[-2:]:
            assert ("added", False, "seen") in record.meta["checks"]


def test_a_result_with_findings_is_not_reused():
    found = CheckResult(findings=(finding("PUSH-003", "seen"),))
    with push_run() as run, added(Scope.BODY_SHAPE, found) as runs:
        for number in range(3):
            run.post(status(f"step {number}", number))
        assert (len(runs), run.journal.found) == (3, {"PUSH-003": [1, 2, 3]})


TEXTS = st.sampled_from(["a", "step 1", 'q"\\', "\n", "ü", "\U0001f44b", "t", "c", "m-1", "s3cr3t", "", " ", 7, None])
TEMPLATES: Sequence[dict[str, Any]] = (
    {},
    {},
    {},
    {"state": "SUBMITTED"},
    {"state": "INPUT_REQUIRED"},
    {"state": "COMPLETED"},
    {"state": "ODD"},
    {"about": {"timestamp": ...}},
    {"about": {"timestamp": "yesterday"}},
    {"about": {"message": ...}},
    {"about": {"mood": "cheerful"}},
    {"metadata": {"text": "a"}},
    {"metadata": {"timestamp": "2026-01-01T12:00:00Z"}},
    {"metadata": {"messageId": "m-1"}},
    {"contextId": "d"},
    {"taskId": "u"},
    {"taskId": "s3cr3t"},
)
Step = tuple[str, Any, int]


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Make deliveries that are mostly runs: a template, some texts for it, and what may come between."""
    made: list[Step] = []
    for _ in range(draw(st.integers(1, 5))):
        members = draw(st.sampled_from(TEMPLATES))
        spelling = draw(st.sampled_from([{}, {"ensure_ascii": False}, {"separators": (",", ":")}, {"indent": 1}]))
        for text in draw(st.lists(TEXTS, min_size=1, max_size=5)):
            value = status(text, draw(st.integers(0, 9)), **members)
            raw = json.dumps(value, **spelling).encode()
            made.append((draw(st.sampled_from(["post"] * 6 + ["dialled", "damaged"])), raw, draw(st.integers(0, 1))))
        made += draw(st.sampled_from([[], [], [("learn", "s3cr3t", 0)], [("other", "u", 0)], [("version", "0.3", 0)]]))
    return made


def results(plan: Sequence[Step], *, in_full: bool) -> list[Any]:
    with push_run(in_full=in_full) as run:
        for step, value, number in plan:
            match step:
                case "learn":
                    run.journal.redactor.add(value)
                case "other":
                    run.registrations[number].task_id = value
                case "version":
                    run.registrations[number].version = value
                case "dialled":
                    run.post(value, number, override="202", status=202)
                case "damaged":
                    run.post(value.replace(b"T12:", b"T99:").replace(b'"parts"', b'"part"'), number)
                case _:
                    run.post(value, number)
        return run.results()


@settings(max_examples=examples(150))
@given(steps())
def test_cached_results_never_change_records_findings_or_tasks(plan: list[Step]):
    assert results(plan, in_full=False) == results(plan, in_full=True)
