"""Agents by name on the command line."""

from __future__ import annotations

import json
import re
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspector.sample_agents.authentication import Authenticator
from inspector.sample_agents.server import serve_in_thread
from puppets import RunCli

from inspector.agents_file import user_path


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture(scope="module")
def protected() -> Iterator[str]:
    with serve_in_thread(pace=0, authenticator=Authenticator("bearer")) as url:
        yield url


def test_without_a_named_agent_list_and_check_name_the_command_that_adds_one(cli: RunCli):
    for words in (("agents", "list"), ("agents", "check")):
        ran = cli(*words)
        assert (ran.code, ran.out) == (0, "No agent has a name. Add one: a2a-inspect agents add NAME URL\n")
    assert cli("agents", "check", "-o", "json").json == []


def test_an_agent_is_added_used_and_removed(cli: RunCli, protected: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("A2A_STAGING", "open-sesame")
    assert cli("agents", "add", "staging", protected, "--bearer", "env:A2A_STAGING").code == 0
    assert "open-sesame" not in user_path().read_text()
    assert cli("send", "staging", "--text", "echo hello").out.count("hello")
    assert cli("task", "list", "-a", "staging").code == 0
    assert cli("agents", "remove", "staging").code == 0
    assert cli("agents", "list").out.startswith("No agent has a name")


def test_a_suggested_command_names_the_agent_whose_definition_has_the_credentials(
    cli: RunCli, protected: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("A2A_STAGING", "open-sesame")
    cli("agents", "add", "staging", protected, "--bearer", "env:A2A_STAGING")
    asked = cli("send", "staging", "--text", "ask").out
    [suggested] = re.findall(r"^Resume: a2a-inspect (.*)$", asked, re.MULTILINE)
    resumed = cli(*shlex.split(suggested))
    assert (resumed.code, shlex.split(suggested)[-2:]) == (0, ["-a", "staging"]), resumed.err


@pytest.mark.parametrize("where", [[], ["--project"]])
def test_only_what_is_written_on_the_command_line_is_added(cli: RunCli, mock: str, folders: Path, where: list[str]):
    user_path().parent.mkdir(exist_ok=True)
    settings = '[connection]\ntimeout = "5s"\ntrust = ["https://other.example"]\n[receiver]\nport = 9111\n'
    user_path().with_name("settings.toml").write_text(settings)
    (folders / ".env").write_text("A2ACLI_TRANSPORT=GRPC\n")
    added = ("agents", "add", "one", mock, "--a2a-version", "1.0", *where)
    assert cli(*added, A2ACLI_BEARER="a-token-that-is-no-reference", A2ACLI_HEADER="X-A: b").code == 0
    [one] = cli("agents", "list", "-o", "json").json
    assert one.keys() == {"name", "default", "url", "a2a-version", "file", "line", "project"}


def test_a_secret_of_the_command_line_replaces_one_whose_variable_is_not_set(
    cli: RunCli, protected: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("A2A_STAGING", raising=False)
    assert cli("agents", "add", "staging", protected, "--bearer", "env:A2A_STAGING").code == 0
    assert "variable A2A_STAGING is not set" in cli("send", "staging", "--text", "echo hello").err
    assert cli("send", "staging", "--text", "echo hello", "--bearer", "open-sesame").out.count("hello")
    assert cli("send", "staging", "--text", "echo hello", A2ACLI_BEARER="open-sesame").out.count("hello")


@pytest.mark.parametrize("project", [False, True])
def test_a_card_file_is_the_same_file_in_each_folder(
    cli: RunCli, folders: Path, monkeypatch: pytest.MonkeyPatch, project: bool
):
    for folder, name in ((folders / "one", "First"), (folders / "two", "Second")):
        folder.mkdir()
        (folder / "card.json").write_text(json.dumps({"name": name}))
    where = ["--project"] if project else []
    assert cli("agents", "add", "url", "http://127.0.0.1:1", *where).code == 0
    monkeypatch.chdir(folders / "one")
    assert cli("agents", "add", "filed", "card.json", *where).code == 0
    assert cli("agents", "add", "entry", "./card.json#x", *where).code == 0
    for folder in (folders, folders / "two", folders / "one"):
        monkeypatch.chdir(folder)
        assert "First" in cli("card", "get", "filed").out
    listed = {agent["name"]: agent["url"] for agent in cli("agents", "list", "-o", "json").json}
    assert listed["entry"].endswith("/one/card.json#x")
    if project:
        assert '"one/card.json"' in (folders / "agents.toml").read_text()
    (folders / "one" / "card.json").unlink()
    monkeypatch.chdir(folders / "two")
    assert f"{folders / 'one' / 'card.json'} could not be read" in cli("card", "get", "filed").err


@pytest.mark.parametrize("name", ["nofile.json", "./nofile", "nofile.json#entry", "/nowhere/x"])
def test_a_card_file_that_does_not_exist_is_not_added(cli: RunCli, name: str):
    ran = cli("agents", "add", "filed", name)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"Error: The file {name.partition('#')[0]} does not exist.")
    assert not user_path().exists()


@pytest.mark.parametrize("path", ["~nosuch/card", "a" * 5000, "./" + "a" * 5000])
def test_a_path_that_no_file_can_have_is_an_error(cli: RunCli, path: str):
    ran = cli("agents", "add", "filed", path)
    assert (ran.code, ran.out) == (2, "")
    assert "Internal error" not in ran.err


def test_hints_name_the_agents_and_commands_that_can_be_copied(cli: RunCli, mock: str):
    for name in ("staging", "local"):
        cli("agents", "add", name, mock)
    again = cli("agents", "add", "staging", mock)
    assert again.err.endswith("Hint: Remove it: a2a-inspect agents remove staging\n")
    cli("agents", "add", "staging", mock, "--project")
    again = cli("agents", "add", "staging", mock, "--project")
    assert again.err.endswith("Hint: Remove it: a2a-inspect agents remove staging --project\n")
    for words in (
        ("send", "stagin", "--text", "hi"),
        ("card", "get", "stagin"),
        ("lint", "stagin"),
        ("doctor", "stagin"),
    ):
        ran = cli(*words)
        assert ran.code == 3
        assert ran.err.endswith(" Names in agents.toml: staging.\n"), ran.err
    assert cli("card", "get", "xyzzy").err.endswith(" Names in agents.toml: staging, local.\n")
    assert "a2a-inspect agents add NAME URL" in cli("send", "--text", "hi").err


def test_a_bearer_token_does_not_contain_its_scheme(
    cli: RunCli, protected: str, folders: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("A2A_STAGING", "Bearer open-sesame")
    (folders / "agents.toml").write_text(f'[agents.staging]\nurl = "{protected}"\nbearer = "env:A2A_STAGING"\n')
    given = ("--bearer", "Bearer open-sesame"), ("--bearer", "env:A2A_STAGING")
    for words in (*((protected, *option) for option in given), ("staging",)):
        ran = cli("send", *words, "--text", "hi")
        assert ran.code == 2
        assert "the value begins with Bearer, which is added to it; write only the token after it" in ran.err
        assert "open-sesame" not in ran.err


def test_options_have_priority_over_those_of_the_agent(cli: RunCli, protected: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("A2A_STAGING", "wrong")
    cli("agents", "add", "staging", protected, "--bearer", "env:A2A_STAGING")
    assert cli("send", "staging", "--text", "hello").code == 4
    assert cli("send", "staging", "--text", "hello", "--bearer", "open-sesame").code == 0


def test_the_default_agent_is_used_without_another(cli: RunCli, mock: str, folders: Path):
    (folders / "agents.toml").write_text(f'default = "local"\n[agents.local]\nurl = "{mock}"\n')
    assert cli("card", "get").code == 0
    assert cli("auth", "status").out.startswith("There are no stored tokens")
    assert "(default)" in cli("agents", "list").out


def test_a_file_with_the_name_has_priority(cli: RunCli, mock: str, folders: Path):
    (folders / "agents.toml").write_text(f'[agents.local]\nurl = "{mock}"\n')
    (folders / "local").write_text("{}")
    assert cli("card", "get", "local").code != 0


def test_the_list_as_json(cli: RunCli):
    cli("agents", "add", "one", "http://localhost:1", "--transport", "GRPC", "--header", "X-Team: a")
    [found] = json.loads(cli("agents", "list", "-o", "json").out)
    assert (found["name"], found["transports"], found["headers"]) == ("one", ["GRPC"], {"X-Team": "a"})
    assert found["file"] == str(user_path())


def test_the_agents_are_checked(cli: RunCli, mock: str):
    cli("agents", "add", "good", mock)
    assert cli("agents", "check").code == 0
    cli("agents", "add", "bad", "http://127.0.0.1:1")
    done = cli("agents", "check", "-o", "json")
    assert done.code == 1
    assert {each["name"]: bool(each["problem"]) for each in json.loads(done.out)} == {"good": False, "bad": True}
    assert cli("agents", "check", "good").code == 0


def test_a_check_warns_of_what_the_card_does_not_declare(cli: RunCli, mock: str, folders: Path):
    card = json.loads(cli("card", "get", "-a", mock, "-o", "json").out)
    card["supportedInterfaces"] = [{"url": mock, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]
    (folders / "card.json").write_text(json.dumps(card))
    cli("agents", "add", "old", mock, "--a2a-version", "0.2")
    cli("agents", "add", "other", str(folders / "card.json"), "--transport", "GRPC")
    cli("agents", "add", "good", mock, "--transport", "HTTP+JSON")
    (folders / "broken.json").write_text(json.dumps(card | {"provider": "us"}))
    cli("agents", "add", "wrong", str(folders / "broken.json"))
    done = cli("agents", "check")
    assert done.code == 0
    assert done.err == (
        "Warning: old: 0.2 was requested, but the card declares 1.0\n"
        "Warning: other: the card declares no interface over GRPC\n"
        "Warning: wrong: the card has a mistake: AgentCard/provider: expected an object, found 'us'\n"
    )
    warnings = {each["name"]: each["warning"] for each in json.loads(cli("agents", "check", "-o", "json").out)}
    assert warnings["good"] == ""
    assert "GRPC" in warnings["other"]


def test_a_check_ends_at_the_timeout_of_the_definition(cli: RunCli):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        cli("agents", "add", "silent", f"http://127.0.0.1:{port}", "--timeout", "0.3s")
        done = cli("agents", "check")
    assert done.code == 1
    assert "no card within 0.3 s" in done.out


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["agents", "add", "a/b", "http://x"], "not a name"),
        (["agents", "add", "one", "http://x", "--bearer", "secret"], "env:NAME"),
        (["agents", "add", "one", "http://x", "--project", "--bearer", "env:HOME"], "HOME"),
        (["agents", "remove", "nobody"], "nobody"),
        (["agents", "check", "nobody"], "nobody"),
    ],
)
def test_mistakes_are_usage_errors_and_change_nothing(cli: RunCli, folders: Path, words: list[str], seen: str):
    done = cli(*words)
    assert done.code == 2
    assert seen in done.err
    assert not (folders / "agents.toml").exists()
    assert not user_path().exists()


@pytest.mark.parametrize(
    "words", [("staging",), ("card", "get", "staging"), ("doctor", "staging"), ("task", "list", "-a", "staging")]
)
def test_a_name_in_a_file_with_a_mistake_is_not_a_host(cli: RunCli, folders: Path, words: tuple[str, ...]):
    (folders / "agents.toml").write_text('[agents.staging]\nurl = "http://127.0.0.1:1"\nbear = 1\n')
    done = cli(*words)
    assert done.code == 2
    assert f"{folders / 'agents.toml'}:3: 'bear' is unknown in an agent." in done.err
    assert cli("card", "get", "http://127.0.0.1:1").code == 3


def test_a_name_is_used_once(cli: RunCli):
    assert cli("agents", "add", "one", "http://localhost:1").code == 0
    assert cli("agents", "add", "one", "http://localhost:2").code == 2
    assert "localhost:1" in user_path().read_text()


def test_a_name_that_looks_like_a_command_is_an_agent(cli: RunCli, mock: str):
    assert "is not a command" in cli("docter").err
    cli("agents", "add", "docter", mock)
    assert "The app needs a terminal" in cli("docter").err


def test_secrets_in_a_url_are_not_printed_or_stored(cli: RunCli):
    refused = cli("agents", "add", "one", "https://user:canary@agent.example")
    assert refused.code == 2
    assert "url has a user name or a password" in refused.err
    assert not user_path().exists() or "canary" not in user_path().read_text()
    assert cli("agents", "add", "two", "http://127.0.0.1:9/?token=canary").code == 0
    for words in (["agents", "list"], ["agents", "list", "-o", "json"], ["agents", "check"]):
        result = cli(*words)
        assert "two" in result.out
        assert "canary" not in result.out + result.err


@pytest.mark.parametrize(
    "command",
    [
        ("lint",),
        ("card", "get", "-a"),
        ("doctor",),
        ("doctor", "-a"),
        ("auth", "status"),
        ("task", "list"),
        ("config", "show", "-a"),
        ("conformance", "--list", "-a"),
        ("send", "--text", "echo hi", "-a"),
    ],
)
@pytest.mark.parametrize("name", ["local", "entry", "catalog#a"])
def test_every_command_accepts_a_name_and_an_entry_of_a_named_catalog(
    cli: RunCli, mock: str, folders: Path, command: tuple[str, ...], name: str
):
    entry = {"identifier": "a", "type": "application/a2a-agent-card+json", "url": f"{mock}/.well-known/agent-card.json"}
    (folders / "files").mkdir()
    (folders / "files" / "catalog.json").write_text(json.dumps({"specVersion": "0.9", "entries": [entry]}))
    (folders / "agents.toml").write_text(
        f'[agents.local]\nurl = "{mock}"\n[agents.entry]\nurl = "files/catalog.json#a"\n'
        '[agents.catalog]\nurl = "files/catalog.json"\n'
    )
    ran = cli(*command, name)
    assert ran.code == 0, ran.err
    assert "no card below" not in ran.err


def test_lint_of_a_named_catalog_checks_all_of_it(cli: RunCli, mock: str, folders: Path):
    entry = {"identifier": "a", "type": "application/a2a-agent-card+json", "url": f"{mock}/.well-known/agent-card.json"}
    (folders / "catalog.json").write_text(json.dumps({"specVersion": "0.9", "entries": [entry]}))
    (folders / "agents.toml").write_text('[agents.catalog]\nurl = "catalog.json"\n')
    assert "Entries: a" in cli("card", "get", "-a", "catalog").err
    assert "Mock Agent" in cli("lint", "catalog").out


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("notaurl:::", "it cannot be parsed as a URL"),
        ("http://", "it has no host"),
        ("http://host:port", "it cannot be parsed as a URL"),
        ("http://host:99999", "it cannot be parsed as a URL"),
        ("http://#entry", "it has no host"),
        ("ho st", "it contains a space or a control character"),
        ("http://ho st/x", "it contains a space or a control character"),
        ("ftp://host/x", "its scheme is not http, https, grpc or grpcs"),
    ],
)
def test_a_url_that_no_agent_can_have_is_refused(cli: RunCli, url: str, why: str):
    ran = cli("agents", "add", "x", url)
    assert (ran.code, ran.out) == (2, "")
    assert f"Error: '{url}' is not the URL of an agent: {why}.\n" in ran.err
    assert "Write a URL such as https://agent.example" in ran.err
    assert cli("agents", "list", "-o", "json").json == []


@pytest.mark.parametrize("url", ["localhost", "host:9000", "::1", "grpc://host:50051", "https://host/a#entry"])
def test_each_kind_of_reference_to_a_host_is_accepted(cli: RunCli, url: str):
    assert cli("agents", "add", "x", url).code == 0
