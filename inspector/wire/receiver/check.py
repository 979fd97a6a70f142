"""One line of a verdict."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at in a delivery; `good` is None where there was nothing to compare.

    `name` is one of `path`, `token`, `authorization`, `signature`, `issuer`, `audience`, `dates`, `replay`,
    `body-hash`, `method`, `host`, `origin`, `encoding`, `content-type`, `size` and `json`; the session adds `shape`,
    `task` and `order`. `said` is a fragment for one line: it may quote the sender (hostile text), but never a token or
    a credential.
    """

    name: str
    good: bool | None
    said: str
