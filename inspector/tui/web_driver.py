"""The driver for the browser: Textual's, with the input of `terminal_driver`; the app ends when stdin ends."""

from __future__ import annotations

import os
import selectors
import threading
from typing import Any

from textual import events, messages
from textual.drivers._byte_stream import ByteStream
from textual.drivers.web_driver import WebDriver

from inspector.tui.terminal_driver import InputReader
from inspector.tui.terminal_input import READ

_POLL = 0.1
"""Seconds without input after which a key or a reply is complete."""
_ESCAPE = b"\x1b"
"""The key alone: a browser sends each key as a whole, so that Alt and a letter come together."""


class BrowserDriver(WebDriver):
    """Reads packets from the server on stdin, and writes packets to it on stdout."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        # Another program or library that writes to stdout must not come between the packets.
        self.fileno = os.dup(1)
        os.dup2(2, 1)
        self._write: Any = self._write_packet
        self._write_lock = threading.Lock()
        self._is_closed = False

    def _write_packet(self, packet: bytes) -> None:
        """Write a packet; after the server has ended, do nothing: the end of stdin ends the app.

        The thread of the input sends the parts of a file while the app draws. Without the lock, a write to a full pipe
        would be interrupted by the other one, and packets would be mixed.
        """
        with self._write_lock:
            while packet and not self._is_closed:
                try:
                    packet = packet[os.write(self.fileno, packet) :]
                except OSError:
                    self._is_closed = True

    def run_input_thread(self) -> None:
        """Read packets and send their events to the app until the app or the server ends."""
        packets, reader = ByteStream(), InputReader()
        with selectors.DefaultSelector() as selector:
            selector.register(0, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if not selector.select(_POLL):
                    self._process(reader.idle())
                    continue
                data = os.read(0, READ)
                if not data:
                    self.send_message(messages.ExitApp())  # the server has ended
                    return
                for kind, payload in packets.feed(data):
                    if kind != "D":
                        self._on_meta(kind, payload)
                    elif payload == _ESCAPE:
                        self.process_message(events.Key("escape", payload.decode()))
                    else:
                        for start in range(0, len(payload), READ):
                            self._process(reader.feed(payload[start : start + READ]))

    def _process(self, found: list[Any]) -> None:
        for message in found:
            self.process_message(message)
