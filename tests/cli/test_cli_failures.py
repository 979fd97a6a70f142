"""Failures on the way to an agent: error codes and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web
from puppets import CARD, RPC_PATH, SECONDS, Call, MakeAgent, RunCli, ServerThread, task


def test_an_agent_that_does_not_listen_is_unreachable(cli: RunCli, closed_port: int):
    ran = cli("card", "get", "-a", f"http://127.0.0.1:{closed_port}", "-o", "json")
    assert (ran.code, ran.out) == (3, "")
    assert ran.error["code"] == "A2ACLI_ERR_UNREACHABLE"
    assert "refused" in ran.error["message"]
    assert ran.error["hint"]


def test_a_name_that_does_not_exist_is_unreachable(cli: RunCli):
    ran = cli("card", "get", "-a", "https://no-such-agent.invalid", "-o", "json")
    assert (ran.code, ran.error["code"]) == (3, "A2ACLI_ERR_UNREACHABLE")
    assert "no-such-agent.invalid" in ran.error["message"]


def test_tls_to_a_plain_http_port_is_unreachable(cli: RunCli, mock: str):
    ran = cli("card", "get", "-a", mock.replace("http:", "https:"), "-o", "json")
    assert (ran.code, ran.error["code"]) == (3, "A2ACLI_ERR_UNREACHABLE")
    assert "TLS" in ran.error["message"]
    assert "http://" in ran.error["hint"]


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", b"\x00\xff garbage\r\n\r\n", b"SSH-2.0-x\r\n"]
)
def test_server_without_http_is_unreachable(cli: RunCli, server_thread: ServerThread, answer: bytes):
    with server_thread.serve_bytes(answer) as host:
        ran = cli("card", "get", "-a", f"http://{host}", "-o", "json")
    assert (ran.code, ran.out) == (3, "")
    assert ran.error["code"] in ("A2ACLI_ERR_UNREACHABLE", "A2ACLI_ERR_CARD_NOT_FOUND")


def test_missing_card_error_lists_each_attempt(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card=web.Response(status=404))
    ran = cli("card", "get", "-a", agent.url, "-o", "json")
    assert (ran.code, ran.error["code"]) == (3, "A2ACLI_ERR_CARD_NOT_FOUND")
    assert "agent-card.json: 404" in ran.error["message"]
    assert "agent.json: 404" in ran.error["message"]


def test_web_page_is_not_a_card(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card=web.Response(text="<html>hello", content_type="text/html"))
    ran = cli("card", "get", "-a", agent.url, "-o", "json")
    assert (ran.code, ran.error["code"]) == (3, "A2ACLI_ERR_CARD_NOT_FOUND")
    assert "a web page" in ran.error["message"]


def test_a_card_whose_interfaces_cannot_be_read_is_invalid(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card={"supportedInterfaces": "many"})
    ran = cli("card", "get", "-a", agent.url, "-o", "json")
    assert (ran.code, ran.error["code"]) == (1, "A2ACLI_ERR_CARD_INVALID")
    assert "supportedInterfaces" in ran.error["message"]


def test_other_mistakes_in_the_card_are_a_warning(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card={"skills": "many", "securitySchemes": {"x": None}, "provider": 7})
    ran = cli("card", "get", "-a", agent.url)
    assert ran.code == 0
    mistake = "AgentCard/provider: expected an object, found a number"
    assert (
        ran.err
        == f"Warning: a part of the card cannot be read and is left out ({mistake}); lint reports the mistakes\n"
    )
    assert cli("lint", agent.url).out.count("error CARD-002") == 3
    assert "left out" not in cli("card", "get", "-a", make_agent().url).err


def test_missing_or_invalid_card_file_is_an_error(cli: RunCli, tmp_path: Path):
    missing = cli("card", "get", "-a", str(tmp_path / "missing.json"), "-o", "json")
    assert (missing.code, missing.error["code"]) == (3, "A2ACLI_ERR_CARD_NOT_FOUND")
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    other = cli("card", "get", "-a", str(tmp_path / "other.json"), "-o", "json")
    assert (other.code, other.error["code"]) == (1, "A2ACLI_ERR_CARD_INVALID")


@pytest.mark.parametrize(
    "reference", ["http://", "http://[", "http://a:b", "ftp://x", "http://\x1b[31m", "http://a b/"]
)
def test_invalid_address_is_an_error(cli: RunCli, reference: str):
    ran = cli("card", "get", "-a", reference)
    assert ran.code in (2, 3)
    assert ran.err.startswith("Error: ")
    assert "Traceback" not in ran.err
    assert "inspector failed" not in ran.err
    assert "\x1b" not in ran.err


def test_missing_and_rejected_credentials_have_exit_code_4(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})

    agent = make_agent(answer)
    missing = cli("task", "get", "x", "-a", agent.url, "-o", "json")
    assert (missing.code, missing.error["code"]) == (4, "A2ACLI_ERR_CREDENTIALS_MISSING")
    refused = cli("task", "get", "x", "-a", agent.url, "-o", "json", "--bearer", "wrong-token")
    assert (refused.code, refused.error["code"]) == (4, "A2ACLI_ERR_AUTH_FAILED")


def test_protected_card_has_exit_code_4(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent(card=web.Response(status=401))
    missing = cli("card", "get", "-a", agent.url, "-o", "json")
    assert (missing.code, missing.error["code"]) == (4, "A2ACLI_ERR_CREDENTIALS_MISSING")
    refused = cli("card", "get", "-a", agent.url, "-o", "json", "--bearer", "wrong-token")
    assert (refused.code, refused.error["code"]) == (4, "A2ACLI_ERR_AUTH_FAILED")


@pytest.mark.parametrize(
    ("answer", "code", "exit_code"),
    [
        (web.Response(status=404), "InvalidAgentResponseError", 1),
        (web.Response(status=500, text="boom"), "InternalError", 1),
        (web.Response(status=503), "A2ACLI_ERR_UNREACHABLE", 3),
        (web.Response(status=308, headers={"Location": "/rpc/"}), "InvalidAgentResponseError", 1),
        (web.Response(text="<html>", content_type="text/html"), "InvalidAgentResponseError", 1),
        (web.Response(text="", content_type="application/json"), "InvalidAgentResponseError", 1),
        (web.Response(text="[" * 100_000, content_type="application/json"), "InvalidAgentResponseError", 1),
        (web.Response(text="{}", content_type="application/json"), "InvalidAgentResponseError", 1),
    ],
    ids=["404", "500", "503", "redirect", "html", "nothing", "deep", "no envelope"],
)
@pytest.mark.parametrize("way", [["--stream"], []], ids=["streamed", "waited"])
def test_unexpected_http_statuses_are_explained(
    server_thread: ServerThread,
    cli: RunCli,
    way: list[str],
    answer: web.Response,
    code: str,
    exit_code: int,
    tmp_path: Path,
):
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        return web.Response(status=answer.status, headers=answer.headers, body=answer.body)

    with server_thread.serve(handle) as url:
        interface = {"url": f"{url}{RPC_PATH}", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        card = tmp_path / "card.json"
        card.write_text(json.dumps(CARD | {"supportedInterfaces": [interface]}), encoding="utf-8")
        ran = cli("send", "-a", str(card), "--text", "hi", "-o", "json", *way)
    assert (ran.code, ran.error["code"]) == (exit_code, code)


@pytest.mark.parametrize("status", [404, 405])
def test_a_404_of_an_agent_that_served_its_card_is_not_unreachable(cli: RunCli, make_agent: MakeAgent, status: int):
    async def answer(call: Call) -> web.StreamResponse:
        return web.Response(status=status, text="no such page")

    ran = cli("task", "list", "-a", make_agent(answer).url, "-o", "json")
    assert (ran.code, ran.error["code"]) == (1, "InvalidAgentResponseError")
    assert str(status) in ran.error["message"]
    assert "ListTasks" in ran.error["hint"]


@pytest.mark.parametrize("at_the_card", [True, False])
def test_rejected_credentials_are_not_reported_as_missing(cli: RunCli, make_agent: MakeAgent, at_the_card: bool):
    async def answer(call: Call) -> web.StreamResponse:
        return web.Response(status=403)

    agent = make_agent(answer, card=web.Response(status=403)) if at_the_card else make_agent(answer)
    missing = cli("task", "get", "x", "-a", agent.url, "-o", "json")
    assert (missing.code, missing.error["code"]) == (4, "A2ACLI_ERR_AUTH_FAILED")
    assert "--bearer" in missing.error["hint"]
    assert ("A refusal can have other reasons than credentials" in missing.error["hint"]) is not at_the_card
    refused = cli("task", "get", "x", "-a", agent.url, "-o", "json", "--bearer", "wrong-token")
    assert (refused.code, refused.error["code"]) == (4, "A2ACLI_ERR_AUTH_FAILED")
    assert "rejected" in refused.error["hint"]
    assert refused.error["hint"].endswith("Check --bearer, --basic, --api-key or --header.")


def test_card_without_supported_interface_is_an_error(cli: RunCli, make_agent: MakeAgent):
    interface = {"url": "http://127.0.0.1:1", "protocolBinding": "SMOKE", "protocolVersion": "1.0"}
    agent = make_agent(card={"supportedInterfaces": [interface]})
    assert cli("card", "get", "-a", agent.url).code == 0
    ran = cli("send", "-a", agent.url, "--text", "hi", "-o", "json")
    assert (ran.code, ran.error["code"]) == (1, "UnsupportedOperationError")
    assert "SMOKE" in ran.error["message"]


def test_card_without_interfaces_is_invalid(cli: RunCli, make_agent: MakeAgent):
    ran = cli("send", make_agent(card={"supportedInterfaces": []}).url, "--text", "hi", "-o", "json")
    assert (ran.code, ran.error["code"]) == (1, "A2ACLI_ERR_CARD_INVALID")


@pytest.mark.parametrize("path", [".", "./", "/", ""])
def test_a_folder_is_not_a_capture(cli: RunCli, path: str):
    for command in (["show", path], ["export", path], ["redact", path, "--preview"], ["check", "make", path]):
        ran = cli(*command)
        assert (ran.code, ran.out) == (2, ""), command
        assert "Internal error" not in ran.err


@pytest.mark.parametrize("words", [["send", "a.example", "URL"], ["show", "URL"], ["check", "URL", "-a", "a.example"]])
def test_passwords_of_urls_are_masked_in_usage_errors(cli: RunCli, words: list[str]):
    ran = cli(*(word.replace("URL", "http://user:canary-5511@host") for word in words))
    assert ran.code == 2
    assert "@host" in ran.err
    assert "canary-5511" not in ran.err


def test_a_card_that_is_refused_for_now_names_when_to_try_again(cli: RunCli, make_agent: MakeAgent):
    card = web.Response(status=429, headers={"Retry-After": "7"})
    ran = cli("card", "get", make_agent(card=card).url)
    assert ran.code == 3
    assert "refuses requests for now (429). Try again in 7 s (Retry-After)." in ran.err


def test_a_capture_that_exists_is_not_overwritten(cli: RunCli, mock: str, tmp_path: Path):
    existing = tmp_path / "existing.a2a"
    existing.write_text("precious", encoding="utf-8")
    ran = cli("card", "get", "-a", mock, "--capture", str(existing), "-o", "json")
    assert (ran.code, ran.error["code"]) == (2, "A2ACLI_ERR_USAGE")
    assert existing.read_text(encoding="utf-8") == "precious"


def test_capture_is_kept_only_with_the_option(cli: RunCli, mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert cli("card", "get", "-a", mock, "--capture", str(tmp_path / "existing.a2a")).code == 0
    assert cli("card", "get", "-a", mock).code == 0
    assert (tmp_path / "existing.a2a").stat().st_size > 0
    assert list(temporary.iterdir()) == []


def test_insecure_prints_a_warning(cli: RunCli, mock: str):
    assert cli("card", "get", "-a", mock, "--insecure").err.startswith("Warning: TLS certificates are not verified")
    assert "credentials" in cli("card", "get", "-a", mock, "--insecure", "--bearer", "abcdef").err


def test_closed_pipe_ends_the_program_quietly(mock: str):
    program = subprocess.Popen(
        [sys.executable, "-m", "inspector.cli", "send", "-a", mock, "--text", "report 20000", "--stream", "-o", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None
    assert b'"task"' in program.stdout.readline()
    program.stdout.close()
    assert program.stderr is not None
    errors = program.stderr.read()
    assert (program.wait(SECONDS), errors) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [["card", "get", "-a"], ["send", "--help"], ["--help"]], ids=" ".join)
def test_output_that_cannot_be_written_is_a_failure(mock: str, words: list[str]):
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "inspector.cli", *words, *([mock] if words[-1] == "-a" else [])],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
        )
    assert ran.returncode == 1
    assert ran.stderr.startswith("Error: The output could not be written")
    assert len(ran.stderr.splitlines()) == 1


def test_any_character_can_be_printed_whatever_the_locale(make_agent: MakeAgent):
    agent = make_agent(card={"name": "Über 日本 🤖"})
    environment = os.environ | {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
    }
    ran = subprocess.run(
        [sys.executable, "-m", "inspector.cli", "card", "get", "-a", agent.url],
        check=True,
        capture_output=True,
        env=environment,
        timeout=SECONDS,
    )
    assert "Name: Über 日本 🤖\n".encode() in ran.stdout


@pytest.mark.parametrize(
    ("closed", "code", "seen"),
    [
        (">&-", 1, "Error: The output could not be written: Bad file descriptor.\n"),
        (">&- 2>&-", 1, ""),
        (">/dev/null 2>&-", 0, ""),
    ],
)
def test_a_lost_result_of_a_closed_stdout_is_an_error(mock: str, closed: str, code: int, seen: str):
    ran = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m inspector.cli card get -a {mock} {closed}'],
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (ran.returncode, ran.stderr) == (code, seen)


@pytest.mark.parametrize(
    ("words", "code", "seen"),
    [
        ("send {mock} --text hello --data -", 2, "--data: stdin could not be read"),
        ("lint -", 1, "Findings: 1 error"),
        ("chat {mock}", 0, ""),
        ("", 2, "The app needs a terminal"),
    ],
)
def test_a_closed_stdin_is_an_empty_input(mock: str, words: str, code: int, seen: str):
    ran = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m inspector.cli {words.format(mock=mock)} <&-'],
        check=False,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert ran.returncode == code
    assert seen in ran.stdout + ran.stderr


def test_lost_task_while_waiting_is_an_error(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] == "SendMessage":
            return call.result({"task": task("WORKING")})
        return call.error(-32001, "forgotten")

    ran = cli("send", "-a", make_agent(answer).url, "--text", "hi", "-o", "json", "--poll-interval", "10ms")
    assert (ran.code, ran.error["code"]) == (1, "TaskNotFoundError")


def test_a_card_without_an_interface_in_the_requested_version_names_the_option(cli: RunCli, make_agent: MakeAgent):
    interface = {"url": "http://127.0.0.1:1", "protocolBinding": "SMOKE", "protocolVersion": "1.0"}
    agent = make_agent(card={"supportedInterfaces": [interface]})
    plain = cli("task", "get", "x", "-a", agent.url, "-o", "json")
    assert "--a2a-version" not in plain.error["hint"]
    chosen = cli("task", "get", "x", "-a", agent.url, "-o", "json", "--a2a-version", "0.3")
    assert (chosen.code, chosen.error["hint"][:26]) == (1, "Leave out --a2a-version, o")


def test_an_operation_that_no_interface_has_is_not_blamed_on_the_choice(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent()
    interface = {"url": f"{agent.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}
    old = make_agent(card={"supportedInterfaces": [interface]})
    ran = cli("task", "list", "-a", old.url, "--a2a-version", "0.3", "-o", "json")
    assert json.loads(ran.err.splitlines()[-1])["error"]["hint"] == "No interface on the card has this operation."


def test_debug_is_not_recommended_again(cli: RunCli, make_agent: MakeAgent):
    async def answer(call: Call) -> web.StreamResponse:
        return call.result([])

    agent = make_agent(answer)
    ran = cli("task", "list", "-a", agent.url)
    assert "--debug" in ran.err.splitlines()[-1]
    ran = cli("task", "list", "-a", agent.url, "--debug")
    assert ran.code == 1
    assert "--debug" not in ran.err
