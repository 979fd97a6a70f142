"""The text area of a message: enter sends it, and the path of a file dragged onto the terminal is recognised."""

from __future__ import annotations

import shlex
from urllib.parse import unquote, urlsplit

from textual import events
from textual.message import Message

from inspector.lazy_dataclass import dataclass
from inspector.text.typed_path import typed_path
from inspector.tui.keys import first_key
from inspector.tui.widgets.verbatim_area import VerbatimArea

MOST = 200_000
"""The most characters of a text; with many more, the text area needs seconds for every key."""
LONGEST_PATH = 4096


class MessageArea(VerbatimArea):
    """A text area in which enter sends and another key inserts a line break; a paste never sends.

    In an empty area, the key for the line above asks for earlier messages, as in a shell.
    """

    most = MOST
    enter_hint = "send"

    class Submitted(Message):
        """The user pressed enter."""

    @dataclass
    class Dragged(Message):
        """A file was dragged onto the terminal."""

        path: str

    class EarlierWanted(Message):
        """The user wants to see earlier messages."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "up" and not self.text:
            event.stop()
            event.prevent_default()
            self.post_message(self.EarlierWanted())
        elif event.key in ("enter", first_key("new-line")):
            event.stop()
            event.prevent_default()
            if event.key == "enter":
                self.post_message(self.Submitted())
            else:
                self.replace("\n", *self.selection, maintain_selection_offset=False)

    async def _on_paste(self, event: events.Paste) -> None:
        path = dragged_file(event.text)
        if path:
            event.stop()
            event.prevent_default()
            self.post_message(self.Dragged(path))


def dragged_file(text: str) -> str:
    """Return the path that a terminal pastes if a file is dragged onto it, `""` for any other text.

    Terminals quote the path for a shell or write it as a URL.
    """
    line = text.strip()
    if not line.startswith(("file://", "/", "'/", '"/', "~/")) or "\n" in line or len(line) > LONGEST_PATH:
        return ""
    try:
        if line.startswith("file://"):
            line = unquote(urlsplit(line).path)
        else:
            words = shlex.split(line)
            line = words[0] if len(words) == 1 else line
        path = typed_path(line)
        return str(path) if path.is_absolute() and path.is_file() else ""
    except (OSError, ValueError):  # ValueError: no closing quote
        return ""
