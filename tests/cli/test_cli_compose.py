"""`send`: message parts in order, snippets, raw requests and previews."""

from __future__ import annotations

import base64
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
from puppets import Call, MakeAgent, Puppet, RunCli, task

SECRET = "open-sesame-and-more"
SNIPPET = """\
title = "Greet"

[[part]]
text = "Greet {{who}}."

[[part]]
data = { lang = "{{lang}}" }

[message]
extensions = ["https://example.com/of-the-snippet"]

[answer]
modes = ["text/plain"]
history = 2

[request]
params = { X-Team = "{{who}}" }
"""


async def done(call: Call) -> web.StreamResponse:
    return call.result({"task": task("COMPLETED")})


@pytest.fixture
def agent(make_agent: MakeAgent) -> Puppet:
    return make_agent(done)


@pytest.fixture(scope="module")
def every() -> Iterator[str]:
    """The mock agent in every version and over every transport."""
    with serve_in_thread(pace=0, profile=Profile(("1.0", "0.3", "0.2", "0.1", "opvs"))) as url:
        yield url


def params(agent: Puppet) -> Any:
    return agent.calls[-1].rpc["params"]


def header(agent: Puppet, name: str) -> str | None:
    return agent.calls[-1].request.headers.get(name)


# ── parts ──


def test_part_options_apply_to_the_preceding_part(cli: RunCli, agent: Puppet, tmp_path: Path):
    (tmp_path / "a.bin").write_bytes(b"\0\xff")
    words = [
        *("--text", "one", "--part-metadata", '{"n": 1}', "--filename", "one.md", "--media-type", "text/markdown"),
        *("--file-url", "https://files.example/x.png", "--filename", "mine.png"),
        *("--file", str(tmp_path / "a.bin"), "--part-metadata", '{"n": 2}'),
        *("--data", "-"),
        *("--text", "two"),
    ]
    ran = cli("send", "-a", agent.url, *words, stdin=b'{"a" : [1.0]}')
    assert ran.code == 0, ran.err
    assert params(agent)["message"]["parts"] == [
        {"text": "one", "metadata": {"n": 1}, "filename": "one.md", "mediaType": "text/markdown"},
        {"url": "https://files.example/x.png", "filename": "mine.png", "mediaType": "image/png"},
        {
            "raw": base64.b64encode(b"\0\xff").decode(),
            "filename": "a.bin",
            "mediaType": "application/octet-stream",
            "metadata": {"n": 2},
        },
        {"data": {"a": [1.0]}, "mediaType": "application/json"},
        {"text": "two"},
    ]


@pytest.mark.parametrize("text", ["a < b & c\t\r\n\n", "\u2028\U0001f600", "{{name}} {{file:/etc/passwd}}", "", "-"])
def test_a_text_is_sent_as_it_was_typed(cli: RunCli, agent: Puppet, text: str):
    assert cli("send", "-a", agent.url, f"--text={text}").code == 0
    assert params(agent)["message"]["parts"] == [{"text": text}]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "The message has no parts."),
        (("--media-type", "text/plain", "--text", "x"), "--media-type must follow the part that it describes"),
        (("--text", "x", "--filename", "a", "--filename", "b"), "--filename must follow the part that it describes"),
        (("--text", "x", "--part-metadata", "[1]"), "The metadata must be a JSON object, not an array."),
        (("--text", "x", "--part-metadata", "{"), "The metadata cannot be read: "),
        (("--text", "x", "--metadata", "[1]"), "not a JSON object"),
        (("--text", "x", "--message-metadata", "{"), "not JSON"),
        (("--text", "x", "--history", "-1"), "is not a whole number from 0"),
        (("--text", "x", "--extension", " "), "the value is empty"),
        (("--file", ""), "Enter the path of a file."),
        (("--file", "/"), "/ is a folder."),
        (("--file", "/dev/zero"), "/dev/zero is not a file."),
        (("--file", "/nowhere/at all"), "could not be read: No such file or directory."),
        (("--file", "~nobody-is-called-that/x"), "could not be read"),
        (("--data", "/nowhere/at all"), "could not be read"),
        (("--data", "~nobody-is-called-that/x"), "could not be read"),
        (("--file-url", " "), "Enter the URL of a file."),
        (("--data", "-", "--data", "-"), "stdin can be read only once"),
        (("--snippet", "/nowhere/at all"), "could not be read: No such file or directory."),
        (("--snippet", "~nobody-is-called-that/x"), "unknown user"),
        (("--snippet", "x", "--var", "1=2"), "write it as NAME=VALUE"),
        (("--text", "x", "--request", "-"), "--request cannot be combined with parts."),
        (("--snippet", "x", "--request", "-"), "--request cannot be combined with --snippet."),
        (("--task-id", "t", "--save", "out", "--request", "-"), "--request cannot be combined with --task-id, --save."),
        (("--metadata", "{}", "--request", "-"), "--request cannot be combined with --metadata."),
        (("--request", "/nowhere/at all"), "could not be read"),
        (("--request", "/dev/zero"), "could not be read: it has more than 64,000,000 bytes"),
        (("--data", "/dev/zero"), "could not be read: it has more than 64,000,000 bytes"),
        (("--snippet", "/dev/zero"), "is larger than 8,000,000 bytes"),
        (("--text", "x", "--preview", "html"), "invalid choice: 'html'"),
        (("--text", "x", "--stream", "--async"), "Remove one of them"),
    ],
)
def test_invalid_message_is_rejected_without_a_request(
    cli: RunCli, agent: Puppet, words: tuple[str, ...], message: str
):
    ran = cli("send", "-a", agent.url, *words)
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert ran.err.startswith("Error: ")
    assert message in ran.err
    assert not any(call.body for call in agent.calls)
    error = cli("send", "-a", agent.url, *words, "-o", "json").error
    assert message in error["message"] + (error["hint"] or "")


def test_data_file_with_invalid_json_is_named(cli: RunCli, agent: Puppet, tmp_path: Path):
    (tmp_path / "x").write_text('{\n "a": 1,\n}')
    ran = cli("send", "-a", agent.url, "--data", str(tmp_path / "x"))
    assert ran.code == 2
    assert "line 3 column 1" in ran.err
    assert cli("send", "-a", agent.url, "--data", "-", stdin=b"\xff").code == 2


# ── the message ──


def test_message_options_set_all_members_besides_parts(cli: RunCli, agent: Puppet):
    words = [
        *("--reference-task", "r1", "--reference-task", "r2"),
        *("--extension", "https://example.com/a", "--extension", "urn:b"),
        *("--message-id", "mine", "--message-metadata", '{"m":  1.0}', "--metadata", '{"r": null}'),
        *("--tenant", "acme", "--accept", "text/plain", "--accept", "image/*", "--history", "0", "--async"),
    ]
    assert cli("send", "-a", agent.url, "--text", "x", *words).code == 0
    assert params(agent) == {
        "tenant": "acme",
        "metadata": {"r": None},
        "message": {
            "messageId": "mine",
            "role": "ROLE_USER",
            "parts": [{"text": "x"}],
            "metadata": {"m": 1.0},
            "extensions": ["https://example.com/a", "urn:b"],
            "referenceTaskIds": ["r1", "r2"],
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain", "image/*"],
            "historyLength": 0,
            "returnImmediately": True,
        },
    }
    assert header(agent, "A2A-Extensions") == "https://example.com/a, urn:b"


def test_message_options_can_be_set_in_the_environment(cli: RunCli, agent: Puppet, tmp_path: Path):
    (tmp_path / "s.a2a.toml").write_text(SNIPPET)
    ran = cli(
        *("send", "-a", agent.url),
        A2ACLI_SNIPPET=str(tmp_path / "s.a2a.toml"),
        A2ACLI_VAR="who=you = me\nlang=en",
        A2ACLI_REFERENCE_TASK="r1 r2",
        A2ACLI_EXTENSION="urn:a,urn:b",
        A2ACLI_MESSAGE_ID="m",
        A2ACLI_MESSAGE_METADATA='{"m": 1}',
        A2ACLI_METADATA='{"r": 1}',
        A2ACLI_TENANT="acme",
        A2ACLI_ACCEPT="a/b,c/d",
        A2ACLI_HISTORY="7",
    )
    assert ran.code == 0, ran.err
    sent = params(agent)
    assert sent["message"]["parts"][0] == {"text": "Greet you = me."}
    assert sent["message"]["extensions"] == ["urn:a", "urn:b"]
    assert sent["message"]["referenceTaskIds"] == ["r1", "r2"]
    assert (sent["message"]["messageId"], sent["message"]["metadata"]) == ("m", {"m": 1})
    assert (sent["tenant"], sent["metadata"]) == ("acme", {"r": 1})
    assert sent["configuration"]["acceptedOutputModes"] == ["a/b", "c/d"]
    assert sent["configuration"]["historyLength"] == 7
    assert cli("send", "-a", agent.url, "--text", "x", A2ACLI_PREVIEW="html").code == 2


def test_doubtful_message_is_sent_with_warnings(cli: RunCli, agent: Puppet):
    ran = cli("send", "-a", agent.url, "--text", "", "--extension", "urn:mine", "--accept", "image/png", "-o", "json")
    assert ran.code == 0
    assert ran.json["task"]["id"] == "task-1"
    for words in (
        "This part is empty",
        "The card does not declare the extension urn:mine.",
        "The card does not list any of these output modes; it lists text/plain",
    ):
        assert words in ran.err
    assert len([call for call in agent.calls if call.body]) == 1


# ── snippets ──


def test_snippet_is_combined_with_options(cli: RunCli, agent: Puppet, tmp_path: Path):
    path = tmp_path / "greet.a2a.toml"
    path.write_text(SNIPPET)
    typed = ["--text", "typed {{who}}", "--extension", "urn:typed", "--var", "who=you", "--var", 'lang="e\\n']
    ran = cli("send", "-a", agent.url, "--snippet", str(path), *typed, lang="from the environment")
    assert ran.code == 0, ran.err
    sent = params(agent)
    assert sent["message"]["parts"] == [
        {"text": "Greet you."},
        {"data": {"lang": '"e\\n'}, "mediaType": "application/json"},
        {"text": "typed {{who}}"},
    ]
    assert sent["message"]["extensions"] == ["urn:typed"]
    assert sent["configuration"]["acceptedOutputModes"] == ["text/plain"]
    assert sent["configuration"]["historyLength"] == 2
    assert header(agent, "X-Team") == "you"


def test_missing_snippet_variables_are_reported(cli: RunCli, agent: Puppet, tmp_path: Path):
    path = tmp_path / "greet.a2a.toml"
    path.write_text(SNIPPET)
    ran = cli("send", "-a", agent.url, "--snippet", str(path), "--var", "who=you")
    assert (ran.code, ran.out) == (2, "")
    assert "The snippet has variables without a value: lang." in ran.err
    assert "--var lang=..." in ran.err
    assert cli("send", "-a", agent.url, "--snippet", str(path), "--var", "who=you", lang="en").code == 0


def test_snippet_paths_are_relative_and_errors_are_named(cli: RunCli, agent: Puppet, tmp_path: Path):
    (tmp_path / "note.txt").write_text("beside")
    path = tmp_path / "x.a2a.toml"
    path.write_text('[[part]]\nfile = "note.txt"\n')
    assert cli("send", "-a", agent.url, "--snippet", str(path)).code == 0
    [part] = params(agent)["message"]["parts"]
    assert (part["filename"], base64.b64decode(part["raw"])) == ("note.txt", b"beside")
    path.write_text('[[part]]\nfile = "gone.txt"\n')
    assert (
        f"The file {tmp_path / 'gone.txt'} could not be read"
        in cli("send", "-a", agent.url, "--snippet", str(path)).err
    )
    path.write_text("[[part]]\ntxt = 'x'\n")
    ran = cli("send", "-a", agent.url, "--snippet", str(path))
    assert ran.code == 2
    assert "part 1 must have exactly one of text, file, url and data." in ran.err


# ── previews ──


SPOKEN = [
    *(("1.0", binding) for binding in ("JSONRPC", "HTTP+JSON", "GRPC")),
    *(("0.3", binding) for binding in ("JSONRPC", "HTTP+JSON", "GRPC")),
    *(("opvs", binding) for binding in ("JSONRPC", "HTTP+JSON", "GRPC")),
    ("0.1", "JSONRPC"),
]


def version_url(url: str, version: str) -> str:
    return url if version == "1.0" else f"{url}/{'opvs' if version == 'opvs' else f'v{version}'}"


@pytest.mark.parametrize(
    ("transport", "reason"),
    [
        ("GRPC", "the card declares no interface over GRPC"),
        ("HTTP+JSON", "HTTP+JSON was requested, but the card declares 0.3 for it"),
    ],
)
def test_another_transport_than_the_requested_one_is_used_with_a_warning(
    cli: RunCli, agent: Puppet, tmp_path: Path, transport: str, reason: str
):
    card = agent.whole_card()
    [own] = card["supportedInterfaces"]
    card["supportedInterfaces"].append(own | {"protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"})
    (tmp_path / "card.json").write_text(json.dumps(card))
    ran = cli("send", "-a", str(tmp_path / "card.json"), "--text", "hi", "--transport", transport)
    assert ran.code == 0
    assert f"Warning: {reason}: JSONRPC 1.0 is used\n" in ran.err


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
        assert ran.err == "Secrets left out: X-Api-Key, Authorization, the API key in the URL\n"


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
