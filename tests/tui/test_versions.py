"""Protocol versions: the menu of interfaces, translation, sending again, the doctor, unsupported operations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from driving import Open
from players import eventually, playing
from puppets import RPC_PATH, Call
from textual.widgets import OptionList

from inspector.capture.records import Kind
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Step
from inspector.tui.screens.doctor import DoctorScreen
from inspector.tui.screens.interfaces import InterfacesScreen
from inspector.tui.screens.translate import TranslateScreen
from inspector.tui.widgets.footer import KeyFooter


async def test_the_menu_changes_the_interface_during_a_session(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("echo one")
        await driver.press("escape", "I")
        await driver.until(lambda: isinstance(driver.app.screen, InterfacesScreen))
        assert "A2A 1.0 JSONRPC" in " ".join(driver.line("in use").split())
        rows = [driver.place(words)[1] for words in (" Declared", "A2A 0.3", "Not declared", "A2A 0.2")]
        assert rows == sorted(rows), "the interfaces on the card are first"
        await driver.press("down", "enter")
        await driver.until("0.3 · JSONRPC")
        await driver.ask("echo two")
        driver.composer.stream = False
        await driver.press("escape", "I")
        await driver.until(lambda: isinstance(driver.app.screen, InterfacesScreen))
        await driver.press("home", "enter")
        await driver.until("1.0 · JSONRPC")
        await driver.ask("echo three")
        methods = [call["method"] for call in driver.sent()]
        assert methods == ["SendStreamingMessage", "message/stream", "SendMessage"], "streaming stays off"


async def test_the_menu_closes_without_changes(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.click("1.0 · JSONRPC")
        await driver.until(lambda: isinstance(driver.app.screen, InterfacesScreen))
        assert driver.app.screen.query_one(OptionList).option_count > 2
        await driver.press("escape")
        assert driver.session.choice.dialect.version == "1.0"


async def test_translate_shows_a_record_in_other_versions_side_by_side(open_app: Open, mock: str):
    async with open_app(mock, size=(140, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", "up", "T")
        await driver.until(lambda: isinstance(driver.app.screen, TranslateScreen))
        assert "Received: 1.0" in driver.screen
        assert "Translated: 0.3 JSON-RPC" in driver.screen
        assert '"kind": "artifact-update"' in driver.screen
        assert "No members are lost." in driver.screen
        seen = {driver.line("Translated: ").split("Translated: ")[1].split(" ─")[0]}
        for _ in range(5):
            await driver.press("v")
            seen.add(driver.line("Translated: ").split("Translated: ")[1].split(" ─")[0])
        assert len(seen) == 6
        await driver.press("escape")
        assert driver.workbench.view == "chat"


async def test_a_note_cannot_be_translated(open_app: Open, mock: str):
    async with open_app(mock, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("escape", "home", "T")
        await driver.until("This record contains")


async def test_a_message_is_sent_again_in_another_version(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 1")
        await driver.press("escape", "e")
        await driver.until("Send again: choose the interface")
        await driver.press("down", "enter")
        await driver.done(2)
        first, second = driver.sent()
        assert (first["method"], second["method"]) == ("SendStreamingMessage", "message/stream")
        assert second["params"]["message"]["parts"] == [{"kind": "text", "text": "report 1"}]
        assert first["params"]["message"]["messageId"] != second["params"]["message"]["messageId"]
        assert driver.session.choice.dialect.version == "1.0"


async def test_the_doctor_passes_the_mock_agent(open_app: Open, mock: str):
    async with open_app(mock, size=(140, 40)) as driver:
        await driver.connected()
        await driver.press("d")
        await driver.until(lambda: isinstance(driver.app.screen, DoctorScreen))
        await driver.until(" passed ")
        assert "1.0 over JSONRPC" in driver.line("✓ interface 1 ")
        assert "FEATURE" in driver.screen
        assert driver.enabled("r") is None, "there is no proposed interface"
        await driver.press("y")
        await driver.press("escape")
        assert driver.workbench.view == "agent"
        await driver.go(2)
        assert not [row for row in driver.lines if "doctor" in row and "d doctor" not in row]
        assert "does not exist" not in driver.screen
        assert "no findings" in driver.lines[0]
        await driver.press("escape")
        await driver.go(5)
        await driver.settled()
        assert "GetTask" in driver.screen


async def test_the_doctor_can_be_closed_at_any_step(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    async def examine(_: Doctor) -> AsyncIterator[Step]:
        while True:
            yield Step("card", True, "a card")
            await asyncio.sleep(0)

    monkeypatch.setattr(Doctor, "examine", examine)
    async with open_app(mock) as driver:
        await driver.connected()
        driver.app.simulate_key("d")
        await eventually(lambda: isinstance(driver.app.screen, DoctorScreen) and driver.app.screen.is_mounted)
        driver.app.screen.dismiss(None)
        await eventually(lambda: not isinstance(driver.app.screen, DoctorScreen))
        await driver.pilot.pause()
        assert driver.workbench.view == "agent"


async def test_the_doctor_can_be_used_for_an_unreachable_agent(open_app: Open):
    async with open_app("http://127.0.0.1:1", size=(120, 36)) as driver:
        await driver.until("Nothing listens at")
        await driver.press("d")
        await driver.until(" failed ")
        assert "the connection was refused" in driver.screen


def wrong_address(request: web.BaseRequest) -> dict[str, Any]:
    """Return a card whose only interface has an address to which clients cannot connect."""
    url = f"http://0.0.0.0:{request.url.port}{RPC_PATH}"
    return {"supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}


async def knows_no_task(call: Call) -> web.StreamResponse:
    return call.error(-32001, "no such task")


@pytest.mark.parametrize("accepted", [True, False])
async def test_the_interface_that_the_doctor_proposes_is_in_the_menu(open_app: Open, accepted: bool):
    async with playing(knows_no_task, wrong_address) as agent, open_app(agent.url, size=(120, 36)) as driver:
        await driver.connected()
        declared, proposed = driver.session.choice.interface.url, f"{agent.url}{RPC_PATH}"
        assert declared != proposed
        await driver.press("d")
        await driver.until("Press r to use it")
        await driver.press("r" if accepted else "escape")
        await driver.until(lambda: not isinstance(driver.app.screen, DoctorScreen))
        for in_use in (proposed, declared, proposed) if accepted else (declared, proposed):
            assert driver.session.choice.interface.url == in_use
            await driver.press("I")
            await driver.until("Proposed by the doctor")
            assert in_use in driver.line("in use")
            assert sum(proposed in line and "A2A 1.0" in line for line in driver.lines) == 1
            await driver.press("up" if in_use == proposed else "down", "enter")
            await driver.until(lambda: not isinstance(driver.app.screen, InterfacesScreen))


async def test_listed_tasks_of_the_agent_are_added_to_the_table(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 1")
        (known,) = driver.session.tasks.all()
        await driver.press("escape")
        await driver.press("o")
        await driver.press("escape")
        await driver.go(3)
        await driver.press("l")
        await driver.until(lambda: any(call["method"] == "ListTasks" for call in driver.sent()))
        await driver.done(2)
        assert driver.session.tasks.get(known.id) is not None
        assert len(driver.session.tasks) >= 1


async def test_unsupported_operations_are_grey_and_report_why(open_app: Open, mock: str):
    async with open_app(mock, a2a_version="0.3", run={"notifications": True}) as driver:
        await driver.connected()
        await driver.go(3)
        keys = driver.app.screen.query_one(KeyFooter).render()
        start = keys.plain.index("l list")
        styles = [str(span.style) for span in keys.spans if span.start <= start < span.end]
        assert styles == ["$wire-quiet"]
        await driver.press("l")
        await driver.until("0.3 over JSONRPC does not have ListTasks")
        assert driver.sent() == []


async def test_webhooks_of_a_task_are_registered_listed_and_deleted(open_app: Open, slow_mock: str):
    async with open_app(slow_mock, size=(140, 40), run={"notifications": True}) as driver:
        await driver.connected()
        await driver.say("long 20")
        await driver.until(lambda: len(driver.session.tasks) == 1)
        await driver.press("escape")
        await driver.go(4)
        await driver.press("R", "enter")
        await driver.until(lambda: driver.records(Kind.DELIVERY))
        await driver.press("l")
        await driver.until(lambda: any(call["method"] == "ListTaskPushNotificationConfigs" for call in driver.sent()))
        assert driver.workbench.view == "webhooks"
        await driver.press("a")
        await driver.click("Delete the webhooks of the task")
        await driver.until("Delete")
        await driver.press("enter")
        await driver.until(
            lambda: any(request["method"] == "DeleteTaskPushNotificationConfig" for request in driver.sent())
        )
        await driver.go(2)
        await driver.press("escape", "x", "enter")
        await driver.until(lambda: not driver.session.journal.exchanges.open)
