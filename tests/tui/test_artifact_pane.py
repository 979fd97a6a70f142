"""The artifact pane: parts of every kind, their views, chunks and saving; cases 25 and 26 of hostile input."""

from __future__ import annotations

import asyncio
import base64
import io
import sys
from pathlib import Path
from typing import Any

import pytest
from driving import Driver, Open
from players import begin, playing
from puppets import Call, status, task
from textual.widgets import Input

from inspector.protocol.model import Artifact, Part
from inspector.tui.render import images
from inspector.tui.widgets.artifact_pane import ArtifactPane
from inspector.tui.widgets.document import ImageView

TALL = (120, 50)


def artifact(name: str, *parts: Any, append: bool = False, **more: Any) -> dict[str, Any]:
    whole = {"artifactId": name, "name": name, "parts": list(parts)}
    ids = {"taskId": "task-1", "contextId": "context-1"}
    return {"artifactUpdate": ids | {"artifact": whole, "append": append} | more}


def producing(*events: dict[str, Any]):
    async def answer(call: Call):
        response = await begin(call)
        for event in ({"task": task("WORKING")}, *events, status("COMPLETED")):
            await response.write(call.frame(event))
        await response.write_eof()
        return response

    return answer


async def produced(driver: Driver) -> ArtifactPane:
    await driver.connected()
    await driver.ask("go")
    await driver.press("escape")
    pane = driver.widget("#artifact", ArtifactPane)
    pane.focus_body()
    return pane


def text_of(driver: Driver) -> str:
    """Return the text that the artifact pane displays; the other panes may contain the same words."""
    region = driver.widget("#artifact", ArtifactPane).region
    rows = driver.lines[region.y : region.bottom]
    return "\n".join(row[region.x : region.right] for row in rows)


def picture(width: int, height: int, kind: str = "PNG") -> bytes:
    image = pytest.importorskip("PIL.Image")
    made = io.BytesIO()
    image.new("RGB", (width, height), (200, 30, 60)).save(made, kind)
    return made.getvalue()


def raw(content: bytes, media_type: str = "", filename: str = "") -> dict[str, Any]:
    part = {"raw": base64.b64encode(content).decode(), "mediaType": media_type, "filename": filename}
    return {name: value for name, value in part.items() if value}


@pytest.fixture
def no_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a terminal with 16 colours, which are too few for images."""
    monkeypatch.setenv("TERM", "linux")
    monkeypatch.delenv("COLORTERM")


@pytest.mark.usefixtures("no_images")
async def test_every_part_is_reached_by_key_and_by_mouse(open_app: Open):
    parts = (
        {"text": "hello"},
        {"data": {"unit": "kg"}},
        raw(b"%PDF-1.7 x", "image/png", "f.png"),
        {"url": "http://x/"},
    )
    async with playing(producing(artifact("mix", *parts))) as agent, open_app(agent.url, TALL) as driver:
        pane = await produced(driver)
        assert "all  1 text  2 data  3 f.png  4 url" in driver.screen
        assert "http://x/ (not fetched)" in driver.screen
        await driver.press("right_curly_bracket")
        await driver.until(lambda: "hello" in driver.screen and "not fetched" not in driver.screen)
        await driver.press("right_curly_bracket")
        await driver.until('"unit": "kg"')
        assert "JSON ▾" in driver.line("Artifact")
        await driver.click("3 f.png")
        await driver.until("content is application/pdf")
        assert "10 B (10 bytes)" in driver.screen
        await driver.click("facts ▾")
        await driver.until("25 50 44 46")
        await driver.press("right_curly_bracket")
        await driver.until("not fetched")
        await driver.press(*["left_curly_bracket"] * 4)
        await driver.until("http://x/ (not fetched)")
        assert len(agent.calls) == 2, "the card and the message, and nothing that a part names"
        assert pane.selected_text().startswith("hello")


async def test_several_artifacts_are_gone_through(open_app: Open):
    events = [artifact(f"a{n}", {"text": f"text {n}"}) for n in range(3)]
    async with playing(producing(*events)) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        assert "3 of 3" in driver.line("Artifact")
        await driver.press("greater_than_sign")
        await driver.until("1 of 3")
        assert "text 0" in driver.screen
        await driver.click("1 of 3")
        await driver.until("2 of 3")


async def test_text_is_shown_as_markdown_and_chunk_by_chunk(open_app: Open):
    words = ["# Title\n\n", "Some **bold** ", "Some **bold** ", "words.\n"]
    events = [artifact("r.md", {"text": word}, append=number > 0) for number, word in enumerate(words)]
    async with playing(producing(*events)) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        await driver.until(lambda: "Markdown ▾" in driver.screen and "Some bold Some bold words." in driver.screen)
        assert "# Title" not in driver.screen
        await driver.press("v")
        assert "text ▾" in driver.line("Artifact")
        assert "# Title" in driver.screen
        await driver.press("v")
        await driver.until("chunks ▾")
        rows = [line for line in text_of(driver).splitlines() if "+14" in line or "repeated" in line]
        assert len(rows) == 2
        assert "repeated" in rows[1]
        assert "again" not in rows[0]
        assert "'words.\\n'" in driver.screen
        await driver.press("v")
        await driver.until("Markdown ▾")


@pytest.mark.parametrize(
    ("part", "name", "expected"),
    [
        ({"text": "plain", "mediaType": "text/markdown; charset=utf-8"}, "a", "Markdown"),
        ({"text": "plain", "filename": "NOTES.MD"}, "a", "Markdown"),
        ({"text": "plain"}, "notes.md", "Markdown"),
        ({"text": "Result\n\n## Steps\n"}, "a", "Markdown"),
        ({"text": "See **this** word."}, "a", "Markdown"),
        ({"text": "| a | b |\n|---|---|\n| 1 | 2 |\n"}, "a", "Markdown"),
        ({"text": "#hashtag, 2 * 3 * 4 = 24, a_b_c, C# and # comment"}, "a", "text"),
        ({"text": "All numbers were checked."}, "summary.txt", "text"),
        ({"text": "# Title\n" + "word " * 9_000}, "long.md", "text"),  # more than is shown as Markdown
    ],
)
async def test_markdown_is_rendered_by_default(open_app: Open, part: Any, name: str, expected: str):
    async with playing(producing(artifact(name, part))) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        assert f"{expected} ▾" in driver.line("Artifact")


@pytest.mark.parametrize(
    ("part", "size"),
    [
        ({"data": {"unit": "kg"}}, "content 13 B"),
        ({"url": "http://x/"}, "not fetched"),
        ({"text": "four"}, "content 4 B"),
    ],
)
async def test_the_size_counts_every_kind_of_content(open_app: Open, part: Any, size: str):
    async with playing(producing(artifact("a", part))) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        assert f"{size} ─ 1 chunk" in driver.screen


async def test_the_keys_of_the_artifact_work_from_the_timeline(open_app: Open, tmp_path: Path, monkeypatch: Any):
    monkeypatch.chdir(tmp_path)
    events = [artifact(f"a{n}", {"text": f"text {n}"}, {"data": n}) for n in range(3)]
    async with playing(producing(*events)) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        await driver.press("escape")
        assert driver.timeline.has_focus
        await driver.press("less_than_sign")
        await driver.until("2 of 3")
        await driver.press("right_curly_bracket")
        assert "text ▾" in driver.line("Artifact")
        await driver.press("S")
        await driver.until("all 3 artifacts")


async def test_markdown_grows_while_it_streams(open_app: Open):
    async with playing(producing(artifact("r.md", {"text": "# One\n"}))) as agent, open_app(agent.url, TALL) as driver:
        pane = await produced(driver)
        account = driver.session.tasks.get("task-1").answered
        like = Artifact(artifact_id="r.md", parts=[Part(text="")])
        for number in range(200):
            account.artifacts["r.md"].append_texts(like, (f"\nparagraph *{number}*\n",))
            if number % 20 == 0:
                pane.show(driver.session.tasks.get("task-1"))
        pane.show(driver.session.tasks.get("task-1"))
        await driver.until("paragraph 199")


async def test_what_is_shown_may_be_an_earlier_moment_of_the_task(open_app: Open):
    class Past:
        """What has the attributes of a tracked task, and is none."""

        def __init__(self, task: Any, account: Any) -> None:
            self.id, self.now = task.id, account

    from inspector.protocol.assemble import AssembledTask
    from inspector.protocol.model import Artifact, Part, TaskArtifactUpdateEvent

    event = artifact("r.md", {"text": "the whole text"})
    async with playing(producing(event)) as agent, open_app(agent.url, TALL) as driver:
        pane = await produced(driver)
        tracked = driver.session.tasks.get("task-1")
        earlier = AssembledTask("task-1")
        part = Artifact(artifact_id="r.md", name="r.md", parts=[Part(text="the")])
        earlier.apply(TaskArtifactUpdateEvent(task_id="task-1", artifact=part), 1.0)
        pane.show(Past(tracked, earlier))  # type: ignore[arg-type]
        assert pane.selected_text() == "the"
        pane.show(Past(tracked, AssembledTask("task-1")))  # type: ignore[arg-type]
        assert pane.selected_text() == ""
        pane.show(tracked)
        assert pane.selected_text() == "the whole text"


# Images


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
async def test_an_image_is_drawn_in_half_cells(open_app: Open, kind: str):
    part = raw(picture(40, 20, kind), f"image/{kind.lower()}", f"p.{kind.lower()}")
    async with playing(producing(artifact("p", part))) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        await driver.until("▀▀▀▀▀▀▀▀")
        assert "image ▾" in driver.line("Artifact")
        await driver.press("v")
        await driver.until("40 x 20")


async def test_case_26_an_image_of_too_many_pixels_is_not_decoded(open_app: Open):
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (30_000).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0" + b"\0" * 100
    async with playing(producing(artifact("p", raw(head, "image/png")))) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        await driver.until("30,000 x 30,000 pixels are")
        assert "sha256" in driver.screen


async def test_case_26_an_svg_is_never_drawn_and_nothing_of_it_is_fetched(open_app: Open):
    async with playing() as other:
        svg = f'<svg xmlns="http://www.w3.org/2000/svg"><image href="{other.url}/x.png"/></svg>'.encode()
        event = artifact("p", raw(svg, "image/svg+xml", "p.svg"))
        async with playing(producing(event)) as agent, open_app(agent.url, TALL) as driver:
            await produced(driver)
            await driver.until("sha256")
            assert "image ▾" not in driver.screen
            assert not other.calls


async def test_case_26_bytes_that_are_no_image_say_so(open_app: Open):
    part = raw(b"\x89PNG\r\n\x1a\n" + b"\xff" * 50, "image/png")
    async with playing(producing(artifact("p", part))) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        await driver.until("not drawn")
        assert not driver.widget("#artifact-image", ImageView).display


async def test_without_the_extra_an_image_is_facts(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith("textual_image")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual_image", None)
    images.can_draw.cache_clear()
    try:
        part = raw(b"GIF89a\x07\0\x09\0", "image/gif")
        async with playing(producing(artifact("p", part))) as agent, open_app(agent.url, TALL) as driver:
            await produced(driver)
            await driver.until("7 x 9")
            assert "a2a-inspect[images]" in driver.screen
    finally:
        images.can_draw.cache_clear()


async def test_a_poor_terminal_shows_facts(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")
    part = raw(b"GIF89a\x07\0\x09\0", "image/gif")
    async with playing(producing(artifact("p", part))) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        await driver.until("this terminal has too few colours")


async def test_case_25_a_large_file_is_read_in_a_thread_and_bad_base64_is_said(open_app: Open):
    parts = raw(b"x" * 3_000_000, "application/x", "big"), {"raw": "not base64!", "filename": "bad"}
    async with playing(producing(artifact("p", *parts))) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)
        await driver.press("right_curly_bracket")
        await driver.until("3.0 MB (3,000,000 bytes)")
        await driver.press("right_curly_bracket")
        await driver.until("invalid base64")


# Saving


async def test_artifacts_are_saved_where_the_user_says_and_nothing_is_overwritten_unasked(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    events = [artifact("../../evil.md", {"text": "one"}), artifact("b", {"data": 1})]
    async with playing(producing(*events)) as agent, open_app(agent.url, TALL) as driver:
        await produced(driver)

        async def save(*keys: str) -> None:
            await driver.press("S")
            await driver.until("all 2 artifacts")
            await driver.press(*keys)

        await save()
        for name, why in (("~nosuch/x", "unknown user in path"), ("x" * 300, "File name too long")):
            driver.app.screen.query_one("#field-folder", Input).value = name
            await driver.press("enter", "enter")
            await driver.until(why)
        await driver.press("escape")
        await save("enter", "enter")
        folder = tmp_path / "artifacts" / "task-1"
        await driver.until((folder / "b.json").exists)
        await save("down", "enter", "enter")
        await driver.until("keep both")
        assert "b.json" in driver.line("Files exist")
        await driver.press("enter")
        await driver.until((folder / "evil.md").exists)
        await driver.until((folder / "b-2.json").exists)
        (folder / "b.json").write_text("mine")
        await save("enter", "enter")
        await driver.until("keep both")
        await driver.press("down", "down", "enter")
        await driver.settled()
        assert (folder / "b.json").read_text() == "mine"
        await save("enter", "enter")
        await driver.until("keep both")
        await driver.press("down", "enter")
        await driver.until(lambda: (folder / "b.json").read_bytes() == b"1\n")
        assert sorted(path.name for path in folder.iterdir()) == ["b-2.json", "b.json", "evil.md"]


async def test_a_folder_that_cannot_be_made_is_said(open_app: Open, tmp_path: Path):
    (tmp_path / "file").touch()
    options = {"run": {"notifications": True}}
    async with (
        playing(producing(artifact("a", {"text": "x"}))) as agent,
        open_app(agent.url, TALL, **options) as driver,
    ):
        await produced(driver)
        await driver.press("S", "enter")
        driver.app.screen.query_one("#field-folder").value = str(tmp_path / "file")
        await driver.press("enter")
        await driver.until("Cannot")


_LINES = "".join(f"line {number}\n" for number in range(60))


@pytest.mark.parametrize(
    ("parts", "first"),
    [
        ((raw(b"%PDF-1.7 x", "application/pdf", "first.pdf"), {"text": _LINES}), "│▸ first.pdf"),
        (({"text": _LINES},), "│line 0"),
        (({"text": f"# Heading\n\n```\n{_LINES}```\n", "mediaType": "text/markdown"},), "│Heading"),
    ],
    ids=["several parts", "text", "markdown"],
)
async def test_an_artifact_that_becomes_complete_is_shown_from_its_beginning(open_app: Open, parts: Any, first: str):
    going = asyncio.Event()

    async def answer(call: Call):
        response = await begin(call)
        for event in ({"task": task("WORKING")}, artifact("a", *parts)):
            await response.write(call.frame(event))
        await going.wait()
        await response.write(call.frame(status("COMPLETED")))
        await response.write_eof()
        return response

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.say("go")
        await driver.until(lambda: "line 59" in text_of(driver))
        assert first not in text_of(driver)  # the pane follows the end while the artifact may grow
        going.set()
        await driver.done(1)
        await driver.until(lambda: first in text_of(driver))


@pytest.mark.parametrize(
    "event",
    [
        {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": _LINES}]}},
        status("INPUT_REQUIRED", _LINES),
        artifact("a", {"text": _LINES}, lastChunk=True),
    ],
    ids=["message", "question", "last chunk"],
)
async def test_what_arrives_complete_is_shown_from_its_beginning(open_app: Open, event: dict[str, Any]):
    shown = asyncio.Event()

    async def answer(call: Call):
        response = await begin(call)
        if "message" not in event:
            await response.write(call.frame({"task": task("WORKING")}))
        await response.write(call.frame(event))
        await shown.wait()
        await response.write_eof()
        return response

    async with playing(answer) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.say("go")
        await driver.until(lambda: "│line 0" in text_of(driver))
        shown.set()
        await driver.done(1)
        assert "│line 0" in text_of(driver)
