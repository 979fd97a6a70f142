"""What the credentials of a request allow."""

from __future__ import annotations

from collections.abc import Collection

from inspector.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """The result of checking credentials: `problem` is why they are not accepted, `""` if they are.

    `scopes` are the scopes of an access token, None for credentials without scopes, which allow everything.
    """

    problem: str = ""
    scopes: frozenset[str] | None = None

    def allows(self, scopes: Collection[str]) -> bool:
        """Return whether the credentials have all of these scopes."""
        return self.scopes is None or self.scopes.issuperset(scopes)


ANYTHING = Access()
"""Access without limits, for example without authentication."""


class MissingScopeError(Exception):
    """Raised if the credentials of a call lack one of the scopes that it needs."""

    def __init__(self, scopes: Collection[str]) -> None:
        super().__init__(f"The call needs an access token with these scopes: {' '.join(scopes)}")
        self.scopes = tuple(scopes)
