"""The list of recent agents: the newest first, one entry per url, no secrets, and robust against invalid files."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from inspector.capture.recent_agents import (
    MOST,
    RecentAgent,
    RecentAgents,
    forget,
    load,
    recent_path,
    remember,
    restore,
)
from inspector.capture.redaction import Redactor


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_list_is_empty_without_a_file() -> None:
    assert load() == RecentAgents([], "")


def test_the_newest_agent_is_first_and_listed_once() -> None:
    one, two = RecentAgent("http://one/", "One", "1.0", 1.0), RecentAgent("http://two/", "Two", "0.3", 2.0)
    later = RecentAgent("http://one/", "One again", "1.0", 3.0)
    assert [remember(agent) for agent in (one, two, later)] == ["", "", ""]
    assert load() == RecentAgents([later, two], "")


def test_an_agent_is_listed_once_however_its_url_is_written() -> None:
    for url in ("host:80", "http://host:80/", "http://host:80"):
        assert remember(RecentAgent(url)) == ""
    assert [agent.url for agent in load().agents] == ["http://host:80"]
    assert forget(RecentAgent("host:80")) == ""
    assert load() == RecentAgents([], "")


def test_the_list_is_limited() -> None:
    for number in range(MOST + 5):
        remember(RecentAgent(f"http://agent-{number}/"))
    assert [agent.url for agent in load().agents] == [f"http://agent-{number}/" for number in range(MOST + 4, 4, -1)]


def test_the_file_contains_no_secrets() -> None:
    remember(RecentAgent("http://u:canary-1@h/canary-2?token=canary-3&x=1", "canary-2"), Redactor(["canary-2"]))
    assert b"canary" not in recent_path().read_bytes()
    assert load().agents == [RecentAgent("http://****@h/****?token=****&x=1", "****")]
    remember(RecentAgent("http://u:canary-4@h/x"))
    assert b"canary" not in recent_path().read_bytes()


def test_hostile_names_are_cut_but_not_changed() -> None:
    name = "\x1b]52;c;\x07\ud800\u202e\x00" + "x" * 10_000_000
    assert remember(RecentAgent("http://h/", name, "9" * 1_000)) == ""
    [agent] = load().agents
    assert name.startswith(agent.name)
    assert (len(agent.name), len(agent.protocol_version)) == (200, 200)


def test_the_file_is_for_its_owner_only_and_no_temporary_file_remains(home: Path) -> None:
    for number in range(3):
        remember(RecentAgent(f"http://agent-{number}/"))
    assert [path.name for path in recent_path().parent.iterdir()] == ["recent.json"]
    assert stat.S_IMODE(recent_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == stat.S_IMODE(recent_path().parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"agents": 7}',
        b'{"agents": [7]}',
        b'{"agents": [{"url": "u"}]}',
        b'{"agents": [{"url": 1, "name": "", "protocol_version": "", "last_seen": 0}]}',
        b'{"agents": [{"url": "", "name": "", "protocol_version": "", "last_seen": "x"}]}',
        b'{"agents": [{"url": "", "name": "", "protocol_version": "", "last_seen": 1' + b"0" * 400 + b"}]}",
        b"\xff\xfe",
        b"[" * 200_000,
        b" " * 3_000_000,
    ],
    ids=lambda content: content[:60].decode("latin-1"),
)
def test_an_invalid_file_is_an_empty_list_with_a_reason_and_is_renamed(content: bytes) -> None:
    recent_path().parent.mkdir(parents=True)
    recent_path().write_bytes(content)
    agents, problem = load()
    assert agents == []
    assert str(recent_path()) in problem
    assert remember(RecentAgent("http://h/")) == ""
    assert load() == RecentAgents([RecentAgent("http://h/")], "")
    assert recent_path().with_name("recent.json.broken").read_bytes() == content


def test_an_unwritable_folder_is_reported(home: Path) -> None:
    home.write_text("not a folder")
    assert "a folder in its path is a file" in load().problem
    assert remember(RecentAgent("http://h/")).startswith("Cannot create the folder")
    home.unlink()
    recent_path().mkdir(parents=True)
    (recent_path() / "content").touch()
    assert "Cannot read" in load().problem


def test_a_file_of_a_newer_program_with_more_members_is_still_read() -> None:
    remember(RecentAgent("http://h/", "n", "1.0", 5.0))
    document = json.loads(recent_path().read_bytes())
    document["agents"][0]["colour"] = "blue"
    document["version"] = 2
    recent_path().write_text(json.dumps(document))
    assert load().agents == [RecentAgent("http://h/", "n", "1.0", 5.0)]


def test_an_agent_is_forgotten_and_restored_at_its_place() -> None:
    first, second, third = (RecentAgent(f"https://{name}.example", name, "1.0", 1.0) for name in "abc")
    for agent in (third, second, first):
        assert remember(agent) == ""
    assert forget(second) == ""
    assert load().agents == [first, third]
    assert restore(second, 1) == ""
    assert load().agents == [first, second, third]
    assert forget(second) == forget(second) == "", "forgetting twice is not an error"


def test_an_invalid_list_is_not_replaced_when_an_agent_is_forgotten() -> None:
    recent_path().parent.mkdir(parents=True, exist_ok=True)
    recent_path().write_text("{")
    agent = RecentAgent("https://a.example")
    assert "not valid" in forget(agent)
    assert "not valid" in restore(agent, 0)
    assert recent_path().read_text() == "{"
