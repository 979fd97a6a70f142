"""The compose screen: the raw request, its panes and the editor."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pyperclip
import pytest
from aiohttp import web
from composing import opened
from driving import Open
from players import playing
from puppets import Call
from stream_servers import serving_bytes
from textual.widgets import OptionList, TextArea

from inspector.capture.records import Kind
from inspector.protocol.errors import FaultError
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft, text_part
from inspector.tui.compose.outline import OutlineView
from inspector.tui.compose.preview import PreviewPane
from inspector.tui.screens.compose import ComposeScreen
from inspector.tui.widgets.composer import Destination
from inspector.tui.widgets.message_area import MOST

NOTED = {"notifications": True}


def raw_text(screen: ComposeScreen) -> str:
    raw = screen.query_one(PreviewPane).raw
    assert raw is not None
    return raw.text


# The request


async def test_the_preview_equals_the_sent_request(open_app: Open, mock: str):
    async with open_app(mock, (120, 50)) as driver:
        screen = await opened(driver, text_draft("preview me"))
        call = screen.built.call
        assert call is not None
        seen = call.preview()
        await driver.until('"text": "preview me"')
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        request = driver.records(Kind.REQUEST)[-1]
        assert request.raw == seen.body  # type: ignore[union-attr]
        assert [tuple(header) for header in request.meta["headers"]] == list(seen.headers)  # type: ignore[union-attr]
        assert request.meta["url"] == seen.url  # type: ignore[union-attr]


async def test_an_invalid_raw_request_is_sent_unchanged(open_app: Open):
    got: list[tuple[str, bytes, str]] = []

    async def answer(call: Call) -> web.Response:
        got.append((call.request.method, call.body, call.request.headers.get("X-Odd", "")))
        return web.Response(status=400, text="no")

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.until("POST")
        await driver.press("f3")
        await driver.until("raw: sent as shown")
        area = screen.query_one("#preview-raw", TextArea)
        area.text = area.text.split("\n\n")[0] + '\nX-Odd: yes\n\n{"jsonrpc": "2.0", broken'
        await driver.press("ctrl+s")
        await driver.until(lambda: got)
        assert got == [("POST", b'{"jsonrpc": "2.0", broken', "yes")]
        request = driver.records(Kind.REQUEST)[-1]
        assert request.meta["deliberate"][0] == "raw request"
        assert request.raw == b'{"jsonrpc": "2.0", broken'


async def test_a_text_that_is_not_a_request_is_rejected_and_kept(open_app: Open, mock: str):
    async with open_app(mock, (120, 40), run=NOTED) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.until("POST")
        await driver.press("f3")
        screen.query_one("#preview-raw", TextArea).text = "nonsense"
        await driver.press("ctrl+s")
        await driver.until("The first line must be a method and a URL")
        assert driver.sent() == []
        assert driver.app.screen is screen
        assert raw_text(screen) == "nonsense"
        await driver.press("f3")
        await driver.until(lambda: screen.query_one(PreviewPane).raw is None)


async def test_a_raw_request_contains_what_was_just_typed_and_is_indented(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("half"))
        await driver.until("POST")
        await driver.press("enter", "end")
        await driver.pilot.press(*"way", "f3")
        await driver.until("raw: sent as shown")
        text = raw_text(screen)
        assert '\n        {\n          "text": "halfway"\n        }\n' in text
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        assert driver.records(Kind.REQUEST)[-1].raw.decode() == text.partition("\n\n")[2]


async def test_a_request_that_is_not_edited_is_sent_compactly(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await opened(driver, text_draft("x"))
        await driver.until("POST")
        await driver.press("f3", "f3", "ctrl+s")
        await driver.until(driver.sent)
        request = driver.records(Kind.REQUEST)[-1]
        assert b"\n" not in request.raw
        assert "raw request" not in request.meta.get("deliberate", ())


async def test_a_part_can_be_edited_beside_a_raw_request(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.press("f3")
        await driver.until("raw: sent as shown")
        assert "─ Part 1 ─" not in driver.screen
        await driver.press("escape", "enter", "y")
        await driver.until("─ Part 1 ─")
        assert screen.draft.parts[0].value == "xy"
        await driver.press("tab", "tab", "tab", "tab")
        assert driver.app.focused is screen.query_one("#preview-raw")


async def test_a_change_of_the_message_is_written_into_a_raw_request_that_is_not_edited(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.press("f3")
        await driver.until("raw: sent as shown")
        await driver.press("escape", "enter", "y")
        await driver.until(lambda: '"text": "xy"' in raw_text(screen))
        assert not driver.app.screen.query("Toast")


async def test_a_raw_request_of_a_message_that_became_invalid_is_not_sent(open_app: Open, mock: str):
    async with open_app(mock, (120, 40), run={"notifications": True}) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.press("f3")
        await driver.until("raw: sent as shown")
        await driver.press("escape", "delete")
        await driver.until(lambda: not screen.draft.parts)
        await driver.press("ctrl+s")
        await driver.until("Not sent")
        assert not driver.sent()


async def test_a_change_of_the_message_is_not_in_an_edited_request_which_is_shown_once(open_app: Open, mock: str):
    async with open_app(mock, (120, 40), run={"notifications": True}) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.press("f3", "z")
        await driver.until("raw: sent as shown")
        await driver.press("escape", "enter", "y")
        await driver.until("sent without this change")
        assert screen.draft.parts[0].value == "xy"
        assert '"text": "x"' in raw_text(screen)
        await driver.press("y")
        await driver.until(lambda: screen.draft.parts[0].value == "xyy")
        await driver.settled()
        assert len(driver.app.screen.query("Toast")) == 1


async def test_the_keys_of_the_screen_work_in_the_raw_request(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.press("f3")
        await driver.until("raw: sent as shown")
        text = raw_text(screen)
        await driver.press("f6", "z")
        assert raw_text(screen) == f"z{text}", "no line was selected, which a key replaces"
        await driver.press("f7")
        await driver.until("─ Part 1 ─")
        assert " Raw request " in driver.lines[0], "the request that is sent is not that of the part"


async def test_a_discarded_raw_request_is_restored_by_undo(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.press("f3")
        await driver.type("nonsense ")
        await driver.press("f3")
        assert screen.query_one(PreviewPane).raw is None
        await driver.until("Undo: discard the edited request")
        await driver.press("ctrl+z")
        assert raw_text(screen).startswith("nonsense POST ")


async def test_an_edited_raw_request_is_kept_when_the_screen_is_left(open_app: Open, mock: str):
    async with open_app(mock, (120, 40), run=NOTED) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.until("POST")
        await driver.press("f3")
        area = screen.query_one("#preview-raw", TextArea)
        area.text = area.text.replace("SendStreamingMessage", "Nothing")
        await driver.press("f4")
        await driver.until("The edited request is for")
        await driver.press("escape", "escape")
        await driver.until("The edited request is kept")
        await driver.press("ctrl+o")
        await driver.until("raw: sent as shown")
        await driver.press("ctrl+s")
        await driver.until(driver.sent)
        request = driver.records(Kind.REQUEST)[-1]
        assert b'"method": "Nothing"' in request.raw
        connection = driver.session.connection
        assert connection is not None and connection.choice is not None
        with pytest.raises(FaultError, match="raw request"):
            driver.session.send_again(request.seq, connection.choice)


async def test_an_edited_raw_request_that_could_not_be_sent_is_kept(open_app: Open):
    async with playing() as agent, open_app(agent.url, (120, 40)) as driver:
        screen = await opened(driver, text_draft("x"))
        await driver.until("POST")
        await driver.press("f3")
        area = screen.query_one("#preview-raw", TextArea)
        area.text = f"POST http://127.0.0.1:1/\n\n{area.text.partition('{')[2]}"
        edited = area.text
        await driver.press("ctrl+s")
        await driver.until(lambda: driver.records(Kind.REQUEST) and not driver.session.journal.exchanges.open)
        await driver.until(lambda: driver.composer.text == "x")
        await driver.press("ctrl+o")
        await driver.until("raw: sent as shown")
        assert isinstance(driver.app.screen, ComposeScreen)
        assert raw_text(driver.app.screen) == edited


async def test_sending_once_without_streaming_does_not_change_the_setting(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await opened(driver, text_draft("echo x"))
        await driver.press("ctrl+b")
        await driver.done()
        assert driver.sent()[-1]["method"] == "SendMessage"
        assert driver.composer.stream


async def test_a_narrow_screen_names_the_panes_that_are_not_shown(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("ctrl+o")
        await driver.until("Part 1 ─ text")
        await driver.until("Outline   Part 1   Request")
        assert "esc outline" in driver.lines[-1]
        await driver.click("Outline")
        await driver.until("accepted output modes")
        assert "esc Chat" in driver.lines[-1]
        await driver.click("Request    ")
        await driver.until("POST http")
        await driver.press("escape")
        await driver.until("accepted output modes")


async def test_sending_once_with_the_other_setting_is_in_the_actions_menu_and_the_palette(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("escape", "a")
        await driver.until("enter choose")
        assert "without streaming" not in driver.screen
        await driver.press("escape", "i")
        await driver.type("hello")
        titles = {command.title for command in driver.app.get_system_commands(driver.app.screen)}
        assert "Send without streaming" in titles
        await driver.press("escape", "a", "end")
        await driver.until("Send the written message without streaming")
        await driver.click("Send the written message without streaming")
        await driver.done()
        assert [request["method"] for request in driver.sent()] == ["SendMessage"]
        assert driver.composer.is_blank


async def test_panes_are_shown_one_at_a_time_on_a_narrow_screen(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        screen = await opened(driver, Draft((text_part("one"), text_part("two"))))

        def panes() -> list[str]:
            titles = ("Message outline", "Part 1 ─", "Request ─ 1.0")
            return [title for title in titles if title in driver.screen]

        assert panes() == ["Message outline"]
        await driver.press("up", "up")
        assert screen.query_one(OutlineView).part == 0, "headings are skipped"
        await driver.press("enter")
        await driver.until(lambda: panes() == ["Part 1 ─"])
        for _ in range(3):
            await driver.press("tab")
        assert panes() == ["Part 1 ─"]
        await driver.press("tab")
        await driver.until(lambda: panes() == ["Request ─ 1.0"])
        await driver.press("tab")
        await driver.until(lambda: panes() == ["Message outline"])
        await driver.press("shift+tab", "shift+tab")
        await driver.until(lambda: panes() == ["Part 1 ─"])
        await driver.press("f8")
        await driver.until(lambda: panes() == ["Request ─ 1.0"])
        await driver.press("escape")
        await driver.until(lambda: panes() == ["Message outline"])
        screen.query_one(OutlineView).go_to("id")
        await driver.until("To send the same message again")
        assert screen.draft.message_id in driver.screen


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
        assert screen.built.call is not None and screen.built.call.exchange.context.dialect.version == "0.3"


async def test_the_request_is_copied_in_every_format(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    copied: list[str] = []
    async with open_app(mock, (120, 40), bearer="sesame-street") as driver:
        monkeypatch.setattr(pyperclip, "copy", copied.append)
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


@pytest.mark.parametrize(
    ("bearer", "title"), [("sesame-street", "─ Copy as (contains your credentials) ─"), ("", "─ Copy as ─")]
)
async def test_the_copy_menu_mentions_credentials_only_if_there_are_any(
    open_app: Open, mock: str, bearer: str, title: str
):
    async with open_app(mock, (120, 40), bearer=bearer) as driver:
        await opened(driver, text_draft("hello"))
        await driver.until("POST")
        await driver.press("f5")
        await driver.until(title)


async def test_the_empty_metadata_of_a_part_is_shown_as_none(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await opened(driver, text_draft("hello"))
        await driver.until("none (a JSON object)")


# The editor and sizes


async def test_one_key_leaves_the_task(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("form")
        await driver.until("Reply to task")
        await driver.press("ctrl+r")
        assert driver.composer.destination == Destination(chosen=True)
        assert "Reply to task" not in driver.screen


async def test_the_editor_writes_the_text(open_app: Open, mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A test app cannot suspend, which is reported; the e2e tests use a pseudo-terminal."""
    monkeypatch.setenv("EDITOR", "true")
    async with open_app(mock, run=NOTED) as driver:
        await driver.connected()
        await driver.write()
        await driver.type("kept")
        await driver.press("ctrl+g")
        await driver.until("cannot run an editor")
        assert driver.composer.text == "kept"


async def test_a_text_of_the_editor_can_be_undone_and_be_longer_than_the_area(
    open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch
):
    written = ["from the editor", "x" * (MOST + 1)]
    monkeypatch.setattr("inspector.tui.widgets.composer.edit", lambda *_: written.pop(0))
    async with open_app(mock, run=NOTED) as driver:
        await driver.connected()
        await driver.write()
        await driver.type("kept")
        await driver.press("ctrl+g")
        assert driver.composer.text == "from the editor"
        await driver.press("ctrl+z")
        assert driver.composer.text == "kept"
        await driver.press("ctrl+g")
        assert driver.composer.text == "", "a part that is too long is not edited in the area"
        assert [len(part.value) for part in driver.composer.draft.parts] == [MOST + 1]


@pytest.mark.parametrize(
    ("command", "text", "problem"),
    [
        ('"vi', "kept", "cannot be read: No closing quotation"),
        (" ", "kept", "cannot run an editor"),
        ("true", "half \ud800", "half of a surrogate pair"),
    ],
)
async def test_a_text_that_cannot_be_edited_is_kept_and_the_reason_reported(
    open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch, command: str, text: str, problem: str
):
    monkeypatch.setenv("EDITOR", command)
    monkeypatch.delenv("VISUAL", raising=False)
    async with open_app(mock, run=NOTED) as driver:
        await driver.connected()
        await driver.write()
        driver.composer.fill(text)
        await driver.press("ctrl+g")
        await driver.until(lambda: any(problem in notice.message for notice in driver.app._notifications))
        assert driver.composer.text == text


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_compose_screen_shows_parts_options_and_the_request(open_app: Open, mock: str, size: tuple[int, int]):
    draft = Draft((text_part("Summarise this."), DraftPart(PartKind.DATA, '{"lines": 5}')), message_id="m-1")
    async with open_app(mock, size) as driver:
        await opened(driver, draft)
        assert "1 text    Summ" in driver.screen
        assert "2 data" in driver.screen
        title = "Request ─ 1.0 · JSONRPC ─ "
        assert (title in driver.screen) == (size[0] > 80)
        if size[0] < 100:
            await driver.press("f8")
        await driver.until(title)
        widest = max(map(len, driver.lines))
        assert widest <= size[0]


async def test_the_upload_progress_of_a_large_message_is_shown(open_app: Open, tmp_path: Path):
    file = tmp_path / "large.bin"
    with file.open("wb") as content:
        content.truncate(30_000_000)
    reading = asyncio.Event()
    got = 0

    async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal got
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            card = json.dumps(CARD | {"url": f"http://{place}/"}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(card), card))
        else:
            await reading.wait()
            while got < 40_000_000:
                got += len(await reader.read(1 << 20))
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with serving_bytes(slowly) as place, open_app(f"http://{place}", (120, 40)) as driver:
        await driver.connected()
        await driver.write()
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
