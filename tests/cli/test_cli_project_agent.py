"""An agent that a file of the project names does not get the secrets of the user, because it can be any host."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from puppets import Call, CliResult, MakeAgent, Puppet, RunCli, check_that_sends

SECRET = "canary-5d1c-secret"
CHECK = check_that_sends("CANARY")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a repository that somebody else wrote."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("CANARY", SECRET)
    monkeypatch.setenv("A2A_TOKEN", SECRET)
    return tmp_path / "project"


@pytest.fixture
def agent(make_agent: MakeAgent) -> Puppet:
    """An agent that asks for credentials, with the card and with every call."""

    async def answer(call: Call) -> web.StreamResponse:
        if "Authorization" in call.request.headers or "X-Key" in call.request.headers:
            return call.result({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}})
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})

    def card(request: web.BaseRequest) -> web.Response | dict[str, object]:
        known = "Authorization" in request.headers or "X-Key" in request.headers
        return {"capabilities": {}} if known or request.query_string else web.Response(status=401)

    return make_agent(answer, card=card)


@pytest.fixture
def open_agent(make_agent: MakeAgent) -> Puppet:
    """An agent that asks for nothing."""

    async def answer(call: Call) -> web.StreamResponse:
        return call.result({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}})

    return make_agent(answer, card={"capabilities": {}})


def got_secret(agent: Puppet) -> bool:
    return any(SECRET in str(call.request.headers) or SECRET.encode() in call.body for call in agent.calls)


def agents_toml(project: Path, agent: Puppet, more: str = "") -> None:
    text = f'default = "evil"\n[agents.evil]\nurl = "{agent.url}"\n{more}'
    (project / "agents.toml").write_text(text)


SECRETS = [
    {"A2ACLI_BEARER": SECRET},
    {"A2ACLI_BASIC": f"user:{SECRET}"},
    {"A2ACLI_HEADER": f"X-Key: {SECRET}"},
    {"A2ACLI_API_KEY": SECRET},
]
WAYS = [
    ("send", "--text", "hi"),
    ("send", "evil", "--text", "hi"),
    ("send", "-a", "evil", "--text", "hi", "--auth-card"),
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: next(iter(secret)))
@pytest.mark.parametrize("words", WAYS, ids=["default", "argument", "-a"])
def test_credentials_of_the_environment_are_withheld(
    cli: RunCli, project: Path, agent: Puppet, open_agent: Puppet, words: tuple[str, ...], secret: dict[str, str]
):
    for each in (agent, open_agent):
        agents_toml(project, each)
        ran = cli(*words, **secret)
        assert not got_secret(each)
        assert f"from a file of the project, {project}/agents.toml:3" in ran.err
        assert f"--trust {each.url}" in ran.err
        assert ran.code == (4 if each is agent else 0)


@pytest.mark.parametrize("more", ['bearer = "env:A2A_TOKEN"', 'headers = { X-Key = "env:A2A_TOKEN" }'])
def test_a_reference_of_the_project_is_withheld(cli: RunCli, project: Path, agent: Puppet, more: str):
    agents_toml(project, agent, more)
    assert cli("send", "--text", "hi").code == 4
    assert not got_secret(agent)
    assert cli("agents", "check").code == 1
    assert not got_secret(agent)
    assert cli("send", "--text", "hi", "--trust", agent.url).code == 0
    assert got_secret(agent)


def test_a_url_of_a_found_env_file_gets_only_what_that_file_has(cli: RunCli, project: Path, agent: Puppet):
    file = project / ".env"
    file.write_text(f"A2ACLI_AGENT_CARD={agent.url}\n")
    assert cli("send", "--text", "hi", A2ACLI_BEARER=SECRET).code == 4
    file.write_text(f"A2ACLI_AGENT_CARD={agent.url}\nA2ACLI_BEARER=env:A2A_TOKEN\n")
    assert cli("send", "--text", "hi").code == 4
    assert not got_secret(agent)
    file.write_text(f"A2ACLI_AGENT_CARD={agent.url}\nA2ACLI_BEARER=of-the-project\n")
    file.chmod(0o600)
    ran = cli("send", "--text", "hi")
    assert (ran.code, ran.err) == (0, "")
    file.write_text(f"A2ACLI_AGENT_CARD={agent.url}\nA2ACLI_BEARER=env:A2A_TOKEN\n")
    assert cli("send", "--text", "hi", "--config", str(file)).code == 0
    assert got_secret(agent)


def allowed(cli: RunCli, agent: Puppet, *words: str, **environment: str) -> CliResult:
    ran = cli("send", "--text", "hi", *words, **environment)
    assert (ran.code, ran.err) == (0, "")
    assert got_secret(agent)
    return ran


def test_the_user_decides_who_gets_the_credentials(cli: RunCli, project: Path, agent: Puppet, tmp_path: Path):
    agents_toml(project, agent)
    allowed(cli, agent, "--trust", agent.url, A2ACLI_BEARER=SECRET)
    allowed(cli, agent, A2ACLI_BEARER=SECRET, A2ACLI_TRUST=agent.url)
    allowed(cli, agent, "--bearer", SECRET)
    allowed(cli, agent, "-a", agent.url, A2ACLI_BEARER=SECRET)
    own = tmp_path / "home" / ".env"
    own.parent.mkdir(exist_ok=True)
    own.write_text(f"A2ACLI_TRUST={agent.url}\n")
    allowed(cli, agent, A2ACLI_BEARER=SECRET)
    own.unlink()
    cli("agents", "add", "evil", agent.url, "--bearer", "env:A2A_TOKEN")
    allowed(cli, agent, "-a", "evil")


def test_an_agent_of_the_project_does_not_get_the_environment(cli: RunCli, project: Path, open_agent: Puppet):
    agents_toml(project, open_agent)
    (project / "steal.acts.yaml").write_text(CHECK)
    (project / "steal.toml").write_text('[[parts]]\ntext = "{{CANARY}}"\n')
    ran = cli("check", "steal.acts.yaml")
    assert ran.code == 1
    assert "the environment variable CANARY is not read" in ran.out + ran.err
    assert cli("send", "--snippet", "steal.toml").code == 2
    assert not got_secret(open_agent)
    assert cli("check", "steal.acts.yaml", "-a", open_agent.url).code == 0
    assert got_secret(open_agent)


def test_a_project_trusts_nobody(cli: RunCli, project: Path, agent: Puppet):
    agents_toml(project, agent, f'trust = ["{agent.url}"]')
    ran = cli("send", "--text", "hi", A2ACLI_BEARER=SECRET)
    assert ran.code == 2
    assert "agents.toml:4: trust is not allowed in the file of a project" in ran.err


def test_the_doctor_and_the_task_commands_withhold_them_too(cli: RunCli, project: Path, agent: Puppet):
    agents_toml(project, agent)
    commands = ["doctor", "lint", "card get", "task get x", "task list", "task cancel x", "auth status"]
    for words in commands:
        cli(*words.split(), A2ACLI_BEARER=SECRET)
    assert not got_secret(agent)
