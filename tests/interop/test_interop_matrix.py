"""Every operation on every interface that the agents of the official SDKs declare, as the kept table says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import table
from conftest import Agent
from trials import TRIALS, RefusedError

from inspector.findings.finding import Severity
from inspector.protocol.errors import FaultError
from inspector.protocol.operations import REQUESTS
from inspector.session.session import Session
from inspector.session.settings import Settings

pytestmark = pytest.mark.interop

KEPT = table.kept()


@pytest.mark.parametrize(("agent", "transport", "column"), table.keys(), indirect=["agent"])
async def test_an_operation_does_what_the_table_says(
    agent: Agent, transport: str, column: str, tmp_path: Path, record_property: Callable[[str, object], None]
):
    session = Session(tmp_path / "capture", Settings(transports=(transport,)))
    try:
        await session.connect(agent.url)
        assert session.choice.binding.name == transport
        assert session.choice.dialect.version == agent.version
        seen = await verdict(session, (agent.name, transport, column))
    finally:
        await session.close()
    record_property("cell", [agent.name, transport, column, seen])
    said = KEPT.get((agent.name, transport, column), "nothing")
    assert seen == said, "the kept table is not what ran; this run has written it anew, if it came to its end"


async def verdict(session: Session, key: table.Key) -> str:
    """Try one operation and return the words of its cell; fails where neither agent nor version is the reason."""
    operation, trial = TRIALS[key[-1]]
    choice = session.choice
    if not choice.binding.offers(choice.dialect, operation):
        assert session.unavailable_reason(operation).endswith(f"has no {operation.value}")
        with pytest.raises(FaultError):
            session.call(operation, REQUESTS[operation].model_construct(), choice=choice)
        return table.missing(key[0])
    assert session.unavailable_reason(operation) == ""
    try:
        await trial(session)
    except RefusedError as refused:
        assert key in table.LIMITS, f"the agent refused it: {refused}"
        return f"{table.REFUSED}{refused}"
    assert key not in table.LIMITS, "the SDK does it after all"
    found = [finding for record in session.journal.capture.select() for finding in record.findings]
    assert [finding for finding in found if finding.severity is Severity.ERROR] == []
    return table.OK
