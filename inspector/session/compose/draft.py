"""A message as the user writes it, before files are read and a protocol version is chosen."""

from __future__ import annotations

import uuid
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from inspector.lazy_dataclass import dataclass
from inspector.session.message_label import label_of_parts


class PartKind(StrEnum):
    """What a part is made from."""

    TEXT = "text"
    FILE = "file"
    LINK = "url"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class DraftPart:
    """One part as written: `value` is the text, the path of a file, the url of a file, or JSON text.

    An empty `media_type` or `filename` is guessed; `metadata` is the JSON text of an object, or empty.
    """

    kind: PartKind
    value: str = ""
    media_type: str = ""
    filename: str = ""
    metadata: str = ""

    @property
    def is_blank(self) -> bool:
        """Return whether the value is empty."""
        return not self.value.strip()

    @property
    def name(self) -> str:
        """Return the name of the file, else the value, else the kind."""
        return self.filename or self.value or self.kind


@dataclass(frozen=True, slots=True)
class Draft:
    """The parts of a message, its task and context, and the options for the response.

    If `blocking`, the agent responds when the task ends or needs input. `metadata` and `request_metadata` are the JSON
    text of an object, or empty; an empty `tenant` is that of the interface; `svc_params` are HTTP headers or gRPC
    metadata.
    """

    parts: tuple[DraftPart, ...]
    task_id: str = ""
    context_id: str = ""
    references: tuple[str, ...] = ()
    metadata: str = ""
    extensions: tuple[str, ...] = ()
    blocking: bool = True
    history_length: int | None = None
    accepted_output_modes: tuple[str, ...] = ()
    request_metadata: str = ""
    tenant: str = ""
    svc_params: tuple[tuple[str, str], ...] = ()
    message_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def is_blank(self) -> bool:
        """Return whether every part is empty."""
        return all(part.is_blank for part in self.parts)

    @property
    def label(self) -> str:
        """Return the texts in one line with the numbers of the other parts, or else the names of the parts."""
        named = [(part.kind, part.value if part.kind is PartKind.TEXT else part.name) for part in self.parts]
        return label_of_parts(named) or ", ".join(part.kind for part in self.parts)

    def with_new_ids(self) -> Draft:
        """Return the same message with new ids."""
        return replace(self, message_id=str(uuid.uuid4()), request_id=str(uuid.uuid4()))


def text_part(text: str) -> DraftPart:
    """Make a text part."""
    return DraftPart(PartKind.TEXT, text)


def text_draft(text: str, **members: Any) -> Draft:
    """Make the draft of a message with one text part."""
    return Draft(parts=(text_part(text),), **members)
