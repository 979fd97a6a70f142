"""The files with named agents: their content, their mistakes, and which file has priority."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from inspector.agents_file import NamedAgents, load_agents, project_path, read_agents, resolved, store_agent, user_path
from inspector.protocol.errors import FaultError


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a project below the temporary folder, with a home of its own."""
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    return project


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_without_files_there_are_no_agents():
    assert load_agents() == NamedAgents()


def test_the_file_of_the_project_is_found_from_a_folder_below_it(folders: Path):
    path = written(folders / "agents.toml", '[agents.local]\nurl = "http://localhost:9000"\n')
    assert project_path() == path
    assert load_agents().agents["local"].is_project


def test_a_file_above_the_repository_is_not_read(folders: Path):
    written(folders.parent / "agents.toml", '[agents.local]\nurl = "http://localhost:9000"\n')
    assert project_path() is None


def test_an_agent_of_the_user_has_priority(folders: Path):
    written(
        folders / "agents.toml",
        'default = "one"\n[agents.one]\nurl = "http://project"\n[agents.two]\nurl = "http://p2"\n',
    )
    written(user_path(), '[agents.one]\nurl = "http://user"\n')
    named = load_agents()
    assert (named.agents["one"].url, named.agents["two"].url, named.default) == ("http://user", "http://p2", "one")


def test_the_example_of_the_documentation_is_valid(folders: Path):
    page = (Path(__file__).parents[1] / "docs" / "command-line.md").read_text(encoding="utf-8")
    [example] = re.findall(r'^    default = "staging".*?(?=\n\n    a2a-inspect)', page, re.DOTALL | re.MULTILINE)
    written(user_path(), textwrap.dedent(example))
    named = load_agents()
    assert (list(named.agents), named.default) == (["staging"], "staging")


def test_all_options_are_read(folders: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("A2A_TOKEN", "secret")
    text = """
[agents.full]
url = "https://agent.example"
a2a-version = "0.3"
transports = ["GRPC", "JSONRPC"]
trust = ["https://other.example"]
timeout = "5s"
bearer = "env:A2A_TOKEN"
client-cert = "certs/client.pem"
receiver-port = 9100
headers = { X-Team = "search", X-Token = "env:A2A_TOKEN" }
"""
    agents, default = read_agents(written(folders / "agents.toml", text), is_project=False)
    options = dict(resolved(agents["full"]))
    assert default == ""
    assert options == {
        "a2a_version": "0.3",
        "transports": ["GRPC", "JSONRPC"],
        "trust": ["https://other.example"],
        "timeout": "5s",
        "bearer": "secret",
        "client_cert": str(folders / "certs" / "client.pem"),
        "receiver_port": 9100,
        "headers": ["X-Team: search", "X-Token: secret"],
    }
    assert "secret" not in repr(agents)


def test_a_byte_order_mark_is_skipped(folders: Path):
    agents, _ = read_agents(written(folders / "agents.toml", '\ufeff[agents.a]\nurl = "http://x"\n'), is_project=True)
    assert agents["a"].url == "http://x"


def test_a_card_file_is_relative_to_the_file_of_the_agents(folders: Path):
    written(folders / "card.json", "{}")
    agents, _ = read_agents(written(folders / "agents.toml", '[agents.a]\nurl = "card.json"\n'), is_project=True)
    assert agents["a"].url == str(folders / "card.json")


def test_a_catalog_is_relative_to_the_file_of_the_agents_and_keeps_its_entry(folders: Path):
    written(folders / "catalog.json", "{}")
    agents, _ = read_agents(written(folders / "agents.toml", '[agents.a]\nurl = "catalog.json#b"\n'), is_project=True)
    assert agents["a"].url == f"{folders / 'catalog.json'}#b"


@pytest.mark.parametrize(
    ("text", "line", "seen"),
    [
        ("x = 1\n", 1, "'x' is unknown"),
        ('[agents.a]\nurl = "http://a"\nbearer = "secret"\n', 3, "bearer is not a reference"),
        ('[agents.a]\nurl = "http://a"\nbearer = "env:HOME"\n', 3, "names the variable HOME"),
        ('[agents.a]\nurl = "http://a"\n[agents.a.headers]\nAuthorization = "Bearer x"\n', 4, "header Authorization"),
        ('[agents.a]\nurl = "http://a"\nheaders = 3\n', 3, "headers is not a table"),
        ('[agents.a]\nurl = "http://a"\n\ntransports = ["SOAP"]\n', 4, "transports is not valid"),
        ('[agents.a]\nurl = "http://a"\ntimeout = 5\n', 3, "timeout is not valid"),
        ('[agents.a]\nurl = "http://a"\nurls = "x"\n', 3, "'urls' is unknown"),
        ("[agents.a]\n", 1, "has no url"),
        ('[agents."a/b"]\nurl = "http://a"\n', 1, "cannot be the name of an agent"),
        ("[agents]\na = 3\n", 2, "a is not an agent"),
        ('[agents]\na.url = "http://a"\na.urls = "x"\n', 3, "'urls' is unknown"),
        ('agents.a = { url = "http://a", timeout = "soon" }\n', 1, "timeout is not valid"),
        ('[agents.a]\nurl = "http://a"\ntransports = [\n  "GRPC",\n  3,\n]\n', 3, "transports is not valid"),
        ('[agents.a]\nurl = """http://a"""\n[agents . "b"]\nurl = "http://b"\n\n"urls" = 1\n', 6, "'urls' is unknown"),
        ('[agents.a]\nurl = "https://user:secret@a"\n', 2, "url has a user name or a password"),
        ('[agents.a]\nurl = "user:secret@a.example"\n', 2, "url has a user name or a password"),
        ('[agents.a]\nurl = "~nobody-has-this-name/card.json"\n', 2, "url is not a path: "),
        ('[agents.a]\nurl = "a\\u0000b"\n', 2, "url is not a path: "),
        (f'[agents.a]\nurl = "{"a" * 5000}"\n', 2, "url is not a path: File name too long"),
        ('[agents.a]\nurl = "http://a"\nclient-cert = "~nobody-has-this-name/x"\n', 3, "client-cert is not a path: "),
        ('[agents.a]\nurl = "http://a"\nclient-key = "a\\u0000b"\n', 3, "client-key is not a path: "),
        ('[agents.a]\nurl = "http://a"\nheaders = { X-A = "b\\r\\nC: secret" }\n', 3, "HTTP does not allow"),
        ('[agents.a]\nurl = "http://a"\nheaders = { "X-A: b" = "c" }\n', 3, "HTTP does not allow"),
        ('[agents.a]\nurl = "http://a"\nheaders = { X-Password = "secret" }\n', 3, "header X-Password"),
        ('# \x85 \u2028\n[agents.a]\nurl = "http://a"\nurls = "x"\n', 4, "'urls' is unknown"),
        ('[agents.localhost]\nurl = "http://a"\n', 1, "cannot be the name of an agent"),
        ("agents = 3\n", 1, "wrong type"),
        ("default = 3\n", 1, "wrong type"),
        ("[agents.a\n", 1, ""),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_without_secrets(folders: Path, text: str, line: int, seen: str):
    path = written(folders / "agents.toml", text)
    with pytest.raises(FaultError) as caught:
        read_agents(path, is_project=True)
    where = f"{path}:{line}: " if line else f"{path}: "
    assert caught.value.fault.seen.startswith(where)
    assert seen in caught.value.fault.seen
    assert "secret" not in caught.value.fault.sentence()
    assert caught.value.fault.hint.startswith("Allowed: ")


def test_the_file_of_the_user_may_name_any_variable(folders: Path):
    path = written(user_path(), '[agents.a]\nurl = "http://a"\nbearer = "env:MY_TOKEN"\n')
    assert "a" in read_agents(path, is_project=False)[0]


def test_an_unknown_default_agent_is_an_error(folders: Path):
    written(folders / "agents.toml", 'default = "nobody"\n')
    with pytest.raises(FaultError) as caught:
        load_agents()
    assert caught.value.fault.seen == f"{folders / 'agents.toml'}:1: the default agent 'nobody' is not defined."


def test_a_variable_that_is_not_set_is_an_error(folders: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("A2A_TOKEN", raising=False)
    path = written(folders / "agents.toml", '[agents.a]\nurl = "http://a"\nbearer = "env:A2A_TOKEN"\n')
    agents, _ = read_agents(path, is_project=True)
    with pytest.raises(FaultError, match="A2A_TOKEN is not set"):
        list(resolved(agents["a"]))


def test_devices_pipes_and_loops_are_not_read(folders: Path):
    path = folders / "agents.toml"
    path.symlink_to("/dev/zero")
    assert load_agents() == NamedAgents()
    with pytest.raises(FaultError, match="more than 1,048,576 bytes"):
        read_agents(path, is_project=True)
    path.unlink()
    path.symlink_to(path)
    assert load_agents() == NamedAgents()
    path.unlink()
    os.mkfifo(path)
    assert load_agents() == NamedAgents()


def test_comments_and_other_agents_survive_a_change(folders: Path):
    path = written(folders / "agents.toml", '# ours\ndefault = "b"\n[agents.a]\nurl = "http://a" # first\n')
    store_agent(path, "b", {"url": "http://b", "transports": ["GRPC"]}, is_project=False)
    text = path.read_text()
    assert "# ours" in text
    assert "# first" in text
    assert set(read_agents(path, is_project=True)[0]) == {"a", "b"}
    store_agent(path, "b", None, is_project=False)
    assert read_agents(path, is_project=True)[1] == ""
    assert set(read_agents(path, is_project=True)[0]) == {"a"}


def test_only_an_accepted_agent_is_written(folders: Path):
    path = written(folders / "agents.toml", '[agents.a]\nurl = "http://a"\n')
    before = path.stat()
    with pytest.raises(FaultError, match="X-Api-Key"):
        store_agent(path, "b", {"url": "http://b", "headers": {"X-Api-Key": "canary"}}, is_project=False)
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)  # it was not written and restored
    with pytest.raises(FaultError):
        store_agent(folders / "new.toml", "b", {"url": "http://b", "bearer": "canary"}, is_project=False)
    assert [file.name for file in folders.glob("*.toml")] == ["agents.toml"]


def test_a_change_keeps_the_mode_of_the_file_and_a_link_to_it(folders: Path, tmp_path: Path):
    target = written(tmp_path / "elsewhere.toml", '[agents.a]\nurl = "http://a"\n')
    target.chmod(0o640)
    path = folders / "agents.toml"
    path.symlink_to(target)
    store_agent(path, "b", {"url": "http://b"}, is_project=False)
    assert path.is_symlink()
    assert set(read_agents(target, is_project=False)[0]) == {"a", "b"}
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit for the size of a file")
def test_a_full_disk_loses_no_agent(folders: Path):
    text = '[agents.a]\nurl = "http://a"\n'
    path = written(folders / "agents.toml", text)
    command = 'ulimit -f 0; exec "$0" -m inspector.cli agents add b http://b --project'
    ran = subprocess.run(
        ["bash", "-c", command, sys.executable], cwd=folders, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "The file cannot be changed" in ran.stderr
    assert path.read_text() == text
    assert [file.name for file in folders.iterdir() if file.name.startswith("agents.toml")] == ["agents.toml"]


def test_a_header_may_have_an_ordinary_name(folders: Path):
    path = written(folders / "agents.toml", '[agents.a]\nurl = "http://a"\nheaders = { X-Author = "me" }\n')
    assert read_agents(path, is_project=True)[0]["a"].headers == {"X-Author": "me"}


@pytest.mark.parametrize(
    "raw",
    [b"\xff\xfe", b"a = 1" + b"0" * 100_000, b"[" * 5000, b"a." * 3000 + b"b = 1", b"#" * 1_100_000],
    ids=["encoding", "digits", "depth", "dots", "size"],
)
def test_hostile_files_are_errors(folders: Path, raw: bytes):
    path = folders / "agents.toml"
    path.write_bytes(raw)
    with pytest.raises(FaultError):
        read_agents(path, is_project=True)
