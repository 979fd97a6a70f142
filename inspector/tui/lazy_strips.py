"""Let the lines of Textual make their caches when these are used.

Textual makes seven caches for each `Strip`. A screen is drawn from thousands of strips, and most are drawn once: their
caches need a third of the time of drawing.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.strip import Strip

_SIZES = {
    "_divide_cache": 4,
    "_crop_cache": 16,
    "_style_cache": 16,
    "_filter_cache": 4,
    "_line_length_cache": 4,
    "_crop_extend_cache": 4,
    "_offsets_cache": 4,
}
"""The caches of a strip, and how many results each keeps."""
_OTHERS = frozenset({"_segments", "_cell_length", "_render_cache", "_link_ids", "_cell_count"})


def make_caches_lazily() -> None:
    """Change Textual's class, unless its members are not those that are known here."""
    if set(Strip.__slots__) == _OTHERS | _SIZES.keys():
        Strip.__init__ = _init  # type: ignore[method-assign]
        Strip.__getattr__ = _make_cache  # type: ignore[attr-defined]


def _init(self: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    self._segments = list(segments)
    self._cell_length = cell_length
    self._render_cache = None
    self._link_ids = None
    self._cell_count = None


def _make_cache(self: Strip, name: str) -> FIFOCache[object, object]:
    """Return a cache that is used for the first time."""
    if name not in _SIZES:
        raise AttributeError(name)
    cache: FIFOCache[object, object] = FIFOCache(_SIZES[name])
    setattr(self, name, cache)
    return cache
