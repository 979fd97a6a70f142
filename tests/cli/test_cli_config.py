"""Configuration: the order of its sources, the files in the format of dotenv, and `config show`."""

from __future__ import annotations

from pathlib import Path

import pytest
from puppets import RunCli

from inspector.env_files import local_path, read_env_file
from inspector.protocol.errors import FaultError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, which is the current folder."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(project)
    return project


def test_the_reason_why_a_file_cannot_be_read_is_a_sentence(cli: RunCli, folder: Path):
    missing = cli("config", "show", "--config", "missing.env")
    assert "Error: The file missing.env cannot be read: No such file or directory.\n" in missing.err
    assert "Hint: Check its path and permissions.\n" in missing.err
    (folder / "binary.env").write_bytes(b"A=\xff")
    binary = cli("config", "show", "--config", "binary.env")
    assert binary.err == "Error: binary.env: Not UTF-8 at byte 2.\nHint: Allowed: UTF-8 text.\n"


SOURCES = ("option", "environment", ".env", "agents.toml", "user .env", "settings.toml")


@pytest.mark.parametrize("first", range(len(SOURCES) + 1))
def test_each_source_has_priority_over_the_sources_after_it(cli: RunCli, folder: Path, first: int):
    """Every source from `first` on sets the timeout."""
    home = folder.parent / "home"
    files = {
        2: (folder / ".env", "A2ACLI_TIMEOUT=3s\n"),
        3: (folder / "agents.toml", '[agents.a]\nurl = "http://a.example"\ntimeout = "4s"\n'),
        4: (home / ".env", "A2ACLI_TIMEOUT=5s\n"),
        5: (home / "settings.toml", '[connection]\ntimeout = "6s"\n'),
    }
    for number, (path, text) in files.items():
        if number >= first:
            path.write_text(text)
    agent = ("-a", "a") if first <= 3 else ()
    option = ("--timeout", "1s") if first == 0 else ()
    ran = cli("config", "show", *agent, *option, "-o", "json", A2ACLI_TIMEOUT="2s" if first <= 1 else "")
    sources = {0: "option --timeout", 1: "environment variable A2ACLI_TIMEOUT", len(SOURCES): "default"}
    lines = {2: 1, 3: 3, 4: 1, 5: 2}
    source = sources.get(first) or f"{files[first][0]}:{lines[first]}"
    value = f"{first + 1}s" if first < len(SOURCES) else None
    assert ran.json["settings"]["timeout"] == {"value": value, "source": source}


def test_config_replaces_the_file_of_the_folder(cli: RunCli, folder: Path):
    (folder / ".env").write_text("A2ACLI_TIMEOUT=3s\nA2ACLI_HISTORY=1\n")
    (folder / "other.env").write_text("A2ACLI_TIMEOUT=9s\n")
    settings = cli("config", "show", "--config", "other.env", "-o", "json", A2ACLI_TIMEOUT="").json["settings"]
    assert settings["timeout"] == {"value": "9s", "source": "other.env:1"}
    assert settings["history"]["source"] == "default"
    assert cli("config", "show", "--config", "missing.env").code == 2


def test_a_command_uses_the_file_of_a_folder_above(
    cli: RunCli, mock: str, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (folder / ".env").write_text(f"A2ACLI_AGENT_CARD={mock}\nA2ACLI_OUTPUT=json\n")
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert cli("card", "get").json["name"] == "Mock Agent"


def test_the_file_is_not_searched_above_the_root_of_the_repository(folder: Path):
    (folder.parent / ".env").write_text("A2ACLI_TIMEOUT=3s\n")
    assert local_path() is None


def test_secrets_are_masked(cli: RunCli, folder: Path):
    (folder / ".env").write_text("A2ACLI_BEARER=very-secret\nA2ACLI_HEADER='X-Key: very-secret'\n")
    (folder / ".env").chmod(0o600)
    url = "http://user:very-secret@agent.example"
    urls = ("-a", f"{url}?token=very-secret", "--trust", url, "--public-url", url)
    shown = cli("config", "show", *urls, "--api-key", "very-secret", "--svc-param", "A: very-secret")
    assert "very-secret" not in shown.out + shown.err
    assert f"bearer: **** ({folder / '.env'}:1)\n" in shown.out
    assert f"header: X-Key: **** ({folder / '.env'}:2)\n" in shown.out
    assert shown.err == ""
    assert "very-secret" not in cli("config", "show", "-o", "json").out


def test_each_option_without_a_value_shows_what_happens_then(cli: RunCli, folder: Path):
    shown = cli("config", "show", A2ACLI_TIMEOUT="").out
    for line in (
        "agent-card: none (default)",
        "transport: the order of the card (default)",
        "a2a-version: the highest version on the card that is supported, at least 1.0 (default)",
        "timeout: never (default)",
        "history: the agent's choice (default)",
        "public-url: the address of the receiver (default)",
        "theme: dusk (default)",
        "header: none (default)",
    ):
        assert f"{line}\n" in shown


def test_a_secret_that_others_can_read_is_a_warning(cli: RunCli, mock: str, folder: Path):
    (folder / ".env").write_text("A2ACLI_BEARER=secret\n")
    (folder / ".env").chmod(0o644)
    ran = cli("card", "get", mock)
    assert ran.code == 0
    assert f"chmod 600 {folder / '.env'}" in ran.err


def test_an_unknown_variable_is_reported_with_a_similar_one(cli: RunCli, folder: Path):
    (folder / ".env").write_text("A2ACLI_TIMOUT=3s\nPATH_OF_OTHERS=1\n")
    ran = cli("config", "show", A2ACLI_AGENT_CRAD="x")
    assert "A2ACLI_TIMOUT does not set an option; did you mean A2ACLI_TIMEOUT?" in ran.err
    assert "A2ACLI_AGENT_CRAD does not set an option; did you mean A2ACLI_AGENT_CARD?" in ran.err
    switch = cli("config", "show", A2ACLI_VERBOSE="1").err
    assert switch.startswith("Warning: A2ACLI_VERBOSE does not set an option; write --verbose on the command line\n")
    assert "PATH_OF_OTHERS" not in ran.err
    assert "A2ACLI_QWXZ does not set an option\n" in cli("config", "show", A2ACLI_QWXZ="1").err


def test_each_command_warns_once_of_a_misspelt_variable(cli: RunCli, mock: str, folder: Path):
    seen = "A2ACLI_TIMEOT does not set an option; did you mean A2ACLI_TIMEOUT?\n"
    for words in (("card", "get", mock), ("card", "get", mock, "-o", "json"), ("config", "show"), ("version",)):
        ran = cli(*words, A2ACLI_TIMEOT="3s")
        assert (ran.code, ran.err) == (0, f"Warning: {seen}")
    (folder / ".env").write_text("A2ACLI_TIMEOT=3s\n")
    assert cli("card", "get", mock).err == f"Warning: {folder / '.env'}: {seen}"


@pytest.mark.parametrize("name", ["A2ACLI_QWXZ", "A2ACLI_", "A2ACLI_PACE", "A2ACLI_TASK_ID", "A2ACLI"])
def test_commands_do_not_warn_of_variables_of_other_commands_and_programs(cli: RunCli, mock: str, name: str):
    ran = cli("card", "get", mock, **{name: "1"})
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("A2ACLI_TIMEOUT=soon", "A2ACLI_TIMEOUT: 'soon' is not a duration"),
        ("A2ACLI_OUTPUT=xml", "A2ACLI_OUTPUT: 'xml' is not one of text, json"),
        ('A2ACLI_BEARER="open', "A2ACLI_BEARER has a quote without an end"),
        ("A2ACLI_TIMEOUT 5s", "A2ACLI_TIMEOUT is not followed by an equals sign"),
        ("export A2ACLI_TIMEOUT: 5s", "A2ACLI_TIMEOUT is not followed by an equals sign"),
        ("A2ACLI_TRUST=https://evil.example", "A2ACLI_TRUST cannot have this value in a .env file of a folder"),
        ("A2ACLI_TRUSTED_KEYS=keys.json", "A2ACLI_TRUSTED_KEYS cannot have this value in a .env file of a folder"),
        ("A2ACLI_KEYS=keys.json", "A2ACLI_KEYS cannot have this value in a .env file of a folder"),
        ("A2ACLI_BEARER=env:AWS_SECRET", "A2ACLI_BEARER cannot have this value in a .env file of a folder"),
    ],
)
def test_a_mistake_in_a_file_is_reported_with_its_line(cli: RunCli, folder: Path, line: str, problem: str):
    (folder / ".env").write_text(f"# a comment\n{line}\n")
    ran = cli("config", "show", A2ACLI_TIMEOUT="")
    assert ran.code == 2
    assert f"{folder / '.env'}:2: {problem}" in ran.err
    assert cli("--help").code == cli("--version").code == 0


@pytest.mark.parametrize("name", ["SNIPPET", "OTLP_ENDPOINT", "FORWARD", "STATE"])
def test_a_foreign_folder_cannot_choose_what_is_sent_where_or_which_files_are_written(
    cli: RunCli, mock: str, folder: Path, name: str
):
    (folder / "secret").write_text("the key")
    (folder / "a.a2a.toml").write_text('[[part]]\nfile = "secret"\n')
    (folder / ".env").write_text(f"A2ACLI_{name}=a.a2a.toml\n")
    ran = cli("send", mock, "--text", "hello", "--preview", "json")
    assert (ran.code, ran.out) == (2, "")
    assert f"A2ACLI_{name} cannot have this value in a .env file of a folder" in ran.err
    assert cli("send", mock, "--text", "hello", "--preview", "json", "--config", str(folder / ".env")).code == 0


def test_a_value_of_an_agent_that_no_option_accepts_is_reported_with_its_line(cli: RunCli, folder: Path):
    (folder / "agents.toml").write_text('[agents.a]\nurl = "http://a.example"\n\na2a-version = "9"\n')
    ran = cli("config", "show", "-a", "a")
    assert ran.code == 2
    assert f"{folder / 'agents.toml'}:4: '9' is not a supported protocol version" in ran.err
    assert "Allowed: what --a2a-version accepts." in ran.err


def test_a_mistake_in_a_file_is_json_with_the_option(cli: RunCli, folder: Path):
    (folder / ".env").write_text("A2ACLI_TIMEOUT='1s\n")
    assert cli("config", "show", "-o", "json").error["code"] == "A2ACLI_ERR_USAGE"


def test_a_byte_order_mark_does_not_hide_the_first_variable(tmp_path: Path):
    path = tmp_path / "test.env"
    path.write_bytes(b"\xef\xbb\xbfA2ACLI_A=1\r\nA2ACLI_B=2\r\n")
    assert dict(read_env_file(path).values) == {"A2ACLI_A": "1", "A2ACLI_B": "2"}


def test_the_format_of_dotenv_is_read(tmp_path: Path):
    path = tmp_path / "test.env"
    path.write_text(
        'A2ACLI_A = plain # comment\nexport A2ACLI_B=\'single # \\n\'\nA2ACLI_C="two\\nlines \\"q\\"" # comment\n'
        "A2ACLI_D=a#b\nA2ACLI_E=\nA2ACLI_F= # comment\n\nB=2\n:\nA2ACLI_A=last\n"
    )
    values = read_env_file(path).values
    assert dict(values) == {
        "A2ACLI_A": "last",
        "A2ACLI_B": "single # \\n",
        "A2ACLI_C": 'two\nlines "q"',
        "A2ACLI_D": "a#b",
        "A2ACLI_E": "",
        "A2ACLI_F": "",
    }


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path):
    path = tmp_path / "test.env"
    path.write_bytes(b"A2ACLI_A=\xff\n")
    with pytest.raises(FaultError, match=r"test\.env"):
        read_env_file(path)


def test_nothing_is_remembered_between_commands(cli: RunCli, mock: str, folder: Path):
    """No task or context of an earlier command is in the configuration, or used by a later command."""
    before = cli("config", "show", "-o", "json").json
    sent = cli("send", mock, "--text", "report 2", "-o", "json").json["task"]
    assert cli("config", "show", "-o", "json").json == before
    other = cli("send", mock, "--text", "report 2", "-o", "json").json["task"]
    assert sent["id"] != other["id"]
    assert sent["contextId"] != other["contextId"]
