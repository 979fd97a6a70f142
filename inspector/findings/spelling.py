"""Whether a member that no shape knows is one that is only spelled wrongly."""

from __future__ import annotations

import difflib

from inspector.findings.shape import Shape

_LONGEST_NAME = 60
"""Names beyond this are not compared letter by letter: no member is that long."""


def camel_case(name: str) -> str:
    """Return a name of snake_case or kebab-case in camelCase, `""` for a name that is neither."""
    first, *others = name.replace("-", "_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others) if others else ""


def meant(name: str, shape: Shape) -> str:
    """Return the member of a shape that a name is probably meant to be, or nothing."""
    if camel_case(name) in shape.members or len(name) > _LONGEST_NAME:
        return ""
    by_case = {known.lower(): known for known in shape.members}
    close = difflib.get_close_matches(name.lower(), by_case, n=1, cutoff=0.85)
    return by_case[close[0]] if close else ""
