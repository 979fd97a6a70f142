"""`doctor`: check step by step whether an agent works as its card declares, with a remedy for each problem."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from inspector.capture.paths import recent_captures
from inspector.cli.arguments import Invocation
from inspector.cli.output import MARKS, Output
from inspector.cli.run_command import Run, run
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Proposal, Report, Step
from inspector.session.push.diagnose import Likely, examine

_MOST_CAPTURES = 20
"""The number of the newest captures that are searched for deliveries to the webhooks of other runs."""


def doctor(invocation: Invocation, out: Output) -> int:
    """Examine an agent, or with `--push` the pushes of a task; raises `FaultError` if something is wrong."""
    return run(invocation, out, _examine_push if invocation.given.push else _examine)


async def _examine_push(current: Run) -> None:
    """Print why the pushes of a task are missing; raises `FaultError` for a likely cause."""
    out, task_id = current.out, current.invocation.given.push
    await current.connect()
    current.check_interface()
    captures = [one.path for one in recent_captures(_MOST_CAPTURES)]
    found = await examine(current.session, task_id, captures)
    blamed = [cause for cause in found.causes if cause.likely <= Likely.LIKELY]
    if out.json:
        causes = [{**asdict(cause), "likely": cause.likely.name.lower()} for cause in found.causes]
        out.document({"taskId": task_id, "causes": causes, "accepted": found.good, "notSeen": found.unseen})
    for cause in () if out.json else found.causes:
        out.field(cause.likely.name.capitalize().replace("_", " "), f"{cause.name}: {cause.evidence}")
        if cause.remedy:
            out.field("  Remedy", cause.remedy)
    for unseen in () if out.json else found.unseen:
        out.field("Not seen", unseen)
    if blamed:
        seen = f"{blamed[0].name}: {blamed[0].evidence}."
        raise FaultError(Fault(Whose.AGENT, FaultCode.INTERNAL, f"{seen[0].upper()}{seen[1:]}", blamed[0].remedy))


async def _examine(current: Run) -> None:
    reference, out = current.reference(), current.out
    examination = Doctor(current.session, reference, current.invocation.given.message or "")
    report = examination.report
    async for step in examination.examine():
        if not out.json:
            _print_step(out, step)
    if out.json:
        out.document(_as_json(current, report))
    else:
        _print_findings(current, report)
    if report.fault is not None:
        raise FaultError(report.fault)
    if not report.passed:
        bad = [step for step in report.steps if step.good is False]
        first = f"{bad[0].name}: {bad[0].seen.rstrip('.')}"
        seen = f"{len(bad)} of {len(report.steps)} steps went wrong, the first: {first}."
        raise FaultError(Fault(Whose.AGENT, FaultCode.INTERNAL, seen, bad[0].remedy))


def _print_step(out: Output, step: Step) -> None:
    took = f", {step.seconds:.3f} s" if step.seconds else ""
    out.field("Step", f"{MARKS[step.good]} {step.name}{took}: {step.seen}")
    if step.remedy:
        out.field("  Remedy", step.remedy)
    out.flush()


def _print_findings(current: Run, report: Report) -> None:
    out = current.out
    for proposal in report.proposals:
        spoken = f"{proposal.choice.dialect.version} over {proposal.choice.binding.name}"
        command = _command(current, proposal)
        out.field("Proposal", f"{proposal.why}: {command or f'{spoken} at {_url(current, proposal)}'}")
    for row in report.table:
        out.field("Observed", f"{MARKS[row.agree]} {row.thing}: declared {row.declared}; seen {row.observed}")
    out.field("Sound", "yes" if report.passed else "no")


def _command(current: Run, proposal: Proposal) -> str:
    """Return the command for a proposal; `""` if its interface is not on the card."""
    connection, choice, invocation = current.session.connection, proposal.choice, current.invocation
    if connection is None or choice.interface not in connection.card.supported_interfaces:
        return ""
    pinned = replace(invocation.options, a2a_version=choice.dialect.version, transports=(choice.binding.name,))
    proposed = replace(current, invocation=replace(invocation, options=pinned))
    return current.out.redact(proposed.again("send", "--text", "hello"))


def _url(current: Run, proposal: Proposal) -> str:
    return current.session.journal.redactor.url(proposal.choice.interface.url)


def _as_json(current: Run, report: Report) -> dict[str, Any]:
    return {
        "reference": report.reference,
        "sound": report.passed,
        "steps": [asdict(step) | {"seconds": round(step.seconds, 6)} for step in report.steps],
        "proposals": [
            {
                "url": _url(current, one),
                "protocolVersion": one.choice.dialect.version,
                "binding": one.choice.binding.name,
                "why": one.why,
                "command": _command(current, one) or None,
            }
            for one in report.proposals
        ],
        "observed": [asdict(row) for row in report.table],
    }
