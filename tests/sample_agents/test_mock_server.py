"""The whole agent: in a thread, as a program, with a used port, and after its end."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from typing import Any

import pytest
from inspector.sample_agents.server import MockAgent, serve_in_thread
from ports import unused_port

CARD = "/.well-known/agent-card.json"


def card_of(url: str) -> Any:
    with urllib.request.urlopen(url + CARD, timeout=5) as response:
        return json.load(response)


def card_name(url: str) -> str:
    return str(card_of(url)["name"])


def test_an_agent_in_a_thread_runs_during_the_context() -> None:
    before = set(threading.enumerate())
    lines: list[str] = []
    with serve_in_thread(pace=0, log=lines.append) as url:
        assert url.startswith("http://127.0.0.1:")
        assert card_name(url) == "Mock Agent"
    with pytest.raises(urllib.error.URLError):
        card_name(url)
    assert set(threading.enumerate()) <= before  # a thread of an earlier test may have ended
    assert lines == ["1.0 card: 200"]


def test_an_agent_in_a_thread_stops_if_the_context_raises() -> None:
    before = set(threading.enumerate())
    with pytest.raises(ZeroDivisionError), serve_in_thread():
        raise ZeroDivisionError
    assert set(threading.enumerate()) <= before  # a thread of an earlier test may have ended


def test_a_used_port_raises_os_error() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OSError, match="in use"),
        serve_in_thread(port=taken.getsockname()[1]),
    ):
        raise AssertionError("served on a taken port")


async def test_a_used_grpc_port_raises_os_error_and_frees_the_http_port() -> None:
    agent, port = MockAgent(), unused_port()
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="gRPC"):
        await agent.start(port=port, grpc_port=taken.getsockname()[1])
    with socket.create_server(("127.0.0.1", port)):
        pass


async def test_without_a_grpc_port_the_card_has_no_grpc_interface() -> None:
    agent = MockAgent()
    await agent.start(grpc_port=None)
    try:
        assert agent.grpc_target == ""
        card = await asyncio.to_thread(card_of, agent.url)
        assert {interface["protocolBinding"] for interface in card["supportedInterfaces"]} == {"JSONRPC", "HTTP+JSON"}
    finally:
        await agent.stop()


async def test_an_agent_can_start_again_after_a_failed_start() -> None:
    agent = MockAgent()
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        await agent.start(port=taken.getsockname()[1])
    await agent.stop()
    assert (await agent.start()).startswith("http://127.0.0.1:")
    await agent.stop()


async def test_the_url_of_a_wildcard_address_is_usable() -> None:
    agent = MockAgent()
    assert (await agent.start("0.0.0.0")).startswith("http://127.0.0.1:")
    await agent.stop()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_program_prints_its_url_and_ends_with_a_signal(number: signal.Signals) -> None:
    program = (
        "from inspector.sample_agents.server import ListenAddress, MockAgent, run;"
        "run(ListenAddress(), MockAgent(), on_ready=lambda agent: print(agent.url, flush=True))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert card_name(url) == "Mock Agent"
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(url + "/nowhere", timeout=5)
    process.send_signal(number)
    output, errors = process.communicate(timeout=10)
    assert (process.returncode, output, errors) == (0, "", "")


def test_only_the_protocol_package_and_aiohttp_are_loaded() -> None:
    program = (
        "import sys, inspector.sample_agents.server;"
        "print([n for n in sys.modules if n.split('.')[0] in ('textual', 'httpx', 'rich')"
        " or n.startswith(('inspector.tui', 'inspector.cli', 'inspector.session', 'inspector.wire',"
        " 'inspector.capture', 'inspector.findings'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
