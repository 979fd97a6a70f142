"""The driver of the terminal: Textual's, with input that cannot end the app."""

from __future__ import annotations

import os
import re
import select
import selectors
import signal
import termios
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TextIO

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from inspector.tui.terminal_input import READ, Paste, TerminalInput

_POLL = 0.1
"""Seconds without input after which a key or a reply is complete."""
_WRITE_SECONDS = 0.5
"""How long to wait until the terminal accepts output before the process ends."""
_END_OF_DRAWING = "\x1b[?2026l"
"""The end of synchronised output: until then, a terminal shows nothing new."""
_REPLACEMENT = "\ufffd"
_SEQUENCES = re.compile("(?=\x1b)")
_ALT = re.compile(r"\x1b[^\x1b\[O\]P_^X]")
"""A key with Alt: escape, and a character that begins no sequence."""


class TerminalOutput:
    """Writes to the terminal until that is closed; what is written later is discarded.

    Textual writes in a thread. An exception would end the thread, and the app would wait for it for ever when it exits.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.fileno = file.fileno
        self._is_closed = False

    def write(self, text: str) -> None:
        """Write text."""
        self._try(lambda: self._file.write(text))

    def flush(self) -> None:
        """Send the text to the terminal."""
        self._try(self._file.flush)

    def close(self) -> None:
        """Discard what is written from now on."""
        self._is_closed = True

    def _try(self, write: Callable[[], object]) -> None:
        if not self._is_closed:
            try:
                write()
            except OSError:  # EIO: the terminal is closed, which also ends the app with SIGHUP
                self._is_closed = True


class _OutputBuffer:
    """Collects what is written, in place of Textual's thread."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def write(self, text: str) -> None:
        self.texts.append(text)


class TerminalDriver(LinuxDriver):
    """Reads any bytes from the terminal, and restores the terminal at any time."""

    _is_active = False
    _must_restore = False
    """Whether the terminal is not yet switched back."""
    _must_stop = False
    """Whether SIGTSTP was received, and no SIGCONT after it."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._file: Any = TerminalOutput(self._file)

    def _sigtstp_application(self, *_: Any) -> None:
        """Stop the process. If the app uses the terminal, it is switched back first, outside of the signal handler.

        The signal can interrupt a write that holds the lock of the queue through which the terminal is switched back.
        """
        if self._is_active and self._auto_restart:
            self._must_stop = True
            self._loop.call_soon_threadsafe(self._stop)
        else:
            os.kill(os.getpid(), signal.SIGSTOP)

    def _stop(self) -> None:
        """Switch the terminal back and stop the process, unless it was continued or the app has ended meanwhile."""
        if self._must_stop and self._is_active:
            self._must_stop = False
            super()._sigtstp_application()

    def _sigcont_application(self, *arguments: Any) -> None:
        """Switch the terminal to the app again; `_stop` is still running if it has stopped the process."""
        self._must_stop = False
        if self._must_signal_resume:
            super()._sigcont_application(*arguments)
        elif self._is_active:
            self._loop.call_soon_threadsafe(self._continue)

    def _continue(self) -> None:
        """Switch the terminal to the app after a SIGSTOP, which cannot be handled, and restart the input thread.

        SIGCONT also follows SIGHUP when the terminal is closed: a thread that is started then would never end.
        """
        try:
            termios.tcgetattr(self.fileno)
        except termios.error:
            return
        if self._is_active and self._auto_restart:
            self._stop_reading()
            self.suspend_application_mode()
            self.exit_event.clear()
            self.resume_application_mode()

    def _stop_reading(self) -> None:
        """End the thread of the input; Textual does so only together with discarding what was just typed."""
        self.exit_event.set()
        if self._key_thread is not None:
            self._key_thread.join()

    def start_application_mode(self) -> None:
        """Switch the terminal to the app."""
        self._is_active = self._must_restore = True
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        """Switch the terminal back."""
        self._is_active = False
        super().stop_application_mode()
        self._must_restore = False

    def restore(self) -> None:
        """Switch the terminal back without the thread that writes; the process must end at once afterwards.

        A signal handler calls this. It can have interrupted a drawing, or code that holds the lock of the thread's
        queue.
        """
        if self._must_restore:
            terminal = self._file.fileno()
            self._file.close()
            output: Any = _OutputBuffer()
            self._writer_thread, self._key_thread = output, None
            self.write(_END_OF_DRAWING)
            self.stop_application_mode()
            with suppress(OSError):  # the terminal is closed
                if select.select([], [terminal], [], _WRITE_SECONDS)[1]:
                    os.write(terminal, "".join(output.texts).encode())

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
                alt = _ALT.match(sequence)
                if alt:  # Textual would wait for more of a sequence, and read what is typed meanwhile as part of it
                    messages += self._parse(alt[0]) + self._complete()
                messages += self._parse(sequence[alt.end() :] if alt else sequence)
        return [_valid(message) for message in messages]

    def _complete(self) -> list[Message]:
        """Read the start of a sequence as keys, without waiting for the rest."""
        if self._parser._timeout_time is not None:
            self._parser._timeout_time = 0.0
        return list(self._parser.tick())

    def _parse(self, sequence: str) -> list[Message]:
        """Parse an escape sequence or other text; a sequence with impossible numbers has no effect."""
        try:
            return list(self._parser.feed(sequence)) if sequence else []
        except (ValueError, OverflowError):
            self._parser = XTermParser()
            return []


def _valid(message: Message) -> Message:
    """Return a message; a key whose character cannot be encoded becomes U+FFFD."""
    if isinstance(message, events.Key) and message.character and "\ud800" <= message.character <= "\udfff":
        return events.Key("replacement_character", _REPLACEMENT)
    return message
