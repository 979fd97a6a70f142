"""The composer and its screen: parts, options, the request by hand, snippets, what was sent before, drafts."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path

import pytest
from aiohttp import web
from driving import Driver, Open
from players import playing
from puppets import Call
from textual import events
from textual.widgets import Input, OptionList, TextArea

from inspector.capture.records import Kind
from inspector.protocol.errors import FaultError
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft, text_part
from inspector.tui.compose.outlineview import OutlineView
from inspector.tui.compose.parteditor import PartEditor
from inspector.tui.compose.preview import PreviewPane
from inspector.tui.places.talk import Talk
from inspector.tui.screens.compose import ComposeScreen
from inspector.tui.screens.workbench import WorkbenchScreen
from inspector.tui.widgets.composer import Aim, dragged_file
from inspector.tui.widgets.exactarea import ExactDocument

NOTED = {"notifications": True}
EXACT = "a < b & c\tend \r\n\x0b\x0c\x1c\x85 \u2028\u2029 👩‍👩‍👧 é\n\n"
"""What a text area of Textual's would make newlines of, and what others trim, escape or put together."""


async def opened(driver: Driver, draft: Draft | None = None) -> ComposeScreen:
    """Open the screen over a draft."""
    await driver.connected()
    await driver.go(2)
    if draft is not None:
        driver.composer.take(draft)
    await driver.press("ctrl+o")
    await driver.until("COMPOSE")
    screen = driver.app.screen
    assert isinstance(screen, ComposeScreen)
    return screen


def kinds(screen: ComposeScreen) -> list[tuple[str, str]]:
    return [(str(part.kind), part.value) for part in screen.draft.parts]


def parts_of(driver: Driver) -> list[dict[str, object]]:
    found: list[dict[str, object]] = driver.sent()[-1]["params"]["message"]["parts"]
    return found


# Text


@pytest.mark.parametrize("pasted", [EXACT, "x", "\u2028", "\n", "a\r\nb\r\n", " "])
async def test_a_text_is_sent_as_it_was_pasted(open_app: Open, mock: str, pasted: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        driver.app.post_message(events.Paste(pasted))
        await driver.until(lambda: driver.composer.text == pasted)
        await driver.type("z")
        await driver.press("enter")
        await driver.until(driver.sent)
        assert parts_of(driver) == [{"text": pasted + "z"}]


def test_an_exact_document_is_edited_without_making_lines_of_other_characters():
    document = ExactDocument("one\u2028two\nthree\r")
    assert document.text == "one\u2028two\nthree\r"
    assert document.replace_range((0, 3), (1, 0), "\x85\n\n").end_location == (2, 0)
    assert document.text == "one\x85\n\nthree\r"
    assert document.replace_range((2, 5), (2, 6), "").replaced_text == "\r"
    assert document.text == "one\x85\n\nthree"


async def test_what_a_terminal_pastes_with_returns_becomes_lines(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        driver.app.post_message(events.Paste("one\rtwo"))
        await driver.until(lambda: driver.composer.text == "one\ntwo")


async def test_five_megabytes_that_are_pasted_are_a_part_of_their_own_and_are_sent_whole(open_app: Open, mock: str):
    text = "0123456789" * 500_000
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.type("see: ")
        driver.app.post_message(events.Paste(text))
        await driver.until("with  see: 0123456789")
        assert driver.composer.text == ""
        driver.app.post_message(events.Paste("y\n" * 50_000))
        await driver.until(lambda: driver.composer.text == "y\n" * 50_000)
        driver.composer.query_one("#text", TextArea).text = ""
        await driver.type("and this")
        await driver.press("ctrl+o")
        await driver.until("COMPOSE")
        await driver.press("down")
        await driver.until("5,000,005 characters, too many to be edited here")
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        assert parts_of(driver) == [{"text": "and this"}, {"text": f"see: {text}"}]


# Parts


async def test_parts_are_added_moved_doubled_and_removed_by_keys(open_app: Open, mock: str):
    async with open_app(mock, (120, 40), run=NOTED) as driver:
        screen = await opened(driver, text_draft("one"))
        await driver.press("ctrl+o", "enter")
        await driver.type("two")
        assert kinds(screen) == [("text", "one"), ("text", "two")]
        await driver.press("escape", "K")
        assert kinds(screen) == [("text", "two"), ("text", "one")]
        await driver.press("D")
        assert kinds(screen) == [("text", "two"), ("text", "two"), ("text", "one")]
        await driver.press("J")
        assert kinds(screen) == [("text", "two"), ("text", "one"), ("text", "two")]
        await driver.press("x")
        assert kinds(screen) == [("text", "two"), ("text", "one")]
        await driver.press("x", "x")
        assert kinds(screen) == []
        await driver.until("A message has at least one part.")
        await driver.press("ctrl+s")
        await driver.until("Not sent")
        assert driver.sent() == []
        await driver.press("u", "u", "u")
        assert kinds(screen) == [("text", "two"), ("text", "one"), ("text", "two")]
        assert not driver.enabled("u")
        await driver.press("u")
        assert len(kinds(screen)) == 3


async def test_the_path_of_a_file_is_completed_and_its_bytes_are_sent(open_app: Open, mock: str, tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "report.pdf").write_bytes(b"%PDF\0\xff")
    (tmp_path / "folder" / "results").mkdir()
    (tmp_path / "folder" / ".hidden").write_bytes(b"")
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("see"))
        await driver.press("ctrl+o", "down", "enter")
        driver.app.screen.query_one("#part-path", Input).value = f"{tmp_path}/fo"
        await driver.until("folder/   folder")
        await driver.press("enter")
        await driver.until("report.pdf   6 B")
        assert ".hidden" not in driver.screen
        await driver.press("tab")
        await driver.until(lambda: screen.draft.parts[1].value == f"{tmp_path}/folder/re")
        await driver.press("down", "down", "enter")
        await driver.until(lambda: screen.draft.parts[1].value == f"{tmp_path}/folder/report.pdf")
        await driver.until("application/pdf")
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        assert parts_of(driver)[1] == {"raw": "JVBERgD/", "filename": "report.pdf", "mediaType": "application/pdf"}


async def test_a_file_that_cannot_be_sent_is_said_beside_it_and_nothing_is_lost(
    open_app: Open, mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    file = Path("there.txt")
    file.write_text("x")
    parts = (text_part("see"), DraftPart(PartKind.FILE, "there.txt"), DraftPart(PartKind.DATA, '{"a":\n 1,}'))
    async with open_app(mock, (120, 40), run=NOTED) as driver:
        screen = await opened(driver, Draft(parts))
        file.unlink()
        await driver.press("ctrl+s")
        await driver.until("Not sent")
        await driver.press("down")
        await driver.until("at line 2 column 4")
        assert screen.draft.parts == parts
        await driver.press("up")
        await driver.until("there.txt could not be read: No such file or directory.")
        file.write_text("y")
        await driver.press("down", "enter")
        area = driver.app.screen.query_one("#part-text", TextArea)
        area.text = '{"a": 1}'
        await driver.press("alt+j")
        assert area.text == '{\n  "a": 1\n}'
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        assert parts_of(driver)[1:] == [
            {"raw": "eQ==", "filename": "there.txt", "mediaType": "text/plain"},
            {"data": {"a": 1}, "mediaType": "application/json"},
        ]


async def test_media_type_name_and_metadata_of_a_part_are_its_own(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await opened(driver, Draft((text_part("# hi"), DraftPart(PartKind.LINK, "https://a.example/b.png"))))
        editor = driver.app.screen.query_one(PartEditor)
        editor.query_one("#part-media_type", Input).value = "text/markdown"
        editor.query_one("#part-metadata", Input).value = '{"a": [1'
        await driver.until("The metadata:")
        editor.query_one("#part-metadata", Input).value = '{"a": [1]}'
        await driver.press("ctrl+n")
        await driver.until("image/png")
        editor.query_one("#part-filename", Input).value = "c.png"
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        assert parts_of(driver) == [
            {"text": "# hi", "mediaType": "text/markdown", "metadata": {"a": [1]}},
            {"url": "https://a.example/b.png", "filename": "c.png", "mediaType": "image/png"},
        ]


@pytest.mark.parametrize(
    "spelled", ["{}", "'{}'", '"{}"', "file://{}", " {}\n"], ids=["plain", "quoted", "double", "url", "spaces"]
)
def test_a_file_that_is_dragged_onto_the_terminal_is_known(tmp_path: Path, spelled: str):
    file = tmp_path / "a.txt"
    file.write_text("x")
    assert dragged_file(spelled.format(file)) == str(file)


@pytest.mark.parametrize(
    "text", ["", "hello", "/", "/etc", "/no/such/file", "'/unfinished", "~nobody-of-this-name/x", "/a\nb"]
)
def test_other_text_is_no_dragged_file(text: str):
    assert dragged_file(text) == ""


async def test_a_dragged_file_becomes_a_part(open_app: Open, mock: str, tmp_path: Path):
    file = tmp_path / "a b.txt"
    file.write_text("x")
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        driver.app.post_message(events.Paste(str(file).replace(" ", "\\ ")))
        await driver.until("with  a b.txt")
        await driver.type("what is this?")
        await driver.press("enter")
        await driver.until(driver.sent)
        assert [sorted(part) for part in parts_of(driver)] == [["text"], ["filename", "mediaType", "raw"]]
        await driver.until(lambda: "with  a b.txt" not in driver.screen)


# Options


async def test_every_option_is_set_in_a_form_and_sent(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("x"))

        async def fill(key: str, value: str) -> None:
            screen.query_one(OutlineView).go_to(key)
            screen.query_one(OutlineView).focus()
            await driver.press("enter")
            await driver.until(lambda: driver.app.screen is not screen)
            driver.app.screen.query(Input).last().value = value
            driver.app.screen.query(Input).last().focus()
            await driver.press("enter")
            await driver.until(lambda: driver.app.screen is screen)

        for key, value in {
            "references": "t-1, t-2",
            "extensions": "urn:ext",
            "metadata": '{"m": 1}',
            "request_metadata": '{"r": 2}',
            "modes": "text/html",
            "history": "3",
            "tenant": "acme",
            "params": "X-Trace: 7; X-More: a b",
        }.items():
            await fill(key, value)
        screen.query_one(OutlineView).go_to("id")
        await driver.press("enter", "end", "enter")
        await driver.type("message-7")
        await driver.press("enter")
        await driver.until(lambda: driver.app.screen is screen)
        screen.query_one(OutlineView).go_to("blocking")
        await driver.press("enter")
        screen.query_one(OutlineView).go_to("stream")
        await driver.press("enter", "ctrl+s")
        await driver.until(driver.sent)
        call = driver.sent()[-1]
        assert call["method"] == "SendMessage"
        message, configuration = call["params"]["message"], call["params"]["configuration"]
        assert message["referenceTaskIds"] == ["t-1", "t-2"]
        assert (message["extensions"], message["metadata"], message["messageId"]) == (
            ["urn:ext"],
            {"m": 1},
            "message-7",
        )
        assert (call["params"]["metadata"], call["params"]["tenant"]) == ({"r": 2}, "acme")
        assert configuration == {"acceptedOutputModes": ["text/html"], "historyLength": 3, "returnImmediately": True}
        request = driver.records(Kind.REQUEST)[-1]
        headers = dict(request.meta["headers"])
        assert (headers["A2A-Extensions"], headers["X-Trace"], headers["X-More"]) == ("urn:ext", "7", "a b")
        assert any("does not offer urn:ext" in words for words in request.meta["deliberate"])


async def test_bad_values_are_refused_in_the_form(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("x"))
        for key, bad, said in (
            ("metadata", "[1]", "An object is due, this is an array."),
            ("metadata", "{", "breaks off in an object"),
            ("history", "-1", "A number from 0 is due."),
            ("params", "nothing", "no name and value"),
            ("params", "X: é", "no header can carry"),
        ):
            screen.query_one(OutlineView).go_to(key)
            screen.query_one(OutlineView).focus()
            await driver.press("enter")
            driver.app.screen.query(Input).last().value = bad
            await driver.press("enter")
            await driver.until(said)
            await driver.press("escape")
        assert (screen.draft.metadata, screen.draft.history_length, screen.draft.svc_params) == ("", None, ())


async def test_task_and_context_are_picked_from_those_that_are_known(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        task = driver.session.tasks.all()[0]
        screen = await opened(driver, text_draft("x"))
        screen.query_one(OutlineView).go_to("task")
        await driver.press("enter", "down", "enter")
        await driver.until(lambda: screen.draft.task_id == task.id)
        assert screen.draft.context_id == task.now.context_id
        await driver.until("This task is completed: it takes no more messages")
        await driver.press("ctrl+s")
        await driver.done(2)
        assert driver.sent()[-1]["params"]["message"]["taskId"] == task.id
        request = driver.records(Kind.REQUEST)[-1]
        assert any("completed" in words for words in request.meta["deliberate"])
        driver.app.screen.query_one(Talk).show_seq(request.seq)
        await driver.until("on purpose")


async def test_the_id_of_a_message_that_was_sent_is_taken_again_for_a_retry(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("echo once")
        first = driver.sent()[-1]["params"]["message"]["messageId"]
        screen = await opened(driver, text_draft("echo once"))
        screen.query_one(OutlineView).go_to("id")
        await driver.press("enter")
        await driver.until("sent with echo once: a retry")
        await driver.press("down", "down", "enter")
        await driver.until(lambda: screen.draft.message_id == first)
        await driver.press("ctrl+s")
        await driver.done(2)
        assert driver.sent()[-1]["params"]["message"]["messageId"] == first


# The request


async def test_what_is_shown_is_what_goes_out(open_app: Open, mock: str):
    async with open_app(mock, (120, 50)) as driver:
        screen = await opened(driver, text_draft("preview me"))
        turn = screen._turn
        assert turn is not None
        seen = turn.preview()
        await driver.until('"text": "preview me"')
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        request = driver.records(Kind.REQUEST)[-1]
        assert request.raw == seen.body  # type: ignore[union-attr]
        assert [tuple(one) for one in request.meta["headers"]] == list(seen.headers)  # type: ignore[union-attr]
        assert request.meta["url"] == seen.url  # type: ignore[union-attr]


async def test_a_request_is_written_by_hand_wrong_on_purpose_and_sent_so(open_app: Open):
    got: list[tuple[str, bytes, str]] = []

    async def answer(call: Call) -> web.Response:
        got.append((call.request.method, call.body, call.request.headers.get("X-Odd", "")))
        return web.Response(status=400, text="no")

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.until("POST")
        await driver.press("f3")
        await driver.until("BY HAND")
        area = screen.query_one("#preview-raw", TextArea)
        area.text = area.text.split("\n\n")[0] + '\nX-Odd: yes\n\n{"jsonrpc": "2.0", broken'
        await driver.press("ctrl+s")
        await driver.until(lambda: got)
        assert got == [("POST", b'{"jsonrpc": "2.0", broken', "yes")]
        request = driver.records(Kind.REQUEST)[-1]
        assert request.meta["deliberate"][0] == "written by hand"
        assert request.raw == b'{"jsonrpc": "2.0", broken'


async def test_a_text_that_is_no_request_is_refused_and_kept(open_app: Open, mock: str):
    async with open_app(mock, (120, 40), run=NOTED) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.until("POST")
        await driver.press("f3")
        screen.query_one("#preview-raw", TextArea).text = "nonsense"
        await driver.press("f3")
        await driver.until("F3 again drops what was written by hand.")
        await driver.press("ctrl+s")
        await driver.until("The first line says a method and a url")
        assert driver.sent() == []
        assert driver.app.screen is screen
        assert screen.query_one(PreviewPane).by_hand == "nonsense"
        await driver.press("f3")
        await driver.until(lambda: screen.query_one(PreviewPane).by_hand is None)


async def test_what_is_written_by_hand_is_not_dropped_unasked_nor_said_in_another_way(open_app: Open, mock: str):
    async with open_app(mock, (120, 40), run=NOTED) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.until("POST")
        await driver.press("f3")
        area = screen.query_one("#preview-raw", TextArea)
        area.text = area.text.replace("SendStreamingMessage", "Nothing")
        await driver.press("f4")
        await driver.until("F3 first")
        await driver.press("escape", "escape")
        await driver.until("Escape again drops")
        assert driver.app.screen is screen
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        request = driver.records(Kind.REQUEST)[-1]
        connection = driver.session.connection
        assert connection is not None and connection.choice is not None
        with pytest.raises(FaultError, match="written by hand"):
            driver.session.send_again(request.seq, connection.choice)


async def test_another_interface_changes_the_request(open_app: Open, mock: str):
    async with open_app(mock, (120, 50)) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.until('"SendStreamingMessage"')
        await driver.press("f4")
        listed = driver.app.screen.query_one(OptionList)
        index = next(i for i in range(listed.option_count) if "0.3" in str(listed.get_option_at_index(i).prompt))
        listed.highlighted = index
        await driver.press("enter")
        await driver.until('"message/stream"')
        assert screen._turn is not None and screen._turn.exchange.call.dialect.generation == "0.3"


async def test_it_is_copied_in_every_form(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    copied: list[str] = []
    async with open_app(mock, (120, 40), bearer="sesame-street") as driver:
        monkeypatch.setattr(driver.app, "copy", copied.append)
        await opened(driver, text_draft("it's"))
        await driver.until("POST")
        for form in range(4):
            await driver.press("f5", *["down"] * form, "enter")
            await driver.until(lambda form=form: len(copied) == form + 1)
        assert "sesame-street" not in driver.screen
    curl, httpx, http, body = copied
    assert curl.startswith("curl ") and "Authorization: Bearer sesame-street" in curl
    assert httpx.startswith("import httpx") and "sesame-street" in httpx
    assert http.startswith("POST ") and http.endswith(body)
    assert json.loads(body)["params"]["message"]["parts"] == [{"text": "it's"}]


# Sent before, snippets, drafts


async def test_what_was_sent_is_found_edited_and_sent_again(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("echo the first")
        await driver.ask("echo the second")
        await driver.press("ctrl+up")
        await driver.until("SENT BEFORE")
        await driver.until("echo the first")
        await driver.type("first")
        await driver.until(lambda: "echo the second" not in "\n".join(driver.lines[10:30]))
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, WorkbenchScreen))
        assert driver.composer.text == "echo the first"
        ids = [call["params"]["message"]["messageId"] for call in driver.sent()]
        await driver.press("ctrl+up")
        await driver.until("SENT BEFORE")
        await driver.until("echo the second")
        await driver.press("ctrl+s")
        await driver.done(3)
        again = driver.sent()[-1]["params"]["message"]
        assert again["parts"] == [{"text": "echo the second"}]
        assert again["messageId"] not in ids


async def test_what_was_sent_is_no_snippet_and_what_was_written_is_not_lost(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("echo {{literally}}")
        await driver.type("half a word")
        await driver.press("ctrl+up")
        await driver.until("SENT BEFORE")
        await driver.until("echo {{literally}}")
        await driver.press("enter")
        await driver.until(lambda: driver.composer.text == "echo {{literally}}")
        await driver.press("ctrl+up")
        await driver.until("half a word")


async def test_a_snippet_is_saved_asked_about_and_filled_in(
    open_app: Open, mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("city", "Basel")
    async with open_app(mock, (120, 40)) as driver:
        await opened(driver, text_draft("go to {{city}} by {{means}}"))
        for _ in range(2):
            await driver.press("f9")
            await driver.until("SAVE AS A SNIPPET")
            driver.app.screen.query_one(Input).value = "trip"
            await driver.press("enter")
            await driver.until((tmp_path / "trip.a2a.toml").exists)
        await driver.until("trip.a2a.toml exists; enter again replaces it")
        await driver.press("enter", "escape")
        await driver.until(lambda: isinstance(driver.app.screen, WorkbenchScreen))
        driver.composer.take(None)
        await driver.press("ctrl+up")
        await driver.until("trip")
        await driver.press("enter")
        await driver.until("VARIABLES")
        await driver.until("Basel")
        await driver.press("enter")
        await driver.type("train")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, WorkbenchScreen))
        assert driver.composer.text == "go to Basel by train"


async def test_a_draft_survives_and_is_gone_once_it_is_sent(open_app: Open, mock: str, home: Path):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.type("half a sent")
        await driver.until(lambda: [*(home / "state" / "drafts").glob("*.toml")])
        kept = next((home / "state" / "drafts").glob("*.toml"))
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.until(lambda: driver.composer.text == "half a sent")
        await driver.go(2)
        await driver.press("enter")
        await driver.done()
        await driver.until(lambda: not kept.exists())


async def test_the_form_that_the_agent_gave_is_filled_in_and_sent_as_data(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("form")
        await driver.until("alt+i opens its form")
        task = driver.composer.aim.task_id
        await driver.press("alt+i")
        await driver.until("FORM: what the agent asks for")
        await driver.type("Ada")
        await driver.press("enter", "enter", "enter", "enter")
        await driver.until("City is required.")
        await driver.press("shift+tab", "shift+tab")
        await driver.type("Bern")
        await driver.press("enter", "enter", "enter")
        await driver.until('with  { "name": "Ada"')
        await driver.press("enter")
        await driver.done(2)
        message = driver.sent()[-1]["params"]["message"]
        assert message["taskId"] == task
        assert message["parts"][0]["data"] == {"name": "Ada", "city": "Bern", "express": False, "parcels": 1}
        await driver.until("● completed")


async def test_leaving_the_task_is_one_key(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("form")
        await driver.until("the agent asks")
        await driver.press("ctrl+r")
        assert driver.composer.aim == Aim()
        assert "the agent asks" not in driver.screen


async def test_the_editor_writes_the_text(open_app: Open, mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The pilot has no terminal to give away, which is said; the real one is tried in a pseudo-terminal."""
    monkeypatch.setenv("EDITOR", "true")
    async with open_app(mock, run=NOTED) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.type("kept")
        await driver.press("ctrl+g")
        await driver.until("cannot be given to another program")
        assert driver.composer.text == "kept"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_screen_of_a_message(open_app: Open, mock: str, size: tuple[int, int]):
    draft = Draft((text_part("Summarise this."), DraftPart(PartKind.DATA, '{"lines": 5}')), message_id="m-1")
    async with open_app(mock, size) as driver:
        await opened(driver, draft)
        assert "1 text      Summ" in driver.screen
        assert "2 data" in driver.screen
        assert ("REQUEST   1.0" in driver.screen) == (size[0] > 80)
        if size[0] < 100:
            await driver.press("f8")
        await driver.until("REQUEST   1.0")
        widest = max(map(len, driver.lines))
        assert widest <= size[0]


async def test_it_is_shown_how_far_a_large_message_is_on_its_way(open_app: Open, tmp_path: Path):
    file = tmp_path / "large.bin"
    with file.open("wb") as content:
        content.truncate(30_000_000)
    reading = asyncio.Event()
    got = 0

    async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal got
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            card = json.dumps(CARD | {"url": f"http://127.0.0.1:{port}/"}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(card), card))
        else:
            await reading.wait()
            while got < 40_000_000:
                got += len(await reader.read(1 << 20))
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(slowly, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, open_app(f"http://127.0.0.1:{port}", (120, 40)) as driver:
        await driver.connected()
        await driver.go(2)
        driver.composer.take(Draft((DraftPart(PartKind.FILE, str(file)),)))
        await driver.press("ctrl+s")
        await driver.until("of 40 MB")
        assert "░" in driver.line("of 40 MB")
        reading.set()
        await driver.until(lambda: "of 40 MB" not in driver.screen)
        assert got >= 40_000_000
        record = driver.records(Kind.REQUEST)[-1]
        assert len(record.raw) < 1_000


CARD = {
    "protocolVersion": "0.3.0",
    "name": "Slow",
    "description": "Reads slowly.",
    "version": "1",
    "preferredTransport": "JSONRPC",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["*/*"],
    "defaultOutputModes": ["text/plain"],
    "skills": [],
}
