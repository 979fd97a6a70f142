"""`a2a-inspect web` in headless Chromium: typed, read, copied, and attacked from other pages."""

from __future__ import annotations

import asyncio
import http.server
import json
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import environments
import pytest
from inspector.sample_agents.server import serve_in_thread

sys.path += [str(Path(__file__).parents[1] / name) for name in ("web_server", "e2e")]

from visiting import clean_environment, descendants, serving, until_ended

pytestmark = pytest.mark.interop
SECONDS = 120


@pytest.fixture
def other() -> Iterator[str]:
    """A page of another origin on this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>other</title><body></body>")

        def log_message(self, *args):
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


async def test_the_app_works_in_chromium_without_a_network_and_not_from_other_pages(tmp_path: Path, other: str):
    name = environments.BROWSER
    assert environments.is_ready(name), f"the environment {name!r} is missing; create it with `make interop`"
    picture = tmp_path / "picture.png"
    environment = clean_environment(tmp_path / "home")
    with serve_in_thread(pace=0) as mock, serving(environment, mock, "--visitors", "1") as server:
        command = [*environments.command(name, "browser/visit"), "journey", server.url, other, picture]
        ran = await asyncio.to_thread(
            subprocess.run, command, check=False, capture_output=True, text=True, timeout=SECONDS
        )
        assert ran.returncode == 0, ran.stderr
        await until_ended(descendants(server.process.pid))  # the browser was closed
    seen = json.loads(ran.stdout)
    assert seen["errors"] == []
    assert {"other origin": seen["other origin"], "fetch": seen["fetch"]} == dict.fromkeys(
        ("other origin", "fetch"), "refused"
    )
    assert not seen["frame"].startswith(server.origin)
    assert seen["rebound"] == 403
    assert "typed in a browser" in seen["clipboard"]
    assert seen["font"]
    assert "The limit of visitors (1) is reached." in seen["full"]
    assert all(url.startswith((server.origin, "data:")) for url in seen["requested"]), seen["requested"]
    assert colours(picture) > 50, "the terminal was drawn"


def colours(path: Path) -> int:
    """Return the number of colours in a PNG of 8 bits per channel, about: those of the unfiltered bytes."""
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    channels = {2: 3, 6: 4}[data[25]]
    packed, position = b"", 8
    while position < len(data):
        size, kind = struct.unpack(">I4s", data[position : position + 8])
        packed += data[position + 8 : position + 8 + size] if kind == b"IDAT" else b""
        position += size + 12
    rows = zlib.decompress(packed)
    assert len(rows) == height * (1 + width * channels)
    return len({rows[at : at + channels] for at in range(0, len(rows) - channels, channels)})
