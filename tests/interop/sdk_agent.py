"""A running agent of an official SDK."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import environments


@dataclass(frozen=True)
class Agent:
    """A running agent: the name of its SDK, its base URL and the file with its output."""

    name: str
    url: str
    log: Path

    @property
    def sdk(self) -> environments.Sdk:
        """Return its SDK."""
        return environments.ALL[self.name]

    @property
    def version(self) -> str:
        """Return its protocol version."""
        return self.sdk.version
