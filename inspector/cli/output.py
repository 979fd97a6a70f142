"""What a headless command prints: fields and blocks or JSON on stdout, everything else on stderr (section 11).

All of it may quote an agent, so all of it is made harmless here: text through the sanitiser, JSON by escapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO

from inspector.cli.errors import envelope
from inspector.protocol.errors import Fault
from inspector.text.safe_json import dump
from inspector.text.sanitise import clean


def _as_it_is(text: str) -> str:
    return text


class OutputLostError(Exception):
    """Raised where stdout or stderr takes no more; `stream` is the one, `error` what the system said."""

    def __init__(self, stream: TextIO, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.stream = stream
        self.error = error


class Output:
    """The two streams of a headless command.

    `json` chooses the format of results and errors, `lines` says that stdout is JSON Lines; `redact` takes the secrets
    out of whatever goes to stderr.
    """

    def __init__(self, stdout: TextIO, stderr: TextIO, *, json: bool = False) -> None:
        self.json = json
        self.lines = False
        self.redact: Callable[[str], str] = _as_it_is
        self._stdout = stdout
        self._stderr = stderr

    def field(self, label: str, value: str) -> None:
        """Print a value beside its label, on one line whatever is in it."""
        self.write(f"{label}: {clean(value)}\n")

    def block(self, label: str, content: str) -> None:
        """Print content of many lines under its label; they are indented, so none of them passes for a field."""
        lines = clean(content.removesuffix("\n"), newlines=True).split("\n")
        self.write("\n  ".join((f"{label}:", *lines)) + "\n\n")

    def say(self, label: str, value: str) -> None:
        """Print a text as a field, or as a block where it has more than one line."""
        (self.block if "\n" in value.strip("\n") else self.field)(label, value.strip("\n"))

    def exact(self, text: str) -> None:
        """Print a text to the byte where a program or a file reads it, and made harmless where a terminal does."""
        whole = text.encode("utf-8", "replace").decode("utf-8")
        self.write(f"{clean(whole, newlines=True)}\n" if self._stdout.isatty() else whole)
        self.flush()

    def document(self, value: Any) -> None:
        """Print a JSON document: indented, or on one line where stdout is JSON Lines."""
        self.write(f"{dump(value, None if self.lines else 2)}\n")
        self.flush()

    def warn(self, text: str) -> None:
        """Say on stderr what the user should know although the command goes on."""
        self.tell("Warning", text)

    def tell(self, label: str, text: str) -> None:
        """Print a line on stderr."""
        self._remark(f"{label}: {clean(self.redact(text))}")

    def remark(self, value: Any) -> None:
        """Print a line of JSON on stderr."""
        self._remark(self.redact(dump(value)))

    def fail(self, fault: Fault) -> None:
        """Report why the command ends without a result: on stderr, and where stdout is JSON Lines as its last line."""
        if self.json:
            if self.lines:
                self.write(f"{self.redact(dump(envelope(fault)))}\n")
            self.remark(envelope(fault))
            return
        self.tell("Error", fault.seen)
        if fault.hint:
            self.tell("Hint", fault.hint)

    def write(self, text: str) -> None:
        """Print harmless text on stdout as it is."""
        try:
            self._stdout.write(text)
        except OSError as error:
            raise OutputLostError(self._stdout, error) from error

    def flush(self) -> None:
        """Hand over what is printed so far."""
        try:
            self._stdout.flush()
        except OSError as error:
            raise OutputLostError(self._stdout, error) from error

    def _remark(self, line: str) -> None:
        self.flush()  # what was printed before stands before it where both streams go to one place
        try:
            self._stderr.write(f"{line}\n")
            self._stderr.flush()
        except OSError as error:
            raise OutputLostError(self._stderr, error) from error
