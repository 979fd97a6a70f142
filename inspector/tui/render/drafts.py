"""Drafts in words: their parts, their settings and the progress of their upload."""

from __future__ import annotations

from pathlib import PurePath

from textual.content import Content

from inspector.session.compose.draft import Draft, DraftPart
from inspector.text.units import size
from inspector.wire.client.upload import Upload

_BAR = 12
_EXCERPT = 60


def excerpt(text: str, most: int = _EXCERPT) -> str:
    """Return at most some characters of a text, on one line."""
    start = " ".join(text[: most * 2].split())
    return f"{start[:most]}…" if len(start) > most or len(text) > most * 2 else start


def part_in_words(part: DraftPart, most: int = _EXCERPT) -> str:
    """Return a part in a few words: at most some characters of its text, the name of its file, or its url."""
    match part.kind:
        case "file":
            return part.filename or PurePath(part.value).name or "no file"
        case "url":
            return part.value or "no url"
        case _:
            return excerpt(part.value, most) or f"empty {part.kind}"


def settings_in_words(draft: Draft) -> list[str]:
    """Return the names of the settings that differ from the default."""
    settings = [
        ("reference tasks", draft.references),
        ("extensions", draft.extensions),
        ("metadata", draft.metadata or draft.request_metadata),
        (f"tenant {draft.tenant}", draft.tenant),
        ("service parameters", draft.svc_params),
        ("output modes", draft.accepted_output_modes),
        ("history length", draft.history_length is not None),
        ("return immediately", not draft.blocking),
    ]
    return [name for name, is_set in settings if is_set]


def upload_in_words(upload: Upload) -> Content:
    """Return the progress of an upload as a bar and in bytes."""
    share = upload.done / upload.total if upload.total else 1.0
    full = round(share * _BAR)
    bar = ("█" * full + "░" * (_BAR - full), "$wire-sent")
    soft = "$text-soft"
    return Content.assemble(("sending ", soft), bar, (f" {size(upload.done)} of {size(upload.total)}", soft))
