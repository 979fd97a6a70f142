"""The lines of Textual, whose caches are made when they are used."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from inspector.tui.lazy_strips import make_caches_lazily

CACHES = [name for name in Strip.__slots__ if name.endswith("_cache") and name != "_render_cache"]


def line() -> Strip:
    make_caches_lazily()
    return Strip([Segment("hello ", Style(bold=True)), Segment("wörld 世界")])


def made(strip: Strip) -> list[str]:
    """Return the caches that a line has."""
    return [name for name in CACHES if _has(strip, name)]


def _has(strip: Strip, name: str) -> bool:
    try:
        getattr(Strip, name).__get__(strip)
    except AttributeError:
        return False
    return True


def test_a_line_has_no_cache_until_it_is_used():
    strip = line()
    assert CACHES
    assert (strip.text, strip.cell_length) == ("hello wörld 世界", 16)
    assert made(strip) == []
    strip.crop(2, 9)
    assert made(strip) == ["_crop_cache"]


def test_results_are_kept_as_in_textual():
    strip = line()
    assert strip.crop(2, 9) is strip.crop(2, 9)
    assert strip.divide([3, 12]) is strip.divide([3, 12])
    assert strip.apply_style(Style(italic=True)) is strip.apply_style(Style(italic=True))
    assert strip.adjust_cell_length(30) is strip.adjust_cell_length(30)
    assert strip.crop_extend(0, 30, None) is strip.crop_extend(0, 30, None)
    assert strip.apply_offsets(0, 1) is strip.apply_offsets(0, 1)
    assert [piece.text for piece in strip.divide([3, 12])] == ["hel", "lo wörld "]


def test_other_missing_attributes_are_missing():
    with pytest.raises(AttributeError, match="_other_cache"):
        line()._other_cache  # type: ignore[attr-defined]  # noqa: B018
