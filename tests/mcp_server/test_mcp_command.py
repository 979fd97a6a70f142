"""The command `mcp` without its library, and with a capture that a running app writes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals

import pytest
from mcp_calls import INITIALIZE, Connect, ask
from puppets import SECONDS

sys.path.append(str(Path(__file__).parent.parent / "e2e"))  # has the modules `terminal` and `programs`

from programs import running

WITHOUT = """
import sys
for name in ("mcp", "mcp_types"):
    sys.modules[name] = None
from inspector.cli.main import main
sys.exit(main(["mcp"]))
"""


def test_without_the_library_the_extra_is_named(environment: dict[str, str]):
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT], check=False, capture_output=True, text=True, env=environment, timeout=SECONDS
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "pip install 'a2a-inspect[mcp]'" in ran.stderr


@pytest.mark.parametrize("words", [["--capture", "x.a2a"], ["--port", "99999"], ["--nope"]])
def test_wrong_options_are_reported(environment: dict[str, str], words: list[str]):
    ran = subprocess.run(
        [sys.executable, "-m", "inspector", "mcp", *words],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=SECONDS,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "Hint:" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize(("number", "code"), [(SIGINT, 130), (SIGTERM, 143)])
def test_a_signal_ends_the_server_although_it_waits_for_stdin(environment: dict[str, str], number: Signals, code: int):
    command = [sys.executable, "-m", "inspector", "mcp"]
    initialize = json.dumps(INITIALIZE).encode() + b"\n"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(initialize)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "a2a-inspect"
        process.send_signal(number)
        assert process.wait(SECONDS) == code


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
async def test_the_capture_of_a_running_app_is_read(connect_stdio: Connect, home: Path, mock: str):
    with running(home) as run:
        app = run(mock)
        app.wait_for("A small agent for trying things out.")
        async with connect_stdio() as client:
            [capture] = (await ask(client, "captures"))["captures"]
            assert capture["live"] is True
            sent = "kind:request op:SendStreamingMessage"
            before = await ask(client, "records", filter=sent)
            app.press("2", "i")
            app.wait_for("Write a message")
            app.send("report 3")
            app.press("enter")
            app.wait_for("The report is written.")
            async with asyncio.timeout(10):  # the app writes the records of 0.1 s together
                while not (after := await ask(client, "records", filter="kind:request op:SendStreamingMessage"))[
                    "rows"
                ]:
                    await asyncio.sleep(0.02)
        assert (before["rows"], len(after["rows"])) == ([], 1)
        assert after["capture"] == capture["capture"]
