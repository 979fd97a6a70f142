"""The smallest Textual app: one widget."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static


class Hello(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("hello, world")


if __name__ == "__main__":
    Hello().run()
