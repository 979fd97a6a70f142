"""Fixtures: an agent that is its own authorization server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from authority import Authority
from scripted import Agent


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))


@pytest.fixture
def authority(agent: Agent) -> Authority:
    return Authority(agent)
