"""The output of a headless command: results on stdout, errors and warnings on stderr (a2a-cli 0.2 section 11).

Output may contain text from an agent, so all output is sanitised here: text by the sanitiser, JSON by escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from inspector.cli.errors import envelope
from inspector.protocol.errors import Fault
from inspector.text.safe_json import dump
from inspector.text.sanitise import clean

MARKS = {True: "+", False: "-", None: "?"}
"""The result of a check: passed, failed, unknown."""


class OutputLostError(Exception):
    """Raised if stdout or stderr cannot be written, with the stream and the system's error."""

    def __init__(self, stream: TextIO, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.stream = stream
        self.error = error


class Output:
    """The output streams of a headless command.

    `json` selects JSON for results and errors, `lines` JSON Lines on stdout. `redact` removes secrets from the lines
    on stderr.
    """

    def __init__(self, stdout: TextIO, stderr: TextIO, *, json: bool = False) -> None:
        self.json = json
        self.lines = False
        self.redact: Callable[[str], str] = str
        self._stdout = stdout
        self._stderr = stderr

    def field(self, label: str, value: str) -> None:
        """Print a value after its label, on a single line."""
        self.write(f"{label}: {clean(value)}\n")

    def block(self, label: str, content: str) -> None:
        """Print lines below a label, indented, so that none of them looks like a field."""
        lines = clean(content.removesuffix("\n"), newlines=True).split("\n")
        self.write("\n  ".join((f"{label}:", *lines)) + "\n\n")

    def field_or_block(self, label: str, value: str) -> None:
        """Print a text as a field, or as a block if it has more than one line."""
        (self.block if "\n" in value.strip("\n") else self.field)(label, value.strip("\n"))

    def verbatim(self, text: str) -> None:
        """Print a text unchanged for a program or a file, and sanitised for a terminal."""
        valid = text.encode("utf-8", "replace").decode("utf-8")
        self.write(f"{clean(valid, newlines=True)}\n" if self._stdout.isatty() else valid)
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
        self._write_stderr(f"{label}: {clean(self.redact(text))}")

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
        """Print sanitised text on stdout."""
        with _report_loss(self._stdout):
            self._stdout.write(text)

    def flush(self) -> None:
        """Flush stdout."""
        with _report_loss(self._stdout):
            self._stdout.flush()

    def _write_stderr(self, line: str) -> None:
        self.flush()  # keeps the order of lines if both streams are written to the same place
        with _report_loss(self._stderr):
            self._stderr.write(f"{line}\n")
            self._stderr.flush()


@contextmanager
def _report_loss(stream: TextIO) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputLostError(stream, error) from error
