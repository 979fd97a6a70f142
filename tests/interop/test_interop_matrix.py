"""Each operation over each interface of the agents has the result in docs/compatibility.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import table
from sdk_agent import Agent
from trials import TRIALS, RefusedError

from inspector.findings.finding import Severity
from inspector.protocol.errors import FaultError
from inspector.protocol.operations import REQUESTS
from inspector.session.session import Session
from inspector.session.settings import Settings

pytestmark = pytest.mark.interop

TABLE = table.read_table()


@pytest.mark.parametrize(("agent", "transport", "column"), table.keys(), indirect=["agent"])
async def test_an_operation_has_the_result_in_the_table(
    agent: Agent, transport: str, column: str, tmp_path: Path, record_property: Callable[[str, object], None]
):
    session = Session(tmp_path / "capture", Settings(transports=(transport,)))
    try:
        await session.connect(agent.url)
        assert session.choice.binding.name == transport
        assert session.choice.dialect.version == agent.version
        actual = await result_of(session, (agent.name, transport, column))
    finally:
        await session.close()
    record_property("cell", [agent.name, transport, column, actual])
    expected = TABLE.get((agent.name, transport, column), "nothing")
    assert actual == expected, "docs/compatibility.md has another result; a complete run updates the file"


async def result_of(session: Session, key: table.Key) -> str:
    """Try one operation and return the text of its cell; fails for a defect of the inspector."""
    operation, trial = TRIALS[key[-1]]
    choice = session.choice
    if not choice.binding.offers(choice.dialect, operation):
        assert session.unavailable_reason(operation).endswith(f"does not have {operation.value}")
        with pytest.raises(FaultError):
            session.call(operation, REQUESTS[operation].model_construct(), choice=choice)
        return table.missing(key[0])
    assert session.unavailable_reason(operation) == ""
    try:
        await trial(session)
    except RefusedError as refused:
        assert key in table.LIMITS, f"the agent rejected the operation: {refused}"
        return f"{table.REJECTED}{refused}"
    assert key not in table.LIMITS, "the SDK implements the operation now: update LIMITS"
    found = [finding for record in session.journal.capture.select() for finding in record.findings]
    assert [finding for finding in found if finding.severity is Severity.ERROR] == []
    return table.OK
