"""Read TOML from other people: every mistake is an error with its line, also where `tomllib` fails or is slow."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_MOST_DOTS = 100
"""The most dots in a key; the time that `tomllib` needs grows with their square."""
_MOST_DIGITS = 4300
"""The most digits of a number that Python converts."""
_MOST_NESTED = 200
"""The most arrays and tables within each other; `tomllib` is recursive."""
_KEY = r"""(?:[A-Za-z0-9_-]++|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'[^'\n]*+')"""
_TOKEN = re.compile(
    rf"""\"{{3}}[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*(?:\"{{3}}|\\?\Z)|'{{3}}[^']*+(?:'(?!'')[^']*+)*(?:'{{3}}|\Z)"""
    rf"""|(?P<key>{_KEY}(?:[ \t]*+\.[ \t]*+{_KEY}){{{_MOST_DOTS},}})"""
    rf"""|(?P<number>[+-]?[0-9][0-9_]{{{_MOST_DIGITS},}}+)|(?P<opening>[\[{{])|(?P<closing>[\]}}])|{_KEY}|\"[^"\\\n]*+(?:\\.[^"\\\n]*+)*|#[^\n]*+""",
    re.DOTALL,
)
"""What may be slow to read, and the strings and comments in which it is text.

A string without its end reaches to the end of the line or of the text, so that it is read only once.
"""
_TOO_DEEP = f"more than {_MOST_NESTED} arrays and tables within each other"
_LIMITS = {
    "key": f"a key with more than {_MOST_DOTS} dots",
    "number": f"a number of more than {_MOST_DIGITS:,} digits",
}
_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class TomlError(ValueError):
    """Raised for a text that is not TOML; `line` is the line of the mistake, 0 if it is unknown."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(f"{why} (at line {line})" if line else why)
        self.why = why
        self.line = line


def read(text: str) -> dict[str, Any]:
    """Return the table in a text; raises `TomlError`."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"opening": 1, "closing": -1}.get(token.lastgroup or "", 0)
        if token.lastgroup in _LIMITS or depth > _MOST_NESTED:
            line = text.count("\n", 0, token.start()) + 1
            raise TomlError(_LIMITS.get(token.lastgroup or "", _TOO_DEEP), line)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        raise TomlError(_AT_LINE.sub("", str(error)), line) from error
    except ValueError as error:  # a number or a date that Python does not represent
        raise TomlError(str(error)) from error
