"""Cards that were seen: the last versions of each agent, for their owner alone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from inspector.capture import card_history
from inspector.capture.card_history import MOST_AGENTS, MOST_VERSIONS, cards_folder, keep_card, seen_cards
from inspector.capture.private_files import CaptureError

URL = "https://a.example/.well-known/agent-card.json"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_without_a_visit_there_are_none():
    assert seen_cards(URL) == []


def test_versions_come_back_the_last_seen_first_with_the_times_of_both_visits():
    for at, raw in enumerate([b"one", b"two", b"one"], 1_700_000_000):
        keep_card(URL, raw, at)
    one, two = seen_cards(URL)
    assert (one.raw, one.first, one.last) == (b"one", 1_700_000_000, 1_700_000_002)
    assert (two.raw, two.first, two.last) == (b"two", 1_700_000_001, 1_700_000_001)


def test_agents_are_kept_apart():
    keep_card(URL, b"one", 1.0)
    keep_card(f"{URL}?other", b"two", 1.0)
    assert [one.raw for one in seen_cards(URL)] == [b"one"]


def test_only_the_last_versions_and_agents_are_kept():
    for number in range(MOST_VERSIONS + 2):
        keep_card(URL, b"%d" % number, 1_700_000_000 + number)
    assert [one.raw for one in seen_cards(URL)] == [b"6", b"5", b"4", b"3", b"2"]
    for number in range(MOST_AGENTS):
        keep_card(f"{URL}?{number}", b"x", 1_800_000_000 + number)
    assert seen_cards(URL) == []
    assert len(list(cards_folder().iterdir())) == MOST_AGENTS


def test_a_card_that_is_too_large_is_not_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(card_history, "LARGEST", 3)
    keep_card(URL, b"1234", 1.0)
    assert seen_cards(URL) == []


def test_files_are_for_their_owner_only(home: Path):
    keep_card(URL, b"one", 1.0)
    places = [cards_folder(), *cards_folder().rglob("*")]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in places}
    assert (len(places), modes) == (3, {0o700, 0o600})


def test_what_is_not_ours_is_left_alone():
    keep_card(URL, b"one", 1.0)
    [folder] = cards_folder().iterdir()
    (folder / "notes.json").write_text("mine")
    assert [one.raw for one in seen_cards(URL)] == [b"one"]


def test_a_folder_that_cannot_be_used_gets_a_sentence(home: Path):
    (home / "state").mkdir(parents=True)
    (home / "state" / "cards").write_text("a file")
    with pytest.raises(CaptureError, match="Cannot"):
        keep_card(URL, b"one", 1.0)
    with pytest.raises(CaptureError, match="Cannot read the earlier cards"):
        seen_cards(URL)
