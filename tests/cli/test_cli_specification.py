"""The table of docs/cli-conformance.md: every requirement of the a2a-cli specification 0.2, checked on the mock agent.

UPDATE_TABLES=1 writes the table; otherwise a difference is a failure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import serve_in_thread
from login_user import no_keyring  # noqa: F401 - the fixture applies to the tests here
from puppets import MakeAgent, RunCli, ServerThread
from requirement_bench import Bench, Row, measure
from requirements_core import REQUIREMENTS
from requirements_more import TIER_2, TIER_3

PAGE = Path(__file__).parent.parent.parent / "docs" / "cli-conformance.md"
TIERS = {1: REQUIREMENTS, 2: TIER_2, 3: TIER_3}
HEAD = "| requirement | in short | command | result |\n|---|---|---|---|\n"


@pytest.fixture(scope="module")
def capable() -> Iterator[str]:
    """The mock agent with all capabilities, without pauses."""
    with serve_in_thread(profile=Profile(capabilities=ALL), pace=0) as url:
        yield url


@pytest.mark.parametrize("tier", TIERS)
def test_the_stored_table_has_the_results_of_today(
    tier: int,
    cli: RunCli,
    make_agent: MakeAgent,
    server_thread: ServerThread,
    capable: str,
    slow_mock: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    rows: list[Row] = []
    for requirement in TIERS[tier]:
        folder = tmp_path / requirement.id
        folder.mkdir()
        with Bench(cli, make_agent, server_thread, folder, capable, slow_mock) as bench:
            rows.append(measure(requirement, bench))
    failed = [f"{row.requirement.id}: {row.result}" for row in rows if row.result.startswith("failed")]
    assert not failed, "\n".join(failed)
    if os.environ.get("UPDATE_TABLES"):
        PAGE.write_text(replaced(PAGE.read_text("utf-8"), tier, rows), "utf-8")
    assert table(PAGE.read_text("utf-8"), tier) == "".join(f"{row.line()}\n" for row in rows)


def table(page: str, tier: int) -> str:
    """Return the rows of the table of a tier."""
    section = page.partition(f"## Tier {tier}\n")[2].partition("\n## ")[0]
    return section.partition(HEAD)[2].partition("\n\n")[0].rstrip("\n") + "\n"


def replaced(page: str, tier: int, rows: list[Row]) -> str:
    """Return the page with a new table of a tier."""
    title = f"## Tier {tier}\n"
    before, _, rest = page.partition(title)
    _, mark, after = rest.partition("\n## ")
    lines = "".join(f"{row.line()}\n" for row in rows)
    return f"{before}{title}\n{HEAD}{lines}{mark}{after}"


def test_the_table_has_every_requirement_once():
    ids = [requirement.id for requirements in TIERS.values() for requirement in requirements]
    assert len(ids) == len(set(ids)) == 66
    assert [len(requirements) for requirements in TIERS.values()] == [39, 15, 12]
