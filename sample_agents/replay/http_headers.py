"""Select the recorded headers that can be sent again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

_OF_CONNECTION = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "date",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers about the recorded connection, which the HTTP library sets itself."""
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")


def sendable(headers: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield the headers that are not about the connection and that HTTP allows."""
    for name, value in ((str(name), str(value)) for name, value in headers):
        if name.lower() not in _OF_CONNECTION and _NAME.fullmatch(name) and _VALUE.fullmatch(value):
            yield name, value
