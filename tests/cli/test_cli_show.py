"""`show`: all or filtered records of a capture, as text and as JSON; `open` without a terminal."""

from __future__ import annotations

import base64
import json
import sqlite3
from pathlib import Path

import pytest
from mandate_tokens import AGENT
from programs import running
from puppets import RunCli

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.findings.rules import finding


@pytest.fixture
def path(cli: RunCli, mock: str, tmp_path: Path) -> Path:
    """The capture of a message to the mock agent."""
    path = tmp_path / "earlier.a2a"
    assert cli("send", "-a", mock, "--text", "report 5", "--stream", "--capture", str(path)).code == 0
    return path


def test_every_record_is_a_line(cli: RunCli, path: Path):
    ran = cli("show", str(path))
    with Capture.open(path) as capture:
        count = len(capture)
    assert (ran.code, ran.err) == (0, "")
    assert [line.partition(" ")[0].strip(":") for line in ran.out.splitlines()] == [
        f"#{n}" for n in range(1, count + 1)
    ]
    assert "SendStreamingMessage: POST http://127.0.0.1" in ran.out
    assert "artifact" in ran.out


def test_json_has_complete_records(cli: RunCli, path: Path):
    lines = [json.loads(line) for line in cli("show", str(path), "-o", "json").out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    [sent] = [line for line in lines if line["kind"] == "request" and line["operation"] == "SendStreamingMessage"]
    assert sent["payload"]["params"]["message"]["parts"] == [{"text": "report 5"}]
    assert sent["meta"]["method"] == "POST"
    assert [line["state"] for line in lines if line["event"] == "status"][-1] == "TASK_STATE_COMPLETED"


def test_filter_selects_the_same_records_as_the_app(cli: RunCli, path: Path):
    lines = [
        json.loads(line)
        for line in cli("show", str(path), "kind:status", "state:completed", "-o", "json").out.splitlines()
    ]
    assert {(line["event"], line["state"]) for line in lines} == {("status", "TASK_STATE_COMPLETED")}
    others = cli("show", str(path), "-o", "json", "--", "-kind:artifact", "-kind:status").out.splitlines()
    assert others
    assert {json.loads(line)["event"] for line in others}.isdisjoint({"artifact", "status"})


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("word", "notice"),
    [
        ("nomatch", "no record matches the filter"),
        ("state:complted", "no record matches the filter; complted is not a state of a task"),
        ("state:failed", "no record matches the filter"),
    ],
)
def test_a_filter_without_a_match_is_reported_on_stderr(cli: RunCli, path: Path, word: str, notice: str, form: str):
    ran = cli("show", str(path), word, "-o", form)
    assert (ran.code, ran.out, ran.err) == (0, "", f"Warning: {notice}\n")


def test_a_capture_without_records_is_reported_on_stderr(cli: RunCli, tmp_path: Path):
    Capture.create(tmp_path / "new.a2a").close()
    ran = cli("show", str(tmp_path / "new.a2a"))
    assert (ran.code, ran.out, ran.err) == (0, "", "Warning: the capture contains no records\n")


def test_verbose_shows_headers_and_payloads(cli: RunCli, path: Path):
    ran = cli("show", str(path), "op:Send", "--verbose")
    assert "report 5" in ran.out
    assert "content-type" in ran.out.lower()


def test_findings_follow_their_record_and_raw_bytes_are_kept(cli: RunCli, tmp_path: Path):
    with Capture.create(tmp_path / "odd.a2a") as capture:
        capture.append(Kind.DELIVERY, 1.0, payloads=[(0, b"x")])
        capture.append(
            Kind.FRAME,
            1.0,
            payloads=[(0, b"\xff\x00 no json")],
            label="\x1b[2J",
            findings=[finding("STREAM-003", "seen")],
        )
    text, lines = (
        cli("show", str(tmp_path / "odd.a2a")),
        cli("show", str(tmp_path / "odd.a2a"), "-o", "json").out.splitlines(),
    )
    assert "Finding: error STREAM-003" in text.out
    assert "\x1b" not in text.out + lines[1]
    odd, frame = map(json.loads, lines)
    assert (odd["kind"], odd["event"]) == ("note", "unreadable")
    assert base64.b64decode(frame["raw"]) == b"\xff\x00 no json"
    assert [finding["id"] for finding in frame["findings"]] == ["STREAM-003"]


def test_invalid_filter_is_a_usage_error(cli: RunCli, path: Path):
    ran = cli("show", str(path), "mood:good")
    assert (ran.code, ran.out) == (2, "")
    assert "Unknown key mood" in ran.err


def test_a_filter_that_begins_with_a_hyphen_has_a_notation(cli: RunCli, path: Path):
    ran = cli("show", str(path), "-kind:artifact")
    assert ran.code == 2
    assert "Hint: Write -- before an argument that begins with a hyphen, after the options." in ran.err
    assert "Write --" not in cli("send", "-x").err


def test_unreadable_captures_have_different_errors(cli: RunCli, path: Path, tmp_path: Path):
    (tmp_path / "text.a2a").write_text("just words " * 500)
    cut = tmp_path / "cut.a2a"
    cut.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    newer = tmp_path / "newer.a2a"
    newer.write_bytes(path.read_bytes())
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    (tmp_path / "empty.a2a").touch()
    for file, message, hint in (
        (tmp_path / "none.a2a", "does not exist", "Check the path"),
        (tmp_path / "text.a2a", "not a capture", "Check the path"),
        (cut, "damaged", "copy the capture again"),
        (tmp_path / "empty.a2a", "is empty", "copy the capture again"),
        (newer, "Update a2a-inspect", ""),
        (tmp_path, "is not a file", "Check the path"),
    ):
        ran = cli("show", str(file))
        assert (ran.code, ran.out) == (2, ""), ran.err
        assert message in ran.err
        assert hint in ran.err.partition("Hint: ")[2]
        assert ("Hint: " in ran.err) is bool(hint)
        assert cli("check", "make", str(file)).err == ran.err
        assert json.loads(cli("show", str(file), "-o", "json").err)["error"]["code"] == "A2ACLI_ERR_USAGE"


def test_capture_in_use_is_printed_with_a_warning(cli: RunCli, tmp_path: Path):
    with Capture.create(tmp_path / "now.a2a") as capture:
        capture.append(Kind.NOTE, 1.0, label="so far")
        assert capture.flush(10)
        ran = cli("show", str(tmp_path / "now.a2a"))
        assert ran.code == 0
        assert "so far" in ran.out
        assert "another process is still writing this capture" in ran.err


def test_open_needs_a_terminal(cli: RunCli, path: Path):
    ran = cli("open", str(path))
    assert ran.code == 2
    assert "needs a terminal" in ran.err


def test_open_reports_an_unreadable_capture_as_other_commands_do(tmp_path: Path):
    file = tmp_path / "none.a2a"
    with running(tmp_path) as run:
        terminal = run("open", file, cols=300)
        terminal.wait_for(f"Error: The capture {file} does not exist.")
        terminal.wait_for("Hint: Check the path.")
        assert terminal.wait_exit().status == 2


@pytest.mark.parametrize(
    ("payload", "exact"),
    [
        ('{"a": 1, "b": [1.5, -2, 1e-07, true, null, "x"]}', True),
        ("{}", True),
        ('{"a": 1, "a": 2}', False),
        ('[{"b": {"a": 1, "a": 1}}]', False),
        ('{"a": 1.50}', False),
        ('{"a": 1e5}', False),
        ('{"a": 1e999}', False),
        (r'{"a": "\ud800"}', False),
        (r'{"a": "\ud83d\ude00"}', True),
        ('{"a": -0}', False),
        ('{"a": 0.1000000000000000055511151231257827}', False),
        ("{", False),
    ],
)
def test_what_the_payload_does_not_have_is_in_raw(cli: RunCli, tmp_path: Path, payload: str, exact: bool):
    path = tmp_path / "exact.a2a"
    with Capture.create(path) as capture:
        capture.append(Kind.BODY, 1.0, payloads=[(len(payload), payload.encode())])
    [line] = cli("show", str(path), "-o", "json").out.splitlines()
    record = json.loads(line)
    assert ("raw" not in record) is exact
    assert exact or base64.b64decode(record["raw"]) == payload.encode()


def test_what_was_verified_in_a_mandate_is_printed(cli: RunCli, mock: str, tmp_path: Path):
    capture, keys = str(tmp_path / "shop.a2a"), tmp_path / "keys.json"
    keys.write_text(json.dumps({**AGENT.as_dict(private=False), "kid": "wallet-1"}))
    options = ("--stream", "--capture", capture, "--trusted-keys", str(keys))
    assert cli("send", "-a", mock, "--text", "extensions", *options).code == 0
    ran = cli("show", capture, "kind:frame")
    assert "Verified: cart mandate, cart_hash: valid: it is the hash of the contents" in ran.out
    assert "payment mandate, token 2 of 2, signature: valid: signed with the key of token 1 (cnf)" in ran.out
    assert "payment mandate, token 1 of 2, signature: not valid: the signature does not fit key 'wallet-1'" in ran.out
    assert "MANDATE-001" in ran.out, "the trusted key with this id is another one"


def test_a_file_without_keys_is_an_error(cli: RunCli, mock: str, tmp_path: Path):
    (tmp_path / "keys.json").write_text("{}")
    ran = cli("send", "-a", mock, "--text", "hi", "--trusted-keys", str(tmp_path / "keys.json"))
    assert ran.code == 2
    assert "contains no key to verify with" in ran.err


@pytest.mark.parametrize(
    ("command", "expected", "hint"),
    [("check", "a check file", "Name the agent after -a."), ("import", "a HAR file", "Save the HAR file")],
)
def test_a_url_is_not_a_file_of_another_format(cli: RunCli, command: str, expected: str, hint: str):
    ran = cli(command, "http://127.0.0.1:1/a")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"Error: http://127.0.0.1:1/a is a URL, not {expected}.\nHint: {hint}")


@pytest.mark.parametrize("command", ["show", "export", "redact"])
def test_a_url_is_not_a_capture(cli: RunCli, command: str, tmp_path: Path):
    ran = cli(command, "http://127.0.0.1:1/a", *(["--out", str(tmp_path / "copy")] if command == "redact" else []))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: http://127.0.0.1:1/a is a URL, not a capture.\nHint: To record a capture")
