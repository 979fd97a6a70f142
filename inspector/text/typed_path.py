"""Read paths that users type."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def looks_like_path(text: str) -> bool:
    """Return whether a reference to an agent can only be the path of a file, which may not exist."""
    return text.startswith((".", "/", "~")) or text.endswith(".json")


def typed_path(text: str) -> Path:
    """Return the path that a user typed, with its `~` expanded; raises `OSError` if no file can have this path.

    It is the only error, so that callers who use the path as well catch `OSError` for both.
    """
    try:
        path = Path(text).expanduser()
        has_null = b"\0" in os.fsencode(path)
    except RuntimeError:
        raise OSError(errno.EINVAL, "unknown user in path", text) from None
    except ValueError:  # half of a surrogate pair, or a null character after `~`
        has_null = True
    if has_null:
        raise OSError(errno.EINVAL, "the path contains a character that is not allowed", text)
    return path
