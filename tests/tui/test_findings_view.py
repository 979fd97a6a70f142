"""The Findings view: rules and their explanation, occurrences, the filter, and the record of an occurrence."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from driving import Driver, Open
from players import misbehave, playing
from puppets import CARD
from textual import events

from inspector.capture.records import Kind
from inspector.findings.rules import RULES, finding
from inspector.tui.screens.doctor import DoctorScreen
from inspector.tui.views.findings import FindingsView
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.feed import Feed
from inspector.tui.widgets.finding_pane import FindingPane


def explained(driver: Driver) -> str:
    """Return the explanation as text."""
    return driver.widget("#finding", FindingPane).text


def listed(driver: Driver) -> list[str]:
    """Return the ids of the listed rules."""
    feed = driver.widget("#rules", Feed)
    return [feed.source.line(index)[1][0].strip() for index in range(feed.line_count)]


async def test_a_rule_is_explained_and_its_record_is_opened(open_app: Open):
    async with playing(misbehave) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.go(6)
        assert "No findings so far." in driver.screen
        assert f"against {len(RULES)} rules" in driver.screen
        await driver.ask("misbehave")
        await driver.go(6)
        await driver.settled()
        found = driver.session.journal.found
        assert driver.line("SEVERITY").split("│")[1].split() == ["SEVERITY", "ID", "TITLE", "COUNT"]
        rules = listed(driver)
        assert set(rules) == set(found)
        assert {"STREAM-002", "STREAM-003", "STREAM-004", "STREAM-005", "RPC-001"} <= set(rules)
        count = sum(map(len, found.values()))
        assert f"Findings ─ {len(found)} rules, {count} occurrences" in driver.screen
        await driver.press(*["down"] * rules.index("STREAM-004"))
        [seq] = found["STREAM-004"]
        assert "Explanation ─ STREAM-004 ─ ! error ─ 1 of 1" in driver.screen
        assert "How to fix   Send the first chunk of an artifact without append." in explained(driver)
        assert "(1.0 §4.2.2)" in explained(driver)
        assert f"#{seq} artifact, SendStreamingMessage" in explained(driver)
        await driver.press("enter")
        assert driver.workbench.view == "traffic"
        assert driver.widget("#traffic-detail", DetailPane).record == driver.session.journal.capture.get(seq)
        assert "from nowhere" in driver.screen
        assert driver.widget("#records", Feed).has_focus


async def test_each_occurrence_is_reached_by_keys_and_by_the_mouse(open_app: Open):
    async with playing(misbehave) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("misbehave")
        await driver.ask("misbehave")
        await driver.press("escape")
        await driver.go(6)
        first, second = driver.session.journal.found["RPC-001"]
        await driver.press("slash", *"rpc-001", "enter")
        assert f"▌ #{first} " in explained(driver)
        assert "1 of 2" in driver.screen
        await driver.press("n")
        assert f"▌ #{second} " in explained(driver)
        await driver.press("n")
        assert f"▌ #{first} " in explained(driver)
        await driver.press("slash", "escape", "home")
        await driver.press(*["down"] * (listed(driver).index("RPC-001") - 1))
        for key in ("down", "n"):  # without waiting between them
            driver.app.post_message(events.Key(key, None))
        await driver.until(lambda: f"▌ #{second} " in explained(driver))
        await driver.press("n")
        await driver.click(f"  #{second} ", aside=4)
        assert f"▌ #{second} " in explained(driver)
        await driver.click(f"▌ #{second} ", aside=3)
        await driver.until(lambda: driver.workbench.view == "traffic")
        assert driver.widget("#traffic-detail", DetailPane).record == driver.session.journal.capture.get(second)


async def test_the_cursor_stays_on_its_rule_if_a_more_severe_rule_is_violated(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        journal = driver.session.journal

        def violate(rule: str) -> None:
            journal.append(Kind.NOTE, time.time(), label="odd", findings=(finding(rule, "odd"),))
            journal.notify()

        violate("CARD-005")
        await driver.go(6)
        await driver.until("Explanation ─ CARD-005")
        violate("PUSH-003")
        await driver.until(lambda: listed(driver) == ["PUSH-003", "CARD-005"])
        await driver.settled()
        assert "Explanation ─ CARD-005" in driver.screen
        assert driver.line("CARD-005").startswith("│▌")


async def test_a_filter_without_a_rule_leaves_no_explanation(open_app: Open):
    async with playing(misbehave) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("misbehave")
        await driver.press("escape")
        await driver.go(6)
        found = driver.session.journal.found
        assert "How to fix" in driver.screen
        await driver.press("slash", *"no such rule".replace(" ", "x"))
        await driver.until(f"0 of {len(found)} rules")
        assert "How to fix" not in driver.screen
        assert "No violated rule contains 'noxsuchxrule'. Press /" in driver.screen
        await driver.press("enter")
        assert explained(driver) == ""
        await driver.press("slash", "escape")
        await driver.until("How to fix")
        await driver.press("slash", *"noxsuchxrule", "enter")
        await driver.until(f"0 of {len(found)} rules")
        violating = found["RPC-001"][0]
        driver.widget("#findings", FindingsView).show_seq(violating)
        await driver.until("How to fix")
        assert f"▌ #{violating} " in explained(driver)


async def test_the_findings_of_a_card_are_counted_once_and_each_has_its_place(open_app: Open, tmp_path: Path):
    leaking = {"scheme": {"$case": "httpAuthSecurityScheme", "value": {"scheme": "x"}}}
    interface = {"url": "http://127.0.0.1:1/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    card = {**CARD, "supportedInterfaces": [interface], "securitySchemes": {"one": leaking, "two": leaking}}
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card))
    async with open_app(str(path), (120, 40)) as driver:
        await driver.connected()
        before = {rule: list(seqs) for rule, seqs in driver.session.journal.found.items()}
        assert len(before["CARD-073"]) == 2
        await driver.press("d")
        await driver.until(lambda: isinstance(driver.app.screen, DoctorScreen))
        await driver.until(" failed ")
        assert "/securitySchemes/one/scheme/$case" in driver.screen
        assert "/securitySchemes/two/scheme/$case" in driver.screen
        assert "Press 6 in the main screen to see all findings." in driver.screen
        assert "a2a-inspect card get" not in driver.screen
        await driver.press("escape")
        await driver.go(6)
        assert driver.session.journal.found == before
        await driver.press("slash", *"073", "enter")
        for scheme in ("one", "two"):
            assert f"the scheme has the member $case at /securitySchemes/{scheme}/scheme/$case" in explained(driver)


@pytest.mark.parametrize("size", [(100, 30), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_on_a_small_screen_the_explanation_is_below_the_whole_titles(open_app: Open, size: tuple[int, int]):
    async with playing(misbehave) as agent, open_app(agent.url, size) as driver:
        await driver.connected()
        await driver.ask("misbehave")
        await driver.press("escape")
        await driver.go(6)
        await driver.settled()
        titles = [RULES[rule].title for rule in listed(driver)]
        assert all(title in driver.screen for title in titles)
        assert driver.place("Explanation")[1] > driver.place("SEVERITY")[1]
