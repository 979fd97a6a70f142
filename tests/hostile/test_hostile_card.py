"""Hostile cards in every part of the agent view."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_agent import HostileAgent, ReceivedRequest, ServerThread, answer
from hostile_text import CARD, PAYLOADS, respond_with_everything
from operating import click_on_everything
from programs import Run, only_capture
from terminal import Ending, assert_absent, assert_inert

from inspector.capture.records import Kind
from inspector.capture.store import Capture

IN_ORDER = Ending(0, frozenset())


def respond_with_extended_card(hostile_agent: HostileAgent, request: ReceivedRequest) -> bytes | list[bytes]:
    """Respond with an extended card with hostile texts."""
    if request.method == "GetExtendedAgentCard":
        more = {"id": "more", "name": PAYLOADS["clear"][0], "description": PAYLOADS["C1 CSI"][0], "tags": []}
        return answer(request.result({**CARD, "name": PAYLOADS["set the title"][0], "skills": [*CARD["skills"], more]}))
    return respond_with_everything(hostile_agent, request)


def requests(home: Path) -> list[str]:
    with Capture.open(only_capture(home)) as capture:
        return [record.operation for record in capture.select(kinds=(Kind.REQUEST,))]


@pytest.mark.parametrize("size", [(120, 48), (80, 24)], ids=str)
def test_a_hostile_card_sends_nothing_to_the_terminal(
    inspect: Run, home: Path, server_thread: ServerThread, size: tuple[int, int]
):
    capabilities = {**CARD["capabilities"], "extendedAgentCard": True}
    urls = {"iconUrl": "http://169.254.169.254/icon", "documentationUrl": "http://[::1]:1/"}
    signed = {"signatures": [{"protected": PAYLOADS["clear"][0], "signature": PAYLOADS["C1 OSC"][0]}]}
    hostile_agent = HostileAgent({**CARD, **urls, **signed, "capabilities": capabilities}, respond_with_extended_card)
    with server_thread.serving(hostile_agent) as agent:
        terminal = inspect(agent.url, cols=size[0], rows=size[1])
        terminal.wait_for("Interfaces")
        terminal.press("end", "home", "v")
        terminal.wait_for("source")
        terminal.press("end", "home", "v")
        terminal.wait_for("has not been requested yet")
        terminal.press("r")
        terminal.wait_for("to the extended card")
        terminal.press("end", "enter", "home", "a")
        terminal.wait_for("Show the raw card")
        click_on_everything(terminal, "Show the raw card")
        terminal.wait_for("─ extended card ─")
        hostile_agent.card["description"] = PAYLOADS["right to left"][0] + PAYLOADS["zero width"][0]
        terminal.press("r")
        terminal.wait_for("changes 1")
        terminal.press("v", "v")
        terminal.wait_for("1 change since")
        terminal.press("end", "enter", "E")
        terminal.wait_for("next finding")
        terminal.press("f6", "f6", "ctrl+s")
        terminal.wait_for("save as")
        for sign in ("A2A 1.0 card", "enter go to the text", "i try"):
            terminal.press("escape")
            terminal.wait_for(sign)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_inert(terminal.raw)
    assert_absent(terminal.raw, ["\x1b]52", "\x9b2J", "\u202e", "\u200b", "\x1b]0;evil"])
    assert (terminal.title, terminal.bells) == ("", 0)
    assert requests(home) == ["GetAgentCard", "GetExtendedAgentCard", "GetAgentCard"]


def test_a_search_in_a_hostile_card_sends_nothing_to_the_terminal(
    inspect: Run, home: Path, server_thread: ServerThread
):
    with server_thread.serving(HostileAgent(CARD, respond_with_everything)) as agent:
        terminal = inspect(agent.url)
        terminal.wait_for("Interfaces")
        terminal.send("/")
        terminal.wait_for("\n find")
        terminal.send("q0")
        terminal.wait_for("1 skill ")
        terminal.press("enter")
        terminal.wait_for("enter unfold or fold   i try")
        terminal.press("v")
        terminal.wait_for("served ")
        terminal.send("/")
        terminal.wait_for("\n find")
        terminal.send("]52")
        terminal.wait_for(" of 19   enter keep")
        terminal.press("enter")
        terminal.send("nN")
        terminal.wait_for("r refresh")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == IN_ORDER
    assert_inert(terminal.raw)
