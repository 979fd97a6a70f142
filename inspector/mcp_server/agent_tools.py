"""The tools that call an agent: diagnosis, card, messages, tasks, push notifications and checks."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated, Literal

from pydantic import Field

from inspector.capture.paths import recent_captures
from inspector.lazy_dataclass import dataclass
from inspector.mcp_server.agents import Agents, SessionUse
from inspector.mcp_server.capture_tools import CaptureName, read_record
from inspector.mcp_server.files import readable_file
from inspector.mcp_server.results import MOST_ROWS, Result, refused, tool, without_blanks
from inspector.mcp_server.task_summary import answer_summary, settle
from inspector.protocol.operations import Operation
from inspector.session.call import Call
from inspector.session.card.lint import lint_reference
from inspector.session.check.plan import Selection, plan
from inspector.session.check.reading import read_check_files
from inspector.session.check.result import RunResult, TestResult
from inspector.session.check.runner import Runner, choices
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.session.doctor.doctor import Doctor
from inspector.session.lazy_loading import message_to_resend
from inspector.session.push.diagnose import examine

_MOST_FAILURES = 5

AgentName = Annotated[
    str,
    Field(description="A URL, a card file or a name of agents.toml; empty for the agent of the server's command line"),
]
Seconds = Annotated[float, Field(ge=0, le=600, description="How long to wait for the task to end or to need input")]


@dataclass(frozen=True, slots=True)
class AgentTools:
    """The tools that call an agent; each result names the records that show what was sent and received."""

    agents: Agents

    @tool
    async def doctor(
        self,
        agent: AgentName = "",
        message: Annotated[str, Field(description="Also send this message, to check streaming and push")] = "",
    ) -> Result:
        """Diagnose an agent step by step: name, connection, TLS, card, interfaces, and what differs from the card.

        Without `message`, only requests that change nothing are sent. A failed step has a remedy.
        """
        if message:
            self.agents.require_sending("doctor with a message")
        async with self.agents.use(agent) as use:
            examination = Doctor(use.session, use.reference, message)
            async for _ in examination.examine():
                pass
            report = examination.report
            steps = [
                without_blanks(step.to_json() | {"seconds": round(step.seconds, 3), "exchange": step.exchange or None})
                for step in report.steps
            ]
            proposals = [f"{each.reason}: {each.choice.interface.url}" for each in report.proposals]
            differences = [asdict(row) for row in (*report.interfaces, *report.comparisons) if row.matches is False]
            members = {"valid": report.passed, "steps": steps, "proposals": proposals, "differences": differences}
            return use.result(members)

    @tool
    async def card_lint(self, agent: AgentName = "") -> Result:
        """Check an Agent Card: the violated rules with JSON pointers and remedies."""
        async with self.agents.use(agent) as use:
            found = await lint_reference(use.session, use.reference)
            members = {"protocolVersion": found.version or "unknown"}
            return use.result(members, found.findings)

    @tool
    async def send(
        self,
        text: Annotated[str, Field(description="The text of the message")] = "",
        agent: AgentName = "",
        data: Annotated[str, Field(description="JSON text for a data part")] = "",
        files: Annotated[tuple[str, ...], Field(description="Files below the server's folder", max_length=10)] = (),
        task_id: Annotated[str, Field(description="Continue this task")] = "",
        context_id: Annotated[str, Field(description="Send in this context")] = "",
        seconds: Seconds = 30,
    ) -> Result:
        """Send a message and summarise the response: the state of the task, the beginning of its artifacts, findings.

        If the task has not ended in time, call `task` with its id. Needs --allow-send.
        """
        self.agents.require_sending("send")
        parts = [DraftPart(PartKind.FILE, str(readable_file(name))) for name in files]
        parts += [DraftPart(kind, value) for kind, value in ((PartKind.TEXT, text), (PartKind.DATA, data)) if value]
        if not parts:
            raise refused("The message has no parts. Pass text, data or files.")
        async with self.agents.use(agent) as use:
            connection = await use.session.connect(use.reference)
            draft = Draft(tuple(parts), task_id=task_id, context_id=context_id)
            call = use.session.send(draft, stream=bool(connection.card.capabilities.streaming))
            return await _answered(use, call, seconds)

    @tool
    async def replay(
        self,
        seq: Annotated[int, Field(ge=1, description="The number of a recorded request with a message")],
        capture: CaptureName = "",
        agent: AgentName = "",
        seconds: Seconds = 30,
    ) -> Result:
        """Send the message of a recorded request again, with a new message id. Needs --allow-send."""
        self.agents.require_sending("replay")
        request = message_to_resend(await asyncio.to_thread(read_record, capture, seq))
        async with self.agents.use(agent) as use:
            await use.session.connect(use.reference)
            task, context = request.message.task_id or "", request.message.context_id or ""
            call = use.session.call(Operation.SEND, request, task_id=task, context_id=context, label=f"record {seq}")
            return await _answered(use, call, seconds)

    @tool
    async def task(
        self,
        task_id: Annotated[str, Field(min_length=1)],
        agent: AgentName = "",
        action: Annotated[Literal["get", "cancel"], Field(description="cancel needs --allow-send")] = "get",
        seconds: Seconds = 0,
    ) -> Result:
        """Ask an agent for a task, or cancel it; with `seconds`, wait until it ends or needs input."""
        if action == "cancel":
            self.agents.require_sending("task with action cancel")
        async with self.agents.use(agent) as use:
            await use.session.connect(use.reference)
            call = use.session.cancel(task_id) if action == "cancel" else use.session.get(task_id)
            return await _answered(use, call, seconds)

    @tool
    async def push_diagnose(self, task_id: Annotated[str, Field(min_length=1)], agent: AgentName = "") -> Result:
        """Find out why push notifications of a task are missing: the causes, the most likely first, with evidence."""
        async with self.agents.use(agent) as use:
            await use.session.connect(use.reference)
            paths = [recent.path for recent in recent_captures()]
            found = await examine(use.session, task_id, paths)
            causes = [without_blanks(asdict(cause) | {"likely": cause.likely.name.lower()}) for cause in found.causes]
            return use.result(without_blanks({"causes": causes, **found.to_json()}))

    @tool
    async def check(
        self,
        files: Annotated[list[str], Field(min_length=1, max_length=20, description="Check files (ACTS, YAML)")],
        agent: AgentName = "",
        words: Annotated[tuple[str, ...], Field(description="Run tests whose id or name has one of these")] = (),
        seconds: Annotated[float, Field(gt=0, le=600, description="How long the run may last")] = 120,
    ) -> Result:
        """Run the tests of check files against an agent: the counts, and each failure with expected and actual values.

        Tests send messages, so this needs --allow-send.
        """
        self.agents.require_sending("check")
        planned = plan(read_check_files([readable_file(name) for name in files]), Selection(words))
        if not planned:
            raise refused("No test was selected.")
        async with self.agents.use(agent) as use:
            connection = await use.session.connect(use.reference)
            version, card = use.session.choice.dialect.version, connection.card
            run = RunResult(version, card.name, card.version, time.time())
            runner = Runner(use.session, choices(use.session, ()), planned, run)
            try:
                async with asyncio.timeout(seconds), aclosing(runner.results()) as results:
                    async for _ in results:
                        pass
            except TimeoutError:
                if not run.interrupted:
                    raise
            members = {
                "passed": run.passed,
                "interrupted": run.interrupted,
                "counts": asdict(run.counts),
                "planned": len(planned),
                "failures": [_failure(each) for each in run.failed[:MOST_ROWS]],
            }
            return use.result(members)


async def _answered(use: SessionUse, call: Call, seconds: float) -> Result:
    """Send a call, wait for its task, and summarise the response."""
    warnings = [warning.words for warning in call.warnings]
    await settle(use.session, call, seconds)
    return use.result(without_blanks({**answer_summary(use.session, call), "warnings": warnings}))


def _failure(failed: TestResult) -> Result:
    """Return why a test failed."""
    reasons = [
        without_blanks({**asdict(reason), "at": failed.planned.place(reason.step)})
        for reason in failed.failures[:_MOST_FAILURES]
    ]
    return without_blanks({"test": failed.test.id, "name": failed.test.name, "result": failed.status, "why": reasons})
