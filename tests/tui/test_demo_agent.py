"""The agent of the demo: a process that starts at once and never outlives the app."""

from __future__ import annotations

import subprocess
import sys
import time

import httpx
import pytest

from inspector.protocol.errors import FaultError
from inspector.tui.demo_agent import DemoAgent

PARENT = """
import sys, time
from inspector.tui.demo_agent import DemoAgent
print(DemoAgent().url(), flush=True)
time.sleep(60)
"""


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/.well-known/agent-card.json").status_code == 200
    except httpx.TransportError:
        return False


def test_the_agent_answers_until_it_is_stopped():
    agent = DemoAgent()
    url = agent.url()
    assert agent.url() == url
    assert answers(url)
    agent.stop()
    assert not answers(url)


def test_the_agent_ends_with_the_process_that_started_it():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    url = parent.stdout.readline().strip()
    assert answers(url)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while answers(url):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_agent_that_does_not_start_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    agent = DemoAgent()
    with pytest.raises(FaultError, match="exit code 1"):
        agent.url()
    agent.stop()
