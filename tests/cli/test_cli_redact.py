"""`redact`: the preview, the copy, and invalid options."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from puppets import RunCli


@pytest.fixture
def path(cli: RunCli, mock: str, tmp_path: Path) -> Path:
    """The capture of a stream from the mock agent."""
    path = tmp_path / "session.a2a"
    assert cli("send", "-a", mock, "--text", "echo CUST-1234", "--stream", "--capture", str(path)).code == 0
    return path


def test_the_preview_shows_rules_and_places_and_writes_nothing(cli: RunCli, path: Path, tmp_path: Path):
    before = sorted(tmp_path.iterdir())
    ran = cli("redact", str(path), "--pattern", r"CUST-\d+", "--pattern", "nothing", "--pseudonyms", "--preview")
    assert (ran.code, ran.err) == (0, "")
    assert "pattern CUST-\\d+: " in ran.out
    assert "1 different" in ran.out
    assert "  request body\n" in ran.out
    assert "pattern nothing: no matches" in ran.out
    assert "CUST-1234" not in ran.out
    assert sorted(tmp_path.iterdir()) == before


def test_the_copy_is_shown_and_imported(cli: RunCli, path: Path, tmp_path: Path):
    copy, har, again = tmp_path / "copy.a2a", tmp_path / "copy.har", tmp_path / "again.a2a"
    ran = cli("redact", str(path), "--pattern", r"CUST-\d+", "--pseudonyms", "--out", str(copy))
    assert (ran.code, ran.err) == (0, "")
    assert f"Copy: {copy}" in ran.out
    shown = cli("show", str(copy), "-o", "json").out
    assert "CUST-1234" not in shown
    assert '"messageId":"message-1"' in shown
    assert b"CUST-1234" not in copy.read_bytes()
    assert cli("export", str(copy), "--out", str(har)).code == 0
    assert cli("import", str(har), "--capture", str(again)).code == 0
    assert cli("show", str(again), "-o", "json").out == shown


def test_keys_and_tokens_are_masked_and_the_output_says_what_is_not_searched(cli: RunCli, mock: str, tmp_path: Path):
    keys = ["sk-ant-api03-" + "a1" * 20, "ghp_" + "Ab3" * 12, "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl"]
    session, copy = str(tmp_path / "session.a2a"), str(tmp_path / "copy.a2a")
    text = f"echo {' '.join(keys)} for task-0123456789abcdef01; password is hunter22"
    assert cli("send", "-a", mock, "--text", text, "--capture", session).code == 0
    ran = cli("redact", session, "--out", copy)
    assert (ran.code, ran.err) == (0, "")
    assert re.search(r"keys and tokens by their form: \d+ matches, 3 different", ran.out)
    assert "Not searched: texts for passwords" in ran.out
    assert "--pattern" in ran.out
    shown = cli("show", copy, "-o", "json").out
    assert not any(key in shown for key in keys)
    assert "for task-0123456789abcdef01; password is hunter22" in shown
    assert "Not searched" not in cli("redact", session, "--preview", "-o", "json").out


def test_json_has_counts_by_rule(cli: RunCli, path: Path, tmp_path: Path):
    copy = tmp_path / "copy.a2a"
    ran = cli("redact", str(path), "--secret-env", "CUSTOMER", "--out", str(copy), "-o", "json", CUSTOMER="CUST-1234")
    [_, _, secret] = ran.json["rules"]
    assert (secret["rule"], secret["values"]) == ("secret CUSTOMER", 1)
    assert secret["matches"] == sum(secret["places"].values()) > 0
    assert ran.json["copy"] == str(copy)
    assert ran.json["records"] == len(cli("show", str(copy), "-o", "json").lines)


def test_invalid_options_are_usage_errors(cli: RunCli, path: Path, tmp_path: Path):
    copy = ("--out", str(tmp_path / "copy.a2a"))
    for words, message in (
        ((), "The name of the copy is missing"),
        ((*copy, "--pattern", "("), "not a regular expression"),
        ((*copy, "--secret-env", "NOT_SET"), "NOT_SET is not set"),
        ((*copy, "--pattern", "CUST"[:2]), "fewer than 4 characters"),
        (("--out", str(path)), "exists already"),
        ((*copy, "mood:good"), "Unknown key mood"),
    ):
        ran = cli("redact", str(path), *words)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err
        assert not (tmp_path / "copy.a2a").exists()
    error = json.loads(cli("redact", str(path), "-o", "json").err)["error"]
    assert error["code"] == "A2ACLI_ERR_USAGE"


def test_an_empty_copy_is_an_error(cli: RunCli, path: Path, tmp_path: Path):
    ran = cli("redact", str(path), "xyzzyxyzzy", "--out", str(tmp_path / "copy.a2a"))
    assert ran.code == 2
    assert "There is no record to copy." in ran.err
    assert not (tmp_path / "copy.a2a").exists()


def test_a_preview_writes_no_copy(cli: RunCli, path: Path, tmp_path: Path):
    ran = cli("redact", str(path), "--preview", "--out", str(tmp_path / "copy.a2a"))
    assert ran.code == 2
    assert "--out and --preview contradict each other." in ran.err
