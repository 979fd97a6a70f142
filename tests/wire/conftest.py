"""Fixtures: a running receiver with long or short time limits."""

import pytest
from receiving import QUICK, opened


@pytest.fixture
async def desk():
    async with opened() as desk:
        yield desk


@pytest.fixture
async def quick():
    async with opened(QUICK) as desk:
        yield desk
