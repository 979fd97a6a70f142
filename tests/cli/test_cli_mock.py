"""`mock`: the agent that options make, and invalid options."""

from __future__ import annotations

import json
import re
import select
import signal
import time
from functools import partial
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from forking import Program
from inspector.sample_agents.faults.names import FAULTS
from puppets import SECONDS, RunCli

from inspector.cli.mock import Console
from inspector.cli.output import Output

CARD = "/.well-known/agent-card.json"


def card_of(url: str, **headers: str) -> Any:
    return httpx.get(url + CARD, headers=headers, timeout=SECONDS).json()


def test_default_agent_has_1_0_over_three_bindings():
    with Program("mock") as program:
        url = program.stdout.readline().strip()
        assert program.stdout.readline().startswith("gRPC: 127.0.0.1:")
        card = card_of(url)
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=SECONDS)
    interfaces = card["supportedInterfaces"]
    assert [(item["protocolBinding"], item["protocolVersion"]) for item in interfaces] == [
        ("JSONRPC", "1.0"),
        ("HTTP+JSON", "1.0"),
        ("GRPC", "1.0"),
    ]
    assert card["capabilities"]["extendedAgentCard"] is False
    assert "url" not in card


def test_options_change_the_agent():
    options = (
        "--protocol-versions",
        "0.3,1.0",
        "--capabilities",
        "all",
        "--require-extension",
        "urn:x",
        "--spec",
        "1.0.0",
    )
    with Program("mock", *options) as program:
        url = program.stdout.readline().strip()
        card = card_of(url)
        refused = httpx.get(f"{url}/v1.0/tasks", headers={"A2A-Version": "1.0"}, timeout=SECONDS).json()
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=SECONDS)
    assert (card["url"], card["protocolVersion"]) == (f"{url}/", "0.3.0")
    assert card["supportedInterfaces"][0]["url"] == f"{url}/v1.0"
    assert card["supportsAuthenticatedExtendedCard"] is True
    assert refused["error"]["details"][0]["reason"] == "EXTENSION_SUPPORT_REQUIRED"


def test_a_card_file_is_served(tmp_path: Path):
    own = tmp_path / "card.json"
    own.write_text(json.dumps({"name": "Mine"}))
    with Program("mock", "--card", str(own)) as program:
        card = card_of(program.stdout.readline().strip())
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=SECONDS)
    assert card == {"name": "Mine"}


def test_a_recording_is_served(cli: RunCli, mock: str, tmp_path: Path):
    path = str(tmp_path / "session.a2a")
    recorded = cli("send", "-a", mock, "--text", "report 3", "--stream", "--capture", path)
    with Program("mock", "--capture", path, "--pace", "0") as program:
        url = program.stdout.readline().strip()
        assert program.stdout.readline().startswith("gRPC: 127.0.0.1:")
        served = cli("send", "-a", url, "--text", "report 3", "--stream")
        refused = cli("send", "-a", url, "--text", "report 4", "--stream")
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=SECONDS)
    assert (served.code, served.out) == (0, recorded.out)
    assert refused.code == 1
    assert 'recorded "report 3", received "report 4"' in refused.err


def test_other_options_of_the_agent_cannot_be_combined_with_a_recording(cli: RunCli, tmp_path: Path):
    ran = cli("mock", "--capture", str(tmp_path / "x.a2a"), "--fault", "drop", "--spec", "1.0.1", "--pace", "0")
    assert (ran.code, ran.out) == (2, "")
    assert "--spec and --fault cannot be combined with --capture" in ran.err


def test_a_file_that_cannot_be_served_is_a_usage_error(cli: RunCli, mock: str, tmp_path: Path):
    text, empty, card_only = (tmp_path / name for name in ("text", "empty", "card.a2a"))
    text.write_text("not a capture, but long enough to be read as the head of a database file")
    empty.write_bytes(b"")
    cli("card", "get", "-a", mock, "--capture", str(card_only))
    for path, message in (
        (tmp_path / "nowhere", "does not exist"),
        (text, "is not a capture of a2a-inspect"),
        (empty, "is empty: nothing was recorded in it"),
        (card_only, "contains no exchange with an agent that can be served"),
    ):
        ran = cli("mock", "--capture", str(path))
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--protocol-versions", "0.9"), "'0.9' is not a protocol version"),
        (("--protocol-versions", ","), "No protocol version was given"),
        (("--capabilities", "flying"), "'flying' is not a capability"),
        (("--spec", "1.0.7"), "invalid choice"),
        (("--card", "/nowhere/card.json"), "could not be read"),
        (("--fault", "explode"), "Unknown fault 'explode'"),
        (("--fault", "batch:3"), "has no number"),
        (("--scenario", "/nowhere"), "/nowhere: This file or folder does not exist"),
        (("--auth", "guessing"), "invalid choice"),
        (("--sign", "none"), "invalid choice"),
        (("--state", "/dev"), "/dev cannot be used as an SQLite file"),
        (("--state", "/dev/null/tasks"), "/dev/null cannot be created"),
    ],
)
def test_invalid_mock_options_are_usage_errors(cli: RunCli, words: tuple[str, ...], message: str):
    ran = cli("mock", *words)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_card_that_is_not_json_is_refused(cli: RunCli, tmp_path: Path):
    own = tmp_path / "card.json"
    own.write_text("<html>")
    ran = cli("mock", "--card", str(own))
    assert ran.code == 2
    assert "not JSON" in ran.err


def test_invalid_scenario_is_rejected_with_its_line(cli: RunCli, tmp_path: Path):
    own = tmp_path / "own.toml"
    own.write_text('description = "Mine."\nsteps = [\n  { wiat = 1 },\n]\n')
    ran = cli("mock", "--scenario", str(own))
    assert ran.code == 2
    assert f"{own}:3: " in ran.err


def test_options_set_faults_scenarios_credentials_and_signatures(tmp_path: Path):
    own = tmp_path / "own.toml"
    own.write_text('description = "Mine."\nsteps = [{ message = "mine" }]\n')
    options = ("--scenario", str(own), "--auth", "api-key:header", "--secret", "s3cret", "--sign", "es256")
    with Program("mock", *options, "--fault", "wrong-rpc-id") as program:
        url = program.stdout.readline().strip()
        card = card_of(url)
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "own"}]}
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
        ask = partial(httpx.post, url, json=body, timeout=SECONDS)
        refused, answered = ask(), ask(headers={"A2A-Version": "1.0", "X-API-Key": "s3cret"}).json()
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=SECONDS)
    assert "own" in {skill["id"] for skill in card["skills"]}
    assert card["securitySchemes"] == {"api_key": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}}}
    assert len(card["signatures"]) == 1
    assert refused.status_code == 401
    assert (answered["id"], answered["result"]["message"]["parts"]) == ("wrong-id", [{"text": "mine"}])


def test_scenario_that_becomes_invalid_is_reported_with_its_line(tmp_path: Path):
    own = tmp_path / "own.toml"
    own.write_text('description = "Mine."\nsteps = [{ message = "mine" }]\n')
    with Program("mock", "--scenario", str(own)) as program:
        url = program.stdout.readline().strip()
        own.write_text('description = "Mine."\nsteps = [\n  { mesage = "changed" },\n]\n')
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "own"}]}
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
        deadline = time.monotonic() + SECONDS
        ready = False
        while not ready and time.monotonic() < deadline:
            answered = httpx.post(url, json=body, headers={"A2A-Version": "1.0"}, timeout=SECONDS).json()
            ready = bool(select.select([program.stderr], [], [], 0.1)[0])
        program.send_signal(signal.SIGTERM)
        _, log = program.communicate(timeout=SECONDS)
    assert answered["result"]["message"]["parts"] == [{"text": "mine"}]
    assert f"Warning: {own}:3: " in log


def test_every_fault_is_listed_and_documented_with_its_finding(cli: RunCli):
    ran = cli("mock", "--list-faults")
    listed = {line.split()[0]: line.split()[1] for line in ran.out.splitlines()}
    assert (ran.code, ran.err) == (0, "")
    assert {name.partition("[")[0] for name in listed} == set(FAULTS)
    page = (Path(__file__).resolve().parents[2] / "docs" / "mock.md").read_text("utf-8")
    rows = [[cell.strip(" `") for cell in line.split("|")] for line in page.splitlines() if line.count("|") == 4]
    written = {row[1]: row[3] or "-" for row in rows if row[1] in listed}
    assert written == listed
    assert f"{len(FAULTS)} faults on demand" in (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")


def test_log_lines_in_a_terminal_have_time_load_and_text():
    output = StringIO()
    agent = SimpleNamespace(url="http://x", grpc_target="x:1", counts=(2, 1, 3))
    console = Console(Output(output, StringIO()), terminal=True, verbose=False)
    console.ready(agent)
    console.log("task 3f2a9c1e: \x1b[31mworking")
    console.log("1.0 SendMessage")
    url, grpc, blank, head, first, second = output.getvalue().splitlines()
    assert (url, grpc, blank) == ("http://x", "gRPC: x:1", "")
    assert head == "time      tasks  running  streams"
    assert re.fullmatch(r"\d\d:\d\d:\d\d      2        1        3  task 3f2a9c1e  \S*working", first)
    assert "\x1b" not in first
    assert second[8:] == "      2        1        3  1.0            SendMessage"


@pytest.mark.parametrize(("verbose", "log"), [(True, "mock: 1.0 SendMessage\n"), (False, "")])
def test_only_urls_are_printed_without_a_terminal(verbose: bool, log: str):
    output, errors = StringIO(), StringIO()
    console = Console(Output(output, errors), terminal=False, verbose=verbose)
    console.ready(SimpleNamespace(url="http://x", grpc_target=""))
    console.log("1.0 SendMessage")
    assert (output.getvalue(), errors.getvalue()) == ("http://x\n", log)


@pytest.mark.parametrize(
    "words",
    [["--cert", "c.pem"], ["--key", "k.pem"], ["--client-ca", "a.pem"], ["--cert", "no.pem", "--key", "no.pem"]],
)
def test_tls_needs_a_certificate_and_its_key(cli: RunCli, words: list[str]):
    ran = cli("mock", *words)
    assert (ran.code, ran.out) == (2, "")
    assert "TLS" in ran.err


def test_invalid_certificate_is_an_error(cli: RunCli, tmp_path: Path):
    path = tmp_path / "cert.pem"
    path.write_text("no certificate")
    ran = cli("mock", "--cert", str(path), "--key", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert "TLS could not be set up" in ran.err


@pytest.mark.parametrize("option", ["--cert", "--key", "--client-ca"])
def test_the_message_about_a_missing_tls_file_contains_its_path(cli: RunCli, tmp_path: Path, option: str):
    missing, there = tmp_path / "missing.pem", tmp_path / "there.pem"
    there.touch()
    files = {name: missing if name == option else there for name in ("--cert", "--key", "--client-ca")}
    ran = cli("mock", *(word for name, file in files.items() for word in (name, str(file))))
    assert (ran.code, ran.out) == (2, "")
    assert f"The TLS file {missing} could not be read: No such file or directory." in ran.err


def test_a_tls_file_that_cannot_be_read_is_not_reported_as_a_fault_of_the_port(cli: RunCli, tmp_path: Path):
    ran = cli("mock", "--cert", str(tmp_path), "--key", str(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert f"The TLS file {tmp_path} could not be read: Is a directory." in ran.err
    assert "--port" not in ran.err


def test_the_password_of_an_encrypted_key_is_not_asked_for(tmp_path: Path):
    made = trustme.CA().issue_cert("127.0.0.1")
    private = load_pem_private_key(made.private_key_pem.bytes(), None)
    secret = BestAvailableEncryption(b"secret")
    key = private.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, secret)
    (tmp_path / "key.pem").write_bytes(key)
    made.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    words = "mock", "--cert", str(tmp_path / "cert.pem"), "--key", str(tmp_path / "key.pem")
    with Program(*words) as program:
        _, errors = program.communicate(timeout=SECONDS)
    assert program.returncode == 2
    assert "the key without a password" in errors


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--fault", "no-pkce"], "Add --auth oauth2"),
        (["--fault", "no-pkce", "--auth", "bearer"], "Add --auth oauth2"),
        (["--fault", "login-page"], "Add --auth."),
    ],
)
def test_a_fault_of_logins_needs_authentication(cli: RunCli, words: list[str], hint: str):
    ran = cli("mock", *words)
    assert (ran.code, ran.out) == (2, "")
    assert hint in ran.err
