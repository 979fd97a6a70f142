"""What a file part holds, read for the screen; a large one takes a while, so this may run in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.tui.render import images
from inspector.tui.render.artifact_parts import Section, View

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from inspector.protocol.assemble import AssembledArtifact
    from inspector.protocol.model import Message
    from inspector.session.replay.file_content import FileFacts


def artifact_of(message: Message) -> AssembledArtifact:
    """Put a message in the shape of an artifact."""
    from inspector.protocol.assemble import AssembledArtifact  # noqa: PLC0415 - loaded with the session
    from inspector.protocol.model import Artifact  # noqa: PLC0415 - likewise

    made = AssembledArtifact(message.message_id, name="message")
    made.extend(Artifact(artifact_id=message.message_id, parts=message.parts))
    return made


def read_file(section: Section, view: View) -> tuple[bytes, FileFacts | None, Picture | None, str]:
    """Return the bytes of a file, what is known of them, the image that they are and why there is none."""
    from inspector.session.replay.file_content import decode, file_facts  # noqa: PLC0415 - loaded with the session

    raw = section.part.raw if section.part is not None else None
    decoded = decode(raw) if raw is not None else None
    if decoded is None:
        return b"", None, None, ""
    facts = file_facts(decoded.content, section.media_type, decoded.odd)
    if view != "image":
        return decoded.content, facts, None, ""
    if facts.width * facts.height > images.MOST_PIXELS:
        return (
            decoded.content,
            facts,
            None,
            _too_many(facts),
        )
    try:
        return decoded.content, facts, images.read_image(decoded.content), ""
    except images.ImageError as error:
        return decoded.content, facts, None, str(error)


def _too_many(facts: FileFacts) -> str:
    return f"{facts.width:,} x {facts.height:,} pixels are more than {images.MOST_PIXELS:,}"
