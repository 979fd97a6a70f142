"""`doctor --push`: diagnose why the push notifications of a task are missing."""

from __future__ import annotations

from typing import Any

from inspector.capture.paths import recent_captures
from inspector.cli.run_command import command_for_any_version
from inspector.cli.running_command import RunningCommand
from inspector.cli.styles import Role, Styled
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.lifecycle import short
from inspector.session.push.causes import Cause, Likely
from inspector.session.push.diagnose import examine

_ROLES = {
    Likely.CERTAIN: Role.BAD,
    Likely.LIKELY: Role.BAD,
    Likely.POSSIBLE: Role.WARNING,
    Likely.RULED_OUT: Role.SOFT,
}


@command_for_any_version
async def push_doctor(current: RunningCommand) -> None:
    """Print why the push notifications of a task are missing; raises `FaultError` for a likely cause."""
    out, task_id = current.out, current.invocation.given.push
    await current.connect()
    current.check_interface()
    captures = [recent.path for recent in recent_captures()]
    with out.progress.waiting(lambda: "searching for missing deliveries"):
        found = await examine(current.session, task_id, captures)
    likely = [cause for cause in found.causes if cause.likely <= Likely.LIKELY]
    if out.json:
        causes = [_cause_json(cause) for cause in found.causes]
        out.document({"taskId": task_id, "causes": causes, **found.to_json()})
    if found.missing_end and not out.json:
        out.field("Not pushed", f"the last state of the task, {short(found.missing_end)}: it is late or missing")
    for cause in () if out.json else found.causes:
        label = cause.likely.name.capitalize().replace("_", " ")
        out.field(label, Styled(cause.name, _ROLES[cause.likely]), f": {cause.evidence}")
        if cause.remedy:
            out.field("  Remedy", cause.remedy)
    for reason in () if out.json else found.not_checked:
        out.field("Not checked", reason)
    if found.others and not out.json:
        out.field("Other senders", found.others)
    if likely:
        seen = f"{likely[0].name}: {likely[0].evidence.rstrip('.')}."
        raise FaultError(Fault(Whose.AGENT, FaultCode.CHECK_FAILED, f"{seen[0].upper()}{seen[1:]}", likely[0].remedy))


def _cause_json(cause: Cause) -> dict[str, Any]:
    likelihood = cause.likely.name.lower()
    return {"name": cause.name, "likelihood": likelihood, "evidence": cause.evidence, "remedy": cause.remedy}
