"""The guided tour of the demo: its steps, keys, focus and texts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pytest
from driving import Driver, Open
from inspector.sample_agents.scenario.catalog import BUILT_IN
from snapshots import Snapshots
from textual import events

from inspector.capture.records import Kind
from inspector.cli.arguments import invocation
from inspector.cli.commands import find, main_parser
from inspector.tui.demo_agent import DemoAgent
from inspector.tui.screens.connect import DEMO
from inspector.tui.screens.translate import TranslateScreen
from inspector.tui.tour_steps import BROKEN, STOPS
from inspector.tui.views.agent import AgentView
from inspector.tui.views.base import View
from inspector.tui.views.findings import FindingsView
from inspector.tui.widgets.feed import Feed
from inspector.tui.widgets.tour import Tour

SMALL, NORMAL = (80, 24), (120, 40)
TOUR = {"demo": True, "tour": True}


class RunningDemoAgent:
    """The agent of the demo in a process that several apps use; each test of this module has its own session."""

    def __init__(self, agent: DemoAgent) -> None:
        self._agent = agent

    def url(self) -> str:
        return self._agent.url()

    def stop(self) -> None:
        """Leave the process running for the next test."""


@pytest.fixture(scope="module")
def demo_agent() -> Iterator[RunningDemoAgent]:
    agent = DemoAgent()
    yield RunningDemoAgent(agent)
    agent.stop()


@pytest.fixture(autouse=True)
def one_demo_agent(demo_agent: RunningDemoAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start one agent for all tests of this module."""
    monkeypatch.setattr("inspector.tui.app.DemoAgent", lambda: demo_agent)


def strip(driver: Driver) -> Tour:
    return driver.widget("Tour", Tour)


def on_tour(driver: Driver) -> bool:
    return bool(driver.app.screen.query("Tour"))


def selected(driver: Driver) -> str:
    """Return the event or the kind of the selected record of the current view."""
    record = driver.widget(f"#{driver.workbench.view}", View).selected_record()
    return "" if record is None else record.event or record.kind


async def shows(driver: Driver, text: str) -> None:
    """Wait until a text is in the tour, regardless of line breaks."""
    await driver.until(lambda: on_tour(driver) and text in strip(driver).render().plain)


async def begun(driver: Driver) -> None:
    await driver.connected()
    await driver.until("TOUR 1/7  Card")


async def to_stop(driver: Driver, number: int) -> None:
    await begun(driver)
    await driver.press(*["pagedown"] * (number - 1))
    await driver.until(f"TOUR {number}/7")


async def test_enter_runs_the_whole_tour_on_a_small_screen(open_app: Open):
    async with open_app(None, SMALL, **TOUR) as driver:
        await begun(driver)
        assert driver.line("enter").startswith(" enter show it as JSON   pgdn next stop   ← back   esc leave")
        await driver.press("enter")
        await shows(driver, "The card as it was served")
        assert driver.widget("#agent", AgentView).section == "raw"
        await driver.until('"supportedInterfaces": [')

        await driver.press("enter", "enter")
        await shows(driver, "One request, one response.")
        assert (driver.workbench.view, selected(driver)) == ("chat", "message")
        assert [request["method"] for request in driver.sent()] == ["SendMessage"]

        await driver.press("enter", "enter")
        await shows(driver, "they are one artifact")
        assert selected(driver) == "artifact"
        assert "20 chunks" in driver.line("artifact  report.md")

        await driver.press("enter", "enter")
        await driver.until("There is one at 18:00 and one at 20:30. Which do you want?")
        await shows(driver, "The agent asks.")
        await driver.press("enter")
        await shows(driver, "two requests, one task, one history")
        asked, answered = driver.session.tasks.all()[0], driver.sent()[-1]["params"]["message"]
        assert (answered["taskId"], asked.now.state) == (asked.id, "TASK_STATE_COMPLETED")

        await driver.press("enter")
        await driver.until("not listening")
        await driver.press("enter")
        await shows(driver, "Each row is a delivery")
        assert (driver.workbench.view, selected(driver)) == ("webhooks", "status")
        assert {record.event for record in driver.records(Kind.DELIVERY)} >= {"status", "artifact"}

        await driver.press("enter", "enter")
        await shows(driver, "The violation is a finding")
        assert driver.workbench.view == "findings"
        assert list(driver.session.journal.found) == [BROKEN]
        assert not driver.session.push.on

        await driver.press("enter", "enter")
        await shows(driver, "The same message in A2A 0.3")
        assert (driver.sent()[-1]["method"], selected(driver)) == ("message/stream", "request")
        await driver.press("enter")
        await driver.until("Received: 0.3")
        assert isinstance(driver.app.screen, TranslateScreen)
        assert "Left: as received. Right: the same object in A2A 1.0." in driver.screen
        await driver.press("enter")
        await shows(driver, "This is the end of the tour;")
        assert driver.enabled("pagedown") is None

        await driver.press("enter")
        await driver.until(lambda: not on_tour(driver))
        assert driver.app.focused is driver.timeline


async def test_stops_can_be_skipped_and_revisited_and_start_at_their_first_step(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await begun(driver)
        for number, (title, steps) in enumerate(STOPS.items(), 1):
            await driver.until(f"TOUR {number}/7  {title}")
            assert driver.workbench.view == steps[0].view
            assert strip(driver).has_focus
            await driver.press("pagedown")
        assert "TOUR 7/7" in driver.screen
        await driver.press(*["left"] * 5, "right")
        await shows(driver, "One request, one response.")
        await driver.press("left")
        await shows(driver, "A client sends a message.")
        await driver.press("left", "right")
        assert driver.widget("#agent", AgentView).section == "raw"
        await driver.press("left")
        await driver.until(lambda: driver.widget("#agent", AgentView).section == "card")
        assert len(driver.sent()) == 1


async def test_after_leaving_the_tour_stays_closed_until_f2(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 3)
        await driver.press("escape")
        assert not on_tour(driver)
        assert driver.app.focused is driver.timeline
        driver.app.open(DEMO)
        await driver.connected()
        await driver.settled()
        assert not on_tour(driver)
        await driver.press("f2")
        await driver.until("TOUR 1/7")
        assert strip(driver).has_focus


async def test_tour_keys_are_inactive_while_a_view_is_focused(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 2)
        await driver.press("f2")
        assert driver.app.focused is driver.timeline
        await driver.press("i")
        await driver.type("ban ")
        assert driver.composer.text == "ban "
        assert "f2 TOUR 2/7" in driver.screen
        await driver.press("f2", "pagedown")
        await driver.until("TOUR 3/7")


async def test_sending_the_message_manually_advances_the_tour_and_keeps_the_focus(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 2)
        await driver.press("f2")
        await driver.ask("echo from my own hands")
        await shows(driver, "One request, one response.")
        assert driver.composer.query_one("#text").has_focus
        assert len(driver.sent()) == 1


async def test_pressing_enter_repeatedly_sends_once(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 3)
        for _ in range(3):  # without waiting between them: the call is over after a second
            driver.app.post_message(events.Key("enter", None))
        await shows(driver, "they are one artifact")
        assert len(driver.sent()) == 1


async def test_the_tour_can_be_used_with_the_mouse(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 2)
        await driver.click('send "echo')
        await shows(driver, "One request, one response.")
        await driver.press("f2")
        assert not strip(driver).has_focus
        await driver.click("TOUR")
        assert strip(driver).has_focus
        await driver.click("esc leave")
        assert not on_tour(driver)


async def test_tour_messages_do_not_depend_on_earlier_settings(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 7)
        await driver.press("enter")
        await shows(driver, "The same message in A2A 0.3")
        await driver.press("p")
        await driver.until(lambda: driver.session.push.on)
        await driver.press(*["left"] * 6, "enter")
        await shows(driver, "One request, one response.")
        assert driver.sent()[-1]["method"] == "SendMessage"
        assert "taskPushNotificationConfig" not in str(driver.sent()[-1])
        assert driver.session.choice.dialect.version == "1.0"


async def test_the_finding_of_the_tour_is_selected(open_app: Open):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 6)
        await driver.press("enter")
        await shows(driver, "The violation is a finding")
        assert driver.widget("#findings", FindingsView).selected_text().startswith("A chunk was appended")
        assert driver.widget("#rules", Feed).cursor == 0


async def test_other_agents_have_no_tour(open_app: Open, mock: str):
    async with open_app(mock, tour=True) as driver:
        await driver.connected()
        assert driver.enabled("f2") is None
        assert "tour" not in str([command.title for command in driver.app.get_system_commands(driver.workbench)])
        await driver.press("f2")
        assert not on_tour(driver)


async def test_the_tour_ends_when_another_agent_is_opened(open_app: Open, mock: str):
    async with open_app(None, **TOUR) as driver:
        await to_stop(driver, 2)
        demo = driver.session
        driver.app.open(mock)
        await driver.until(lambda: driver.app.session not in (None, demo))  # the demo's workbench is shown until then
        await driver.connected()
        assert not on_tour(driver)
        assert driver.enabled("f2") is None


async def test_the_demo_of_the_connect_screen_starts_the_tour_and_a_demo_without_tour_offers_it(open_app: Open):
    async with open_app(None, tour=True) as driver:
        await driver.until("Connect to an agent")
        await driver.press("enter")
        await begun(driver)
    async with open_app(None, demo=True) as driver:
        await driver.connected()
        assert not on_tour(driver)
        [begin] = [
            command for command in driver.app.get_system_commands(driver.workbench) if "guided tour" in command.title
        ]
        begin.callback()
        await begun(driver)


async def test_two_stops_match_their_pictures(open_app: Open, snapshots: Snapshots):
    async with open_app(None, SMALL, **TOUR) as driver:
        await to_stop(driver, 2)
        await driver.press("enter")
        await shows(driver, "One request, one response.")
        await driver.snap(snapshots, "tour-message")
    async with open_app(None, NORMAL, **TOUR) as driver:
        await to_stop(driver, 6)
        await driver.press("enter")
        await shows(driver, "The violation is a finding")
        await driver.snap(snapshots, "tour-finding")


# As data


@pytest.mark.parametrize(
    ("number", "title", "text"),
    [(number, title, step.text) for number, (title, steps) in enumerate(STOPS.items(), 1) for step in steps],
)
def test_every_text_fits_into_two_lines_of_a_small_screen(number: int, title: str, text: str):
    assert len(textwrap.wrap(f"f2 TOUR {number}/7  {title}  {text}", SMALL[0] - 2)) <= 2


def test_there_are_seven_stops_and_the_mock_agent_supports_their_messages():
    sends = [step.send for steps in STOPS.values() for step in steps if step.send and not step.send.answer]
    assert len(STOPS) == 7
    assert {send.text.split()[0] for send in sends} <= {skill.id for skill in BUILT_IN.skills}


@pytest.mark.parametrize(("words", "tour"), [([], True), (["--no-tour"], False)], ids=str)
def test_the_switch_no_tour_disables_the_tour(words: list[str], tour: bool):
    command = find(["demo"])
    assert command is not None
    assert invocation(command.parser().read(words, {})).options.tour is tour
    assert invocation(main_parser().read([], {})).options.tour
