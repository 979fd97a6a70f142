"""The forms of keys and tokens that are recognised in any text: those of well-known services, and JSON Web Tokens."""

from __future__ import annotations

import re

KEY = re.compile(
    r"(?<![A-Za-z0-9_-])(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|AKIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{30,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s]*"
)
"""A key of a well-known service, a JSON Web Token, or a private key in PEM. `task-...` does not contain a key."""
_BEGINNINGS = ("sk-", "gh", "AKIA", "xox", "AIza", "eyJ", "-----BEGIN ")


def may_have_key(text: str) -> bool:
    """Return whether a text contains the beginning of a key, so that a search is worth its time."""
    return any(beginning in text for beginning in _BEGINNINGS)
