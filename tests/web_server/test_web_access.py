"""Who may open the page and the web socket: the token, the Host header and the Origin header."""

from __future__ import annotations

import http.client
import re
from urllib.parse import urlsplit

import aiohttp
import httpx
import pytest
from visiting import SECONDS, Server, descendants, visiting


def get(server: Server, path: str, **headers: str) -> httpx.Response:
    return httpx.get(server.origin + path, headers=headers, timeout=SECONDS, trust_env=False)


async def refused(server: Server, path: str, **headers: str) -> int:
    """Open a web socket that is refused, and return the status of the response."""
    async with aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await client.ws_connect(server.origin + path, headers=headers)
    assert descendants(server.process.pid) == set(), "no process was started"
    return caught.value.status


def test_the_page_needs_the_token(server: Server):
    assert get(server, f"/?token={server.token}").status_code == 200
    assert len(server.token) >= 32
    for wrong in (
        "/",
        "/?token=",
        "/?token=x",
        f"/?token={server.token}x",
        f"/?token={server.token[:-1]}",
        "/?token=é",
    ):
        answer = get(server, wrong)
        assert answer.status_code == 403, wrong
        assert "open the URL with ?token=" in answer.text
        assert server.token not in answer.text


def test_the_token_is_not_sent_as_a_cookie(server: Server):
    assert "set-cookie" not in get(server, f"/?token={server.token}").headers


@pytest.mark.parametrize(
    "host", ["attacker.example", "127.0.0.1.attacker.example", "localhost.attacker.example", "[", ""]
)
@pytest.mark.parametrize(
    "path", ["/?token={}", "/page.js", "/static/js/textual.js", "/ws/{}", "/download/x", "/nothing"]
)
def test_requests_for_another_host_are_refused(server: Server, host: str, path: str):
    port = urlsplit(server.origin).port
    for name in {host, f"{host}:{port}"}:
        answer = raw_get(server, path.format(server.token), name)
        assert answer.status in (400, 403), name  # 400: not a host at all
        assert server.token not in answer.read().decode()


def raw_get(server: Server, path: str, host: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(server.host, timeout=SECONDS)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host)
    connection.endheaders()
    return connection.getresponse()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "localhost:1234", "[::1]:80"])
def test_names_of_this_machine_are_accepted_also_with_the_port_of_a_tunnel(server: Server, host: str):
    assert raw_get(server, f"/?token={server.token}", host).status == 200


async def test_the_web_socket_needs_the_token_and_the_origin_of_the_page(server: Server):
    good = f"/ws/{server.token}"
    assert await refused(server, "/ws/x", Origin=server.origin) == 403
    assert await refused(server, f"{good}x", Origin=server.origin) == 403
    assert await refused(server, "/ws/%ff", Origin=server.origin) == 403
    assert await refused(server, good) == 403
    port = urlsplit(server.origin).port
    wrong = (
        "null",
        "http://attacker.example",
        f"http://attacker.example:{port}",
        "http://127.0.0.1",
        f"https://{server.host}",
    )
    for origin in (
        *wrong,
        f"http://localhost:{port}",
        f"{server.origin}.attacker.example",
        server.origin.replace("1:", "1:1"),
    ):
        assert await refused(server, good, Origin=origin) == 403, origin
    rebound = f"attacker.example:{port}"
    assert await refused(server, good, Origin=f"http://{rebound}", Host=rebound) == 403
    async with visiting(server) as visit:
        await visit.until("connected")


async def test_a_tunnel_with_another_port_is_accepted(server: Server):
    tunnel = "localhost:9999"
    async with aiohttp.ClientSession() as client:
        headers = {"Host": tunnel, "Origin": f"http://{tunnel}"}
        async with client.ws_connect(f"{server.origin}/ws/{server.token}", headers=headers) as socket:
            assert await socket.receive_bytes()


def test_the_page_loads_only_its_own_files(server: Server):
    """Also without a network: textual-serve's own page loads a font from elsewhere."""
    seen, todo = set(), [f"/?token={server.token}"]
    while todo:
        path = todo.pop()
        answer = get(server, path)
        assert answer.status_code == 200, path
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        seen.add(path)
        if path.endswith((".ttf", ".js")):
            continue
        found = re.findall(r"""(?:href|src)="([^"]+)"|url\("?([^")]+)"?\)""", answer.text)
        links = {one or other for one, other in found} - {"data:,"}
        assert all(link.startswith("/") and not link.startswith("//") for link in links), links
        todo += links - seen
    assert {"/page.js", "/static/js/textual.js", "/static/fonts/RobotoMono-VariableFont_wght.ttf"} <= seen


@pytest.mark.parametrize(
    "path", ["/static/", "/static/../server.py", "/static/..%2fserver.py", "/page.py", "/page.html", "/download/x"]
)
def test_other_files_are_not_served(server: Server, path: str):
    answer = raw_get(server, path, server.host)
    assert answer.status in (403, 404)
    assert b"textual_serve" not in answer.read()
