"""The state of a running login, with a callback for changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from inspector.session.login.state import LoginState, Step

OnChange: TypeAlias = Callable[[LoginState], None]
"""A function that is called with each new state of a login."""


class Progress:
    """The state of a login; `on_change` is called after each change."""

    def __init__(self, state: LoginState, on_change: OnChange | None = None) -> None:
        self.state = state
        self._on_change = on_change

    def begin(self, step: Step, **changes: Any) -> None:
        """Complete the running step and begin the next one; `changes` are other members of the state."""
        self.change(done=self._completed(), current=step, **changes)

    def end(self, **changes: Any) -> None:
        """Complete the running step, which is the last one."""
        self.change(done=self._completed(), current=None, **changes)

    def change(self, **changes: Any) -> None:
        """Change members of the state."""
        self.state = replace(self.state, **changes)
        if self._on_change is not None:
            self._on_change(self.state)

    def _completed(self) -> tuple[Step, ...]:
        current = self.state.current
        return self.state.done if current is None or current in self.state.done else (*self.state.done, current)
