"""The driver for the browser: packets on stdout."""

import subprocess
import sys

PACKETS = 20
SIZE = 200_000
"""The bytes of a packet: more than a pipe holds, so that each write waits for the reader."""

WRITER = f"""
import asyncio
from textual.app import App
from inspector.tui.web_driver import BrowserDriver

async def write():
    driver = BrowserDriver(App())
    def draw():
        for _ in range({PACKETS}):
            driver.write("a" * {SIZE})
    def send_file():
        for _ in range({PACKETS}):
            driver.write_meta({{"b": "b" * {SIZE}}})
    await asyncio.gather(asyncio.to_thread(draw), asyncio.to_thread(send_file))

asyncio.run(write())
"""


def test_packets_of_two_threads_are_not_mixed():
    kinds = []
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WRITER], **pipes) as process:
        assert process.stdout is not None
        while head := process.stdout.read(5):
            kinds.append(head[:1])
            payload = process.stdout.read(int.from_bytes(head[1:], "big"))
            expected = b"a" * SIZE if kinds[-1] == b"D" else b'{"b": "' + b"b" * SIZE + b'"}'
            assert payload == expected, f"packet {len(kinds)}"
    assert process.returncode == 0
    assert sorted(kinds) == [b"D"] * PACKETS + [b"M"] * PACKETS
