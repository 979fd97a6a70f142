"""Fixtures: a running receiver with long or short time limits."""

import pytest
from closed_port import closed_port  # noqa: F401 - a fixture
from receiving import QUICK, opened


@pytest.fixture
async def running():
    async with opened() as running:
        yield running


@pytest.fixture
async def quick():
    async with opened(QUICK) as running:
        yield running
