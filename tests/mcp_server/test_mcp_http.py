"""The MCP server over HTTP: the client of the official SDK with the token, and requests that are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals

import httpx
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_calls import INITIALIZE, ask
from puppets import SECONDS

TOKEN = "the-token-of-this-test"


@contextmanager
def server(folder: Path, environment: dict[str, str], *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `mcp --http` and yield the process and its URL."""
    command = [sys.executable, "-m", "inspector", "mcp", "--http", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().removeprefix("URL: ").strip()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server for the tests of this module."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("A2ACLI_")}
    own = {"A2A_INSPECT_HOME": str(tmp_path_factory.mktemp("home")), "A2ACLI_HTTP_TOKEN": TOKEN}
    with server(tmp_path_factory.mktemp("project"), kept | own) as (_, url):
        yield url


def post(url: str, **headers: str) -> httpx.Response:
    accepted = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
    sent = {name: value for name, value in (accepted | headers).items() if value}
    return httpx.post(url, json=INITIALIZE, headers=sent, timeout=SECONDS, trust_env=False)


async def test_a_client_with_the_token_calls_tools(folder: Path, environment: dict[str, str], mock: str):
    with server(folder, environment, mock) as (process, url):
        assert process.stdout is not None
        token = process.stdout.readline().removeprefix("Token: ").strip()
        assert len(token) >= 32
        async with signed(token) as http, Client(streamable_http_client(url, http_client=http)) as client:
            assert (await ask(client, "card_lint"))["protocolVersion"] == "1.0"
            assert (await ask(client, "records"))["rows"]


def signed(token: str):
    from httpx2 import AsyncClient

    return AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=SECONDS)


def test_requests_of_others_are_refused(url: str):
    port = url.split(":")[2].partition("/")[0]
    assert post(url).status_code == 200
    assert post(url, Authorization="").status_code == 401
    for wrong in ("Bearer wrong", f"Basic {TOKEN}", "Bearer", TOKEN, f"Bearer {TOKEN}x"):
        assert post(url, Authorization=wrong).status_code == 401, wrong
    for origin in ("https://evil.example", "null", "http://localhost:1", f"http://127.0.0.1:{port}"):
        assert post(url, Origin=origin).status_code == 403, origin
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", "127.0.0.1"):
        assert post(url, Host=host).status_code == 421, host


def test_a_large_request_is_refused(url: str):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    sent = httpx.post(url, content=b" " * 2_000_000, headers=headers, timeout=SECONDS, trust_env=False)
    assert sent.status_code == 413


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
@pytest.mark.parametrize(("number", "code"), [(SIGINT, 130), (SIGTERM, 143)])
def test_a_signal_ends_the_server(folder: Path, environment: dict[str, str], number: Signals, code: int):
    with server(folder, environment) as (process, url):
        assert post(url).status_code == 401
        process.send_signal(number)
        _, printed = process.communicate(timeout=SECONDS)
        assert (process.returncode, printed) == (code, "")


def test_a_port_in_use_is_a_mistake_in_the_command_line(folder: Path, environment: dict[str, str], url: str):
    port = url.split(":")[2].partition("/")[0]
    with server(folder, environment, "--port", port) as (process, _):
        _, printed = process.communicate(timeout=SECONDS)
        assert process.returncode == 2
        assert "Choose another port" in printed
