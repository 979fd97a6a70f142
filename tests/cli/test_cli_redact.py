"""`redact`: the preview, the copy, and invalid options."""

from __future__ import annotations

import json
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


def test_json_has_counts_by_rule(cli: RunCli, path: Path, tmp_path: Path):
    copy = tmp_path / "copy.a2a"
    ran = cli("redact", str(path), "--secret-env", "CUSTOMER", "--out", str(copy), "-o", "json", CUSTOMER="CUST-1234")
    [_, secret] = ran.json["rules"]
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
