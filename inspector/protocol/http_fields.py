"""The fields of HTTP messages: a header by its name, and a media type without its parameters."""

from __future__ import annotations

from collections.abc import Iterable


def header(headers: Iterable[tuple[str, str]], name: str) -> str:
    """Return the value of the first header with a name, which is in lower case; `""` without one."""
    return next((value for key, value in headers if key.lower() == name), "")


def without_parameters(content_type: str) -> str:
    """Return a media type in lower case, without its parameters."""
    return content_type.partition(";")[0].strip().lower()
