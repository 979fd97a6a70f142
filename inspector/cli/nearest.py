"""Find the names that are similar to a misspelled name."""

from __future__ import annotations

from collections.abc import Iterable

_SIMILARITY = 0.72
"""From this share of common letters on, a name is suggested: `lits` for `list`, but not `--json` for `--jwks`."""


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return the known names that are most similar to a name, at most `most` of them."""
    from difflib import get_close_matches  # noqa: PLC0415 - only an invalid command line needs it

    return get_close_matches(name, list(known), most, _SIMILARITY)
