"""A pseudo-terminal for tests: run a program, record its output, and emulate the screen."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self

import pyte
from pyte.modes import IRM
from pyte.screens import Char, wcwidth

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "space": " ",
    "backspace": "\x7f",
    "delete": "\x1b[3~",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "f1": "\x1bOP",
    "f6": "\x1b[17~",
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"},
    **{f"alt+{digit}": f"\x1b{digit}" for digit in "0123456789"},
}
"""The bytes that a terminal sends for a named key."""

PATIENCE = 30.0
"""The seconds after which waiting for a program fails: a busy machine may need ten times as long as an idle one."""

# Makes the pseudo-terminal the controlling one of its session; subprocess could do so only in a hook after the fork.
_LAUNCH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"


class Token(NamedTuple):
    """A piece of output: `kind` is text, c0, c1, csi, osc, dcs, apc, pm, sos, esc or bad (bytes that are not UTF-8)."""

    kind: str
    body: str
    """The piece without its introducer and terminator."""


class Tokenizer:
    """Splits terminal output into tokens, independent of its chunks; `rest` is an unfinished sequence."""

    _STRINGS: Mapping[str, str] = {"]": "osc", "P": "dcs", "_": "apc", "^": "pm", "X": "sos"}
    _START = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
    _CSI = re.compile(r"[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]")
    _ESC = re.compile(r"[\x20-\x2f]*[\x30-\x7e]")
    _END = re.compile("\x07|\x1b\\\\|\x9c")

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""

    def feed(self, data: bytes) -> Iterator[Token]:
        """Yield the tokens that are complete."""
        self._text += self._decoder.decode(data)
        position = 0
        while position < len(self._text):
            token, end = self._next(position)
            if token is None:
                break
            position = end
            yield token
        self._text = self._text[position:]

    def rest(self) -> str:
        """Return the unfinished sequence at the end."""
        return self._text

    def _next(self, start: int) -> tuple[Token | None, int]:
        text = self._text
        special = self._START.search(text, start)
        if special is None:
            return Token("text", text[start:]), len(text)
        if special.start() > start:
            return Token("text", text[start : special.start()]), special.start()
        first, after = text[start], start + 1
        if "\ud800" <= first <= "\udfff":
            return Token("bad", first), after
        if first != "\x1b":
            return Token("c1" if first >= "\x80" else "c0", first), after
        if after == len(text):
            return None, start
        if text[after] == "[":
            return self._until(self._CSI, "csi", after + 1)
        if text[after] in self._STRINGS:
            end = self._END.search(text, after + 1)
            if end is None:
                return None, start
            return Token(self._STRINGS[text[after]], text[after + 1 : end.start()]), end.end()
        return self._until(self._ESC, "esc", after)

    def _until(self, pattern: re.Pattern[str], kind: str, start: int) -> tuple[Token | None, int]:
        """Return the sequence that continues at `start`; an aborted sequence is its introducer only."""
        match = pattern.match(self._text, start)
        if match is not None:
            return Token(kind, match.group()), match.end()
        inside = re.compile(r"[\x20-\x3f]*\Z").match(self._text, start)
        return (None, start) if inside is not None else (Token(kind, ""), start)


def tokens(raw: bytes) -> list[Token]:
    """Return all tokens of a program's output; an unfinished sequence is the last token."""
    tokenizer = Tokenizer()
    found = list(tokenizer.feed(raw))
    return [*found, Token("unfinished", tokenizer.rest())] if tokenizer.rest() else found


_OWN_CSI = re.compile(
    r"[\d;]*m"  # colours
    r"|\d+;\d+H"  # cursor position, with both coordinates
    r"|\?(?:7|25|1000|1003|1004|1006|1015|1016|1049|2004|2026|2048)[hl]"  # modes, see `_LEFT_ON`
    r"|\?(?:2026|2048)\$p"  # Textual's two queries
    r"|>\d+u|<u"  # kitty's keyboard protocol, on and off
)
_OWN_OSC = re.compile(r"22;[a-z-]+|8;[^;]*;(?:https?://[\x21-\x7e]+)?")
_OWN_START = re.compile(r"\x1b(?:\[[\d;?<>]*\$?|\](?:22?|22;[a-z-]*|8|8;[^;\x1b]*(?:;[\x21-\x7e]*)?)?\x1b?)?")
"""What the end of incomplete output may be."""


def foreign(raw: bytes) -> list[Token]:
    """Return the tokens that Textual's own full-screen output never contains, in order.

    Sequences of an agent that are equal to Textual's own (a colour, a position) are not included: see `assert_absent`.
    """
    found = []
    in_alternate_screen = False
    accepted: set[str] = set()  # sequences that are Textual's own in the alternate screen: the same appear very often
    for token in tokens(raw):
        if token.kind == "text" or (in_alternate_screen and token.kind == "csi" and token.body in accepted):
            continue
        match token:
            case Token("csi", "?1049h" | "?1049l" as switch):
                own = in_alternate_screen == (switch[-1] == "l")
                in_alternate_screen = switch[-1] == "h"
            case Token("csi", body):
                own = _OWN_CSI.fullmatch(body) is not None and (in_alternate_screen or not body.endswith("H"))
                if own and in_alternate_screen:
                    accepted.add(body)
            case Token("osc", body):
                own = _OWN_OSC.fullmatch(body) is not None
            case Token("c0", body):
                own = body in "\r\n"
            case Token("unfinished", body):
                own = _OWN_START.fullmatch(body) is not None
            case _:
                own = False
        if not own:
            found.append(token)
    return found


def assert_inert(raw: bytes) -> None:
    """Fail unless the output consists of text and of sequences that Textual itself writes."""
    strangers = [(kind, body[:60]) for kind, body in foreign(raw)]
    assert not strangers, f"sequences that are not Textual's: {strangers[:20]!r}"


def assert_absent(raw: bytes, markers: Iterable[str | bytes]) -> None:
    """Fail if the output contains one of the markers of hostile text; a str is encoded as UTF-8."""
    wanted = [marker.encode("utf-8", "surrogatepass") if isinstance(marker, str) else marker for marker in markers]
    leaked = [marker for marker in wanted if marker in raw]
    assert not leaked, f"reached the terminal: {leaked!r}"


_LEFT_ON = {
    1000: "mouse",
    1002: "mouse",
    1003: "mouse",
    1004: "focus reports",
    1006: "mouse",
    1015: "mouse",
    1016: "mouse",
    1049: "alternate screen",
    2004: "bracketed paste",
    2026: "synchronised output",
    2048: "resize reports",
}
"""The private modes that a program must switch off before it exits."""

_FRAME = 2026
"""The private mode that is on while a program draws a frame, if the terminal supports it."""

_LEFT_OFF = {7: "line wrap", 25: "cursor"}
"""The private modes that it must leave on."""


@dataclass(frozen=True)
class Ending:
    """How a program ended: its exit status (negative for a signal), and what it did not restore."""

    status: int
    left: frozenset[str]
    """The changes that were not undone: names as in `_LEFT_ON`, "no cursor", "raw input" and so on."""

    @property
    def restored(self) -> bool:
        """Return whether the terminal was restored."""
        return not self.left


@lru_cache(maxsize=4096)
def _narrow_cells(text: str) -> tuple[Char, ...]:
    """Return the cells of a text whose characters all need one cell, otherwise nothing."""
    return tuple(map(_cell, text)) if all(wcwidth(character) == 1 for character in text) else ()


@lru_cache(maxsize=4096)
def _cell(character: str) -> Char:
    return Char(character)


class TextScreen(pyte.Screen):
    """A screen that draws text of narrow characters within a line at once: pyte draws character by character."""

    def draw(self, data: str) -> None:
        """Draw text at the cursor."""
        start, cells = self.cursor.x, _narrow_cells(data)
        end = start + len(cells)
        if not cells or end > self.columns or IRM in self.mode:
            super().draw(data)
            return
        self.buffer[self.cursor.y].update(zip(range(start, end), cells, strict=True))
        self.cursor.x = end
        self.dirty.add(self.cursor.y)


class Display:
    """The emulated screen: two pyte screens, fed with the sequences that pyte supports, and the modes that are on.

    It has no colours and attributes, because no test reads them.
    """

    def __init__(self, cols: int, rows: int) -> None:
        self._main = TextScreen(cols, rows)
        self._alternate = TextScreen(cols, rows)
        self._stream = pyte.Stream(self._main)
        self._tokenizer = Tokenizer()
        self._modes: dict[int, bool] = {}
        self._keyboards = 0
        self._lines: dict[pyte.Screen, list[str]] = {}
        self.shown = self._main
        self.title = ""
        self.bells = 0
        self.replies = b""

    def feed(self, data: bytes) -> None:
        """Draw the output of a program."""
        for token in self._tokenizer.feed(data):
            match token:
                case Token("text", body):
                    self.shown.draw(body)
                case Token("c0", "\x07"):
                    self.bells += 1
                case Token("c0", body):
                    self._stream.feed(body)
                case Token("csi", body):
                    self._csi(body)
                case Token("esc", body) if body in pyte.Stream.escape:
                    self._stream.feed(f"\x1b{body}")
                case Token("osc", body) if body.startswith(("0;", "2;")):
                    self.title = body[2:]

    def resize(self, cols: int, rows: int) -> None:
        """Change the size and keep the content."""
        self._main.resize(rows, cols)
        self._alternate.resize(rows, cols)

    def text(self) -> str:
        """Return the visible text without trailing spaces; only changed lines are read again."""
        screen = self.shown
        lines = self._lines.setdefault(screen, [])
        changed = set(screen.dirty)
        if len(lines) != screen.lines:
            lines[:] = [""] * screen.lines
            changed = set(range(screen.lines))
        screen.dirty.clear()
        for row in changed & set(range(screen.lines)):
            # The second cell of a wide letter is empty.
            line = screen.buffer[row]
            lines[row] = "".join(line[column].data for column in range(screen.columns)).rstrip()
        return "\n".join(lines)

    def left(self) -> frozenset[str]:
        """Return the names of modes that differ from the start."""
        on = {name for mode, name in _LEFT_ON.items() if self._modes.get(mode, False)}
        off = {f"no {name}" for mode, name in _LEFT_OFF.items() if not self._modes.get(mode, True)}
        return frozenset(on | off | ({"keyboard protocol"} if self._keyboards else set()))

    @property
    def drawing(self) -> bool:
        """Return whether a program is drawing a frame."""
        return self._modes.get(_FRAME, False)

    def _csi(self, body: str) -> None:
        if body.endswith("m"):
            return
        if body == f"?{_FRAME}$p":
            self.replies += f"\x1b[?{_FRAME};2$y".encode()  # known, and off
        elif match := re.fullmatch(r"\?([\d;]+)([hl])", body):
            for mode in map(int, filter(None, match[1].split(";"))):
                self._modes[mode] = match[2] == "h"
                if mode == 1049:
                    self._show(self._alternate if match[2] == "h" else self._main)
        elif match := re.fullmatch(r"([<>])(\d*)u", body):
            self._keyboards = max(0, self._keyboards + 1 if match[1] == ">" else self._keyboards - int(match[2] or 1))
        elif re.fullmatch(r"[\d;]*[A-Za-z@`]", body):
            try:
                self._stream.feed(f"\x1b[{body}")
            except TypeError:  # more parameters than pyte supports: terminals ignore such a sequence
                return

    def _show(self, screen: pyte.Screen) -> None:
        if screen is self._alternate:
            screen.reset()
        self._stream.detach(self.shown)
        self._stream.attach(screen)
        self.shown = screen


class Running(Protocol):
    """A started program; its process id is not used again before it is closed, even if it has ended."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit status (negative for a signal), None if the program is running."""

    def close(self) -> None:
        """Kill the program, and free its process id."""


class Spawned:
    """A new process, whose terminal is its stdin."""

    def __init__(self, argv: Sequence[str | Path], terminal: int, env: Mapping[str, str], cwd: Path | None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCH, *argv],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """Return the exit status without reaping the process."""
        result = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if result is None:
            return None
        return result.si_status if result.si_code == os.CLD_EXITED else -result.si_status

    def close(self) -> None:
        """Kill the process and reap it."""
        self._process.kill()
        self._process.wait()


class Terminal:
    """A program in a pseudo-terminal with its own session; leaving the `with` block kills it."""

    def __init__(
        self,
        argv: Sequence[str | Path],
        *,
        start: Callable[..., Running] = Spawned,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        cols: int = 120,
        rows: int = 40,
    ) -> None:
        self._display = Display(cols, rows)
        self._raw = bytearray()
        self._changed = threading.Condition()
        self._closed = False
        self._master, slave = pty.openpty()
        try:
            self._set_size(cols, rows)
            self._before = termios.tcgetattr(slave)
            self._process = start(argv, slave, {**_plain_environment(), **(env or {})}, cwd)
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)
        os.set_blocking(self._master, False)
        self._reader = threading.Thread(target=self._read, name="terminal-reader", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def raw(self) -> bytes:
        """Return all output so far."""
        with self._changed:
            return bytes(self._raw)

    @property
    def title(self) -> str:
        """Return the window title that the program set."""
        with self._changed:
            return self._display.title

    @property
    def bells(self) -> int:
        """Return the number of bells."""
        with self._changed:
            return self._display.bells

    def screen_text(self) -> str:
        """Return the visible text without trailing spaces."""
        with self._changed:
            return self._display.text()

    def send(self, data: str | bytes, timeout: float = PATIENCE) -> None:
        """Type bytes, waiting while the program does not read."""
        rest = memoryview(data.encode() if isinstance(data, str) else data)
        deadline = time.monotonic() + timeout
        while rest:
            _, writable, _ = select.select([], [self._master], [], max(0.0, deadline - time.monotonic()))
            assert writable, f"the program does not read its input\n{self._dump()}"
            rest = rest[os.write(self._master, rest[:4096]) :]

    def press(self, *keys: str) -> None:
        """Press keys, each a name in `KEYS` or a character."""
        for key in keys:
            self.send(KEYS.get(key, key))

    def paste(self, text: str) -> None:
        """Paste text (bracketed paste)."""
        self.send(f"\x1b[200~{text}\x1b[201~")

    def click(self, column: int, row: int) -> None:
        """Click the left button at a cell, counted from 0."""
        self.send(f"\x1b[<0;{column + 1};{row + 1}M\x1b[<0;{column + 1};{row + 1}m")

    def hover(self, column: int, row: int) -> None:
        """Move the pointer to a cell, counted from 0."""
        self.send(f"\x1b[<35;{column + 1};{row + 1}M")

    def resize(self, cols: int, rows: int) -> None:
        """Change the size, which sends SIGWINCH to the program."""
        with self._changed:
            self._display.resize(cols, rows)
            self._set_size(cols, rows)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program and to what it started in its process group."""
        os.killpg(self._process.pid, number)

    def wait_for(self, what: str | Callable[[Terminal], bool], timeout: float = PATIENCE) -> None:
        """Wait until a text is visible or a condition is true; at the timeout, fail with the screen.

        This blocks the thread: with a server in the same event loop, call it in `asyncio.to_thread`.
        """

        def there() -> bool:
            if self._display.drawing:
                return False
            return what in self.screen_text() if isinstance(what, str) else what(self)

        deadline = time.monotonic() + timeout
        with self._changed:
            while not there():
                left = deadline - time.monotonic()
                assert left > 0, f"not seen within {timeout} s: {what!r}\n{self._dump()}"
                assert self._reader.is_alive() or there(), f"ended without showing {what!r}\n{self._dump()}"
                self._changed.wait(min(left, 0.1))

    def is_stopped(self) -> bool:
        """Return whether a signal has stopped the program; another can continue it."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_bytes()
        return stat.rpartition(b") ")[2].startswith(b"T")

    def cpu_seconds(self) -> float:
        """Return the CPU time that the program has used."""
        user, system = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(") ")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def wait_exit(self, timeout: float = PATIENCE) -> Ending:
        """Wait until the program has ended, and return how."""
        deadline = time.monotonic() + timeout
        self._reader.join(timeout)
        while (status := self._process.poll()) is None:  # it closes the terminal shortly before it ends
            assert time.monotonic() < deadline, f"still running after {timeout} s\n{self._dump()}"
            time.sleep(0.01)
        with self._changed:
            left = self._display.left()
        # Input, output, control and local flags, which the shell inherits.
        if termios.tcgetattr(self._master)[:4] != self._before[:4]:
            left |= {"raw input"}
        return Ending(status, left)

    def close(self) -> None:
        """Kill the process group of the program, and close the terminal."""
        if not self._closed:
            self._closed = True
            os.killpg(self._process.pid, signal.SIGKILL)
            self._reader.join()
            self._process.close()
            os.close(self._master)

    def _read(self) -> None:
        while True:
            has_ended = self._process.poll() is not None  # before the select, so that the last output is read
            ready, _, _ = select.select([self._master], [], [], 0.0 if has_ended else 0.1)
            if has_ended and not ready:
                break
            try:
                data = os.read(self._master, 65536) if ready else b""
            except OSError:  # the other end is closed
                break
            with self._changed:
                self._raw += data
                self._display.feed(data)
                replies, self._display.replies = self._display.replies, b""
                self._changed.notify_all()
            if replies:
                self.send(replies)

    def _set_size(self, cols: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def _dump(self) -> str:
        edge = "-" * self._display.shown.columns
        return f"{edge}\n{self.screen_text()}\n{edge}"


def _plain_environment() -> dict[str, str]:
    """Return our environment without variables that change how a program draws."""
    ours = {"NO_COLOR", "COLUMNS", "LINES", "COLORTERM", "TERM_PROGRAM", "ESCDELAY", "FORCE_COLOR"}
    kept = {name: value for name, value in os.environ.items() if name not in ours and not name.startswith("TEXTUAL")}
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
