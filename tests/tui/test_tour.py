"""The tour of the demo: from the card to another version by one key, and out of it at any stop."""

from __future__ import annotations

import textwrap

import pytest
from driving import Driver, Open
from inspector.sample_agents.scenario.catalog import BUILT_IN
from snapshots import Snapshots
from textual import events

from inspector.capture.records import Kind
from inspector.cli.arguments import invocation
from inspector.cli.commands import find, main_parser
from inspector.tui.screens.connect import DEMO
from inspector.tui.screens.translate import TranslateScreen
from inspector.tui.tour import BROKEN, STOPS
from inspector.tui.views.agent import AgentView
from inspector.tui.views.base import View
from inspector.tui.views.findings import FindingsView
from inspector.tui.widgets.feed import Feed
from inspector.tui.widgets.tour import Tour

SMALL, NORMAL = (80, 24), (120, 40)
TOUR = {"demo": True, "tour": True}


def strip(driver: Driver) -> Tour:
    return driver.widget("Tour", Tour)


def on_tour(driver: Driver) -> bool:
    return bool(driver.app.screen.query("Tour"))


def selected(driver: Driver) -> str:
    """Return what the selected record of the place that is seen is about."""
    record = driver.widget(f"#{driver.workbench.view}", View).selected_record()
    return "" if record is None else record.event or record.kind


async def says(driver: Driver, what: str) -> None:
    """Wait until the strip says something, wherever its lines break."""
    await driver.until(lambda: on_tour(driver) and what in strip(driver).render().plain)


async def begun(driver: Driver) -> None:
    await driver.connected()
    await driver.until("TOUR 1/7  Card")


async def to_stop(driver: Driver, number: int) -> None:
    await begun(driver)
    await driver.press(*"n" * (number - 1))
    await driver.until(f"TOUR {number}/7")


async def test_one_key_leads_through_the_whole_tour_on_a_small_screen(open_app: Open):
    async with open_app(None, SMALL, **TOUR) as driver:
        await begun(driver)
        assert driver.line("enter").startswith(" enter show it as JSON   n next stop   b back   esc leave the tour")
        await driver.press("enter")
        await says(driver, "The card as it was served")
        assert driver.widget("#agent", AgentView).section == "raw"
        await driver.until('"supportedInterfaces": [')

        await driver.press("enter", "enter")
        await says(driver, "One request, one response.")
        assert (driver.workbench.view, selected(driver)) == ("chat", "message")
        assert [one["method"] for one in driver.sent()] == ["SendMessage"]

        await driver.press("enter", "enter")
        await says(driver, "they are one artifact")
        assert selected(driver) == "artifact"
        assert "+20" in driver.line("report.md")

        await driver.press("enter", "enter")
        await driver.until("the agent asks  There is one at 18:00")
        await says(driver, "The agent asks.")
        await driver.press("enter")
        await says(driver, "two requests, one task, one history")
        asked, answered = driver.session.tasks.all()[0], driver.sent()[-1]["params"]["message"]
        assert (answered["taskId"], asked.now.state) == (asked.id, "TASK_STATE_COMPLETED")

        await driver.press("enter")
        await driver.until("not listening")
        await driver.press("enter")
        await says(driver, "Each row is a delivery")
        assert (driver.workbench.view, selected(driver)) == ("webhooks", "status")
        assert {one.event for one in driver.records(Kind.DELIVERY)} >= {"status", "artifact"}

        await driver.press("enter", "enter")
        await says(driver, "The violation is a finding")
        assert driver.workbench.view == "findings"
        assert list(driver.session.journal.found) == [BROKEN]
        assert not driver.session.push.on

        await driver.press("enter", "enter")
        await says(driver, "The same message in A2A 0.3")
        assert (driver.sent()[-1]["method"], selected(driver)) == ("message/stream", "request")
        await driver.press("enter")
        await driver.until("RECEIVED  0.3")
        assert isinstance(driver.app.screen, TranslateScreen)
        await driver.press("escape")
        await says(driver, "This is the end of the tour.")
        assert driver.enabled("n") is None

        await driver.press("enter")
        await driver.until(lambda: not on_tour(driver))
        assert driver.app.focused is driver.widget("#text", type(driver.app.focused))


async def test_stops_can_be_passed_and_gone_back_to_and_every_one_begins_where_it_should(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await begun(driver)
        for number, (title, steps) in enumerate(STOPS.items(), 1):
            await driver.until(f"TOUR {number}/7  {title}")
            assert driver.workbench.view == steps[0].view
            assert strip(driver).has_focus
            await driver.press("n")
        assert "TOUR 7/7" in driver.screen
        await driver.press("b", "left", "b", "b", "b", "right")
        await says(driver, "One request, one response.")
        await driver.press("b")
        await says(driver, "A client sends a message.")
        await driver.press("b", "right")
        assert driver.widget("#agent", AgentView).section == "raw"
        await driver.press("b")
        await driver.until(lambda: driver.widget("#agent", AgentView).section == "card")
        assert len(driver.sent()) == 1


async def test_left_at_any_stop_it_stays_away_until_it_is_begun_again(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 3)
        await driver.press("escape")
        assert not on_tour(driver)
        assert driver.app.focused is driver.composer.query_one("#text")
        driver.app.open(DEMO)
        await driver.connected()
        await driver.settled()
        assert not on_tour(driver)
        await driver.press("f2")
        await driver.until("TOUR 1/7")
        assert strip(driver).has_focus


async def test_its_keys_are_in_nobodys_way_while_a_place_has_them(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 2)
        await driver.press("f2")
        assert driver.app.focused is driver.composer.query_one("#text")
        await driver.type("ban ")
        assert driver.composer.text == "ban "
        assert "f2 TOUR 2/7" in driver.screen
        await driver.press("f2", "n")
        await driver.until("TOUR 3/7")


async def test_whoever_does_it_by_hand_goes_on_too_and_keeps_the_keys(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 2)
        await driver.press("f2")
        await driver.ask("echo from my own hands")
        await says(driver, "One request, one response.")
        assert driver.composer.query_one("#text").has_focus
        assert len(driver.sent()) == 1


async def test_asked_twice_at_once_it_sends_once(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 3)
        for _ in range(3):  # without waiting between them: the call is over after a second
            driver.app.post_message(events.Key("enter", None))
        await says(driver, "they are one artifact")
        assert len(driver.sent()) == 1


async def test_it_goes_by_mouse_too(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 2)
        await driver.click('send "echo')
        await says(driver, "One request, one response.")
        await driver.press("f2")
        assert not strip(driver).has_focus
        await driver.click("TOUR")
        assert strip(driver).has_focus
        await driver.click("leave the tour")
        assert not on_tour(driver)


async def test_what_it_sends_does_not_depend_on_what_was_set_before(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 7)
        await driver.press("enter")
        await says(driver, "The same message in A2A 0.3")
        await driver.press("p")
        await driver.until(lambda: driver.session.push.on)
        await driver.press("b", *"bbbbb", "enter")
        await says(driver, "One request, one response.")
        assert driver.sent()[-1]["method"] == "SendMessage"
        assert "taskPushNotificationConfig" not in str(driver.sent()[-1])
        assert driver.session.choice.dialect.version == "1.0"


async def test_a_finding_is_selected_among_others(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 6)
        await driver.press("enter")
        await says(driver, "The violation is a finding")
        assert driver.widget("#findings", FindingsView).selected_text().startswith(BROKEN)
        assert driver.widget("#rules", Feed).cursor == 0


async def test_other_agents_have_no_tour(open_app: Open, mock: str):
    async with open_app(mock, tour=True) as driver:
        await driver.connected()
        assert driver.enabled("f2") is None
        assert "tour" not in str([command.title for command in driver.app.get_system_commands(driver.workbench)])
        await driver.press("f2")
        assert not on_tour(driver)


async def test_it_ends_with_its_agent(open_app: Open, mock: str):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 2)
        demo = driver.session
        driver.app.open(mock)
        await driver.until(lambda: driver.app.session not in (None, demo))  # the demo's workbench is shown until then
        await driver.connected()
        assert not on_tour(driver)
        assert driver.enabled("f2") is None


async def test_the_demo_of_the_connect_screen_begins_with_it_and_one_without_offers_it(open_app: Open):
    async with open_app(None, tour=True) as driver:
        await driver.until("Connect to an agent")
        await driver.press("enter")
        await begun(driver)
    async with open_app(None, demo=True) as driver:
        await driver.connected()
        assert not on_tour(driver)
        [begin] = [one for one in driver.app.get_system_commands(driver.workbench) if "guided tour" in one.title]
        begin.callback()
        await begun(driver)


async def test_two_stops_look_as_they_should(open_app: Open, snapshots: Snapshots):
    async with open_app(None, SMALL, **TOUR) as driver:
        await to_stop(driver, 2)
        await driver.press("enter")
        await says(driver, "One request, one response.")
        await driver.snap(snapshots, "tour-message")
    async with open_app(None, NORMAL, **TOUR) as driver:
        await to_stop(driver, 6)
        await driver.press("enter")
        await says(driver, "The violation is a finding")
        await driver.snap(snapshots, "tour-finding")


# As data


@pytest.mark.parametrize(
    ("number", "title", "text"),
    [(number, title, step.text) for number, (title, steps) in enumerate(STOPS.items(), 1) for step in steps],
)
def test_what_is_said_fits_into_two_lines_of_a_small_screen(number: int, title: str, text: str):
    assert len(textwrap.wrap(f"f2 TOUR {number}/7  {title}  {text}", SMALL[0] - 2)) <= 2


def test_there_are_seven_stops_and_the_agent_knows_what_they_send():
    sends = [step.send for steps in STOPS.values() for step in steps if step.send and not step.send.answer]
    assert len(STOPS) == 7
    assert {send.text.split()[0] for send in sends} <= {skill.id for skill in BUILT_IN.skills}


@pytest.mark.parametrize(("words", "tour"), [([], True), (["--no-tour"], False)], ids=str)
def test_a_switch_leaves_it_out(words: list[str], tour: bool):
    command = find(["demo"])
    assert command is not None
    assert invocation(command.parser().read(words, {})).options.tour is tour
    assert invocation(main_parser().read([], {})).options.tour
