"""The composer of the Chat view: nothing that was typed is lost, and its keys."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack

from driving import Open
from players import playing
from puppets import Call, task
from textual import events
from textual.widgets import Static

from inspector.capture.paths import state_folder
from inspector.capture.records import Kind
from inspector.session.compose.draft import text_draft
from inspector.tui.views.chat import ChatView
from inspector.tui.widgets.message_area import MessageArea

# Nothing that was typed is lost


async def test_a_message_that_could_not_be_sent_is_back_in_the_composer(open_app: Open):
    async with AsyncExitStack() as running:
        agent = await running.enter_async_context(playing())
        async with open_app(agent.url, (120, 40)) as driver:
            await driver.connected()
            await running.aclose()
            await driver.ask("a long message")
            assert "problem:" in driver.screen
            assert driver.composer.text == "a long message"
            await driver.type("another")
            assert driver.composer.text == "another", "the text is selected, so that typing replaces it"
            await driver.press("ctrl+z", "ctrl+z")
            assert driver.composer.text == "a long message"


async def test_the_next_step_is_visible_after_a_long_error(open_app: Open):
    async def answer(call: Call):
        return call.error(-32603, "Traceback " + "x" * 5000)

    async with playing(answer) as agent, open_app(agent.url, (100, 30)) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.until("Check the log of the agent.")


async def test_a_problem_that_is_cut_off_ends_with_an_ellipsis(open_app: Open):
    async with playing() as agent, open_app(agent.url, (80, 24)) as driver:
        await driver.connected()
        await driver.press("2")
        driver.composer.problem = "one more problem. " * 20
        await driver.settled()
        assert "…" not in driver.widget("#destination", Static).visual.plain
        driver.composer.problem = "one more problem. " * 40
        await driver.settled()
        assert driver.widget("#destination", Static).visual.plain.endswith("…")
        assert driver.widget("#destination", Static).size.height == 6
        assert driver.widget("#text", MessageArea).size.height == 1


async def test_the_error_of_a_call_does_not_cover_the_chat_that_shows_it(open_app: Open):
    async def answer(call: Call):
        failed = call.rpc["method"] == "CancelTask"
        return call.error(-32002, "not now") if failed else call.result({"task": task("WORKING")})

    async with playing(answer) as agent, open_app(agent.url, (120, 40), run={"notifications": True}) as driver:
        await driver.connected()
        await driver.ask("go")
        await driver.press("escape", "x")
        await driver.until("Cancel the task")
        await driver.press("enter")
        await driver.until("problem: The task cannot be canceled (")
        await driver.settled()
        assert not driver.app._notifications
        await driver.go(3)
        await driver.press("x")
        await driver.until("Cancel task")
        await driver.press("enter")
        await driver.until(lambda: driver.app._notifications)


async def test_chat_without_a_connection_names_the_key_to_connect(open_app: Open):
    async with open_app("http://127.0.0.1:9", (100, 30)) as driver:
        await driver.until("try again")
        await driver.go(2)
        await driver.until("No agent is connected. Press o to connect to one.")


async def test_a_new_task_is_started_in_the_timeline(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("ask")
        await driver.until("Reply to task")
        await driver.press("escape")
        await driver.press("ctrl+r")
        await driver.until("New task")
        await driver.ask("echo fresh")
        assert {"taskId", "contextId"}.isdisjoint(driver.sent()[1]["params"]["message"])


async def test_a_message_that_the_agent_rejects_is_kept_unless_another_was_begun(open_app: Open):
    go = asyncio.Event()

    async def answer(call: Call):
        await go.wait()
        return call.error(-32602, "no such colour")

    async with playing(answer) as agent, open_app(agent.url, (120, 40), run={"notifications": True}) as driver:
        await driver.connected()
        await driver.say("paint it")
        await driver.until(driver.sent)
        await driver.type("next")
        go.set()
        await driver.until("The message that was not sent")
        assert driver.composer.text == "next"


async def test_an_unsent_message_is_offered_to_the_next_session_with_the_agent(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.write()
        await driver.type("later")
        session = driver.session
        driver.app.open(mock)
        await driver.until(lambda: driver.app.session not in (None, session))
        await driver.connected()
        await driver.go(2)
        await driver.until("Unsent message: later   ^↑ restores it")
        assert driver.composer.text == ""
        await driver.press("ctrl+up")
        assert driver.composer.text == "later"
        await driver.until(lambda: "Unsent message" not in driver.screen)


async def test_a_message_is_kept_if_the_app_ends_while_it_is_written(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.write()
        await driver.until(lambda: driver.composer._saved_draft is not None)
        await driver.type("last words")
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.until("Unsent message: last words")


async def test_a_sent_message_is_not_offered_if_the_app_ends_at_once(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.write()
        await driver.until(lambda: driver.composer._saved_draft is not None)
        drafts = state_folder() / "drafts"
        await driver.type("echo sent")
        await driver.until(lambda: drafts.exists() and any(drafts.iterdir()))
        await driver.press("enter")
        await driver.until(lambda: driver.composer.text == "")
    assert not any(drafts.iterdir())


async def test_a_key_that_is_pressed_twice_sends_the_message_once(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.write()
        await driver.type("echo once")
        driver.composer.action_send()
        driver.composer.action_send()  # before the message of the first is handled
        await driver.done()
        await driver.ask("echo next")
        texts = [body["params"]["message"]["parts"][0]["text"] for body in driver.sent()]
        assert texts == ["echo once", "echo next"]


async def test_another_message_hides_the_offer_and_the_unsent_message_stays_in_the_history(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.go(2)
        driver.workbench.chat.composer.offer_draft(text_draft("from before"))
        await driver.until("Unsent message: from before")
        await driver.press("i")
        await driver.type("new")
        await driver.until(lambda: "Unsent message" not in driver.screen)
        await driver.press("ctrl+u", "up")
        await driver.until("from before")


async def test_readline_keys_work_on_the_whole_line(open_app: Open, mock: str):
    line = "word " * 60
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        await driver.go(2)
        driver.composer.fill(f"first\n{line}")
        await driver.press("ctrl+a", *"ab", "ctrl+e", *"yz")
        assert driver.composer.text == f"first\nab{line}yz"
        await driver.press("left", "ctrl+u")
        assert driver.composer.text == "first\nz"
        await driver.press("ctrl+k")
        assert driver.composer.text == "first\n"


async def test_the_selected_row_is_copied_in_another_form_from_the_timeline(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape")
        assert driver.timeline.has_focus
        assert driver.enabled("Y")
        for key in ("up", "Y"):  # without waiting between them
            driver.app.post_message(events.Key(key, None))
        await driver.until("─ Copy #")
        await driver.until("curl command")
        await driver.press("escape")
        record = driver.widget("#chat", ChatView).selected_record()
        assert record is not None
        assert record.seq < driver.records(Kind.FRAME)[-1].seq


async def test_the_actions_and_the_help_are_in_the_footer_of_a_narrow_timeline(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape")
        await driver.until(lambda: driver.lines[-1].endswith("a actions   ? help"))


async def test_the_message_is_composed_and_the_actions_are_shown_from_the_timeline(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape")
        assert driver.timeline.has_focus
        await driver.press("ctrl+o")
        await driver.until("Message outline")
        await driver.press("escape", "escape")
        await driver.until("Timeline")
        await driver.press("escape", "a")
        await driver.until("Add or remove a bookmark")


async def test_the_question_and_its_key_fit_in_one_line_of_a_narrow_screen(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        await driver.ask("ask")
        line = driver.line("   ^r new task")
        assert "There is one at 18:00 and one at 20:30. Which do you want?   ^r new task" in line


async def test_a_paste_goes_into_the_message_from_the_timeline(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        assert driver.timeline.has_focus
        driver.app.post_message(events.Paste("pasted text"))
        await driver.until(lambda: driver.composer.text == "pasted text")
        assert driver.composer.has_focus_within


async def test_the_selected_question_is_shown_in_full_and_the_keys_of_views_are_not_typed(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        await driver.ask("ask")
        await driver.press("escape")
        assert re.search(r"There is one at 18:00 and one at +│\n│▌ +20:30. Which do you want\?", driver.screen)
        await driver.press("3", "2", "5")
        assert driver.workbench.view == "traffic"
        assert driver.composer.text == ""


async def test_a_notification_does_not_cover_what_is_typed(open_app: Open, mock: str):
    async with open_app(mock, (80, 24), run={"notifications": True}) as driver:
        await driver.connected()
        await driver.write()
        await driver.press(*"typed")
        driver.app.notify("A notification.\nIt has two lines.", timeout=60)
        await driver.until("It has two lines.")
        assert driver.place("It has two lines.")[1] < 8
        assert re.search(r"typed +│$", driver.line("typed"))
