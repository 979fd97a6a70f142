"""The messages that were sent lately, and the one that was being written: what a session leaves for the next."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from inspector.capture.paths import state_folder
from inspector.capture.private_files import CaptureError, private_folder, reason, replace_file
from inspector.capture.redaction import Redactor
from inspector.session.compose.draft import Draft
from inspector.session.compose.snippets import SUFFIX, as_toml, read, write

MOST = 200
"""So many messages are remembered."""
LARGEST_DRAFT = 200_000
"""A larger draft is not kept, in characters of its JSON."""
_LARGEST_FILE = MOST * LARGEST_DRAFT


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that was sent: the draft without ids, to which agent, when in seconds since 1970."""

    draft: Draft
    agent: str
    at: float


class MessageHistory:
    """The messages of all sessions, newest first, as one JSON line each; secrets are masked as in a capture."""

    def __init__(self, redactor: Redactor, folder: Path | None = None) -> None:
        self._redactor = redactor
        self._folder = folder or state_folder()

    @property
    def _path(self) -> Path:
        return self._folder / "sent.jsonl"

    def load(self) -> tuple[list[SentMessage], str]:
        """Return the messages, and a sentence where some of them could not be read, else `""`."""
        try:
            with self._path.open("rb") as file:
                lines = file.read(_LARGEST_FILE).splitlines()
        except FileNotFoundError:
            return [], ""
        except OSError as error:
            return [], f"The messages sent before could not be read: {reason(error)}."
        found, broken = [], 0
        for line in reversed(lines):
            try:
                entry = json.loads(line, parse_constant=_no_number)
                found.append(SentMessage(read(entry["draft"]).draft, str(entry["agent"]), float(entry["at"])))
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
                broken += 1
        return found, f"{broken} of the messages sent before could not be read." if broken else ""

    def add(self, draft: Draft, agent: str, at: float) -> str:
        """Remember a message, and forget the oldest beyond the limit; returns a sentence if that failed, else `""`."""
        entry = {"draft": _masked(self._redactor, draft), "agent": self._redactor.url(agent), "at": round(at, 3)}
        line = json.dumps(entry).encode("ascii")
        if len(line) > LARGEST_DRAFT:
            return ""
        try:
            private_folder(self._folder)
            kept = self._path.read_bytes().splitlines() if self._path.exists() else []
            kept = [one for one in kept if _draft_of(one) != _draft_of(line)]
            replace_file(self._path, b"\n".join([*kept[-MOST + 1 :], line, b""]))
        except CaptureError as error:
            return str(error)
        except OSError as error:
            return f"The message could not be remembered: {reason(error)}."
        return ""


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no moment")


def _masked(redactor: Redactor, draft: Draft, *, whole: bool = False) -> Any:
    """Return a draft as a table in which secrets are masked as in a capture."""
    hidden = replace(draft, svc_params=redactor.headers(draft.svc_params))
    table = write("", hidden, whole=whole)
    return json.loads(redactor.body(json.dumps(table).encode("ascii")))


def _draft_of(line: bytes) -> bytes:
    """Return the draft in a line, so that a message that is sent again stands there once."""
    return line.partition(b', "agent":')[0]


class SavedDraft:
    """The message that is being written, in a file of its own for an agent, so that it survives a crash."""

    def __init__(self, redactor: Redactor, agent: str, folder: Path | None = None) -> None:
        named = redactor.url(agent)
        readable = "".join(one if one.isascii() and one.isalnum() else "-" for one in named)[:60]
        # Two agents whose names differ in signs alone are two agents.
        mark = sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        self._redactor = redactor
        self._path = (folder or state_folder()) / "drafts" / f"{readable or 'agent'}-{mark}{SUFFIX}"

    def load(self) -> Draft | None:
        """Return the draft that was left, None where there is none that can be read."""
        try:
            return read(tomllib.loads(self._path.read_text(encoding="utf-8"))).draft
        except (OSError, ValueError, RecursionError):
            return None  # a convenience that is gone is nothing to be told of

    def keep(self, draft: Draft) -> None:
        """Write the draft, or remove the file where nothing is in it; raises `OSError`, `CaptureError`."""
        if draft.is_blank:
            self._path.unlink(missing_ok=True)
            return
        text = as_toml(_masked(self._redactor, draft, whole=True))
        if len(text) <= LARGEST_DRAFT:
            private_folder(self._path.parent)
            replace_file(self._path, text.encode("utf-8", "replace"))
