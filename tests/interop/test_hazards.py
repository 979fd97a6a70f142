"""The findings about the bytes that `test_interop_hazards.py` sends to real clients."""

from __future__ import annotations

from pathlib import Path

import hazard_agent
import hazards_table
import pytest
import table

from inspector.findings.hazards import BYTES, FAILURES, Failure, Hazard, Unit, versions_of
from inspector.findings.rules import RULES
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session

LARGE = 100_000
"""Longer lines take seconds and are left out; `tests/findings/stream/test_frames.py` has their findings."""


@pytest.mark.parametrize(("version", "binding"), [("1.0", "JSONRPC"), ("1.0", "HTTP+JSON"), ("0.3", "JSONRPC")])
async def test_findings_name_exactly_the_clients_that_the_bytes_break(tmp_path: Path, version: str, binding: str):
    with hazard_agent.serving() as base:
        for name in hazard_agent.streams_over(binding):
            if name.startswith("SIZE") and int(name.partition("-")[2]) > LARGE:
                continue
            expected = {row for row in hazard_agent.rows_for(name, binding) if row.client.version == version}
            found = await findings_about(hazard_agent.url_of(base, version, binding, name), tmp_path / f"{name}.a2acap")
            for hazard in Hazard:
                named = {row for row in FAILURES if row.hazard is hazard and str(row.client) in found.get(hazard, "")}
                assert {row.client for row in named} == {row.client for row in expected if row.hazard is hazard}, name


async def findings_about(url: str, file: Path) -> dict[str, str]:
    """Return what the findings about a stream say, by rule."""
    session = Session(file)
    await session.connect(url)
    await session.send(text_draft("x"), stream=True).finish()
    records = session.journal.capture.select()
    found = {finding.rule: finding.seen for record in records for finding in record.findings}
    await session.close()
    return found


def test_each_hazard_has_a_rule_for_the_versions_of_its_clients():
    assert set(BYTES) == set(Hazard)
    for hazard in Hazard:
        assert RULES[hazard].severity == "hint"
        assert RULES[hazard].versions == versions_of(hazard)


def test_a_row_about_a_client_that_is_not_run_names_the_file_of_its_source():
    assert [row for row in FAILURES if bool(row.client.source) is not bool(row.file)] == []
    assert [row for row in FAILURES if bool(row.limit) is not (row.hazard in (Hazard.SIZE, Hazard.DEPTH))] == []
    keys = [(row.hazard, row.client) for row in FAILURES]
    assert len(set(keys)) == len(keys)


def test_limits_of_lines_and_of_nesting_have_their_units():
    def units(hazard: Hazard) -> set[Unit]:
        return {row.unit for row in FAILURES if row.hazard is hazard}

    assert units(Hazard.SIZE) <= {Unit.BYTES, Unit.UTF16}
    assert units(Hazard.DEPTH) <= {Unit.LEVELS, Unit.PROTOBUF}
    assert isinstance(FAILURES[0], Failure)


def test_the_documentation_has_the_current_table():
    assert table.FILE.read_text(encoding="utf-8").endswith(hazards_table.section())
