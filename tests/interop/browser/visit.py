"""Visit `a2a-inspect web` with Chromium; prints what was seen as JSON. Runs in an environment with Playwright.

visit.py journey URL OTHER PICTURE    use the app, and try to reach it from the page OTHER
visit.py picture URL PICTURE          only send a message and take a picture
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Error, Page, WebSocket, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 30.0
SIZE = {"width": 1200, "height": 740}
REBOUND = "rebound.example"
"""A name that the browser resolves to this machine; it resolves no other name."""
ARGUMENTS = (
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader"),
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
_SEQUENCES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
_CONNECT = """address => new Promise(resolve => {
  const socket = new WebSocket(address);
  socket.onopen = () => resolve("open");
  socket.onerror = () => resolve("refused");
})"""


class Tab:
    """A tab with the app: its page, and the text that the app sent to its terminal."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.requested: list[str] = []
        self.errors: list[str] = []
        self._sent = b""
        page.on("request", lambda request: self.requested.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("websocket", self._listen)
        page.goto(url)

    def _listen(self, socket: WebSocket) -> None:
        self._sent = b""
        socket.on("framereceived", self._take)

    def _take(self, frame: str | bytes) -> None:
        self._sent += frame if isinstance(frame, bytes) else b""

    @property
    def text(self) -> str:
        """All text that the app has drawn, in the order of drawing."""
        return _SEQUENCES.sub(b"", self._sent).decode("utf-8", "replace")

    def until(self, what: str | Callable[[], Any]) -> None:
        """Wait until a text was drawn, or a condition is true."""
        deadline = time.monotonic() + SECONDS
        while not (what in self.text if isinstance(what, str) else what()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not seen: {what}; drawn: {self.text[-3000:]}; errors: {self.errors}")
            self.page.wait_for_timeout(50)

    def press(self, key: str, what: str) -> None:
        """Press a key, and wait until a text is drawn after that."""
        self.forget()
        self.page.keyboard.press(key)
        self.until(what)

    def forget(self) -> None:
        """Forget what was drawn until now."""
        self._sent = b""

    def send(self, text: str, answer: str) -> None:
        """Write a message in the Chat view, send it, and wait for a text of the answer."""
        self.until("connected")
        self.press("2", "Press i to write a message")
        self.press("i", "enter send")
        self.page.keyboard.type(text)
        self.until(text[-3:])
        self.press("Enter", answer)


@contextmanager
def browsing():
    """Yield the browser of this system."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise SystemExit(
            f"No browser was found: install one of {', '.join(PROGRAMS)}, for example apt-get install chromium."
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*ARGUMENTS])
        yield browser
        browser.close()


def journey(browser: Browser, url: str, other: str, picture: str) -> dict[str, Any]:
    """Use the app as a person would, and return what was seen."""
    seen: dict[str, Any] = {}
    context = browser.new_context(viewport=SIZE)
    tab = Tab(context.new_page(), url)
    tab.send("echo typed in a browser", "←  message")
    tab.page.screenshot(path=picture)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.press("Escape", "i: write")
    tab.press("y", "clipboard of the browser")
    seen["clipboard"] = tab.page.evaluate("navigator.clipboard.readText()")
    tab.page.set_viewport_size({"width": 1600, "height": 900})
    tab.until(lambda: tab.page.evaluate("document.querySelector('.xterm-screen').clientWidth") > SIZE["width"])
    seen["font"] = tab.page.evaluate("document.fonts.check('16px \"Roboto Mono\"')")
    seen |= attack(browser, url, other)
    tab.page.keyboard.press("Control+q")
    tab.page.get_by_text("a2a-inspect has ended.").wait_for()
    tab.forget()
    tab.page.get_by_role("button", name="Start again").click()
    tab.until("connected")
    seen |= {"requested": tab.requested, "errors": tab.errors}
    seen["full"] = context.new_page().goto(url).text()
    return seen


def attack(browser: Browser, url: str, other: str) -> dict[str, Any]:
    """Try to reach the app from the page of another origin that knows the token, and by a name of an attacker."""
    address, token = urlsplit(url), url.partition("token=")[2]
    page = browser.new_page()
    page.goto(other)
    seen = {"other origin": page.evaluate(_CONNECT, f"ws://{address.netloc}/ws/{token}")}
    try:
        seen["fetch"] = page.evaluate("url => fetch(url).then(answer => answer.text())", url)
    except Error:
        seen["fetch"] = "refused"
    frame = page.evaluate_handle(
        "url => document.body.appendChild(Object.assign(document.createElement('iframe'), {src: url}))", url
    )
    page.wait_for_timeout(500)
    inner = frame.as_element().content_frame()
    seen["frame"] = inner.url if inner is not None else ""
    answer = page.goto(f"http://{REBOUND}:{address.port}/?token={token}")
    seen["rebound"] = answer.status if answer is not None else 0
    return seen


def take_picture(browser: Browser, url: str, picture: str) -> dict[str, Any]:
    """Send the message of the screenshots, and write a picture once the task has ended."""
    tab = Tab(browser.new_page(viewport=SIZE), url)
    tab.send("report", "The report is written.")
    tab.page.wait_for_timeout(1000)
    tab.page.screenshot(path=picture)
    return {}


if __name__ == "__main__":
    with browsing() as chromium:
        print(json.dumps({"journey": journey, "picture": take_picture}[sys.argv[1]](chromium, *sys.argv[2:])))
