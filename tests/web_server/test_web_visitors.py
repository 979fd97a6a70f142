"""The visitors: each with a process of its own, which ends with the visit, and not more than there are places."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGSTOP, SIGTERM, Signals

import httpx
import pytest
from visiting import (
    SECONDS,
    Server,
    Visit,
    command_of,
    descendants,
    environment_of,
    is_alive,
    serving,
    until_ended,
    visiting,
)


async def write(visit: Visit) -> None:
    """Go to the Chat view and begin to write a message."""
    await visit.until("connected")
    await visit.type("2")
    await visit.until("Press i to write a message")
    await visit.type("i")
    await visit.until("enter send")


async def test_a_visitor_sends_a_message_and_the_process_ends_when_the_visitor_leaves(server: Server):
    async with visiting(server) as visit:
        await visit.until("connected")
        await write(visit)
        await visit.type("echo from a browser")
        await visit.until("echo from a browser")
        await visit.type("\r")
        await visit.until("←  message")
        processes = descendants(server.process.pid)
        assert len(processes) == 1
    await until_ended(processes)


async def test_the_process_ends_when_the_visitor_quits(server: Server):
    async with visiting(server) as visit:
        await visit.until("connected")
        processes = descendants(server.process.pid)
        await visit.type("\x11")  # ctrl+q
        await visit.until_closed()
        await until_ended(processes)


async def test_the_agent_of_the_demo_ends_with_the_visitor(environment: dict[str, str]):
    with serving(environment, "demo") as server:
        async with visiting(server) as visit:
            await visit.until("A small agent for trying things out.")
            await visit.until("TOUR")
            processes = descendants(server.process.pid)
            assert len(processes) == 2
        await until_ended(processes)


async def test_a_visitor_opens_an_agent_by_its_name(environment: dict[str, str], mock: str):
    home = Path(environment["A2A_INSPECT_HOME"])
    home.mkdir(exist_ok=True)
    (home / "agents.toml").write_text(f'[agents.mock-of-the-test]\nurl = "{mock}"\n')
    with serving(environment) as server:
        async with visiting(server) as visit:
            await visit.until("mock-of-the-test")
            await visit.type("\r")
            await visit.until("connected")


async def test_more_visitors_than_places_are_refused_with_a_reason_until_one_leaves(
    environment: dict[str, str], mock: str
):
    with serving(environment, mock, "--visitors", "2") as server:
        async with visiting(server) as first:
            async with visiting(server) as second:
                await first.until("connected")
                await second.until("connected")
                assert len(descendants(server.process.pid)) == 2
                page = httpx.get(server.url, timeout=SECONDS, trust_env=False)
                assert page.status_code == 503
                assert "The limit of visitors (2) is reached." in page.text
                with pytest.raises(Exception, match="503"):
                    async with visiting(server):
                        raise AssertionError("a third visitor was let in")
                assert len(descendants(server.process.pid)) == 2
                left = descendants(server.process.pid)
            async with asyncio.timeout(SECONDS):
                while len(descendants(server.process.pid)) > 1:
                    await asyncio.sleep(0.05)
            async with visiting(server) as third:
                await third.until("connected")
        await until_ended(left)


@pytest.mark.parametrize(("number", "code"), [(SIGINT, 130), (SIGTERM, 143), (SIGKILL, -9)])
async def test_no_process_is_left_when_the_server_ends(environment: dict[str, str], number: Signals, code: int):
    with serving(environment, "demo") as server:
        async with visiting(server) as visit:
            await visit.until("A small agent for trying things out.")
            processes = descendants(server.process.pid)
            server.process.send_signal(number)
            assert await asyncio.to_thread(server.process.wait, SECONDS) == code
            await until_ended(processes)
            await visit.until_closed()


@pytest.mark.slow
async def test_a_process_that_does_not_end_is_killed(server: Server):
    async with visiting(server) as visit:
        await visit.until("connected")
        [process] = descendants(server.process.pid)
        os.kill(process, SIGSTOP)
    assert is_alive(process)
    await until_ended({process})


async def test_what_is_not_a_message_of_the_page_is_ignored(server: Server):
    async with visiting(server) as visit:
        await visit.until("connected")
        await visit.socket.send_bytes(b"\x00\xff")
        for text in (
            "",
            "{",
            "null",
            "[]",
            '["stdin"]',
            '["stdin", 5]',
            '["resize", {}]',
            '["resize", {"width": "x"}]',
            '["nope", 1]',
            "[" * 5_000,
            '{"stdin": "x"}',
            '["stdin", "\\ud800"]',
            '["ping", {}]',
            '["resize", {"width": true, "height": 1e999}]',
        ):
            await visit.socket.send_str(text)
        for width, height in ((0, 0), (-5, 10**30), (10**9, 10**9), (120, 36)):
            await visit.send("resize", {"width": width, "height": height})
        await visit.send("blur")
        await visit.send("focus")
        await visit.send("ping", "77")
        await visit.until(lambda: ["pong", "77"] in visit.messages)
        await visit.type("5")
        await visit.until("/.well-known/agent-card.json")
        assert await asyncio.to_thread(is_alive, next(iter(descendants(server.process.pid))))


@pytest.mark.parametrize("query", ["", "?width=x&height=-1", "?width=99999999999999999999&height=0", "?width=%00"])
async def test_any_size_in_the_address_starts_the_app(server: Server, query: str):
    import aiohttp

    async with (
        aiohttp.ClientSession() as client,
        client.ws_connect(f"{server.origin}/ws/{server.token}{query}", origin=server.origin) as socket,
    ):
        assert b"1049h" in await socket.receive_bytes()


async def test_a_paste_of_any_bytes_is_a_text(server: Server):
    async with visiting(server) as visit:
        await visit.until("connected")
        await write(visit)
        text = "pasted: \x11 \x03 é 漢 \U0001f680 " + "x" * 10_000
        await visit.type(f"\x1b[200~{text}\x1b[201~")
        await visit.until("xxxxxxxxxxxxxx")
        assert is_alive(next(iter(descendants(server.process.pid))))


async def test_escape_and_a_letter_are_two_keys_however_fast_they_follow(server: Server):
    async with visiting(server) as visit:
        await visit.until("valid card")
        await visit.type("\x1b")
        await visit.type("?")  # Alt and a question mark are not a key of the app
        await visit.until("─ Help ─")


async def test_copied_text_goes_to_the_clipboard_of_the_browser(server: Server):
    async with visiting(server) as visit:
        await visit.until("valid card")
        await visit.type("y")
        await visit.until("to the clipboard of the browser")
        content = visit.raw.partition(b"\x1b]52;c;")[2].partition(b"\a")[0]
        assert base64.b64decode(content)


async def test_an_editor_is_not_started_in_a_browser(server: Server):
    async with visiting(server) as visit:
        await visit.until("connected")
        await write(visit)
        await visit.type("\x07")  # ctrl+g
        await visit.until("$EDITOR cannot be used in a browser")


async def test_a_screenshot_is_a_download(server: Server):
    async with visiting(server) as visit:
        await visit.until("connected")
        await visit.type("\x10")  # ctrl+p
        await visit.type("picture")
        await visit.until("Save the screen as a picture")
        await visit.type("\r")
        await visit.until(lambda: visit.messages and visit.messages[-1][0] == "deliver_file_start")
        key = visit.messages[-1][1]
        answer = httpx.get(f"{server.origin}/download/{key}", timeout=SECONDS, trust_env=False)
        assert answer.text.startswith("<svg")
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert answer.headers["Content-Disposition"].startswith("attachment;")
        again = httpx.get(f"{server.origin}/download/{key}", timeout=SECONDS, trust_env=False)
        assert again.status_code == 404


async def test_the_secrets_of_the_options_are_not_in_the_process_list(environment: dict[str, str], mock: str):
    secret = "the-secret-of-this-test"
    with serving(environment, mock, "--bearer", secret) as server:
        async with visiting(server) as visit:
            await visit.until("connected")
            [process] = descendants(server.process.pid)
            assert secret.encode() not in command_of(process) + environment_of(process)


async def test_a_capture_is_opened(environment: dict[str, str], mock: str, tmp_path: Path):
    capture = tmp_path / "session.a2a"
    words = [sys.executable, "-m", "inspector", "send", mock, "--text", "echo recorded", "--capture", str(capture)]
    assert subprocess.run(words, env=environment, check=False, timeout=SECONDS).returncode == 0
    with serving(environment, str(capture)) as server:
        async with visiting(server) as visit:
            await visit.until("echo recorded")


async def test_a_read_only_visitor_sends_no_message(environment: dict[str, str], mock: str):
    with serving(environment, mock, "--read-only") as server:
        async with visiting(server) as visit:
            await visit.until("read-only")
            await visit.type("2")
            await visit.type("i")
            await visit.until("i (write) is not available: a2a-inspect was started with")


async def test_the_reason_why_the_app_cannot_be_started_is_shown(
    environment: dict[str, str], mock: str, tmp_path: Path
):
    """Mistakes in the keys are found by the app, not by the server."""
    settings = tmp_path / "home" / "settings.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('[keys]\nnope = "f9"\n')
    with serving(environment, mock) as server:
        async with visiting(server) as visit:
            await visit.until("a2a-inspect ended with exit code 1")
            await visit.until("'nope' is not a command")
            await visit.until_closed()
