"""`auth login`, `status`, `logout` and `token`, and the commands that use the stored token."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from signal import SIGINT, SIGTERM, Signals

import httpx
import pytest
from forking import Program
from inspector.sample_agents.authentication import SECRET, USER, Authenticator
from inspector.sample_agents.faults.names import parse_fault
from inspector.sample_agents.server import MockAgent
from login_user import a_user_who_allows, no_keyring  # noqa: F401 - the fixture applies to the tests here
from programs import running
from puppets import CliResult, MakeAgent, RunCli, ServerThread

from inspector.protocol.card import AgentCard
from inspector.session.credential_options import credential_options

CLIENT = ("--client-id", USER)
FILE = ("--store", "file")


@pytest.fixture(scope="module")
def agent(server_thread: ServerThread) -> Iterator[str]:
    """A mock agent that demands a token."""
    mock = MockAgent(pace=0, authenticator=Authenticator("oauth2", interval=0))
    url = server_thread.do(mock.start(grpc_port=None))
    yield url
    server_thread.do(mock.stop())


def log_in(cli: RunCli, url: str, *more: str) -> CliResult:
    secret = ("--client-secret", "env:THE_SECRET")
    return cli("auth", "login", url, *CLIENT, *secret, *FILE, *more, THE_SECRET=SECRET)


def test_a_stored_token_is_used_by_other_commands(cli: RunCli, agent: str, tmp_path: Path):
    refused = cli("send", agent, "--text", "hi")
    assert refused.code == 4
    assert f"auth login --client-id CLIENT -a {agent}" in refused.err
    done = log_in(cli, agent)
    assert done.code == 0, done.err
    assert "Scopes: messages" in done.out
    assert "logins.json" in done.out
    for words in (("send", agent, "--text", "hi"), ("send", agent, "--text", "hi", "--stored-auth-only")):
        ran = cli(*words)
        assert ran.code == 0, ran.err
        assert "hi" in ran.out
    status = cli("auth", "status", agent)
    assert (status.code, "Credentials: given, not tested" in status.out) == (0, True)
    assert USER in cli("auth", "status").out


def test_status_does_not_call_credentials_valid_that_were_not_tested(cli: RunCli, make_agent: MakeAgent):
    agent = make_agent()
    status = ("auth", "status", agent.url)
    head = f"Agent: {agent.url}/rpc\nRequires: no credentials\nCredentials: "
    assert cli(*status).out == f"{head}none are required by the card\n"
    assert cli(*status, "--bearer", "wrong-token").out == f"{head}given, not tested\n"
    assert cli(*status, "-o", "json").json == {"origin": agent.url, "met": True, "alternatives": [], "token": None}
    assert "Hint: The card requires no credentials." in cli("auth", "login", agent.url).err


def test_the_token_is_printed_only_by_auth_token(cli: RunCli, agent: str):
    log_in(cli, agent)
    [token] = cli("auth", "token", agent).out.splitlines()
    answer = httpx.post(agent, headers={"Authorization": f"Bearer {token}"}, json={})
    assert answer.status_code != 401
    assert cli("auth", "token", agent, "-o", "json").json["accessToken"] == token
    for words in (("auth", "status"), ("auth", "status", agent, "--debug"), ("auth", "status", "-o", "json")):
        ran = cli(*words)
        assert token not in ran.out + ran.err


def test_a_page_of_the_login_on_another_server_is_a_warning(cli: RunCli, make_agent: MakeAgent):
    flow = {"authorizationUrl": "https://login.example/a", "tokenUrl": "https://tokens.example/t", "scopes": {}}
    schemes = {"oauth": {"oauth2SecurityScheme": {"flows": {"authorizationCode": flow}}}}
    agent = make_agent(card={"securitySchemes": schemes})
    ran = cli("auth", "login", agent.url, *CLIENT, *FILE, "--redirect-port", "0", "--no-browser", "--timeout", "2s")
    assert "the page of the login is at https://login.example:443, but the token is requested at" in ran.err
    assert ran.code == 5


def test_a_missing_scope_is_in_the_command_that_logs_in(cli: RunCli, agent: str):
    log_in(cli, agent)
    refused = cli("send", agent, "--text", "approval of a transfer")
    assert refused.code == 4
    command = f"auth login --scope 'messages transfers' --client-secret env:THE_SECRET --store file -a {agent}"
    assert command in refused.err
    assert SECRET not in refused.err
    log_in(cli, agent, "--scope", "messages transfers")
    assert "auth-required" in cli("send", agent, "--text", "approval of a transfer").out


def test_the_doctor_names_the_command_that_logs_in(cli: RunCli, agent: str):
    cli("auth", "logout", "--all")
    ran = cli("doctor", agent)
    assert ran.code == 4
    assert (
        f"Hint: Log in: a2a-inspect auth login --client-id CLIENT -a {agent}. Or add --bearer or --header." in ran.err
    )


def test_an_expired_token_that_is_not_renewed_names_the_command_that_logs_in_again(
    cli: RunCli, server_thread: ServerThread
):
    faults = [parse_fault(fault) for fault in ("expires-at-once", "refresh-refused")]
    mock = MockAgent(pace=0, authenticator=Authenticator("oauth2", faults=faults, interval=0))
    url = server_thread.do(mock.start(grpc_port=None))
    try:
        with a_user_who_allows():
            done = cli("auth", "login", url, *CLIENT, *FILE, "--no-browser", "--redirect-port", "0")
        assert (done.code, "\nExpired: " in done.out) == (0, True), done.err
        assert re.search("expired .* ago, the next command tries to renew it", cli("auth", "status").out)
        refused = cli("send", url, "--text", "hi")
        assert refused.code == 4
        assert f"Log in: a2a-inspect auth login --store file -a {url}" in refused.err
    finally:
        server_thread.do(mock.stop())


def test_an_interrupted_login_is_reported_as_such(agent: str):
    with Program("auth", "login", agent, *CLIENT, *FILE, "--no-browser", "--redirect-port", "0") as program:
        while not program.stderr.readline().startswith("The page returns to"):
            pass
        program.send_signal(signal.SIGINT)
        _, err = program.communicate()
    assert (program.returncode, err) == (130, "Interrupted: the login was not completed\n")


def test_an_interruption_before_the_card_is_reported_as_such():
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        Program("auth", "login", f"127.0.0.1:{silent.getsockname()[1]}", *CLIENT, *FILE) as program,
        silent.accept()[0] as connection,
    ):
        connection.recv(1)
        program.send_signal(signal.SIGINT)
        _, err = program.communicate()
    assert (program.returncode, err) == (130, "Interrupted: the card of the agent was not received\n")


def test_log_out_revokes_and_removes_the_token(cli: RunCli, agent: str):
    log_in(cli, agent)
    [token] = cli("auth", "token", agent).out.splitlines()
    done = cli("auth", "logout", agent, THE_SECRET=SECRET)
    assert "Logged out, and the token was revoked." in done.out
    assert httpx.post(agent, headers={"Authorization": f"Bearer {token}"}, json={}).status_code == 401
    again = cli("auth", "logout", agent)
    assert (again.code, again.out, again.err) == (0, f"There are no stored tokens for {agent}.\n", "")
    assert "There are no stored tokens." in cli("auth", "status").out
    assert "There are no stored tokens." in cli("auth", "logout", "--all").out


@pytest.mark.parametrize(
    "words",
    [
        ("send", "--text", "hi", "--stored-auth-only"),
        ("task", "list", "--stored-auth-only"),
        ("auth", "token"),
        ("auth", "status"),
    ],
)
def test_missing_credentials_exit_with_4_and_name_the_command(cli: RunCli, agent: str, words: tuple[str, ...]):
    ran = cli(*words, "-a", agent, "-o", "json")
    assert ran.code == 4
    error = json.loads(ran.err.splitlines()[-1])["error"]
    assert error["code"] == "A2ACLI_ERR_CREDENTIALS_MISSING"
    assert f"a2a-inspect auth login --client-id CLIENT -a {agent}" in error["hint"]


def test_stored_auth_only_sends_nothing_without_a_token_and_never_logs_in(cli: RunCli, make_agent: MakeAgent):
    scheme = {"s": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}
    agent = make_agent(card={"securitySchemes": scheme, "securityRequirements": [{"schemes": {"s": {"list": []}}}]})
    assert cli("send", "-a", agent.url, "--text", "hi", "--stored-auth-only").code == 4
    assert {call.request.method for call in agent.calls} == {"GET"}, "only the card was requested"
    assert cli("send", "-a", agent.url, "--text", "hi", "--stored-auth-only", "--bearer", "x" * 9).code == 2
    assert cli("auth", "login", agent.url, "--stored-auth-only").code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scheme", "none-such", *CLIENT, *FILE), "It offers oauth2, oauth2_code, oauth2_device"),
        (("--scheme", "oauth2_code", "--device", *CLIENT, *FILE), "does not offer the flow deviceCode"),
        ((*FILE,), "No client id was given"),
        ((*CLIENT, *FILE, "--flow", "clientCredentials"), "needs the secret of the client"),
        ((*CLIENT, "--store", "keyring"), "--store file"),
        (CLIENT, "--store file"),
        ((*CLIENT, *FILE, "--client-secret", "literal"), "write it as env:NAME"),
        ((*CLIENT, *FILE, "--client-secret", "env:NO_SUCH_NAME"), "NO_SUCH_NAME is not set"),
    ],
)
def test_what_is_missing_for_a_login_is_named(cli: RunCli, agent: str, words: tuple[str, ...], said: str):
    ran = cli("auth", "login", agent, *words)
    assert ran.code == 2
    assert said in ran.err
    assert "literal" not in ran.err


def test_a_wrong_secret_is_refused_with_4(cli: RunCli, agent: str):
    secret = ("--client-secret", "env:THE_SECRET")
    ran = cli("auth", "login", agent, *CLIENT, *secret, *FILE, THE_SECRET="canary-wrong-secret")
    assert (ran.code, "invalid_client" in ran.err) == (4, True)
    assert "canary" not in ran.err + ran.out


@pytest.mark.parametrize("flow", ["authorizationCode", "deviceCode"])
def test_the_url_of_the_login_is_printed(cli: RunCli, agent: str, flow: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BROWSER", "/bin/false")
    with a_user_who_allows():
        ran = cli("auth", "login", agent, *CLIENT, *FILE, "--flow", flow, "--redirect-port", "0", "--no-browser")
    assert ran.code == 0, ran.err
    assert ("Code: " in ran.err) is (flow == "deviceCode")
    assert bool(re.search(r"port (\d+) of this machine.* ssh -L \1:127", ran.err)) is (flow == "authorizationCode")
    assert "Within: 9m" in ran.err or "Within: 10m" in ran.err
    assert f"({flow})" in ran.out


@pytest.mark.parametrize(
    ("kind", "option"),
    [
        ("basic", "Add --basic USER:PASSWORD."),
        ("bearer", "Add --bearer TOKEN."),
        ("api-key:header", "Add --api-key KEY."),
        ("api-key:cookie", "Add --api-key KEY."),
    ],
)
def test_without_a_login_the_options_for_the_credentials_are_named(
    cli: RunCli, server_thread: ServerThread, kind: str, option: str
):
    mock = MockAgent(pace=0, authenticator=Authenticator(kind))
    url = server_thread.do(mock.start(grpc_port=None))
    try:
        for words in (
            ("auth", "status", url),
            ("send", url, "--text", "hi"),
            ("send", url, "--text", "hi", "--stored-auth-only"),
            ("doctor", url),
        ):
            ran = cli(*words)
            assert ran.code == 4
            assert option in ran.err
            assert "auth login" not in ran.err
        rejected = cli("doctor", url, "--header", "Authorization: Wrong canary-5512")
        assert (rejected.code, "credentials, which were rejected" in rejected.err) == (4, True)
        assert "checks failed: interface 1 as 1.0 over JSONRPC: the credentials were rejected (401)" in rejected.out
        assert "not checked: the credentials were rejected" in rejected.out
        assert f": {option.removeprefix('Add ')}" in rejected.err
        refused = cli("auth", "login", url, *CLIENT, *FILE)
        assert (refused.code, option in refused.err) == (2, True)
    finally:
        server_thread.do(mock.stop())


@pytest.mark.parametrize(
    ("kind", "given", "required"),
    [
        ("bearer", "--api-key", "a bearer token: --bearer TOKEN."),
        ("bearer", "--bearer", "a bearer token: --bearer TOKEN."),
        ("api-key:header", "--bearer", "an API key in header X-API-Key: --api-key KEY."),
    ],
)
def test_rejected_credentials_are_explained_with_what_the_card_requires(
    cli: RunCli, server_thread: ServerThread, kind: str, given: str, required: str
):
    mock = MockAgent(pace=0, authenticator=Authenticator(kind))
    url = server_thread.do(mock.start(grpc_port=None))
    try:
        for command in (("send", url, "--text", "hi"), ("doctor", url)):
            ran = cli(*command, given, "canary-5512")
            assert ran.code == 4
            assert ran.err.rstrip().endswith(f"The card requires {required}")
    finally:
        server_thread.do(mock.stop())


def test_each_alternative_of_a_card_names_its_options():
    schemes = {
        "odd": {"httpAuthSecurityScheme": {"scheme": "O'dd"}},
        "tls": {"mtlsSecurityScheme": {}},
        "token": {"openIdConnectSecurityScheme": {}},
    }
    required = [{"schemes": {name: {} for name in names}} for names in (["tls", "token"], ["odd"], ["lost"])]
    card = AgentCard.model_validate({"name": "a", "security_schemes": schemes, "security_requirements": required})
    odd = "--header 'Authorization: O'\"'\"'dd CREDENTIALS'"
    assert credential_options(card) == f"--client-cert FILE and --bearer TOKEN, or {odd}"


def test_the_token_of_a_login_is_only_for_its_interface(cli: RunCli, server_thread: ServerThread):
    mock = MockAgent(pace=0, authenticator=Authenticator("oauth2", interval=0))
    url = server_thread.do(mock.start())
    over_grpc = ("--transport", "GRPC")
    try:
        log_in(cli, url)
        refused = cli("send", url, "--text", "hi", *over_grpc, THE_SECRET=SECRET)
        assert refused.code == 4
        assert f"Log in: a2a-inspect auth login --client-id CLIENT -a {url} --transport GRPC" in refused.err
        assert "--trust" not in refused.err
        doctor = cli("doctor", url, THE_SECRET=SECRET)
        assert "auth login with --transport GRPC" in doctor.out
        log_in(cli, url, *over_grpc)
        sent = cli("send", url, "--text", "hi", *over_grpc, THE_SECRET=SECRET)
        assert (sent.code, sent.err) == (0, "")
        assert cli("doctor", url, THE_SECRET=SECRET).code == 0
    finally:
        server_thread.do(mock.stop())


@pytest.mark.parametrize(("kind", "option"), [("bearer", "--bearer"), ("api-key:query", "--api-key")])
def test_a_token_or_key_is_read_from_a_variable(cli: RunCli, server_thread: ServerThread, kind: str, option: str):
    mock = MockAgent(pace=0, authenticator=Authenticator(kind))
    url = server_thread.do(mock.start(grpc_port=None))
    try:
        sent = cli("send", url, "--text", "hi", option, "env:THE_SECRET", "--debug", THE_SECRET=SECRET)
        assert sent.code == 0, sent.err
        assert SECRET not in sent.out + sent.err
        missing = cli("send", url, "--text", "hi", option, "env:NOT_SET")
        assert (missing.code, "the environment variable NOT_SET is not set" in missing.err) == (2, True)
    finally:
        server_thread.do(mock.stop())


NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
AS_CLIENT = ("--flow", "clientCredentials")


def test_what_is_missing_is_asked_for_in_a_terminal_without_showing_the_secret(agent: str, tmp_path: Path):
    with running(tmp_path) as run:
        terminal = run("auth", "login", agent, *AS_CLIENT, env=NO_KEYRING)
        terminal.wait_for("Client id:")
        terminal.send(f"{USER}\r")
        terminal.wait_for("Client secret:")
        terminal.send(f"{SECRET}\r")
        terminal.wait_for("[y/N]")
        terminal.send("y\r")
        ending = terminal.wait_exit()
        assert (ending.status, ending.restored) == (0, True), terminal.screen_text()
        assert "Scopes: messages" in terminal.screen_text()
        assert SECRET not in terminal.screen_text()


@pytest.mark.parametrize(
    ("stop", "code"), [(SIGINT, 130), (SIGTERM, 143), (None, 5)], ids=["Ctrl+C", "SIGTERM", "--timeout"]
)
@pytest.mark.parametrize("prompt", ["Client id:", "Client secret:"])
def test_a_prompt_can_be_interrupted(agent: str, tmp_path: Path, prompt: str, stop: Signals | None, code: int):
    known = () if prompt == "Client id:" else CLIENT
    limit = () if stop else ("--timeout", "2s")
    with running(tmp_path) as run:
        terminal = run("auth", "login", agent, *AS_CLIENT, *known, *FILE, *limit)
        terminal.wait_for(prompt)
        if stop is SIGINT:
            terminal.press("ctrl+c")
        elif stop:
            terminal.signal(stop)
        ending = terminal.wait_exit()
        assert (ending.status, ending.restored) == (code, True), terminal.screen_text()


def test_a_prompt_without_an_answer_is_a_usage_error(agent: str, tmp_path: Path):
    with running(tmp_path) as run:
        for known, message in (((), "No client id was given."), (CLIENT, "needs the secret of the client.")):
            terminal = run("auth", "login", agent, *AS_CLIENT, *known, *FILE)
            terminal.wait_for("Client ")
            terminal.press("ctrl+d")
            assert terminal.wait_exit().status == 2
            assert message in terminal.screen_text()
