"""Secrets that are given as a reference to an environment variable (`env:NAME`)."""

from __future__ import annotations

import os

from inspector.protocol.errors import usage_error

PREFIX = "env:"


def resolve(text: str) -> str:
    """Return the value of the variable that a text refers to (`env:NAME`), other texts unchanged.

    Raises `FaultError` if the variable is not set.
    """
    if not text.startswith(PREFIX):
        return text
    name = text.removeprefix(PREFIX)
    value = os.environ.get(name, "")
    if not value:
        raise usage_error(f"The environment variable {name} is not set.", f"Set it, because the options name {text}.")
    return value
