"""Logins with authorization servers made with other libraries, for agents made with the official SDKs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import environments
import httpx
import pytest
import user
from sdk_agent import Agent

from inspector.capture.records import is_login
from inspector.capture.store import Capture
from inspector.findings.finding import Severity

pytestmark = pytest.mark.interop

SECONDS = 60
SERVERS = list(environments.AUTHORIZATION_SERVERS)
SECRET = "s3cret/+ &"
"""The secret of the client `service` at the servers in `authorization/`."""
NO_CREDENTIALS = 4


@dataclass(frozen=True)
class Program:
    """The command line of the inspector for an agent, with the stored tokens of one home folder."""

    agent: Agent
    home: Path
    version: str = "1.0"

    def start(self, *words: str) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("A2ACLI_")}
        environment |= {"A2A_INSPECT_HOME": str(self.home), "INTEROP_SECRET": SECRET}
        command = [sys.executable, "-m", "inspector.cli", *words, "-a", self.agent.url]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.home, env=environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        with self.start(*words) as process:
            out, errors = process.communicate(timeout=SECONDS)
        return subprocess.CompletedProcess(process.args, process.returncode, out, errors)

    def text(self, *words: str) -> str:
        ran = self.run(*words)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def log_in(self, *words: str) -> dict[str, Any]:
        """Log in, as the user if the command prints a URL; return its JSON output. The capture is `login.a2acap`."""
        options = ("--store", "file", "--redirect-port", "0", "--no-browser", "-o", "json", "--capture", "login.a2acap")
        with self.start("auth", "login", *words, *options) as process:
            assert process.stderr
            printed = ""
            for line in process.stderr:
                printed += line
                found = re.search(r"Log in at: (\S+)", line)
                if found:
                    user.allow(found[1])
            out, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, printed
        return dict(json.loads(out))

    @property
    def token(self) -> str:
        return self.text("auth", "token").strip()

    def echo(self, *words: str) -> str:
        return self.text(*self.echoing, *words)

    @property
    def echoing(self) -> tuple[str, ...]:
        return ("send", "--text", "echo hello", "--a2a-version", self.version)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def agent(server: str, run_protected: Callable[[str, str], Agent]) -> Agent:
    return run_protected("v1", server)


@pytest.fixture
def program(agent: Agent, tmp_path: Path) -> Program:
    return Program(agent, tmp_path)


def call(agent: Agent, token: str) -> int:
    """Return the status of a call with a token."""
    headers = {"Authorization": f"Bearer {token}", "A2A-Version": "1.0"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "none"}}
    return httpx.post(f"{agent.url}/", json=body, headers=headers, trust_env=False).status_code


def check_capture(program: Program, *secrets: str) -> None:
    """Check that a login was recorded without findings of severity error, and without its secrets."""
    path = program.home / "login.a2acap"
    with Capture.open(path) as capture:
        records = [record for record in capture.select() if is_login(record)]
    assert len(records) > 3
    assert [finding for record in records for finding in record.findings if finding.severity is Severity.ERROR] == []
    raw = b"".join(file.read_bytes() for file in program.home.glob("login.a2acap*"))
    assert [secret for secret in secrets if secret.encode() in raw] == []


def test_without_a_login_the_command_that_logs_in_is_printed(program: Program):
    ran = program.run("send", "--text", "echo hello")
    assert ran.returncode == NO_CREDENTIALS
    assert "auth login" in ran.stderr


def test_a_user_logs_in_with_a_browser(program: Program, agent: Agent):
    token = program.log_in("--scheme", "code", "--client-id", "inspector")
    assert (token["flow"], token["scopes"]) == ("authorizationCode", ["agent:call"])
    assert "hello" in program.echo()
    assert call(agent, program.token) == 200
    check_capture(program, program.token)


def test_a_user_logs_in_with_a_device_code(program: Program):
    token = program.log_in("--scheme", "device", "--client-id", "inspector")
    assert (token["flow"], token["scopes"]) == ("deviceCode", ["agent:call"])
    assert "hello" in program.echo()
    check_capture(program, program.token)


def test_a_client_logs_in_with_a_secret_of_any_characters(program: Program):
    token = program.log_in("--scheme", "client", "--client-id", "service", "--client-secret", "env:INTEROP_SECRET")
    assert (token["flow"], token["scopes"]) == ("clientCredentials", ["agent:call"])
    assert "hello" in program.echo()
    check_capture(program, program.token, SECRET, quote(SECRET), quote_plus(SECRET))


def test_an_id_token_names_the_user(program: Program):
    token = program.log_in("--scheme", "openid", "--client-id", "inspector")
    assert token["subject"] == user.NAME
    assert set(token["scopes"]) == {"openid", "agent:call"}
    assert "hello" in program.echo()
    check_capture(program, program.token)


def test_a_token_that_expires_soon_is_renewed(program: Program):
    program.log_in("--scheme", "code", "--client-id", "short-lived")
    stored = (program.home / "state" / "logins.json").read_text()
    assert "hello" in program.echo()
    assert (program.home / "state" / "logins.json").read_text() != stored


def test_a_logout_revokes_the_token(program: Program, agent: Agent):
    program.log_in("--scheme", "code", "--client-id", "inspector")
    token = program.token
    assert call(agent, token) == 200
    assert "revoked" in program.text("auth", "logout")
    assert call(agent, token) == 401
    assert program.run("auth", "token").returncode == NO_CREDENTIALS


@pytest.mark.parametrize("flow", ["authorizationCode", "clientCredentials"])
def test_an_agent_of_0_3_has_a_scheme_with_several_flows(
    run_protected: Callable[[str, str], Agent], tmp_path: Path, flow: str
):
    program = Program(run_protected("v0_3", "authlib"), tmp_path, "0.3")
    client = {
        "authorizationCode": ("--client-id", "inspector"),
        "clientCredentials": ("--client-id", "service", "--client-secret", "env:INTEROP_SECRET"),
    }
    token = program.log_in("--scheme", "oauth", "--flow", flow, *client[flow])
    assert token["flow"] == flow
    assert "hello" in program.echo()


@pytest.mark.parametrize(("name", "version"), [("v1", "1.0"), ("v0_3", "0.3")])
def test_an_api_key_is_sent_in_the_header_that_the_card_names(
    run_protected: Callable[[str, str], Agent], tmp_path: Path, name: str, version: str
):
    program = Program(run_protected(name, "authlib"), tmp_path, version)
    assert "hello" in program.echo("--api-key", "interop-key")
    assert program.run(*program.echoing, "--api-key", "wrong").returncode == NO_CREDENTIALS
