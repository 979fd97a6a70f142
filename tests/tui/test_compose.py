"""The composer and its screen: text, parts, options."""

from __future__ import annotations

from pathlib import Path

import pytest
from composing import kinds, opened, parts_of
from driving import Open
from textual import events
from textual.binding import Binding
from textual.widgets import Input, TextArea

from inspector.capture.records import Kind
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft, text_part
from inspector.tui.compose.outline import OutlineView
from inspector.tui.compose.part_editor import PartEditor
from inspector.tui.views.chat import ChatView
from inspector.tui.widgets.message_area import dragged_file
from inspector.tui.widgets.verbatim_area import VerbatimDocument

NOTED = {"notifications": True}
EXACT = "a < b & c\tend \r\n\x0b\x0c\x1c\x85 \u2028\u2029 👩‍👩‍👧 é\n\n"
"""Characters that text areas of Textual convert to newlines, and that other programs trim, escape or combine."""


# Text


@pytest.mark.parametrize("pasted", [EXACT, "x", "\u2028", "\n", "a\r\nb\r\n", " "])
async def test_a_pasted_text_is_sent_unchanged(open_app: Open, mock: str, pasted: str):
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
    document = VerbatimDocument("one\u2028two\nthree\r")
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


async def test_a_pasted_text_of_5_mb_becomes_a_part_and_is_sent_completely(open_app: Open, mock: str):
    text = "0123456789" * 500_000
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.write()
        await driver.type("see: ")
        driver.app.post_message(events.Paste(text))
        await driver.until("with  see: 0123456789")
        assert driver.composer.text == ""
        driver.app.post_message(events.Paste("y\n" * 50_000))
        await driver.until(lambda: driver.composer.text == "y\n" * 50_000)
        driver.composer.query_one("#text", TextArea).text = ""
        await driver.type("and this")
        await driver.press("ctrl+o")
        await driver.until("Message outline")
        await driver.press("down")
        await driver.until("5,000,005 characters, too many to edit here")
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        assert parts_of(driver) == [{"text": "and this"}, {"text": f"see: {text}"}]


async def test_a_part_with_the_same_content_as_the_text_is_kept_when_the_text_is_too_long(open_app: Open, mock: str):
    text = "x" * 300_000
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.write()
        await driver.type("1")
        driver.composer.add_part(DraftPart(PartKind.DATA, "1"))
        driver.app.post_message(events.Paste(text))
        await driver.until("with  1xxx")
        await driver.press("enter")
        await driver.until(driver.sent)
        assert parts_of(driver) == [{"text": f"1{text}"}, {"data": 1, "mediaType": "application/json"}]


# Parts


async def test_parts_are_added_moved_duplicated_and_removed_by_keys(open_app: Open, mock: str):
    async with open_app(mock, (120, 40), run=NOTED) as driver:
        screen = await opened(driver, text_draft("one"))
        await driver.press("insert", "enter")
        await driver.type("two")
        assert kinds(screen) == [("text", "one"), ("text", "two")]
        await driver.press("escape", "K")
        assert kinds(screen) == [("text", "two"), ("text", "one")]
        await driver.press("D")
        assert kinds(screen) == [("text", "two"), ("text", "two"), ("text", "one")]
        await driver.press("J")
        assert kinds(screen) == [("text", "two"), ("text", "one"), ("text", "two")]
        await driver.press("delete")
        assert kinds(screen) == [("text", "two"), ("text", "one")]
        await driver.press("delete", "delete")
        assert kinds(screen) == []
        await driver.until("A message needs at least one part.")
        await driver.press("ctrl+s")
        await driver.until("Not sent")
        assert driver.sent() == []


# Undo


async def test_changes_of_parts_are_undone_in_reverse_order(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, Draft((text_part("one"), text_part("two"))))
        assert not driver.enabled("ctrl+z")
        await driver.press("D", "J", "delete", "delete")
        assert kinds(screen) == [("text", "one")]
        await driver.until("Undo: remove part 2 (^z)")
        expected = [
            ["one", "two"],
            ["one", "two", "one"],
            ["one", "one", "two"],
            ["one", "two"],
        ]
        for texts in expected:
            await driver.press("ctrl+z")
            assert [value for _, value in kinds(screen)] == texts
        assert not driver.enabled("ctrl+z")
        assert "Undo:" not in driver.screen


async def test_undo_concerns_the_typed_text_first_and_then_the_parts(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, Draft((text_part("one"), text_part("two"))))
        await driver.press("delete", "enter")
        assert kinds(screen) == [("text", "two")]
        await driver.press("end", "!", "ctrl+z")
        await driver.until(lambda: kinds(screen) == [("text", "two")])
        await driver.press("ctrl+z")
        await driver.until(lambda: kinds(screen) == [("text", "one"), ("text", "two")])


async def test_a_cleared_part_and_a_changed_option_are_restored(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, Draft((text_part("one two three"), text_part("x")), tenant="acme"))
        await driver.press("enter", "ctrl+e", "ctrl+u", "f7")
        assert kinds(screen) == [("text", ""), ("text", "x")]
        screen.query_one(OutlineView).go_to("blocking")
        await driver.press("escape", "enter")
        assert not screen.draft.blocking
        await driver.press("ctrl+z")
        assert screen.draft.blocking
        await driver.press("ctrl+z")
        assert kinds(screen) == [("text", "one two three"), ("text", "x")]


async def test_undo_is_a_click_on_its_name(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("one"))
        await driver.press("delete")
        await driver.click("Undo: remove part 1")
        await driver.until(lambda: kinds(screen) == [("text", "one")])


async def test_an_empty_composer_shows_what_the_message_starts(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.until("─ New task ─")
        assert driver.composer.size.height == 1


async def test_a_replaced_text_of_the_composer_is_restored(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.write()
        await driver.type("typed")
        driver.composer.fill("an example")
        await driver.until(lambda: driver.composer.text == "an example")
        await driver.press("ctrl+z")
        assert driver.composer.text == "typed"


async def test_every_command_of_the_screen_is_in_the_palette_while_text_is_typed(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, Draft((text_part("one"), text_part("two"))))
        await driver.press("enter")
        found = {command.title for command in driver.app.get_system_commands(screen)}
        bindings = [binding for binding in screen.BINDINGS if isinstance(binding, Binding)]
        not_now = {"Undo the last change", "Send with streaming", "Show the request", "Show the message"}
        not_now |= {"Discard the raw request, and use the message", "Go back to Chat; the message is kept"}
        assert {binding.tooltip for binding in bindings} - found == not_now


async def test_the_path_of_a_file_is_completed_and_its_bytes_are_sent(open_app: Open, mock: str, tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "report.pdf").write_bytes(b"%PDF\0\xff")
    (tmp_path / "folder" / "results").mkdir()
    (tmp_path / "folder" / ".hidden").write_bytes(b"")
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("see"))
        await driver.press("ctrl+n", "down", "enter")
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


async def test_a_path_is_completed_although_the_files_for_it_are_not_listed_yet(
    open_app: Open, mock: str, tmp_path: Path
):
    for name in ("apple.txt", "apricot.txt", "banana.txt"):
        (tmp_path / name).write_bytes(b"x")
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("see"))
        await driver.press("ctrl+n", "down", "enter")
        field = driver.app.screen.query_one("#part-path", Input)
        field.value = f"{tmp_path}/"
        await driver.until("apricot.txt   1 B")
        field.value = f"{tmp_path}/b"
        field.post_message(Input.Submitted(field, field.value))
        await driver.until(lambda: field.value == f"{tmp_path}/banana.txt")
        await driver.until(lambda: screen.draft.parts[1].value == f"{tmp_path}/banana.txt")
        field.focus()
        field.value = f"{tmp_path}/a"
        screen.query_one(PartEditor).action_complete()
        assert field.value == f"{tmp_path}/ap"


async def test_a_file_that_cannot_be_sent_is_reported_and_the_draft_is_kept(
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
        await driver.until("there.txt could not be read: No such file or")
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


async def test_each_part_has_its_own_media_type_name_and_metadata(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await opened(driver, Draft((text_part("# hi"), DraftPart(PartKind.LINK, "https://a.example/b.png"))))
        editor = driver.app.screen.query_one(PartEditor)
        editor.query_one("#part-media_type", Input).value = "text/markdown"
        editor.query_one("#part-metadata", Input).value = '{"a": [1'
        await driver.until("The metadata ")
        editor.query_one("#part-metadata", Input).value = '{"a": [1]}'
        await driver.press("f7")
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
def test_a_dragged_file_path_is_recognised(tmp_path: Path, spelled: str):
    file = tmp_path / "a.txt"
    file.write_text("x")
    assert dragged_file(spelled.format(file)) == str(file)


@pytest.mark.parametrize(
    "text", ["", "hello", "/", "/etc", "/no/such/file", "'/unfinished", "~nobody-of-this-name/x", "/a\nb"]
)
def test_other_text_is_not_a_dragged_file(text: str):
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
            "params": "X-Trace: 7; X-More: a b; q=0.5; X-Last: 1;",
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
        assert (headers["A2A-Extensions"], headers["X-Trace"], headers["X-Last"]) == ("urn:ext", "7", "1")
        assert headers["X-More"] == "a b; q=0.5", "a value may contain a semicolon"
        assert any("does not declare the extension urn:ext" in words for words in request.meta["deliberate"])


async def test_bad_values_are_refused_in_the_form(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("x"))
        for key, bad, said in (
            ("metadata", "[1]", "Enter a JSON object; this is an array."),
            ("metadata", "{", "ends within an object"),
            ("history", "-1", "Enter a number or leave the field empty."),
            ("params", "nothing", "does not have the form Name: value"),
            ("params", "X: é", "a header cannot contain"),
        ):
            screen.query_one(OutlineView).go_to(key)
            screen.query_one(OutlineView).focus()
            await driver.press("enter")
            driver.app.screen.query(Input).last().value = bad
            await driver.press("enter")
            await driver.until(said)
            await driver.press("escape")
        assert (screen.draft.metadata, screen.draft.history_length, screen.draft.svc_params) == ("", None, ())


async def test_task_and_context_are_selected_from_a_list(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("report 2")
        task = driver.session.tasks.all()[0]
        screen = await opened(driver, text_draft("x"))
        screen.query_one(OutlineView).go_to("task")
        await driver.press("enter", "down", "enter")
        await driver.until(lambda: screen.draft.task_id == task.id)
        assert screen.draft.context_id == task.now.context_id
        await driver.until("The task is completed and accepts no more messages")
        await driver.press("ctrl+s")
        await driver.done(2)
        assert driver.sent()[-1]["params"]["message"]["taskId"] == task.id
        request = driver.records(Kind.REQUEST)[-1]
        assert any("completed" in words for words in request.meta["deliberate"])
        driver.app.screen.query_one(ChatView).show_seq(request.seq)
        await driver.until("deliberate")


async def test_the_id_of_a_sent_message_is_reused_for_a_retry(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("echo once")
        first = driver.sent()[-1]["params"]["message"]["messageId"]
        screen = await opened(driver, text_draft("echo once"))
        screen.query_one(OutlineView).go_to("id")
        await driver.press("enter")
        await driver.until("retry of echo once")
        await driver.press("down", "down", "enter")
        await driver.until(lambda: screen.draft.message_id == first)
        await driver.press("ctrl+s")
        await driver.done(2)
        assert driver.sent()[-1]["params"]["message"]["messageId"] == first


async def test_the_other_parts_use_the_width_of_the_composer_and_share_it_if_they_are_long(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.go(2)
        text = " ".join(f"word-{number}" for number in range(11))
        driver.composer.add_part(DraftPart(PartKind.DATA, text))
        driver.composer.add_part(DraftPart(PartKind.FILE, "/tmp/a.txt"))
        await driver.until(f"with  {text}   a.txt")
        driver.composer.add_part(DraftPart(PartKind.DATA, "x" * 500))
        await driver.until("x" * 39 + "…")
        await driver.pilot.resize_terminal(200, 40)
        await driver.until(f"with  {text}   a.txt   " + "x" * 90)  # the short parts leave the rest to the long part
