"""file: an artifact of three parts: a picture, the facts about it as data, and a sentence."""

from __future__ import annotations

import base64
import struct
import zlib

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Artifact, Part

from ..state import new_id
from ..work import Work
from .base import Working

_SIZE = 64
_PNG = "image/png"


def draw_png(size: int) -> bytes:
    """Return a square PNG, 8 bits RGB: a disc over two colours that run into each other."""
    rows = bytearray()
    for y in range(size):
        rows.append(0)  # each row starts with its filter: none
        for x in range(size):
            inside = (2 * x - size + 1) ** 2 + (2 * y - size + 1) ** 2 < (size * 3 // 4) ** 2
            rows += bytes((250, 210, 90) if inside else (30 + 120 * x // size, 60, 90 + 150 * y // size))
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )


async def _run(work: Work) -> None:
    await work.status(State.WORKING, "Drawing the picture.")
    await work.pause(0.3)
    picture = draw_png(_SIZE)
    facts = {"format": "PNG", "width": _SIZE, "height": _SIZE, "bytes": len(picture), "colours": ["violet", "gold"]}
    await work.artifact(
        Artifact(
            artifact_id=new_id(),
            name="sunrise",
            description="A picture, its facts and a caption: one part of each kind.",
            parts=[
                Part(raw=base64.b64encode(picture).decode(), filename="sunrise.png", media_type=_PNG),
                Part(data=facts, media_type="application/json"),
                Part(text="A sunrise, drawn pixel by pixel.", media_type="text/plain"),
            ],
        )
    )
    await work.status(State.COMPLETED, "The picture is drawn.")


BEHAVIOUR = Working(
    AgentSkill(
        id="file",
        name="File",
        description="Returns an artifact with a PNG, a JSON part about it and a caption.",
        tags=["artifact", "file", "data"],
        examples=["file"],
        output_modes=[_PNG, "application/json", "text/plain"],
    ),
    _run,
)
