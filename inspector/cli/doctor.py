"""`doctor`: check step by step whether an agent works as its card declares, with a remedy for each problem."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import asdict, replace
from typing import Any

from inspector.cli.arguments import Invocation
from inspector.cli.output import Output
from inspector.cli.run_command import run
from inspector.cli.running_command import RunningCommand
from inspector.cli.styles import Role, Styled, mark
from inspector.protocol.errors import Fault, FaultCode, FaultError, FaultKind, Whose
from inspector.session.doctor.credentials import LOG_IN
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import (
    CREDENTIALS,
    NEEDS_MESSAGE,
    NOT_CHECKED,
    Proposal,
    Report,
    Step,
)
from inspector.text.units import counted, duration


def doctor(invocation: Invocation, out: Output) -> int:
    """Check an agent; raises `FaultError` if a check failed."""
    return run(invocation, out, _examine, check=True, outdated=True)


async def _examine(current: RunningCommand) -> None:
    reference, out = current.reference(), current.out
    examination = Doctor(current.session, reference, current.invocation.given.message or "")
    report = examination.report
    try:
        with out.progress.waiting(lambda: _progress(report)):
            async for _ in examination.examine():
                pass
    except asyncio.CancelledError:  # ctrl+c or --timeout
        if out.json:
            out.document(_as_json(current, report) | {"valid": None})
        else:
            out.field("Valid", Styled("unknown", Role.WARNING), ", not all checks were made")
            _print_details(current, report)
        last = f", the last: {report.steps[-1].name}" if report.steps else ""
        raise asyncio.CancelledError(f"{counted(len(report.steps), 'check')} made{last}") from None
    if out.json:
        out.document(_as_json(current, report))
    else:
        _print_verdict(out, report)
        _print_interfaces(current, report)
        _print_details(current, report)
        _print_not_checked(out, report)
    if report.fault is not None:
        raise current.with_names(FaultError(report.fault))
    if not report.passed:
        failed = [step for step in report.steps if step.passed is False]
        first = f"{failed[0].name}: {failed[0].message.rstrip('.')}"
        seen = f"{len(failed)} of {len(report.steps)} steps failed. The first: {first}."
        whose, code, hint = Whose.AGENT, FaultCode.CHECK_FAILED, failed[0].remedy
        if report.proposals and failed[0].interface:
            reason = report.proposals[0].reason
            hint = f"Correct the card. {reason[:1].upper()}{reason[1:]}."
        if all(step.denied or step.name == CREDENTIALS for step in failed):
            whose, code = Whose.YOURS, FaultCode.CREDENTIALS_MISSING
            hint = _with_command(current, failed[0])
        raise FaultError(Fault(whose, code, seen, hint))


def _with_command(current: RunningCommand, step: Step) -> str:
    """Return the remedy for missing or rejected credentials with how to get them, unless it contains that."""
    remedy = step.remedy
    if step.fault_kind is FaultKind.UNEXPLAINED_REJECTION:
        return current.rejected_hint(remedy)
    login = current.login_hint()
    if remedy == LOG_IN and login:
        return f"{login}. Or add --bearer or --header."
    complete = step.only_options or step.fault_kind is FaultKind.CLIENT_CERTIFICATE
    complete = complete or any(named in remedy for named in ("auth login", "--trust"))
    return remedy if complete else f"{remedy} {login}".strip()


def _progress(report: Report) -> str:
    last = f" after {report.steps[-1].name}" if report.steps else ""
    return f"checking{last}: {len(report.steps)} checks made"


def _print_verdict(out: Output, report: Report) -> None:
    """Print whether a check failed, and the first failure."""
    results = Counter(step.passed for step in report.steps)
    if report.passed:
        unknown = f", {results[None]} unknown" if results[None] else ""
        out.field("Valid", Styled("yes", Role.GOOD), f", {results[True]} checks passed{unknown}")
        return
    first = next(step for step in report.steps if step.passed is False)
    failed = f", {results[False]} of {len(report.steps)} checks failed: {first.name}: {first.message}"
    out.field("Valid", Styled("no", Role.BAD), failed)


def _print_not_checked(out: Output, report: Report) -> None:
    """Print which capabilities need a message to be checked, and the option that sends one."""
    features = [row.feature for row in report.comparisons if row.observed == NEEDS_MESSAGE]
    if features:
        out.field("Not checked", f"{', '.join(features)}. To check: --message TEXT, which sends a message to the agent")


def _print_interfaces(current: RunningCommand, report: Report) -> None:
    """Print a line for each interface: its result, what the card declares, and what differs from it."""
    connection = current.session.connection
    if connection is None:
        return
    for row, interface in zip(report.interfaces, connection.card.supported_interfaces, strict=True):
        steps = [step for step in report.steps if step.interface == row.feature]
        failed = [step.message for step in steps if step.passed is False]
        passed = False if failed else row.matches
        if failed or (passed is None and not steps[-1].passed):
            result = f": {(failed or [step.message for step in steps])[-1]}"
        else:
            result = "" if passed else f": observed {row.observed}"
        url = current.session.journal.redactor.url(interface.url)
        current.out.field("Interface", mark(passed), f" {row.declared} at {url}{result}")


def _print_details(current: RunningCommand, report: Report) -> None:
    """Print the steps, the proposals and the comparisons of capabilities."""
    out = current.out
    for step in report.steps:
        took = f", {duration(step.seconds)}" if step.seconds else ""
        out.field("Step", mark(step.passed), f" {step.name}{took}: {step.message}")
        if step.remedy:
            out.field("  Remedy", step.remedy)
    for proposal in report.proposals:
        protocol = f"{proposal.choice.dialect.version} over {proposal.choice.binding.name}"
        command = _command(current, proposal)
        out.field("Proposal", f"{proposal.reason}: {command or f'{protocol} at {_url(current, proposal)}'}")
    for row in report.comparisons:
        observed = row.observed if row.observed.startswith(NOT_CHECKED) else f"observed {row.observed}"
        differs = f" {row.feature}: declared {row.declared}; {observed}"
        out.field("Comparison", mark(row.matches), differs)


def _command(current: RunningCommand, proposal: Proposal) -> str:
    """Return a command that uses the proposed interface; `""` if the interface is not on the card."""
    connection, choice, invocation = current.session.connection, proposal.choice, current.invocation
    if connection is None or choice.interface not in connection.card.supported_interfaces:
        return ""
    chosen = replace(invocation.options, a2a_version=choice.dialect.version, transports=(choice.binding.name,))
    proposed = replace(current, invocation=replace(invocation, options=chosen))
    return current.out.redact(proposed.shell_command("send", "--text", "hello"))


def _url(current: RunningCommand, proposal: Proposal) -> str:
    return current.session.journal.redactor.url(proposal.choice.interface.url)


def _as_json(current: RunningCommand, report: Report) -> dict[str, Any]:
    return {
        "reference": report.reference,
        "valid": report.passed,
        "steps": [step.to_json() | {"seconds": round(step.seconds, 6)} for step in report.steps],
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
        "comparisons": [asdict(row) for row in (*report.interfaces, *report.comparisons)],
    }
