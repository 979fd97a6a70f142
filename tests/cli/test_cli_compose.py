"""`send`: the parts of a message in order, its other members, and snippets."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from puppets import SECONDS, MakeAgent, Puppet, RunCli, done, header

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


@pytest.fixture
def agent(make_agent: MakeAgent) -> Puppet:
    return make_agent(done)


def params(agent: Puppet) -> Any:
    return agent.calls[-1].rpc["params"]


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


@pytest.mark.parametrize("text", ["a < b & c\t\r\n\n", "\u2028\U0001f600", "{{name}} {{file:/etc/passwd}}", "", "-x"])
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
        (("--file", "@notes.txt"), "Write the path without @."),
        (("--data", "@order.json"), "Write the path without @."),
        (("--file-url", " "), "Enter the URL of a file."),
        (("--data", "-", "--data", "-"), "stdin can be read only once"),
        (("--text", "-", "--text", "-"), "--text - is given twice, but stdin can be read only once"),
        (("--text", "-", "--data", "-"), "--text - and --data - contradict each other"),
        (("--snippet", "/nowhere/at all"), "could not be read: No such file or directory."),
        (("--snippet", "~nobody-is-called-that/x"), "unknown user"),
        (("--snippet", "x", "--var", "1=2"), "write it as NAME=VALUE"),
        (("--text", "x", "--request", "-"), "--request cannot be combined with parts."),
        (("--snippet", "x", "--request", "-"), "--request cannot be combined with --snippet."),
        (("--task-id", "t", "--save", "out", "--request", "-"), "--request cannot be combined with --task-id, --save."),
        (("--metadata", "{}", "--request", "-"), "--request cannot be combined with --metadata."),
        (("--history", "0", "--request", "-"), "--request cannot be combined with --history."),
        (("--request", "/nowhere/at all"), "could not be read"),
        (("--request", "/dev/zero"), "could not be read: it has more than 64,000,000 bytes"),
        (("--data", "/dev/zero"), "could not be read: it has more than 64,000,000 bytes"),
        (("--snippet", "/dev/zero"), "is larger than 8,000,000 bytes"),
        (("--text", "x", "--preview", "html"), "invalid choice: 'html'"),
        (("--text", "x", "--save", "/dev/null"), "'/dev/null' is not a folder"),
        (("--text", "x", "--save", "/dev/null/below"), "'/dev/null' is not a folder"),
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


@pytest.mark.parametrize(
    ("stdin", "text"),
    [
        (b"two\nlines\n", "two\nlines"),
        (b" \tspaces \r\n", " \tspaces "),
        (b"no line break", "no line break"),
        (b"blank line\n\n", "blank line\n"),
        (b"-\n", "-"),
        ("grün {{x}}".encode(), "grün {{x}}"),
    ],
)
def test_text_is_read_from_stdin(cli: RunCli, agent: Puppet, stdin: bytes, text: str):
    ran = cli("send", "-a", agent.url, "--text", "first", "--text", "-", "--preview", "json", stdin=stdin)
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["params"]["message"]["parts"] == [{"text": "first"}, {"text": text}]


def test_text_on_stdin_that_is_not_utf_8_is_a_usage_error(cli: RunCli, agent: Puppet):
    ran = cli("send", "-a", agent.url, "--text", "-", stdin=b"ab\xff")
    assert (ran.code, ran.out) == (2, "")
    assert "--text: stdin is not UTF-8 text (byte 3)." in ran.err
    assert not agent.calls


def test_text_from_a_terminal_is_a_usage_error():
    controller, terminal = os.openpty()
    try:
        words = [sys.executable, "-m", "inspector", "send", "http://127.0.0.1:1", "--text", "-"]
        ran = subprocess.run(words, check=False, stdin=terminal, capture_output=True, text=True, timeout=SECONDS)
    finally:
        os.close(controller)
        os.close(terminal)
    assert ran.returncode == 2
    assert "--text - reads stdin, but stdin is a terminal." in ran.stderr


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
