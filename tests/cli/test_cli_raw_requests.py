"""`send --preview` and `send --request`: previews of a request, and raw requests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from forking import Program
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import serve_in_thread
from puppets import Call, MakeAgent, Puppet, RunCli, done, header, task

SECRET = "open-sesame-and-more"


@pytest.fixture
def agent(make_agent: MakeAgent) -> Puppet:
    return make_agent(done)


@pytest.fixture(scope="module")
def every() -> Iterator[str]:
    """The mock agent in every version and over every transport."""
    with serve_in_thread(pace=0, profile=Profile(("1.0", "0.3", "0.2", "0.1", "opvs"))) as url:
        yield url


# ── previews ──


SPOKEN = [
    *(("1.0", binding) for binding in ("JSONRPC", "HTTP+JSON", "GRPC")),
    *(("0.3", binding) for binding in ("JSONRPC", "HTTP+JSON", "GRPC")),
    *(("opvs", binding) for binding in ("JSONRPC", "HTTP+JSON", "GRPC")),
    ("0.1", "JSONRPC"),
]


def version_url(url: str, version: str) -> str:
    return url if version == "1.0" else f"{url}/{'opvs' if version == 'opvs' else f'v{version}'}"


@pytest.mark.parametrize(("version", "binding"), SPOKEN)
def test_a_preview_sent_as_a_request_is_the_same_request(
    cli: RunCli, every: str, tmp_path: Path, version: str, binding: str
):
    at = ("send", "-a", version_url(every, version), "--transport", binding, "--a2a-version", version)
    ran = cli(*at, "--text", "echo it's <\u2028> &", "--message-id", "m", "--preview", "http")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("GRPC http" if binding == "GRPC" else "POST http")
    (tmp_path / "request").write_bytes(ran.out.encode())
    again = cli(*at, "--request", str(tmp_path / "request"), "--preview", "http")
    assert again.out == ran.out
    sent = cli(*at, "--request", str(tmp_path / "request"))
    assert sent.code == 0, sent.err
    assert sent.out.startswith("Status: 200")
    answer = sent.out.partition("Response:\n")[2].partition("\n\n")[0]
    assert json.loads(answer.replace("\u2e28", "\u2028"))
    assert "it's <" in answer


def test_preview_requests_only_the_card(cli: RunCli, agent: Puppet):
    for form in ("http", "json", "curl", "httpx"):
        ran = cli("send", "-a", agent.url, "--text", "x", "--preview", form, "--stream")
        assert (ran.code, ran.err) == (0, "")
        assert "SendStreamingMessage" in ran.out
    assert not any(call.body for call in agent.calls)


@pytest.mark.parametrize("form", ["http", "curl", "httpx"])
def test_with_json_output_a_preview_is_json(cli: RunCli, agent: Puppet, form: str):
    words = ("send", "-a", agent.url, "--text", "x", "--message-id", "m", "--preview", form)
    ran = cli(*words, "-o", "json")
    assert ran.json["format"] == form
    assert ran.json["request"].splitlines()[0] == cli(*words).out.splitlines()[0]
    assert json.loads(cli(*words[:-1], "json", "-o", "json").out)["method"] == "SendMessage"


@pytest.mark.parametrize("option", [("--findings",), ("--save", "folder")])
def test_a_preview_refuses_options_about_the_response(cli: RunCli, agent: Puppet, option: tuple[str, ...]):
    ran = cli("send", "-a", agent.url, "--text", "x", "--preview", "http", *option)
    assert (ran.code, ran.out) == (2, "")
    assert f"--preview sends nothing: {option[0]} has no effect." in ran.err
    assert cli("send", "-a", agent.url, "--text", "x", "--preview", "http", A2ACLI_SAVE="folder").code == 0


def test_json_preview_is_the_exact_body(cli: RunCli, agent: Puppet):
    ran = cli("send", "-a", agent.url, "--text", "\u2028 ä", "--preview", "json")
    assert json.loads(ran.out)["params"]["message"]["parts"] == [{"text": "\u2028 ä"}]
    assert not ran.out.endswith("\n")


def test_curl_command_and_httpx_program_send_the_same_request(cli: RunCli, agent: Puppet, tmp_path: Path):
    words = ("--text", "it's $HOME\n@x", "--message-id", "m", "--extension", "urn:x", "--svc-param", "A2A-Version: 9.9")
    assert cli("send", "-a", agent.url, *words).code == 0
    expected = agent.calls[-1]
    programs = {"httpx": [sys.executable, "-c"]} | ({"curl": ["sh", "-c"]} if shutil.which("curl") else {})
    for form, program in programs.items():
        text = cli("send", "-a", agent.url, *words, "--preview", form).out
        ran = subprocess.run([*program, text], capture_output=True, timeout=30, check=False)
        assert (ran.returncode, ran.stderr) == (0, b"")
        call = agent.calls[-1]
        assert call is not expected
        assert {**call.rpc, "id": ""} == {**expected.rpc, "id": ""}
        for name in ("Content-Type", "Accept", "A2A-Version", "A2A-Extensions"):
            assert call.request.headers[name] == expected.request.headers[name], name


@pytest.mark.parametrize("form", ["http", "json", "curl", "httpx"])
def test_preview_lists_the_secrets_that_it_left_out(cli: RunCli, make_agent: MakeAgent, tmp_path: Path, form: str):
    scheme = {"k": {"apiKeySecurityScheme": {"name": "key", "location": "query"}}}
    agent = make_agent(done, {"securitySchemes": scheme, "securityRequirements": [{"schemes": {"k": {"list": []}}}]})
    path = tmp_path / "x.a2a.toml"
    path.write_text(
        "[request]\nparams = { X-Api-Key = 'of-the-snippet', X-Team = 'open' }\n"
        "metadata = { access_token = 'of-the-metadata' }\n"
    )
    ran = cli(
        *("send", "-a", agent.url, "--text", f"say {SECRET}", "--snippet", str(path), "--preview", form),
        A2ACLI_BEARER=SECRET,
        A2ACLI_API_KEY="the-key-in-the-url",
    )
    assert ran.code == 0, ran.err
    for secret in (SECRET, "the-key-in-the-url", "of-the-snippet", "of-the-metadata"):
        assert secret not in ran.out + ran.err
    if form != "json":
        assert "X-Team" in ran.out
        assert ran.err == "Warning: secrets left out: X-Api-Key, Authorization, the API key in the URL\n"


def test_large_file_is_a_placeholder_in_a_preview(cli: RunCli, agent: Puppet, tmp_path: Path):
    path = tmp_path / "large.bin"
    path.touch()
    os.truncate(path, 9_000_000)
    words = ("send", "-a", agent.url, "--file", str(path), "--preview")
    for form in ("http", "json"):
        assert f'"{{{{file:{path}}}}}"' in cli(*words, form).out
    for form in ("curl", "httpx"):
        ran = cli(*words, form)
        assert (ran.code, ran.out) == (2, "")
        assert "Send it with a2a-inspect send --file" in ran.err


def test_grpc_has_no_httpx_preview_and_limits_files(cli: RunCli, every: str, tmp_path: Path):
    at = ("send", "-a", every, "--transport", "GRPC")
    ran = cli(*at, "--text", "x", "--preview", "httpx")
    assert (ran.code, ran.out) == (2, "")
    assert "httpx does not support gRPC" in ran.err
    path = tmp_path / "large.bin"
    path.touch()
    os.truncate(path, 65_000_000)
    ran = cli(*at, "--file", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert "over gRPC a file can have at most" in ran.err
    shown = cli(*at, "--text", "echo x", "--preview", "curl")
    assert shown.out.startswith("printf %s ")
    assert "application/grpc" in shown.out


# ── raw requests ──


def by_hand(cli: RunCli, agent: Puppet, text: str | bytes, *words: str, **more: Any) -> Any:
    raw = text.encode() if isinstance(text, str) else text
    return cli("send", "-a", agent.url, "--request", "-", *words, stdin=raw, **more)


def test_waiting_for_a_raw_request_on_stdin_can_be_interrupted(agent: Puppet):
    with Program("send", agent.url, "--request", "-") as program:
        with pytest.raises(subprocess.TimeoutExpired):  # it waits for stdin
            program.wait(1)
        program.send_signal(signal.SIGINT)
        assert program.wait(5) == 130


def test_invalid_raw_request_is_sent_unchanged(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return web.json_response({"got": call.body.decode("latin-1")}, status=400, reason="Bad")

    agent = make_agent(answer)
    body = b'{"jsonrpc": broken \xff\r\n'
    ran = by_hand(cli, agent, b"POST /rpc\nX-Mine: 1\n\n" + body)
    assert ran.code == 1
    assert "Status: 400 Bad" in ran.out
    assert agent.calls[-1].body == body
    assert header(agent, "X-Mine") == "1"
    assert header(agent, "A2A-Version") is None
    printed = by_hand(cli, agent, b"POST /rpc\n\n" + body, "-o", "json")
    assert printed.lines[0] == {"got": body.decode("latin-1")}
    assert "error" in printed.lines[-1]


def test_another_operation_and_a_stream_are_printed_event_by_event(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return await call.stream({"task": task("WORKING")}, {"task": task("COMPLETED")})

    body = '{"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {}}'
    text = f"POST /rpc\nContent-Type: application/json\n\n{body}"
    ran = by_hand(cli, make_agent(answer), text, "-o", "json")
    assert ran.code == 0, ran.err
    assert [line["result"]["task"]["status"]["state"] for line in ran.lines] == [
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
    ]
    assert by_hand(cli, make_agent(answer), text).out.count("Response:\n") == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The first line must be a method and a URL"),
        ("hello", "The first line must be"),
        ("POST /rpc\nno header\n\n", "'no header' is not a header"),
        ("P@ST /rpc\n\n", "has characters that an HTTP method cannot contain"),
        ("GRPC http://h:1/x/SendMessage\n\nhello", "Use hex: to send any bytes"),
    ],
)
def test_malformed_raw_request_is_rejected(cli: RunCli, agent: Puppet, text: str, words: str):
    ran = by_hand(cli, agent, text)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert not any(call.body for call in agent.calls)


def test_invalid_url_in_a_raw_request_is_a_usage_error(cli: RunCli, agent: Puppet):
    for form in ((), ("--preview", "http")):
        ran = by_hand(cli, agent, "POST http://agent.example:port/\n\n{}", *form)
        assert ran.code == 2
        assert "is not a valid URL" in ran.err


def test_raw_request_has_credentials_for_its_origin_only(cli: RunCli, agent: Puppet, make_agent: MakeAgent):
    stranger = make_agent(done)
    body = '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}'
    by_hand(cli, agent, f"POST /rpc\n\n{body}", A2ACLI_BEARER=SECRET)
    assert header(agent, "Authorization") == f"Bearer {SECRET}"
    by_hand(cli, agent, f"POST /rpc\nauthorization: mine\n\n{body}", A2ACLI_BEARER=SECRET)
    assert header(agent, "Authorization") == "mine"
    by_hand(cli, agent, f"POST {stranger.url}/rpc\n\n{body}", A2ACLI_BEARER=SECRET)
    assert header(stranger, "Authorization") is None


def test_file_name_in_a_raw_request_is_not_read(cli: RunCli, agent: Puppet):
    body = '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"x": "{{file:/etc/passwd}}"}}'
    assert by_hand(cli, agent, f"POST /rpc\n\n{body}").code == 0
    assert agent.calls[-1].body == body.encode()
