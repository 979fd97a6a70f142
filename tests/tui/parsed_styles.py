"""Parse each style sheet once for all apps of a test run: parsing takes a fifth of the start of an app."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from textual.css.stylesheet import Stylesheet


@lru_cache(maxsize=8)
def _rules_with(variables: frozenset[tuple[str, str]]) -> dict[Any, Any]:
    """Return the parsed rules for some values of the CSS variables; rules never change after they are parsed."""
    return {}


def install(monkeypatch: Any) -> None:
    """Let all style sheets with equal variables use the same cache of parsed rules."""
    init, set_variables = Stylesheet.__init__, Stylesheet.set_variables

    def share(sheet: Stylesheet, variables: Mapping[str, str]) -> None:
        sheet._parse_cache = _rules_with(frozenset(variables.items()))  # type: ignore[assignment]

    def shared_init(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
        init(sheet, variables=variables)
        share(sheet, variables or {})

    def shared_set_variables(sheet: Stylesheet, variables: dict[str, str]) -> None:
        sheet._parse_cache = {}  # type: ignore[assignment]  # is cleared
        set_variables(sheet, variables)
        share(sheet, variables)

    monkeypatch.setattr(Stylesheet, "__init__", shared_init)
    monkeypatch.setattr(Stylesheet, "set_variables", shared_set_variables)
