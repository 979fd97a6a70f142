"""A user with a browser: opens the page of a login, fills in its forms and allows the access."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

import httpx

NAME = "alice"
_ANSWERS = {"login": NAME, "password": "any"}
_MOST_PAGES = 12


@dataclass
class Form:
    """A form: its method, the URL that it is sent to, and its fields with the value of the first button."""

    method: str
    action: str
    fields: dict[str, str] = field(default_factory=dict)
    has_button: bool = False


class _Forms(HTMLParser):
    """Collects the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._is_open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(attributes.get("method", "get"), attributes.get("action", "")))
            self._is_open = True
        elif self._is_open and tag in ("input", "button"):
            self._add(attributes, self.forms[-1], is_button=tag == "button" or attributes.get("type") == "submit")

    def handle_endtag(self, tag: str) -> None:
        self._is_open = self._is_open and tag != "form"

    def _add(self, attributes: dict[str, str], form: Form, *, is_button: bool) -> None:
        name = attributes.get("name", "")
        if is_button and form.has_button:
            return
        form.has_button = form.has_button or is_button
        if name:
            form.fields[name] = _ANSWERS.get(name, attributes.get("value", ""))


def allow(url: str) -> str:
    """Open a URL, send the first form of each page, and return the text of the first page without a form."""
    with httpx.Client(trust_env=False, follow_redirects=True, timeout=20) as browser:
        answer = browser.get(url)
        for _ in range(_MOST_PAGES):
            assert answer.status_code == 200, (answer.status_code, answer.text)
            page = _Forms()
            page.feed(answer.text)
            if not page.forms:
                return answer.text
            form = page.forms[0]
            target = urljoin(str(answer.url), form.action) if form.action else str(answer.url)
            answer = browser.request(form.method.upper(), target, data=form.fields)
        raise AssertionError(f"more than {_MOST_PAGES} pages, at last {answer.url}")
