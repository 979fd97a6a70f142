"""A session for the doctor."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from inspector.session.session import Session


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    made = Session(tmp_path / "capture")
    yield made
    await made.close()
