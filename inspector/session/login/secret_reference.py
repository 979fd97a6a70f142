"""Secrets that are given as a reference to an environment variable (`env:NAME`)."""

from __future__ import annotations

import os

from inspector.protocol.errors import usage_error

PREFIX = "env:"


def is_reference(text: str) -> bool:
    """Return whether a text is a reference to an environment variable."""
    return text.startswith(PREFIX)


def resolve(text: str) -> str:
    """Return the value of the variable that a text refers to (`env:NAME`), other texts unchanged.

    Raises `FaultError` if the variable is not set or empty.
    """
    if not is_reference(text):
        return text
    name = text.removeprefix(PREFIX)
    value = os.environ.get(name)
    if not value:
        hint = f"Set it: an option or a stored login refers to it ({text})."
        raise usage_error(f"The environment variable {name} is {'not set' if value is None else 'empty'}.", hint)
    return value
