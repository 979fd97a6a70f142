"""The listener for the redirect of a login, with requests that are not the redirect."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from inspector.protocol.errors import FaultError
from inspector.session.login.redirect import RedirectListener


async def exchange(port: int, request: str) -> str:
    """Send bytes and return the response up to the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode("latin-1"))
    await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer.decode("latin-1")


def get(target: str, host: str) -> str:
    return f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"


def ours(given: Mapping[str, str]) -> bool:
    return given.get("state") == "s"


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (get("/callback?state=s&code=c", "attacker.example"), 421),
        ("GET /callback?state=s&code=c HTTP/1.1\r\n\r\n", 421),
        (get("/favicon.ico", "127.0.0.1:{port}"), 404),
        (get("/callback?state=s&state=s", "127.0.0.1:{port}"), 400),
        (get("/callback?" + "&".join(f"a{n}=1" for n in range(100)), "127.0.0.1:{port}"), 400),
        ("POST /callback?state=s&code=c HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n", 405),
        (get("/callback?state=x", "127.0.0.1:{port}\r\nSec-Fetch-Dest: image"), 403),
        (get("/callback?state=x", "127.0.0.1:{port}\r\nSec-Fetch-Dest: iframe"), 403),
        ("nonsense\r\nHost: 127.0.0.1:{port}\r\n\r\n", 405),
    ],
)
async def test_other_requests_do_not_end_the_login(request_text: str, status: int):
    async with RedirectListener(0, ours) as listener:
        answer = await exchange(listener.port, request_text.replace("{port}", str(listener.port)))
        assert answer.startswith(f"HTTP/1.1 {status} ")
        host = f"localhost:{listener.port}\r\nSec-Fetch-Dest: document"
        answer = await exchange(listener.port, get("/callback?state=s&code=c", host))
        assert "The login is complete" in answer
        assert await listener.redirect() == {"state": "s", "code": "c"}


@pytest.mark.parametrize(
    ("query", "said", "status"),
    [
        ("state=s&error=denied", "refused", 200),
        ("state=x&code=c", "does not belong", 400),
        ("", "does not belong", 400),
    ],
)
async def test_the_page_says_what_happened_and_runs_nothing(query: str, said: str, status: int):
    async with RedirectListener(0, ours) as listener:
        answer = await exchange(listener.port, get(f"/callback?{query}", f"127.0.0.1:{listener.port}"))
        await listener.redirect()
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert said in answer
    assert "Content-Security-Policy: default-src 'none'" in answer
    assert "no-store" in answer


async def test_a_short_url_leads_to_the_page_of_the_login_and_does_not_end_it():
    async with RedirectListener(0, ours) as listener:
        before = await exchange(listener.port, get("/", f"127.0.0.1:{listener.port}"))
        short = listener.short_url("https://login.example/a?state=s&x=\u00e4%20b")
        base, _, path = short.rpartition("/")
        assert base == f"http://127.0.0.1:{listener.port}"
        assert len(path) == 8
        answer = await exchange(listener.port, get(f"/{path}", f"127.0.0.1:{listener.port}"))
        other = await exchange(listener.port, get("/other", f"127.0.0.1:{listener.port}"))
        await exchange(listener.port, get("/callback?state=s&code=c", f"127.0.0.1:{listener.port}"))
        assert (await listener.redirect())["code"] == "c"
    assert answer.startswith("HTTP/1.1 302 Found\r\n")
    assert "\r\nLocation: https://login.example/a?state=s&x=%C3%A4%20b\r\n" in answer
    for refused in (before, other):
        assert refused.startswith("HTTP/1.1 404 ")
        assert "login.example" not in refused


async def test_a_flood_of_connections_is_limited_and_the_redirect_arrives():
    async with RedirectListener(0, ours) as listener:
        held = [await asyncio.open_connection("127.0.0.1", listener.port) for _ in range(200)]
        refused = [reader for reader, _ in held[20:]]
        assert await asyncio.gather(*(reader.read() for reader in refused)) == [b""] * len(refused)
        held[0][1].write(get("/callback?state=s&code=c", f"127.0.0.1:{listener.port}").encode())
        assert (await listener.redirect())["code"] == "c"
        for _, writer in held:
            writer.close()


async def test_an_endless_head_is_refused():
    async with RedirectListener(0, ours) as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(b"GET /callback HTTP/1.1\r\nX: " + b"a" * 100_000)
        assert await reader.read() == b""
        writer.close()


async def test_a_used_port_is_reported():
    async with RedirectListener(0, ours) as listener:
        with pytest.raises(FaultError, match=f"port {listener.port}: Address already in use") as error:
            async with RedirectListener(listener.port, ours):
                pass
    assert "another port" in error.value.fault.hint


async def test_the_listener_is_closed_afterwards():
    async with RedirectListener(0, ours) as listener:
        port = listener.port
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
