"""The explanations of failures in the official ACTS suite, as far as they can be checked without agents."""

from __future__ import annotations

from pathlib import Path

import acts_failures
import pytest
from acts_failures import Failure

PAGE = Path(__file__).resolve().parents[2] / "docs" / "checks.md"


def test_the_page_about_checks_has_the_explanations():
    assert acts_failures.table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("failure", "is_explained"),
    [
        (Failure("CARD-DISC-002", "mock", "rest"), True),
        (Failure("CARD-DISC-001", "mock", "rest"), False),
        (Failure("PUSH-CFG-001", "@a2a-js/sdk 1.3.0", "rest"), True),
        (Failure("PUSH-CFG-001", "@a2a-js/sdk 1.3.0", "grpc"), False),
        (Failure("PUSH-CFG-001", "a2a-sdk 1.3.0", "rest"), False),
        (Failure("STREAM-SSE-001", "mock, no capabilities", "grpc"), True),
        (Failure("STREAM-SSE-001", "mock", "grpc"), False),
    ],
)
def test_an_explanation_is_for_its_agents_and_transports(failure: Failure, is_explained: bool):
    assert (acts_failures.explained(failure) is not None) is is_explained


def test_each_test_has_one_explanation_on_an_agent():
    names = [(test, each.agents) for each in acts_failures.EXPLANATIONS for test in each.tests]
    assert len(names) == len(set(names))
