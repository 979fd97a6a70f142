"""Images as half cells: decoded within limits and scaled down, drawn with `textual-image` if it is installed.

Half cells are coloured letters. Other ways to draw an image send commands to the terminal, and data from agents must
never become commands.
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

_MOST_PIXELS = 16_000_000
"""An image of more pixels is not decoded: each needs four bytes of memory."""

_SIDE = 400
"""The maximum width and height of a drawn image in pixels; no screen shows more half cells."""

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, struct.error, IndexError, KeyError, TypeError, MemoryError)
"""The exceptions that image decoders raise for invalid bytes."""


class ImageError(Exception):
    """Raised for an image that is not drawn; its text is the reason."""


def check_size(width: int, height: int) -> None:
    """Raise `ImageError` for an image with too many pixels to decode."""
    if width * height > _MOST_PIXELS:
        raise ImageError(f"{width:,} x {height:,} pixels are more than {_MOST_PIXELS:,}")


@cache
def can_draw() -> bool:
    """Return whether the extra `images` is installed."""
    try:
        _halfcells()
    except ImportError:
        return False
    return True


def _halfcells() -> type:
    """Return the class that draws half cells.

    On import, `textual_image` queries the terminal, and the response would be read as keys. Without `__stdout__`, it
    sends no query.
    """
    names = vars(sys)
    stdout = names["__stdout__"]
    names["__stdout__"] = None
    try:
        from textual_image.renderable.halfcell import Image  # noqa: PLC0415 - an extra
    finally:
        names["__stdout__"] = stdout
    return Image


def read_image(content: bytes, background: tuple[int, int, int] = (0, 0, 0)) -> Picture:
    """Return the first frame of an image, scaled down, without transparency; raises `ImageError`."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - an extra

    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            check_size(*picture.size)
            picture.draft("RGB", (_SIDE, _SIDE))
            small = picture.convert("RGBA")
            small.thumbnail((_SIDE, _SIDE))
    except UnidentifiedImageError as error:
        raise ImageError("its image format is not supported") from error
    except (*_BROKEN, Image.DecompressionBombError) as error:
        raise ImageError(f"it cannot be read: {str(error) or type(error).__name__}") from error
    ground = Image.new("RGBA", small.size, (*background, 255))
    return Image.alpha_composite(ground, small).convert("RGB")


def drawn(picture: Picture, columns: int, rows: int) -> RenderableType:
    """Return an image as half cells that fit into columns and rows, in its proportions."""
    scale = min(columns / picture.width, 2 * rows / picture.height, 1.0)
    width, height = max(1, round(picture.width * scale)), max(1, round(picture.height * scale / 2))
    made: RenderableType = _halfcells()(picture, width=width, height=height)
    return made
