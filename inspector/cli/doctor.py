"""`doctor`: check step by step whether an agent works as its card declares, with a remedy for each problem."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from inspector.cli.arguments import Invocation
from inspector.cli.output import MARKS, Output
from inspector.cli.run_command import Run, run
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Proposal, Report, Step


def doctor(invocation: Invocation, out: Output) -> int:
    """Check an agent; raises `FaultError` if a check failed."""
    return run(invocation, out, _examine, check=True)


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
        failed = [step for step in report.steps if step.passed is False]
        first = f"{failed[0].name}: {failed[0].message.rstrip('.')}"
        seen = f"{len(failed)} of {len(report.steps)} steps failed. The first: {first}."
        raise FaultError(Fault(Whose.AGENT, FaultCode.INTERNAL, seen, failed[0].remedy))


def _print_step(out: Output, step: Step) -> None:
    took = f", {step.seconds:.3f} s" if step.seconds else ""
    out.field("Step", f"{MARKS[step.passed]} {step.name}{took}: {step.message}")
    if step.remedy:
        out.field("  Remedy", step.remedy)
    out.flush()


def _print_findings(current: Run, report: Report) -> None:
    out = current.out
    for proposal in report.proposals:
        protocol = f"{proposal.choice.dialect.version} over {proposal.choice.binding.name}"
        command = _command(current, proposal)
        out.field("Proposal", f"{proposal.reason}: {command or f'{protocol} at {_url(current, proposal)}'}")
    for row in report.comparisons:
        out.field("Comparison", f"{MARKS[row.matches]} {row.feature}: declared {row.declared}; observed {row.observed}")
    out.field("Valid", "yes" if report.passed else "no")


def _command(current: Run, proposal: Proposal) -> str:
    """Return a command that uses the proposed interface; `""` if the interface is not on the card."""
    connection, choice, invocation = current.session.connection, proposal.choice, current.invocation
    if connection is None or choice.interface not in connection.card.supported_interfaces:
        return ""
    chosen = replace(invocation.options, a2a_version=choice.dialect.version, transports=(choice.binding.name,))
    proposed = replace(current, invocation=replace(invocation, options=chosen))
    return current.out.redact(proposed.shell_command("send", "--text", "hello"))


def _url(current: Run, proposal: Proposal) -> str:
    return current.session.journal.redactor.url(proposal.choice.interface.url)


def _as_json(current: Run, report: Report) -> dict[str, Any]:
    return {
        "reference": report.reference,
        "valid": report.passed,
        "steps": [asdict(step) | {"seconds": round(step.seconds, 6)} for step in report.steps],
        "proposals": [
            {
                "url": _url(current, proposal),
                "protocolVersion": proposal.choice.dialect.version,
                "binding": proposal.choice.binding.name,
                "reason": proposal.reason,
                "command": _command(current, proposal) or None,
            }
            for proposal in report.proposals
        ],
        "comparisons": [asdict(row) for row in report.comparisons],
    }
