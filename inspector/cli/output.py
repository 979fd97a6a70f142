"""The output of a headless command: results on stdout, errors and warnings on stderr (a2a-cli 0.2 section 11).

Output may contain text from an agent, so the methods of `Output` sanitise it: text by the sanitiser, JSON by escapes.
`write` alone does not: its callers have sanitised the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TextIO, TypeVar

from inspector.cli.errors import envelope
from inspector.cli.progress import ProgressLine, width_of
from inspector.cli.styles import Piece, Role, is_colored, paint, render
from inspector.protocol.errors import Fault
from inspector.text.safe_json import dump
from inspector.text.sanitise import Cleaner, clean

_INDENT = "  "
_LABELS = {"Error": Role.BAD, "Warning": Role.WARNING}
"""The roles of labels on stderr; other labels are soft."""


class OutputLostError(Exception):
    """Raised if stdout or stderr cannot be written, with the stream and the system's error."""

    def __init__(self, stream: TextIO, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.stream = stream
        self.error = error


class Writer(Protocol):
    """The part of a text stream to which stdout and stderr are written."""

    def write(self, text: str, /) -> object:
        """Write a text."""

    def flush(self) -> None:
        """Write what is kept in memory."""


WriterT = TypeVar("WriterT", bound=Writer)


class Output:
    """The output streams of a headless command.

    `json` selects JSON for results and errors, `lines` JSON Lines on stdout. `color` is the value of `--color`; JSON is
    never styled. `redact` removes secrets from text, but not from results in JSON. `is_terminal` is whether people read
    stdout, `width` the width of that terminal, None without a terminal. `progress` is the transient line on stderr.
    `is_stderr_waiting` returns whether a text for stderr is kept, because stderr is not read (see `unblocked`).
    """

    def __init__(self, stdout: TextIO, stderr: TextIO, *, json: bool = False, color: str = "auto") -> None:
        self.json = json
        self.lines = False
        self.redact: Callable[[str], str] = _without_secrets_in_urls
        self.is_stderr_waiting: Callable[[], bool] = lambda: False
        self.is_terminal = stdout.isatty()
        self.progress = ProgressLine(stderr, shown=stderr.isatty() and not json, blocked=lambda: self._is_line_open)
        self._stdout = stdout
        self._writer: Writer = stdout
        self._stderr = stderr
        self._error_writer: Writer = stderr
        self._colored = {stream: not json and is_colored(stream, color) for stream in (stdout, stderr)}
        self._cleaner = Cleaner(newlines=True, emoji=True)
        self._is_line_open = False

    @property
    def width(self) -> int | None:
        """Return the width of the terminal in cells, None if stdout is not a terminal."""
        return width_of(self._stdout) if self.is_terminal else None

    def field(self, label: str, *value: Piece) -> None:
        """Print a value after its label, on a single line."""
        self.write(f"{self._label(f'{label}:')} {self.render(*value)}\n")

    def line(self, *pieces: Piece) -> None:
        """Print a line without a label."""
        self.write(f"{self.render(*pieces)}\n")

    def render(self, *pieces: Piece) -> str:
        """Return pieces as sanitised text for stdout, with masked secrets."""
        masked = [
            self.redact(piece) if isinstance(piece, str) else piece._replace(text=self.redact(piece.text))
            for piece in pieces
        ]
        return render(masked, colored=self._colored[self._stdout])

    def secret_field(self, label: str, value: str) -> None:
        """Print a value that the user needs after its label, although it is or contains a secret."""
        self.write(f"{self._label(f'{label}:')} {clean(value)}\n")

    def block(self, label: str, content: str) -> None:
        """Print lines below a label, indented, so that none of them looks like a field."""
        lines = clean(self.redact(content).removesuffix("\n"), newlines=True, emoji=True).split("\n")
        self.write(f"\n{_INDENT}".join((self._label(f"{label}:"), *lines)) + "\n\n")

    def field_or_block(self, label: str, value: str) -> None:
        """Print a text as a field, or as a block if it has more than one line."""
        if "\n" in value.strip("\n"):
            self.block(label, value.strip("\n"))
        else:
            self.field(label, value.strip("\n"))

    def flow(self, text: str) -> None:
        """Print text that continues the text before, until `end_flow`; each line is indented, as in a block."""
        pieces = self._cleaner.feed(self.redact(text)).split("\n")
        written: list[str] = []
        for number, piece in enumerate(pieces):
            if number:
                written.append("\n")
                self._is_line_open = False
            if piece:
                written.append(piece if self._is_line_open else f"{_INDENT}{piece}")
                self._is_line_open = True
        self._write_stdout("".join(written))

    def end_flow(self) -> None:
        """End the line of a text, so that the next text starts on a new line."""
        self.write("")
        self._cleaner = Cleaner(newlines=True, emoji=True)

    def verbatim(self, text: str) -> None:
        """Print a text unchanged for a program or a file, and sanitised for a terminal."""
        valid = text.encode("utf-8", "replace").decode("utf-8")
        self.write(f"{clean(valid, newlines=True, emoji=True)}\n" if self.is_terminal else valid)
        self.flush()

    def document(self, value: Any) -> None:
        """Print a JSON document: indented, or on one line for JSON Lines."""
        self.write(f"{dump(value, None if self.lines else 2)}\n")
        self.flush()

    def warn(self, text: str) -> None:
        """Print a warning on stderr."""
        self.line_to_stderr("Warning", text)

    def line_to_stderr(self, label: str, text: str) -> None:
        """Print a text after its label on stderr."""
        styled = paint(f"{label}:", _LABELS.get(label, Role.SOFT), colored=self._colored[self._stderr])
        self._write_stderr(f"{styled} {clean(self.redact(text))}")

    def json_to_stderr(self, value: Any) -> None:
        """Print a line of JSON on stderr."""
        self._write_stderr(self.redact(dump(value)))

    def fail(self, fault: Fault) -> None:
        """Report a failure on stderr, and with JSON Lines also as the last line of stdout."""
        if self.json:
            if self.lines:
                self.write(f"{self.redact(dump(envelope(fault)))}\n")
            self.json_to_stderr(envelope(fault))
            return
        self.line_to_stderr("Error", fault.seen)
        if fault.hint:
            self.line_to_stderr("Hint", fault.hint)

    def write(self, text: str) -> None:
        """Print a text that is sanitised already, unchanged, on a new line of stdout."""
        if self._is_line_open:
            self._is_line_open = False
            text = f"\n{text}"
        self._write_stdout(text)

    def flush(self) -> None:
        """Flush stdout."""
        with _report_loss(self._stdout):
            self._writer.flush()

    @contextmanager
    def through(self, writer_of: Callable[[TextIO], WriterT]) -> Iterator[tuple[WriterT, WriterT]]:
        """Write stdout and stderr through other writers, which `writer_of` returns, until the end of the context."""
        writers = writer_of(self._stdout), writer_of(self._stderr)
        self._writer, self._error_writer = writers
        try:
            yield writers
        finally:
            self._writer, self._error_writer = self._stdout, self._stderr

    def _label(self, label: str) -> str:
        return paint(label, Role.SOFT, colored=self._colored[self._stdout])

    def _write_stdout(self, text: str) -> None:
        self.progress.clear()
        with _report_loss(self._stdout):
            self._writer.write(text)

    def _write_stderr(self, line: str) -> None:
        if self._is_line_open and self._stderr.isatty():
            self.write("")
        self.flush()  # keeps the order of lines if both streams are written to the same place
        self.progress.clear()
        with _report_loss(self._stderr):
            self._error_writer.write(f"{line}\n")
            self._error_writer.flush()


@contextmanager
def _report_loss(stream: TextIO) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputLostError(stream, error) from error


def _without_secrets_in_urls(text: str) -> str:
    """Mask the secrets in URLs; a session then masks all secrets that it knows."""
    if "://" not in text:
        return text
    from inspector.capture.secret_locations import mask_text  # noqa: PLC0415 - few texts need it

    return mask_text(text)
