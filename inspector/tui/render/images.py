"""Images as half cells: read within limits, small before they are drawn, with `textual-image` where it is installed.

Half cells are letters in colours. Other ways to draw send commands to the terminal, and from text that agents send no
command may reach it.
"""

from __future__ import annotations

import io
import struct
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image as Picture
    from rich.console import RenderableType

MOST_PIXELS = 16_000_000
"""An image of more pixels is not decoded: it takes four bytes for each."""

_SIDE = 400
"""No screen has more half cells to a side that anybody could tell apart."""

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, struct.error, IndexError, KeyError, TypeError, MemoryError)
"""What decoders raise at bytes that are no image."""


class ImageError(Exception):
    """An image is not drawn; `str` of it says why."""


@cache
def can_draw() -> bool:
    """Say whether what draws images is installed (the extra `images`)."""
    try:
        _halfcells()
    except ImportError:
        return False
    return True


def _halfcells() -> type:
    """Return what draws half cells.

    When it is imported it asks a terminal what it can do, whose answer would be read as keys; so it sees none.
    """
    place = vars(sys)
    kept = place["__stdout__"]
    place["__stdout__"] = None
    try:
        from textual_image.renderable.halfcell import Image  # noqa: PLC0415 - an extra
    finally:
        place["__stdout__"] = kept
    return Image


def read_image(content: bytes, background: tuple[int, int, int] = (0, 0, 0)) -> Picture:
    """Return the first frame of an image, small, without transparency; raises `ImageError`."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - an extra

    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise ImageError(f"{width:,} x {height:,} pixels are more than {MOST_PIXELS:,}")
            picture.draft("RGB", (_SIDE, _SIDE))
            small = picture.convert("RGBA")
            small.thumbnail((_SIDE, _SIDE))
    except UnidentifiedImageError as error:
        raise ImageError("its bytes are no image of a kind that is drawn") from error
    except (*_BROKEN, Image.DecompressionBombError) as error:
        raise ImageError(f"it cannot be read: {str(error) or type(error).__name__}") from error
    ground = Image.new("RGBA", small.size, (*background, 255))
    return Image.alpha_composite(ground, small).convert("RGB")


def drawn(picture: Picture, columns: int, rows: int) -> RenderableType:
    """Return an image as half cells that fit so many columns and rows, as wide as it is high in proportion."""
    scale = min(columns / picture.width, 2 * rows / picture.height, 1.0)
    width, height = max(1, round(picture.width * scale)), max(1, round(picture.height * scale / 2))
    made: RenderableType = _halfcells()(picture, width=width, height=height)
    return made
