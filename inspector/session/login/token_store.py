"""Where tokens are stored between sessions: the keyring of the system, or a file that only the user can read."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from inspector.session.login.tokens import Token, TokenKey


class Place(StrEnum):
    """Where tokens are stored; one never replaces another silently."""

    MEMORY = "memory"
    """Until the session ends."""
    KEYRING = "keyring"
    """In the keyring of the system (optional extra `keyring`)."""
    FILE = "file"
    """In a file that only the user can read; the user has to agree."""


class TokenStore(Protocol):
    """Stores tokens; every method raises `FaultError` if the store cannot be used."""

    place: Place

    def where(self) -> str:
        """Return where the tokens are, in words: `the keyring (SecretService)`, or the path of the file."""
        ...

    def get(self, origin: str) -> list[Token]:
        """Return the tokens for the origin of an agent, the newest first."""
        ...

    def keys(self) -> list[TokenKey]:
        """Return the keys of all tokens."""
        ...

    def put(self, token: Token) -> None:
        """Store a token, in place of that with the same key."""
        ...

    def remove(self, key: TokenKey) -> bool:
        """Remove a token; return whether there was one."""
        ...


def available_places() -> list[tuple[Place, str]]:
    """Return the places where tokens can be stored, the best first, each with `""` or why it cannot be used."""
    raise NotImplementedError


def open_store(place: Place) -> TokenStore:
    """Return the store at a place; raises `FaultError` if it cannot be used."""
    raise NotImplementedError
