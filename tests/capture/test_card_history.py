"""Stored cards: the last versions of the card of each agent, readable by their owner only."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from inspector.capture import card_history
from inspector.capture.card_history import MOST_AGENTS, MOST_VERSIONS, cards_folder, seen_cards, store_card
from inspector.capture.private_files import CaptureError

URL = "https://a.example/.well-known/agent-card.json"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A2A_INSPECT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_there_are_no_versions_before_the_first_visit():
    assert seen_cards(URL) == []


def test_versions_are_ordered_by_last_visit_and_have_both_times():
    for at, raw in enumerate([b"one", b"two", b"one"], 1_700_000_000):
        store_card(URL, raw, at)
    one, two = seen_cards(URL)
    assert (one.raw, one.first, one.last) == (b"one", 1_700_000_000, 1_700_000_002)
    assert (two.raw, two.first, two.last) == (b"two", 1_700_000_001, 1_700_000_001)


def test_cards_of_different_urls_are_stored_separately():
    store_card(URL, b"one", 1.0)
    store_card(f"{URL}?other", b"two", 1.0)
    assert [card.raw for card in seen_cards(URL)] == [b"one"]


def test_only_the_last_versions_and_agents_are_stored():
    for number in range(MOST_VERSIONS + 2):
        store_card(URL, b"%d" % number, 1_700_000_000 + number)
    assert [card.raw for card in seen_cards(URL)] == [b"6", b"5", b"4", b"3", b"2"]
    for number in range(MOST_AGENTS):
        store_card(f"{URL}?{number}", b"x", 1_800_000_000 + number)
    assert seen_cards(URL) == []
    assert len(list(cards_folder().iterdir())) == MOST_AGENTS


def test_a_card_that_is_too_large_is_not_stored(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(card_history, "LARGEST", 3)
    store_card(URL, b"1234", 1.0)
    assert seen_cards(URL) == []


def test_files_are_for_their_owner_only(home: Path):
    store_card(URL, b"one", 1.0)
    places = [cards_folder(), *cards_folder().rglob("*")]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in places}
    assert (len(places), modes) == (3, {0o700, 0o600})


def test_other_files_in_the_folder_are_ignored():
    store_card(URL, b"one", 1.0)
    [folder] = cards_folder().iterdir()
    (folder / "notes.json").write_text("mine")
    assert [card.raw for card in seen_cards(URL)] == [b"one"]


def test_an_unusable_folder_is_reported(home: Path):
    (home / "state").mkdir(parents=True)
    (home / "state" / "cards").write_text("a file")
    with pytest.raises(CaptureError, match="Cannot"):
        store_card(URL, b"one", 1.0)
    with pytest.raises(CaptureError, match="Cannot read the earlier cards"):
        seen_cards(URL)
