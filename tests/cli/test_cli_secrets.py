"""Where credentials are sent, and that they are not printed or recorded."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from puppets import RPC_PATH, Call, MakeAgent, Puppet, RunCli, done, task

SECRETS = ["bearer-s3cret-1", "key-s3cret-2", "header-s3cret-3", "param-s3cret-4"]


def send(cli: RunCli, agent: Puppet, *words: str, **environment: str) -> Call:
    ran = cli("send", "-a", agent.url, "--text", "hi", *words, **environment)
    assert ran.code == 0, ran.err
    return agent.calls[-1]


def test_bearer_option_overrides_the_environment(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(done)
    assert send(cli, agent, "--bearer", "abc").request.headers["Authorization"] == "Bearer abc"
    assert send(cli, agent, A2ACLI_BEARER="xyz\n").request.headers["Authorization"] == "Bearer xyz"
    assert send(cli, agent, "--bearer", "abc", A2ACLI_BEARER="xyz").request.headers["Authorization"] == "Bearer abc"


def scheme(**members: str) -> dict[str, object]:
    return {"securitySchemes": {"key": {"apiKeySecurityScheme": members}}}


def test_api_key_is_sent_where_the_card_declares(cli: RunCli, make_agent: MakeAgent):
    in_header = make_agent(done, scheme(location="header", name="X-Our-Key"))
    assert send(cli, in_header, "--api-key", "k3y").request.headers["X-Our-Key"] == "k3y"
    in_query = make_agent(done, scheme(location="query", name="our key"))
    assert parse_qs(send(cli, in_query, "--api-key", "k/3y").request.query_string) == {"our key": ["k/3y"]}
    in_cookie = make_agent(done, scheme(location="cookie", name="session"))
    assert send(cli, in_cookie, A2ACLI_API_KEY="k3y").request.cookies == {"session": "k3y"}


def test_undeclared_api_key_is_sent_in_the_default_header(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(done)
    assert send(cli, agent, "--api-key", "k3y").request.headers["X-API-Key"] == "k3y"
    assert "X-API-Key" not in agent.calls[0].request.headers


@pytest.mark.parametrize("name", ["X-Evil\r\nX-More: 1", "Zwei Wörter", "\x00"])
def test_invalid_api_key_location_is_an_error(cli: RunCli, make_agent: MakeAgent, name: str):
    agent = make_agent(done, scheme(location="header", name=name))
    ran = cli("send", "-a", agent.url, "--text", "hi", "--api-key", SECRETS[1])
    assert ran.code != 0
    assert ran.err.startswith("Error: ")
    assert SECRETS[1] not in ran.err
    assert "X-More" not in agent.calls[-1].request.headers


def test_headers_and_service_parameters_are_sent(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(done)
    words = ["--header", "X-One: 1", "--header", "X-One: 2", "--svc-param", "x-trace-id:abc123"]
    headers = send(cli, agent, *words, A2ACLI_SVC_PARAM="ignored: because the option was given").request.headers
    assert headers["X-One"] == "1, 2"
    assert headers["x-trace-id"] == "abc123"
    assert "ignored" not in headers
    assert send(cli, agent, A2ACLI_SVC_PARAM="x-a: 1\nx-b: 2").request.headers["x-b"] == "2"


def test_header_option_replaces_a_default_header(cli: RunCli, make_agent: MakeAgent):
    headers = send(cli, make_agent(done), "--svc-param", "a2a-version:1.1").request.headers
    assert headers.getall("A2A-Version") == ["1.1"]


def elsewhere_interface(make_agent: MakeAgent) -> tuple[Puppet, Puppet]:
    """Return an agent whose interface is at another origin, and the agent at that origin."""
    other = make_agent(done)
    interface = {"url": f"{other.url}{RPC_PATH}", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return make_agent(card={"supportedInterfaces": [interface]}), other


def test_credentials_are_not_sent_to_another_origin(cli: RunCli, make_agent: MakeAgent):
    agent, other = elsewhere_interface(make_agent)
    ran = cli("send", "-a", agent.url, "--text", "hi", "--bearer", SECRETS[0], "--api-key", SECRETS[1])
    assert ran.code == 0
    assert "Authorization" not in other.calls[-1].request.headers
    assert "X-API-Key" not in other.calls[-1].request.headers
    assert f"--trust {other.url}" in ran.err


def test_credentials_are_sent_to_a_trusted_origin(cli: RunCli, make_agent: MakeAgent):
    agent, other = elsewhere_interface(make_agent)
    ran = cli("send", "-a", agent.url, "--text", "hi", "--bearer", SECRETS[0], "--trust", other.url)
    assert (ran.code, ran.err) == (0, "")
    assert other.calls[-1].request.headers["Authorization"] == f"Bearer {SECRETS[0]}"


def test_secrets_are_sent_only_to_the_agent(cli: RunCli, make_agent: MakeAgent, tmp_path: Path):
    async def answer(call: Call) -> web.StreamResponse:
        return call.error(-32603, f"I was called with {dict(call.request.headers)} {call.request.query_string}")

    agent = make_agent(answer, scheme(location="query", name="k"))
    capture = tmp_path / "capture.a2a"
    credentials = [
        *("--bearer", SECRETS[0], "--api-key", SECRETS[1]),
        *("--header", f"X-Custom: {SECRETS[2]}", "--svc-param", f"x-param: {SECRETS[3]}"),
    ]
    words = ["send", "-a", agent.url, "--text", "hi", "--debug", "--verbose", *credentials]
    for ran in (
        cli(*words, "--capture", str(capture)),
        cli(*words, "-o", "json"),
        cli(*words, "--stream", "-o", "json"),
    ):
        assert ran.code == 1
        assert "debug: " in ran.err
        assert not [secret for secret in SECRETS if secret in ran.out + ran.err]
    sent = agent.calls[1].request
    assert all(secret in f"{dict(sent.headers)} {sent.query_string}" for secret in SECRETS)
    recorded = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"I was called with" in recorded
    assert not [secret for secret in SECRETS if secret.encode() in recorded]
    with sqlite3.connect(capture) as connection:
        assert connection.execute("SELECT count(*) FROM record").fetchone()[0] > 5


def test_warning_that_quotes_the_agent_masks_secrets(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        body = call.error(-32603, f"no use for {call.request.headers['Authorization']}").body
        assert isinstance(body, bytes)
        return await call.stream(b"data: " + body + b"\n\n", {"task": task("COMPLETED")})

    ran = cli("send", "-a", make_agent(answer).url, "--text", "hi", "--stream", "--bearer", SECRETS[0])
    assert ran.code == 0
    assert "no use for" in ran.err
    assert SECRETS[0] not in ran.out + ran.err


def test_debug_prints_requests_and_responses(cli: RunCli, mock: str):
    ran = cli("send", "-a", mock, "--text", "report 2", "--stream", "-o", "json", "--debug")
    assert ran.code == 0
    assert all(line.startswith("debug: ") for line in ran.err.splitlines())
    for part in ("GET http", "SendStreamingMessage: POST http", "> A2A-Version: 1.0", "HTTP/1.1 200", "complete after"):
        assert part in ran.err
    assert "task" in ran.lines[0]


def test_user_and_password_in_the_address_are_masked(cli: RunCli, mock: str):
    reference = mock.replace("http://", "http://user:pa55word@")
    ran = cli("send", "-a", reference, "--text", "ask", "--debug")
    assert ran.code == 0
    assert "pa55word" not in ran.out + ran.err
