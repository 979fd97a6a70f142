"""Recently sent messages and unsent drafts, which later sessions can load."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from inspector.capture.paths import state_folder
from inspector.capture.private_files import CaptureError, private_folder, reason, replace_file
from inspector.capture.records import END_OF_TIME
from inspector.capture.redaction import Redactor
from inspector.lazy_dataclass import dataclass
from inspector.session.compose.draft import Draft
from inspector.session.compose.snippets import SUFFIX, as_toml, read, write
from inspector.text import safe_toml

MOST = 200
"""The number of messages that are kept."""
LARGEST_DRAFT = 200_000
"""The largest draft that is kept, in characters of its JSON."""
_LARGEST_FILE = MOST * LARGEST_DRAFT
_LAST_TIME = END_OF_TIME - 86_400
"""Later times cannot be shown in every time zone."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A sent message: its draft without ids, the URL of the agent, and the time in seconds since 1970.

    `line` is the message as it is stored.
    """

    draft: Draft
    agent: str
    at: float
    line: bytes = field(repr=False, compare=False)


class MessageHistory:
    """The messages of all sessions, newest first, in a file of JSON lines with masked secrets."""

    def __init__(self, redactor: Redactor, folder: Path | None = None) -> None:
        self._redactor = redactor
        self._path = (folder or state_folder()) / "sent.jsonl"

    def mask(self, secrets: Iterable[str]) -> None:
        """Mask secrets from now on, in all that the session stores."""
        for secret in secrets:
            self._redactor.add(secret)

    def load(self) -> tuple[list[SentMessage], str]:
        """Return the messages, and a sentence if some of them could not be read, else `""`."""
        try:
            with self._path.open("rb") as file:
                lines = file.read(_LARGEST_FILE).splitlines()
        except FileNotFoundError:
            return [], ""
        except OSError as error:
            return [], f"The sent messages could not be read: {reason(error)}."
        found, broken = [], 0
        for line in reversed(lines):
            try:
                found.append(_read(line))
            except _UNREADABLE:
                broken += 1
        return found, f"{broken} of the sent messages could not be read." if broken else ""

    def add(self, draft: Draft, agent: str, at: float) -> str:
        """Add a message and drop the oldest beyond the limit; return a sentence if that failed, else `""`."""
        entry = {"draft": _masked(self._redactor, draft), "agent": self._redactor.url(agent), "at": round(at, 3)}
        line = json.dumps(entry).encode("ascii")
        if len(line) > LARGEST_DRAFT:
            return ""

        def added(lines: list[bytes]) -> list[bytes]:
            kept = [old for old in lines if _draft_of(old) != _draft_of(line)]  # a repeated message is listed once
            return [*kept[-MOST + 1 :], line]

        try:
            self._rewrite(added)
        except CaptureError as error:
            return str(error)
        except OSError as error:
            return f"The message could not be saved to history: {reason(error)}."
        return ""

    def remove(self, sent: SentMessage) -> None:
        """Remove a message; raises `OSError`, `CaptureError`."""
        self._rewrite(lambda lines: [line for line in lines if line != sent.line])

    def restore(self, sent: SentMessage) -> None:
        """Add a removed message again, in the order of time; raises `OSError`, `CaptureError`."""

        def restored(lines: list[bytes]) -> list[bytes]:
            place = bisect_right(lines, sent.at, key=_time_of)
            return [*lines[:place], sent.line, *lines[place:]]

        self._rewrite(restored)

    def _rewrite(self, change: Callable[[list[bytes]], list[bytes]]) -> None:
        private_folder(self._path.parent)
        lines = self._path.read_bytes().splitlines() if self._path.exists() else []
        replace_file(self._path, b"\n".join([*change(lines), b""]))


_UNREADABLE = (ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""What `_read` raises for a line that is not a sent message."""


def _read(line: bytes) -> SentMessage:
    entry = json.loads(line, parse_constant=_refuse)
    at = float(entry["at"])
    if not 0 <= at < _LAST_TIME:
        raise ValueError("its time cannot be shown")
    return SentMessage(read(entry["draft"]).draft, str(entry["agent"]), at, line)


def _time_of(line: bytes) -> float:
    """Return the time of a stored message; an unreadable line is older than every message."""
    try:
        return float(json.loads(line, parse_constant=_refuse)["at"])
    except _UNREADABLE:
        return 0.0


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a time")


def masked_draft(redactor: Redactor, draft: Draft) -> Draft:
    """Return a draft with masked secrets; ids stay, and so do the variables of a snippet."""
    hidden = read(_masked(redactor, draft, whole=True)).draft
    return replace(hidden, request_id=draft.request_id)


def _masked(redactor: Redactor, draft: Draft, *, whole: bool = False) -> Any:
    """Return a draft as a table with masked secrets."""
    hidden = replace(draft, svc_params=redactor.headers(draft.svc_params))
    table = write("", hidden, whole=whole)
    return json.loads(redactor.body(json.dumps(table).encode("ascii")))


def _draft_of(line: bytes) -> bytes:
    return line.rpartition(b', "agent":')[0]  # a service parameter can be called agent, too


class SavedDraft:
    """The unsent draft of a message to an agent, in a file, so that it survives a crash."""

    def __init__(self, redactor: Redactor, agent: str, folder: Path | None = None) -> None:
        name = redactor.url(agent)
        readable = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)[:60]
        # The hash distinguishes names that differ only in replaced characters.
        mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        self._redactor = redactor
        self._path = (folder or state_folder()) / "drafts" / f"{readable or 'agent'}-{mark}{SUFFIX}"

    def load(self) -> Draft | None:
        """Return the draft, None if there is none or it cannot be read."""
        try:
            return read(safe_toml.read(self._path.read_text(encoding="utf-8"))).draft
        except (OSError, ValueError):  # TomlError and UnicodeDecodeError are ValueErrors
            return None

    def keep(self, draft: Draft) -> None:
        """Write the draft to its file unless it is too large; if it is blank, remove the file.

        Raises `OSError`, `CaptureError`.
        """
        if draft.is_blank:
            self._path.unlink(missing_ok=True)
            return
        if sum(len(part.value) for part in draft.parts) > LARGEST_DRAFT:  # as TOML, 5 MB need a second
            return
        text = as_toml(_masked(self._redactor, draft, whole=True))
        if len(text) <= LARGEST_DRAFT:
            private_folder(self._path.parent)
            replace_file(self._path, text.encode("utf-8", "replace"))
