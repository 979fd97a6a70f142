"""The driver of the terminal: Textual's, with input that cannot end the app."""

from __future__ import annotations

import os
import re
import selectors
from collections.abc import Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from inspector.tui.terminal_input import READ, Paste, TerminalInput

_POLL = 0.1
"""Seconds without input after which a key or a reply is complete."""
_REPLACEMENT = "\ufffd"
_SEQUENCES = re.compile("(?=\x1b)")


class TerminalDriver(LinuxDriver):
    """Reads any bytes from the terminal, and restores the terminal at any time."""

    _is_active = False

    def start_application_mode(self) -> None:
        """Switch the terminal to the app."""
        self._is_active = True
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        """Switch the terminal back."""
        self._is_active = False
        super().stop_application_mode()

    def restore(self) -> None:
        """Switch the terminal back if it shows the app, also while the event loop is blocked."""
        if self._is_active:
            self.stop_application_mode()
            self.close()

    def run_input_thread(self) -> None:
        """Wait for input and send its events to the app."""
        reader = InputReader()
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if not selector.select(_POLL):
                    messages = reader.idle()
                elif raw := os.read(self.fileno, READ):
                    messages = reader.feed(raw)
                else:  # the end of the input: stdin is not a terminal
                    self.exit_event.wait(_POLL)
                    messages = reader.idle()
                for message in messages:
                    self.process_message(message)


class InputReader:
    """Converts bytes from a terminal to messages of Textual, without errors for any bytes."""

    def __init__(self) -> None:
        self._input = TerminalInput()
        self._parser = XTermParser()

    def feed(self, raw: bytes) -> list[Message]:
        """Return the messages of the next bytes."""
        messages = self._read(self._input.feed(raw))
        messages += self._parser.tick()
        return messages

    def idle(self) -> list[Message]:
        """Return the messages of input that is complete because nothing follows."""
        messages = self._read(self._input.idle())
        messages += self._parser.tick()
        return messages

    def _read(self, pieces: Iterable[str | Paste]) -> list[Message]:
        messages: list[Message] = []
        for piece in pieces:
            if isinstance(piece, Paste):
                messages.append(events.Paste(piece.text))
                continue
            for sequence in filter(None, _SEQUENCES.split(piece)):
                messages += self._parse(sequence)
        return [_valid(message) for message in messages]

    def _parse(self, sequence: str) -> list[Message]:
        """Parse an escape sequence or other text; a sequence with impossible numbers has no effect."""
        try:
            return list(self._parser.feed(sequence))
        except (ValueError, OverflowError):
            self._parser = XTermParser()
            return []


def _valid(message: Message) -> Message:
    """Return a message; a key whose character cannot be encoded becomes U+FFFD."""
    if isinstance(message, events.Key) and message.character and "\ud800" <= message.character <= "\udfff":
        return events.Key("replacement_character", _REPLACEMENT)
    return message
