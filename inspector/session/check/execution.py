"""Run the steps of one test over one interface of the agent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from inspector.capture.records import Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultError
from inspector.protocol.model import Json
from inspector.protocol.operations import STREAMING
from inspector.protocol.selection import Choice
from inspector.session.check import expectations
from inspector.session.check.calls import WELL_KNOWN, Caller, Response
from inspector.session.check.client_step import parsed_root
from inspector.session.check.condition import Condition
from inspector.session.check.document.enumerations import Requirement
from inspector.session.check.document.expected import Assertion, Expect, ExpectError, ExpectStream
from inspector.session.check.document.extension import FindingsExpectation, PushExpectation
from inspector.session.check.document.steps import (
    CARD,
    OPERATIONS,
    AssertionStep,
    ClientStep,
    OperationStep,
    RawRequest,
    RawStep,
    Repeat,
    Step,
)
from inspector.session.check.document.suites import Test
from inspector.session.check.headers import inspect_headers
from inspector.session.check.matching import (
    Mismatch,
    UndecidedError,
    collection_mismatch,
    mismatches,
    quote,
    time_mismatches,
)
from inspector.session.check.paths import MISSING, value_at
from inspector.session.check.preconditions import WEBHOOK_VARIABLE, needs
from inspector.session.check.result import (
    Failure,
    StepError,
    StepFailedError,
    StepResult,
    StepSkipped,
    TestResult,
    failures_of,
)
from inspector.session.check.status import Status
from inspector.session.check.streams import observe_twice, reconnect
from inspector.session.check.variables import VariableError, Variables, references
from inspector.session.check.webhook import TestWebhook
from inspector.session.session import Session
from inspector.text.reference import with_scheme
from inspector.wire.client.credentials import origin

_SCHEMA_TAG = "schema-validation"
"""The tag of tests in the official suite that need the validation of responses: our findings of the severity error."""
_ERRORS = (StepError, VariableError, UndecidedError, FaultError)
"""Why a step or a test cannot be performed."""


@dataclass(slots=True)
class TestExecution:
    """Runs one test; `task_ids` are those of its tasks, once it has ended.

    `variables` are those of its file and of the command line, `spec_version` is that of its file.
    """

    session: Session
    choice: Choice
    result: TestResult
    variables: Variables
    spec_version: str
    webhook: TestWebhook | None = None
    task_ids: frozenset[str] = field(default=frozenset(), init=False)
    _sent: list[int] = field(default_factory=list, init=False)
    _running: tuple[Step, float, int] | None = field(default=None, init=False)
    """The running step, the time of its start, and how many requests were sent before it."""

    @property
    def test(self) -> Test:
        """Return the test."""
        return self.result.test

    async def run(self, seconds: float) -> None:
        """Run the steps and the assertions, and write the outcome into the result; `seconds` is the limit of time."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                await self._run()
        except TimeoutError:
            self._time_out(seconds)
        finally:
            self.result.seconds = time.monotonic() - began
            if self.webhook is not None:
                self.webhook.stop()
        self._check_test()

    def _time_out(self, seconds: float) -> None:
        """Add the failure of a test that took too long, and the step that did not end."""
        message, wanted = f"timed out after {seconds:g} s", f"the end within {seconds:g} s"
        if self._running is None:
            self._fail(Failure(message, "", wanted, "no end"))
            return
        step, began, before = self._running
        sent = tuple(self._sent[before:])
        failure = Failure(message, step.id, wanted, "no end", exchange=sent[-1] if sent else 0)
        self.result.steps.append(StepResult(step.id, Status.FAIL, time.monotonic() - began, (failure,), sent))
        self._fail(failure)

    async def _run(self) -> None:
        try:
            await self._run_steps()
        except _ERRORS as error:
            self._fail(self._error(error), status=Status.ERROR)

    async def _run_steps(self) -> None:
        if needs(self.test, Requirement.WEBHOOK):
            self.webhook = TestWebhook(self.session)
            await self.webhook.start()
        for step in self.test.steps:
            self._running = step, time.monotonic(), len(self._sent)
            if not await self._run_step(step):
                return
        self._running = None
        if self.webhook is not None:
            expected = self.test.extension.pushes or PushExpectation(timeout_ms=15_000)
            self._fail(*self._failures(await self.webhook.check(expected)))
        self._fail(*self._failures(self._assertion_mismatches(self.test.assertions)))
        if not self.result.failures:
            self.result.status = Status.PASS

    async def _run_step(self, step: Step) -> bool:
        """Run a step and add its result; return whether the next step can run."""
        began, before = time.monotonic(), len(self._sent)
        found: tuple[Failure, ...] = ()
        try:
            found = self._failures(await self._perform(step), step.id, before)
            status = Status.FAIL if found else Status.PASS
        except StepSkipped as error:
            self.result.reason, status = str(error), Status.SKIP
        except StepFailedError as error:
            found, status = self._failures([error.mismatch], step.id, before), Status.FAIL
        except _ERRORS as error:
            found, status = (self._error(error, step.id),), Status.ERROR
        sent = tuple(self._sent[before:])
        self.result.steps.append(StepResult(step.id, status, time.monotonic() - began, found, sent))
        self._fail(*found, status=status)
        return status is Status.PASS

    def _failures(self, found: list[Mismatch], step: str = "", before: int | None = None) -> tuple[Failure, ...]:
        """Return mismatches as failures, with the last request that was sent since there were `before` requests."""
        sent = [] if before is None else self._sent[before:]
        return failures_of(found, step, sent[-1] if sent else 0, mask=self._mask)

    def _error(self, error: Exception, step: str = "") -> Failure:
        return Failure(self._mask(str(error)), step)

    def _mask(self, text: str) -> str:
        """Mask secrets before a text is shortened or written in another format: the agent may have repeated them."""
        return self.session.journal.redactor.text(text)

    def _fail(self, *failures: Failure, status: Status = Status.FAIL) -> None:
        if failures:
            self.result.failures += failures
            self.result.status = status

    async def _perform(self, step: Step) -> list[Mismatch]:
        if isinstance(step, AssertionStep):
            return self._assertion_mismatches([step.assertion, *step.assertions])
        if isinstance(step, ClientStep):
            root = parsed_root(step.client_response, self.spec_version)
            self.variables.results[step.id] = root
            found = mismatches(self.variables.resolve(step.expect_parsed), root)
            return found or self._assertion_mismatches(step.assertions)
        await asyncio.sleep(step.delay_ms / 1000)
        response = await self._respond(step)
        self.result.denied |= response.denied
        if response.unreached is not None:
            raise FaultError(response.unreached)
        self.variables.results[step.id] = response.body if response.body is not None else {"events": response.events}
        found = self._expected(step, response)
        if not found:
            found = self._capture(step, response)
        return found or self._assertion_mismatches(step.assertions)

    async def _respond(self, step: OperationStep | RawStep) -> Response:
        """Send the request of a step, again until the condition of `repeat` is met."""
        response, repeat, attempt = await self._call(step), step.repeat, 1
        while repeat is not None and not (condition := self._condition(repeat)).is_met(response.body):
            if attempt == repeat.max_attempts:
                actual = quote(value_at(response.body, condition.path))
                raise StepFailedError(Mismatch(condition.path, f"{repeat.until} after {attempt} attempts", actual))
            await asyncio.sleep(repeat.delay(attempt))
            response, attempt = await self._call(step), attempt + 1
        return response

    async def _call(self, step: OperationStep | RawStep) -> Response:
        """Send the request of a step; raises `StepFailedError` if its stream does not end in time."""
        milliseconds = step.expect_stream.timeout_ms if step.expect_stream else None
        limit = None if milliseconds is None else milliseconds / 1000
        label = f"{self.test.id} {step.id}"
        # A test about credentials sends its own, or none.
        signed = not needs(self.test, Requirement.AUTH_CREDENTIALS)
        caller = Caller(self.session, self.choice, self._sent, label, signed=signed)
        try:
            if isinstance(step, RawStep):
                return await caller.raw(self._resolved_raw(step.raw), limit)
            return await self._call_operation(step, caller, limit)
        except TimeoutError:  # the limit of the test cancels instead
            wanted = f"the end of the stream within {milliseconds} ms"
            raise StepFailedError(Mismatch("events", wanted, "a stream that stays open")) from None

    async def _call_operation(self, step: OperationStep, caller: Caller, limit: float | None) -> Response:
        params = self._with_webhook(step.params)
        if OPERATIONS.get(step.operation) in STREAMING:
            if needs(self.test, Requirement.STREAM_DISCONNECT):
                return await reconnect(caller, step.operation, params, limit)
            if needs(self.test, Requirement.CONCURRENT_STREAMS):
                return await observe_twice(caller, step.operation, params, limit)
        return await caller.operation(step.operation, params, limit)

    def _resolved_raw(self, raw: RawRequest) -> RawRequest:
        """Return a request with all variables replaced; raises `StepError` if it sends the environment elsewhere."""
        variables = self.variables
        variables.environment.clear()
        resolved: dict[str, Any] = {
            "path": variables.text(raw.path),
            "headers": {variables.text(name): variables.text(value) for name, value in raw.headers.items()},
            "body": variables.resolve(raw.body),
            "body_raw": None if raw.body_raw is None else variables.text(raw.body_raw),
        }
        place = origin(resolved["path"])
        if variables.environment and place and place not in self._origins:
            names = ", ".join(sorted(variables.environment))
            raise StepError(f"the environment variable {names} is not sent to {place}; --trust {place} allows it")
        return raw.model_copy(update=resolved)

    @property
    def _origins(self) -> set[str]:
        """Return the origins of the agent, and those that the user trusts."""
        connection, trusted = self.session.connection, self.session.settings.trusted
        urls = (self.choice.interface.url, connection.url if connection else "", *map(with_scheme, trusted))
        return {origin(url) for url in urls}

    def _with_webhook(self, params: Mapping[str, Json]) -> dict[str, Json]:
        """Return parameters with all variables replaced; a push configuration gets the URL of our webhook."""
        resolved: dict[str, Json]
        if self.webhook is None or WEBHOOK_VARIABLE not in references(params):
            resolved = self.variables.resolve(dict(params))
            return resolved
        config = _push_config(dict(params))
        own = {name: value for name, value in config.items() if WEBHOOK_VARIABLE not in references(value)}
        url, token = self.webhook.register(self.variables.resolve(own), self.choice.dialect.version)
        self.variables.given = {**self.variables.given, WEBHOOK_VARIABLE: url}
        resolved = self.variables.resolve(dict(params))
        config = _push_config(resolved)
        if "url" in config and not (config.get("token") or config.get("authentication")):
            config["token"] = token
        return resolved

    def _condition(self, repeat: Repeat) -> Condition:
        try:
            return Condition.of(self.variables.text(repeat.until))
        except ValueError as error:
            raise StepError(str(error)) from error

    def _expected(self, step: OperationStep | RawStep, response: Response) -> list[Mismatch]:
        """Return how a response differs from the expectations of its step."""
        resolve, found, raw = self.variables.resolve, list[Mismatch](), isinstance(step, RawStep)
        if step.expect_error is not None:
            expected = ExpectError.model_validate(resolve(step.expect_error.model_dump(exclude_unset=True)))
            found += expectations.error_mismatches(expected, response)
        if step.expect is not None:
            expect = Expect(**resolve(step.expect.model_dump(exclude_unset=True)))
            found += expectations.expect_mismatches(expect, response, raw=raw)
        if step.expect_stream is not None:
            stream = ExpectStream(**resolve(step.expect_stream.model_dump(exclude_unset=True)))
            found += expectations.stream_mismatches(stream, response)
        if not (step.expect or step.expect_error or step.expect_stream or raw):
            found += expectations.success_mismatches(response)
        if not found and needs(self.test, Requirement.HEADER_INSPECTION):
            is_card = step.raw.path.startswith(WELL_KNOWN) if isinstance(step, RawStep) else step.operation == CARD
            found += inspect_headers(response, self.choice.binding.name, self.test.level, is_card=is_card)
        if step.extension is not None and not found:
            found += expectations.response_time_mismatches(step.extension, response)
            if step.extension.headers:
                found += expectations.header_mismatches(resolve(step.extension.headers), response)
            for artifact in step.extension.artifacts:
                wanted = artifact.model_copy(update=resolve(artifact.model_dump(exclude_unset=True)))
                found += expectations.artifact_mismatches(wanted, response, self.session)
        return found

    def _capture(self, step: OperationStep | RawStep, response: Response) -> list[Mismatch]:
        """Capture values; the values of a stream are those of its last event that has them."""
        found: list[Mismatch] = []
        for name, path in step.capture.items():
            roots = [response.body, *reversed(response.events)]
            values = (value_at(root, path) for root in roots)
            value = next((value for value in values if value is not MISSING), MISSING)
            if value is MISSING:
                found.append(Mismatch(path, f"a value to capture as {name}", "nothing"))
            self.variables.captured[f"{step.id}.{name}"] = value
        return found

    def _assertion_mismatches(self, assertions: list[Assertion]) -> list[Mismatch]:
        found: list[Mismatch] = []
        for assertion in assertions:
            source = self.variables.resolve(_as_reference(assertion.source))
            value = value_at(source, assertion.path)
            if assertion.match is not None:
                found += mismatches(self.variables.resolve(assertion.match), value, assertion.path)
            for quantifier in ("any", "all", "none"):
                wanted = getattr(assertion, quantifier)
                if wanted is not None:
                    match = self.variables.resolve(wanted.match)
                    mismatch = collection_mismatch(quantifier, wanted.path, match, value)
                    found += [mismatch] if mismatch else []
        return found

    def _check_test(self) -> None:
        """Collect the findings, and check what our additions expect of the whole test."""
        extension, result, records = self.test.extension, self.result, self._records()
        result.rules = frozenset(expectations.severe_rules(records))
        self.task_ids = frozenset(record.task for record in records) - {""}
        if result.status is not Status.PASS:
            return
        found = time_mismatches(("the test", extension.total_ms, result.seconds))
        findings = extension.findings
        if findings is None and _SCHEMA_TAG in self.test.tags:
            findings = FindingsExpectation(max="warning")
        if findings is not None:
            found += expectations.finding_mismatches(findings, records)
        if extension.no_secrets:
            found += expectations.secret_mismatches(records, self.session.journal.masked)
        self._fail(*failures_of(found, exchange=self._sent[0] if self._sent else 0, mask=self._mask))

    def _records(self) -> list[Record]:
        """Return the records of the exchanges and the deliveries of the test."""
        capture = self.session.journal.capture
        found = [record for number in self._sent for record in capture.select(exchange=number, after=number - 1)]
        return found + (self.webhook.deliveries if self.webhook else [])


def _as_reference(source: str) -> str:
    return source if "{{" in source else f"{{{{{source}}}}}"


def _push_config(params: dict[str, Json]) -> dict[str, Json]:
    """Return the push configuration in parameters, which are one themselves if they contain none."""
    for owner in (params, params.get("configuration")):
        for name in ("taskPushNotificationConfig", "pushNotificationConfig"):
            config = owner.get(name) if isinstance(owner, Mapping) else None
            if isinstance(config, dict):
                return config
    return params
